r"""The generic Jacobian, and the exact test for MP = 0.

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

The theorem covers every polynomial network, mixed allocations, r ≠ dm, m > Tb, dependent samples
and structural zeros.

The Jacobian's columns have one form for every network here: the cell (i, j) of a matrix
contributes

.. math:: \sum_s L_s[:, i] ⊗ R_s[j, :],

for the recurrent W with L_s = D W^{T-s}, R_s = h_s (s = 1, …, T), for B with
L_t = D W^{T-t+1}, R_t = X_t, for a layer with L = W_L … W_{l+1}, R = F_{l-1}.

Ranks are found over GF(p): `algebra.ranks.generic_rank`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, random_residues, times
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import LABELS, ColumnFactors, Factors, Network, Point
from algebra.networks.masks import held
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.laws.pinned import residue, restrict

# Entries handled at a time if left factors differ between samples.
_AT_ONCE = 1 << 18
# Entries of factors from which on rows are computed a few at a time.
_MANY = 1 << 25
# About the bytes of a cell in a list, and cells that fit into any memory.
_BYTES_OF_CELL = 120
_FEW_CELLS = 1000


def random_point(
    network: Network, p: int, seed: int, support: Mapping[str, np.ndarray] | None = None
) -> Point:
    """The point number `seed` over GF(p): uniform residues, zero outside the support.

    Of a network at its own parameters their residues.
    A student's weights with exact numbers (`algebra.problems.laws.values`) have these.
    """
    if network.own_point is not None:
        own: Point = network.own_point.first(network.m).at(p, seed, network.shapes, residue(p))
        return own
    rng = random.Random(f"{p}/{seed}")
    # The matrices; parameters of updates are 0.
    drawn = base_of(network).shapes
    weights: dict[str, Any] = {}
    for name, shape in drawn.items():
        mask = held(support, name)
        if isinstance(mask, SparseMatrix):
            values = random_residues((len(mask.values),), p, rng)
            weights[name] = SparseMatrix(mask.rows, mask.columns, values, shape)
        else:
            weights[name] = random_residues(shape, p, rng)
    for name, shape in network.shapes.items():
        if name not in drawn:
            weights[name] = np.zeros(shape, np.int64)
    restrict(weights, support, residue(p))
    return Point(p, seed, weights, random_residues(network.input_shape, p, rng))


def base_of(network: Network) -> Network:
    """The network, without the parameters of updates as weights."""
    return getattr(network, "base", network)


def is_in_parts(network: Network) -> bool:
    """Whether there are so many factors that rows of labels are computed a few samples at a time.

    See `algebra.ranks.few_samples`.
    """
    return jacobian_of(base_of(network)).factor_entries(LABELS) > _MANY


def enough_samples(network: Network, columns: int) -> Network:
    """The network with fewer samples for which some columns of its Jacobian keep their rank.

    **Theorem.** The generic rank of c columns of J with m samples is that with min(m, c).

    *Proof.* At fixed generic weights the rows of one sample x span a space V(x) in K^c, and the
    rank with k samples is the dimension of S_k = V(x_1) + … + V(x_k) at generic x_1, …, x_k.  If
    S_{k+1} = S_k, then V(x) ⊆ S_k for generic x, so S_k stays the same from there on.  So the
    dimension grows with each sample until it is constant, and it is at most c. ∎

    It holds where one analytic function maps each sample to its label (`Network.smooth`).

    Parameters
    ----------
    network : Network
    columns : int
        Their number, c.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> enough_samples(LinearRNN(n=2, T=2, b=1, d=1, m=10**7), 8).m
    8
    """
    least = max(1, columns)
    return network.with_samples(least) if network.smooth and network.m > least else network


def at_enough_samples(network: Network, point: Point, columns: int) -> tuple[Network, Point]:
    """The network and the point with the first samples only, in the number of `enough_samples`.

    The rank there is at most that at the point itself, and the generic ranks are equal.
    """
    fewer = enough_samples(network, columns)
    if fewer is network:
        return network, point
    return fewer, point.of_samples(slice(fewer.m))


def tangent_factors(network: Network, point: Point, names: Sequence[str] | None = None) -> Factors:
    """The factors L and R of each matrix at a point: see `HasJacobian.modular_tangents`.

    Parameters
    ----------
    network : Network
    point : Point
    names : sequence of str, optional
        The matrices to differentiate by; by default all.
    """
    return jacobian_of(network).modular_tangents(point, names)


def jacobian(factors: Factors, cells: Sequence[Cell], p: int) -> Residues:
    """Columns of the Jacobian of vec(Y) for some cells, modulo p.

    Returns
    -------
    ndarray of int64, shape (dm, number of cells)
        Row k·m + c holds the derivative of Y[k, c].
    """
    if isinstance(factors, ColumnFactors):
        return factors.columns(cells)
    some = next(iter(factors.values()))
    d, m = some[0].shape[1], some[1].shape[2]
    out = np.empty((len(cells), d * m), np.int64)
    lines: dict[tuple[str, int], list[int]] = {}
    for k, (name, i, _) in enumerate(cells):
        # If the left factor depends on the sample there is no product of matrices, and the rows of
        # one matrix are treated together.
        lines.setdefault((name, -1 if factors[name][0].ndim == 4 else i), []).append(k)
    for (name, i), members in lines.items():
        L, R = factors[name]
        step = max(1, _AT_ONCE // max(1, d * m)) if i < 0 else len(members)
        for start in range(0, len(members), step):
            chosen = members[start : start + step]
            columns = [cells[k][2] for k in chosen]
            if i < 0:
                rows = [cells[k][1] for k in chosen]
                total = np.zeros((len(chosen), d, m), np.int64)
                for left, right in zip(L, R, strict=True):
                    total += times(left[:, :, rows].transpose(2, 0, 1), right[columns, None], p)
                    total -= (total >= p) * np.int64(p)
            else:
                # (d×S) times (S × cells·m): the sum over steps in one product.
                product = matmul(L[:, :, i].T, R[:, columns, :].reshape(L.shape[0], -1), p)
                total = product.reshape(d, len(chosen), m).transpose(1, 0, 2)
            out[chosen] = total.reshape(-1, d * m)
    return out.T


def columns_at(network: Network, point: Point, cells: Sequence[Cell]) -> Residues:
    """Columns of the Jacobian (dm × number of cells) for some cells at a point."""
    from algebra.ranks.size import FOR_ECHELON, check_size

    check_size(network, len(cells), per_entry=FOR_ECHELON)
    names = sorted({cell[0] for cell in cells})
    return jacobian(tangent_factors(network, point, names), cells, point.p)


def _number_of_cells(network: Network, support: Mapping[str, np.ndarray]) -> int:
    """How many weights exist."""
    count = 0
    for name, (rows, columns) in network.shapes.items():
        mask = held(support, name)
        if isinstance(mask, SparseMatrix):
            count += len(mask.rows)
        else:
            count += rows * columns if mask is None else int(np.count_nonzero(mask))
    return count


def all_cells(network: Network, support: Mapping[str, np.ndarray] | None = None) -> list[Cell]:
    """Every weight that exists."""
    support = support or {}
    count = _number_of_cells(network, support)
    if count > _FEW_CELLS:
        from algebra.memory_limits import check_memory

        check_memory(_BYTES_OF_CELL * count, f"a list of {count:,} weights")
    found: list[Cell] = []
    for name, shape in network.shapes.items():
        mask = held(support, name)
        if isinstance(mask, SparseMatrix):
            rows, columns = mask.rows, mask.columns
        else:
            rows, columns = np.nonzero(np.ones(shape, bool) if mask is None else mask)
        found += zip(repeat(name), rows.tolist(), columns.tolist(), strict=False)
    return found


def everything_learns(allocation: Allocation, support: Mapping[str, np.ndarray]) -> bool:
    """Whether every weight that exists learns."""
    # If there are fewer, the others, perhaps millions, are not listed.
    if len(allocation.cells) < _number_of_cells(allocation.network, support):
        return False
    return set(all_cells(allocation.network, support)) <= set(allocation.cells)
