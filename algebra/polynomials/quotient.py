"""The algebra GF(p)[t]/(w) of finitely many points, w squarefree: units, separating elements,
values, linear systems.

An element is a function on the roots of w; it is a unit if it vanishes at none.  A positive result
here, for a reduction modulo p of an algebra over Q, holds over Q: let A = Z_(p)[t]/(w) with p not
dividing the leading coefficient of w.  A is free over Z_(p), so the norm of an element of A is in
Z_(p), and if its residue is not 0 the element is a unit over Q.  The same holds for the
discriminant of the powers of an element: if residues are independent, the elements are independent
over Q.  So "yes" is a proof for any p; "no" may be due to an unlucky p.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import nmod_mat, nmod_poly

from algebra.time_limits import check_time

Element = Any  # nmod_poly, reduced modulo w
Rows = list[list[Element]]


@dataclass(frozen=True)
class QuotientAlgebra:
    """GF(p)[t]/(w).

    Parameters
    ----------
    w : nmod_poly
        Squarefree, of degree at least 1.

    Examples
    --------
    >>> algebra = QuotientAlgebra(nmod_poly([1, 0, 1], 10007))
    >>> t = nmod_poly([0, 1], 10007)
    >>> algebra.separates(t), algebra.separates(algebra.times(t, t))
    (True, False)
    """

    w: nmod_poly

    @cached_property
    def p(self) -> int:
        """The prime."""
        return int(self.w.modulus())

    @property
    def dimension(self) -> int:
        """The number of points."""
        return int(self.w.degree())

    def constant(self, value: int) -> Element:
        """The constant function."""
        return nmod_poly([value % self.p], self.p)

    def times(self, a: Element, b: Element) -> Element:
        """Product."""
        return a * b % self.w

    def power(self, a: Element, exponent: int) -> Element:
        """Power with a non-negative exponent."""
        result = self.constant(1)
        for _ in range(exponent):
            result = self.times(result, a)
        return result

    def inverse(self, a: Element) -> Element | None:
        """The inverse of a unit; None if a vanishes at some root of w."""
        common, cofactor, _ = a.xgcd(self.w)
        return cofactor % self.w if common.degree() == 0 else None

    def evaluate(
        self, terms: Iterable[tuple[Sequence[int], int]], point: Sequence[Element]
    ) -> Element:
        """The value of a polynomial, given by exponents and coefficients, at elements."""
        total = self.constant(0)
        for monomial, coefficient in terms:
            value = self.constant(coefficient)
            for element, exponent in zip(point, monomial, strict=True):
                if exponent:
                    value = self.times(value, self.power(element, exponent))
            total += value
        return total

    def distinct_values(self, a: Element) -> int:
        """Number of values of a at the roots of w.

        This is the dimension of the span of 1, a, a², …, the degree of the minimal polynomial of a.
        """
        n = self.dimension
        rows, power = [], self.constant(1)
        for _ in range(n):
            rows.append([int(power[k]) for k in range(n)])
            power = self.times(power, a)
        return int(nmod_mat(rows, self.p).rank())

    def separates(self, a: Element) -> bool:
        """Whether a takes different values at all roots."""
        return self.distinct_values(a) == self.dimension

    def is_injective(self, matrix: Rows, rng: random.Random) -> bool:
        """Whether the columns of a matrix are independent at every root.

        Rows are combined at random into as many as there are columns, and columns are mixed, so
        that a matrix that is injective everywhere very likely has units as pivots.
        """
        columns = len(matrix[0]) if matrix else 0
        return self.solve(matrix, None, columns, rng) is not None

    def solve(
        self,
        matrix: Rows,
        right: Sequence[Element] | None,
        columns: int,
        rng: random.Random,
    ) -> list[Element] | None:
        """The solution of a square system that is regular at every root.

        Parameters
        ----------
        matrix : rows of elements
        right : sequence of elements or None
            Right-hand side; zero if it is None (the matrix may then have more rows).
        columns : int
        rng : random.Random
            For random combinations of rows and columns.

        Returns
        -------
        list or None
            None if some pivot is not a unit.
        """
        if len(matrix) < columns:
            return None
        zero, width = self.constant(0), range(columns)
        rows = [[*row, r] for row, r in zip(matrix, right or [zero] * len(matrix), strict=True)]
        turn = [[rng.randrange(self.p) for _ in width] for _ in width]
        work = []
        for _ in width:
            line = [rng.randrange(self.p) for _ in rows]
            mixed = [
                sum((row[j] * c for row, c in zip(rows, line, strict=True)), zero)
                for j in range(columns + 1)
            ]
            turned = [sum((mixed[k] * turn[k][j] for k in width), zero) for j in width]
            work.append([*turned, mixed[columns]])
        for k in range(columns):
            check_time()
            inverse = self.inverse(work[k][k])
            if inverse is None:
                return None
            work[k] = [self.times(entry, inverse) for entry in work[k]]
            for i in range(k + 1, columns):
                factor = work[i][k]
                if factor != 0:
                    work[i] = [
                        (a - factor * b) % self.w for a, b in zip(work[i], work[k], strict=True)
                    ]
        solution = [zero] * columns
        for k in reversed(range(columns)):
            value = work[k][columns]
            for j in range(k + 1, columns):
                value = value - work[k][j] * solution[j]
            solution[k] = value % self.w
        # Undo the mixing of columns: x = turn · y.
        return [
            sum((solution[j] * turn[k][j] for j in range(columns)), zero) for k in range(columns)
        ]
