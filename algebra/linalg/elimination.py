"""Independent columns of a large matrix modulo p, by products of blocks.

Columns are taken in blocks.  In a block a few rows are found that span the others
(`_spanning_rows`); combinations of these rows are subtracted from all others, in all later columns,
by one product of matrices, and the rows are done with.  The work is that of the products, 2/3 n³
operations, and the memory that of the matrix and a few blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from flint import nmod_mat

from algebra.linalg.short_primes import IN_BLOCKS, WIDTH, reduced, signed
from algebra.time_limits import check_time

# Rows and columns of a part of the matrix that is updated.
_PART = 1024
# Rows and columns up to which FLINT inverts a matrix.
_LEAST = 56


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

    def minus_product(self, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A block minus the product of two blocks: c − a b."""

    def of_residues(self, values: np.ndarray) -> np.ndarray:
        """A block, from numbers 0, …, p − 1."""


@dataclass(frozen=True)
class ShortRing:
    """Signed residues modulo a short prime: 32 bits in a matrix, doubles in blocks."""

    p: int
    width: int = WIDTH
    dtype: Any = IN_BLOCKS

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return reduced(a @ b, self.p)

    def minus_product(self, c: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = a @ b
        return reduced(np.subtract(c, found, out=found), self.p)

    def of_residues(self, values: np.ndarray) -> np.ndarray:
        return signed(values, self.p, IN_BLOCKS)


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
        basis, pivots, inverse = _spanning_rows(block, ring)
        found += [start + k for k in pivots]
        others = np.ones(len(active), bool)
        others[basis] = False
        rest = active[others]
        if basis and rest.size and stop < columns:
            mix = ring.product(block[others][:, pivots], inverse)
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
            matrix[own, part] = ring.minus_product(matrix[own, part], mix[step], right)


def _spanning_rows(block: np.ndarray, ring: ResidueRing) -> tuple[list[int], list[int], np.ndarray]:
    """Independent rows that span all others, and the columns independent of earlier ones.

    Also the inverse of these rows and columns.  As many random rows as there are columns are tried
    first; if they do not do, then those of the left half, and of what these leave of the right one.
    """
    columns = block.shape[1]
    # Neighbouring rows are often alike, or have zeros at the same places.
    first = np.random.default_rng(columns).permutation(np.flatnonzero(block.any(axis=1)))[:columns]
    inverse = _inverse_in_parts(block[first], ring) if len(first) == columns else None
    if inverse is not None:
        return first.tolist(), list(range(columns)), inverse
    if columns > _LEAST:
        return _spanning_rows_of_halves(block, ring)
    found = _independent_rows(block, ring)
    pivots = list(range(columns))
    if len(found) < columns:
        pivots = _pivots(_flint(block[found], ring)) if found else []
    return found, pivots, _inverse(block[found][:, pivots], ring)


def _spanning_rows_of_halves(
    block: np.ndarray, ring: ResidueRing
) -> tuple[list[int], list[int], np.ndarray]:
    """`_spanning_rows` of the left half, and of the right one without combinations of these."""
    half = block.shape[1] // 2
    upper, left, a = _spanning_rows(block[:, :half], ring)
    others = np.setdiff1d(np.arange(len(block)), upper)
    mix = ring.product(block[others][:, left], a)
    rest = ring.minus_product(block[others, half:], mix, block[upper, half:])
    lower, right, s = _spanning_rows(rest, ring)
    rows, pivots = [*upper, *others[lower].tolist()], [*left, *(half + k for k in right)]
    above = ring.product(a, block[upper][:, pivots[len(left) :]])
    return rows, pivots, _inverse_of_blocks(a, above, mix[lower], s, ring)


def _independent_rows(block: np.ndarray, ring: ResidueRing) -> list[int]:
    found, rest = list[int](), block
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
        rest = ring.minus_product(rest[:, others], mix, rest[own][:, others])
    return found


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


def _inverse_in_parts(matrix: np.ndarray, ring: ResidueRing) -> np.ndarray | None:
    """The inverse by those of a leading block A and of S = D − C A⁻¹ B; None if one is singular.

    Nearly all work is in products of matrices.
    """
    size = len(matrix)
    if size <= _LEAST:
        try:
            return _inverse(matrix, ring)
        except ZeroDivisionError:
            return None
    upper, lower = slice(0, size // 2), slice(size // 2, size)
    a = _inverse_in_parts(matrix[upper, upper], ring)
    if a is None:
        return None
    right, left = ring.product(a, matrix[upper, lower]), ring.product(matrix[lower, upper], a)
    s = _inverse_in_parts(
        ring.minus_product(matrix[lower, lower], matrix[lower, upper], right), ring
    )
    if s is None:
        return None
    return _inverse_of_blocks(a, right, left, s, ring)


def _inverse_of_blocks(
    a: np.ndarray, right: np.ndarray, left: np.ndarray, s: np.ndarray, ring: ResidueRing
) -> np.ndarray:
    """The inverse of (A B; C D) from A⁻¹, A⁻¹ B, C A⁻¹ and the inverse of S = D − C A⁻¹ B."""
    size = len(a)
    out = np.zeros((size + len(s), size + len(s)), a.dtype)
    upper, lower = slice(0, size), slice(size, None)
    out[upper, lower] = ring.minus_product(out[upper, lower], right, s)
    out[lower, upper] = ring.minus_product(out[lower, upper], s, left)
    out[upper, upper] = ring.minus_product(a, out[upper, lower], left)
    out[lower, lower] = s
    return out


def _inverse(matrix: np.ndarray, ring: ResidueRing) -> np.ndarray:
    """The inverse of a small matrix."""
    if not matrix.size:
        return matrix
    entries = [int(value) for value in _flint(matrix, ring).inv().entries()]
    return ring.of_residues(np.array(entries, np.int64).reshape(matrix.shape))
