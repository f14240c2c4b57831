"""Ties of cheapest designs, against all designs of small nets."""

from itertools import combinations

import pytest

import matchprob as mp
from algebra.ranks.generic_rank import allocation_rank
from tests.samples import NET


def all_cheapest(net, found):
    """Every allocation of the same cost that is not minimal, by enumeration."""
    cells, cost = found.demand.cells, found.demand.cost
    size, rank = found.allocation.size, found.network_rank
    return [
        set(chosen)
        for chosen in combinations(cells, size)
        if cost(chosen) == found.cost
        and allocation_rank(mp.Allocation.from_cells(net, chosen), {}, rank).rank == rank
    ]


@pytest.mark.parametrize(
    "costs",
    [{}, {("W", 0, 0): 3}, {("W", 0, 0): 2, ("W", 0, 1): 2, ("W", 1, 0): "1/2"}],
)
@pytest.mark.parametrize(
    "net", [mp.LinearEstimator(q=3, d=2, m=2), mp.LinearRNN(n=3, T=2, b=1, d=1, m=2)], ids=str
)
def test_every_and_none_are_those_of_all_designs(net, costs):
    """Forced and excluded weights are the common ones of all designs; the number is a bound."""
    found = mp.design(mp.Problem(net, {}), matrices=["W"], costs=costs)
    every = all_cheapest(net, found)
    ties = found.ties
    assert set(ties.in_every) == set.intersection(*every)
    assert set(ties.in_none) == set(found.demand.cells) - set.union(*every)
    assert 1 <= ties.at_least <= len(every)
    assert (ties.at_least == 1) == (len(every) == 1)
    data = found.to_dict()
    assert data["designs_at_least"] == str(ties.at_least)
    assert [tuple(c) for c in data["in_every"]] == [*ties.in_every]
    said = " ".join(found.explain().known)
    assert ("the only one" in said) == (len(every) == 1)


def test_a_large_net_has_more_designs_than_can_be_listed():
    """The number is said as a power of 10, or as a least number, with what they share."""
    found = mp.design(mp.Problem(mp.LinearRNN(n=20, T=3, b=2, d=2, m=6), {}), matrices=["W"])
    assert found.ties.at_least > 300
    assert "It is one of many" in " ".join(found.explain().known)


def test_with_caps_nothing_is_said():
    """Ties under caps are not those of one matroid."""
    assert mp.design(mp.Problem(NET, {}), matrices=["W"], caps={"row": 1}).ties is None
    assert mp.design(mp.Problem(NET, {}), matrices=["W"], goal="spread").ties is None
