"""The match probability with ρ … ρ + 4 learnable weights, ρ the number of equations.

    python benchmarks/bench_surplus.py [--trials 300] [--nets 0 3 7]

Ten recurrent nets of n = 3 … 6.  Of each, ρ random cells of W with rank ρ learn, then one random
cell more at a time: the first order of the stream ``surplus/NET`` whose first ρ cells have full
rank.  A line has the trials that match, those without a match (proved), those that are
undetermined, the CPU time, msolve's included, and the evidence.
"""

from __future__ import annotations

import argparse
import random
import resource
from collections import Counter

import matchprob as mp
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank

NETS = (
    (3, 2, 1, 1, 2), (3, 3, 1, 1, 3), (3, 2, 1, 2, 2), (4, 2, 1, 2, 2), (4, 3, 1, 1, 3),
    (4, 2, 2, 1, 4), (5, 3, 1, 2, 3), (5, 2, 2, 2, 3), (6, 3, 1, 2, 3), (6, 2, 1, 3, 2),
)  # fmt: skip
MOST = 4


def cpu_seconds() -> float:
    """Processor time of this process and its children."""
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def nested_cells(net: mp.LinearRNN, rank: int) -> list[tuple[str, int, int]]:
    """ρ + `MOST` cells of W, the first ρ of full rank."""
    rng = random.Random(f"surplus/{net}")
    cells = [("W", i, j) for i in range(net.n) for j in range(net.n)]
    while True:
        rng.shuffle(cells)
        part = Allocation.from_cells(net, cells[:rank])
        if allocation_rank(part, {}, rank).rank == rank:
            return cells[: rank + MOST]


def main() -> None:
    """Print one line for each net and number of weights."""
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--trials", type=int, default=300)
    parse.add_argument("--nets", type=int, nargs="*", default=list(range(len(NETS))))
    options = parse.parse_args()
    for number in options.nets:
        n, T, b, d, m = NETS[number]
        net = mp.LinearRNN(n=n, T=T, b=b, d=d, m=m)
        rank = network_rank(net, {}).rank
        cells = nested_cells(net, rank)
        for size in range(rank, rank + MOST + 1):
            began = cpu_seconds()
            masks = Allocation.from_cells(net, cells[:size]).masks
            found = mp.estimate(mp.Problem(net, masks), options.trials)
            why = Counter(c.note for c in found.counts if c.outcome != "unmatched").most_common(2)
            print(
                f"n={n} T={T} b={b} d={d} m={m} r=ρ+{size - rank}  {found.value_text:>14}  "
                f"{found.matched}/{found.unmatched}/{found.undetermined}  "
                f"{cpu_seconds() - began:.1f} s  {'; '.join(text for text, _ in why)[:110]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
