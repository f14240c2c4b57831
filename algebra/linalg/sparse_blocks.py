"""Sparse matrices as values of programs: blocks with a batch axis, and their Einstein sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.linalg.residues import is_sparse
from algebra.linalg.sparse import SparseMatrix


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
