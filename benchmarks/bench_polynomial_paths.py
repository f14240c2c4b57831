"""CPU time a path: polynomial activations beside linear nets of like size, and beside PHCpack.

Run from the top folder::

    python benchmarks/bench_polynomial_paths.py
    python benchmarks/bench_polynomial_paths.py --instances 20 --no-phcpy

Each row is a network, an allocation and its generic root count N, which is known.  The columns are
N, the CPU milliseconds of the engine homotopy for each instance and each path, Krawczyk's test
included, those of the engine phcpy for the same instances (its process's start subtracted) divided
by N, the instances each left undetermined, and those in which both are complete and disagree.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from algebra.networks.base import Network
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from benchmarks.bench_complete import cpu
from numeric.engines.homotopy import HomotopyEngine
from numeric.engines.phcpy.engine import PhcpyEngine
from numeric.trials.counts import InstanceCount
from numeric.trials.instances import Instance, draw_instance
from numeric.warm_up import GROUPS

CUBIC, WHOLE = {"polynomial": [0, 1, 0, "1/3"]}, {"polynomial": ["1/2", -1, 1, 1]}
CASES: list[tuple[Network, list[tuple[str, int, int]], int]] = [
    (LinearRNN(2, 2, 1, 1, 2), [("W", 0, 0), ("W", 1, 1)], 2),
    (LinearRNN(3, 2, 1, 2, 2), [("B", 1, 0), ("W", 0, 0), ("W", 1, 1), ("W", 2, 2)], 5),
    (FeedForward(3, (1,), 1, 2, activation=CUBIC), [("W1", 0, 1), ("W1", 0, 2)], 9),
    (
        FeedForward(2, (2,), 2, 2, activation=WHOLE, biases=True),
        [("W1", 0, 1), ("W2", 1, 0), ("c1", 1, 0), ("e", 1, 0)],
        9,
    ),
    (
        RNN(3, 2, 1, 1, 2, activation={"polynomial": [0, 0, 1]}),
        [("B", 1, 0), ("B", 2, 0)],
        12,
    ),
]


def by_phcpy(
    problem: Problem, roots: int, instances: Sequence[Instance]
) -> tuple[list[InstanceCount], float]:
    """Counts and CPU seconds of the engine phcpy, whose process is ended before the clock stops."""
    seconds, counts = [], list[InstanceCount]()
    for some in ([], instances):
        then = cpu()
        with PhcpyEngine(problem, roots, timeout=60) as engine:
            engine.prepare()
            counts = engine.count_many(some)
        seconds.append(cpu() - then)
    return counts, seconds[1] - seconds[0]


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--no-phcpy", action="store_true", help="without PHCpack")
    options = parser.parse_args()
    for group in ("tracker", "certification"):
        GROUPS[group]()
    print("   N  ms/instance  ms/path  open | phcpy ms/path  open  differ | network, allocation")
    for network, cells, roots in CASES:
        problem = Problem.of(Allocation.from_cells(network, cells))
        engine = HomotopyEngine(problem, root_count=roots, cache=False)
        instances = [draw_instance(problem, 7, k) for k in range(options.instances)]
        engine.count_many(instances[:1])  # the tapes are made
        then = cpu()
        counts = engine.count_many(instances)
        ms = 1e3 * (cpu() - then) / len(instances)
        paths = sum(count.paths + count.retried for count in counts) / len(counts)
        row = f"{roots:4}  {ms:11.1f}  {ms / paths:7.3f}  {_open(counts):4} | "
        if not options.no_phcpy:
            others, seconds = by_phcpy(problem, roots, instances)
            pairs = [
                (a.real, b.real)
                for a, b in zip(counts, others, strict=True)
                if a.status == b.status == "complete"
            ]
            differ = sum(a != b for a, b in pairs)
            each = 1e3 * seconds / len(instances) / roots
            row += f"{each:13.2f}  {_open(others):4}  {differ:6} | "
        print(f"{row}{network}: {problem.allocation}", flush=True)


def _open(counts: Sequence[InstanceCount]) -> int:
    return sum(count.status != "complete" for count in counts)


if __name__ == "__main__":
    main()
