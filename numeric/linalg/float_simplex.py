"""A guess in doubles of the final basis of a linear program, which exact arithmetic then checks.

A dense two-phase simplex method on a NumPy tableau.  The result is only a starting basis for
`algebra.linalg.rational_lp.RationalProgram.maximize`: an error by rounding or cycling costs time
and cannot change the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from algebra.linalg.numbers import nearest_double
from algebra.linalg.rational_lp import BasisGuess

_TINY = 1e-9
_MOST_PIVOTS = 500


def guess_basis(A: np.ndarray, b: np.ndarray, objective: np.ndarray) -> list[int] | None:
    """The final basic columns when an objective is maximized over {A x = b, x ≥ 0}.

    Parameters
    ----------
    A : ndarray, rows × columns
    b : ndarray, rows
    objective : ndarray, columns

    Returns
    -------
    list of int or None
        Numbers from `columns` on are artificial unknowns; they occur if the program seems
        infeasible, or rows dependent.  None if the method did not finish.

    Examples
    --------
    >>> guess_basis(np.array([[1.0, 1.0]]), np.array([2.0]), np.array([1.0, 2.0]))
    [1]
    """
    rows, columns = A.shape
    signs = np.where(b < 0, -1.0, 1.0)
    # Columns, then rows are scaled to one size, so that tolerances mean the same in each.
    wide = np.maximum(np.abs(A).max(axis=0, initial=0), 1e-300)
    A, objective = A / wide, objective / wide
    size = np.maximum(np.abs(A).max(axis=1, initial=0), 1e-300)
    table = np.concatenate(
        [A * (signs / size)[:, None], np.eye(rows), (b * signs / size)[:, None]], axis=1
    )
    basis = [columns + i for i in range(rows)]
    reduced = table.sum(axis=0)
    reduced[columns : columns + rows] = 0
    if not _run(table, reduced, basis, columns):
        return None
    if reduced[-1] > _TINY * rows:
        return basis
    for i in range(rows):
        if basis[i] >= columns:
            c = int(np.abs(table[i, :columns]).argmax())
            # The artificial unknown of a row that depends on others stays.
            if abs(table[i, c]) >= _TINY:
                _pivot(table, reduced, basis, i, c)
    reduced = np.concatenate([objective, np.zeros(rows + 1)])
    for i, c in enumerate(basis):
        reduced = reduced - reduced[c] * table[i]
    return basis if _run(table, reduced, basis, columns) else None


def _run(table: np.ndarray, reduced: np.ndarray, basis: list[int], columns: int) -> bool:
    for step in range(_MOST_PIVOTS):
        open_ = np.flatnonzero(reduced[:columns] > _TINY)
        if not open_.size:
            return True
        # The steepest column at first, Bland's rule after many pivots.
        c = int(open_[0] if step > 100 else open_[reduced[open_].argmax()])
        column = table[:, c]
        positive = column > _TINY
        if not positive.any():
            return False
        ratios = np.full(len(column), np.inf)
        ratios[positive] = table[positive, -1] / column[positive]
        best = ratios.min()
        ties = np.flatnonzero(ratios <= best + _TINY * max(1.0, abs(best)))
        i = int(min(ties, key=lambda k: basis[k]) if step > 100 else ties[column[ties].argmax()])
        _pivot(table, reduced, basis, i, c)
    return False


def _pivot(table: np.ndarray, reduced: np.ndarray, basis: list[int], i: int, c: int) -> None:
    table[i] /= table[i, c]
    factors = table[:, c].copy()
    factors[i] = 0
    table -= factors[:, None] * table[i]
    reduced -= reduced[c] * table[i]
    basis[i] = c


def guesses(rows: Sequence[Sequence[fmpq]]) -> BasisGuess:
    """The guesses for programs whose columns are columns of `rows` (`BasisGuess`)."""
    whole = np.array([[nearest_double(entry) for entry in row] for row in rows])

    def guess(
        keep: Sequence[int], b: Sequence[fmpq], objective: Sequence[fmpq]
    ) -> list[int] | None:
        if not keep or not len(whole):
            return None
        with np.errstate(all="ignore"):
            return guess_basis(
                whole[:, list(keep)],
                np.array([nearest_double(v) for v in b]),
                np.array([nearest_double(v) for v in objective]),
            )

    return guess
