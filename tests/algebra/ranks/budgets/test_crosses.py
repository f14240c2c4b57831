"""The search for crosses compared with brute force and with ranks mod p."""

import random
from itertools import combinations

import numpy as np
from hypothesis import given, settings

import algebra.ranks.budgets.crosses as crosses_module
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.budgets.crosses import violated_crosses
from matchprob import Allocation, LinearFeedForward
from tests.algebra.ranks.budgets.cases import (
    Jacobian,
    every_rank_is_within,
    layers,
    least_line_cover,
    random_allocation,
    random_network,
)
from tests.samples import many


def strongest_by_brute_force(allocation, D, M):
    """Largest excess over all crosses of some rows and some columns of one layer."""
    name = allocation.matrices[0]
    mask = allocation.masks[name].astype(int)
    subsets = [
        [list(c) for k in range(1, cap) for c in combinations(range(size), k)]
        for size, cap in zip(mask.shape, (D, M), strict=True)
    ]
    best = 0
    for rows in subsets[0]:
        for columns in subsets[1]:
            touched = mask[rows].sum() + mask[:, columns].sum() - mask[np.ix_(rows, columns)].sum()
            u, v = len(rows), len(columns)
            best = max(best, int(touched) - (u * M + D * v - u * v))
    return best


@given(layers())
@settings(max_examples=many(200), deadline=None)
def test_small_search_misses_no_cross(allocation):
    """An exceeded cross that is stronger than rows and columns is found, at greatest excess."""
    network = allocation.network
    n1, n2 = network.widths
    D, M = min(network.d, n2), min(network.m, n1)
    search = violated_crosses(allocation)
    assert search.exhaustive
    if not allocation.size:
        assert not search.crosses
        return
    found = max((cross.excess for cross in search.crosses), default=0)
    best = strongest_by_brute_force(allocation, D, M)
    lines = least_line_cover(allocation.masks["W2"].astype(int), M, D)
    reach = allocation.size - min(lines, D * M)
    assert found <= best <= max(found, reach)
    assert allocation.size - rank_bound(allocation) >= max(best, reach)


def test_large_search_is_marked_and_finds_planted_crosses():
    """Beyond the exact range the result says so, is still valid, and full lines are found."""
    network = LinearFeedForward(q=64, widths=(64,), d=12, m=12)
    mask = np.zeros((64, 64), int)
    mask[3:5, :12] = mask[30:42, 20:23] = 1
    mask[3:5, 20:23] = 0
    mask[50, 40:64] = mask[51, 30:40] = 1
    rng = random.Random(4)
    for _ in range(40):
        mask[rng.randrange(64), rng.randrange(64)] = 1
    allocation = Allocation.from_masks(network, W1=mask)
    search = violated_crosses(allocation)
    assert not search.exhaustive
    rank, bound = every_rank_is_within(Allocation.from_cells(network, allocation.cells[::3]), 2)
    assert rank <= bound
    assert any({("W1", 3), ("W1", 4)} <= set(cross.rows) for cross in search.crosses)
    jacobian = Jacobian(network, 2)
    assert all(jacobian.rank(c.cells(allocation)) <= c.limit for c in search.crosses)


def test_search_without_the_exact_range_invents_nothing(monkeypatch):
    """Without the exact search, crosses are valid and never stronger."""
    rng = random.Random(7)
    for trial in range(60):
        network = random_network(rng)
        allocation = random_allocation(rng, network)
        exact = violated_crosses(allocation)
        with monkeypatch.context() as patch:
            patch.setattr(crosses_module, "_EXACT", 0)
            rough = violated_crosses(allocation)
            every_rank_is_within(allocation, trial)
        assert exact.exhaustive
        strongest = [max((c.excess for c in s.crosses), default=0) for s in (rough, exact)]
        assert strongest[0] <= strongest[1]
