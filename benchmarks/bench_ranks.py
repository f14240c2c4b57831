"""Times of exact verdicts on large networks, and of audits of many small allocations.

Run from the top folder::

    python benchmarks/bench_ranks.py [--large]
    python benchmarks/bench_ranks.py --trees OLD NEW    # in two checkouts, one after the other

Times are CPU seconds on one core; the memory is the process's peak so far.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
# The checkout that is measured: another one with --trees.
sys.path.insert(0, os.environ.get("TREE", str(Path(__file__).resolve().parent.parent)))

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.plugins.papers.audit import audit
from algebra.problems.allocation import Allocation
from algebra.ranks.generic_rank import allocation_rank, network_rank


def timed(label: str, work: Callable[[], Any]) -> None:
    """Run once and print the time and the peak memory."""
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
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
    parser.add_argument("--trees", type=Path, nargs=2, help="two checkouts")
    options = parser.parse_args()
    for tree in options.trees or ():
        print(tree, flush=True)
        more = ["--large"] if options.large else []
        there = {**os.environ, "TREE": str(tree.resolve()), "PYTHONPATH": str(tree.resolve())}
        subprocess.run([sys.executable, __file__, *more], env=there, check=True)
    if options.trees:
        return
    net = LinearRNN(n=256, T=64, b=4, d=16, m=64)
    timed(f"{net}, r = 1024, spread", lambda: verdict(net, 0))
    # A row has at most min(Tb, Tm) = 256 weights: at n = 256 no row can have too many, so a smaller
    # T gives a deficit.
    short = LinearRNN(n=256, T=8, b=4, d=16, m=32)
    timed(f"{short}, r = 512, 48 in a row", lambda: verdict(short, 48))
    wide = LinearRNN(n=512, T=8, b=4, d=32, m=32)
    timed(f"{wide}, r = 1024, 48 in a row", lambda: verdict(wide, 48))
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
