"""Decisions of single instances of networks with activations, and forgeries of them."""

import json
from functools import cache

import pytest

import matchprob as mp
from algebra.checker.checks import FAILED
from algebra.families.activations.decision import BOXED_DECISION
from tests.refusals import refuses

NETS = {
    "tanh": (
        mp.FeedForward(3, (3,), 1, 2, activation="tanh"), {"W1": [[1, 0, 0], [0, 1, 0], [0] * 3]},
    ),
    "softplus": (
        mp.FeedForward(3, (2,), 1, 2, activation="softplus"), {"W1": [[1, 0, 0], [0, 1, 0]]},
    ),
    "erf": (mp.FeedForward(2, (2,), 1, 2, activation="erf"), {"W1": [[1, 0], [0, 1]]}),
    "sigmoid": (
        mp.RNN(n=2, T=2, b=2, d=1, m=2, activation="sigmoid", biases=True),
        {"W": [[1, 0], [0, 0]], "c": [[1], [0]]},
    ),
}  # fmt: skip


@cache
def _files(name):
    """For each verdict the text of a file."""
    net, mask = NETS[name]
    found = {}
    # Instance 0 of the softplus net stays open, after seconds.
    for index in range(1, 40):
        decision = mp.decide(mp.Problem(net, mask), index)
        # Proofs by labels that are out of reach are in test_reach.py.
        if decision.verdict == "undetermined" or decision.separated is not None:
            continue
        found.setdefault(decision.verdict, json.dumps(decision.certificate()))
        if {"match", "no match"} <= found.keys():
            break
    return found


@pytest.mark.parametrize("name", NETS)
def test_what_decide_writes_holds(name):
    """A match and a refutation of every function, checked in balls."""
    assert {"match", "no match"} <= _files(name).keys()
    for text in _files(name).values():
        assert BOXED_DECISION.verify(json.loads(text)).holds
    assert mp.verify(json.loads(_files(name)["match"])).holds


def test_an_instance_with_a_match_has_no_refutation():
    """Whatever the division of the boxes, a file that says "no match" of it does not hold."""
    data = json.loads(_files("tanh")["match"])
    del data["near"]
    other = json.loads(_files("tanh")["no match"])["parts"]
    fine = ["0" * 6 + "." * 7] * len(other)
    for parts in (other, ["."] * len(other), fine):
        found = BOXED_DECISION.verify({**data, "verdict": "no match", "parts": parts})
        assert not found.holds
        assert found.checks[-1].text.startswith("not refuted")


def test_a_point_that_is_no_solution_is_no_match():
    """Weights of another instance, and a "match" of one without any, are refused."""
    data = json.loads(_files("erf")["match"])
    assert not BOXED_DECISION.verify({**data, "near": ["7", "-7"]}).holds
    none = json.loads(_files("erf")["no match"])
    del none["parts"]
    assert not BOXED_DECISION.verify({**none, "verdict": "match", "near": data["near"]}).holds


def test_boxes_must_be_divided_as_the_file_says():
    """Missing, additional and unknown parts are failures with their place."""
    data = json.loads(_files("sigmoid")["no match"])
    parts = data["parts"]
    for wrong, place in (
        (parts[1:], "parts"),
        ([*parts, "."], "parts"),
        (["..", *parts[1:]], "parts[0]"),
        (["0.", *parts[1:]], "parts[0]"),
        (["7..", *parts[1:]], "parts[0]"),
        (["x", *parts[1:]], "parts[0]"),
        (["", *parts[1:]], "parts[0]"),
    ):
        found = BOXED_DECISION.verify({**data, "parts": wrong})
        (failed,) = [c.place for c in found.checks if c.status == FAILED]
        assert failed.endswith(place)


def test_other_fields_are_refused():
    """A second source of labels, none, constraints, and too many parts."""
    data = json.loads(_files("tanh")["no match"])
    with_labels = {**data, "Y": [["0", "1"]]}
    assert not BOXED_DECISION.verify(with_labels).holds
    assert not BOXED_DECISION.verify({k: v for k, v in data.items() if k != "teacher"}).holds
    bounded = {**data["problem"], "constraints": {"max_abs": 3.0}}
    assert not BOXED_DECISION.verify({**data, "problem": bounded}).holds
    assert not BOXED_DECISION.verify({**data, "near": ["1", "2"]}).holds
    assert not BOXED_DECISION.verify({**data, "verdict": "maximal"}).holds
    many = ["0" * 150_000 + "." * 150_001, *data["parts"][1:]]
    limit = BOXED_DECISION.verify({**data, "parts": many})
    assert limit.is_unfinished
    assert "more than" in limit.checks[-1].text
    refuses("version", BOXED_DECISION.verify, {**data, "version": 2})


def test_what_is_not_decided_is_said():
    """More weights than four where labels have no bounds, and constraints, are refused."""
    net = mp.FeedForward(5, (2,), 1, 5, activation="tanh")
    learns = {"W1": [[1] * 5, [0] * 5], "W2": [[1, 0]]}
    refuses("at most 4", mp.decide, mp.Problem(net, learns))
    net, mask = NETS["tanh"]
    small = mp.Constraints(max_abs=1.0)
    refuses("constraints", mp.decide, mp.Problem(net, mask, constraints=small))
