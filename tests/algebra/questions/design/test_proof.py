"""A proof file contains the whole demand; a design without a proof is not written."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from algebra.checker.checks import CheckFailed
from algebra.questions.design.cheapest import cheapest
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.proof import proof_of
from algebra.questions.design.verify import DESIGN
from matchprob import InputError, LinearEstimator
from tests.refusals import refuses

NET = LinearEstimator(q=3, d=2, m=2)
ASKED = checked_demand(
    NET,
    must=[("W", 0, 2)],
    forbidden=[("W", 1, 1)],
    costs={("W", 0, 0): Fraction(1, 3)},
    caps={"row": 3, "column": 2},
)


def written():
    """The proof of the cheapest design, as a file holds it."""
    return json.loads(json.dumps(proof_of(ASKED, cheapest(ASKED)).to_dict()))


def test_the_demand_is_read_back():
    """Cells, prices, caps, required weights: a reader gets the same demand."""
    proof = DESIGN.read(written())
    again = proof.demand(seed=9)
    assert (again.network, again.size, again.must) == (ASKED.network, ASKED.size, ASKED.must)
    assert sorted(again.cells) == sorted(ASKED.cells)
    assert {c: again.prices[c] for c in again.cells} == {c: ASKED.prices[c] for c in ASKED.cells}
    assert dict(again.caps) == dict(ASKED.caps)
    assert proof.to_dict() == written()


def test_only_what_is_proved_is_written():
    """A design without evidence, or one that may not be optimal, has no proof file."""
    found = cheapest(ASKED)
    refuses("has no proof", proof_of, ASKED, replace(found, evidence=None))
    refuses("not proved to be the best", proof_of, ASKED, replace(found, bound=found.bound - 1))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prices", ["1/0"]),
        ("prices", []),
        ("caps", {"diagonal": 2}),
        ("caps", {"row": -1}),
        ("design", [["W", 0]]),
        ("goal", "prettiest"),
        ("size", 4.5),
        ("evidence", None),
        ("cost", "nan"),
    ],
)
def test_damaged_files_are_refused(key, value):
    """Each field is read with its type; errors name the field."""
    refuses("", DESIGN.read, {**written(), key: value}, error=(CheckFailed, InputError))
