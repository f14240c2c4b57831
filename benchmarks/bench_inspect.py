"""CPU time and memory of inspection and certification of large nets.

Run: ``python benchmarks/bench_inspect.py [NAME …]``.  Each case runs in a process of its own:
CPU seconds (user and system, imports left out) and that process's peak memory.  The recurrent
nets have b = 1, T = m = n/2, d = n/4, and dm weights of W in its first T rows: d a row, drawn
anywhere (``spread``), in the first columns (``first``), or Tb in each of the first d rows
(``rows``: linear, N = 1).  ``certify`` is measured up to "minimal or not": the ranks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import time
from collections.abc import Callable

from algebra.families.equations import inspect_allocation
from algebra.networks.feedforward import LinearEstimator
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank


def recurrent(n: int, kind: str) -> Allocation:
    """One of the recurrent cases."""
    net = LinearRNN(n=n, T=n // 2, b=1, d=n // 4, m=n // 2)
    rng = random.Random(0)
    T, d = net.T, net.d
    if kind == "rows":
        cells = [("W", i, j) for i in range(d) for j in range(T)]
    elif kind == "first":
        cells = [("W", i, j) for i in range(T) for j in range(d)]
    else:
        cells = [("W", i, j) for i in range(T) for j in rng.sample(range(n), d)]
    return Allocation.from_cells(net, cells)


def estimator() -> Allocation:
    """300 inputs, 30 outputs, 30 samples; 30 weights of each output."""
    net, rng = LinearEstimator(q=300, d=30, m=30), random.Random(0)
    cells = [("W", i, j) for i in range(30) for j in rng.sample(range(300), 30)]
    return Allocation.from_cells(net, cells)


CASES: dict[str, Callable[[], Allocation]] = {"linear": estimator} | {
    f"{kind}{n}": lambda n=n, kind=kind: recurrent(n, kind)  # type: ignore[misc]
    for n in (24, 32, 64)
    for kind in ("spread", "first", "rows")
}


def measure(name: str, verb: str) -> tuple[float, float, str]:
    """CPU seconds, peak in MB, and the result."""
    allocation = CASES[name]()
    start = time.process_time()
    if verb == "inspect":
        (form,) = inspect_allocation(allocation).forms
        text = f"{form.form} form, core {form.core_equations} in {form.core_unknowns}"
    else:
        whole = network_rank(allocation.network)
        own = allocation_rank(allocation, upper=whole.rank)
        text = f"rank {own.rank} of {whole.rank}"
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return seconds, peak, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}; all by default")
    names = parser.parse_args().names or list(CASES)
    spawned = multiprocessing.get_context("spawn")
    for name in names:
        for verb in ("certify", "inspect"):
            with spawned.Pool(1) as pool:
                seconds, peak, text = pool.apply(measure, (name, verb))
            print(f"{name:10s} {verb:8s} {seconds:7.2f} s CPU {peak:7.0f} MB   {text}", flush=True)


if __name__ == "__main__":
    main()
