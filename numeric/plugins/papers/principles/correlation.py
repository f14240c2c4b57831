"""Kendall's τ between a number and the match probability, and pairs that are ordered wrongly.

**Interval of τ.**  The match probabilities are estimated from common trials, and the classes of
allocations are those of one network.  Each replicate of the bootstrap [1]_ draws the classes anew
and the trials anew (the same trials for all classes, as they were made), so that the interval
covers both the choice of the network's classes and the error of the estimates.  In each replicate
a class counts its undetermined trials all as matched or all as unmatched, at random.  Percentile
intervals of τ are approximate with few classes; they say how firm a τ is, and prove nothing.

**Pairs.**  Of two classes a and b, on common trials, only those matter that exactly one of them
matches: MP(a) > MP(b) if and only if such a trial is matched by a with probability above 1/2.  The
exact binomial test of 1/2 gives a p-value for each pair; undetermined trials count against the
claim: u of them that could be such trials are added to the losses, which is the largest p-value of
all completions, as P(Bin(n + 1, 1/2) ≤ k + 1) ≥ P(Bin(n, 1/2) ≤ k) ≥ P(Bin(n + 1, 1/2) ≤ k).
Holm's correction [2]_ for all pairs makes all the claims hold together with the given confidence,
although the pairs are chosen by looking at the same trials.

References
----------
.. [1] B. Efron, R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall 1993.
.. [2] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6 (1979) 65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from algebra.results import named
from numeric.statistics.intervals import paired_interval, paired_table, tail_of

# Replicates of the bootstrap.
REPLICATES = 2000

Outcomes = Sequence[Sequence[bool | None]]


@dataclass(frozen=True)
class RankCorrelation:
    """Kendall's τ between a number known of each class and its match probability.

    Attributes
    ----------
    predictor : str
    is_principle : bool
        Whether the paper states it.
    value : float or None
        τ_b; None if all classes have the same number, or fewer than two are known.
    low, high : float or None
        Bootstrap interval; None without a value.
    classes : int
        Number of classes for which the number is known.
    """

    predictor: str
    is_principle: bool
    value: float | None
    low: float | None
    high: float | None
    classes: int

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return named(self, "predictor", "is_principle", "value", "low", "high", "classes")


@dataclass(frozen=True)
class OrderedPair:
    """Two classes of which one is shown to match more often.

    Attributes
    ----------
    better, worse : int
        Indices of classes.
    difference : float
        Share of trials matched by the better only, minus that by the worse only.
    low, high : float
        Interval of the difference at the confidence that is left for one pair.
    p_value : float
        With Holm's correction for all pairs.
    """

    better: int
    worse: int
    difference: float
    low: float
    high: float
    p_value: float

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return named(self, "better", "worse", "difference", "low", "high", "p_value")


def tau_b(x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Kendall's τ_b of two samples; each point may have a whole number of copies.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
    weights : ndarray of int, shape (n,), optional
        Numbers of copies.

    Returns
    -------
    float
        NaN if one of the samples is constant.

    Examples
    --------
    >>> tau_b(np.array([1, 2, 3]), np.array([1, 3, 2]))  # 2 pairs agree, 1 disagrees
    0.3333333333333333
    """
    one = np.sign(x[:, None] - x[None, :]).astype(np.int64)
    other = np.sign(y[:, None] - y[None, :]).astype(np.int64)
    w = np.ones(len(x), np.int64) if weights is None else np.asarray(weights, np.int64)
    pairs = w[:, None] * w[None, :]
    untied = (pairs * one * one).sum() * (pairs * other * other).sum()
    return float((pairs * one * other).sum() / np.sqrt(untied)) if untied else float("nan")


@dataclass(frozen=True)
class Replicates:
    """Replicates of the bootstrap, over classes and trials.

    Attributes
    ----------
    shares : ndarray of shape (K,)
        Matched shares of the decided trials, as observed.
    copies : ndarray of int, shape (R, K)
        How often each class is drawn.
    drawn : ndarray of int, shape (R, K)
        Numbers of matches of each class among the trials drawn.
    """

    shares: np.ndarray
    copies: np.ndarray
    drawn: np.ndarray


