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

The rank itself is that of the parameters as weights of their own: `algebra.ranks.parametrized`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import numpy as np

from algebra.linalg.modular import Residues, added_groups, matmul, random_residues, times
from algebra.networks.base import Network
from algebra.problems.updates import Motion, Update
from algebra.ranks.jacobian import jacobian
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


def more_degree_and_bits(shapes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Degree and bits of the entries of J_θ beyond those of J, from the updated matrices' shapes.

    Entries are sums of at most as many products of an entry of J and a further number as a matrix
    has cells.
    """
    cells = max((rows * columns for rows, columns in shapes), default=0)
    return min(cells, 1), cells.bit_length()
