r"""Entries v·ρ_1^{e_1} ρ_2^{e_2} …: values of programs where some weights tend to infinity.

Unbounded weights are written w = θ/τ with bounded θ and 0 ≤ τ ≤ 1/R, so ρ = 1/τ ≥ R.  A sum of such
weights with bounded factors is (Σ c_j θ_j)/τ: its sign, and a bound of its size, follow from the
bounded sum, even where τ may be 0.  Sums of entries of different degrees are brought to the larger
degree by factors τ.  The ring of v is any whose elements are sets of real numbers, such as balls.
"""

from __future__ import annotations

from typing import Any


def _never() -> bool:
    return False


class Homogeneous:
    """A value divided by powers of numbers τ ≥ 0.

    Parameters
    ----------
    value : element of a ring
    degrees : tuple of int
        Exponents, at least 0, one for each τ.
    scales : tuple of elements of the ring
        The numbers τ.

    Examples
    --------
    >>> from fractions import Fraction
    >>> w = Homogeneous(Fraction(3), (1,), (Fraction(1, 8),))
    >>> (2 * w - 8).value, (w * w + w).degrees, (2 * w - 8).limit
    (Fraction(5, 1), (2,), Fraction(40, 1))
    """

    __slots__ = ("degrees", "scales", "value")

    def __init__(self, value: Any, degrees: tuple[int, ...], scales: tuple[Any, ...]) -> None:
        self.value, self.degrees, self.scales = value, degrees, scales

    @property
    def scale(self) -> Any:
        """The product of powers of τ by which the value is divided."""
        return self._raised(None, self.degrees)

    @property
    def limit(self) -> Any:
        """The quotient; every τ must be positive."""
        return self.value / self.scale

    def __add__(self, other: Any) -> Homogeneous:
        if not isinstance(other, Homogeneous):
            other = Homogeneous(other, (0,) * len(self.degrees), self.scales)
        common = tuple(map(max, self.degrees, other.degrees))
        return self._with(self._at(common) + other._at(common), common)

    __radd__ = __add__

    def __neg__(self) -> Homogeneous:
        return self._with(-self.value, self.degrees)

    def __sub__(self, other: Any) -> Homogeneous:
        return self + (-other)

    def __rsub__(self, other: Any) -> Homogeneous:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Homogeneous):
            degrees = tuple(a + b for a, b in zip(self.degrees, other.degrees, strict=True))
            return self._with(self.value * other.value, degrees)
        if getattr(other, "is_zero", _never)():
            # Of degree 0: near infinity other terms are then not compared with it.
            return other
        return self._with(self.value * other, self.degrees)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Homogeneous:
        return self._with(self.value / number, self.degrees)

    def __pow__(self, exponent: int) -> Homogeneous:
        return self._with(self.value**exponent, tuple(exponent * e for e in self.degrees))

    def _with(self, value: Any, degrees: tuple[int, ...]) -> Homogeneous:
        return Homogeneous(value, degrees, self.scales)

    def _at(self, degrees: tuple[int, ...]) -> Any:
        """The value at larger degrees."""
        more = tuple(a - b for a, b in zip(degrees, self.degrees, strict=True))
        return self._raised(self.value, more)

    def _raised(self, value: Any, exponents: tuple[int, ...]) -> Any:
        """A value times powers of τ."""
        for tau, exponent in zip(self.scales, exponents, strict=True):
            for _ in range(exponent):
                value = tau if value is None else value * tau
        return value


def limit_of(entry: Any) -> Any:
    """An entry of the ring: the quotient of a homogeneous one, or the entry itself."""
    return entry.limit if isinstance(entry, Homogeneous) and any(entry.degrees) else plain(entry)


def plain(entry: Any) -> Any:
    """The value of an entry, without the powers by which it is divided."""
    return entry.value if isinstance(entry, Homogeneous) else entry
