"""A confidence sequence for a match probability, valid at all times at once.

A confidence interval is valid for a number of trials fixed in advance.  Looking after
every trial and stopping when the interval is short enough invalidates it.  The intervals
here contain the probability at all times simultaneously with the given confidence, so one
may stop at any time, for any reason.

Proof.  Let K_n be the number of matches among the first n trials and

    M_n(p) = B(a + K_n, a + n - K_n) / (B(a, a) p^K_n (1 - p)^(n - K_n)),

the likelihood averaged over a Beta(a, a) law for the probability, divided by the
likelihood at p.  If p is the true probability, M_n(p) is a non-negative martingale that
starts at 1; by Ville's inequality it ever reaches 1/α with probability at most α.  So the
sets {p : M_n(p) < 1/α}, and their intersection over all n so far, contain p for all n
with probability at least 1 - α.  This is exact for every n, not a limit.  M_n is convex
in log-likelihood with its minimum at K_n / n, so the sets are intervals.

Undetermined trials.  The lower limit counts them as unmatched, the upper one as matched.
Going from K to K + 1 matches multiplies M_n(p) by (a + K) (1 - p) / ((a + n - K - 1) p),
which is at least 1 for p ≤ (a + K) / (2a + n - 1).  With a = 1/2 that bound is
(K + 1/2) / n, so no p below K / n that was excluded is included again: the lower limit does not
decrease in K, nor by symmetry the upper one.  Hence the interval contains that of
the complete data at each time, whatever made trials undetermined.

References
----------
.. [1] J. Ville, *Étude critique de la notion de collectif*, Gauthier-Villars 1939.
.. [2] H. Robbins, "Statistical methods related to the law of the iterated logarithm",
   Ann. Math. Statist. 41 (1970) 1397-1409.
.. [3] S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, "Time-uniform, nonparametric,
   nonasymptotic confidence sequences", Ann. Statist. 49 (2021) 1055-1080.

Examples
--------
>>> print(confidence_sequence(743, 257))
[0.690, 0.791]
"""

from __future__ import annotations

from math import log, log1p
from typing import SupportsIndex

from algebra.errors import InputError
from numeric.statistics.intervals import ConfidenceInterval, count_of, tail_of

# The parameter of Jeffreys' prior.  The argument for undetermined trials holds for a from 1/2
# to 1; 1/2 gives the shorter intervals for probabilities near 0 and 1.
_PRIOR = 0.5


def confidence_sequence(
    matched: SupportsIndex,
    unmatched: SupportsIndex,
    undetermined: SupportsIndex = 0,
    *,
    confidence: float = 0.95,
) -> ConfidenceInterval:
    """The interval of the confidence sequence at one time.

    Parameters
    ----------
    matched, unmatched, undetermined : int
        Numbers of trials so far.
    confidence : float
        Probability, between 0 and 1, that all intervals of the sequence contain the truth.

    Returns
    -------
    ConfidenceInterval
        [0, 1] before the first trial.

    Raises
    ------
    InputError
        If a number of trials is negative, or `confidence` is not between 0 and 1.

    See Also
    --------
    RunningInterval : the intersection over all times, with the same coverage.
    numeric.statistics.intervals.proportion_interval : for a number of trials fixed in advance.

    Notes
    -----
    For large n its half-width is about sqrt(p (1 - p) (2 log(1/α) + log(π n / 2)) / n):
    at 95 %, 1.9 times that of an interval for fixed n at n = 1,000 and 2.0 times at 10,000.

    Examples
    --------
    >>> confidence_sequence(0, 0)
    ConfidenceInterval(low=0.0, high=1.0)
    """
    k, m = count_of(matched, "matched"), count_of(unmatched, "unmatched")
    n = k + m + count_of(undetermined, "undetermined")
    level = -log(2 * tail_of(confidence))
    return ConfidenceInterval(_lower(k, n, level), 1.0 - _lower(m, n, level))


def _lower(k: int, n: int, level: float) -> float:
    """The p below k / n with log M_n(p) = `level`."""
    if k == 0:
        return 0.0
    # Loaded here: their import takes long.
    from scipy.optimize import brentq
    from scipy.special import betaln

    constant = float(betaln(_PRIOR + k, _PRIOR + n - k) - betaln(_PRIOR, _PRIOR)) - level

    def excess(p: float) -> float:
        tail = (n - k) * log1p(-p) if k < n else 0.0
        return constant - k * log(p) - tail

    top = k / n
    bottom = top / 2
    while excess(bottom) < 0:
        bottom /= 2
    return float(brentq(excess, bottom, top, xtol=1e-300, rtol=1e-14))


class RunningInterval:
    """The intersection of a confidence sequence over the times at which it was computed.

    Parameters
    ----------
    confidence : float
        Between 0 and 1.

    Attributes
    ----------
    confidence : float
    interval : ConfidenceInterval
        The intersection so far; [0, 1] at first.

    Notes
    -----
    The intersection is empty with probability at most 1 - confidence.  In that case
    it is replaced by the point of the old interval nearest to the new one, and stays
    there.

    Examples
    --------
    >>> running = RunningInterval(confidence=0.95)
    >>> print(running.update(80, 20))
    [0.648, 0.909]
    >>> print(running.update(140, 60))
    [0.648, 0.802]
    >>> running
    RunningInterval([0.648, 0.802], 200 trials, confidence=0.95)
    """

    def __init__(self, confidence: float = 0.95) -> None:
        tail_of(confidence)
        self.confidence = confidence
        self.interval = ConfidenceInterval(0.0, 1.0)
        self._last = (0, 0, 0)

    def update(
        self, matched: SupportsIndex, unmatched: SupportsIndex, undetermined: SupportsIndex = 0
    ) -> ConfidenceInterval:
        """Add the counts of all trials so far, and return the intersection.

        Parameters
        ----------
        matched, unmatched, undetermined : int
            Totals, not increments.  Trials may move from undetermined to another count;
            none may disappear.

        Raises
        ------
        InputError
            If a count is invalid or smaller than before.
        """
        now = confidence_sequence(matched, unmatched, undetermined, confidence=self.confidence)
        counts = (count_of(matched, "matched"), count_of(unmatched, "unmatched"))
        total = sum(counts) + count_of(undetermined, "undetermined")
        names = ("matched", "unmatched", "matched + unmatched + undetermined")
        for name, value, last in zip(names, (*counts, total), self._last, strict=True):
            if value < last:
                raise InputError(
                    f"`{name}` ({value}) must not be less than before ({last}): give totals "
                    "of all trials so far"
                )
        self._last = (*counts, total)
        low = max(self.interval.low, now.low)
        high = min(self.interval.high, now.high)
        if low > high:
            # One of the two is an end of the old interval, namely the end nearest to the new one.
            point = high if now.low > self.interval.high else low
            low = high = point
        self.interval = ConfidenceInterval(low, high)
        return self.interval

    def __repr__(self) -> str:
        return (
            f"RunningInterval({self.interval}, {self._last[2]} trials, "
            f"confidence={self.confidence})"
        )
