"""CPU time a path: polynomial activations beside linear nets of like size, and beside PHCpack.

Run from the top folder::

    python benchmarks/bench_polynomial_paths.py
    python benchmarks/bench_polynomial_paths.py --instances 20 --no-phcpy

Each row is a network with a random square allocation, the same number of learnable weights for a
linear net and for activations of degree 2 and 3.  N comes from bases over prime fields; the start
system is not read from a cache.  The columns are N, the CPU milliseconds of the engine homotopy for
each instance and each path, Krawczyk's test included, those of the engine phcpy for the same
instances (its process's start subtracted), the instances each left undetermined, and the instances
in which both are complete and disagree.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from algebra.networks.base import Network
from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from algebra.systems.root_count import RootCountError, generic_root_count
from benchmarks.bench_complete import cpu
from numeric.counts import InstanceCount
from numeric.engines.counter import InstanceCounter
from numeric.engines.homotopy import HomotopyEngine
from numeric.instances import Instance, draw_instance
from numeric.warm_up import GROUPS

SQUARE, CUBIC = {"polynomial": [1, 1, 1]}, {"polynomial": [0, 1, 0, "1/3"]}
NETWORKS: list[list[Network]] = [
    [
        LinearRNN(3, 3, 1, 2, 3),
        RNN(3, 3, 1, 2, 3, activation=SQUARE),
        RNN(3, 2, 1, 2, 3, activation=CUBIC),
    ],
    [
        LinearRNN(4, 4, 1, 2, 4),
        RNN(4, 3, 1, 2, 4, activation=SQUARE),
        RNN(4, 2, 1, 2, 4, activation=CUBIC, biases=True),
    ],
    [
        LinearFeedForward(3, (3, 3), 2, 3),
        FeedForward(3, (3, 3), 2, 3, activation=SQUARE),
        FeedForward(3, (3,), 2, 3, activation=CUBIC),
    ],
]


def draw(network: Network, fewest: int, most: int) -> tuple[Problem, int]:
    """A random square allocation with N in a range, and N."""
    rng, cells = random.Random(f"paths/{network}"), all_cells(network)
    hidden = [cell for cell in cells if cell[0] not in ("D", "W3", "e")]
    count = network.d * network.independent_columns
    while True:
        some = hidden if len(hidden) >= count else cells
        allocation = Allocation.from_cells(network, sorted(rng.sample(some, count)))
        if allocation_rank(allocation).rank < count:
            continue
        try:
            roots = generic_root_count(allocation, timeout=10).value
        except RootCountError:
            continue
        if fewest <= roots <= most:
            return Problem.of(allocation), roots


def by_phcpy(problem: Problem, instances: Sequence[Instance]) -> tuple[list[InstanceCount], float]:
    """Counts and CPU seconds of the engine phcpy, whose process is ended before the clock stops."""
    seconds, counts = [], list[InstanceCount]()
    for some in ([], instances):
        then = cpu()
        with InstanceCounter(problem, "phcpy", timeout=60) as counter:
            counter.prepare()
            counts = counter.count_many(some)
        seconds.append(cpu() - then)
    return counts, seconds[1] - seconds[0]


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--fewest", type=int, default=8, help="smallest N")
    parser.add_argument("--most", type=int, default=60, help="largest N")
    parser.add_argument("--no-phcpy", action="store_true", help="without PHCpack")
    options = parser.parse_args()
    for group in ("tracker", "certification"):
        GROUPS[group]()
    print("   N  ms/instance  ms/path  open | phcpy ms/path  open  differ | network, allocation")
    for networks in NETWORKS:
        for network in networks:
            problem, roots = draw(network, options.fewest, options.most)
            instances = [draw_instance(problem, 7, k) for k in range(options.instances)]
            engine = HomotopyEngine(problem, root_count=roots, cache=False)
            engine.count_many(instances[:1])  # the tapes are made
            then = cpu()
            counts = engine.count_many(instances)
            ms = 1e3 * (cpu() - then) / len(instances)
            paths = sum(count.paths + count.retried for count in counts) / len(counts)
            row = f"{roots:4}  {ms:11.1f}  {ms / paths:7.3f}  {_open(counts):4} | "
            if not options.no_phcpy:
                others, seconds = by_phcpy(problem, instances)
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
