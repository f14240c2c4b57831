r"""Frozen matrices with random zeros: how often scales alone still realize every target.

Each entry of the frozen W_1 (w×m) and W_2 (n×w) is kept with probability p (Theorem 3 of the
second paper).  The system of Lemma 1 then has full rank for generic values of the kept
entries exactly where its zero pattern has a matching that covers all nm rows
(`algebra.normalization.khatri_rao`).  So the probability of success is that of a matching:
quick to draw, without any arithmetic.

A column of the system is a_j ⊗ b_j: it is empty where hidden unit j has lost all inputs or
all outputs.  At w = d² no column may be empty, which alone needs
2 d² (1 − p)^d → 0, that is p ≥ (2 + o(1)) log d / d: no construction with w = d² can do with
less, and the paper's conjecture p = Θ(log d / d) (Remark 3) asks for the same order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from algebra.errors import InputError, whole_number
from algebra.linalg.modular import random_prime
from algebra.normalization.khatri_rao import modular_ranks, product_patterns, structural_ranks
from numeric.statistics.intervals import Interval, proportion_interval

# Mask entries (of the product) drawn at once.
_AT_ONCE = 20_000_000
# Masks compared at once.
_CHUNK = 20_000
# Points at which a rank below the matching's size is looked at before it is believed.
_POINTS = 5


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
    interval : Interval
        Clopper–Pearson, 95 %.
    """

    d: int
    width: int
    density: float
    trials: int
    successes: int
    interval: Interval

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
        # A row or column count decides most draws; a matching only the rest.
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


@dataclass(frozen=True)
class Disagreement:
    """Masks for which the rank modulo p stays below the matching's size.

    Attributes
    ----------
    left, right : tuple of tuple of int
        Masks of W_2 and of W_1 transposed.
    structural, modular : int
    primes : tuple of int
        Modulo which it was found.
    """

    left: tuple[tuple[int, ...], ...]
    right: tuple[tuple[int, ...], ...]
    structural: int
    modular: int
    primes: tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """Matching and generic rank compared on random masks.

    Attributes
    ----------
    masks : int
    full, deficient : int
        Masks whose pattern has a matching that covers every row, and the others.
    unlucky : int
        Masks for which the first point showed too small a rank and another the right one.
    disagreements : tuple of Disagreement
    """

    masks: int
    full: int
    deficient: int
    unlucky: int
    disagreements: tuple[Disagreement, ...] = field(default=())

    def __str__(self) -> str:
        return (
            f"{self.masks} random masks: {self.full} with a covering matching, {self.deficient} "
            f"without; {len(self.disagreements)} disagreements with the rank modulo a prime "
            f"({self.unlucky} unlucky points)"
        )


def compare_ranks(
    sizes: Iterable[tuple[int, int, int, float]], masks: int, seed: int = 0
) -> Agreement:
    """Hold the matching against the rank modulo random primes, on random masks.

    Parameters
    ----------
    sizes : iterable of (n, m, width, density)
    masks : int
        For each size.
    seed : int, optional

    Returns
    -------
    Agreement

    Examples
    --------
    >>> str(compare_ranks([(2, 2, 4, 0.5)], 100)).endswith("0 disagreements with the rank "
    ...     "modulo a prime (0 unlucky points)")
    True
    """
    numbers = random.Random(f"sparse/{seed}")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5BA5,)))
    total = full = unlucky = 0
    found: list[Disagreement] = []
    chunks = [
        (size, min(_CHUNK, masks - start)) for size in sizes for start in range(0, masks, _CHUNK)
    ]
    for (n, m, width, density), count in chunks:
        left, right = (rng.random((count, size, width)) < density for size in (n, m))
        structural = structural_ranks(product_patterns(left, right))
        p = random_prime(numbers)
        modular = modular_ranks(left, right, p, numbers)
        primes = [p]
        open_ = np.flatnonzero(structural != modular)
        first = len(open_)
        while len(open_) and len(primes) < _POINTS:
            primes.append(random_prime(numbers))
            again = modular_ranks(left[open_], right[open_], primes[-1], numbers)
            modular[open_] = np.maximum(modular[open_], again)
            open_ = open_[structural[open_] != modular[open_]]
        unlucky += first - len(open_)
        for k in open_:
            found.append(
                Disagreement(
                    tuple(tuple(map(int, row)) for row in left[k]),
                    tuple(tuple(map(int, row)) for row in right[k]),
                    int(structural[k]), int(modular[k]), tuple(primes),
                )
            )  # fmt: skip
        total += count
        full += int((structural == n * m).sum())
    return Agreement(total, full, total - full, unlucky, tuple(found))
