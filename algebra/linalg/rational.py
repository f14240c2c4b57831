r"""Rational matrices: from rows and to texts, echelon form, rank, kernel, linear equations.

Rows are sequences of rationals (`flint.fmpq`, `flint.fmpz` or int) or two-dimensional NumPy
arrays of them (dtype object, "Rationals"); the work is FLINT's (`flint.fmpq_mat`).  The width of a
matrix without rows must be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from algebra.errors import InputError

Rationals = np.ndarray
Rows = Sequence[Sequence[Any]] | Rationals

_ZERO = fmpq(0)
_ONE = fmpq(1)
# Numerators and denominators, row by row.
Pairs = list[tuple[int, int]]
# Multiplications of an elimination that never take a second; and multiplications times bits of the
# largest entry that take a few tenths (measured: dense matrices of 20 to 150 rows, up to 300 bits).
_SHORT = 10**5
_LONG = 3 * 10**7


def rational_matrix(rows: Rows, columns: int | None = None) -> fmpq_mat:
    """A matrix of FLINT from its rows.

    Parameters
    ----------
    rows : sequence of sequences of rationals, or ndarray of them
    columns : int, optional
        The width; by default that of the first row, 0 without rows.

    Examples
    --------
    >>> rational_matrix([[1, 2], [3, 4]]).det()
    -2
    >>> rational_matrix([], 3).ncols()
    3
    """
    width = (len(rows[0]) if len(rows) else 0) if columns is None else columns
    return fmpq_mat(len(rows), width, [entry for row in rows for entry in row])


def column(values: Sequence[Any] | Rationals) -> fmpq_mat:
    """A matrix of one column."""
    return fmpq_mat(len(values), 1, list(values))


def array(rows: Iterable[Sequence[Any]], columns: int) -> Rationals:
    """A two-dimensional array of rows; there may be none.

    Examples
    --------
    >>> array([], 3).shape
    (0, 3)
    """
    rows = list(rows)
    out = np.empty((len(rows), columns), dtype=object)
    for i, row in enumerate(rows):
        out[i] = list(row)
    return out


def rational_product(a: Rationals, b: Rationals) -> Rationals:
    """The product of matrices over Q, by python-flint.

    Examples
    --------
    >>> rational_product(array([[1, 2]], 2), array([[3], [4]], 1)).tolist()
    [[11]]
    """
    return array((rational_matrix(a) * rational_matrix(b)).tolist(), b.shape[1])


def rational_texts(rows: Rows) -> list[list[str]]:
    """The entries as texts, "3" or "-3/4", as in files.

    Examples
    --------
    >>> rational_texts([[fmpq(1, 2), fmpq(3)]])
    [['1/2', '3']]
    """
    return [[str(entry) for entry in row] for row in rows]


def rational_rank(rows: Rows, columns: int | None = None) -> int:
    """The rank."""
    return int(rational_matrix(rows, columns).rank())


def rational_echelon(rows: Rows, columns: int | None = None) -> tuple[fmpq_mat, list[int]]:
    """The reduced row echelon form and its pivots.

    Returns
    -------
    reduced : fmpq_mat
        As many rows as there were; those after the last pivot's are 0.
    pivots : list of int
        The pivot's column of each row that is not 0.

    Examples
    --------
    >>> rational_echelon([[0, 2, 4], [0, 1, 2]])[1]
    [1]
    """
    reduced, found = _rref(rational_matrix(rows, columns))
    pivots: list[int] = []
    at = 0
    for r in range(found):
        while reduced[r, at] == 0:
            at += 1
        pivots.append(at)
        at += 1
    return reduced, pivots


def _rref(given: fmpq_mat) -> tuple[fmpq_mat, int]:
    """FLINT's echelon form and rank; in a child process where it may last for long."""
    if not _is_long(given):
        reduced, found = given.rref()
        return reduced, int(found)
    from algebra.workers import call_apart

    rows, columns = given.nrows(), given.ncols()
    entries, found = call_apart(_rref_of_pairs, _pairs(given), rows, columns)
    return _of_pairs(entries, rows, columns), found


