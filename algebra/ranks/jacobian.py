r"""Generic ranks of the Jacobian, decided over GF(p): the exact test for MP = 0.

Let J_A be the Jacobian of vec(Y) with respect to the learnable weights, J the one with
respect to all weights, both at a generic point, ρ_A and ρ their ranks.

**Theorem.** For weights and teacher with a density that is positive everywhere,
MP(A) = 0 if and only if ρ_A < ρ.

*Proof.* Fix X.  The labels of all students and teachers lie in the image V of the network
map, whose dimension is ρ (generic rank = dimension of the image, in characteristic 0).
For fixed weights c the students of A reach the image V_{A,c} ⊆ V, of dimension ρ_A for
generic c.  If ρ_A < ρ, V_{A,c} is a null set of V for almost every c, and the teacher's
labels, which have a density on V, miss it.  If ρ_A = ρ, then at a generic weight vector
the restricted map has rank ρ, so its image contains a neighbourhood in V of that
student's labels, for all c nearby; teachers near it have positive probability. ∎

It covers every polynomial network, mixed allocations, r ≠ dm, m > Tb, dependent samples
and structural zeros.

The Jacobian's columns have one form for every network here: the cell (i, j) of a matrix
contributes

.. math:: \sum_s L_s[:, i] ⊗ R_s[j, :],

for the recurrent W with L_s = D W^{T-s}, R_s = h_s (s = 1, …, T), for B with
L_t = D W^{T-t+1}, R_t = X_t, for a layer with L = W_L … W_{l+1}, R = F_{l-1}.

**What is proved.** Over GF(p) at one random point a rank can only be smaller than the
generic rank over Q.  So a rank that meets an a-priori upper bound is exact, and the point
is a proof.  A deficit may be bad luck: a ρ×ρ minor that is not the zero polynomial vanishes
at the random point with probability at most (its degree)/p (Schwartz–Zippel), or p may
divide all its coefficients.  The minor has degree at most ρ·e, e the degree of the entries,
and its coefficients are bounded by ρ! ℓ^ρ, ℓ the sum of the absolute coefficients of an
entry; so at most log2(ρ! ℓ^ρ)/30 primes of 31 bits divide them, out of 5·10^7 from which p
is drawn.  Independent points and primes multiply these bounds.

References
----------
.. [1] J. T. Schwartz, "Fast probabilistic algorithms for verification of polynomial
   identities", J. ACM 27 (1980).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.linalg.modular import (
    PRIME_COUNT,
    Residues,
    matmul,
    random_prime,
    random_residues,
    rank,
)
from algebra.networks.base import Network
from algebra.networks.chain import Factors, need_chain
from algebra.problems.allocation import Allocation, Cell
from algebra.time_limits import check_time

# A probabilistic answer is repeated until its error bound is below this.
TARGET_ERROR = Fraction(1, 2**60)


@dataclass(frozen=True)
class Point:
    """A random point over GF(p): weights and samples.

    Attributes
    ----------
    p : int
    seed : int
        The point follows from (network, support, p, seed); see `random_point`.
    weights : dict of str to ndarray of int64
    X : ndarray of int64
    """

    p: int
    seed: int
    weights: Mapping[str, Residues]
    X: Residues


def random_point(
    network: Network, p: int, seed: int, support: Mapping[str, np.ndarray] | None = None
) -> Point:
    """The point number `seed` over GF(p): uniform residues, zero outside the support."""
    rng = random.Random(f"{p}/{seed}")
    weights = {name: random_residues(shape, p, rng) for name, shape in network.shapes.items()}
    for name, mask in (support or {}).items():
        weights[name] = weights[name] * np.asarray(mask, dtype=np.int64)
    return Point(p, seed, weights, random_residues(network.input_shape, p, rng))


def tangent_factors(network: Network, point: Point, names: Sequence[str] | None = None) -> Factors:
    """The factors L (S×d×rows) and R (S×columns×label columns) of each matrix at a point.

    Parameters
    ----------
    network : Network
        A chain.
    point : Point
    names : sequence of str, optional
        Only these matrices.
    """
    p = point.p
    return need_chain(network).tangents(
        point.weights, point.X, names, lambda a, b: matmul(a, b, p), lambda a: a % p
    )


def jacobian(factors: Factors, cells: Sequence[Cell], p: int) -> Residues:
    """Columns of the Jacobian of vec(Y) for some cells, modulo p.

    Returns
    -------
    ndarray of int64, shape (dm, number of cells)
        Row k·m + c holds the derivative of Y[k, c].
    """
    some = next(iter(factors.values()))
    d, m = some[0].shape[1], some[1].shape[2]
    out = np.empty((len(cells), d * m), np.int64)
    lines: dict[tuple[str, int], list[int]] = {}
    for k, (name, i, _) in enumerate(cells):
        lines.setdefault((name, i), []).append(k)
    for (name, i), members in lines.items():
        L, R = factors[name]
        columns = [cells[k][2] for k in members]
        # (d×S) times (S × cells·m): the sum over steps in one product.
        product = matmul(L[:, :, i].T, R[:, columns, :].reshape(L.shape[0], -1), p)
        out[members] = product.reshape(d, len(members), m).transpose(1, 0, 2).reshape(-1, d * m)
    return out.T


def columns_at(network: Network, point: Point, cells: Sequence[Cell]) -> Residues:
    """Columns of the Jacobian (dm × number of cells) for some cells at a point."""
    names = sorted({cell[0] for cell in cells})
    return jacobian(tangent_factors(network, point, names), cells, point.p)


def all_cells(network: Network, support: Mapping[str, np.ndarray] | None = None) -> list[Cell]:
    """Every weight that exists."""
    support = support or {}
    return [
        (name, i, j)
        for name, (rows, columns) in network.shapes.items()
        for i in range(rows)
        for j in range(columns)
        if name not in support or support[name][i, j]
    ]


def deficit_error(network: Network, rank_bound: int) -> Fraction:
    """Probability bound that one random prime and point show too small a rank.

    Parameters
    ----------
    network : Network
    rank_bound : int
        Upper bound on the true generic rank.
    """
    chain = need_chain(network)
    degree = rank_bound * chain.entry_degree
    bits = rank_bound * (rank_bound.bit_length() + chain.entry_norm.bit_length())
    # The last term is for the random combinations of `rank_at`.
    vanishing = Fraction(degree + rank_bound, 1 << 30)
    return vanishing + Fraction(bits // 30 + 1, PRIME_COUNT)


@dataclass(frozen=True)
class GenericRank:
    """A generic rank and how it is known.

    Attributes
    ----------
    rank : int
        Largest rank met: a proven lower bound for the generic rank.
    upper : int
        An a-priori upper bound.
    p, seed : int
        Prime and point number of the witness: there the rank is attained.
    points : tuple of (int, int)
        All (prime, point number) pairs tried.
    error : Fraction
        Bound on the probability that the generic rank is larger; 0 where it is proved.
    """

    rank: int
    upper: int
    p: int
    seed: int
    points: tuple[tuple[int, int], ...]
    error: Fraction

    @property
    def is_proved(self) -> bool:
        """Whether the rank meets its upper bound."""
        return self.error == 0


def generic_rank(
    network: Network,
    cells: Sequence[Cell],
    *,
    support: Mapping[str, np.ndarray] | None = None,
    upper: int | None = None,
    seed: int = 0,
    target: Fraction = TARGET_ERROR,
) -> GenericRank:
    """Generic rank of the Jacobian with respect to some cells.

    Parameters
    ----------
    network : Network
    cells : sequence of cells
    support : mapping of str to mask, optional
    upper : int, optional
        A known upper bound, such as the rank of the whole Jacobian.
    seed : int, optional
        Primes and points follow from it.
    target : Fraction, optional
        Points are added until the error bound is below this.

    Returns
    -------
    GenericRank
    """
    bound = min(len(cells), need_chain(network).label_dimension_bound)
    if upper is not None:
        bound = min(bound, upper)
    rng = random.Random(f"primes/{seed}")
    best, witness = -1, (0, 0)
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    names = sorted({cell[0] for cell in cells})
    while error >= target:
        check_time()
        p, number = random_prime(rng), rng.randrange(1 << 32)
        points.append((p, number))
        point = random_point(network, p, number, support)
        found = rank_at(network, point, cells, names, bound)
        if found > best:
            best, witness, error = found, (p, number), Fraction(1)
        if best >= bound:
            error = Fraction(0)
            break
        # A larger rank would have shown at each of the points that met `best`.
        error *= deficit_error(network, bound)
    return GenericRank(best, bound, *witness, tuple(points), error)


def rank_at(
    network: Network, point: Point, cells: Sequence[Cell], names: Sequence[str], bound: int
) -> int:
    """Rank at one point, or a lower bound of it that is at least as likely to meet `bound`.

    Where only the output matrix learns, its columns are e_i ⊗ R[j]: one block for each row i,
    so the rank is the sum of the ranks of R restricted to the columns j that learn in row i.

    Of very many cells a random subset is tried first: where its rank meets the bound, so
    does the whole.  Otherwise random combinations of all columns are ranked: rank(J C) is
    the smaller of rank(J) and `bound` for generic C with `bound` columns.
    """
    if not cells or not bound:
        return 0
    p = point.p
    factors = tangent_factors(network, point, names)
    if set(names) == {need_chain(network).chain().output}:
        return _output_rank(factors[names[0]][1][0], cells, p)
    rows = network.outputs
    if len(cells) <= 2 * bound + 64:
        return rank(jacobian(factors, cells, p), p)
    rng = random.Random(f"combine/{p}/{point.seed}")
    found = rank(jacobian(factors, rng.sample(list(cells), bound + bound // 4 + 16), p), p)
    if found >= bound:
        return found
    width = bound + 8
    total = np.zeros((rows, width), np.int64)
    step = max(1, 4_000_000 // rows)
    for start in range(0, len(cells), step):
        check_time()
        block = jacobian(factors, cells[start : start + step], p)
        mix = random_residues((block.shape[1], width), p, rng)
        total = (total + matmul(block, mix, p)) % p
    return rank(total, p)


def _output_rank(R: Residues, cells: Sequence[Cell], p: int) -> int:
    """Rank of the columns e_i ⊗ R[j] of the cells (i, j): the sum over the rows."""
    rows: dict[int, list[int]] = {}
    for _, i, j in cells:
        rows.setdefault(i, []).append(j)
    learning = Counter(tuple(sorted(columns)) for columns in rows.values())
    return sum(many * rank(R[list(columns)], p) for columns, many in learning.items())


def network_rank(
    network: Network, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> GenericRank:
    """Generic rank ρ of the whole network's Jacobian (the number of equations)."""
    return generic_rank(network, all_cells(network, support), support=support, seed=seed)


def allocation_rank(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    upper: int | None = None,
    seed: int = 0,
) -> GenericRank:
    """Generic rank ρ_A of an allocation's Jacobian."""
    return generic_rank(
        allocation.network, allocation.cells, support=support, upper=upper, seed=seed
    )
