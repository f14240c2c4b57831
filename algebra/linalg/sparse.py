"""Matrices of residues with few entries that are not 0: a connectome has far fewer than n²."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.linalg.residues import Residues

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
        shape, entries = self.shape[::-1], (self.columns, self.rows, self.values)
        found: SparseMatrix = self.kept("T", lambda: SparseMatrix.sorted(*entries, shape))
        return found

    def any(self) -> bool:
        """Whether an entry is not 0."""
        return bool(self.values.any())

    def sum(self) -> int:
        """The sum of all entries."""
        return int(self.values.sum(dtype=np.int64))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `algebra.checker.sparse` reads them."""
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
        width = self.shape[1]
        own = self.kept("places", lambda: self.rows.astype(np.int64) * width + self.columns)
        return np.searchsorted(own, np.asarray(rows, np.int64) * width + columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        out = np.zeros(self.shape, dtype or self.values.dtype)
        out[self.rows, self.columns] = self.values
        return out

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made of this matrix once."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def product(self, b: Residues, p: int) -> Residues:
        """This matrix times a matrix of residues, modulo p."""
        # Loaded here: few networks have sparse matrices.
        from algebra.linalg.sparse_products import modular_product

        return modular_product(self, b, p)

    def times(self, b: np.ndarray) -> np.ndarray:
        """This matrix times a matrix over any ring of which NumPy's arrays hold the entries."""
        from algebra.linalg.sparse_products import ring_product

        return ring_product(self, b)
