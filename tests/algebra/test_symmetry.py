"""Symmetries: orbits by brute force, and quantities that must not change along them."""

import random
from itertools import combinations
from math import comb

import pytest

from algebra.allocation import Allocation
from algebra.errors import InputError
from algebra.jacobian import allocation_rank
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN
from algebra.rootcount import generic_root_count
from algebra.symmetry import SymmetryGroup


def test_hidden_units_of_the_example_net():
    """B.1.1: six allocations fall into four orbits under swapping the two units."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    group = SymmetryGroup(net, ["W"])
    assert group.order == 2
    cells = [("W", i, j) for i in range(2) for j in range(2)]
    allocations = [Allocation.from_cells(net, c) for c in combinations(cells, 2)]
    sizes = {group.canonical(a): group.orbit_size(a) for a in allocations}
    assert sorted(sizes.values()) == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("network", "matrices", "budget"),
    [
        (LinearRNN(n=3, T=2, b=1, d=2, m=2), ["W"], 4),
        (LinearEstimator(q=3, d=2, m=2), ["W"], 3),
        (LinearFeedForward(q=2, widths=(2,), d=2, m=2), ["W1", "W2"], 4),
    ],
)
def test_orbits_partition(network, matrices, budget):
    """Canonical forms are idempotent and constant on orbits, whose sizes add up."""
    group = SymmetryGroup(network, matrices)
    total = {}
    for chosen in combinations(range(len(group.cells)), budget):
        orbit = group.orbit(chosen)
        assert chosen in orbit
        total[min(orbit)] = len(orbit)
    assert sum(total.values()) == comb(len(group.cells), budget)
    some = Allocation.from_cells(network, [group.cells[k] for k in range(budget)])
    assert group.canonical(group.canonical(some)) == group.canonical(some)


def test_rank_and_root_count_are_constant_on_orbits():
    """Renaming hidden units changes neither the generic rank nor N."""
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    group = SymmetryGroup(net, ["W"])
    rng = random.Random(1)
    for _ in range(8):
        chosen = rng.sample(range(9), 4)
        images = [
            Allocation.from_cells(net, [group.cells[k] for k in image])
            for image in sorted(group.orbit(chosen))[:3]
        ]
        ranks = {allocation_rank(a).rank for a in images}
        assert len(ranks) == 1
        if ranks == {4}:
            assert len({generic_root_count(a).value for a in images}) == 1


def test_supports_break_symmetries():
    """Only renamings that keep the structural zeros are left."""
    net = LinearRNN(n=3, T=1, b=1, d=1, m=1)
    mask = [[1, 1, 1], [1, 1, 1], [1, 1, 0]]
    import numpy as np

    group = SymmetryGroup(net, ["W"], {"W": np.array(mask)})
    assert len(group.images) == 2


def test_large_groups_are_refused():
    """A group too large to go through is said to be so."""
    with pytest.raises(InputError, match="10!"):
        SymmetryGroup(LinearRNN(n=10, T=1, b=1, d=1, m=1), ["W"])
