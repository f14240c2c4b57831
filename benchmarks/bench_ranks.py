"""Times of exact verdicts on large networks, and of audits of many small allocations.

Run: ``python benchmarks/bench_ranks.py [--large]``.  Times are wall-clock on one core; the
memory is the process's peak so far.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable
from typing import Any

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.questions.surveys.audit import audit
from algebra.ranks.generic_rank import allocation_rank, network_rank


def timed(label: str, work: Callable[[], Any]) -> None:
    """Run once and print the time and the peak memory."""
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{label:64s} {seconds:8.2f} s  {peak:7.0f} MiB  {result}")


def verdict(network: LinearRNN, crowded: int) -> str:
    """Certified minimal or not: dm weights of W, `crowded` of them in row 0."""
    rng = random.Random(0)
    cells = {("W", 0, j) for j in rng.sample(range(network.n), crowded)}
    while len(cells) < network.outputs:
        cells.add(("W", rng.randrange(network.n), rng.randrange(network.n)))
    allocation = Allocation.from_cells(network, cells)
    whole = network_rank(network)
    found = allocation_rank(allocation, upper=whole.rank)
    word = "minimal" if found.rank < whole.rank else "not minimal"
    return f"rank {found.rank} of {whole.rank}: {word}, error {float(found.error):.0e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also r = 4,096 (a minute)")
    options = parser.parse_args()
    net = LinearRNN(n=256, T=64, b=4, d=16, m=64)
    timed(f"{net}, r = 1024, spread", lambda: verdict(net, 0))
    # A row has at most min(Tb, Tm) = 256 weights: at n = 256 no row can have too many, so a smaller
    # T gives a deficit.
    short = LinearRNN(n=256, T=8, b=4, d=16, m=32)
    timed(f"{short}, r = 512, 48 in a row", lambda: verdict(short, 48))
    layer = LinearFeedForward(q=5, widths=(5,), d=3, m=3)
    timed(
        f"audit of 100,000 allocations, {layer}",
        lambda: f"{audit(layer, 'W1', count=100_000).minimal} minimal",
    )
    if options.large:
        big = LinearRNN(n=256, T=64, b=4, d=64, m=64)
        timed(f"{big}, r = 4096, spread", lambda: verdict(big, 0))


if __name__ == "__main__":
    main()
