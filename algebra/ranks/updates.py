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
from typing import Any, NamedTuple

import numpy as np

from algebra.linalg.residues import Residues, random_residues
from algebra.linalg.sparse import SparseMatrix
from algebra.linalg.sparse_blocks import SparseBlock
from algebra.networks.base import Network
from algebra.problems.updates import Gain, Tied, Update
from algebra.programs.arrays import ArrayArithmetic
from algebra.time_limits import check_time

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
    moves: MovedCells,
    shape: tuple[int, int],
    count: int,
    arithmetic: ArrayArithmetic,
) -> np.ndarray:
    """The columns of parameters that move cells, from the factors of their matrix.

    They are Σ times[i, j] L[:, i] ⊗ R[j, :], the sum over the cells that one moves.  The sums over
    j, as functions of i and the parameter, are a product of a sparse matrix and R.

    Parameters
    ----------
    factors : (ndarray, ndarray)
        L and R of the matrix (`HasJacobian.modular_tangents`).
    moves : MovedCells
    shape : (int, int)
        Of the matrix.
    count : int
        Number of parameters.
    arithmetic : ArrayArithmetic

    Returns
    -------
    ndarray, shape (d, label columns, count)
    """

    def product(table: SparseMatrix, b: np.ndarray) -> np.ndarray:
        block: Any = SparseBlock(table)
        return arithmetic.sum_of_products([("ij", block), ("j", b)], "i")

    (L, R), (rows, columns) = factors, shape
    steps, samples = len(L), R.shape[2]
    pairs, of = np.unique(moves.numbers * rows + moves.rows, return_inverse=True)
    mix = SparseMatrix.sorted(of, moves.columns, moves.times, (len(pairs), columns))
    mixed = product(mix, R.swapaxes(0, 1).reshape(columns, -1)).reshape(-1, samples)
    # One product for each sample: the sum over the steps, too.
    number, at = np.divmod(pairs, rows)
    number, at = np.repeat(number, steps), (at[:, None] + rows * np.arange(steps)).ravel()
    order = np.lexsort((at, number))
    found = np.empty((samples, L.shape[1], count), np.result_type(L, mixed))
    for c in range(samples):
        check_time()
        left = L if L.ndim == 3 else L[:, :, c]
        values = SparseMatrix(number[order], at[order], mixed[order, c], (count, steps * rows))
        found[c] = product(values, left.swapaxes(1, 2).reshape(steps * rows, -1)).T
    return found.swapaxes(0, 1)


def more_degree_and_bits(shapes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Degree and bits of the entries of J_θ beyond those of J, from the updated matrices' shapes.

    Entries are sums of at most as many products of an entry of J and a further number as a matrix
    has cells.
    """
    cells = max((rows * columns for rows, columns in shapes), default=0)
    return min(cells, 1), cells.bit_length()
