"""Proofs that labels are out of reach, and forgeries of them."""

import json
from fractions import Fraction
from functools import cache

import pytest

import matchprob as mp
from algebra.checker.checks import FAILED
from algebra.families.activations.decision import BOXED_DECISION
from algebra.families.activations.reach import LabelReach

WIDE = mp.FeedForward(q=3, widths=(4,), d=2, m=4, activation="tanh", biases=True)
STEPS = mp.RNN(n=4, T=3, b=2, d=2, m=3, activation="sigmoid", read="all")
PROBLEMS = {
    "feed-forward": mp.Problem(WIDE, {"W1": [[1] * 3] * 4}),
    "recurrent": mp.Problem(STEPS, {"W": [[1] * 4] * 4}),
    "one row learns": mp.Problem(WIDE, {"W1": [[1] * 3] * 4, "W2": [[1, 1, 0, 0], [0] * 4]}),
    "positive": mp.Problem(
        mp.FeedForward(q=3, widths=(3,), d=2, m=5, activation="softplus"), {"W1": [[1] * 3] * 3}
    ),
}


@cache
def proof(name):
    """The text of the first proof by labels that are out of reach."""
    for index in range(60):
        found = mp.decide(PROBLEMS[name], index)
        if found.separated is not None:
            return json.dumps(found.certificate())
    raise AssertionError(name)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_proof_holds(name):
    """More weights than are divided into boxes; the whole check by its process too."""
    data = json.loads(proof(name))
    assert "parts" not in data
    found = BOXED_DECISION.verify(data)
    assert found.holds
    assert found.checks[-1].text.endswith("the outputs read bounded values")


def test_the_verb_verifies_it():
    """In the process of the check, from the command line's file."""
    assert mp.verify(json.loads(proof("feed-forward"))).holds


def test_labels_within_reach_are_not_excluded():
    """The labels of the student itself, for factors of any signs; with the teacher as they are."""
    data = json.loads(proof("feed-forward"))
    for factors in (["1", "0"], ["-1", "0"], ["0", "1"], ["3", "-7"], ["0", "0"]):
        for sample in range(4):
            own = {"sample": sample, "reading": 0, "factors": factors}
            found = BOXED_DECISION.verify({**data, "teacher": data["weights"], "separated": own})
            assert not found.holds


@pytest.mark.parametrize(
    "change",
    [
        {"sample": 4},
        {"reading": 1},
        {"factors": []},
        {"factors": ["1"]},
        {"factors": ["1", "0", "0"]},
        {"factors": ["0", "0"]},
        {"factors": ["1/0", "0"]},
        {"factors": ["nan", "0"]},
        {"sample": -1},
        {"sample": True},
        {"more": 1},
    ],
)
def test_changed_fields_do_not_hold(change):
    """Numbers out of range, other lengths, zeros, what is no number, unknown keys."""
    data = json.loads(proof("feed-forward"))
    found = BOXED_DECISION.verify({**data, "separated": {**data["separated"], **change}})
    assert not found.holds
    assert found.checks[-1].status == FAILED


def test_the_opposite_direction_does_not_hold():
    """Factors of the other sign separate nothing."""
    data = json.loads(proof("recurrent"))
    own = data["separated"]
    turned = {**own, "factors": [str(-Fraction(x)) for x in own["factors"]]}
    assert not BOXED_DECISION.verify({**data, "separated": turned}).holds


def test_rows_that_learn_separate_nothing():
    """If the read-out learns, or its bias, the same factors are no proof."""
    data = json.loads(proof("feed-forward"))
    for learns in ({"W2": [[1, 0, 0, 0], [1, 0, 0, 0]]}, {"e": [[1], [1]]}):
        problem = {**data["problem"], "learnable": {**data["problem"]["learnable"], **learns}}
        found = BOXED_DECISION.verify({**data, "problem": problem})
        assert not found.holds
        assert "every row" in found.checks[-1].text


def test_it_belongs_to_no_match_alone():
    """Beside a match, or beside parts, it is refused; so is a file without either."""
    data = json.loads(proof("feed-forward"))
    assert not BOXED_DECISION.verify({**data, "verdict": "match"}).holds
    assert not BOXED_DECISION.verify({**data, "parts": ["."]}).holds
    assert not BOXED_DECISION.verify({k: v for k, v in data.items() if k != "separated"}).holds


def test_what_has_no_bounds():
    """Polynomials, linear networks, and ReLU have none that are used here."""
    cubic = mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation={"polynomial": [0, 0, 0, 1]})
    relu = mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="relu")
    for network in (cubic, relu):
        assert LabelReach.of(mp.Problem(network, {"W1": [[1, 1], [0, 0]]})) is None
