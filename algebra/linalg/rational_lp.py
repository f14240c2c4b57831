r"""Linear programs over the rationals, decided exactly: a small simplex method.

For ``A x = b, x ≥ 0`` with a linear objective.  All arithmetic is rational, pivots follow
Bland's rule, so it ends, and "infeasible" is a theorem: the multipliers of phase 1 prove it
(Farkas), see `LinearOptimum.proof`.  Meant for programs of some dozens of rows, where no
tolerance may decide.  (The programs over a ReLU net's hulls have a dual simplex of their own,
`algebra.relu.hull_program`, which says why, with figures.)

References
----------
.. [1] R. G. Bland, "New finite pivoting rules for the simplex method", Math. Oper. Res. 2 (1977).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.rational import column, matrix

_ZERO = fmpq(0)
# From the rows of a program: from the columns kept, constants and objective to a guessed basis.
BasisGuess = Callable[[Sequence[int], Sequence[fmpq], Sequence[fmpq]], Sequence[int] | None]
GuessMaker = Callable[[Sequence[Sequence[fmpq]]], BasisGuess]

OPTIMAL, INFEASIBLE, UNBOUNDED = "optimal", "infeasible", "unbounded"
GIVEN_UP = "given up"


@dataclass(frozen=True)
class LinearOptimum:
    """The result of a linear program.

    Attributes
    ----------
    status : str
        "optimal", "infeasible", "unbounded"; "given up" if pivots were limited.
    x : tuple of fmpq
        A vertex: optimal, or, if unbounded, the last one; empty if infeasible.
    value : fmpq
        Its objective; 0 if infeasible.
    proof : tuple of fmpq
        If infeasible: y with yᵀA ≤ 0 and yᵀb > 0.
    """

    status: str
    x: tuple[fmpq, ...] = ()
    value: fmpq = _ZERO
    proof: tuple[fmpq, ...] = ()


def maximize(
    A: Sequence[Sequence[fmpq]],
    b: Sequence[fmpq],
    objective: Sequence[fmpq] | None = None,
    *,
    basis: Sequence[int] | None = None,
    most_pivots: int | None = None,
) -> LinearOptimum:
    """A vertex of {A x = b, x ≥ 0} that maximizes an objective, or a proof that there is none.

    Parameters
    ----------
    A : rows of fmpq
    b : sequence of fmpq
    objective : sequence of fmpq, optional
        0 by default: any vertex is a solution.
    basis : sequence of int, optional
        A guess of the columns that are basic at the end, where number ``columns + i`` is
        the artificial unknown of row i: it is checked exactly and saves all pivots if it
        is right.  A wrong guess costs time only.
    most_pivots : int, optional
        Largest number of pivots in each phase, if no guess is right.

    Returns
    -------
    LinearOptimum

    Examples
    --------
    >>> one, two = fmpq(1), fmpq(2)
    >>> maximize([[one, one]], [two], [one, two]).value
    4
    >>> maximize([[one, one]], [-one]).status
    'infeasible'
    """
    rows = len(A)
    columns = len(A[0]) if rows else len(objective or ())
    if any(len(row) != columns for row in A) or len(b) != rows:
        raise InputError(f"`A` must be {len(b)}×{columns}")
    zero = fmpq(0)
    cost = list(objective) if objective is not None else [zero] * columns
    if len(cost) != columns:
        raise InputError(f"`objective` has {len(cost)} entries for {columns} unknowns")
    if basis is not None and rows:
        guessed = _at_basis(A, b, cost, basis)
        if guessed is not None:
            return guessed
    signs = [-1 if value < 0 else 1 for value in b]
    # Artificial unknowns start as the basis.
    tableau = [
        [sign * entry for entry in row] + [fmpq(int(i == k)) for k in range(rows)] + [sign * value]
        for i, (row, value, sign) in enumerate(zip(A, b, signs, strict=True))
    ]
    basic = [columns + i for i in range(rows)]
    # Phase 1: maximize minus the sum of the artificial unknowns.
    reduced = [zero] * columns + [fmpq(-1)] * rows + [zero]
    for row in tableau:
        reduced = [r + entry for r, entry in zip(reduced, row, strict=True)]
    if _pivot_to_end(tableau, reduced, basic, columns, most_pivots) is None:
        return LinearOptimum(GIVEN_UP)
    if reduced[-1] > 0:
        # Minus its reduced cost less 1 is the multiplier of a row, in the row's own sign.
        y = tuple((reduced[columns + i] + 1) * signs[i] for i in range(rows))
        return LinearOptimum(INFEASIBLE, proof=y)
    for i in range(rows):
        if basic[i] < columns:
            continue
        # A redundant row, or one whose artificial unknown can leave at once.
        entering = next((c for c in range(columns) if tableau[i][c] != 0), None)
        if entering is not None:
            _pivot(tableau, reduced, basic, i, entering)
    keep = [i for i in range(rows) if basic[i] < columns]
    tableau = [[*tableau[i][:columns], tableau[i][-1]] for i in keep]
    basic = [basic[i] for i in keep]
    reduced = [*cost, zero]
    for row, variable in zip(tableau, basic, strict=True):
        factor = reduced[variable]
        if factor != 0:
            reduced = [r - factor * entry for r, entry in zip(reduced, row, strict=True)]
    bounded = _pivot_to_end(tableau, reduced, basic, columns, most_pivots)
    if bounded is None:
        return LinearOptimum(GIVEN_UP)
    x = [zero] * columns
    for row, variable in zip(tableau, basic, strict=True):
        x[variable] = row[-1]
    value = sum((c * v for c, v in zip(cost, x, strict=True)), zero)
    return LinearOptimum(OPTIMAL if bounded else UNBOUNDED, tuple(x), value)


def _at_basis(
    A: Sequence[Sequence[fmpq]], b: Sequence[fmpq], cost: Sequence[fmpq], basis: Sequence[int]
) -> LinearOptimum | None:
    """The answer proved by a guessed final basis; None if it proves nothing."""
    rows, columns = len(A), len(A[0])
    signs = [-1 if value < 0 else 1 for value in b]
    if len(basis) != rows or not all(0 <= c < columns + rows for c in basis):
        return None
    B = matrix(
        [
            [A[i][c] if c < columns else fmpq(signs[i] * int(c - columns == i)) for c in basis]
            for i in range(rows)
        ]
    )
    infeasible = any(c >= columns for c in basis)
    prices = [-1 * int(c >= columns) for c in basis] if infeasible else [cost[c] for c in basis]
    try:
        y = B.transpose().solve(column(prices))
        x = None if infeasible else B.solve(column(b))
    except ZeroDivisionError:
        return None
    product = y.transpose() * matrix(A)
    if x is None:
        # −y is a Farkas vector: (−y)ᵀA ≤ 0 and (−y)ᵀb > 0 are all that is needed.
        value = sum((y[i, 0] * b[i] for i in range(rows)), _ZERO)
        if value >= 0 or any(product[0, c] < 0 for c in range(columns)):
            return None
        return LinearOptimum(INFEASIBLE, proof=tuple(-y[i, 0] for i in range(rows)))
    if any(x[i, 0] < 0 for i in range(rows)):
        return None
    if any(cost[c] > product[0, c] for c in range(columns)):
        return None
    vertex = [_ZERO] * columns
    for i, c in enumerate(basis):
        vertex[c] = x[i, 0]
    value = sum((p * v for p, v in zip(cost, vertex, strict=True)), _ZERO)
    return LinearOptimum(OPTIMAL, tuple(vertex), value)


def _pivot_to_end(
    tableau: list[list[fmpq]],
    reduced: list[fmpq],
    basis: list[int],
    columns: int,
    most: int | None,
) -> bool | None:
    """Bland's pivots until no reduced cost is positive; False if the program is unbounded.

    None if there are more than `most`.
    """
    pivots = 0
    while True:
        if most is not None and pivots > most:
            return None
        pivots += 1
        entering = next((c for c in range(columns) if reduced[c] > 0), None)
        if entering is None:
            return True
        best, leaving = None, -1
        for i, row in enumerate(tableau):
            if row[entering] > 0:
                ratio = row[-1] / row[entering]
                if best is None or ratio < best or (ratio == best and basis[i] < basis[leaving]):
                    best, leaving = ratio, i
        if leaving < 0:
            return False
        _pivot(tableau, reduced, basis, leaving, entering)


def _pivot(
    tableau: list[list[fmpq]], reduced: list[fmpq], basis: list[int], i: int, entering: int
) -> None:
    scale = 1 / tableau[i][entering]
    row = tableau[i] = [entry * scale if entry != 0 else entry for entry in tableau[i]]
    used = [c for c, entry in enumerate(row) if entry != 0]
    for other in (*tableau, reduced):
        if other is row:
            continue
        factor = other[entering]
        if factor != 0:
            for c in used:
                other[c] -= factor * row[c]
    basis[i] = entering
