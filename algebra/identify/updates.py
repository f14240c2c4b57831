r"""Which weights the data determine where matrices learn by updates.

Parameters of a low-rank update are never determined: U G and V G⁻ᵀ lead to the same matrix.  What
can be is the matrix.  So the question is asked of the weights w(θ): near a generic solution those
with the same labels form a manifold whose tangent is F = (∂w/∂θ)(ker J_θ), of dimension
dim{w} − ρ_θ (the gauge lies in the kernel of both).  A weight is determined if all of F vanishes
there; free weights form *groups*, the connected components of the matroid whose circuits are the
smallest supports of vectors of F: F is the direct sum of its parts on the groups, and no finer
sum.  Where single cells learn, ∂w/∂θ is the identity and this is `algebra.identify.fibre`.

A matroid and its dual have the same components, and those of a matrix in reduced echelon form are
the components of the graph that joins each pivot to the other entries ≠ 0 of its row [1]_.

References
----------
.. [1] J. Oxley, "Matroid Theory", Oxford University Press 2011, Sections 4.1 and 4.2.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from algebra.identify.fibre import Fibre
from algebra.linalg.modular import echelon, random_prime
from algebra.networks.base import Cell
from algebra.problems.updates import Learning
from algebra.ranks.generic_rank import TARGET_ERROR
from algebra.ranks.jacobian import random_point
from algebra.ranks.updates import learning_columns, learning_error, learning_rank, moved_weights


def learning_fibre(learning: Learning, *, seed: int = 0, upper: int | None = None) -> Fibre:
    """The fibre of all that learns, as one of weights: which are determined locally.

    Parameters
    ----------
    learning : Learning
    seed : int, optional
    upper : int, optional
        Rank of the whole network's Jacobian, where it is known.

    Returns
    -------
    Fibre
        Its `size` is the dimension of the students, without gauge.

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> net = LinearEstimator(q=3, d=3, m=3)
    >>> found = learning_fibre(Problem(net, {"W": {"lora": 1}}).learning)
    >>> found.size, found.dimension, len(found.determined)
    (5, 0, 9)
    """
    cells = learning.moving.cells
    own = learning_rank(learning, upper, seed)
    size = learning.dimension
    if own.rank == size:
        return Fibre(own, size, cells, (), Fraction(0))
    rng = random.Random(f"fibre of updates/{seed}")
    # The component that each cell is known to be in, by its smallest number.
    part = np.arange(len(cells))
    moved = np.zeros(len(cells), bool)
    error = Fraction(1)
    while error >= TARGET_ERROR:
        p = random_prime(rng)
        point = random_point(learning.network, p, rng.randrange(1 << 32), learning.support)
        kernel = _kernel(learning_columns(learning, point), p)
        if learning.size - len(kernel) < own.rank:
            continue
        table, pivots = echelon(moved_weights(learning, point, kernel), p)
        before = part.copy(), moved.copy()
        for row in table[: len(pivots)] != 0:
            moved |= row
            joined = np.unique(part[row])
            part[np.isin(part, joined)] = joined[0]
        # A new dependence shows that the points so far were unlucky ones: they do not count.
        grown = (before[0] != part).any() or (before[1] != moved).any()
        missed = learning_error(learning, max(own.rank, 1)) * len(cells)
        error = missed if grown else error * missed
    groups: dict[int, list[Cell]] = {}
    for k in np.flatnonzero(moved):
        groups.setdefault(int(part[k]), []).append(cells[k])
    determined = tuple(cells[k] for k in np.flatnonzero(~moved))
    free = tuple(tuple(group) for group in groups.values())
    return Fibre(own, size, determined, free, min(error, Fraction(1)) + own.error)


def _kernel(matrix: np.ndarray, p: int) -> np.ndarray:
    """A basis of the null space modulo p, a row each."""
    table, pivots = echelon(matrix, p)
    free = sorted(set(range(matrix.shape[1])) - set(pivots))
    out = np.zeros((len(free), matrix.shape[1]), np.int64)
    for k, column in enumerate(free):
        out[k, column] = 1
        out[k, list(pivots)] = -table[: len(pivots), column] % p
    return out
