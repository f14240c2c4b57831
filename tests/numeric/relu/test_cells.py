"""The programs and the tree of activation cells: floating point against exact and brute force."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.engines.complementarity import ComplementarityEngine
from numeric.relu.cells import CellTree
from numeric.relu.cells_kernel import DIVIDE
from numeric.relu.simplex import NO_MATCH
from tests.numeric.relu.cases import brute_force, instances, problem, random_problem
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_root_program_is_scipys():
    """A tree of one leaf means that scipy finds the root infeasible too."""
    seen = 0
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 20):
        tree = CellTree(instance)
        found = tree.search()
        peer = linprog(np.zeros(len(tree.program.unit)), A_eq=tree.program.A, b_eq=tree.program.b)
        assert (peer.status == 2) == (found.status == NO_MATCH and found.leaves == 1)
        seen += peer.status == 2
    assert 0 < seen < 20


@pytest.mark.parametrize("part", range(3))
def test_counts_are_brute_force(part):
    """The number of solutions is that of all patterns' linear equations."""
    rng = np.random.default_rng(part)
    compared = 0
    for _ in range(many(25)):
        case = random_problem(rng)
        for instance, count in zip(
            instances(case, 4, seed=part),
            ComplementarityEngine(complete=True).count_many(instances(case, 4, seed=part)),
            strict=True,
        ):
            solutions, freedom = brute_force(instance)
            if count.status == "complete":
                assert count.real == len(solutions)
                assert not freedom
                compared += 1
            else:
                assert freedom or count.real is None
    assert compared > many(50)


def test_divided_search_ends_in_cells():
    """If the search continues after solutions, every recorded cell has all its sides."""
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 6, seed=8):
        found = CellTree(instance).search(mode=DIVIDE)
        assert found.status == NO_MATCH
        assert all(
            (sides != 0).all() for sides, k in zip(found.sides, found.kinds, strict=True) if k == 2
        )
