"""Independent columns of a large matrix modulo p, by products of blocks.

Columns are taken in blocks.  In a block a few rows are found that span the others
(`_spanning_rows`); combinations of these rows are subtracted from all others, in all later columns,
by one product of matrices, and the rows are done with.  The work is that of the products, 2/3 n³
operations, and the memory that of the matrix and a few blocks.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from flint import nmod_mat

from algebra.time_limits import check_time

# Rows and columns of a part of the matrix that is updated.
_PART = 1024


class ResidueRing(Protocol):
    """Residues modulo a prime, in blocks of a matrix that stores them in some way."""

    @property
    def p(self) -> int:
        """The prime."""

    @property
    def width(self) -> int:
        """Columns of a block."""

    @property
    def dtype(self) -> Any:
        """That of blocks taken out of the matrix."""

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The product of two blocks, of inner dimension `width` at most."""

    def difference(self, a: np.ndarray, a_b: np.ndarray) -> np.ndarray:
        """A block minus a product of blocks."""

    def of_residues(self, values: np.ndarray) -> np.ndarray:
        """A block, from numbers 0, …, p − 1."""


def independent_columns(matrix: np.ndarray, ring: ResidueRing) -> list[int]:
    """The columns that are independent of the earlier ones; their number is the rank.

    Parameters
    ----------
    matrix : ndarray
        It is overwritten.
    ring : ResidueRing
    """
    rows, columns = matrix.shape
    active, found = np.arange(rows), list[int]()
    for start in range(0, columns, ring.width):
        if not active.size:
            break
        stop = min(start + ring.width, columns)
        block = matrix[active, start:stop].astype(ring.dtype)
        basis, pivots = _spanning_rows(block, ring)
        found += [start + k for k in pivots]
        others = np.ones(len(active), bool)
        others[basis] = False
        rest = active[others]
        if basis and rest.size and stop < columns:
            mix = ring.product(block[others][:, pivots], _inverse(block[basis][:, pivots], ring))
            _subtract(matrix, rest, stop, mix, active[basis], ring)
        active = rest
    return found


def _subtract(
    matrix: np.ndarray,
    rows: np.ndarray,
    start: int,
    mix: np.ndarray,
    basis: np.ndarray,
    ring: ResidueRing,
) -> None:
    """Subtract combinations of the rows of a basis from some rows, in the columns from `start`."""
    columns = matrix.shape[1]
    for left in range(start, columns, _PART):
        part = slice(left, min(left + _PART, columns))
        right = matrix[basis, part].astype(ring.dtype)
        for top in range(0, len(rows), _PART):
            check_time()
            own = rows[top : top + _PART]
            step = slice(top, top + _PART)
            matrix[own, part] = ring.difference(matrix[own, part], ring.product(mix[step], right))


def _spanning_rows(block: np.ndarray, ring: ResidueRing) -> tuple[list[int], list[int]]:
    """Independent rows that span all others, and the columns independent of earlier ones.

    As many rows as there are columns are tried first; then those that they do not span.
    """
    found, rest, columns = list[int](), block, block.shape[1]
    while rest.shape[1]:
        tried = np.flatnonzero(rest.any(axis=1))[: rest.shape[1]]
        if not tried.size:
            break
        check_time()
        own = [int(tried[k]) for k in _pivots(_flint(rest[tried].T, ring))]
        found += own
        if len(own) == rest.shape[1]:
            break
        pivots = _pivots(_flint(rest[own], ring))
        others = np.setdiff1d(np.arange(rest.shape[1]), pivots)
        mix = ring.product(rest[:, pivots], _inverse(rest[own][:, pivots], ring))
        rest = ring.difference(rest[:, others], ring.product(mix, rest[own][:, others]))
    if len(found) == columns:
        return found, list(range(columns))
    return found, _pivots(_flint(block[found], ring)) if found else []


def _flint(matrix: np.ndarray, ring: ResidueRing) -> nmod_mat:
    rows, columns = matrix.shape
    return nmod_mat(rows, columns, matrix.astype(np.int64).ravel().tolist(), ring.p)


def _pivots(matrix: nmod_mat) -> list[int]:
    """The pivots of the reduced echelon form."""
    reduced, count = matrix.rref()
    out, column = [], 0
    for row in range(int(count)):
        while not int(reduced[row, column]):
            column += 1
        out.append(column)
        column += 1
    return out


def _inverse(matrix: np.ndarray, ring: ResidueRing) -> np.ndarray:
    """The inverse of a small matrix."""
    entries = [int(value) for value in _flint(matrix, ring).inv().entries()]
    return ring.of_residues(np.array(entries, np.int64).reshape(matrix.shape))
