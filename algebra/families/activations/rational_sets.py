"""Intervals of rationals as entries of a program with ReLU, without rounding.

Ends may be infinite, where a weight may be.  0 times an infinite end is 0: numbers are finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from algebra.families.activations.charts import ChartRing
from algebra.programs.homogeneous import Homogeneous, plain

_ZERO, _ONE = fmpq(0), fmpq(1)


class RationalSet:
    """The real numbers between two ends.

    Parameters
    ----------
    low, high : fmpq or None
        None if there is no bound.

    Examples
    --------
    >>> a = RationalSet(fmpq(1), None)
    >>> b = a * RationalSet(fmpq(-2), fmpq(3)) + 1
    >>> b.low, b.high, (a * 0).high
    (None, None, 0)
    """

    __slots__ = ("high", "low")

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def excludes_zero(self) -> bool:
        """Whether 0 is none of the numbers."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)

    def is_zero(self) -> bool:
        """Whether 0 is the only number."""
        return bool(self.low == 0 and self.high == 0)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Homogeneous):
            return NotImplemented
        other = _set(other)
        low = None if None in (self.low, other.low) else self.low + other.low
        high = None if None in (self.high, other.high) else self.high + other.high
        return RationalSet(low, high)

    __radd__ = __add__

    def __neg__(self) -> RationalSet:
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return RationalSet(low, high)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Homogeneous):
            return NotImplemented
        other = _set(other)
        if self.is_zero() or other.is_zero():
            return RationalSet(_ZERO, _ZERO)
        bounded = None not in (self.low, self.high, other.low, other.high)
        if bounded:
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            return RationalSet(min(ends), max(ends))
        # Of numbers that are all at least 0, or at most 0, one end is bounded.
        for a, b, sign in ((self, other, 1), (-self, other, -1), (self, -other, -1)):
            if a.low is not None and b.low is not None and a.low >= 0 and b.low >= 0:
                high = None if None in (a.high, b.high) else a.high * b.high
                found = RationalSet(a.low * b.low, high)
                return found if sign > 0 else -found
        if all(end.high is not None and end.high <= 0 for end in (self, other)):
            return (-self) * (-other)
        return RationalSet(None, None)

    __rmul__ = __mul__

    def over(self, low: fmpq, high: fmpq) -> RationalSet:
        """Quotients by positive numbers between two ends, of which the lower one may be 0."""
        least, most = None, None
        if self.low is not None:
            by = high if self.low >= 0 else low
            least = self.low / by if by != 0 else (_ZERO if self.low == 0 else None)
        if self.high is not None:
            by = high if self.high <= 0 else low
            most = self.high / by if by != 0 else (_ZERO if self.high == 0 else None)
        return RationalSet(least, most)


def _set(number: Any) -> RationalSet:
    return number if isinstance(number, RationalSet) else RationalSet(fmpq(number), fmpq(number))


class _SetRectifier:
    """ReLU on sets; homogeneous entries stay so, unless they are 0."""

    def values(self, a: np.ndarray) -> np.ndarray:
        """Entrywise."""
        return np.asarray(np.frompyfunc(self._at, 1, 1)(a))

    def slopes(self, a: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Derivatives are computed in balls."""
        raise NotImplementedError

    def _at(self, entry: Any) -> Any:
        v = _set(plain(entry))
        if v.high is not None and v.high <= 0:
            return RationalSet(_ZERO, _ZERO)
        v = RationalSet(_ZERO if v.low is None else max(v.low, _ZERO), v.high)
        if isinstance(entry, Homogeneous) and any(entry.degrees):
            return Homogeneous(v, entry.degrees, entry.scales)
        return v


SETS = ChartRing(
    lambda numerator, denominator: _set(fmpq(numerator, denominator)), {"relu": _SetRectifier()}
)


def as_sets(array: np.ndarray) -> np.ndarray:
    """Rationals as sets of one number."""
    return np.asarray(np.frompyfunc(_set, 1, 1)(np.asarray(array, dtype=object)), dtype=object)
