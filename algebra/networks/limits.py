"""Limits of matrices, rows and columns: numbers of equations in which weights take part, in words.

Each kind of network defines its own (`HasLimits.limits`); the bounds are proved in
`algebra.ranks.budgets.cover` ("Reach" and "Lines" there).
"""

from __future__ import annotations

from dataclasses import dataclass

from algebra.words import plural

# A bound, and the bound in words: (4, "Tb = 4 equations").
Limit = tuple[int, str]

# Larger than any bound: columns of a ReLU layer have none.
NEVER = 10**9


def least(*terms: tuple[str, int]) -> Limit:
    """The smallest of some bounds, each given by its letters and its value."""
    letters, value = min(terms, key=lambda term: term[1])
    return value, plural(value, f"{letters} = {value} equation")


@dataclass(frozen=True)
class MatrixLimits:
    """Limits of the lines of one matrix.

    Attributes
    ----------
    row, column : Limit
        Of one row and of one column (None: columns have no limit of their own).
    lam, rho : int
        Numbers of dimensions that a row and a column add on their side (λ and ρ).
    D, M : int
        Reach of the matrix: dimensions of its left and right factors.
    """

    row: Limit
    column: Limit | None
    lam: int
    rho: int
    D: int
    M: int
