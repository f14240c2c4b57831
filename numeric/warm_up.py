"""Compile the kernels before their first use: ``python -m numeric.warm_up``.

A kernel is compiled at its first call and cached (`numeric.kernels`).  `make setup` runs this
module, so that the first count does not wait; `make demo` runs it with the groups that it needs.
Each group is compiled in its own process, as many at a time as there are processors; a cached
group takes about a second.  ``--times`` prints how long each kernel takes to compile.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from algebra.children import run_program
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.trials.instances import draw_instance


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
    """Krawczyk's test of the teacher of a small network, in the equations of chains."""
    from numeric.certification.krawczyk import (
        FAILED,
        Certified,
        RootPool,
        certify_instances,
        make_targets,
    )
    from numeric.equations.chain import make_chain

    problem = Problem.of(
        Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)])
    )
    instance = draw_instance(problem, 0, 0)
    chain = make_chain(problem.allocation)
    roots = np.array([[instance.teacher["W"][i, i] for i in range(2)]], complex)
    targets = make_targets(chain, [instance], [chain.independent_samples(instance.X)])
    certify_instances(chain, targets, [roots])
    certified = Certified(np.full(1, FAILED + 1), roots, np.zeros(roots.shape))
    pool = RootPool(chain)
    pool.add(certified)
    pool.owners(certified)


def _inputs() -> None:
    """The tracker and Krawczyk's test in pairs, by a net with a form in free inputs."""
    from numeric.certification.krawczyk_pairs import InputsTarget
    from numeric.equations.chain import make_chain
    from numeric.tracking.inputs.paired import StuckPath, finish_in_pairs

    net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    problem = Problem.of(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    instance, chain = draw_instance(problem, 0, 0), make_chain(problem.allocation)
    form = chain.free_inputs()
    assert form is not None
    at = form.reduce(chain.parameters(instance))
    target, point = InputsTarget(form, instance, at), np.ones(form.unknowns, complex)
    target.certify(point[None, :2].real, point[None, :2].real)
    finish_in_pairs(form, at.vector, [(target.parameters, StuckPath(0.5, point))])


def _relu() -> None:
    """Both searches for shallow ReLU networks."""
    from numeric.engines.counter import InstanceCounter
    from numeric.plugins.relu.pairs import decide_pairs

    for q, n in ((2, 2), (2, 3)):
        network = ShallowReLU(q=q, n=n, d=1, m=2)
        problem = Problem.of(Allocation.from_cells(network, [("W1", 0, 0), ("W1", 1, 0)]))
        with InstanceCounter(problem, "complementarity") as counter:
            counter.count_many([draw_instance(problem, 0, k) for k in range(2)])
        decide_pairs(draw_instance(problem, 0, 0))


GROUPS: dict[str, Callable[[], None]] = {
    "tracker": _tracker,
    "certification": _certification,
    "inputs": _inputs,
    "relu": _relu,
}


def warm_up(groups: list[str]) -> list[str]:
    """Compile groups, each in its own process; returns one line for each failure."""

    def run(group: str) -> str:
        done = run_program([sys.executable, "-m", "numeric.warm_up", "--here", group])
        return f"{group}: {done.errors.strip()[-200:]}" if done.status else ""

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [line for line in pool.map(run, groups) if line]


def print_times(groups: list[str]) -> None:
    """Compile groups from nothing, in this process, and print the seconds of each kernel.

    The first number of a row is without the kernels that this one calls, which are compiled while
    its types are inferred.  Kernels that an earlier group compiled are not compiled again.
    """
    with TemporaryDirectory() as folder:
        # The groups import numba, which then reads this.
        os.environ["NUMBA_CACHE_DIR"] = folder
        shown = set[tuple[str, str]]()
        for group in groups:
            began = time.process_time()
            GROUPS[group]()
            print(f"{group}: {time.process_time() - began:.1f} s of processor time")
            rows = [row for row in _compiled() if row[2:] not in shown]
            shown |= {row[2:] for row in rows}
            for own, every, name, _ in sorted(rows, reverse=True):
                print(f"{own:8.2f} {every:8.2f}  {name}")


_NO_TIMES: dict[str, Any] = {"pipeline_times": {}}


def _compiled() -> set[tuple[float, float, str, str]]:
    """Seconds without and with what it calls, name and types of each kernel compiled so far."""
    found = set()
    for name in [name for name in sys.modules if name.startswith("numeric.")]:
        for value in vars(sys.modules[name]).values():
            for types in getattr(value, "signatures", ()):
                spent = {
                    step.partition("_")[2]: sum(times)
                    # What was loaded from the cache has no times.
                    for steps in (value.get_metadata(types) or _NO_TIMES)["pipeline_times"].values()
                    for step, times in steps.items()
                }
                every = sum(spent.values())
                own = every - spent.get("nopython_type_inference", 0.0)
                function = value.py_func
                found.add((own, every, f"{function.__module__}.{function.__name__}", str(types)))
    return found


def main(arguments: list[str]) -> int:
    """Compile the named groups, or all, in processes; after ``--here`` in this process.

    After ``--times`` the seconds of each kernel are printed, compiled from nothing.
    """
    option = arguments[0] if arguments[:1] in (["--here"], ["--times"]) else ""
    groups = arguments[bool(option) :] or list(GROUPS)
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        print(f"unknown group `{unknown[0]}`: use {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    if option == "--times":
        print_times(groups)
        return 0
    if option:
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
