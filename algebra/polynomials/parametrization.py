"""Finitely many points of polynomial systems as rational parametrizations, and their real points.

A parametrization gives the points as x_i = N_i(t) / (c q(t)) for the roots t of a squarefree
integer polynomial w.  It can be proved independently of its origin: f vanishes at all the points if
and only if w divides the numerator of f(x(t)).  Real points are those of real t.

References
----------
.. [1] F. Rouillier, "Solving zero-dimensional systems through the rational univariate
   representation", AAECC 9 (1999) 433-461.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
from flint import arb, fmpz, fmpz_poly
from flint.utils.flint_exceptions import DomainError

Interval = tuple[Fraction, Fraction]
Box = tuple[Interval, ...]
Monomial = tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Parametrization:
    """Points x_i = numerators[i](t) / (scale · denominator(t)) for w(t) = 0.

    Attributes
    ----------
    w : fmpz_poly
        Its degree is the number of points.
    denominator : fmpz_poly
    scale : fmpz
    numerators : tuple of fmpz_poly
        One for each coordinate.

    Examples
    --------
    The two points (t, 1/t) with t² = 2:

    >>> t = fmpz_poly([0, 1])
    >>> points = Parametrization(t**2 - 2, t, fmpz(1), (t**2, fmpz_poly([1])))
    >>> points.is_proper(), points.satisfies({(1, 1): fmpz(1), (0, 0): fmpz(-1)})
    (True, True)
    >>> len(points.real_boxes(20))
    2
    """

    w: fmpz_poly
    denominator: fmpz_poly
    scale: fmpz
    numerators: tuple[fmpz_poly, ...]

    def __repr__(self) -> str:
        return (
            f"Parametrization({self.w.degree()} points, {len(self.numerators)} coordinates, "
            f"w of {self.w.height_bits()} bits)"
        )

    @cached_property
    def _powers(self) -> _Powers:
        return _Powers([*self.numerators, self.denominator * self.scale])

    def is_proper(self) -> bool:
        """Whether w is squarefree and the denominator is zero at none of its roots."""
        return bool(
            self.w.degree() >= 1
            and self.scale != 0
            and self.w.gcd(self.w.derivative()).degree() == 0
            and self.w.gcd(self.denominator).degree() == 0
        )

    def satisfies(self, polynomial: Mapping[Monomial, fmpz]) -> bool:
        """Whether a polynomial vanishes at every point, decided exactly.

        Parameters
        ----------
        polynomial : mapping from exponents to integer coefficients
            In as many variables as there are coordinates.

        Notes
        -----
        With δ = scale · denominator and d the degree of f, δ^d f(N/δ) is a polynomial in
        t with integer coefficients.  By Gauss's lemma the primitive part of w divides it
        over Z if it does over Q.
        """
        degree = max((sum(m) for m in polynomial), default=0)
        total = fmpz_poly()
        for monomial, coefficient in polynomial.items():
            total += self._powers.product((*monomial, degree - sum(monomial))) * coefficient
        try:
            total / (self.w / fmpz_poly([self.w.content()]))
        except DomainError:
            return False
        return True

    def real_boxes(self, precision: int) -> tuple[Box, ...]:
        """Boxes around the real points, each with exactly one of them.

        Parameters
        ----------
        precision : int
            The sides are at most 2^-precision long.

        Returns
        -------
        tuple of boxes
            Pairwise disjoint, sorted; a box is a pair (low, high) of exact fractions for
            each coordinate.  The points must be distinct.
        """
        limit = Fraction(1, 2**precision)
        bits = precision + 64
        while True:
            with flint.ctx.workprec(bits):
                boxes = [self._box(t) for t in real_roots_as_balls(self.w)]
            complete = [box for box in boxes if box is not None]
            if (
                len(complete) == len(boxes)
                and all(high - low <= limit for box in complete for low, high in box)
                and are_disjoint(complete)
            ):
                return tuple(sorted(complete))
            bits *= 2

    def _box(self, t: arb) -> Box | None:
        """Enclosure of the point at t; None if the working precision is too low."""
        divisor = self.denominator(t) * self.scale
        if divisor.contains(0):
            return None
        values = [numerator(t) / divisor for numerator in self.numerators]
        return tuple(ball_as_interval(x) for x in values)


def real_roots_as_balls(w: fmpz_poly) -> list[arb]:
    """The real roots of a squarefree polynomial in disjoint balls, ascending.

    Notes
    -----
    FLINT's `fmpz_poly.complex_roots` isolates all complex roots rigorously, to the
    working precision at least, and gives the real ones, and only those, an imaginary
    part that is exactly zero.
    """
    roots: list[Any] = w.complex_roots()  # pairs (root, multiplicity)
    return [root.real for root, _ in roots if root.imag.is_zero()]


def ball_as_interval(ball: arb) -> Interval:
    """The end points of a finite ball, exactly."""
    middle, radius = _dyadic(ball.mid()), _dyadic(ball.rad())
    return middle - radius, middle + radius


def are_disjoint(boxes: Sequence[Box]) -> bool:
    """Whether no two boxes have a point in common."""
    active: list[Box] = []
    for box in sorted(boxes):
        # Only boxes that still overlap in the first coordinate can intersect this one.
        active = [other for other in active if box and other[0][1] >= box[0][0]]
        for other in active:
            if all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(box, other, strict=True)):
                return False
        active.append(box)
    return True


class _Powers:
    """Products of powers of fixed polynomials, each computed once."""

    def __init__(self, factors: Sequence[fmpz_poly]) -> None:
        self._factors = factors
        self._known = {(0,) * len(factors): fmpz_poly([1])}

    def product(self, exponents: Monomial) -> fmpz_poly:
        chain = []
        while exponents not in self._known:
            # Powers of the last factor, the denominator, are shared most often, so they are divided
            # off last.
            i = next(k for k, e in enumerate(exponents) if e)
            chain.append((exponents, i))
            exponents = (*exponents[:i], exponents[i] - 1, *exponents[i + 1 :])
        value = self._known[exponents]
        for key, i in reversed(chain):
            value = value * self._factors[i]
            self._known[key] = value
        return value


def _dyadic(exact: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in exact.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
