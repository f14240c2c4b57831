"""Matrices of residues with few entries that are not 0: a connectome has far fewer than n².

Products use SciPy's sparse matrices of doubles that hold integers; the limbs and the bounds of
partial sums are those of `algebra.linalg.modular`.  Rows with more entries than a sum may have are
cut: the matrix is a sum of matrices with fewer entries in each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.linalg.products import inner_limit, is_sparse, limb_product, limbs, with_sums
from algebra.linalg.residues import Residues
from algebra.linalg.short_primes import BITS, WIDTH, as_doubles, reduced
from algebra.time_limits import check_time

# Columns of the other factor that are multiplied at a time.
_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix by its entries that may differ from 0, sorted by row and column, each place once.

    Attributes
    ----------
    rows, columns : ndarray of int
    values : ndarray of int64
    shape : (int, int)

    Examples
    --------
    >>> A = SparseMatrix.of(np.array([[0, 2], [3, 0]]))
    >>> A.product(np.array([[1], [4]]), 101).ravel().tolist()
    [8, 3]
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, dense: np.ndarray) -> SparseMatrix:
        """The entries of an array."""
        rows, columns = np.nonzero(dense)
        return cls(rows, columns, dense[rows, columns], (dense.shape[0], dense.shape[1]))

    @classmethod
    def sorted(
        cls, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
    ) -> SparseMatrix:
        """Entries in any order."""
        order = np.lexsort((columns, rows))
        return cls(rows[order], columns[order], values[order], shape)

    def with_values(self, values: np.ndarray) -> SparseMatrix:
        """Other values at the same places."""
        return SparseMatrix(self.rows, self.columns, values, self.shape)

    def without_zeros(self) -> SparseMatrix:
        """The entries that are not 0."""
        kept = self.values != 0
        if kept.all():
            return self
        return SparseMatrix(self.rows[kept], self.columns[kept], self.values[kept], self.shape)

    @property
    def T(self) -> SparseMatrix:
        """The transpose."""
        if "T" not in self._kept:
            shape = self.shape[1], self.shape[0]
            self._kept["T"] = SparseMatrix.sorted(self.columns, self.rows, self.values, shape)
        return self._kept["T"]  # type: ignore[no-any-return]

    def any(self) -> bool:
        """Whether an entry is not 0."""
        return bool(self.values.any())

    def sum(self) -> int:
        """The sum of all entries."""
        return int(self.values.sum(dtype=np.int64))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `algebra.certificates.sparse` reads them."""
        plain = {"shape": list(self.shape), "rest": 0, "columns": self.by_row(self.columns)}
        different = np.unique(self.values)
        if len(different) == 1:
            return plain | {"value": int(different[0])}
        return plain | {"values": self.by_row(self.values)}

    def by_row(self, numbers: np.ndarray) -> list[list[int]]:
        """Numbers of the entries, such as their columns, in a list for each row."""
        ends = np.cumsum(np.bincount(self.rows, minlength=self.shape[0]))[:-1]
        return [part.tolist() for part in np.split(numbers, ends)]

    def at(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The entries at some places."""
        if not len(self.rows):
            return np.zeros(np.shape(rows), self.values.dtype)
        place = np.minimum(self.places(rows, columns), len(self.rows) - 1)
        is_there = (self.rows[place] == rows) & (self.columns[place] == columns)
        return np.asarray(np.where(is_there, self.values[place], 0))

    def places(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The numbers of the entries at some places, which there are."""
        if "places" not in self._kept:
            self._kept["places"] = self.rows.astype(np.int64) * self.shape[1] + self.columns
        wanted = np.asarray(rows, np.int64) * self.shape[1] + columns
        return np.searchsorted(self._kept["places"], wanted)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        out = np.zeros(self.shape, dtype or self.values.dtype)
        out[self.rows, self.columns] = self.values
        return out

    def product(self, b: Residues, p: int) -> Residues:
        """This matrix times a matrix of residues, modulo p."""
        out = np.empty((self.shape[0], b.shape[1]), np.int64)
        if p not in self._kept:
            self._kept[p] = list(self._made(p))
        parts = self._kept[p]
        for start in range(0, b.shape[1], _COLUMNS):
            check_time()
            some = slice(start, start + _COLUMNS)
            block = np.ascontiguousarray(b[:, some])
            total = _product(parts[0], block, p)
            for part in parts[1:]:
                total = (total + _product(part, block, p)) % p
            out[:, some] = total
        return out

    def times(self, b: np.ndarray) -> np.ndarray:
        """This matrix times a matrix over any ring of which NumPy's arrays hold the entries."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        out = np.zeros((self.shape[0], b.shape[1]), np.result_type(self.values, b))
        if not len(starts):
            return out
        # A zero of the ring.
        out += self.values[:1, None] * 0 * b[:1, :]
        for k in range(b.shape[1]):
            check_time()
            terms = self.values * b[self.columns, k]
            out[self.rows[starts], k] = np.add.reduceat(terms, starts)
        return out

    def _made(self, p: int) -> Iterator[Any]:
        """Sparse matrices of limbs whose products with limbs are sums of few terms."""
        limit = WIDTH if p < 1 << BITS else inner_limit(p)
        counts = np.bincount(self.rows, minlength=self.shape[0])
        if counts.max(initial=0) <= limit:
            yield self._limbs(slice(None), counts, p)
            return
        ends = np.cumsum(counts)
        number = np.arange(len(self.rows)) - np.repeat(ends - counts, counts)
        for start in range(0, int(counts.max()), limit):
            some = (number >= start) & (number < start + limit)
            yield self._limbs(some, np.clip(counts - start, 0, limit), p)

    def _limbs(self, some: Any, counts: np.ndarray, p: int) -> Any:
        from scipy.sparse import csr_array

        starts = np.concatenate([[0], np.cumsum(counts)])
        place = np.ascontiguousarray(self.columns[some]), starts
        values = self.values[some] % p
        tables = [as_doubles(values, p)] if p < 1 << BITS else with_sums(limbs(values, p))
        return [csr_array((table, *place), shape=self.shape) for table in tables]


def _product(part: list[Any], b: Residues, p: int) -> Residues:
    if p < 1 << BITS:
        found = reduced(part[0] @ as_doubles(b, p), p).astype(np.int64)
        return np.asarray(found % p)
    return limb_product(part, b, p)


@dataclass(frozen=True)
class SparseBlock:
    """A sparse matrix as the value of a program's weight: it has a batch axis of size 1."""

    matrix: SparseMatrix

    @property
    def shape(self) -> tuple[int, int, int]:
        """With the batch axis."""
        return (*self.matrix.shape, 1)

    def any(self) -> bool:
        """Whether an entry is not 0."""
        return self.matrix.any()


def as_block(weight: Any) -> Any:
    """A weight as the value of a program: with a batch axis, or sparse if it has few entries."""
    if isinstance(weight, SparseMatrix):
        return SparseBlock(weight)
    weight = np.asarray(weight)
    if weight.dtype == np.int64 and is_sparse(weight):
        return SparseBlock(SparseMatrix.of(weight))
    return weight[..., None]


def sparse_contraction(
    factors: Sequence[tuple[str, Any]], result: str, product: Callable[[SparseMatrix, Any], Any]
) -> Any:
    """The Einstein sum of a sparse matrix and another value, whose last axis is the batch.

    Parameters
    ----------
    factors : sequence of (str, value)
        Letters of the axes, without the batch, and the value: one `SparseBlock`, one array.
    result : str
        Letters of the axes of the result.
    product : callable
        The product of a sparse matrix and an array of two axes.
    """
    (letters, block), (other, value) = sorted(
        factors, key=lambda factor: not isinstance(factor[1], SparseBlock)
    )
    matrix = block.matrix
    [summed] = [letter for letter in letters if letter in other]
    if summed == letters[0]:
        letters, matrix = letters[::-1], matrix.T
    at = other.index(summed)
    moved = np.moveaxis(value, at, 0)
    flat = product(matrix, moved.reshape(len(moved), -1))
    found = flat.reshape(matrix.shape[0], *moved.shape[1:])
    rest = letters[0] + other.replace(summed, "")
    order = [rest.index(letter) for letter in result]
    return found.transpose(*order, len(rest))
