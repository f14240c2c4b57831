"""The cheapest certified maximal design against the root counts of all bases."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from algebra.families.certify import certify
from algebra.questions.design.demand import SearchUnfinished, checked_demand
from algebra.questions.design.maximal import _BestMaximal, _exchange, cheapest_maximal
from algebra.questions.design.odd_counts import Parity
from algebra.questions.design.result import CountedRoots
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, InputError, LinearEstimator, LinearFeedForward, LinearRNN, Problem
from tests.refusals import refuses
from tests.samples import NET

NETS = [
    LinearEstimator(q=3, d=2, m=2),
    LinearRNN(n=2, T=2, b=1, d=1, m=2),
    LinearRNN(n=3, T=2, b=1, d=1, m=2),
    LinearFeedForward(q=2, widths=(2,), d=1, m=2),
]


def told(odd):
    """A parity that is given and not counted."""
    return lambda a: Parity(odd, "as told", CountedRoots(a.cells, ((a.cells, 2 - bool(odd)),)))


@pytest.mark.parametrize("network", NETS, ids=str)
def test_brute_force(network):
    """Random costs, with a cap and without: no certified maximal allocation is cheaper."""
    rng = np.random.default_rng(2)
    cells = [c for c in all_cells(network) if c[0] in ("W", "W1", "W2")]
    costs = {cell: Fraction(int(rng.integers(1, 30)), 2) for cell in cells}
    size = checked_demand(network, allowed=cells).equations
    verdicts = {
        chosen: certify(Problem.of(Allocation.from_cells(network, chosen)), search=0.0).verdict
        for chosen in combinations(cells, size)
    }
    for caps in ({}, {"column": 1}):
        able = [
            sum(costs[c] for c in chosen)
            for chosen, verdict in verdicts.items()
            if verdict == "maximal"
            and (not caps or len({(c[0], c[2]) for c in chosen}) == len(chosen))
        ]
        demand = checked_demand(network, allowed=cells, costs=costs, caps=caps)
        if not able:
            refuses("no allocation", cheapest_maximal, demand)
            continue
        found = cheapest_maximal(demand)
        assert found.cost == min(able)
        assert found.is_optimal
        assert verdicts[found.allocation.cells] == "maximal"


def test_no_maximal_allocation_is_a_definite_answer():
    """If every basis has an even root count, the message says so."""
    diagonal = [("W", 0, 0), ("W", 1, 1)]
    refuses("are even", cheapest_maximal, checked_demand(NET, allowed=diagonal))


def test_a_large_net_in_the_form_of_theorem_3_5():
    """Full rows are found at once; without time for all cheaper ones the bound still holds."""
    network = LinearRNN(n=16, T=4, b=1, d=4, m=4)
    rng = np.random.default_rng(0)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    costs = {cell: Fraction(int(rng.integers(1, 100))) for cell in cells}
    demand = checked_demand(network, allowed=cells, costs=costs)
    found = cheapest_maximal(demand, seconds=2.0, timeout=0.2)
    assert found.proof.startswith("maximal: N = ")
    assert found.bound <= found.cost


def test_designs_that_cannot_be_counted_keep_the_bound_low():
    """A cheaper design of unknown root count is named; if all are unknown, none is found."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    costs = {cell: Fraction(k + 1) for k, cell in enumerate(cells)}
    demand = checked_demand(network, allowed=cells, costs=costs, must=[("W", 2, 2)])

    def parity(allocation):
        return told(None if ("W", 0, 0) in allocation.cells else True)(allocation)

    found = cheapest_maximal(demand, parity=parity)
    assert found.cost == 11
    assert found.bound == 10
    assert not found.is_optimal
    with pytest.raises(SearchUnfinished, match="could not be counted"):
        cheapest_maximal(demand, parity=told(None))


def test_exchange_moves_lower_the_cost():
    """From an expensive design, weights are replaced by cheaper ones while it stays certified."""
    network = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    cells = [c for c in all_cells(network) if c[0] == "W"]
    costs = {cell: Fraction(k + 1) for k, cell in enumerate(cells)}
    demand = checked_demand(network, allowed=cells, costs=costs)
    start = Allocation.from_cells(network, [("W", 2, 1), ("W", 2, 2)])
    best = _BestMaximal(Fraction(17), start)
    _exchange(demand, told(True), best, start, time.monotonic() + 10)
    assert best.cost == 3
    best = _BestMaximal(Fraction(17), start)
    _exchange(demand, told(False), best, start, time.monotonic() + 10)
    assert best.allocation == start


def test_nothing_left_to_choose():
    """All weights must learn, with a cap: one design, which is counted or refused."""
    row, diagonal = [("W", 0, 0), ("W", 0, 1)], [("W", 0, 0), ("W", 1, 1)]
    demand = checked_demand(NET, allowed=row, must=row, caps={"column": 1, "row": 2})
    assert cheapest_maximal(demand).cost == 2
    with pytest.raises(InputError, match="are even"):
        cheapest_maximal(checked_demand(NET, allowed=diagonal, must=diagonal, caps={"column": 1}))
