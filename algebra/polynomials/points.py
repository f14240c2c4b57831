r"""The points of a zero-dimensional radical ideal over GF(p).

The quotient algebra of a radical ideal I with N points is the algebra of functions on them,
A = GF(p)[x] / I ≅ GF(p)[t] / (w): for a linear form t that separates the points, w is its
characteristic polynomial, squarefree of degree N, and every coordinate is a polynomial in t
modulo w (the shape lemma).  Arithmetic at all N points at once is that of
`algebra.polynomials.quotient`.

References
----------
.. [1] D. Cox, J. Little, D. O'Shea, *Using Algebraic Geometry*, 2nd ed., Springer 2005,
   chapter 2, section 4 (Stickelberger's theorem, the shape lemma).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import nmod_mat, nmod_poly

from algebra.polynomials.quotient import QuotientAlgebra
from algebra.polynomials.staircase import Monomial, multiplication_matrices

# Number of linear forms tried before the ideal is taken not to be radical.
_FORMS = 4


class NotRadical(ArithmeticError):
    """No linear form separates as many points as the dimension of the quotient."""


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

    @cached_property
    def algebra(self) -> QuotientAlgebra:
        """The functions on the points."""
        return QuotientAlgebra(self.w)

    @property
    def count(self) -> int:
        """N."""
        return self.algebra.dimension


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
    >>> both.count, both.algebra.distinct_values(both.algebra.times(*2 * both.coordinates))
    (2, 1)
    """
    matrices = multiplication_matrices(basis, variables, prime)
    size = matrices.shape[1]
    # The first standard monomial is 1, represented by e_0: row vectors times matrices.
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
        raise NotRadical(
            f"no linear form with {size} values was found: points are multiple, or the random "
            "choice was unlucky"
        )
    # x_i · 1 = Σ_j a_ij t^j, so a_i = (row of x_i) · powers⁻¹.
    images = np.stack([matrix[0] for matrix in matrices]) if variables else np.zeros((0, size))
    inverse = powers.inv()
    coordinates = tuple(
        nmod_poly([int(v) for v in (nmod_mat(1, size, row.tolist(), prime) * inverse).entries()],
                  prime)
        for row in images
    )  # fmt: skip
    return Points(w, coordinates)
