"""What pairs of doubles are worth: complete counts with them, and without.

    python benchmarks/bench_pairs.py                  # N = 60, 120, 89 and 432, 40 instances each

Without pairs paths near infinity are finished in balls, and ends in the free inputs are certified
in the weights, at last in balls.  The same instances; seconds are processor time.
"""

from __future__ import annotations

import argparse
import os
import time
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

from bench_homotopy import NETS

from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from numeric.engines import homotopy
from numeric.trials.instances import draw_instance

ROOTS = {"twelve3": 60, "twelve2": 120, "rows6": 89, "shuffled": 432}


def measure(name: str, instances: int) -> tuple[float, list[tuple[int, int]]]:
    """Milliseconds an instance, and the counts."""
    network, cells = NETS[name]
    problem = Problem.of(Allocation.from_cells(network, cells))
    engine = homotopy.HomotopyEngine(problem, root_count=ROOTS[name], cache=False)
    engine.count_many([draw_instance(problem, 1, 0)])
    drawn = [draw_instance(problem, 0, k) for k in range(instances)]
    began = time.process_time()
    counts = engine.count_many(drawn)
    spent = 1e3 * (time.process_time() - began) / instances
    return spent, [(count.real, count.complex) for count in counts]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nets", nargs="+", default=list(ROOTS), choices=ROOTS)
    parser.add_argument("--instances", type=int, default=40)
    options = parser.parse_args()
    take = homotopy._InstanceRun.take

    def take_weights(self, roots, status, wanted, reached, unknowns=None):
        take(self, roots, status, wanted, reached)

    balls = mock.patch.object(homotopy.HomotopyEngine, "_finish_in_pairs", return_value=None)
    weights = mock.patch.object(homotopy._InstanceRun, "take", take_weights)
    print("ms an instance: N, with pairs, paths without, paths and ends without (ratios)")
    for name in options.nets:
        ours, counts = measure(name, options.instances)
        with balls:
            paths, others = measure(name, options.instances)
            with weights:
                both, more = measure(name, options.instances)
        same = "" if counts == others == more else "; COUNTS DIFFER"
        print(
            f"{name:>10} {ROOTS[name]:>4}  {ours:7.1f}  {paths:7.1f} ({paths / ours:.1f})"
            f"  {both:7.1f} ({both / ours:.1f}){same}",
            flush=True,
        )


if __name__ == "__main__":
    main()
