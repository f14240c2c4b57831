"""Tolerated losses, compared with all possible losses."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from algebra.questions.design.robustness import robustness
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from tests.refusals import refuses
from tests.samples import LONG

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=2, m=2),
    LinearFeedForward(q=3, widths=(2,), d=2, m=2),
]


def fatal(allocation, lost):
    rest = allocation.without(lost)
    return allocation_rank(rest).rank < network_rank(allocation.network).rank


@pytest.mark.parametrize("network", NETS, ids=str)
@pytest.mark.parametrize("drawn", range(4 if LONG else 2))
def test_brute_force(network, drawn):
    """The smallest fatal set is as large as the brute-force one; coloops are the fatal weights."""
    rng = np.random.default_rng(drawn)
    cells = all_cells(network)
    size = min(len(cells), network_rank(network).rank + 2 + drawn)
    while True:
        chosen = rng.choice(len(cells), size, replace=False)
        allocation = Allocation.from_cells(network, [cells[k] for k in chosen])
        if not fatal(allocation, []):
            break
    found = robustness(allocation)
    assert found.is_exact
    assert fatal(allocation, found.fatal)
    smallest = next(
        k
        for k in range(1, size + 1)
        if any(fatal(allocation, lost) for lost in combinations(allocation.cells, k))
    )
    assert len(found.fatal) == smallest
    assert set(found.coloops) == {c for c in allocation.cells if fatal(allocation, [c])}
    assert found.survives <= size - network_rank(network).rank
    for name, place in (("row", 1), ("column", 2)):
        for matrix, k in {(c[0], c[place]) for c in allocation.cells}:
            lost = [c for c in allocation.cells if c[0] == matrix and c[place] == k]
            assert (f"{name} {k} of {matrix}" in found.lines) == fatal(allocation, lost)


def test_exactly_enough_weights_are_all_coloops():
    """With as many weights as equations none may be lost."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    allocation = Allocation.from_cells(network, [("W", 0, 0), ("W", 0, 1)])
    found = robustness(allocation)
    assert (found.survives, len(found.fatal)) == (0, 1)
    assert set(found.coloops) == set(allocation.cells)


def test_without_time_the_bounds_hold():
    """Without time for the search, the tolerated and the fatal numbers are still correct."""
    network = LinearRNN(n=8, T=3, b=2, d=3, m=4)
    rng = np.random.default_rng(1)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    allocation = Allocation.from_cells(
        network, [cells[k] for k in rng.choice(len(cells), 18, replace=False)]
    )
    cut, full = robustness(allocation, seconds=0.0), robustness(allocation, seconds=20.0)
    assert cut.survives <= full.survives < len(full.fatal) <= len(cut.fatal)
    assert full.is_exact
    assert fatal(allocation, cut.fatal)


def test_refusals():
    """Minimal allocations and ReLU nets tolerate no loss."""
    network = LinearEstimator(q=3, d=2, m=2)
    refuses("is minimal", robustness, Allocation.from_cells(network, [("W", 0, 0)]))
    relu = ShallowReLU(q=2, n=2, d=1, m=2)
    refuses("no minimal allocations", robustness, Allocation.from_cells(relu, [("W1", 0, 0)]))


def test_many_spare_weights():
    """Disjoint bases prove more than the surplus alone; bounds and sets are correct."""
    network = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    found = robustness(Allocation.from_cells(network, cells))
    assert found.is_exact
    assert fatal(found.allocation, found.fatal)
    for lost in list(combinations(cells, found.survives))[:400]:
        assert not fatal(found.allocation, lost)


def test_memory_does_not_grow_with_the_lines_times_the_weights():
    """An order of 62,500 weights takes half a megabyte; there are 500 lines."""
    allocation = Allocation.rows(LinearRNN(n=250, T=2, b=1, d=1, m=2), "W", range(250))
    tracemalloc.start()
    found = robustness(allocation, seconds=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.survives >= 1
    assert peak < 100_000_000
