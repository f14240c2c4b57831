r"""Intervals in doubles, rounded outwards: many boxes at once, as entries of a program.

An entry is a batch of intervals (`Intervals`), one for each box, or one for all of them.  The
result of an operation in doubles is the double nearest to the exact one, so the next double below
or above is a bound of it (IEEE 754).  Sums with 0 and products that are 0 are exact, unless a
factor is so small that products are rounded to 0.  Ends may be infinite; 0 times such an end is 0,
as numbers are finite.

**Functions.**  Libraries promise no bounds of their errors, so the sigmoid (and with it tanh),
softplus, erf and exp(−x²) are computed from tables: at the nearest multiple g of 1/8 a Taylor
polynomial of degree 12 whose coefficients, remainder (that of a ball about g) and rounding are
bounded by python-flint.  Horner's rule with 13 terms errs by at most 2^-48 Σ |c_j| |x − g|^j [1]_.
Beyond ± 20 a monotone function lies between its value there and its limit.

References
----------
.. [1] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, arb_series, ctx

from algebra.programs.homogeneous import Homogeneous, plain

_STEP = 1 / 8
_END = 20
_DEGREE = 12
_BITS = 100
_ROUNDING = 2.0**-48
# Products of two larger numbers are no denormal ones.
_TINY = 2.0**-500
Array = Any


def below(x: Array) -> Array:
    """The next double below."""
    return np.nextafter(x, -np.inf)


def above(x: Array) -> Array:
    """The next double above."""
    return np.nextafter(x, np.inf)


def _below_sum(a: Array, b: Array) -> Array:
    """A lower bound of a sum; adding 0 is exact."""
    total = a + b
    return np.where((a == 0) | (b == 0), total, below(total))


def _above_sum(a: Array, b: Array) -> Array:
    total = a + b
    return np.where((a == 0) | (b == 0), total, above(total))


def _has_no_tiny_end(a: Intervals) -> Array:
    """Where no end is so small that a product with a number of this kind is rounded to 0."""
    low, high = np.abs(a.low), np.abs(a.high)
    return ((low >= _TINY) | (low == 0)) & ((high >= _TINY) | (high == 0))


class Intervals:
    """Real numbers between ends, for many boxes.

    Parameters
    ----------
    low, high : float or ndarray of float, shape (boxes,)
    """

    __slots__ = ("high", "low")

    def __init__(self, low: Array, high: Array) -> None:
        self.low, self.high = low, high

    @classmethod
    def point(cls, x: float) -> Intervals:
        """A double."""
        x = float(x)
        return cls(x, x)

    @classmethod
    def quotient(cls, numerator: int, denominator: int = 1) -> Intervals:
        """A rational number."""
        x = numerator / denominator
        exact = x.as_integer_ratio() == (numerator, denominator)
        return cls(x, x) if exact else cls(float(below(x)), float(above(x)))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Homogeneous):
            return NotImplemented
        if not isinstance(other, Intervals):
            if not other:
                return self
            other = Intervals.point(other)
        return Intervals(_below_sum(self.low, other.low), _above_sum(self.high, other.high))

    __radd__ = __add__

    def __neg__(self) -> Intervals:
        return Intervals(-self.high, -self.low)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Homogeneous):
            return NotImplemented
        if other is self:
            return self**2
        if not isinstance(other, Intervals):
            return self._times(float(other))
        for a, b in ((self, other), (other, self)):
            if type(b.low) is float and b.low == b.high:
                return a._times(b.low)
        ends = (
            self.low * other.low, self.low * other.high,
            self.high * other.low, self.high * other.high,
        )  # fmt: skip
        low = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
        high = np.maximum(np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3]))
        if np.isnan(low).any():
            # 0 times an infinite end: numbers are finite.
            finite = [np.where(np.isnan(end), 0.0, end) for end in ends]
            low, high = np.minimum.reduce(finite), np.maximum.reduce(finite)
        exact = _has_no_tiny_end(self) & _has_no_tiny_end(other)
        return Intervals(
            np.where((low == 0) & exact, 0.0, below(low)),
            np.where((high == 0) & exact, 0.0, above(high)),
        )

    __rmul__ = __mul__

    def _times(self, number: float) -> Intervals:
        if not number:
            return Intervals(0.0, 0.0)
        low, high = self.low * number, self.high * number
        low, high = (low, high) if number > 0 else (high, low)
        exact = _has_no_tiny_end(self) & (abs(number) >= _TINY)
        return Intervals(
            np.where((low == 0) & exact, 0.0, below(low)),
            np.where((high == 0) & exact, 0.0, above(high)),
        )

    def __truediv__(self, other: Any) -> Intervals:
        """A quotient by a number other than 0, or by intervals of numbers at least 0.

        Where the divisor may be 0 ends are infinite.
        """
        if not isinstance(other, Intervals):
            low, high = self.low / float(other), self.high / float(other)
            low, high = (low, high) if other > 0 else (high, low)
            return Intervals(below(low), above(high))
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(self.low >= 0, self.low / other.high, self.low / other.low)
            high = np.where(self.high <= 0, self.high / other.high, self.high / other.low)
        return Intervals(below(low), above(high))

    def __pow__(self, exponent: int) -> Intervals:
        if exponent == 0:
            return Intervals(1.0, 1.0)
        if exponent == 1:
            return self
        half = self ** (exponent // 2)
        if exponent % 2:
            return half**2 * self  # type: ignore[no-any-return]
        high = np.maximum(-half.low, half.high)
        low = np.maximum(np.maximum(half.low, -half.high), 0.0)
        return Intervals(np.maximum(below(low * low), 0.0), above(high * high))

    def clipped(self, least: float, most: float) -> Intervals:
        """The numbers between bounds that are known otherwise."""
        return Intervals(np.clip(self.low, least, most), np.clip(self.high, least, most))

    def __repr__(self) -> str:
        return f"Intervals({self.low}, {self.high})"


@dataclass(frozen=True, eq=False)
class _Table:
    """A function by its Taylor polynomials.

    Attributes
    ----------
    coefficients : ndarray, shape (degree + 1, 2·end/step + 1)
    errors : ndarray
        Bounds of the errors of the polynomials in doubles.
    least, most : (float, float)
        Bounds of the function to the left of −20, and to the right of 20.
    """

    coefficients: np.ndarray
    errors: np.ndarray
    least: tuple[float, float]
    most: tuple[float, float]

    def at(self, x: Array) -> tuple[Array, Array]:
        """Bounds of values at doubles, infinite ones included."""
        inside = np.abs(x) < _END
        near = np.where(inside, x, 0.0)
        cell = np.rint(near / _STEP).astype(np.int64)
        # Exact: both numbers are multiples of the last place of x, and the difference is smaller.
        t, cell = near - cell * _STEP, cell + round(_END / _STEP)
        c = self.coefficients[:, cell]
        value = c[-1]
        for k in range(_DEGREE - 1, -1, -1):
            value = value * t + c[k]
        error, right = self.errors[cell], x > 0
        # A value without an order, NaN, is anywhere.
        outside = [np.where(right, b, a) for a, b in zip(self.least, self.most, strict=True)]
        unknown = np.isnan(x)
        low = np.where(inside, below(value - error), np.where(unknown, -np.inf, outside[0]))
        high = np.where(inside, above(value + error), np.where(unknown, np.inf, outside[1]))
        return low, high


Series = Callable[[arb_series], arb_series]
_FORMULAS: Mapping[str, tuple[Series, tuple[int, int]]] = {
    "sigmoid": (lambda z: 1 / (1 + (-z).exp()), (0, 1)),
    # Of −|x| only; to the right see `_softplus`.
    "softplus": (lambda z: (1 + z.exp()).log(), (0, 0)),
    "erf": (lambda z: z.erf(), (-1, 1)),
    "bell": (lambda z: (-z * z).exp(), (0, 0)),
}


@lru_cache(maxsize=8)
def _table(name: str) -> _Table:
    formula, limits = _FORMULAS[name]
    cells = round(_END / _STEP)
    coefficients, errors = np.empty((_DEGREE + 1, 2 * cells + 1)), np.empty(2 * cells + 1)
    bits, cap = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = _BITS, _DEGREE + 2
        for k in range(-cells, cells + 1):
            g, radius = k * _STEP, arb(_STEP / 2)
            exact = [formula(arb_series([g, 1]))[j] for j in range(_DEGREE + 1)]
            own = coefficients[:, k + cells] = [float(c.mid()) for c in exact]
            rest = formula(arb_series([arb(g, _STEP / 2), 1]))[_DEGREE + 1]
            error = abs(rest) * radius ** (_DEGREE + 1)
            for j, (c, rounded) in enumerate(zip(exact, own, strict=True)):
                error += (abs(c - rounded) + arb(_ROUNDING) * abs(rounded)) * radius**j
            errors[k + cells] = above(float(error.upper())) + 2.0**-1000
        ends = [formula(arb_series([arb(s * _END), 1]))[0] for s in (-1, 1)]
    finally:
        ctx.prec, ctx.cap = bits, cap
    left, right = ([float(e.lower()), float(e.upper())] for e in ends)
    around = [(min(below(a), limit), max(above(b), limit))
              for (a, b), limit in zip((left, right), limits, strict=True)]  # fmt: skip
    return _Table(coefficients, errors, around[0], around[1])


def _increasing(name: str, a: Intervals) -> Intervals:
    table = _table(name)
    return Intervals(table.at(a.low)[0], table.at(a.high)[1])


def _softplus(a: Intervals) -> Intervals:
    """log(1 + e^x) = max(x, 0) + log(1 + e^(−|x|))."""
    table = _table("softplus")
    low = np.maximum(a.low, 0) + table.at(-np.abs(a.low))[0]
    high = np.maximum(a.high, 0) + table.at(-np.abs(a.high))[1]
    return Intervals(np.maximum(below(low), 0.0), above(high))


def _bell(a: Intervals) -> Intervals:
    """exp(−x²), which falls with |x|."""
    most = np.maximum(np.abs(a.low), np.abs(a.high))
    within = (a.low <= 0) & (a.high >= 0)
    least = np.where(within, 0.0, np.minimum(np.abs(a.low), np.abs(a.high)))
    table = _table("bell")
    return Intervals(np.maximum(table.at(most)[0], 0.0), np.minimum(table.at(least)[1], 1.0))


# 2/√π between doubles.
_SLOPE_OF_ERF = Intervals(1.1283791670955125, 1.1283791670955128)


@dataclass(frozen=True)
class IntervalFunction:
    """An activation on arrays of intervals, with its derivative.

    Parameters
    ----------
    value : callable
    slope : callable
        The derivative from the argument and the value.
    """

    value: Callable[[Intervals], Intervals]
    slope: Callable[[Intervals, Intervals], Intervals]

    def values(self, a: Array) -> Array:
        """Entrywise."""
        return np.frompyfunc(lambda x: self.value(quotient(x)), 1, 1)(a)

    def slopes(self, a: Array, z: Array) -> Array:
        """Entrywise."""
        return np.frompyfunc(lambda x, y: self.slope(quotient(x), y), 2, 1)(a, z)


def quotient(entry: Any) -> Intervals:
    """The numbers of an entry, with infinite ends where its divisor may be 0."""
    if isinstance(entry, Homogeneous):
        entry = entry.value / entry.scale if any(entry.degrees) else entry.value
    return _interval(entry)


class IntervalRectifier:
    """ReLU on arrays of intervals; slopes are those between any two points."""

    def values(self, a: Array) -> Array:
        """Entrywise; homogeneous entries stay so."""
        return np.frompyfunc(self._at, 1, 1)(a)

    def slopes(self, a: Array, z: Array) -> Array:
        """Entrywise; the sign of v/τ is that of v."""
        return np.frompyfunc(self._slope, 1, 1)(a)

    def _at(self, entry: Any) -> Any:
        v = _interval(plain(entry))
        v = Intervals(np.maximum(v.low, 0.0), np.maximum(v.high, 0.0))
        if isinstance(entry, Homogeneous):
            return Homogeneous(v, entry.degrees, entry.scales)
        return v

    def _slope(self, entry: Any) -> Intervals:
        v = _interval(plain(entry))
        return Intervals(np.where(v.low > 0, 1.0, 0.0), np.where(v.high < 0, 0.0, 1.0))


def _interval(entry: Any) -> Intervals:
    return entry if isinstance(entry, Intervals) else Intervals.point(entry)


INTERVAL_FUNCTIONS: Mapping[str, Any] = {
    "relu": IntervalRectifier(),
    # tanh a = 2 σ(2a) − 1.
    "tanh": IntervalFunction(
        lambda a: (2 * _increasing("sigmoid", 2 * a) - 1).clipped(-1.0, 1.0),
        lambda a, z: 1 - z**2,
    ),
    "sigmoid": IntervalFunction(
        lambda a: _increasing("sigmoid", a).clipped(0.0, 1.0),
        lambda a, z: 0.25 - (z - 0.5) ** 2,
    ),
    "softplus": IntervalFunction(
        _softplus, lambda a, z: _increasing("sigmoid", a).clipped(0.0, 1.0)
    ),
    "erf": IntervalFunction(
        lambda a: _increasing("erf", a).clipped(-1.0, 1.0),
        lambda a, z: _bell(a) * _SLOPE_OF_ERF,
    ),
}
