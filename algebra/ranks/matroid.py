"""Bases of the matroid of an allocation: sub-allocations with independent equations.

The columns of the generic Jacobian form a linear matroid on the weights.  A basis inside
an allocation is a sub-allocation with as many weights as independent equations; if it is
maximal, so is the allocation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from algebra.linalg.modular import random_prime
from algebra.matroids.linear import LinearMatroid
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.ranks.generic_rank import generic_rank
from algebra.ranks.jacobian import columns_at, random_point


def candidate_bases(
    allocation: Allocation,
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    count: int,
) -> Iterator[tuple[Cell, ...]]:
    """Sub-allocations of full rank, the ones concentrated on few rows or columns first.

    Few rows (or columns), each with as many weights as it has equations, leave a linear
    system (Theorem 3.5), so the cells are first taken greedily in order of rows, then of
    columns, both from the fullest line to the emptiest; then in random order.
    """
    rng = random.Random(f"bases/{seed}")
    cells = list(allocation.cells)
    rows = {name: allocation.row_counts(name) for name in allocation.matrices}
    columns = {name: allocation.column_counts(name) for name in allocation.matrices}
    orders = [
        sorted(cells, key=lambda c: (-rows[c[0]][c[1]], c[0], c[1], c[2])),
        sorted(cells, key=lambda c: (-columns[c[0]][c[2]], c[0], c[2], c[1])),
    ]
    seen = set()
    for attempt in range(count):
        order = orders[attempt] if attempt < len(orders) else rng.sample(cells, len(cells))
        basis = greedy_basis(allocation, order, rank, support, seed)
        if basis is not None and basis not in seen:
            seen.add(basis)
            yield basis


def smallest_circuit(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> tuple[Cell, ...]:
    """A small set of learnable weights that depend on each other; empty where none do.

    A circuit of the matroid: its Jacobian columns are dependent, those of every proper
    subset are not, so one of its weights is wasted.  The smallest of the fundamental
    circuits of one basis at one random point; not always the smallest of all.

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> smallest_circuit(Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]]))
    (('W', 0, 0), ('W', 0, 1), ('W', 0, 2))
    """
    cells = list(allocation.cells)
    if not cells:
        return ()
    circuits = _matroid(allocation.network, cells, support, seed).circuits()
    return tuple(cells[k] for k in min(circuits, key=lambda c: (len(c), c), default=()))


def greedy_basis(
    allocation: Allocation,
    order: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
) -> tuple[Cell, ...] | None:
    """The first cells in an order whose Jacobian columns are independent."""
    matroid = _matroid(allocation.network, order, support, seed)
    found = matroid.greedy(range(len(order)), rank)
    if len(found) < rank:
        return None
    chosen = {order[k] for k in found}
    basis = tuple(cell for cell in allocation.cells if cell in chosen)
    return (
        basis
        if generic_rank(allocation.network, basis, support=support, upper=rank, seed=seed).rank
        == rank
        else None
    )


def _matroid(
    network: Network,
    cells: Sequence[Cell],
    support: Mapping[str, np.ndarray] | None,
    seed: int,
) -> LinearMatroid:
    """The matroid of some weights: their Jacobian columns at a random point."""
    rng = random.Random(f"basis/{seed}")
    p = random_prime(rng)
    point = random_point(network, p, rng.randrange(1 << 32), support)
    return LinearMatroid(columns_at(network, point, cells), p)
