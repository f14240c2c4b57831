"""The fewest neurons against brute force."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.questions.design.demand import checked_demand
from algebra.questions.design.neurons import fewest_neurons, neuron_of
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearEstimator, LinearFeedForward, LinearRNN
from tests.refusals import refuses

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=2, m=2),
    LinearRNN(n=2, T=3, b=1, d=2, m=1),
    LinearFeedForward(q=2, widths=(2,), d=2, m=2),
]
PLACE = {"row": 1, "column": 2}


def lines(cells, line):
    return len({(c[0], c[PLACE[line]]) for c in cells})


@pytest.mark.parametrize("line", ["row", "column"])
@pytest.mark.parametrize("network", NETS, ids=str)
def test_brute_force(network, line):
    """The fewest lines, and among those the least cost; with and without a cap, a must."""
    rng = np.random.default_rng(3)
    cells = [c for c in all_cells(network) if c[0] in ("W", "W1", "W2")]
    costs = {cell: Fraction(int(rng.integers(0, 20)), 3) for cell in cells}
    first = checked_demand(network, allowed=cells)
    bases = [
        chosen
        for chosen in combinations(cells, first.equations)
        if allocation_rank(Allocation.from_cells(network, chosen)).rank == first.equations
    ]
    for caps, must in (({}, []), ({"column": 2}, []), ({"row": 2}, []), ({}, [cells[-1]])):
        able = [
            chosen
            for chosen in bases
            if set(must) <= set(chosen)
            and all(
                sum(c[0] == n and c[PLACE[kind]] == k for c in chosen) <= number
                for kind, number in caps.items()
                for n, k in {(c[0], c[PLACE[kind]]) for c in chosen}
            )
        ]
        demand = checked_demand(network, allowed=cells, costs=costs, caps=caps, must=must)
        if not able:
            refuses("no allocation with at most", fewest_neurons, demand, line)
            continue
        found = fewest_neurons(demand, line)
        best = min((lines(c, line), sum(costs[x] for x in c)) for c in able)
        assert (found.value, found.cost) == best
        assert found.is_optimal
        assert set(must) <= set(found.allocation.cells)
        assert lines(found.allocation.cells, line) == found.value


def test_a_search_cut_short_is_honest():
    """Without time the first allocation is given with a valid bound."""
    network = LinearRNN(n=6, T=2, b=1, d=2, m=2)
    rng = np.random.default_rng(0)
    costs = {cell: Fraction(int(rng.integers(1, 50))) for cell in all_cells(network)}
    demand = checked_demand(
        network, costs=costs, allowed=[c for c in all_cells(network) if c[0] == "W"]
    )
    full = fewest_neurons(demand)
    cut = fewest_neurons(demand, seconds=0.0)
    assert cut.bound <= full.value <= cut.value
    assert full.is_optimal
    refuses("row or column", fewest_neurons, demand, "matrix")


def test_rows_of_W_and_B_are_the_same_neurons():
    """With W and B free to learn, brute force over neurons that both belong to."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    rng = np.random.default_rng(8)
    cells = [c for c in all_cells(network) if c[0] in ("W", "B") and c[1:] != (0, 0)]
    costs = {cell: Fraction(int(rng.integers(1, 9))) for cell in cells}
    for line in ("row", "column"):
        demand = checked_demand(network, allowed=cells, costs=costs, caps={"row": 1})
        found = fewest_neurons(demand, line)
        best = min(
            (len({neuron_of(network, c, line) for c in pair}), sum(costs[c] for c in pair))
            for pair in combinations(cells, 2)
            if pair[0][:2] != pair[1][:2]
            and allocation_rank(Allocation.from_cells(network, pair)).rank == 2
        )
        assert (found.value, found.cost) == best
    assert neuron_of(network, ("B", 2, 0)) == neuron_of(network, ("W", 2, 1)) == ("hidden", 2)
    assert neuron_of(network, ("D", 0, 1), "column") == ("hidden", 1)


def test_caps_on_the_counted_line():
    """Chosen columns full, others needed: their gains differ from those over the whole span."""
    network = LinearEstimator(q=4, d=3, m=1)
    prices = {(0, 1): 14, (0, 2): 1, (1, 1): 6, (2, 0): 25, (2, 1): 68, (2, 2): 80, (2, 3): 27}
    costs = {("W", *place): price for place, price in prices.items()}
    demand = checked_demand(network, allowed=list(costs), costs=costs, caps={"column": 2})
    found = fewest_neurons(demand, "column")
    assert found.cost == found.cost_bound == 45
    assert found.allocation.cells == (("W", 0, 1), ("W", 1, 1), ("W", 2, 0))
    assert found.value == found.bound == 2
