"""Processor time of a trial of ReLU, normalization and large linear nets, measured and as expected.

``python benchmarks/bench_trial_costs.py`` prints a row for each network; a trial that is not done
in `SECONDS` is a lower bound.  The expected times choose how many trials are suggested
(`algebra.certificates.trial_costs`).  Large recurrent linear nets have as many random weights of W
as labels; a trial is one certified solution.
"""

from __future__ import annotations

import time

import numpy as np

import matchprob as mp
from algebra.certificates.trial_costs import trial_milliseconds
from algebra.problems.random_cells import RandomCells

SECONDS, TRIALS = 40.0, 4
# q, n, units that learn, d, m.
RELU = [
    (6, 8, 4, 4, 6), (10, 12, 6, 3, 10), (20, 20, 10, 4, 20), (20, 24, 12, 6, 24),
    (20, 30, 15, 4, 30), (10, 20, 10, 2, 50), (30, 40, 20, 4, 30), (30, 24, 24, 2, 30),
    (40, 40, 20, 2, 40), (30, 30, 15, 8, 40),
]  # fmt: skip
# n, d; T = m = n/2, b = 1.
LINEAR = [(16, 1), (16, 2), (24, 1), (24, 2), (32, 1), (32, 2)]
# Width of the target, hidden width, m, matrices.
NORMALIZATION = [
    (2, 4, 2, "g1 g2"), (2, 6, 3, "g1"), (2, 8, 4, "g1"), (3, 12, 4, "g1 b1"), (4, 13, 4, "g1 g2"),
]  # fmt: skip


def measure(problem: mp.Problem, title: str) -> None:
    """One row: expected and measured ms a trial, and how many were done."""
    start = time.process_time()
    found = mp.estimate(problem, trials=TRIALS, timeout=SECONDS, certify=False)
    spent = 1000 * (time.process_time() - start) / max(1, found.trials)
    print(f"{title:<40}{trial_milliseconds(problem) or 0:>12}{spent:>12.0f}{found.trials:>6}"
          f"{found.undetermined:>6}", flush=True)  # fmt: skip


def main() -> None:
    """All rows; the first network of each kind is measured once before, to compile its kernels."""
    print(f"{'network':<40}{'expected ms':>12}{'measured':>12}{'done':>6}{'open':>6}")
    for q, n, k, d, m in [RELU[0], *RELU]:
        mask = np.zeros((n, q), int)
        mask[:k] = 1
        problem = mp.Problem(mp.ShallowReLU(q=q, n=n, d=d, m=m), {"W1": mask})
        measure(problem, f"relu q={q} n={n} units={k} d={d} m={m}")
    for n, d in [LINEAR[0], *LINEAR]:
        net = mp.LinearRNN(n=n, T=n // 2, b=1, d=d, m=n // 2)
        problem = mp.Problem(net, {"W": RandomCells(budget=d * n // 2)})
        measure(problem, f"lrnn n={n} T=m={n // 2} d={d}")
    for width, hidden, m, names in [NORMALIZATION[0], *NORMALIZATION]:
        net = mp.NormNet.square(d=width, depth=1, width=hidden, m=m)
        problem = mp.Problem(net, dict.fromkeys(names.split(), "all"))
        measure(problem, f"normnet d={width} width={hidden} m={m} {names}")


if __name__ == "__main__":
    main()
