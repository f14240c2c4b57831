"""Designs against brute force over all allocations of small nets."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.design.cheapest import float_text, least_cost, most_spread
from algebra.design.demand import demand
from algebra.errors import InputError
from algebra.networks.base import LinearEstimator, LinearFeedForward, LinearRNN
from algebra.problems.allocation import Allocation
from algebra.ranks.jacobian import all_cells, allocation_rank, network_rank

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=2, T=3, b=1, d=2, m=1),
    LinearFeedForward(q=2, widths=(2,), d=2, m=2),
]


def bases(network, cells):
    """All allocations of as many weights as equations that are not minimal."""
    whole = network_rank(network).rank
    for chosen in combinations(cells, whole):
        allocation = Allocation.from_cells(network, chosen)
        if allocation_rank(allocation, upper=whole).rank == whole:
            yield allocation


def fullest_row(allocation):
    return max(c for name in allocation.matrices for c in allocation.row_counts(name))


@pytest.mark.parametrize("network", NETS, ids=str)
def test_cheapest_is_the_brute_force_optimum(network):
    """With random costs, with and without caps on the rows."""
    rng = np.random.default_rng(0)
    cells = all_cells(network)
    costs = {cell: Fraction(int(rng.integers(0, 20)), 3) for cell in cells}
    found = least_cost(network, costs=costs)
    everything = list(bases(network, cells))
    price = {a: sum(costs[c] for c in a.cells) for a in everything}
    assert found.cost == min(price.values())
    assert found.allocation in everything
    assert found.error < Fraction(1, 1 << 30)
    assert found.is_optimal
    for number in (1, 2, 3):
        capped = [price[a] for a in everything if fullest_row(a) <= number]
        if not capped:
            with pytest.raises(InputError, match=r"independent equations|the caps leave"):
                least_cost(network, costs=costs, caps={"row": number})
        else:
            design = least_cost(network, costs=costs, caps={"row": number})
            assert design.cost == min(capped)
            assert design.largest["row"] <= number


@pytest.mark.parametrize("network", NETS, ids=str)
def test_most_spread_is_the_brute_force_optimum(network):
    """No non-minimal allocation has an emptier fullest row."""
    found = most_spread(demand(network))
    assert fullest_row(found.allocation) == min(
        map(fullest_row, bases(network, all_cells(network)))
    )


def test_allowed_must_and_budget():
    """Only allowed weights, all that must, as many as asked, the cheapest of the rest."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    allowed = [("W", i, j) for i in range(3) for j in range(3)]
    costs = {cell: Fraction(k) for k, cell in enumerate(allowed)}
    design = least_cost(network, allowed=allowed, costs=costs, must=[("W", 2, 2)], budget=4)
    assert design.allocation.size == 4
    assert ("W", 2, 2) in design.allocation.cells
    assert design.cost == 8 + 0 + 1 + 2


def test_impossible_demands():
    """Every impossible demand is refused with what is wrong."""
    network = LinearEstimator(q=3, d=2, m=2)
    with pytest.raises(InputError, match=r"`budget` \(3\) is too small"):
        least_cost(network, budget=3)
    with pytest.raises(InputError, match="only 6 weights may learn, `budget` asks for 7"):
        least_cost(network, budget=7)
    with pytest.raises(InputError, match="is no weight"):
        least_cost(network, must=[("W", 5, 5)])
    one_row = [("W", 0, j) for j in range(3)] + [("W", 1, 0)]
    with pytest.raises(InputError, match="take part in only 3 of 4"):
        least_cost(network, allowed=one_row)
    with pytest.raises(InputError, match="the caps leave 2 of the 6 allowed weights, 4 are needed"):
        least_cost(network, caps={"row": 1})
    with pytest.raises(InputError, match="must be one of row, column, matrix"):
        least_cost(network, caps={"diagonal": 1})


def test_bounds_are_rounded_up():
    """A bound's text is never below the bound."""
    for value in (Fraction(1, 3), Fraction(1, 1 << 60), Fraction(1234, 10**9)):
        assert Fraction(float_text(value)) >= value
    assert float_text(Fraction(0)) == "0"
