"""Confidence intervals for a match probability, for the difference of two, and under all bounds.

Some trials may stay undetermined: the instance has an answer, but it was not found.  They
are never dropped.  For the lower limit each of them counts as it lowers the limit most, for
the upper limit as it raises it most.

Proof of coverage.  Let K be the number of matches that all the n trials would show,
so matched ≤ K ≤ matched + undetermined, whatever made trials undetermined (this
may depend on the outcome).  For fixed n, the limits L(K) and U(K) of the methods
below do not decrease in K.  So [L(matched), U(matched + undetermined)] always contains the
interval [L(K), U(K)] of the complete data, and covers at least as often.

References
----------
.. [1] C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated
   in the case of the binomial", Biometrika 26 (1934) 404-413.
.. [2] E. B. Wilson, "Probable inference, the law of succession, and statistical
   inference", J. Amer. Statist. Assoc. 22 (1927) 209-212.
.. [3] T. Tango, "Equivalence test and confidence interval for the difference in
   proportions for the paired-sample design", Statistics in Medicine 17 (1998) 891-908.
.. [4] M. W. Fagerland, S. Lydersen, P. Laake, "Recommended tests and confidence intervals
   for paired binomial proportions", Statistics in Medicine 33 (2014) 2850-2875.
.. [5] C. F. Manski, *Partial Identification of Probability Distributions*, Springer 2003,
   chapter 1 (worst-case bounds for missing outcomes).

Examples
--------
>>> print(proportion_interval(743, 257))
[0.715, 0.770]
>>> print(proportion_interval(743, 247, 10))
[0.715, 0.779]
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, SupportsIndex

import numpy as np

from algebra.errors import InputError
from algebra.given import known_name

METHODS = ("clopper-pearson", "wilson")
# Digits of shares and of the ends of intervals: in results, and in the rows of tables.
DIGITS = 4
ROW_DIGITS = 3


def share_text(value: float | None, digits: int = DIGITS) -> str:
    """A share as results print it; – if there is none.

    Examples
    --------
    >>> share_text(0.25), share_text(None)
    ('0.2500', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}"


