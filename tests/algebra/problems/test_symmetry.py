"""Symmetries: orbits by brute force, and quantities that are constant on them."""

import random
from itertools import combinations
from math import comb

import numpy as np
import pytest

from algebra.problems.symmetry import SymmetryGroup
from algebra.ranks.generic_rank import allocation_rank
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN
from tests.refusals import refuses
from tests.samples import LONG, NET


def orbit_size(group, allocation):
    """Number of different allocations in the orbit."""
    return len(group.orbit([group.cells.index(cell) for cell in allocation.cells]))


def test_hidden_units_of_the_example_net():
    """B.1.1: six allocations fall into four orbits under swapping the two units."""
    group = SymmetryGroup(NET, ["W"])
    assert group.order == 2
    cells = [("W", i, j) for i in range(2) for j in range(2)]
    allocations = [Allocation.from_cells(NET, c) for c in combinations(cells, 2)]
    sizes = {group.canonical(a): orbit_size(group, a) for a in allocations}
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
    for size, wanted in ((budget, total), (len(group.cells) - 1, None), (0, {(): 1})):
        found = group.orbits(range(len(group.cells)), size)
        assert sum(found.values()) == comb(len(group.cells), size)
        assert wanted is None or list(found.items()) == sorted(wanted.items())
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
    """Only renamings that keep the structural zeros remain."""
    net = LinearRNN(n=3, T=1, b=1, d=1, m=1)
    mask = [[1, 1, 1], [1, 1, 1], [1, 1, 0]]
    group = SymmetryGroup(net, ["W"], {"W": np.array(mask)})
    assert len(group.images) == 2


def test_large_groups_are_refused():
    """A group too large to enumerate is reported."""
    refuses("10!", SymmetryGroup, LinearRNN(n=10, T=1, b=1, d=1, m=1), ["W"])


def transposed(network, allocation):
    """W[j, i] for W[i, j], D for B."""
    becomes = {"D": "B", "W": "W", "B": "D"}
    return Allocation.from_cells(network, [(becomes[n], j, i) for n, i, j in allocation.cells])


def test_transposition():
    """With d = b and m ≥ Tb neither rank nor N changes when everything is transposed."""
    rng = random.Random(2)
    compared = 0
    for net in (
        LinearRNN(n=3, T=2, b=1, d=1, m=2),
        LinearRNN(n=3, T=3, b=1, d=1, m=3),
        LinearRNN(n=2, T=2, b=1, d=1, m=3),
    ):
        group = SymmetryGroup(net, ["D", "W", "B"], transposition=True)
        plain = SymmetryGroup(net, ["D", "W", "B"])
        assert len(group.images) == 2 * len(plain.images)
        for _ in range(8 if LONG else 3):
            one = Allocation.from_cells(net, rng.sample(group.cells, net.T))
            other = transposed(net, one)
            assert group.canonical(one) == group.canonical(other)
            size = orbit_size(plain, one)
            assert orbit_size(group, one) in (size, 2 * size)
            ranks = [allocation_rank(a).rank for a in (one, other)]
            assert ranks[0] == ranks[1]
            if ranks[0] == net.T:
                compared += 1
                assert generic_root_count(one).value == generic_root_count(other).value
    assert compared > (8 if LONG else 2)


def test_transposition_of_layers():
    """A feed-forward net with the same sizes from both ends may be reversed."""
    net = LinearFeedForward(q=2, widths=(3,), d=2, m=2)
    group = SymmetryGroup(net, ["W1", "W2"], transposition=True)
    one = Allocation.from_cells(net, [("W1", 0, 0), ("W1", 0, 1), ("W2", 0, 1), ("W2", 1, 2)])
    other = Allocation.from_cells(net, [("W2", 0, 0), ("W2", 1, 0), ("W1", 1, 0), ("W1", 2, 1)])
    assert group.canonical(one) == group.canonical(other)
    assert allocation_rank(one).rank == allocation_rank(other).rank


def test_transposition_keeps_supports():
    """With structural zeros, a support must be its own mirror image to be transposed."""
    corner, diagonal = np.array([[1, 1], [0, 1]]), np.array([[0, 1], [1, 0]])
    sizes = [
        len(SymmetryGroup(NET, ["W"], {"W": mask}, transposition=True).images)
        for mask in (corner, diagonal)
    ]
    # Swapping the units reverses the transposition of the first; as maps of the cells, four
    # elements keep the second.
    assert sizes == [2, 4]


@pytest.mark.parametrize(
    ("network", "matrices"),
    [
        (LinearRNN(n=3, T=2, b=1, d=1, m=1), ["W"]),
        (LinearRNN(n=3, T=2, b=1, d=2, m=2), ["W"]),
        (LinearRNN(n=3, T=2, b=1, d=1, m=2), ["W", "B"]),
        (LinearFeedForward(q=2, widths=(3,), d=1, m=2), ["W1", "W2"]),
        (LinearEstimator(q=2, d=2, m=1), ["W"]),
    ],
)
def test_no_transposition(network, matrices):
    """Too few samples, other sizes, or a matrix without its mirror image: bad input."""
    refuses("`transposition`", SymmetryGroup, network, matrices, transposition=True)


def test_transposition_is_false_for_few_samples():
    """With m < Tb two rows of Tb weights are minimal, two columns of Td are not."""
    net = LinearRNN(n=6, T=2, b=3, d=3, m=4)
    rows = Allocation.rows(net, "W", [0, 1])
    assert allocation_rank(rows).rank == 10
    assert allocation_rank(transposed(net, rows)).rank == 12
