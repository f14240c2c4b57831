"""What is known exactly of an allocation, and the classes of a budget."""

from itertools import combinations, product

import numpy as np
import pytest

from algebra.plugins.papers.atlas import orbits
from algebra.plugins.papers.structure import allocation_classes, structure_of
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.symmetry import SymmetryGroup
from matchprob import Allocation, LinearFeedForward, LinearRNN
from tests.refusals import refuses

NET = LinearRNN(n=3, T=3, b=2, d=1, m=3)


@pytest.mark.parametrize("cells", [[(0, 0)], [(0, 0), (1, 1)], [(0, 0), (0, 1), (2, 2)]])
def test_quadratic_equations_are_those_of_rows_that_learn(cells):
    """Of W g(F) = F the k rows that learn are quadratic, except in the last step, where g is B."""
    found = structure_of(Allocation.from_cells(NET, [("W", i, j) for i, j in cells]))
    rows = len({i for i, _ in cells})
    assert found["quadratic"] == rows * (NET.T - 1) * NET.b
    assert found["linear"] + found["quadratic"] == NET.n * NET.T * NET.b + NET.d * NET.m


def test_more_distributed_allocations_have_fewer_linear_equations():
    """A row without learnable weights adds linear equations: the reverse of spreading."""
    net = LinearRNN(n=3, T=3, b=1, d=1, m=3)
    one_row = structure_of(Allocation.from_cells(net, [("W", 0, j) for j in range(3)]))
    three_rows = structure_of(Allocation.from_cells(net, [("W", j, j) for j in range(3)]))
    assert one_row["linear"] > three_rows["linear"]
    assert one_row["core"] == 0 < three_rows["core"]


def test_patterns_of_lemma_D4_against_enumeration():
    """The number of patterns in which each unit is active on at least r_i samples."""
    net = ShallowReLU(q=3, n=3, d=2, m=2)
    for counts in ([2, 2], [2, 1, 1]):
        cells = [("W1", i, j) for i, r in enumerate(counts) for j in range(r)]
        found = structure_of(Allocation.from_cells(net, cells))
        k = len(counts)
        patterns = [np.reshape(p, (k, net.m)) for p in product((0, 1), repeat=k * net.m)]
        assert found["patterns D.4"] == sum((p.sum(1) >= counts).all() for p in patterns)
        assert found["patterns D.3"] == sum((p.sum(0) >= net.d).all() for p in patterns)
        assert found["quadratic"] is None


def test_classes_are_the_orbits_and_drawn_ones_are_among_them():
    """All classes are those of the atlas; a sample has each at most once, in canonical form."""
    net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    every = [a for a, _ in orbits(net, ["W"], 2)]
    assert allocation_classes(net, ["W"], 2) == every
    drawn = allocation_classes(net, ["W"], 2, count=4, seed=1)
    assert len(drawn) == 4 == len(set(drawn))
    assert set(drawn) <= set(every)
    assert set(allocation_classes(net, ["W"], 2, count=100)) == set(every)
    group = SymmetryGroup(net, ["W"])
    for chosen in combinations([("W", i, j) for i in range(3) for j in range(3)], 2):
        assert group.canonical(Allocation.from_cells(net, chosen)) in every


def test_networks_that_are_too_large_for_symmetries_are_drawn():
    """Twelve hidden units have more permutations than are enumerated: classes are still drawn."""
    net = LinearFeedForward(q=2, widths=(12,), d=2, m=2)
    assert len(allocation_classes(net, ["W1", "W2"], 4, count=5)) == 5
    refuses("choose a smaller net", allocation_classes, net, ["W1", "W2"], 4)
    refuses("`budget`", allocation_classes, net, ["W1"], 99, count=5)
