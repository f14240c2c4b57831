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
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from algebra.linalg.modular import Residues, added_groups, matmul, random_residues, rank, times
from algebra.networks.base import Network, Point
from algebra.problems.learning import Learning
from algebra.problems.updates import Motion, Update
from algebra.ranks.generic_rank import (
    TARGET_ERROR,
    GenericRank,
    deficit_error,
    prime_bits,
    rank_at_points,
)
from algebra.ranks.jacobian import jacobian, tangent_factors
from algebra.ranks.size import FOR_ECHELON, check_size
from algebra.time_limits import check_time

# Number of cells whose columns are in memory at once.
_AT_ONCE = 2048
# The arrays of U and V, by matrix and letter.
Drawn = dict[str, dict[str, Residues]]


def drawn_parameters(network: Network, updates: Mapping[str, Update], p: int, seed: int) -> Drawn:
    """The parameters on which tangents depend, at the point with this number.

    Parameters
    ----------
    network : Network
    updates : mapping of str to Update
        In the network's order.
    p, seed : int
        Prime and number of the point (`algebra.ranks.jacobian.Point`).
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


def learning_columns(learning: Learning, point: Point) -> Residues:
    """J_θ at a point: a column for each parameter, in their order.

    Returns
    -------
    ndarray of int64, shape (dm, size)
    """
    network, p = learning.network, point.p
    check_size(network, learning.size, per_entry=FOR_ECHELON)
    factors = tangent_factors(network, point, sorted(learning.matrices))
    parts = [jacobian(factors, learning.cells, p)] if learning.cells else []
    drawn = drawn_parameters(network, learning.updates, p, point.seed)
    for name, update in learning.updates.items():
        parts.append(moved_columns(factors[name], update, point.weights[name], drawn[name], p))
    if not parts:
        return np.zeros((network.outputs, 0), np.int64)
    return np.hstack(parts)


def moved_columns(
    factors: tuple[np.ndarray, np.ndarray],
    update: Update,
    W: Residues,
    drawn: Mapping[str, Residues],
    p: int,
) -> Residues:
    """The columns of all parameters of an update, from the factors of its matrix.

    Parameters
    ----------
    factors : (ndarray, ndarray)
        L and R of the matrix (`Network.modular_tangents`).
    update : Update
    W : ndarray
        The updated matrix.
    drawn : mapping of str to ndarray
        Parameters of this matrix (`drawn_parameters`).
    p : int
    """
    return np.hstack([_moved(factors, motion, p) for motion in update.motions(W, drawn)])


def _moved(factors: tuple[np.ndarray, np.ndarray], motion: Motion, p: int) -> Residues:
    """Columns Σ (L left)[:, i] ⊗ (right R)[j, :] of the motion's places."""
    L, R = factors
    if motion.left is not None:
        L = matmul(L.reshape(-1, L.shape[-1]), motion.left, p).reshape(*L.shape[:-1], -1)
    if motion.right is not None:
        R = np.stack([matmul(motion.right, block, p) for block in R])
    places = [(k, i, j) for k, own in enumerate(motion.places) for i, j in own]
    found = np.zeros((L.shape[1] * R.shape[2], len(motion.places)), np.int64)
    for start in range(0, len(places), _AT_ONCE):
        check_time()
        part = places[start : start + _AT_ONCE]
        columns = jacobian({"": (L, R)}, [("", i, j) for _, i, j in part], p)
        if motion.times is not None:
            weights = np.array([motion.times[i, j] for _, i, j in part], np.int64)
            columns = times(columns, weights[None, :], p)
        owners, starts = np.unique([k for k, _, _ in part], return_index=True)
        if len(owners) < len(part):
            columns = added_groups(columns, starts, p)
        found[:, owners] = (found[:, owners] + columns) % p
    return found


def learning_error(learning: Learning, bound: int, bits: int) -> Fraction:
    """Probability bound that one random prime and point show too small a rank of J_θ."""
    return deficit_error(learning.network, bound, *_more(learning), bits=bits)


def learning_bits(learning: Learning, bound: int, below: Fraction) -> int:
    """Bits of the primes such that `learning_error` is below this, or 61."""
    return prime_bits(learning.network, bound, *_more(learning), below=below)


def _more(learning: Learning) -> tuple[int, int]:
    shapes = learning.network.shapes
    return more_degree_and_bits(shapes[name] for name in learning.updates)


def more_degree_and_bits(shapes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Degree and bits of the entries of J_θ beyond those of J, from the updated matrices' shapes.

    Entries are sums of at most as many products of an entry of J and a further number as a matrix
    has cells.
    """
    cells = max((rows * columns for rows, columns in shapes), default=0)
    return min(cells, 1), cells.bit_length()


def learning_rank(
    learning: Learning,
    upper: int | None = None,
    seed: int = 0,
    target: Fraction = TARGET_ERROR,
) -> GenericRank:
    """Generic rank ρ_θ of all learnable parameters.

    Parameters
    ----------
    learning : Learning
    upper : int, optional
        A known upper bound, such as the rank of the whole Jacobian.
    seed, target : optional
        As for `algebra.ranks.generic_rank.generic_rank`.

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> net = LinearEstimator(q=4, d=3, m=3)
    >>> [learning_rank(Problem(net, {"W": {"lora": k}}).learning).rank for k in (1, 2, 3)]
    [5, 8, 9]
    """
    network = learning.network
    bound = min(learning.dimension, network.label_dimension_bound)
    if upper is not None:
        bound = min(bound, upper)
    more_degree, more_bits = _more(learning)
    return rank_at_points(
        network, bound, lambda point: rank(learning_columns(learning, point), point.p),
        more_degree=more_degree, more_bits=more_bits, support=learning.support, seed=seed,
        target=target,
    )  # fmt: skip


def moved_weights(learning: Learning, point: Point, steps: Residues) -> Residues:
    """Changes of the weights in directions of θ: (∂w/∂θ) step, for each step.

    Parameters
    ----------
    learning : Learning
    point : Point
    steps : ndarray of int64, shape (count, size)

    Returns
    -------
    ndarray of int64, shape (count, number of moving cells)
        Cells in the order of `learning.moving`.
    """
    network, p, count = learning.network, point.p, len(steps)
    moved = {name: np.zeros((count, *network.shapes[name]), np.int64) for name in learning.matrices}
    for k, (name, i, j) in enumerate(learning.cells):
        moved[name][:, i, j] = steps[:, k]
    at = len(learning.cells)
    drawn = drawn_parameters(network, learning.updates, p, point.seed)
    for name, update in learning.updates.items():
        rows, columns = network.shapes[name]
        for motion in update.motions(point.weights[name], drawn[name]):
            left, right = motion.left, motion.right
            inner = (
                rows if left is None else left.shape[1],
                columns if right is None else right.shape[0],
            )
            # Each direction as left · step · right, the step with its entries at their places.
            placed = np.zeros((count, *inner), np.int64)
            for places in motion.places:
                for i, j in places:
                    step = steps[:, at]
                    if motion.times is not None:
                        step = times(step, np.full_like(step, motion.times[i, j]), p)
                    placed[:, i, j] = (placed[:, i, j] + step) % p
                at += 1
            if left is not None:
                placed = np.stack([matmul(left, step, p) for step in placed])
            if right is not None:
                placed = np.stack([matmul(step, right, p) for step in placed])
            moved[name] = (moved[name] + placed) % p
    out = np.empty((count, learning.moving.size), np.int64)
    for k, (name, i, j) in enumerate(learning.moving.cells):
        out[:, k] = moved[name][:, i, j]
    return out
