r"""Conditions of the rows (or columns) of a recurrent matrix on its powers: for verification.

Let only W learn, and F_t = W^{T-t+1} B, so that Y = D Σ_t F_t U_t.  The labels, and the rows of W
in which nothing learns, F_t[i, :] = W[i, :] F_{t+1} with F_{T+1} = B, give linear equations in the
F_t whose coefficients do not contain learnable weights (`linear_part`).  Row i of W then solves
W[i, :] (F_2 | … | F_T | B) = (F_1 | … | F_T)[i, :].  The same holds with F_t = D W^{T-t+1} and the
columns of W.

N by minors in the powers: `algebra.arguments.row_minors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues
from algebra.networks.chain_layout import ChainLayout

# Largest number of entries of the powers of W for which linear equations are written out.
_MOST_UNKNOWNS = 1_200


class Side:
    """The rows of W; or its columns, which are the rows of its transpose.

    Parameters
    ----------
    W, start : ndarray of int64
        Residues: the recurrent matrix, and the matrix to which its powers are applied.
    learns : ndarray of bool
        The cells of W that learn.
    left, right : sequence of ndarray
        The labels are Σ_t left[t] F_t right[t].
    p : int
    """

    def __init__(
        self,
        W: Residues,
        learns: np.ndarray,
        start: Residues,
        left: Sequence[Residues],
        right: Sequence[Residues],
        p: int,
    ) -> None:
        self.W, self.learns, self.start, self.p = W % p, learns, start % p, p
        self.left, self.right = left, right

    @property
    def shape(self) -> tuple[int, int, int]:
        """T, n and the number of columns of each F_t."""
        return (len(self.left), *self.start.shape)

    @property
    def is_small(self) -> bool:
        """Whether the linear part is small enough to be written out."""
        return bool(np.prod(self.shape) <= _MOST_UNKNOWNS)

    def linear_part(self) -> Residues:
        """Coefficients of the F_t in the labels and in the rows of W in which nothing learns."""
        (T, n, s), p = self.shape, self.p
        labels = np.concatenate(
            [np.kron(a % p, b.T % p) % p for a, b in zip(self.left, self.right, strict=True)],
            axis=1,
        )
        fixed = np.flatnonzero(~self.learns.any(axis=1))
        dynamic = np.zeros((T, len(fixed), s, T, n, s), np.int64)
        for t in range(T):
            for (k, i), j in product(enumerate(fixed), range(s)):
                dynamic[t, k, j, t, i, j] = 1
                if t + 1 < T:
                    dynamic[t, k, j, t + 1, :, j] = -self.W[i] % p
        return np.concatenate([labels, dynamic.reshape(-1, T * n * s)])

    def powers(self) -> Residues:
        """F_1, …, F_T and F_{T+1}, of this W."""
        known = [self.start]
        for _ in self.left:
            known.append(matmul(self.W, known[-1], self.p))
        return np.stack(known[::-1])

    def is_determined(self) -> bool:
        """Whether the linear part determines the F_t, and these each row's learning weights."""
        T, n, s = self.shape
        if not self.is_small or modular_rank(self.linear_part(), self.p) < T * n * s:
            return False
        after = np.concatenate(list(self.powers()[1:]), axis=1)
        return all(
            modular_rank(after[row != 0], self.p) == int(row.sum())
            for row in self.learns
            if row.any()
        )


def sides(
    chain: ChainLayout, weights: Mapping[str, Residues], U: Residues, learns: np.ndarray, p: int
) -> tuple[Side, Side]:
    """The rows and the columns of the recurrent matrix of a chain.

    Parameters
    ----------
    chain : ChainLayout
        It has a recurrent matrix.
    weights : mapping of str to ndarray of int64
    U : ndarray of int64
        The input of the steps.
    learns : ndarray of bool
        The cells of the recurrent matrix that learn.
    p : int
    """
    assert chain.start is not None
    W, B, D = (weights[name] for name in (chain.steps[0], chain.start, chain.output))
    T, b, one = len(chain.steps), B.shape[1], np.eye(len(D), dtype=np.int64)
    parts = [U[t * b : (t + 1) * b] for t in range(T)]
    driven = [matmul(B, part, p).T for part in parts]
    return (
        Side(W, learns, B, [D] * T, parts, p),
        Side(W.T, learns.T, D.T, driven, [one] * T, p),
    )
