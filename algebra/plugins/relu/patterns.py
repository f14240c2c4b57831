r"""Activation patterns of a shallow ReLU net: the linear system of each, and its rank.

With the pattern P fixed (which hidden unit is active on which sample), the labels are
linear in W1 and in W2.  The cell (i, j) of W1 contributes W2[:, i] ⊗ (P[i, :] ∘ X[j, :]),
the cell (k, i) of W2 contributes e_k ⊗ (P ∘ W1 X)[i, :] (Lemma D.2 of the first paper).

Lemmas D.3 and D.4 exclude patterns by counting, if no sample's right-hand side (the labels minus
the contribution of the units with fixed rows) is exactly 0:

* D.3: a sample on which fewer than d learning units are active has d equations of smaller rank,
  and a generic right-hand side is outside it;
* D.4: a unit active on fewer samples than it has learnable weights has dependent columns, so
  the square system of r = dm weights is singular.

References
----------
.. [1] O. Schlisselberg, R. Darshan, "The impact of allocation strategies in subset learning
   on the expressive power of neural networks", arXiv 2502.06300, Appendix D.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from algebra.errors import InputError
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import batched_rank
from algebra.linalg.residues import Residues, random_residues
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation


@dataclass(frozen=True)
class PatternRanks:
    """Ranks of the linear systems of some activation patterns.

    Attributes
    ----------
    ranks : tuple of int
        For each pattern the rank at a random point over GF(p): a lower bound on its generic rank,
        and equal to it unless the point is unlucky.
    needed : int
        dm, the number of equations.
    prime, seed : int
    """

    ranks: tuple[int, ...]
    needed: int
    prime: int
    seed: int

    @property
    def full(self) -> int:
        """Number of patterns whose system has full rank."""
        return sum(rank == self.needed for rank in self.ranks)


def pattern_jacobians(
    allocation: Allocation, patterns: np.ndarray, p: int, rng: random.Random
) -> Residues:
    """Jacobians of the labels, one for each pattern, at one random point.

    Parameters
    ----------
    allocation : Allocation
        An allocation of a `ShallowReLU`.
    patterns : ndarray of 0 and 1, shape (N, n, m)
    p : int
    rng : random.Random

    Returns
    -------
    ndarray of int64, shape (N, dm, r)
    """
    network = _relu(allocation)
    W1, W2, X = (
        random_residues(shape, p, rng)
        for shape in (network.shapes["W1"], network.shapes["W2"], network.input_shape)
    )
    patterns = np.asarray(patterns, np.int64)
    if patterns.ndim != 3 or patterns.shape[1:] != (network.n, network.m):
        raise InputError(f"`patterns` {patterns.shape} must be (N, {network.n}, {network.m})")
    hidden = matmul(W1, X, p)
    columns = np.zeros((len(patterns), network.d, network.m, allocation.size), np.int64)
    for k, (name, i, j) in enumerate(allocation.cells):
        if name == "W1":
            active = patterns[:, i, :] * X[j]
            columns[..., k] = W2[:, i][None, :, None] * active[:, None, :] % p
        else:
            columns[:, i, :, k] = patterns[:, j, :] * hidden[j] % p
    return columns.reshape(len(patterns), network.outputs, allocation.size)


def sample_pattern_ranks(
    allocation: Allocation, count: int = 200, *, seed: int = 0
) -> PatternRanks:
    """Ranks of `count` uniformly random patterns, the all-active one first.

    Examples
    --------
    >>> net = ShallowReLU(q=3, n=4, d=2, m=2)
    >>> mask = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    >>> found = sample_pattern_ranks(Allocation.from_masks(net, W1=mask), 50)
    >>> found.ranks[0], found.needed
    (4, 4)
    """
    network = _relu(allocation)
    rng = random.Random(f"patterns/{seed}")
    p = random_prime(rng)
    patterns = random_residues((count, network.n, network.m), 2, rng)
    patterns[0] = 1
    ranks = batched_rank(pattern_jacobians(allocation, patterns, p, rng), p)
    return PatternRanks(tuple(int(r) for r in ranks), network.outputs, p, seed)


def patterns_left_by_D3(k: int, d: int, m: int) -> int:
    """Number of the 2^(km) patterns that Lemma D.3 leaves: (Σ_{j ≥ d} C(k, j))^m."""
    return sum(comb(k, j) for j in range(d, k + 1)) ** m


def patterns_left_by_D4(row_counts: Sequence[int], m: int) -> int:
    """Number of the 2^(km) patterns that Lemma D.4 leaves: Π_i Σ_{j ≥ r_i} C(m, j).

    Examples
    --------
    >>> patterns_left_by_D4([2, 1], m=3)
    28
    """
    total = 1
    for r in row_counts:
        total *= sum(comb(m, j) for j in range(r, m + 1))
    return total


def _relu(allocation: Allocation) -> ShallowReLU:
    network = allocation.network
    if not isinstance(network, ShallowReLU):
        raise InputError(f"activation patterns belong to ReLU nets, not to a {network.title}")
    return network