def _rref_of_pairs(entries: Pairs, rows: int, columns: int) -> tuple[Pairs, int]:
    """The echelon form of plain numbers: FLINT's cannot be sent to another process."""
    reduced, found = _of_pairs(entries, rows, columns).rref()
    return _pairs(reduced), int(found)


def _pairs(given: fmpq_mat) -> Pairs:
    return [(int(entry.p), int(entry.q)) for entry in given.entries()]


def _of_pairs(entries: Pairs, rows: int, columns: int) -> fmpq_mat:
    return fmpq_mat(rows, columns, [fmpq(p, q) for p, q in entries])


def _is_long(given: fmpq_mat) -> bool:
    """Whether its echelon form may last for a second or more without a check of the time."""
    work = given.nrows() * given.ncols() * min(given.nrows(), given.ncols())
    if work < _SHORT:
        return False
    # FLINT computes with the whole numbers over the common denominator.
    numerators, _ = given.numer_denom()
    return work * max(entry.bit_length() for entry in numerators.entries()) > _LONG


def rational_kernel(rows: Rows, columns: int | None = None) -> list[list[fmpq]]:
    """A basis of {x : rows · x = 0}: one vector per column without pivot, with 1 in it.

    Examples
    --------
    >>> rational_kernel([[1, 2]])
    [[-2, 1]]
    """
    reduced, pivots = rational_echelon(rows, columns)
    basis = []
    for free in sorted(set(range(reduced.ncols())) - set(pivots)):
        vector = [_ZERO] * reduced.ncols()
        vector[free] = _ONE
        for r, pivot in enumerate(pivots):
            vector[pivot] = -reduced[r, free]
        basis.append(vector)
    return basis


def rational_solution(
    rows: Rows, right: Sequence[Any] | Rationals, columns: int
) -> list[fmpq] | None:
    """One solution of the linear equations rows · x = right; None if there is none.

    Parameters
    ----------
    rows : equations
    right : sequence of rationals
    columns : int
        Unknowns.

    Returns
    -------
    list of fmpq or None
        Unknowns that the equations leave free are 0.

    Examples
    --------
    >>> rational_solution([[1, 1]], [2], 2), rational_solution([[1, 1], [1, 1]], [0, 1], 2)
    ([2, 0], None)
    """
    if len(rows) == columns:
        try:
            return list(rational_matrix(rows, columns).solve(column(right)).entries())
        except ZeroDivisionError:
            # Singular: elimination decides whether there is a solution.
            pass
    joined = [(*row, value) for row, value in zip(rows, right, strict=True)]
    reduced, pivots = rational_echelon(joined, columns + 1)
    if pivots and pivots[-1] == columns:
        return None
    solution = [_ZERO] * columns
    for r, pivot in enumerate(pivots):
        solution[pivot] = reduced[r, columns]
    return solution


def eliminate_free(
    A: Rows, b: Sequence[Any], free: int
) -> tuple[list[list[fmpq]], list[fmpq], list[tuple[int, list[fmpq], fmpq]]]:
    """Eliminate the first `free` unknowns from A x = b; also returns formulas for them.

    Parameters
    ----------
    A, b : rows of fmpq
        At least one row.
    free : int
        Leading unknowns to eliminate.

    Returns
    -------
    rows, constants : the remaining equations in the other unknowns
    solved : list of (unknown, row, constant)
        Unknown = constant − row·(other unknowns); free ones that no equation fixes are 0.
    """
    if not len(A):
        raise InputError("`A` has no rows: there is nothing to eliminate from")
    columns = len(A[0])
    joined = [(*row, value) for row, value in zip(A, b, strict=True)]
    reduced, pivots = rational_echelon(joined, columns + 1)
    rows: list[list[fmpq]] = []
    constants: list[fmpq] = []
    solved: list[tuple[int, list[fmpq], fmpq]] = []
    for r, pivot in enumerate(pivots):
        rest = [reduced[r, c] for c in range(free, columns)]
        if pivot < free:
            solved.append((pivot, rest, reduced[r, columns]))
        else:
            rows.append(rest)
            constants.append(reduced[r, columns])
    return rows, constants, solved
