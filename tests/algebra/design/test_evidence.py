"""Evidence of designs survives a file exactly, and damaged fields are named."""

import copy
import json

import pytest

from algebra.certificates.checks import CheckFailed
from algebra.certificates.duals import DualInFile
from algebra.certificates.records import read_form
from algebra.design.demand import checked_demand
from algebra.design.goals import GOALS, SearchOptions
from algebra.networks.recurrent import LinearRNN
from algebra.ranks.jacobian import all_cells

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


def leaves(data, path=()):
    """Every place of plain data that is neither a table nor a list."""
    if isinstance(data, (dict, list)):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path


@pytest.mark.parametrize(("goal", "caps"), CASES, ids=str)
def test_damaged_fields_are_refused(goal, caps):
    """A word, half a number or a table in any place: CheckFailed, and no other exception."""
    data = evidence(goal, caps).to_dict()
    data = json.loads(json.dumps(data))
    for path in list(leaves(data))[:12]:
        for bad in (["word"], 0.5, {"a": 1}):
            broken = copy.deepcopy(data)
            inner = broken
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = bad
            with pytest.raises(CheckFailed):
                GOALS[goal].read_evidence(broken)


def test_what_is_no_dual():
    """The place is named."""
    for bad in (None, [], {"kind": "tree"}, {"weights": "many"}):
        with pytest.raises(CheckFailed) as failed:
            read_form(DualInFile, bad, "evidence.cost")
        assert failed.value.place.startswith("evidence.cost")
