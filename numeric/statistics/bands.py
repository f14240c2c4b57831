r"""Simultaneous confidence bands for a distribution function.

The match probability under a bound b is F(b) = P(τ ≤ b), where τ is the smallest bound at which a
random instance is matched (infinite if it has no match).  For n trials let F̂ be the empirical
distribution function; then

    P( sup_b |F̂(b) − F(b)| > ε ) ≤ 2 exp(−2 n ε²)

for every F, continuous or not, and for fixed n [1]_, [2]_: with ε = sqrt(ln(2/α) / 2n) all of F
lies within F̂ ± ε with probability at least 1 − α.

Some τ are known only to lie in an interval.  The empirical function lies between that of the upper
ends and that of the lower ends, at every b and for all values of τ; so F lies between the
first minus ε and the second plus ε with at least the same probability.

References
----------
.. [1] A. Dvoretzky, J. Kiefer, J. Wolfowitz, "Asymptotic minimax character of the sample
   distribution function and of the classical multinomial estimator", Ann. Math. Statist. 27
   (1956) 642-669.
.. [2] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Ann. Probab.
   18 (1990) 1269-1283.
"""

from __future__ import annotations

from math import inf, log, sqrt

from numeric.statistics.intervals import ConfidenceInterval, count_of, tail_of


def band_half_width(trials: int, confidence: float = 0.95) -> float:
    """Half-width ε of the band, at most 1.

    Parameters
    ----------
    trials : int
    confidence : float, optional
        Between 0 and 1.

    Examples
    --------
    >>> round(band_half_width(1000), 4)
    0.0429
    """
    n = count_of(trials, "trials")
    alpha = 2 * tail_of(confidence)
    return min(1.0, sqrt(log(2 / alpha) / (2 * n)) if n else inf)


def band_at(
    matched: int, unmatched: int, undetermined: int = 0, *, confidence: float = 0.95
) -> ConfidenceInterval:
    """The band at one bound; it holds at all bounds simultaneously.

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
