"""Designs on sparse recurrent nets under caps: seconds, by size.

    python benchmarks/bench_design.py [--large]

Candidate weights are drawn at random (8 a hidden unit), and so are costs.  The cheapest allocation
that is not minimal is computed without caps, with a cap on the rows, and with caps on rows and
columns (branch and bound); then the fewest neurons.  The time includes the verification of each
certificate.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from algebra.networks.recurrent import LinearRNN
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import Demand, checked_demand
from algebra.questions.design.neurons import fewest_neurons
from algebra.questions.design.result import Design
from numeric.questions.design.cap_relaxation import linear_relaxation

# n, T, d = m: d m equations, 8 n candidates.
SIZES = [(16, 4, 4), (32, 6, 6), (64, 8, 8), (128, 12, 11)]
LARGE = [(256, 16, 16)]


def timed(make: Callable[..., Design], demand: Demand) -> str:
    """Seconds of a design, and its value; a star if it is not proved optimal."""
    began = time.perf_counter()
    found = make(demand, relaxation=linear_relaxation, seconds=60.0)
    seconds = time.perf_counter() - began
    return f"{seconds:8.2f} {found.value!s:>6}{' ' if found.is_optimal else '*'}"


def main() -> None:
    """Print one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="n = 256 too")
    options = parser.parse_args()
    print("seconds and value (cost, number of rows); * not proved optimal")
    heads = ("no caps", "row cap", "row, column", "fewest rows")
    print("   n  equations  candidates  cap  " + "".join(f"{head:>16}" for head in heads))
    for n, T, d in [*SIZES, *(LARGE if options.large else [])]:
        network = LinearRNN(n=n, T=T, b=1, d=d, m=d)
        rng = random.Random(n)
        cells = [("W", i, j) for i in range(n) for j in rng.sample(range(n), 8)]
        costs = {cell: Fraction(rng.randrange(1, 100)) for cell in cells}
        cap = -(-d * d // n) + 1
        demand = checked_demand(network, allowed=cells, costs=costs)
        limits = ((), (("row", cap),), (("row", cap), ("column", cap)))
        results = [timed(cheapest, replace(demand, caps=caps)) for caps in limits]
        results.append(timed(fewest_neurons, demand))
        print(f"{n:4d}  {d * d:9d}  {len(cells):10d}  {cap:3d}  " + "".join(results), flush=True)


if __name__ == "__main__":
    main()
