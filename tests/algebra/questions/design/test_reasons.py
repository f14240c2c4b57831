"""Reasons why no allocation meets a demand: their numbers agree with brute force."""

import itertools
import re

import pytest

from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import NoDesign, checked_demand
from algebra.ranks.generic_rank import allocation_rank
from matchprob import Allocation, LinearEstimator
from tests.refusals import refuses

NET = LinearEstimator(q=3, d=2, m=2)
CELLS = [("W", i, j) for i in range(2) for j in range(3)]


def rank(cells):
    return allocation_rank(Allocation.from_cells(NET, cells)).rank


def reason(**options):
    return str(refuses("", cheapest, checked_demand(NET, **options), error=NoDesign))


def test_too_few_cells_by_their_rank():
    """Without caps: the rank of all weights that may learn, as by elimination."""
    allowed = [*CELLS[:3], CELLS[3]]
    text = reason(allowed=allowed)
    assert f"only {rank(allowed)} of 4" in text


def test_a_cap_leaves_too_few():
    """Edmonds' sum of the cells outside and the rank inside is too small."""
    text = reason(caps={"row": 1})
    numbers = re.search(r"permit (\d+) of the 6", text) or re.search(r"= (\d+) of 4", text)
    assert int(numbers[1]) < 4


def test_every_refusal_is_right():
    """With any allowed weights under a cap of rows: refused if and only if no subset suffices."""
    for size in (4, 5):
        for allowed in itertools.combinations(CELLS, size):
            for cap in (1, 2, 3):
                fits = any(
                    rank(chosen) == 4
                    and all(sum(c[1] == i for c in chosen) <= cap for i in range(2))
                    for chosen in itertools.combinations(allowed, 4)
                )
                demand = checked_demand(NET, allowed=list(allowed), caps={"row": cap})
                if fits:
                    assert cheapest(demand).rank.rank == 4
                else:
                    with pytest.raises(NoDesign, match="weight"):
                        cheapest(demand)


def test_two_caps_that_cross():
    """Each cap alone could be kept: the message names the lines that together leave too little."""
    text = reason(caps={"row": 2, "column": 1})
    assert "at most 2 weights in a row and at most 1 weight in a column" in text or "column" in text
    assert re.search(r"permit \d+|only \d+", text)