def replicates(outcomes: Outcomes, seed: int = 0) -> Replicates:
    """Draw classes and common trials anew.

    Parameters
    ----------
    outcomes : sequence of sequences of bool or None
        For each class its outcomes on the common trials: matched, unmatched, undetermined.
    seed : int, optional
    """
    table = np.array([[np.nan if o is None else float(o) for o in row] for row in outcomes], float)
    table = table.reshape(len(outcomes), len(outcomes[0]) if outcomes else 0)
    classes, trials = table.shape
    if not classes or not trials:
        empty = np.zeros((0, classes), np.int64)
        return Replicates(np.full(classes, 0.5), empty, empty)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(b"principles")))
    copies = rng.multinomial(classes, np.full(classes, 1 / classes), size=REPLICATES)
    times = rng.multinomial(trials, np.full(trials, 1 / trials), size=REPLICATES)
    missing = np.isnan(table)
    drawn = times @ np.where(missing, 0, table).T
    # Each class counts its undetermined trials as matched, or none of them.
    drawn += (times @ missing.T) * (rng.random((REPLICATES, classes)) < 0.5)
    decided = (~missing).sum(axis=1)
    shares = np.where(decided, np.nansum(table, axis=1) / np.maximum(decided, 1), 0.5)
    return Replicates(shares, copies, drawn)


def rank_correlation(
    predictor: str,
    numbers: Sequence[float | None],
    drawn: Replicates,
    *,
    is_principle: bool = False,
    confidence: float = 0.95,
) -> RankCorrelation:
    """Kendall's τ between numbers and match probabilities, with a bootstrap interval.

    Parameters
    ----------
    predictor : str
    numbers : sequence of float or None
        One for each class.
    drawn : Replicates
    is_principle : bool, optional
    confidence : float, optional

    Examples
    --------
    >>> outcomes = [[False] * 9, [True] * 9, [True] * 9]
    >>> found = rank_correlation("rows", [1, 2, 2], replicates(outcomes))
    >>> round(found.value, 3), found.classes
    (1.0, 3)
    """
    known = [k for k, number in enumerate(numbers) if number is not None]
    x, shares = _ranks([numbers[k] for k in known]), drawn.shares[known]
    if len(set(x)) < 2 or len(set(shares)) < 2 or not len(drawn.copies):
        return RankCorrelation(predictor, is_principle, None, None, None, len(known))
    # Loaded here: its import takes long, and only this needs it.
    from scipy.stats import kendalltau

    value = float(kendalltau(x, shares).statistic)
    tail = tail_of(confidence)
    pairs = zip(drawn.drawn[:, known], drawn.copies[:, known], strict=True)
    low, high = np.nanquantile([tau_b(x, y, copies) for y, copies in pairs], [tail, 1 - tail])
    return RankCorrelation(predictor, is_principle, value, float(low), float(high), len(known))


def _ranks(numbers: Sequence[float | None]) -> np.ndarray:
    """Numbers, which may be longer than a double holds, as places in their order."""
    order = {number: k for k, number in enumerate(sorted({n for n in numbers if n is not None}))}
    return np.array([order[n] for n in numbers if n is not None], float)


def ordered_pairs(outcomes: Outcomes, *, confidence: float = 0.95) -> tuple[OrderedPair, ...]:
    """The pairs of classes of which one matches more often, shown for all of them together.

    Parameters
    ----------
    outcomes : sequence of sequences of bool or None
        For each class its outcomes on common trials.
    confidence : float, optional
        Joint confidence of all the claims.

    Examples
    --------
    >>> [pair] = ordered_pairs([[True] * 20, [False] * 20])
    >>> pair.better, pair.worse, pair.difference
    (0, 1, 1.0)
    """
    from scipy.stats import binom

    number = len(outcomes) * (len(outcomes) - 1) // 2
    if not number:
        return ()
    error = 2 * tail_of(confidence)
    tested: list[tuple[float, int, int, np.ndarray]] = []
    for a, b in combinations(range(len(outcomes)), 2):
        table = paired_table(outcomes[a], outcomes[b])
        wins, losses = int(table[0, 1]), int(table[1, 0])
        if wins < losses:
            a, b, table, wins, losses = b, a, table.T, losses, wins
        unclear = int(table[2].sum() + table[:2, 2].sum())
        tail = float(binom.cdf(losses + unclear, wins + losses + unclear, 0.5))
        tested.append((min(1.0, 2 * tail), a, b, table))
    found, adjusted = [], 0.0
    for k, (p, a, b, table) in enumerate(sorted(tested, key=lambda t: t[:3])):
        adjusted = max(adjusted, min(1.0, (number - k) * p))
        if adjusted > error:
            break
        interval = paired_interval(table, confidence=1 - error / number)
        difference = (int(table[0, 1]) - int(table[1, 0])) / int(table.sum())
        found.append(OrderedPair(a, b, difference, interval.low, interval.high, adjusted))
    return tuple(found)
