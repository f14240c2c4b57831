"""The tree of activation cells and its linear programs, compared with SciPy and brute force."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.complementarity import ComplementarityEngine
from numeric.plugins.relu.simplex import DIVIDE, NO_MATCH
from tests.numeric.plugins.relu.cases import brute_force, instances, problem, random_problem
from tests.samples import LONG, many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_the_root_program_agrees_with_scipy():
    """The tree is refuted at its root if and only if SciPy finds the root program infeasible."""
    seen = 0
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 20):
        tree = CellTree(instance)
        found = tree.search()
        peer = linprog(np.zeros(len(tree.program.unit)), A_eq=tree.program.A, b_eq=tree.program.b)
        assert (peer.status == 2) == (found.status == NO_MATCH and found.leaves == 1)
        seen += peer.status == 2
    assert 0 < seen < 20


@pytest.mark.parametrize("part", range(3 if LONG else 1))
def test_counts_agree_with_brute_force(part):
    """Complete counts are the numbers of solutions of all patterns' linear equations."""
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


def test_a_search_that_divides_ends_in_cells():
    """In the mode DIVIDE every recorded leaf that no vector refutes has all of its sides."""
    cells = 0
    for instance in instances(problem(3, 4, 2, 3, W1=MASK), 6, seed=8):
        tree = CellTree(instance)
        found = tree.search(mode=DIVIDE)
        assert found.status == NO_MATCH
        for sides, kind in zip(found.sides, found.hints, strict=True):
            whole = bool((sides != 0).all())
            assert whole or tree.refuted(sides, kind) is not None
            cells += whole
    assert cells
