"""The matroid of the columns of a matrix modulo p: rank, greedy bases, circuits, contraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from algebra.linalg.echelon import independent_columns, modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank


@dataclass(frozen=True, eq=False)
class LinearMatroid:
    """A set of columns is independent if no combination of them vanishes modulo p.

    Attributes
    ----------
    columns : ndarray of int64, shape (·, E)
        Residues modulo p, one column per element.
    p : int
        A prime below 2^31.

    Examples
    --------
    >>> matroid = LinearMatroid(np.array([[1, 0, 1, 2], [0, 1, 1, 0]]), 101)
    >>> matroid.rank(), matroid.greedy([3, 0, 2], 2), matroid.circuits()
    (2, [3, 2], [(0, 1, 2), (0, 3)])
    """

    columns: np.ndarray = field(repr=False)
    p: int

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def rank(self, elements: Sequence[int] | np.ndarray | None = None) -> int:
        """Rank of some elements, or of all."""
        chosen = self.columns if elements is None else self.columns[:, list(elements)]
        return modular_rank(chosen, self.p)

    def greedy(self, order: Sequence[int], size: int) -> list[int]:
        """The first independent elements in an order, at most `size`."""
        order = list(order)
        stop = min(len(order), 2 * size + 16)
        while True:
            pivots = independent_columns(self.columns[:, order[:stop]], self.p)
            if len(pivots) >= size or stop == len(order):
                return [order[k] for k in pivots[:size]]
            stop = min(len(order), 2 * stop)

    def circuits(self) -> list[tuple[int, ...]]:
        """The fundamental circuits of the first basis in the order of the elements."""
        table, pivots = modular_echelon(self.columns, self.p)
        basis = set(pivots)
        return [
            tuple(sorted([k, *(pivots[row] for row in np.flatnonzero(table[:, k]))]))
            for k in range(len(self))
            if k not in basis
        ]

    def restrict(self, elements: Sequence[int] | np.ndarray) -> LinearMatroid:
        """The matroid restricted to some elements, which are renumbered."""
        return LinearMatroid(self.columns[:, list(elements)], self.p)

    def contract(self, elements: Sequence[int] | np.ndarray) -> tuple[LinearMatroid, int]:
        """The matroid with some elements projected away, and the rank of these.

        The elements keep their numbers; the contracted ones are loops afterwards.
        """
        table, chosen = self.columns, np.asarray(elements, np.int64)
        # Each row of the chosen columns as a combination of a basis of these rows.
        combination, basis = modular_echelon(table[:, chosen].T, self.p)
        others = np.setdiff1d(np.arange(len(table)), basis)
        taken = matmul(combination[:, others].T, table[basis], self.p)
        return LinearMatroid((table[others] - taken) % self.p, self.p), len(basis)
