"""Designs on sparse recurrent nets under caps: seconds, by size.

    python benchmarks/bench_design.py [--large]

Candidate weights are drawn at random (8 a hidden unit), costs too; the cheapest allocation that
is not minimal is found with and without a cap on the rows, and its certificate checked.
"""

from __future__ import annotations

import argparse
import random
import time
from fractions import Fraction

from algebra.design import least_cost
from algebra.networks import LinearRNN

# n, T, d = m: d m equations, 8 n candidates.
SIZES = [(16, 4, 4), (32, 6, 6), (64, 8, 8), (128, 12, 11)]
LARGE = [(256, 16, 16)]


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="n = 256 too")
    options = parser.parse_args()
    print("   n  equations  candidates  cap  greedy s  with cap s  cost / with cap")
    for n, T, d in SIZES + (LARGE if options.large else []):
        network = LinearRNN(n=n, T=T, b=1, d=d, m=d)
        rng = random.Random(n)
        cells = [("W", i, j) for i in range(n) for j in rng.sample(range(n), 8)]
        costs = {cell: Fraction(rng.randrange(1, 100)) for cell in cells}
        began = time.perf_counter()
        free = least_cost(network, allowed=cells, costs=costs)
        middle = time.perf_counter()
        cap = -(-d * d // n) + 1
        capped = least_cost(network, allowed=cells, costs=costs, caps={"row": cap})
        end = time.perf_counter()
        print(
            f"{n:4d}  {d * d:9d}  {len(cells):10d}  {cap:3d}  {middle - began:8.2f}  "
            f"{end - middle:10.2f}  {free.cost} / {capped.cost}",
            flush=True,
        )


if __name__ == "__main__":
    main()
