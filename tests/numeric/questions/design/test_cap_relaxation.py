"""The linear program for the multipliers: its bound if it is known, or infeasibility."""

from itertools import combinations

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.matroids.branch_and_bound import capped_basis
from algebra.matroids.capped import CappedProblem
from algebra.matroids.intersection import CommonBasis, common_basis
from algebra.matroids.lagrangian import SCALE
from numeric.questions.design.cap_relaxation import CapRelaxation, linear_relaxation
from tests.samples import P


def problem(seed, rows=6, width=24):
    rng = np.random.default_rng(seed)
    # Sparse columns have dependent sets of all sizes.
    columns = rng.integers(1, 1000, (rows, width)) * (rng.random((rows, width)) < 0.4)
    groups = rng.integers(0, 6, width).tolist()
    costs = rng.integers(1, 60, width).tolist()
    return columns.astype(np.int64), groups, costs


@pytest.mark.parametrize("seed", range(8))
def test_one_kind_of_cap_closes_at_the_root(seed):
    """Two matroids have an integral polytope: no branch, and the matroid intersection's cost."""
    columns, groups, costs = problem(seed)
    caps = [2] * 6
    size = modular_rank(columns, P)
    asked = CappedProblem(columns, P, [(groups, caps)], costs, size)
    exact = common_basis(asked)
    found = capped_basis(asked, relax=linear_relaxation(asked))
    if isinstance(exact, CommonBasis):
        assert found.cost == found.bound == exact.cost
        assert found.nodes == 1
    else:
        assert found.elements is None
        assert found.bound is None


def test_values_satisfy_every_rank_inequality():
    """On a small problem no set of columns has a larger sum than its rank."""
    columns, groups, costs = problem(3, rows=4, width=9)
    size = modular_rank(columns, P)
    systems = [(groups, [1] * 6), (list(reversed(groups)), [2] * 6)]
    hint = CapRelaxation(CappedProblem(columns, P, systems, costs, size))(
        np.zeros(9, np.int64), None
    )
    x = np.array(hint.values) / SCALE
    assert sum(x) == pytest.approx(size, abs=0.01)
    for k in range(1, 10):
        for chosen in combinations(range(9), k):
            assert x[list(chosen)].sum() <= modular_rank(columns[:, list(chosen)], P) + 0.01
    assert all(value >= 0 for lines in hint.multipliers for value in lines)


def test_infeasibility_is_proved_by_multipliers():
    """If no basis keeps the caps, the duals of the least violation prove it."""
    columns = np.eye(4, dtype=np.int64)
    systems = [([0, 0, 1, 1], [1, 2]), ([0, 1, 0, 1], [2, 2])]
    asked = CappedProblem(columns, P, systems, [3, 1, 4, 1], 4)
    found = capped_basis(asked, relax=linear_relaxation(asked))
    assert found.elements is None
    assert found.bound is None
    assert len(found.dual.leaves) == 1


def test_elements_that_are_fixed_stay_fixed():
    """Elements in or out of a branch have the value 1 or 0."""
    columns, groups, costs = problem(5)
    size = modular_rank(columns, P)
    state = np.zeros(len(costs), np.int64)
    state[0], state[1] = 1, -1
    hint = CapRelaxation(CappedProblem(columns, P, [(groups, [6] * 6)], costs, size))(state, None)
    assert hint.values[1] == 0
    assert hint.values[0] in (0, SCALE)


def test_costs_beyond_doubles():
    """A cost of 400 digits is scaled for the linear program; the optimum stays exact."""
    columns, groups, costs = problem(2)
    size = modular_rank(columns, P)
    systems = [(groups, [2] * 6), (list(reversed(groups)), [3] * 6)]
    small = CappedProblem(columns, P, systems, costs, size)
    large = small._replace(costs=[c * 10**400 for c in costs])
    best = capped_basis(small, relax=linear_relaxation(small))
    found = capped_basis(large, relax=linear_relaxation(large))
    assert best.is_optimal
    assert found.is_optimal
    assert found.cost == best.cost * 10**400
