"""Texts of a design: its cost, its rank, its fullest lines, its error rounded up."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.rational import float_text
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.result import allocation_of, design_of, fullest
from matchprob import Allocation, LinearEstimator

NET = LinearEstimator(q=3, d=2, m=2)


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=1).filter(lambda x: x < 1))
def test_bounds_are_rounded_up_to_two_digits(value):
    """The text is no smaller than the bound, and larger by at most a tenth of its leading digit."""
    written = Fraction(float_text(value))
    assert value <= written <= value * Fraction(11, 10)


def test_fullest_lines_by_counting():
    """Rows and columns of one matrix, against the cells counted one by one."""
    rng = random.Random(3)
    every = [("W", i, j) for i in range(2) for j in range(3)]
    for _ in range(40):
        cells = rng.sample(every, rng.randint(1, 6))
        allocation = Allocation.from_cells(NET, cells)
        rows = [sum(c[1] == i for c in cells) for i in range(2)]
        columns = [sum(c[2] == j for c in cells) for j in range(3)]
        assert fullest(allocation, "row") == max(rows)
        assert fullest(allocation, "column") == max(columns)
        assert fullest(allocation, "matrix") == len(cells)


def test_cost_and_rank():
    """Value, bound and cost are the cost by default."""
    demand = checked_demand(NET, costs={("W", 0, 0): Fraction(5, 2)}, must=[("W", 0, 0)])
    others = [k for k, cell in enumerate(demand.free) if cell in (("W", 0, 1), ("W", 1, 0))]
    others.append(demand.free.index(("W", 1, 1)))
    allocation = allocation_of(demand, others)
    found = design_of(demand, allocation, "cheapest", Fraction(0), ())
    assert found.cost == found.value == found.bound == found.cost_bound == Fraction(11, 2)
    assert found.rank.rank == demand.equations == 4
    assert found.is_optimal
    assert found.to_dict()["cost"] == "11/2"
    other = design_of(demand, allocation, "spread", Fraction(0), (), value=Fraction(2), bound=1)
    assert not other.is_optimal


def test_a_minimal_design_is_a_bug():
    """A design with too small a rank is never returned."""
    minimal = Allocation.from_masks(NET, W=[[1, 1, 1], [1, 0, 0]])
    with pytest.raises(ArithmeticError):
        design_of(checked_demand(NET), minimal, "cheapest", Fraction(0), ())
