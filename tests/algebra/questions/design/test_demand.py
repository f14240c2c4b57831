"""Demands: which are refused, and the matroid after contraction and elongation."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.linalg.ranks import modular_rank
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import checked_demand
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, InputError, LinearEstimator, LinearRNN
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_independent_columns_are_the_allocations_that_are_not_minimal(budget):
    """Free columns are independent if and only if, together with the required weights, MP > 0."""
    allowed = [cell for cell in all_cells(NET) if cell[0] == "W"]
    must = [("W", 0, 0)]
    demand = checked_demand(NET, allowed=allowed, must=must, budget=budget)
    p, number = next(demand.points())
    columns = demand.columns(p, number)
    places = {cell: k for k, cell in enumerate(demand.free)}
    for chosen in combinations(demand.free, demand.wanted):
        free = modular_rank(columns[:, [places[c] for c in chosen]], p) == demand.wanted
        whole = Allocation.from_cells(NET, [*must, *chosen])
        assert free == (allocation_rank(whole).rank == demand.equations)


def test_larger_budgets_under_caps():
    """More weights than equations under a cap: the brute-force optimum."""
    allowed = [cell for cell in all_cells(NET) if cell[0] == "W"]
    costs = {cell: Fraction((7 * k) % 5 + 1) for k, cell in enumerate(allowed)}
    for caps in ({"row": 2}, {"column": 1}, {"row": 1, "column": 1}):
        size = 4 if caps == {"row": 2} else 3
        found = cheapest(checked_demand(NET, allowed=allowed, costs=costs, budget=size, caps=caps))
        price = [
            sum(costs[c] for c in chosen)
            for chosen in combinations(allowed, size)
            if allocation_rank(Allocation.from_cells(NET, chosen)).rank == 2
            and all(
                sum(c[1 if line == "row" else 2] == k for c in chosen) <= number
                for line, number in caps.items()
                for k in range(3)
            )
        ]
        assert found.cost == min(price)
        assert found.allocation.size == size


def test_contradictions_are_refused():
    """Each impossible demand is refused with its reason."""
    net = LinearEstimator(q=3, d=2, m=2)
    row = [("W", 0, j) for j in range(3)]
    refuses("both must and must not", checked_demand, net, must=row, forbidden=row[:1])
    with pytest.raises(InputError, match="3 weights of row 0 of W must learn, but its cap is 2"):
        checked_demand(net, must=row, caps={"row": 2})
    refuses("of the 3 weights that `must` learn only 2", checked_demand, net, must=row, budget=4)
    assert checked_demand(net, must=row).size == 5
    refuses(r"`forbidden`: .* is not a weight", checked_demand, net, forbidden=[("W", 9, 9)])
    refuses("must not be negative", checked_demand, net, caps={"row": -1})
    refuses("is outside W", checked_demand, net, costs={("W", 5, 5): Fraction(1)})
    refuses("no matrix `V`", checked_demand, net, costs={("V", 0, 0): Fraction(1)})
    refuses("every label is 0", checked_demand, net, support={"W": np.zeros((2, 3), int)})


def test_forbidden_weights_do_not_learn():
    """A design without the forbidden weights; too many forbidden are refused with the rank."""
    net = LinearEstimator(q=3, d=2, m=2)
    found = cheapest(checked_demand(net, forbidden=[("W", 0, 0), ("W", 1, 1)]))
    assert {("W", 0, 0), ("W", 1, 1)}.isdisjoint(found.allocation.cells)
    with pytest.raises(InputError, match="take part in only 3 of 4"):
        cheapest(checked_demand(net, forbidden=[("W", 0, 0), ("W", 0, 1)]))


def test_caps_that_cross_are_refused_with_a_count():
    """Each cap alone can be kept, both cannot: the message names lines, need and rest."""
    net = LinearRNN(n=3, T=3, b=1, d=1, m=3)
    cells = [("W", 0, 0), ("W", 0, 1), ("W", 1, 2), ("W", 2, 2)]
    for line in ("row", "column"):
        assert cheapest(checked_demand(net, allowed=cells, caps={line: 1})).largest[line] == 1
    both = {"row": 1, "column": 1}
    text = r"at least 3 weights in row 0 of W, column 2 of W .* for which the caps permit 2"
    refuses(text, cheapest, checked_demand(net, allowed=cells, caps=both))
    with pytest.raises(InputError, match=r"1 weight in a column: .*= 2 of 3"):
        cheapest(checked_demand(net, allowed=[c for c in cells if c[2] != 0], caps=both))
