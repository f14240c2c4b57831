"""A theorem is refused where its premises do not hold, in search and in check."""

import copy
import json
import random
from dataclasses import replace

import pytest

import matchprob as mp
from algebra.certificates.on_ranks import certified
from algebra.certificates.tools import Effort
from algebra.families.certify import certify
from algebra.families.theorems import theorems
from algebra.families.verify import verify
from algebra.problems.premises import Feature
from tests import options
from tests.grafts import _envelope, run
from tests.plain_data import changed, data_of, failures
from tests.samples import DIAGONAL, LONG, NET, many

# The teacher is a student in another basis: the diagonal of W, with all of D.
REACHED = mp.Problem(
    mp.LinearRNN(n=2, T=3, b=1, d=2, m=3),
    {"W": [[1, 0], [0, 1]], "D": [[1, 1], [1, 1]]},
    support={"W": [[1, 0], [0, 1]]},
)
# Two cells within the reach of ties, in a block of units 0 and 1.
PART = mp.Problem(
    mp.LinearRNN(n=4, T=2, b=1, d=1, m=2),
    {"W": [[1, 0, 0, 0], [0, 1, 0, 0], [0] * 4, [0] * 4], "D": {"tied": [[0, 0, 1, 1]]}},
    support={
        "W": [[1, 1, 0, 0], [1, 1, 0, 0], [0] * 4, [0] * 4],
        "B": [[1], [1], [0], [0]],
    },
)


def test_labels_that_no_teacher_gives():
    """A change of basis of the teacher proves nothing about arbitrary labels."""
    data = data_of(REACHED)
    assert "teacher_reached" in data["evidence"]
    assert verify(data).holds
    data["problem"].setdefault("distribution", {})["labels"] = "normal"
    del data["evidence"]["network_rank"]
    assert failures(verify(data)) == ["verdict"]
    assert "arbitrary labels" in verify(data).checks[-1].text


def test_labels_of_another_network():
    """The same inside a problem whose labels a larger network gives."""
    data = data_of(REACHED)
    inner = copy.deepcopy(data)
    inner["problem"].setdefault("distribution", {})["labels"] = "normal"
    del inner["evidence"]["network_rank"]
    data["problem"]["teacher"] = {"network": {**data["problem"]["network"], "n": 3}}
    data |= {"evidence": {"arbitrary": inner}, "generic_root_count": None, "equations": 6}
    assert not verify(data).holds


@pytest.mark.parametrize(
    "option",
    [
        {"values": {"D": [["0", "1", "", ""]]}},
        {"distribution": mp.Distribution(weights="uniform")},
        {"support": {}},
    ],
)
def test_a_part_has_the_laws_of_the_whole(option):
    """A certificate of cells within reach is about this problem, in every field."""
    part = certify(mp.Problem(PART.network, {"W": PART.learnable["W"]}, **option))
    whole = json.loads(certify(PART, timeout=5, search=0).to_json())
    whole |= {"verdict": "maximal", "generic_root_count": None}
    whole["evidence"] = {
        k: v for k, v in whole["evidence"].items() if k in ("network_rank", "allocation_rank")
    }
    own = json.loads(part.to_json())
    own["verdict"] = "maximal"
    whole["evidence"]["part"] = own
    assert failures(verify(whole)) == ["evidence.part.problem"]


def test_what_certify_writes_is_verified():
    """Measured weights with bounded laws: no evidence of MP < 1 stands beside "undecided"."""
    problem = mp.Problem(
        mp.LinearRNN(n=3, T=4, b=1, d=2, m=1),
        {"W": [[0, 0, 1], [0, 0, 0], [0, 0, 0]], "D": [[0, 1, 1], [0, 0, 0]]},
        values={"B": [["1/2"], ["1/3"], ["3/4"]], "jitter": "1/10"},
        distribution=mp.Distribution(weights="uniform", inputs="uniform", teacher="uniform"),
    )
    found = certify(problem)
    assert found.verdict == "undecided"
    assert verify(json.loads(found.to_json())).holds


def test_the_frame_refuses_a_search_without_premises():
    """A certificate whose theorem does not cover the problem is a fault of the program."""
    found = certify(DIAGONAL)
    arbitrary = DIAGONAL.with_arbitrary_labels()
    with pytest.raises(AssertionError):
        certified(arbitrary, Effort(), lambda: replace(found, theorem=None))


@pytest.mark.parametrize("theorem", theorems(), ids=lambda own: f"{own.name}-{own.claim}")
def test_each_premise_has_its_sentence(theorem):
    """A theorem covers features only, each with a sentence; constraints and draws only rarely."""
    assert theorem.claim in ("minimal", "maximal", "intermediate")
    assert all(isinstance(feature, Feature) and len(text) > 10
               for feature, text in theorem.covers.items())  # fmt: skip
    assert Feature.RANDOM_CELLS not in theorem.covers
    assert theorem.claim == "minimal" or not {Feature.BOUNDS, Feature.MATCH_SIGNS} & set(
        theorem.covers
    )


def test_an_uncovered_feature_is_refused_whatever_the_evidence():
    """A genuine file with one feature more, its envelope made anew, for every feature of laws."""
    data = data_of(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}))
    assert data["verdict"] == "maximal"
    taught = changed(
        data, ("problem", "teacher"), {"network": {**data["problem"]["network"], "n": 3}}
    )
    assert not verify(taught).holds
    labelled = changed(data, ("problem", "distribution"), {"labels": "normal"})
    _envelope(labelled)
    assert verify(labelled).holds


def test_no_graft_with_a_false_claim_holds():
    """Evidence in an honest envelope of a problem with other features."""
    numbers, wrong = run(random.randrange(10**6), many(60) if not LONG else 2_000)
    assert not wrong
    # Almost half of them hold, so of a few it may be that none does.
    assert numbers["hold"] > numbers["grafts"] // 10 or numbers["grafts"] < 50


def test_what_certify_writes_is_verified_whatever_the_options():
    """Random problems over all options: files are accepted, and trials do not contradict them."""
    numbers, wrong = options.run(random.randrange(10**6), many(12) if not LONG else 2_000)
    assert not wrong
    assert numbers["problems"] > numbers["refused"]
