"""Bases in order of cost against sorting all of them."""

from fractions import Fraction
from itertools import combinations, islice

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.ranked import ranked_bases
from algebra.ranks.jacobian import all_cells
from matchprob import LinearEstimator, LinearRNN


@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("caps", [{}, {"row": 1}, {"column": 2}, {"row": 2, "column": 1}], ids=str)
def test_all_bases_in_order(caps, budget):
    """Every basis under the caps comes once, and none before a cheaper one."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    rng = np.random.default_rng(5)
    costs = {cell: Fraction(int(rng.integers(-2, 6))) for cell in cells}
    demand = checked_demand(network, allowed=cells, costs=costs, caps=caps, budget=budget)
    p, number = next(demand.points())
    columns = demand.columns(p, number)
    systems = demand.all_groups()
    expected = sorted(
        (sum(demand.costs[e] for e in chosen), chosen)
        for chosen in combinations(range(len(cells)), demand.wanted)
        if modular_rank(columns[:, list(chosen)], p) == demand.wanted
        and all(
            (np.bincount([g[e] for e in chosen], minlength=len(k)) <= k).all() for g, k in systems
        )
    )
    found = list(ranked_bases(demand, columns, p))
    assert [cost for cost, _ in found] == [cost for cost, _ in expected]
    assert sorted(found) == expected


def test_the_first_few_of_very_many():
    """Bases are made on demand, without the required weights."""
    network = LinearEstimator(q=12, d=3, m=4)
    demand = checked_demand(network, must=[("W", 0, 0)])
    p, number = next(demand.points())
    some = list(islice(ranked_bases(demand, demand.columns(p, number), p), 50))
    assert len({elements for _, elements in some}) == 50
    assert {cost for cost, _ in some} == {11}
