"""The generic root count against the bound of `docs/maximal.md`, products of binomials."""

import random
from collections import Counter
from math import comb, prod

import pytest

from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearRNN
from tests.samples import LONG


def bounds(allocation):
    """By the rows of W that learn, and by the columns."""
    network, cells = allocation.network, allocation.cells
    rows, columns = (Counter(cell[axis] for cell in cells) for axis in (1, 2))
    return (
        prod(comb(network.T * network.b, count) for count in rows.values()),
        prod(comb(network.T * network.d, count) for count in columns.values()),
    )


def drawn(rng):
    """An allocation that is not minimal, with as many cells as labels; fewer samples than T b."""
    while True:
        n, T, b, d = rng.randint(3, 6), rng.randint(2, 4), rng.randint(1, 2), rng.randint(1, 2)
        network = LinearRNN(n=n, T=T, b=b, d=d, m=rng.randint(1, 3))
        rank = network_rank(network).rank
        if network.m >= T * b or rank != d * network.m or not 2 <= rank <= 4:
            continue
        cells = rng.sample([("W", i, j) for i in range(n) for j in range(n)], rank)
        allocation = Allocation.from_cells(network, cells)
        if allocation_rank(allocation, None, rank, 0).rank == rank:
            return allocation


def test_counts_are_at_most_the_products():
    """Of random allocations with fewer samples than inputs; some attain a bound."""
    rng, attained = random.Random(0), 0
    trials = 50 if LONG else 15
    for _ in range(trials):
        allocation = drawn(rng)
        found = generic_root_count(allocation, primes=1).value
        assert 1 <= found <= min(bounds(allocation))
        attained += found in bounds(allocation)
    assert 0 < attained < trials


@pytest.mark.parametrize(
    ("network", "cells"),
    [
        # A row of T b cells, with two inputs and one sample of each step.
        (LinearRNN(n=5, T=2, b=2, d=2, m=2), [(0, j) for j in range(4)]),
        # Columns of T d cells.
        (LinearRNN(n=6, T=2, b=2, d=2, m=4), [(i, j) for i in range(4) for j in range(2)]),
    ],
)
def test_a_bound_of_one_is_attained(network, cells):
    """Full rows or full columns leave one solution."""
    allocation = Allocation.from_cells(network, [("W", *cell) for cell in cells])
    assert allocation_rank(allocation, None, len(cells), 0).rank == len(cells)
    assert min(bounds(allocation)) == 1
    assert generic_root_count(allocation).value == 1
