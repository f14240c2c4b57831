"""Proofs of designs hold, survive a file, and fail where anything in them is changed."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from algebra.design.cheapest import cheapest, most_spread
from algebra.design.demand import demand
from algebra.design.neurons import fewest_neurons
from algebra.design.proof import design_to_dict, verify_design
from algebra.errors import InputError
from algebra.networks.base import LinearRNN
from algebra.ranks.jacobian import all_cells
from numeric.cap_relaxation import linear_relaxation

NET = LinearRNN(n=5, T=2, b=1, d=2, m=2)
CELLS = [c for c in all_cells(NET) if c[0] == "W"]


def asked(**options):
    rng = np.random.default_rng(4)
    costs = {cell: Fraction(int(rng.integers(1, 40)), 3) for cell in CELLS}
    return demand(NET, allowed=CELLS, costs=costs, **options)


DEMANDS = [
    {},
    {"caps": {"row": 1}},
    {"caps": {"row": 1, "column": 1}},
    {"must": [("W", 2, 2)], "caps": {"column": 2}},
    {"budget": 6, "caps": {"row": 2, "column": 2}},
]


@pytest.mark.parametrize("options", DEMANDS, ids=str)
def test_proofs_hold_and_changes_are_noticed(options):
    """A proof read back from JSON holds; dearer designs and other dual solutions do not."""
    question = asked(**options)
    found = cheapest(question, relaxation=linear_relaxation)
    data = json.loads(json.dumps(design_to_dict(question, found)))
    assert verify_design(data).holds
    assert verify_design(data, seed=7).holds
    wrong = copy.deepcopy(data)
    wrong["cost"] = "1"
    assert verify_design(wrong).checks[-1].place == "cost"
    wrong = copy.deepcopy(data)
    wrong["design"] = wrong["design"][1:]
    assert not verify_design(wrong).holds
    wrong = copy.deepcopy(data)
    wrong["prices"] = [str(2 * Fraction(t) if k % 2 else Fraction(t))
                       for k, t in enumerate(data["prices"])]  # fmt: skip
    wrong["cost"] = str(
        sum(Fraction(wrong["prices"][CELLS.index(tuple(c))]) for c in wrong["design"])
    )
    assert not verify_design(wrong).holds
    wrong = copy.deepcopy(data)
    if data["evidence"]["kind"] == "tree":
        wrong["evidence"]["leaves"] = [
            [[0], [], lines] for _, _, lines in data["evidence"]["leaves"]
        ]
    else:
        wrong["evidence"]["first"] = [0] * len(data["evidence"]["first"])
        wrong["evidence"]["first"][0] = 10**6
    assert not verify_design(wrong).holds
    wrong = copy.deepcopy(data)
    del wrong["evidence"]
    assert "malformed" in verify_design(wrong).checks[-1].text


def test_the_spread_is_checked_too():
    """A cap of one less is refuted anew; a claim that is too weak fails."""
    question = asked()
    found = most_spread(question)
    data = json.loads(json.dumps(design_to_dict(question, found)))
    found_checks = verify_design(data)
    assert found_checks.holds
    assert found_checks.checks[-1].place == "spread"
    wide = cheapest(asked(caps={"row": 3}))
    claim = {**design_to_dict(asked(caps={"row": 3}), wide), "spread": "row", "goal": "spread"}
    assert verify_design(claim).checks[-1].status == "failed"


def test_what_has_no_such_proof():
    """Other goals and other files are refused."""
    with pytest.raises(InputError, match="no proof of this form"):
        design_to_dict(asked(), fewest_neurons(asked()))
    with pytest.raises(InputError, match="not a proof of a design"):
        verify_design({"format": "matchprob-certificate"})
