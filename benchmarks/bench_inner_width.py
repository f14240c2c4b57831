"""Frequency of inner blocks of deep ReLU targets realized below d² − d + 1 hidden units.

    python benchmarks/bench_inner_width.py [TRIALS_FOR_2 TRIALS_FOR_3 TRIALS_FOR_4] [--orders]

Frozen matrices and target are Gaussian, rounded to odd multiples of 2^-10: rational, never 0.  A
trial is matched if positive scales of the hidden units exist (exact, or in a box that is proved to
contain a real solution), and unmatched if all complex solutions are known and none is such a
solution, or if none exist; undetermined trials widen the Clopper–Pearson interval on both sides.
With ``--orders`` the inputs of the block may be taken in every order, as before the last layer of a
target.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from itertools import permutations

import numpy as np
from flint import fmpq

from algebra.plugins.normalization.hidden_scales import (
    HiddenScales,
    find_hidden_scales,
    least_inner_width,
    solution_count,
)
from numeric.statistics.intervals import proportion_interval

_BITS = 10


def draw(rng: random.Random, rows: int, columns: int) -> np.ndarray:
    """A Gaussian matrix of odd multiples of 2^-10."""
    out = np.empty((rows, columns), dtype=object)
    for index in np.ndindex(rows, columns):
        out[index] = fmpq(2 * round(rng.gauss(0, 1) * 2 ** (_BITS - 1)) + 1, 2**_BITS)
    return out


def outcome(rng: random.Random, d: int, width: int, orders: bool) -> HiddenScales:
    """One trial."""
    W2, W1, target = draw(rng, d, width), draw(rng, width, d), draw(rng, d, d)
    found = find_hidden_scales(W2, W1, target)
    if orders and not found.is_realized:
        for order in list(permutations(range(d)))[1:]:
            other = find_hidden_scales(W2, W1, target[:, list(order)])
            if other.is_realized or not other.is_refuted:
                found = other
            if other.is_realized:
                break
    return found


def main() -> None:
    """One line for each width."""
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()] or [2000, 400, 100]
    orders = "--orders" in sys.argv
    for d, trials in zip((2, 3, 4), numbers, strict=False):
        for width in range(least_inner_width(d, d), d * d - d + 1):
            rng = random.Random(f"inner-width/1/{d}/{width}")
            start = time.process_time()
            found = [outcome(rng, d, width, orders) for _ in range(trials)]
            matched = sum(f.is_realized for f in found)
            refuted = sum(f.is_refuted for f in found)
            interval = proportion_interval(matched, refuted, trials - matched - refuted)
            count = solution_count(d, d, width)
            real = Counter(f.real for f in found if f.real is not None)
            print(
                f"d = {d}  w = {width}  N = {count if count is not None else '∞'}  "
                f"matched {matched}, unmatched {refuted}, undetermined "
                f"{trials - matched - refuted}: [{interval.low:.3f}, {interval.high:.3f}]  "
                f"real {dict(sorted(real.items()))}  "
                f"{time.process_time() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
