"""Bases of the matroid of an allocation: sub-allocations with independent equations.

The columns of the generic Jacobian form a linear matroid on the weights.  A basis inside
an allocation is a sub-allocation with as many weights as independent equations; if it is
maximal, so is the allocation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from algebra.linalg.primes import random_points
from algebra.matroids.linear import LinearMatroid
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.laws.pinned import given_numbers
from algebra.ranks.generic_rank import generic_rank
from algebra.ranks.jacobian import columns_at, random_point
from algebra.time_limits import check_time

# Of more cells only a part of each order is used, but at least this number.
_MOST_CELLS = 200_000
_FIRST_CELLS = 4_096


def candidate_bases(
    allocation: Allocation,
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    count: int,
) -> Iterator[tuple[Cell, ...]]:
    """Sub-allocations of full rank; those concentrated on few rows or columns come first.

    Few rows (or columns), each with as many weights as it has equations, give a linear system
    (Theorem 3.5), so the cells are first taken greedily in order of rows, then of columns, both
    from the fullest line to the emptiest; then in random order.  Of more than `_MOST_CELLS` cells
    only the first of each order are used.
    """
    rng = random.Random(f"bases/{seed}")
    if allocation.size > _MOST_CELLS:
        yield from _bases_of_many(allocation, rank, support, seed, count, rng)
        return
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


def _bases_of_many(
    allocation: Allocation,
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
    count: int,
    rng: random.Random,
) -> Iterator[tuple[Cell, ...]]:
    """The same for very many cells, each order cut after its first cells."""
    most = _FIRST_CELLS + 4 * rank
    seen = set()
    for attempt in range(count):
        check_time()
        if attempt < 2:
            order = list(islice(_along_lines(allocation, by_rows=not attempt), most))
        else:
            order = rng.sample(allocation.cells, most)
        basis = greedy_basis(allocation, order, rank, support, seed)
        if basis is not None and basis not in seen:
            seen.add(basis)
            yield basis


def _along_lines(allocation: Allocation, *, by_rows: bool) -> Iterator[Cell]:
    """Cells row by row, or column by column, from the fullest line to the emptiest."""
    count = allocation.row_counts if by_rows else allocation.column_counts
    lines = [(-c, name, k) for name in allocation.matrices for k, c in enumerate(count(name)) if c]
    for _, name, k in sorted(lines):
        mask = allocation.masks[name]
        for other in np.flatnonzero(mask[k] if by_rows else mask[:, k]).tolist():
            yield (name, k, other) if by_rows else (name, other, k)


def smallest_circuit(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> tuple[Cell, ...]:
    """A small set of dependent learnable weights; empty if there is none.

    A circuit of the matroid: its Jacobian columns are dependent, those of every proper subset are
    not, so one of its weights is redundant.  It is the smallest of the fundamental circuits of one
    basis at one random point, which is not always the smallest of all.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
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
    basis = Allocation.from_cells(allocation.network, (order[k] for k in found)).cells
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
    p, number = next(random_points(f"basis/{seed}", given=given_numbers(support)))
    return LinearMatroid(columns_at(network, random_point(network, p, number, support), cells), p)
