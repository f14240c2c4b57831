"""Monodromy groups of small allocations, against their known structure."""

import numpy as np
import pytest

from algebra.polynomials.permutation_groups import SYMMETRIC, root_group
from matchprob import Allocation, LinearRNN
from numeric.equations.chain import make_chain
from numeric.tracking.monodromy import find_start
from numeric.tracking.monodromy_group import MonodromyGroup, monodromy_group, trivial_group

DIAGONAL = Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)])


def group_of(allocation, roots):
    """The monodromy group of an allocation with this number of solutions."""
    chain = make_chain(allocation)
    return monodromy_group(chain, find_start(chain, roots))


def test_two_solutions_are_exchanged():
    """The group of Section B.1.1's two solutions is S_2, and is said to be solvable."""
    found = group_of(DIAGONAL, 2)
    assert (found.group.kind, found.group.order) == (SYMMETRIC, 2)
    assert found.is_whole
    assert found.group.is_solvable
    assert any(line.startswith("Solvable") for line in found.statements())


def test_two_nets_in_one_have_blocks():
    """Two copies of B.1.1 in one network have four solutions, in blocks, and a group of order 4."""
    network = LinearRNN(n=4, T=2, b=1, d=2, m=2)
    blocks, outputs = np.kron(np.eye(2), np.ones((2, 2))), np.kron(np.eye(2), np.ones((1, 2)))
    support = {"W": blocks.astype(int), "D": outputs.astype(int)}
    chain = make_chain(Allocation.from_cells(network, [("W", i, i) for i in range(4)]), support)
    found = monodromy_group(chain, find_start(chain, 4))
    assert (found.group.order, found.group.stages) == (4, (2, 2))
    assert not found.is_whole
    text = str(found)
    assert "At least a group of order 4" in text
    assert "Blocks: 2 of 2 solutions each" in text
    assert "if no further loop adds to the group" in text


def test_the_group_as_sympys():
    """The same order, orbits and generators in SymPy's class; of one solution the trivial group."""
    for generators in ([(1, 0, 2, 3), (0, 1, 3, 2)], [(1, 2, 3, 0)], []):
        N = 4 if generators else 1
        found = MonodromyGroup(root_group(generators, N), tuple(generators), lines=3, lost=0)
        own = found.permutation_group
        assert (own.degree, own.order()) == (N, found.group.order)
        assert [g.array_form for g in own.generators] == [list(g) for g in generators or [(0,)]]


def test_group_of_a_single_solution():
    """A single solution is said to be rational in the data; the order is 1."""
    (statement,) = trivial_group("linear").statements()
    assert "rational in the data" in statement
    assert trivial_group("linear").to_dict()["order"] == "1"


@pytest.mark.parametrize(
    ("permutations", "degree", "first", "absent"),
    [
        ([[1, 2, 3, 0], [0, 3, 2, 1]], 4, "At least a group of order 8", "no formula"),
        ([[1, 2, 0, 3, 4]], 5, "At least a group", "stages"),
        ([[1, 2, 3, 4, 0], [1, 0, 2, 3, 4]], 5, "The full symmetric group S_5", "at least"),
    ],
)
def test_statements_on_a_group(permutations, degree, first, absent):
    """A proper subgroup is stated as a lower bound; blocks only if the group is transitive."""
    found = MonodromyGroup(root_group(permutations, degree), tuple(map(tuple, permutations)), 3, 0)
    text = str(found)
    assert text.split("\n")[1].strip().startswith(first)
    assert absent not in text
    assert "numerical evidence" in text
    assert found.to_dict()["order_is_exact"] == (degree == 5 and len(permutations) == 2)
