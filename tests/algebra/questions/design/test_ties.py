"""Ties of cheapest designs, against all designs of small nets."""

import random
from collections import Counter
from itertools import combinations

import pytest

import matchprob as mp
from algebra.questions.design.demand import line_of
from algebra.ranks.generic_rank import allocation_rank
from tests.samples import NET


def all_cheapest(net, found):
    """Every allocation of the same cost and caps that is not minimal, by enumeration."""
    cells, cost = found.demand.cells, found.demand.cost
    size, rank, caps = found.allocation.size, found.network_rank, found.design.caps
    return [
        set(chosen)
        for chosen in combinations(cells, size)
        if cost(chosen) == found.cost
        and found.demand.must <= set(chosen)
        and all(
            max(Counter(line_of(cell, line) for cell in chosen).values()) <= cap
            for line, cap in caps
        )
        and allocation_rank(mp.Allocation.from_cells(net, chosen), {}, rank).rank == rank
    ]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"caps": {"row": 2}},
        {"caps": {"column": 1}},
        {"goal": "spread"},
        {"goal": "spread", "line": "column", "must": [("W", 0, 0)]},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "costs",
    [{}, {("W", 0, 0): 3}, {("W", 0, 0): 2, ("W", 0, 1): 2, ("W", 1, 0): "1/2"}],
)
@pytest.mark.parametrize(
    "net", [mp.LinearEstimator(q=3, d=2, m=2), mp.LinearRNN(n=3, T=2, b=1, d=1, m=2)], ids=str
)
def test_every_and_none_are_those_of_all_designs(net, costs, question):
    """Forced and excluded weights are the common ones of all designs; the number is a bound."""
    if isinstance(net, mp.LinearEstimator) and question.get("caps") == {"column": 1}:
        question = {"caps": {"column": 2}}
    found = mp.design(mp.Problem(net, {}), matrices=["W"], costs=costs, **question)
    every = all_cheapest(net, found)
    ties = found.ties
    must = set(question.get("must", ()))
    assert set(ties.in_every) == set.intersection(*every) - must
    assert set(ties.in_none) == set(found.demand.cells) - set.union(*every)
    assert 1 <= ties.at_least <= len(every)
    assert (ties.at_least == 1) == (len(every) == 1)
    data = found.to_dict()
    assert data["designs_at_least"] == str(ties.at_least)
    assert [tuple(c) for c in data["in_every"]] == [*ties.in_every]
    said = " ".join(found.explain().known)
    assert ("the only one" in said) == (len(every) == 1)


def unevenness(chosen):
    """The sum of the squares of the numbers of weights in rows and columns."""
    return sum(
        number**2
        for line in ("row", "column")
        for number in Counter(line_of(cell, line) for cell in chosen).values()
    )


@pytest.mark.parametrize("caps", [{}, {"row": 2}, {"row": 2, "column": 3}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_ties_are_broken_by_spread(seed, caps):
    """Of all designs of the same cost one of the most even is chosen, or nearly one."""
    rng = random.Random(seed)
    net = mp.LinearRNN(n=3, T=2, b=1, d=1, m=3) if seed % 2 else mp.LinearEstimator(3, 2, 2)
    rows, columns = net.shapes["W"]
    costs = {("W", i, j): rng.randint(1, 2) for i in range(rows) for j in range(columns)}
    found = mp.design(mp.Problem(net, {}), matrices=["W"], costs=costs, caps=caps)
    every = sorted(unevenness(chosen) for chosen in all_cheapest(net, found))
    assert unevenness(found.allocation.cells) <= every[len(every) // 4]
    assert mp.verify(found.proof()).holds


def test_a_large_net_has_more_designs_than_can_be_listed():
    """The number is said as a power of 10, or as a least number; its weights are spread out."""
    net = mp.LinearRNN(n=20, T=3, b=2, d=2, m=6)
    for caps in ({}, {"row": 4}, {"row": 4, "column": 4}):
        found = mp.design(mp.Problem(net, {}), matrices=["W"], caps=caps)
        assert found.design.largest == {"row": 1, "column": 1}
        if len(caps) < 2:
            assert found.ties.at_least > 300
            assert "It is one of many" in " ".join(found.explain().known)


def test_with_several_kinds_of_caps_nothing_is_said():
    """Ties under them are not those of two matroids."""
    caps = {"row": 1, "column": 2}
    assert mp.design(mp.Problem(NET, {}), matrices=["W"], caps=caps).ties is None
