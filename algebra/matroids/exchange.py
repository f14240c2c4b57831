"""Groups of vectors that can be left out: one elimination, and exchanges in its basis.

By duality (r*(g) = |g| + r(E - g) - r(E), Oxley, Matroid Theory, Proposition 2.1.9) the rank that
the vectors lose without a group g is found in the reduced echelon form of all of them: with P its
pivots and A the other columns N, it is :math:`|g ∩ P| - rank A[g ∩ P, N - g]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues


class Exchange(NamedTuple):
    """Vectors of groups in terms of a basis among them, which changes as groups are removed.

    Each vector that is not in the basis is a combination of the basis, a column of the table.  If a
    group is removed, the number of its vectors in the basis that can be exchanged for other vectors
    is the rank of the table in their rows and in the columns of the other groups; the rank falls by
    the number of those that cannot.  So one elimination suffices for all groups, and a removal
    costs one pivot step for each vector of the group.

    Attributes
    ----------
    table : ndarray of int64, shape (vectors in the basis, other vectors)
    basis, others : ndarray of int
        The groups of the vectors in the basis, and of the others.
    p : int
    """

    table: Residues
    basis: np.ndarray
    others: np.ndarray
    p: int

    @classmethod
    def of(cls, parts: Sequence[Residues], p: int) -> Exchange:
        """The exchange of groups of vectors, one vector per row, numbered in this order."""
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        if not len(owner):
            return cls(np.zeros((0, 0), np.int64), owner, owner, p)
        table, pivots = modular_echelon(np.concatenate(parts).T, p)
        return cls(
            np.delete(table, pivots, axis=1), owner[pivots], np.delete(owner, pivots), p
        )  # fmt: skip

    def is_needed(self, group: int, spare: int) -> bool:
        """Whether the rank falls by more than `spare` if the vectors of a group are removed."""
        inside = self.basis == group
        many = int(inside.sum())
        if many <= spare:
            return False
        return many - modular_rank(self.table[np.ix_(inside, self.others != group)], self.p) > spare

    def removed(self, group: int) -> Exchange:
        """The exchange of the other groups."""
        inside, kept = self.basis == group, self.others != group
        table, others = self.table[:, kept], self.others[kept]
        entering, pivots = modular_echelon(table[inside], self.p)
        rest = np.delete(np.arange(len(others)), pivots)
        stay = table[~inside]
        left = stay[:, rest] - matmul(stay[:, pivots], entering[:, rest], self.p)
        left += (left >> 63) & self.p
        return Exchange(
            np.concatenate([left, entering[:, rest]]),
            np.concatenate([self.basis[~inside], others[pivots]]),
            others[rest],
            self.p,
        )