@dataclass(frozen=True)
class ConfidenceInterval:
    """A closed interval of real numbers.

    Attributes
    ----------
    low, high : float

    Examples
    --------
    >>> print(ConfidenceInterval(0.7291, 0.7569))
    [0.729, 0.757]
    """

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of its length."""
        return (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def text(self, digits: int = DIGITS) -> str:
        """Both ends in brackets."""
        return f"[{share_text(self.low, digits)}, {share_text(self.high, digits)}]"

    @property
    def words(self) -> str:
        """Both ends in a sentence: "between … and …"."""
        return f"between {share_text(self.low)} and {share_text(self.high)}"

    def __str__(self) -> str:
        return self.text(ROW_DIGITS)


def proportion_interval(
    matched: SupportsIndex,
    unmatched: SupportsIndex,
    undetermined: SupportsIndex = 0,
    *,
    confidence: float = 0.95,
    method: str = "clopper-pearson",
) -> ConfidenceInterval:
    """Confidence interval for a probability if some trials are undetermined.

    Parameters
    ----------
    matched, unmatched, undetermined : int
        Numbers of trials.  The number of trials must have been fixed in advance (otherwise
        see `numeric.statistics.confidence_sequences`).
    confidence : float
        Between 0 and 1.
    method : str
        "clopper-pearson" (exact: covers with at least `confidence`) or "wilson" (score
        interval: shorter, covers with about `confidence` on average).

    Returns
    -------
    ConfidenceInterval
        [0, 1] if there are no trials.

    Raises
    ------
    InputError
        If a number of trials is negative, `confidence` is not between 0 and 1, or `method` is
        unknown.

    Notes
    -----
    Clopper-Pearson limits are quantiles of beta distributions, Beta(k, n - k + 1) and
    Beta(k + 1, n - k), stochastically increasing in k.  Wilson's limits are the p with
    (k/n - p) / sqrt(p (1 - p) / n) = ±z; the left side increases in k and decreases in
    p, so they increase in k too.

    Examples
    --------
    >>> proportion_interval(0, 10).low
    0.0
    """
    k, m = count_of(matched, "matched"), count_of(unmatched, "unmatched")
    n = k + m + count_of(undetermined, "undetermined")
    tail = tail_of(confidence)
    known_name(method, "method", METHODS)
    lower = _clopper_pearson_lower if method == "clopper-pearson" else _wilson_lower
    # The upper limit for the matches is one minus the lower limit for the non-matches.
    return ConfidenceInterval(lower(k, n, tail), 1.0 - lower(m, n, tail))


# SciPy's special functions are imported where they are used: a process that needs no interval (a
# count, a worker of a study) starts a sixth of a second earlier.
def _normal_quantile(tail: float) -> float:
    """The number that a standard normal variable exceeds with this probability."""
    from scipy.special import ndtri

    return -float(ndtri(tail))


def _clopper_pearson_lower(k: int, n: int, tail: float) -> float:
    if k == 0:
        return 0.0
    from scipy.special import betaincinv

    return float(betaincinv(k, n - k + 1, tail))


def _wilson_lower(k: int, n: int, tail: float) -> float:
    if k == 0:
        return 0.0
    z = _normal_quantile(tail)
    centre = k + z * z / 2
    spread = z * sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, (centre - spread) / (n + z * z))


def paired_table(first: Iterable[bool | None], second: Iterable[bool | None]) -> np.ndarray:
    """Counts of pairs of outcomes of two allocations on common instances.

    Parameters
    ----------
    first, second : iterables of bool or None
        One outcome for each trial, in the same order: matched, unmatched or (None)
        undetermined.

    Returns
    -------
    ndarray of int, shape (3, 3)
        Rows: the first allocation; columns: the second; each in the order matched,
        unmatched, undetermined.

    Examples
    --------
    >>> paired_table([True, True, False, None], [True, False, False, True]).tolist()
    [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    """
    rows, columns = list(first), list(second)
    if len(rows) != len(columns):
        raise InputError(
            f"`first` has {len(rows)} outcomes and `second` {len(columns)}: give one for each "
            "common instance"
        )
    table = np.zeros((3, 3), dtype=np.int64)
    for a, b in zip(rows, columns, strict=True):
        table[_category(a), _category(b)] += 1
    return table


def paired_interval(
    table: Sequence[Sequence[int]] | np.ndarray, *, confidence: float = 0.95
) -> ConfidenceInterval:
    """Tango's score interval for the difference of two match probabilities.

    Parameters
    ----------
    table : array_like of int, shape (2, 2) or (3, 3)
        From `paired_table`: ``table[0][1]`` trials are matched by the first allocation
        only, ``table[1][0]`` by the second only.  A 2×2 table has no undetermined trials.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    ConfidenceInterval
        For (probability of the first) - (probability of the second), within [-1, 1].

    Notes
    -----
    With b and c the numbers of trials that only the first and only the second match, out
    of n, the limits are the Δ at which (b - c - nΔ) / sqrt(n (2q + Δ (1 - Δ))) = ±z, where
    q is the probability of a c-trial under Δ that fits best, the larger root of
    2n q² + ((2n - b + c) Δ - b - c) q - c Δ (1 - Δ) = 0.  This is an asymptotic interval
    that [4]_ recommends for every n; pairing removes the variation common to both allocations.

    An undetermined outcome can turn a trial into a b-trial, a c-trial or neither.  The
    limits do not decrease in b and do not increase in c (n fixed; checked without an
    exception for all tables up to n = 30 at five levels), so the lower limit uses the
    smallest b and the largest c, which some completion attains simultaneously, and the upper
    limit the reverse.

    Examples
    --------
    >>> print(paired_interval([[1, 1], [7, 12]]))
    [-0.517, -0.026]
    """
    counts = _as_table(table)
    tail = tail_of(confidence)
    n = int(counts.sum())
    if n == 0:
        return ConfidenceInterval(-1.0, 1.0)
    z = _normal_quantile(tail)
    first_only, second_only = int(counts[0, 1]), int(counts[1, 0])
    # If the first matches, an undetermined outcome of the second can make the trial one that only
    # the first matches, but none that only the second matches; otherwise the reverse.
    could_be_first = int(counts[0, 2] + counts[2, 1] + counts[2, 2])
    could_be_second = int(counts[2, 0] + counts[1, 2] + counts[2, 2])
    return ConfidenceInterval(
        _tango_lower(first_only, second_only + could_be_second, n, z),
        -_tango_lower(second_only, first_only + could_be_first, n, z),
    )


def _tango_lower(b: int, c: int, n: int, z: float) -> float:
    # Loaded here: its import takes long, and only comparisons need it.
    from scipy.optimize import brentq

    estimate = (b - c) / n
    if estimate == -1:
        return -1.0

    def excess(delta: float) -> float:
        return _tango_statistic(delta, b, c, n) - z

    # The statistic is infinite at -1 and 0 at the estimate.
    return float(brentq(excess, -1.0, estimate, xtol=1e-14))


def _tango_statistic(delta: float, b: int, c: int, n: int) -> float:
    linear = (2 * n - b + c) * delta - b - c
    constant = -c * delta * (1 - delta)
    root = sqrt(max(linear * linear - 8 * n * constant, 0.0))
    q = (root - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 0:
        return inf if distance > 0 else 0.0
    return distance / sqrt(variance)


def count_of(value: Any, name: str) -> int:
    """A number of trials, checked."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"`{name}` ({value!r}) must be an integer") from None
    if number < 0:
        raise InputError(f"`{name}` ({number}) must be at least 0")
    return number


def tail_of(confidence: float) -> float:
    """Half of one minus a confidence level, which is checked."""
    try:
        inside = 0 < confidence < 1
    except TypeError:
        inside = False
    if not inside:
        raise InputError(f"`confidence` ({confidence!r}) must lie between 0 and 1, like 0.95")
    return (1 - confidence) / 2


def _category(outcome: bool | None) -> int:
    if outcome is None:
        return 2
    if outcome in (True, False):
        return 0 if outcome else 1
    raise InputError(f"outcome {outcome!r} must be True (matched), False (unmatched) or None")


def _as_table(table: Any) -> np.ndarray:
    array = np.array(table, dtype=object)
    if array.shape not in ((2, 2), (3, 3)):
        raise InputError(
            f"`table` has shape {array.shape}; it must be 2×2 (matched, unmatched) or 3×3 "
            "(matched, unmatched, undetermined)"
        )
    counts = np.zeros((3, 3), dtype=np.int64)
    for (i, j), value in np.ndenumerate(array):
        counts[i, j] = count_of(value, f"table[{i}][{j}]")
    return counts


def band_half_width(trials: int, confidence: float = 0.95) -> float:
    r"""Half-width ε of a simultaneous confidence band of a distribution function, at most 1.

    The match probability under a bound b is F(b) = P(τ ≤ b), where τ is the smallest bound at which
    a random instance is matched (infinite if it has no match).  For n trials let F̂ be the empirical
    distribution function; then

        P( sup_b |F̂(b) − F(b)| > ε ) ≤ 2 exp(−2 n ε²)

    for every F, continuous or not, and for fixed n [1]_, [2]_: with ε = sqrt(ln(2/α) / 2n) all of F
    lies within F̂ ± ε with probability at least 1 − α.

    Parameters
    ----------
    trials : int
    confidence : float, optional
        Between 0 and 1.

    Examples
    --------
    >>> round(band_half_width(1000), 4)
    0.0429

    References
    ----------
    .. [1] A. Dvoretzky, J. Kiefer, J. Wolfowitz, "Asymptotic minimax character of the sample
       distribution function and of the classical multinomial estimator", Ann. Math. Statist. 27
       (1956) 642-669.
    .. [2] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Ann.
       Probab. 18 (1990) 1269-1283.
    """
    n = count_of(trials, "trials")
    alpha = 2 * tail_of(confidence)
    return min(1.0, sqrt(log(2 / alpha) / (2 * n)) if n else inf)


def band_at(
    matched: int, unmatched: int, undetermined: int = 0, *, confidence: float = 0.95
) -> ConfidenceInterval:
    """The band of `band_half_width` at one bound; it holds at all bounds simultaneously.

    Some τ are known only to lie in an interval.  The empirical function lies between that of the
    upper ends and that of the lower ends, at every b and for all values of τ; so F lies between the
    first minus ε and the second plus ε with at least the same probability.

    Parameters
    ----------
    matched, unmatched, undetermined : int
        Numbers of trials at that bound.
    confidence : float, optional

    Examples
    --------
    >>> print(band_at(500, 500))
    [0.457, 0.543]
    """
    n = matched + unmatched + undetermined
    width = band_half_width(n, confidence)
    if not n:
        return ConfidenceInterval(0.0, 1.0)
    return ConfidenceInterval(max(0.0, matched / n - width), min(1.0, 1.0 - unmatched / n + width))
