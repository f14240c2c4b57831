r"""The effect of adding or removing any one weight on the rank of an allocation.

Let J_A (E×r) be the Jacobian of the labels with respect to the learnable weights at a random
point over GF(p), k its rank.

*Adding.*  A weight c raises the rank if its column is not in the span of J_A, that is if some κ
with κ J_A = 0 has κ·J_c ≠ 0.  For a random κ of that left null space this fails with probability
1/p.  The column of the cell (i, j) is Σ_s L_s[:, i] ⊗ R_s[j, :], so for κ written as a d×columns
matrix K all cells of a weight matrix have κ·J_c = (Σ_s L_sᵀ K R_sᵀ)[i, j]: a few small products,
without the Jacobian of the whole network.  If units have their own slopes for each sample c,
L_s[:, c, i] depends on it, and L_sᵀ K becomes the matrix of L_s[:, c, i]·K[:, c].

*Removing.*  A weight a lowers the rank if it is a *coloop*: in no circuit inside A, so that every ν
with J_A ν = 0 has ν_a = 0; a random ν of the null space decides this.

Both null spaces follow from one reduced echelon form, that of (J_A | I): its rows with pivots in
J_A express the other columns of J_A in a basis, and the right parts of the other rows are a basis
of the left null space.  If there are many more weights than equations, the columns outside a basis
are replaced by random combinations of them, which have the same span.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.linalg.echelon import independent_columns, modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues, random_residues, times
from algebra.linalg.sums import added
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Allocation
from algebra.ranks.deficits import deficit_error, prime_bits
from algebra.ranks.jacobian import jacobian, random_point, tangent_factors

# Number of random combinations that represent the columns beyond a basis.
_MIXED = 4


@dataclass(frozen=True)
class WhatIf:
    """The rank of an allocation, and the effect of one weight more or less.

    Attributes
    ----------
    rank : int
        At the point: a proven lower bound of the generic rank.
    raises : mapping of str to ndarray of bool
        For each matrix the fixed weights that would raise the rank by 1.
    lowers : mapping of str to ndarray of bool
        For each matrix the learnable weights whose removal lowers the rank by 1.
    error : Fraction
        Bound on the probability that any one of these answers is wrong.
    """

    rank: int
    raises: Mapping[str, np.ndarray]
    lowers: Mapping[str, np.ndarray]
    error: Fraction


def what_if(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    seed: int = 0,
) -> WhatIf:
    """The effect of adding or removing any one weight on the rank.

    Parameters
    ----------
    allocation : Allocation
        The labels of its network are analytic in the weights.
    support : mapping of str to mask, optional
        Weights outside do not exist: they do not raise the rank.
    seed : int, optional
        It determines the prime and the point.

    Returns
    -------
    WhatIf

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> found = what_if(Allocation.from_masks(net, W=[[1, 1, 1], [0, 0, 0]]))
    >>> found.rank, found.raises["W"].astype(int).tolist(), bool(found.lowers["W"].any())
    (2, [[0, 0, 0], [1, 1, 1]], False)
    """
    network, support = allocation.network, support or {}
    rng = random.Random(f"what if/{seed}")
    bound = min(len(allocation.cells) + 1, network.outputs)
    p = random_prime(rng, prime_bits(jacobian_of(network), bound))
    point = random_point(network, p, rng.randrange(1 << 32), support)
    factors = tangent_factors(network, point)
    cells, outputs = list(allocation.cells), network.outputs
    J = jacobian(factors, cells, p)
    columns = np.arange(len(cells))
    if len(cells) > 2 * outputs + 64:
        columns, J = _basis_and_mixtures(J, p, rng)
    r = J.shape[1]
    table, pivots = modular_echelon(np.hstack([J, np.eye(outputs, dtype=np.int64)]), p)
    rank = sum(pivot < r for pivot in pivots)

    lowers = {name: np.zeros(shape, bool) for name, shape in network.shapes.items()}
    basis = set(pivots[:rank])
    others = [k for k in range(r) if k not in basis]
    # The pivots' entries of a random vector in the null space, up to the sign.
    needed = matmul(table[:rank, others], random_residues((len(others), 1), p, rng), p)[:, 0]
    for row in np.flatnonzero(needed == 0):
        name, i, j = cells[int(columns[pivots[row]])]
        lowers[name][i, j] = True

    raises = {name: np.zeros(shape, bool) for name, shape in network.shapes.items()}
    left = table[rank:, r:]
    if len(left):
        mix = random_residues((1, len(left)), p, rng)
        K = matmul(mix, left, p).reshape(network.d, network.columns)
        learning = allocation.masks
        for name, (L, R) in factors.items():
            if L.ndim == 4:
                left_part = added(times(L, K[None, :, :, None], p), 1, p).transpose(0, 2, 1)
            else:
                left_part = matmul(L.transpose(0, 2, 1), K, p)
            moved = matmul(left_part, R.transpose(0, 2, 1), p)
            free = learning[name] == 0
            if name in support:
                free = free & (np.asarray(support[name]) != 0)
            raises[name] = (added(moved, 0, p) != 0) & free
    # Errors of two ranks at the point, of the random vector, and of the combinations.
    error = 2 * deficit_error(jacobian_of(network), bound) + Fraction(2 + 2 * _MIXED, p)
    return WhatIf(rank, raises, lowers, error)


def _basis_and_mixtures(J: Residues, p: int, rng: random.Random) -> tuple[np.ndarray, Residues]:
    """A basis of the columns, and combinations of all others; returns the numbers of the former."""
    count, rows = J.shape[1], J.shape[0]
    order = np.array(rng.sample(range(count), count))
    stop = 2 * rows + 64
    while True:
        pivots = independent_columns(J[:, order[:stop]], p)
        basis = order[pivots]
        rest = np.setdiff1d(order, basis)
        mixed = matmul(J[:, rest], random_residues((len(rest), _MIXED), p, rng), p)
        full = np.hstack([J[:, basis], mixed])
        # Combinations of columns outside the span of the basis would be independent of it.
        if stop >= count or modular_rank(full, p) == len(basis):
            return basis, full
        stop = min(count, 2 * stop)
