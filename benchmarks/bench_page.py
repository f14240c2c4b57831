"""Processor time of one verdict on the page, part by part.

    python benchmarks/bench_page.py

For linear RNNs of n = 2, 16 and 64 with as many weights of W as there are equations, once at random
cells (not minimal) and once in whole rows.  Every verdict is of another allocation, so of the
results of the last one only the rank of the network is reused; the page keeps it between clicks
too. The limits are 50 ms at n = 16 and 200 ms at n = 64.
"""

from __future__ import annotations

import random
import time

from algebra.networks.recurrent import LinearRNN
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from matchprob.plugins.page.immediate import immediate_results
from matchprob.plugins.page.state import state_of

NETS = {
    "n = 2": LinearRNN(n=2, T=2, b=1, d=1, m=2),
    "n = 16": LinearRNN(n=16, T=4, b=2, d=4, m=8),
    "n = 64": LinearRNN(n=64, T=4, b=4, d=8, m=16),
}
LOOKS = 7


def allocations(net: LinearRNN, rng: random.Random, in_rows: bool) -> Allocation:
    """As many weights of W as there are equations."""
    cells = [("W", i, j) for i in range(net.n) for j in range(net.n)]
    if in_rows:
        start = rng.randrange(net.n) * net.n
        chosen = [cells[(start + k) % len(cells)] for k in range(net.outputs)]
    else:
        chosen = rng.sample(cells, min(net.outputs, len(cells)))
    return Allocation.from_cells(net, chosen)


def main() -> None:
    """Measure and print."""
    rng = random.Random(0)
    print(f"{'':8} {'allocation':10} {'median':>8} {'most':>8}   ms of processor time a look")
    for name, net in NETS.items():
        for in_rows in (False, True):
            times = []
            for k in range(LOOKS + 1):
                state = state_of(Problem.of(allocations(net, rng, in_rows)))
                start = time.process_time()
                immediate_results(state)
                if k:  # the first one loads libraries
                    times.append(1000 * (time.process_time() - start))
            times.sort()
            kind = "rows" if in_rows else "random"
            print(f"{name:8} {kind:10} {times[len(times) // 2]:8.1f} {times[-1]:8.1f}")


if __name__ == "__main__":
    main()
