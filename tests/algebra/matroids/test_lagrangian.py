"""Lagrangian bounds: never above the optimum, for all multipliers."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.ranks import modular_rank
from algebra.matroids.capped import CappedProblem
from algebra.matroids.lagrangian import SCALE, LagrangianLeaf, LagrangianSearch
from tests.algebra.matroids.by_force import cost_of, feasible, least_cost
from tests.samples import P, many

COLUMNS = np.random.default_rng(0).integers(0, 3, (3, 8))
SYSTEMS = [([0, 0, 1, 1, 2, 2, 0, 1], [1, 1, 1]), ([0, 1, 0, 1, 0, 1, 1, 0], [2, 2])]
COSTS = [5, 2, 7, 1, 4, 3, 6, 2]
SIZE = modular_rank(COLUMNS, P)
ASKED = CappedProblem(COLUMNS, P, SYSTEMS, COSTS, SIZE)


@given(
    st.lists(st.integers(0, 20 * SCALE), min_size=5, max_size=5),
    st.sets(st.integers(0, 7), max_size=2),
    st.sets(st.integers(0, 7), max_size=2),
)
@settings(max_examples=many(100), deadline=None)
def test_bounds_hold_for_any_multipliers(values, inside, outside):
    """Of all sets under the caps and in the branch, none costs less than the bound."""
    outside = outside - inside
    search = LagrangianSearch(ASKED)
    leaf = LagrangianLeaf(
        tuple(sorted(inside)), tuple(sorted(outside)), (tuple(values[:3]), tuple(values[3:]))
    )
    found = search.bound(leaf)
    costs = [
        cost_of(ASKED, chosen)
        for chosen in feasible(ASKED)
        if inside <= set(chosen) and not outside & set(chosen)
    ]
    if found is None:
        assert not costs
    else:
        assert all(found[0] <= cost for cost in costs)


def test_only_feasible_bases_are_kept():
    """A set that exceeds a cap is not accepted; a cheaper feasible one replaces the known one."""
    search = LagrangianSearch(ASKED)
    for chosen in combinations(range(8), SIZE):
        if modular_rank(COLUMNS[:, list(chosen)], P) == SIZE:
            search.keep(chosen)
    assert search.cost == least_cost(ASKED)
