"""Bases of the matroid of an allocation: sub-allocations with independent equations.

The columns of the generic Jacobian form a linear matroid on the weights.  A basis inside
an allocation is a sub-allocation with as many weights as independent equations; if it is
maximal, so is the allocation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from flint import nmod_mat

from algebra.allocation import Allocation, Cell
from algebra.jacobian import generic_rank, jacobian, random_point, tangent_factors
from algebra.modular import random_prime


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


def greedy_basis(
    allocation: Allocation,
    order: Sequence[Cell],
    rank: int,
    support: Mapping[str, np.ndarray],
    seed: int,
) -> tuple[Cell, ...] | None:
    """The first cells in an order whose Jacobian columns are independent."""
    rng = random.Random(f"basis/{seed}")
    p = random_prime(rng)
    point = random_point(allocation.network, p, rng.randrange(1 << 32), support)
    names = sorted({cell[0] for cell in order})
    matrix = jacobian(tangent_factors(allocation.network, point, names), order, p)
    # The pivot columns of the reduced echelon form are the greedy basis.
    reduced, found = nmod_mat(len(matrix), len(order), matrix.ravel().tolist(), p).rref()
    if found < rank:
        return None
    table = reduced.tolist()
    pivots = [next(k for k, entry in enumerate(table[i]) if entry != 0) for i in range(found)]
    chosen = {order[k] for k in pivots[:rank]}
    basis = tuple(cell for cell in allocation.cells if cell in chosen)
    return (
        basis
        if generic_rank(allocation.network, basis, support=support, upper=rank, seed=seed).rank
        == rank
        else None
    )
