"""Compile the kernels before their first use: ``python -m numeric.warm_up``.

A kernel is compiled at its first call and cached (`numeric.kernels`).  `make setup` runs this
module, so that the first count does not wait; `make demo` runs it with the groups that it needs.
Each group is compiled in its own process, as many at a time as there are processors; a cached
group takes about a second.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from algebra.children import run_program
from algebra.networks.recurrent import LinearRNN
from algebra.networks.relu import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.instances import draw_instance


def _tracker() -> None:
    """The path tracker, by tracking one path of a small network."""
    from numeric.equations.chain import make_chain
    from numeric.tracking.tracker import track

    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    chain = make_chain(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    parameters, root = chain.random(np.random.default_rng(0))
    one = np.zeros(1, np.int64)
    track(chain, parameters[None], parameters[None], one, one, root[None])


def _certification() -> None:
    """Krawczyk's test of the teacher of a small network, in each form of the equations."""
    from numeric.certification.krawczyk import FAILED, Certified, RootPool, make_target, prove
    from numeric.certification.krawczyk_pairs import InputsTarget
    from numeric.equations.chain import make_chain

    problem = Problem.of(
        Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)])
    )
    instance = draw_instance(problem, 0, 0)
    chain = make_chain(problem.allocation)
    roots = np.array([[instance.teacher["W"][i, i] for i in range(2)]], complex)
    pool = RootPool(chain)
    for lifted in (False, True):
        certified = Certified(np.full(1, FAILED), roots, np.full(roots.shape, np.inf))
        prove(chain, make_target(chain, instance), certified, lifted=lifted)
        pool.add(certified)
        pool.owners(certified)
    # A net with a form in free inputs, at any point.
    net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    problem = Problem.of(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    instance, chain = draw_instance(problem, 0, 0), make_chain(problem.allocation)
    form = chain.free_inputs()
    assert form is not None
    target = InputsTarget(form, instance, form.reduce(chain.parameters(instance)))
    target.certify(np.ones((1, 2)), np.ones((1, 2)))


def _relu() -> None:
    """Both searches for shallow ReLU networks."""
    from numeric.engines.counter import InstanceCounter
    from numeric.families.relu.pairs import decide_pairs

    for q, n in ((2, 2), (2, 3)):
        network = ShallowReLU(q=q, n=n, d=1, m=2)
        problem = Problem.of(Allocation.from_cells(network, [("W1", 0, 0), ("W1", 1, 0)]))
        with InstanceCounter(problem, "complementarity") as counter:
            counter.count_many([draw_instance(problem, 0, k) for k in range(2)])
        decide_pairs(draw_instance(problem, 0, 0))


GROUPS: dict[str, Callable[[], None]] = {
    "tracker": _tracker,
    "certification": _certification,
    "relu": _relu,
}


def warm_up(groups: list[str]) -> list[str]:
    """Compile groups, each in its own process; returns one line for each failure."""

    def run(group: str) -> str:
        done = run_program([sys.executable, "-m", "numeric.warm_up", "--here", group])
        return f"{group}: {done.errors.strip()[-200:]}" if done.status else ""

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [line for line in pool.map(run, groups) if line]


def main(arguments: list[str]) -> int:
    """Compile the named groups, or all, in processes; after ``--here`` in this process."""
    is_here = arguments[:1] == ["--here"]
    groups = arguments[is_here:] or list(GROUPS)
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        print(f"unknown group `{unknown[0]}`: use {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    if is_here:
        for group in groups:
            GROUPS[group]()
        return 0
    failed = warm_up(groups)
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    # What the compiler makes stays until this process ends: collections find nothing, and take a
    # tenth of the time.
    gc.disable()
    sys.exit(main(sys.argv[1:]))
