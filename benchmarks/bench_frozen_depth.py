"""Verdicts of linear networks whose hidden scales learn: depth × width, and MP of the middle case.

The target is one d × d matrix; L frozen matrices of hidden width w have scales between them
(docs/normalization.md, "Several frozen layers").  Of each diagonal of scales but the last the first
is fixed at a random number: factors that cancel are no loss, and with as many scales left as
equations solutions are isolated and can be counted.  `frozen_layers` is this problem as a network
of kind ``normnet``; `problem` is it as ``lffn`` with diagonal matrices that learn, for d samples
and arbitrary labels, which is the same as an arbitrary target.  Verdicts are those of the first:
its shifts give further sub-allocations, some of which have an odd number of solutions.

    python benchmarks/bench_frozen_depth.py [trials]
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import matchprob as mp


def problem(d: int, w: int, frozen: int) -> mp.Problem:
    """L = `frozen` random matrices, and a diagonal one that learns between each two of them."""
    net = mp.LinearFeedForward(q=d, widths=(w,) * (2 * frozen - 2), d=d, m=d)
    scales = {f"W{2 * k}": np.eye(w, dtype=int) for k in range(1, frozen)}
    learnable = {name: mask.copy() for name, mask in scales.items()}
    for name in list(scales)[:-1]:
        learnable[name][0, 0] = 0
    law = mp.Distribution(labels="normal")
    return mp.Problem(net, learnable, support=scales, distribution=law)


def frozen_layers(d: int, w: int, frozen: int) -> mp.Problem:
    """The same, with scales in place of diagonal matrices, and with shifts of the target."""
    net = mp.NormNet((d, d), ((w,) * (frozen - 1),), d + 1, "linear")
    learnable: dict[str, Any] = {f"g{k}": np.ones((w, 1), int) for k in range(1, frozen)}
    for k in range(1, frozen - 1):
        learnable[f"g{k}"][0] = 0
    return mp.Problem(net, learnable | {f"b{frozen}": "all"})


def discriminant(frozen: np.ndarray, target: np.ndarray) -> float:
    """The discriminant of the equation whose real zeros are realizations (d = w = 2, L = 4)."""
    first, second, third, fourth = frozen
    P = np.linalg.solve(fourth, target) @ np.linalg.inv(first)
    spanned = np.array([np.outer(third[:, k], second[k]).ravel() for k in range(2)])
    c, e = (row * P.ravel() for row in np.linalg.svd(spanned)[2][2:])
    a0 = c[0] * e[2] - e[0] * c[2]
    a1 = c[0] * e[3] + c[1] * e[2] - e[0] * c[3] - e[1] * c[2]
    a2 = c[1] * e[3] - e[1] * c[3]
    return float(a1 * a1 - 4 * a0 * a2)


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for d, widths in ((2, (2, 3, 4)), (3, (3, 4, 5, 6, 9))):
        for w in widths:
            for frozen in range(2, 7):
                before = time.process_time()
                found = mp.certify(frozen_layers(d, w, frozen), timeout=300, search=60)
                cpu = time.process_time() - before
                print(
                    f"d = {d}  w = {w}  L = {frozen}  {found.verdict:<12}  rank {found.rank - d} "
                    f"of {d * d}  N = {found.generic_root_count}  {found.rule}  {cpu:.1f} s",
                    flush=True,
                )
    for d, w, frozen in ((3, 5, 3), (3, 3, 5)):
        found = mp.estimate(problem(d, w, frozen), trials=400, complete=True)
        print(f"d = {d}  w = {w}  L = {frozen}", found)
    rng = np.random.default_rng(0)
    matched = sum(
        discriminant(rng.standard_normal((4, 2, 2)), rng.standard_normal((2, 2))) >= 0
        for _ in range(trials)
    )
    print(f"d = w = 2, L = 4: {matched} of {trials} targets are realized")


if __name__ == "__main__":
    main()
