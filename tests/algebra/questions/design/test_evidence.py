"""Evidence of designs survives a file exactly, and damaged fields are named."""

import json

import pytest

from algebra.certificates.checks import CheckFailed
from algebra.certificates.duals import DualInFile
from algebra.certificates.records import read_form
from algebra.networks.recurrent import LinearRNN
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.goals import GOALS, SearchOptions
from algebra.ranks.jacobian import all_cells
from tests.plain_data import changed, places, value_at

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
