"""Texts of a design: its cost, its rank, its fullest lines, its error rounded up."""

import json
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.checker.checks import CheckFailed
from algebra.checker.duals import DualInFile
from algebra.checker.records import read_form
from algebra.linalg.numbers import float_text
from algebra.networks.recurrent import LinearRNN
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.goals import GOALS, SearchOptions
from algebra.questions.design.result import allocation_of, design_of, fullest
from algebra.ranks.jacobian import all_cells
from matchprob import Allocation, LinearEstimator
from tests.plain_data import changed, places, value_at

ESTIMATOR = LinearEstimator(q=3, d=2, m=2)


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
        allocation = Allocation.from_cells(ESTIMATOR, cells)
        rows = [sum(c[1] == i for c in cells) for i in range(2)]
        columns = [sum(c[2] == j for c in cells) for j in range(3)]
        assert fullest(allocation, "row") == max(rows)
        assert fullest(allocation, "column") == max(columns)
        assert fullest(allocation, "matrix") == len(cells)


def test_cost_and_rank():
    """Value, bound and cost are the cost by default."""
    demand = checked_demand(ESTIMATOR, costs={("W", 0, 0): Fraction(5, 2)}, must=[("W", 0, 0)])
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
    minimal = Allocation.from_masks(ESTIMATOR, W=[[1, 1, 1], [1, 0, 0]])
    with pytest.raises(ArithmeticError):
        design_of(checked_demand(ESTIMATOR), minimal, "cheapest", Fraction(0), ())


NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)
CELLS = [cell for cell in all_cells(NET) if cell[0] == "W"]
CAPS = {"cheapest": [{}, {"row": 1}, {"row": 1, "column": 1}], "spread": [{}], "neurons": [{}]}
CASES = [(goal, caps) for goal, sets in {**CAPS, "maximal": [{}]}.items() for caps in sets]


def evidence(goal, caps):
    """The evidence of a small design."""
    demand = checked_demand(NET, allowed=CELLS, caps=caps)
    return GOALS[goal].search(demand, SearchOptions(line="row", timeout=20.0)).evidence


@pytest.mark.parametrize(("goal", "caps"), CASES, ids=str)
def test_through_a_file_and_back(goal, caps):
    """Equal after JSON: numbers, cells and branches are read as they were written."""
    found = evidence(goal, caps)
    assert GOALS[goal].read_evidence(json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize(("goal", "caps"), CASES, ids=str)
def test_damaged_fields_are_refused(goal, caps):
    """A word, half a number or a table in any place: CheckFailed, and no other exception."""
    data = evidence(goal, caps).to_dict()
    data = json.loads(json.dumps(data))
    leaves = [path for path in places(data) if not isinstance(value_at(data, path), (dict, list))]
    for path in leaves[:12]:
        for bad in (["word"], 0.5, {"a": 1}):
            with pytest.raises(CheckFailed):
                GOALS[goal].read_evidence(changed(data, path, bad))


def test_what_is_no_dual():
    """The place is named."""
    for bad in (None, [], {"kind": "tree"}, {"weights": "many"}):
        with pytest.raises(CheckFailed) as failed:
            read_form(DualInFile, bad, "evidence.cost")
        assert failed.value.place.startswith("evidence.cost")
