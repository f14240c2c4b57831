r"""Generic ranks if matrices learn by updates: low rank, gains, ties.

Let θ be all learnable parameters (cells, and the parameters of `algebra.problems.updates`), w(W, θ)
the weights for drawn ones W, and f the network.  J_θ = J(w) · ∂w/∂θ.

**Theorem.** Let ρ_θ be the generic rank of J_θ over (W, θ, X), and ρ that of J.  For weights and a
teacher with a density that is positive everywhere (all of the teacher's weights are drawn),
MP = 0 if and only if ρ_θ < ρ.

*Proof.* Fix X.  All labels lie in the image V of f, of dimension ρ.  For fixed W the students'
labels are the image of the analytic map θ ↦ f(w(W, θ)).  Its rank is at most ρ_θ for all θ, and
an analytic map of rank at most ρ_θ has as its image a countable union of sets of dimension at
most ρ_θ (strata of constant rank).  If ρ_θ < ρ that is a null set of V, where the teacher's labels
have a density.  If ρ_θ = ρ, some (W*, θ*) has rank J_θ = ρ, hence rank J = ρ at w* = w(W*, θ*) and
nearby: there the labels are a manifold of dimension ρ, and by the constant rank theorem
θ ↦ f(w(W, θ)) covers a neighbourhood in it of f(w*), the same one for all W near W*.  Teachers
near w* have labels in it and positive probability. ∎

The point is essential: θ must be generic, not the usual start (V = 0, where the update's tangent is
smaller).  (W, θ) ↦ (w, θ) is invertible for all updates here, so a generic w with generic U, V
independent of it is such a point.

**Upper bounds.** ρ_θ ≤ ρ; and ρ_θ ≤ the dimension of the set of students, k (p + q − k) for a low
rank and the number of parameters else: J_θ vanishes on the gauge.

**Root counts.**  Let V = (V_k | V') with V_k a given regular k×k matrix for each low rank: a chart,
which contains every change of rank k, each once, but for a subset of smaller dimension.

**Theorem.** Let the students have dimension ρ = rank J = rank J_θ.  Then there is a number N such
that a generic instance (W, V_k, X, teacher) has N complex solutions, all simple.  If N is odd,
MP = 1.

*Proof.* {(W, V_k, X, Y, θ) : Y = f(w(W, θ))} is a graph over (W, V_k, X, θ), hence irreducible; by
rank J_θ = ρ it maps onto a dense part of {(W, V_k, X, Y) : Y a label of some network}, which has
the same dimension.  Generic fibres are finite, with the same number of points, simple since the
characteristic is 0.  Solutions outside the chart form a set of smaller dimension, whose image does
not contain generic instances; the group GL_k takes each V_k to each other one.  Instances of
teachers are generic in the image.  Non-real solutions of a real instance occur in conjugate pairs,
so if their number is odd there is a real θ. ∎

The rank itself is that of the parameters as weights of their own: `algebra.ranks.parametrized`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, random_residues, times
from algebra.linalg.sparse import SparseMatrix
from algebra.linalg.sums import added_groups
from algebra.networks.base import Network
from algebra.problems.updates import Gain, LowRank, Tied, Update
from algebra.ranks.jacobian import jacobian
from algebra.time_limits import check_time

# Number of cells whose columns are in memory at once.
_AT_ONCE = 2048
# The arrays of U and V, by matrix and letter.
Drawn = dict[str, dict[str, Residues]]
# A matrix, perhaps by its entries.
Weights = Residues | SparseMatrix


class MovedCells(NamedTuple):
    """The cells of a matrix that parameters move, each by one of them.

    Attributes
    ----------
    rows, columns : ndarray of int
    numbers : ndarray of int
        Of the parameters, from 0.
    times : ndarray of int64
        Derivatives of the cells.
    """

    rows: np.ndarray
    columns: np.ndarray
    numbers: np.ndarray
    times: np.ndarray


def cells_moved(update: Update, W: Weights) -> MovedCells:
    """The cells that gains or ties move: gains those whose weight is not 0."""
    if isinstance(update, Tied):
        tied = update.table
        return MovedCells(tied.rows, tied.columns, tied.values - 1, np.ones_like(tied.values))
    assert isinstance(update, Gain)
    own = W if isinstance(W, SparseMatrix) else SparseMatrix.of(W)
    numbers = update.numbers_at(own.shape, own.rows, own.columns) - 1
    kept = numbers >= 0
    return MovedCells(own.rows[kept], own.columns[kept], numbers[kept], own.values[kept])


def drawn_parameters(network: Network, updates: Mapping[str, Update], p: int, seed: int) -> Drawn:
    """The parameters on which tangents depend, at the point with this number.

    Parameters
    ----------
    network : Network
    updates : mapping of str to Update
        In the network's order.
    p, seed : int
        Prime and number of the point (`algebra.networks.base.Point`).
    """
    rng = random.Random(f"update/{p}/{seed}")
    found: Drawn = {}
    for name, update in updates.items():
        shape = network.shapes[name]
        arrays = update.arrays(shape)
        found[name] = {
            letter: random_residues(arrays[letter], p, rng) for letter in update.drawn(shape)
        }
    return found


def moved_columns(
    factors: tuple[np.ndarray, np.ndarray],
    update: Update,
    W: Weights,
    drawn: Mapping[str, Residues],
    p: int,
) -> Residues:
    """The columns of all parameters of an update, from the factors of its matrix.

    Parameters
    ----------
    factors : (ndarray, ndarray)
        L and R of the matrix (`HasJacobian.modular_tangents`).
    update : Update
    W : ndarray or SparseMatrix
        The updated matrix.
    drawn : mapping of str to ndarray
        Parameters of this matrix (`drawn_parameters`).
    p : int
    """
    if isinstance(update, LowRank):
        return _moved_by_factors(factors, update, drawn["U"], drawn["V"], p)
    return _moved_by_cells(factors, update, W, p)


def _moved_by_cells(
    factors: tuple[np.ndarray, np.ndarray], update: Update, W: Weights, p: int
) -> Residues:
    """Columns Σ times[i, j] L[:, i] ⊗ R[j, :], the sum over the cells that a parameter moves.

    A parameter k moves the cells (i, j) of which the sums over j, as functions of (i, k), are a
    product of a sparse matrix and R; or the sums over i one of L and a sparse matrix.  The one
    with fewer products is taken.
    """
    L, R = factors
    moves = cells_moved(update, W)
    count, (rows, columns) = update.size(W.shape), W.shape
    found = np.zeros((L.shape[1], R.shape[2], count), np.int64)
    if not len(moves.rows) or not found.size:
        return found.reshape(L.shape[1] * R.shape[2], count)
    by_row, row_of = np.unique(moves.numbers * rows + moves.rows, return_inverse=True)
    by_column, column_of = np.unique(moves.numbers * columns + moves.columns, return_inverse=True)
    wide = L.shape[1] * (R.shape[2] if L.ndim == 4 else 1)
    own, other = len(moves.rows) * R.shape[2], len(moves.rows) * wide
    is_by_row = own + len(by_row) * wide <= other + len(by_column) * wide
    if is_by_row:
        pairs, size = by_row, rows
        mix = SparseMatrix.sorted(row_of, moves.columns, moves.times, (len(pairs), columns))
    else:
        pairs, size = by_column, columns
        mix = SparseMatrix.sorted(column_of, moves.rows, moves.times, (len(pairs), rows))
    numbers, at = np.divmod(pairs, size)
    for left, right in zip(L, R, strict=True):
        check_time()
        # Both factors with the axes (outputs, samples, entries); the mixed one by pairs.
        left = left if left.ndim == 3 else left[:, None]
        right = right.T[None]
        own, other = (left, right) if is_by_row else (right, left)
        flat = np.ascontiguousarray(other.reshape(-1, other.shape[2]).T)
        mixed = mix.product(flat, p).T.reshape(*other.shape[:2], len(pairs))
        found += _summed(own, mixed, at, numbers, count, p)
        found %= p
    return found.reshape(-1, count)


def _summed(
    own: Residues, mixed: Residues, at: np.ndarray, numbers: np.ndarray, count: int, p: int
) -> Residues:
    """Σ own[o, c, at] mixed[o, c, pair] over the pairs of each number; axes of size 1 are repeated.

    Pairs are sorted by number and place.
    """
    outputs, samples = (max(own.shape[k], mixed.shape[k]) for k in range(2))
    found = np.zeros((outputs, samples, count), np.int64)
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    if len(starts) == len(numbers):
        found[..., numbers] = times(own[..., at], mixed, p)
        return found
    shape = count, own.shape[2]
    for c in range(samples):
        one, other = (part[:, min(c, part.shape[1] - 1)] for part in (own, mixed))
        if len(other) == 1:
            table = SparseMatrix(numbers, at, other[0], shape)
            found[:, c] = table.product(np.ascontiguousarray(one.T), p).T
        else:
            for o in range(outputs):
                values = times(one[min(o, len(one) - 1)][at], other[o], p)
                found[o, c, numbers[starts]] = added_groups(values[None], starts, p)[0]
    return found


def _moved_by_factors(
    factors: tuple[np.ndarray, np.ndarray], update: LowRank, U: Residues, V: Residues, p: int
) -> Residues:
    """Columns L[:, i] ⊗ (V R)[a] of the entries (i, a) of U, and (L U)[:, a] ⊗ R[j] of V."""
    L, R = factors
    left = matmul(L.reshape(-1, L.shape[-1]), U, p).reshape(*L.shape[:-1], -1)
    right = np.stack([matmul(V, block, p) for block in R])
    sides, k = {"U": (L, right), "V": (left, R)}, update.rank
    cells = [("U", i, a) for i in range(len(U)) for a in range(k)]
    cells += [("V", a, j) for a in range(k) for j in range(V.shape[1])]
    found = np.zeros((L.shape[1] * R.shape[2], len(cells)), np.int64)
    for start in range(0, len(cells), _AT_ONCE):
        check_time()
        part = slice(start, start + _AT_ONCE)
        found[:, part] = jacobian(sides, cells[part], p)
    return found


def more_degree_and_bits(shapes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Degree and bits of the entries of J_θ beyond those of J, from the updated matrices' shapes.

    Entries are sums of at most as many products of an entry of J and a further number as a matrix
    has cells.
    """
    cells = max((rows * columns for rows, columns in shapes), default=0)
    return min(cells, 1), cells.bit_length()
