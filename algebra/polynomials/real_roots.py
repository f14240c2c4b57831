"""Finitely many points of polynomial systems: rational parametrizations, and their real points.

A parametrization gives the points as x_i = N_i(t) / (c q(t)) for the roots t of a squarefree
integer polynomial w.  It can be proved independently of its origin: f vanishes at all the points if
and only if w divides the numerator of f(x(t)).  Real points are those of real t.

Systems in one unknown and linear equations are solved here over Q, deterministically
(`elementary_roots`); all others by `algebra.polynomials.msolve.solver`.

References
----------
.. [1] F. Rouillier, "Solving zero-dimensional systems through the rational univariate
   representation", AAECC 9 (1999) 433-461.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import flint
from flint import arb, fmpq_mat, fmpq_mpoly, fmpz, fmpz_poly
from flint.utils.flint_exceptions import DomainError

Interval = tuple[Fraction, Fraction]
Box = tuple[Interval, ...]
Monomial = tuple[int, ...]
Terms = Mapping[tuple[int, ...], fmpz]


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


@dataclass(frozen=True)
class RealRoots:
    """The real solutions of a system with rational coefficients.

    Attributes
    ----------
    status : str
        "complete" (finitely many complex solutions), "none" (no complex solution) or
        "positive-dimensional" (infinitely many complex ones; `roots` is empty and means
        nothing).
    variables : tuple of str
    roots : tuple of boxes
        One for each real solution: a pair of fractions (low, high) for each variable, in the order
        of `variables`.  Sorted, pairwise disjoint.
    complex : int or None
        Number of distinct complex solutions.
    degree : int or None
        The same with multiplicity.
    primes : tuple of int
        Random primes modulo which the counts are the same.  Empty if the answer was computed by
        exact arithmetic alone (one unknown, or linear equations).
    parametrization : Parametrization or None
        All complex solutions, proved to be solutions.
    """

    status: str
    variables: tuple[str, ...]
    roots: tuple[Box, ...] = ()
    complex: int | None = None
    degree: int | None = None
    primes: tuple[int, ...] = ()
    parametrization: Parametrization | None = field(default=None, repr=False, compare=False)


def integer_terms(polynomial: fmpq_mpoly) -> dict[tuple[int, ...], fmpz]:
    """Terms of a polynomial times its least common denominator."""
    terms = dict(polynomial.terms())
    common = lcm(*(int(c.q) for c in terms.values()))
    return {m: c.p * (common // int(c.q)) for m, c in terms.items()}


def elementary_roots(
    terms: Sequence[Terms], variables: tuple[str, ...], precision: int
) -> RealRoots | None:
    """The answer if no Gröbner basis is needed; otherwise None.

    Parameters
    ----------
    terms : sequence of mappings from exponents to integers that are not zero
        The equations; those without terms are ignored.
    variables : tuple of str
    precision : int
        Sides of boxes are at most 2^-precision long.

    Notes
    -----
    The cases are a non-zero constant among the equations, no unknown, no equation, one unknown (the
    roots of the gcd, isolated by FLINT) and linear equations (elimination over Q).

    Examples
    --------
    >>> elementary_roots([{(2,): fmpz(1), (0,): fmpz(1)}], ("x",), 10)
    RealRoots(status='complete', variables=('x',), roots=(), complex=2, degree=2, primes=())
    """
    terms = [t for t in terms if t]
    if any(sum(m) == 0 for t in terms if len(t) == 1 for m in t):
        return RealRoots("none", variables, complex=0, degree=0)
    if not variables:
        return RealRoots("complete", variables, roots=((),), complex=1, degree=1)
    if not terms:
        return RealRoots("positive-dimensional", variables)
    if len(variables) == 1:
        return _one_unknown(terms, variables, precision)
    if all(sum(m) <= 1 for t in terms for m in t):
        return _linear(terms, variables)
    return None


def _one_unknown(terms: Sequence[Terms], names: tuple[str, ...], precision: int) -> RealRoots:
    """The roots of a gcd, by FLINT alone."""
    common = fmpz_poly()
    for t in terms:
        dense = [fmpz(0)] * (max(m[0] for m in t) + 1)
        for (exponent,), coefficient in t.items():
            dense[exponent] = coefficient
        common = common.gcd(fmpz_poly(dense))
    degree = common.degree()
    if degree == 0:
        return RealRoots("none", names, complex=0, degree=0)
    w = common / common.gcd(common.derivative())
    points = Parametrization(w, fmpz_poly([1]), fmpz(1), (fmpz_poly([0, 1]),))
    return RealRoots(
        "complete",
        names,
        roots=points.real_boxes(precision),
        complex=w.degree(),
        degree=degree,
        parametrization=points,
    )


def _linear(terms: Sequence[Terms], names: tuple[str, ...]) -> RealRoots:
    """Linear equations, by elimination over Q."""
    n = len(names)
    augmented = fmpq_mat(len(terms), n + 1)
    for row, t in enumerate(terms):
        for monomial, coefficient in t.items():
            column = monomial.index(1) if any(monomial) else n
            augmented[row, column] = coefficient
    reduced, rank = augmented.rref()
    if rank and all(reduced[rank - 1, j] == 0 for j in range(n)):
        return RealRoots("none", names, complex=0, degree=0)
    if rank < n:
        return RealRoots("positive-dimensional", names)
    point = [Fraction(-int(x.p), int(x.q)) for x in (reduced[i, n] for i in range(n))]
    return RealRoots("complete", names, (tuple((x, x) for x in point),), complex=1, degree=1)
