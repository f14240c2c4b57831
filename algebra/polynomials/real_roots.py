"""The real solutions of polynomial systems, and those of systems that need no Gröbner basis.

Systems in one unknown and linear equations are solved here over Q, deterministically
(`elementary_roots`); all others by `algebra.polynomials.msolve.solver`.  Points are given by
`algebra.polynomials.parametrization`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from flint import fmpq_mat, fmpq_mpoly, fmpz, fmpz_poly

from algebra.polynomials.parametrization import Box, Parametrization

Terms = Mapping[tuple[int, ...], fmpz]


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
