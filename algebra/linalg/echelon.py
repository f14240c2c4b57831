"""Echelon forms modulo a prime, and what they determine: independent columns, null spaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import nmod_mat

from algebra.linalg.modular import by_flint, matmul
from algebra.linalg.residues import Residues
from algebra.linalg.short_primes import BITS, signed
from algebra.time_limits import check_time

_BLOCK_COLUMNS = 512

# Rows and columns, and entries, below which independent columns are found by FLINT (measured).
_SMALL_TABLE = 400

_LONG_TABLE = 1_000_000

# Reduced echelon forms by blocks of columns: rows and columns, or the columns of a wide matrix,
# from which they are faster than FLINT, and the width of a block (measured: twice as fast at
# 200 × 2,000, three to five times at 200 × 12,000).
_LARGE_FORM = 500

_WIDE = 400

_WIDTH = 128


@dataclass(frozen=True)
class _Residues:
    """The ring of residues 0, …, p − 1 in matrices of integers."""

    p: int
    width: int = 512
    dtype: Any = np.int64

    def product(self, a: Residues, b: Residues) -> Residues:
        return matmul(a, b, self.p)

    def minus_product(self, c: Residues, a: Residues, b: Residues) -> Residues:
        found = c - matmul(a, b, self.p)
        found += (found >> 63) & self.p
        return found

    def of_residues(self, values: Residues) -> Residues:
        return values


def independent_columns(matrix: Residues, p: int, *, overwrite: bool = False) -> list[int]:
    """The columns that are independent of the earlier ones.

    Parameters
    ----------
    matrix : ndarray
        Residues; `algebra.linalg.short_primes.signed` ones for a prime of 23 bits may be given in
        32 bits.
    p : int
    overwrite : bool, optional
        A large matrix may be overwritten, which saves its copy.
    """
    if min(matrix.shape) < _SMALL_TABLE and matrix.size <= _LONG_TABLE:
        table = matrix.astype(np.int64) % p if matrix.dtype == np.float32 else matrix
        return by_flint(_echelon, table, p, False)[1] if table.size else []
    return independent(matrix, p, overwrite)


def independent(matrix: Residues, p: int, overwrite: bool) -> list[int]:
    # Only large matrices are eliminated by blocks.
    from algebra.linalg import elimination

    if p < 1 << BITS:
        own = np.array(matrix) if matrix.dtype == np.float32 and not overwrite else matrix
        short = own if own.dtype == np.float32 else signed(own, p)
        return elimination.independent_columns(short, elimination.ShortRing(p))
    work = matrix if overwrite and matrix.flags.writeable else np.array(matrix)
    return elimination.independent_columns(work, _Residues(p))


def _subtract(
    work: Residues, rows: np.ndarray, start: int, mix: Residues, others: np.ndarray, p: int
) -> None:
    """Subtract combinations of other rows from some rows, in the columns from `start` on."""
    for at in range(start, work.shape[1] if len(rows) else 0, _BLOCK_COLUMNS):
        check_time()
        columns = slice(at, at + _BLOCK_COLUMNS)
        part = work[rows, columns] - matmul(mix, work[others, columns], p)
        part += (part >> 63) & p
        work[rows, columns] = part


def modular_echelon(matrix: Residues, p: int) -> tuple[Residues, list[int]]:
    """The non-zero rows of the reduced echelon form modulo p, and their pivots."""
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros((0, columns), np.int64), []
    if min(rows, columns) >= _LARGE_FORM or columns >= max(rows, _WIDE):
        return _echelon_in_blocks(np.array(matrix, order="C"), p)
    return by_flint(_echelon, matrix, p)


def _echelon_in_blocks(work: Residues, p: int) -> tuple[Residues, list[int]]:
    """The reduced echelon form of a large matrix, which is overwritten, by blocks of columns.

    Rows without a pivot so far are zero in all blocks before the present one.  In the present block
    these rows are combinations of a few of them, which `_echelon` of the transpose determines.  Let
    S be these few rows in the block.  The reduced echelon form of [S | 1] is [E | C], where E is
    that of the block and C S = E.  Everything else is a product of matrices.
    """
    active, rows, pivots = np.arange(len(work)), np.zeros(0, np.int64), list[int]()
    for start in range(0, work.shape[1], _WIDTH):
        if not active.size:
            break
        block = slice(start, min(start + _WIDTH, work.shape[1]))
        combined, basis = _echelon(np.ascontiguousarray(work[active, block].T), p)
        others = np.ones(len(active), bool)
        others[basis] = False
        mix = np.ascontiguousarray(combined[:, others].T)
        new, active = active[basis], active[others]
        if not new.size:
            continue
        _subtract(work, active, block.stop, mix, new, p)
        work[active, block] = 0
        own = work[new, block]
        form, at = _echelon(np.hstack([own, np.eye(len(own), dtype=np.int64)]), p)
        work[new, block] = form[:, : own.shape[1]]
        change = np.ascontiguousarray(form[:, own.shape[1] :])
        work[new, block.stop :] = matmul(change, work[new, block.stop :], p)
        fresh = [start + k for k in at]
        _subtract(work, rows, start, work[rows][:, fresh], new, p)
        rows = np.concatenate([rows, new])
        pivots += fresh
    return work[rows], pivots


def _echelon(matrix: Residues, p: int, has_table: bool = True) -> tuple[Residues, list[int]]:
    """Reading an entry takes longer than computing it: only those that may not be 0 or 1 are."""
    rows, columns = matrix.shape
    reduced, found = nmod_mat(rows, columns, matrix.ravel().tolist(), p).rref()
    table, pivots = np.zeros((int(found), columns), np.int64), list[int]()
    for column in range(columns):
        count = len(pivots)
        if count < len(table) and int(reduced[count, column]):
            table[count, column] = 1
            pivots.append(column)
        elif has_table:
            table[:count, column] = [int(reduced[row, column]) for row in range(count)]
    return table, pivots


def modular_kernel(matrix: Residues, p: int) -> Residues:
    """A basis of the null space modulo p, one vector per row: a unit vector on the free columns."""
    table, pivots = modular_echelon(matrix, p)
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    out = np.zeros((len(free), matrix.shape[1]), np.int64)
    out[np.arange(len(free)), free] = 1
    out[:, pivots] = -table[:, free].T % p
    return out
