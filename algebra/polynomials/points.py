r"""The points of a zero-dimensional radical ideal over GF(p), all at once.

The quotient algebra of a radical ideal I with N points is the algebra of functions on them,
A = GF(p)[x] / I ≅ GF(p)[t] / (w): for a linear form t that tells the points apart, w is its
characteristic polynomial, squarefree of degree N, and every coordinate is a polynomial in t
modulo w (the shape lemma).  Arithmetic in GF(p)[t] / (w) is arithmetic at all N points at
once; an element takes as many distinct values at them as its minimal polynomial has roots.

References
----------
.. [1] D. Cox, J. Little, D. O'Shea, *Using Algebraic Geometry*, 2nd ed., Springer 2005,
   chapter 2, section 4 (Stickelberger's theorem, the shape lemma).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import nmod_mat, nmod_poly

from algebra.polynomials.staircase import Monomial, multiplication_matrices

# Linear forms tried before the ideal is taken not to be radical.
_FORMS = 4


class NotRadical(ArithmeticError):
    """No linear form tells as many points apart as the quotient has dimensions."""


class NotInvertible(ArithmeticError):
    """An element vanishes at some of the points."""


@dataclass(frozen=True)
class Points:
    """All points of an ideal, as one generic point over GF(p)[t] / (w).

    Attributes
    ----------
    w : nmod_poly
        Squarefree; its degree N is the number of points.
    coordinates : tuple of nmod_poly
        Each coordinate as a polynomial in t of degree below N.
    """

    w: nmod_poly
    coordinates: tuple[nmod_poly, ...]

    @property
    def count(self) -> int:
        """N."""
        return int(self.w.degree())

    @property
    def prime(self) -> int:
        """The characteristic p."""
        return int(self.w.modulus())

    def constant(self, value: int) -> nmod_poly:
        """The function with the same value at every point."""
        return nmod_poly([int(value)], self.prime)

    def times(self, a: nmod_poly, b: nmod_poly) -> nmod_poly:
        """Product of two functions."""
        return a * b % self.w

    def inverse(self, a: nmod_poly) -> nmod_poly:
        """The reciprocal of a function without zeros.

        Raises
        ------
        NotInvertible
            Where it vanishes at a point.
        """
        common, factor, _ = a.xgcd(self.w)
        if common.degree() != 0:
            raise NotInvertible("the function vanishes at a point")
        return factor % self.w

    def solve(
        self, matrix: Sequence[Sequence[nmod_poly]], right: Sequence[nmod_poly]
    ) -> list[nmod_poly]:
        """The solution of a square linear system at every point.

        Raises
        ------
        NotInvertible
            Where the matrix is singular at a point.  (A pivot that vanishes at some points
            only is passed over while another one does not.)
        """
        rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
        size = len(rows)
        for column in range(size):
            for k in range(column, size):
                try:
                    inverse = self.inverse(rows[k][column])
                except NotInvertible:
                    continue
                rows[column], rows[k] = rows[k], rows[column]
                break
            else:
                raise NotInvertible("no pivot that is invertible at every point")
            pivot = [self.times(inverse, entry) for entry in rows[column]]
            rows[column] = pivot
            for k in range(size):
                factor = rows[k][column]
                if k != column and not factor.is_zero():
                    rows[k] = [
                        entry - self.times(factor, other)
                        for entry, other in zip(rows[k], pivot, strict=True)
                    ]
        return [row[-1] for row in rows]

    def evaluate(
        self, terms: Sequence[tuple[Monomial, int]], point: Sequence[nmod_poly]
    ) -> nmod_poly:
        """A polynomial, given by its terms, at functions in place of its unknowns."""
        total = self.constant(0)
        for monomial, coefficient in terms:
            value = self.constant(coefficient)
            for function, exponent in zip(point, monomial, strict=True):
                for _ in range(exponent):
                    value = self.times(value, function)
            total += value
        return total

    def distinct_values(self, a: nmod_poly) -> int:
        """How many values a function takes at the N points: the degree of its minimal
        polynomial, which is the dimension of the algebra that it generates.
        """
        size = self.count
        power, rows = self.constant(1), []
        for _ in range(size):
            entries = [int(c) for c in power.coeffs()]
            rows.append(entries + [0] * (size - len(entries)))
            power = self.times(power, a)
        flat = [entry for row in rows for entry in row]
        return int(nmod_mat(size, size, flat, self.prime).rank())


def points_of(
    basis: Sequence[dict[Monomial, int]], variables: int, prime: int, rng: random.Random
) -> Points:
    """The points of a zero-dimensional radical ideal.

    Parameters
    ----------
    basis : sequence of dict from monomial to coefficient
        A reduced Gröbner basis over GF(prime), degree reverse lexicographic.
    variables, prime : int
    rng : random.Random
        Source of the linear form.

    Returns
    -------
    Points

    Raises
    ------
    NotRadical

    Examples
    --------
    >>> both = points_of([{(2,): 1, (0,): -2 % 97}], 1, 97, random.Random(0))  # x² = 2
    >>> both.count, both.distinct_values(both.times(*2 * both.coordinates))
    (2, 1)
    """
    matrices = multiplication_matrices(basis, variables, prime)
    size = matrices.shape[1]
    # The first standard monomial is 1, so e_0 stands for it: row vectors times matrices.
    for _ in range(_FORMS):
        total = np.zeros((size, size), np.int64)
        for matrix in matrices:
            total = (total + rng.randrange(1, prime) * matrix) % prime
        form = nmod_mat(size, size, total.ravel().tolist(), prime)
        one = nmod_mat(1, size, [1] + [0] * (size - 1), prime)
        krylov, vector = [], one
        for _ in range(size):
            krylov += [int(v) for v in vector.entries()]
            vector = vector * form
        powers = nmod_mat(size, size, krylov, prime)
        w = form.charpoly()
        if powers.rank() == size and w.gcd(w.derivative()).degree() == 0:
            break
    else:
        raise NotRadical(f"no linear form has {size} values: multiple points, or bad luck")
    # x_i · 1 = Σ_j a_ij t^j, so a_i = (row of x_i) · powers⁻¹.
    images = np.stack([matrix[0] for matrix in matrices]) if variables else np.zeros((0, size))
    inverse = powers.inv()
    coordinates = tuple(
        nmod_poly([int(v) for v in (nmod_mat(1, size, row.tolist(), prime) * inverse).entries()],
                  prime)
        for row in images
    )  # fmt: skip
    return Points(w, coordinates)
