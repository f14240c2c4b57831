r"""Ranks modulo a prime of 23 bits: one product of doubles for each product of residues.

A full rank modulo any prime proves the rank over Q, so the prime may be short; a deficit modulo a
short prime says little, and is found again modulo a prime of 61 bits (`algebra.linalg.modular`).

Exactness
---------
Residues are stored with their sign: integers of at most p/2 (1 + 2^-19) < 2^22 + 8 in absolute
value (`_reduced`), which 32-bit floating-point numbers hold.  A sum of `_WIDTH` = 448 products and
one more residue is below 448 (2^22 + 8)² + 2^23 < 2^53, so doubles hold all partial sums, in any
order of addition.

Elimination
-----------
Columns are taken in blocks.  In a block a few rows are found that span the others
(`_spanning_rows`); these multiply all later columns of the other rows by one product of matrices,
and are done with.  The work is that of the products, 2/3 n³ operations, and the memory that of the
matrix in 32 bits with a few blocks of columns.
"""

from __future__ import annotations

import numpy as np
from flint import nmod_mat

from algebra.time_limits import check_time

# Bits of a short prime, columns of a block, and rows of a part of the matrix that is updated.
BITS, _WIDTH, _ROWS = 23, 448, 1024
# Sizes below which FLINT is called for the whole matrix.
_FEW = 96


def signed(values: np.ndarray, p: int) -> np.ndarray:
    """Residues with their sign, as 32-bit floating-point numbers."""
    out = np.empty(values.shape, np.float32)
    for k in range(len(values)):
        np.copyto(out[k], np.where(values[k] > p >> 1, values[k] - p, values[k]), "unsafe")
    return out


def independent_columns(matrix: np.ndarray, p: int) -> list[int]:
    """The columns that are independent of the earlier ones.

    Parameters
    ----------
    matrix : ndarray of float32
        `signed` residues; it is overwritten.
    p : int
        A prime below 2^23.

    Returns
    -------
    list of int
        Their number is the rank.
    """
    rows, columns = matrix.shape
    if not matrix.size:
        return []
    if min(rows, columns) <= _FEW and matrix.size <= _FEW * _WIDTH * 8:
        return _pivots(_flint(matrix, p))
    active, found = np.arange(rows), list[int]()
    for start in range(0, columns, _WIDTH):
        if not active.size:
            break
        stop = min(start + _WIDTH, columns)
        block = matrix[active, start:stop].astype(np.float64)
        basis, pivots = _spanning_rows(block, p)
        found += [start + k for k in pivots]
        others = np.ones(len(active), bool)
        others[basis] = False
        rest = active[others]
        if len(basis) and rest.size and stop < columns:
            mix = _product(block[others][:, pivots], _inverse(block[basis][:, pivots], p), p)
            _subtract(matrix, rest, stop, mix, active[basis], p)
        active = rest
    return found


def _subtract(
    matrix: np.ndarray, rows: np.ndarray, start: int, mix: np.ndarray, basis: np.ndarray, p: int
) -> None:
    """Subtract combinations of the rows of a basis from some rows, in the columns from `start`."""
    columns = matrix.shape[1]
    for left in range(start, columns, _ROWS):
        part = slice(left, min(left + _ROWS, columns))
        right = matrix[basis, part].astype(np.float64)
        for top in range(0, len(rows), _ROWS):
            check_time()
            own = rows[top : top + _ROWS]
            found = mix[top : top + _ROWS] @ right
            np.subtract(matrix[own, part], found, out=found)
            matrix[own, part] = _reduced(found, p)


def _reduced(values: np.ndarray, p: int) -> np.ndarray:
    """Remainders in ± p/2 (1 + 2^-19) of integers below 2^53, in place.

    Quotients are below 2^31 and estimated to 2^-20 or better.
    """
    quotients = values * (1.0 / p)
    np.rint(quotients, out=quotients)
    quotients *= p
    values -= quotients
    return values


def _product(a: np.ndarray, b: np.ndarray, p: int) -> np.ndarray:
    return _reduced(a @ b, p)


def _spanning_rows(block: np.ndarray, p: int) -> tuple[list[int], list[int]]:
    """Independent rows that span all others, and the columns independent of earlier ones.

    As many rows as there are columns are tried first; then those that they do not span.
    """
    found, rest, columns = list[int](), block, block.shape[1]
    while rest.shape[1]:
        tried = np.flatnonzero(rest.any(axis=1))[: rest.shape[1]]
        if not tried.size:
            break
        check_time()
        own = [int(tried[k]) for k in _pivots(_flint(rest[tried].T, p))]
        found += own
        if len(own) == rest.shape[1]:
            break
        pivots = _pivots(_flint(rest[own], p))
        others = np.setdiff1d(np.arange(rest.shape[1]), pivots)
        mix = _product(rest[:, pivots], _inverse(rest[own][:, pivots], p), p)
        rest = _reduced(rest[:, others] - mix @ rest[own][:, others], p)
    if len(found) == columns:
        return found, list(range(columns))
    return found, _pivots(_flint(block[found], p)) if found else []


def _flint(matrix: np.ndarray, p: int) -> nmod_mat:
    return nmod_mat(*matrix.shape, matrix.astype(np.int64).ravel().tolist(), p)


def _pivots(matrix: nmod_mat) -> list[int]:
    """The pivots of the reduced echelon form."""
    reduced, count = matrix.rref()
    out, column = [], 0
    for row in range(int(count)):
        while not reduced[row, column]:
            column += 1
        out.append(column)
        column += 1
    return out


def _inverse(matrix: np.ndarray, p: int) -> np.ndarray:
    """The inverse of a small matrix."""
    size = len(matrix)
    entries = [int(value) for value in _flint(matrix, p).inv().entries()]
    table = np.array(entries, np.int64).reshape(size, size)
    return np.where(table > p >> 1, table - p, table).astype(np.float64)
