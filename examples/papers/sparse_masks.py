r"""Frozen matrices with random zeros: how often scales alone still realize every target.

Each entry of the frozen W_1 (w×m) and W_2 (n×w) is kept with probability p (Theorem 3 of the
second paper).  The system of Lemma 1 then has full rank for generic values of the kept
entries if and only if its zero pattern has a matching that covers all nm rows
(`algebra.plugins.normalization.khatri_rao`).  So the probability of success is that of a matching,
which is sampled quickly without arithmetic.

A column of the system is a_j ⊗ b_j: it is empty if hidden unit j has lost all inputs or
all outputs.  At w = d² no column may be empty, which alone requires
2 d² (1 − p)^d → 0, that is p ≥ (2 + o(1)) log d / d: no construction with w = d² needs
less, and the paper's conjecture p = Θ(log d / d) (Remark 3) is of the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algebra.errors import InputError, whole_number
from algebra.plugins.normalization.khatri_rao import product_patterns, structural_ranks
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval

# Mask entries (of the product) drawn at a time.
_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class SparseSuccess:
    """How often random masks leave the system solvable for every target.

    Attributes
    ----------
    d, width : int
        Target d×d, hidden width.
    density : float
        Probability p that an entry is kept.
    trials, successes : int
    interval : ConfidenceInterval
        Clopper–Pearson, 95 %.
    """

    d: int
    width: int
    density: float
    trials: int
    successes: int
    interval: ConfidenceInterval

    @property
    def share(self) -> float:
        """Share of successes."""
        return self.successes / self.trials


def draw_masks(
    d: int, width: int, density: float, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Random masks of W_2 and of W_1 transposed, each (count, d, width), of bool."""
    return rng.random((count, d, width)) < density, rng.random((count, d, width)) < density


def sparse_success(
    d: int, width: int, density: float, trials: int = 1000, seed: int = 0
) -> SparseSuccess:
    """Probability that randomly sparsified matrices still realize every d×d target.

    Parameters
    ----------
    d, width : int
    density : float
        Probability that an entry is kept.
    trials, seed : int, optional

    Returns
    -------
    SparseSuccess

    Examples
    --------
    >>> sparse_success(3, 9, 1.0, trials=10).share
    1.0
    """
    d, width = whole_number(d, "d", 1), whole_number(width, "width", 1)
    trials = whole_number(trials, "trials", 1)
    if not 0 <= density <= 1:
        raise InputError(f"`density` ({density!r}) must be a probability")
    key = (d, width, round(density * 10**9))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    step = max(1, _AT_ONCE // (d * d * width))
    good = 0
    for start in range(0, trials, step):
        masks = draw_masks(d, width, density, min(step, trials - start), rng)
        # Row and column counts decide most draws; the others need a matching.
        left = solvable_by_counting(*masks)
        patterns = product_patterns(*(mask[left] for mask in masks))
        good += int((structural_ranks(patterns) == d * d).sum())
    interval = proportion_interval(good, trials - good, 0, confidence=0.95)
    return SparseSuccess(d, width, density, trials, good, interval)


def solvable_by_counting(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Which masks have enough hidden units with inputs and outputs, and no empty row."""
    used = left.any(axis=1) & right.any(axis=1)
    pairs = np.einsum("nij,nkj->nik", left.astype(np.float32), right.astype(np.float32))
    rows = left.shape[1] * right.shape[1]
    return (used.sum(axis=1) >= rows) & (pairs > 0).all(axis=(1, 2))
