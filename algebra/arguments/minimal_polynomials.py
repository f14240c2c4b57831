"""Minimal polynomials over Q of the weights that solve a rational instance.

The points of a core are given by the roots t of a squarefree w
(`algebra.polynomials.real_roots`).  FLINT factors w over Q; the roots of an irreducible factor
g are conjugate, and so are the corresponding solutions.  Each learnable weight of these is the
image of one element a of the field Q[t]/(g), obtained by substitution and, for deferred blocks, by
linear equations over that field.  Multiplication by a is a linear map over Q of a space whose
dimension is the degree of g, and the minimal polynomial of that map is that of a ([1]_, section
4.2): it is irreducible, and its degree divides that of g.

References
----------
.. [1] H. Cohen, "A course in computational algebraic number theory", Springer 1993.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_poly

from algebra.polynomials.parametrization import Box, Parametrization, are_disjoint
from algebra.polynomials.real_roots import RealRoots
from algebra.systems.core import CoreSystem, PointAlgebra
from algebra.time_limits import check_time

# Largest product of degree and bits of the polynomial whose roots are the points: beyond it,
# coefficients of field elements are too long.
_MOST_BITS = 50_000


def minimal_polynomials(
    core: CoreSystem, roots: RealRoots
) -> tuple[tuple[fmpz_poly, ...], ...] | None:
    """The minimal polynomial of each learnable weight of each real solution.

    Parameters
    ----------
    core : CoreSystem
        Over the rationals.
    roots : RealRoots
        The real roots of its equations; finitely many.

    Returns
    -------
    tuple of tuple of fmpz_poly or None
        One for each real solution, in the order of `roots`, and each weight in the allocation's
        order; primitive, with a positive leading coefficient.  None if a deferred block is singular
        at a root, or numbers become too long.

    Examples
    --------
    The weight of D w² B X₀ + D w B X₁ = Y with D = B = X₀ = 1, X₁ = 0, Y = 2 is a root of two:

    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> from algebra.polynomials.msolve.solver import real_roots
    >>> from algebra.systems.instances import rational_core
    >>> import numpy as np
    >>> def matrix(*rows):
    ...     return np.array([[fmpq(x) for x in row] for row in rows], dtype=object)
    >>> problem = Problem(LinearRNN(n=1, T=2, b=1, d=1, m=1), {"W": [[1]]})
    >>> weights = {name: matrix([1]) for name in "WBD"}
    >>> core = rational_core(problem.allocation, weights, matrix([1], [0]), matrix([2]))
    >>> minimal_polynomials(core, real_roots(core.equations))
    ((x^2 + (-2),), (x^2 + (-2),))
    """
    points = roots.parametrization
    if points is None:
        exact = [
            core.back_substitute([fmpq(x.numerator, x.denominator) for x, _ in box])
            for box in roots.roots
        ]
        solved = [own for own in exact if own is not None]
        if len(solved) < len(exact):
            return None
        return tuple(tuple(fmpz_poly([-w.p, w.q]) for w in own) for own in solved)
    if points.w.degree() * points.w.height_bits() > _MOST_BITS:
        return None
    found: list[tuple[fmpz_poly, ...] | None] = [None] * len(roots.roots)
    for factor, _ in points.w.factor()[1]:
        check_time()
        conjugate = replace(points, w=factor)
        members = _members(conjugate, roots.roots)
        if members:
            weights = _weights(core, conjugate)
            if weights is None:
                return None
            for k in members:
                found[k] = weights
    return tuple(own for own in found if own is not None)


def _members(points: Parametrization, boxes: Sequence[Box]) -> list[int]:
    """The boxes, each with one real point, that contain the points of a parametrization.

    The boxes are closed and disjoint, so small enough boxes around the points meet one each.
    """
    precision = 64
    while True:
        check_time()
        found = [
            [k for k, box in enumerate(boxes) if not are_disjoint([own, box])]
            for own in points.real_boxes(precision)
        ]
        if all(len(own) == 1 for own in found):
            return [k for own in found for k in own]
        precision *= 2


class _NumberField(PointAlgebra):
    """Q[t]/(g), g irreducible; an element is a polynomial, which `reduced` reduces modulo g."""

    def __init__(self, g: fmpz_poly) -> None:
        self.g = fmpq_poly(g)
        self.degree = int(g.degree())

    def constant(self, value: Any) -> fmpq_poly:
        return fmpq_poly([value])

    def reduced(self, element: Any) -> fmpq_poly:
        return element % self.g

    def times(self, a: Any, b: Any) -> fmpq_poly:
        check_time()
        return self.reduced(a * b)

    def power(self, a: fmpq_poly, exponent: int) -> fmpq_poly:
        result = a
        for _ in range(exponent - 1):
            result = self.times(result, a)
        return result

    def inverse(self, element: fmpq_poly) -> fmpq_poly:
        """The inverse of a non-zero element."""
        _, cofactor, _ = element.xgcd(self.g)
        return cofactor

    def solve(self, rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
        table = [[*row, value] for row, value in zip(rows, right, strict=True)]
        for column in range(len(table)):
            pivot = next((k for k in range(column, len(table)) if table[k][column]), None)
            if pivot is None:
                return None
            table[column], table[pivot] = table[pivot], table[column]
            inverse = self.inverse(table[column][column])
            table[column] = [self.times(entry, inverse) for entry in table[column]]
            for k, row in enumerate(table):
                if k != column and (factor := row[column]):
                    table[k] = [
                        x - self.times(factor, y) for x, y in zip(row, table[column], strict=True)
                    ]
        return [row[-1] for row in table]

    def minimal_polynomial(self, element: fmpq_poly) -> fmpz_poly:
        """The minimal polynomial of an element over Q, primitive."""
        rows, image = [], element
        for _ in range(self.degree):
            check_time()
            coefficients = image.coeffs()
            rows.append([*coefficients, *[fmpq(0)] * (self.degree - len(coefficients))])
            image = self.reduced(image * fmpq_poly([0, 1]))
        return primitive(fmpq_mat(rows).minpoly().numer())


def primitive(polynomial: fmpz_poly) -> fmpz_poly:
    """The polynomial divided by its content, with positive leading coefficient."""
    content = polynomial.content()
    return polynomial / (content if polynomial.leading_coefficient() > 0 else -content)


def _weights(core: CoreSystem, points: Parametrization) -> tuple[fmpz_poly, ...] | None:
    """The minimal polynomials of the weights of conjugate points; None if a block is singular."""
    field = _NumberField(points.w)
    divisor = field.inverse(field.reduced(fmpq_poly(points.denominator * points.scale)))
    point = [field.times(fmpq_poly(n), divisor) for n in points.numerators]
    weights = core.back_substitute(point, field)
    return None if weights is None else tuple(map(field.minimal_polynomial, weights))


def polynomial_text(polynomial: fmpz_poly) -> str:
    """A polynomial in x, in SymPy's notation.

    Examples
    --------
    >>> polynomial_text(fmpz_poly([97, -114, 40])), polynomial_text(fmpz_poly([0, -1, 0, 1]))
    ('40*x**2 - 114*x + 97', 'x**3 - x')
    """
    # FLINT writes (-3)*x^2.
    text = re.sub(r"\((-\d+)\)", r"\1", str(polynomial)).replace("^", "**")
    return text.replace("-1*x", "-x").replace("+ -", "- ")
