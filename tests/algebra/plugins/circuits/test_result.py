"""A recording as text, as data, as a table; and its proof file read again."""

import dataclasses
import json
from fractions import Fraction

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.statements import bound_text
from algebra.plugins.circuits.proof import GroupEvidence
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from matchprob import RNN, LinearRNN, Problem

NET = RNN(n=3, T=2, b=1, d=1, m=2, activation="tanh")
PROBLEM = Problem(NET, {"W": [[1, 0, 1], [0, 1, 0], [0, 0, 1]]}, names={"neurons": ["a", "b", "c"]})


def test_data():
    """The keys that other programs rely on, in agreement with the object."""
    found = record(PROBLEM, "units", costs={"unit b": "1/2"}, forbidden=["unit a"])
    data = json.loads(json.dumps(found.to_dict()))
    assert data["recorded"] == [element.name for element in found.recorded]
    assert data["cost"] == data["bound"] == str(found.cost)
    assert data["optimal"] is True
    assert (data["of"], data["rank"], data["learnable"]) == (2, found.rank.rank, 4)
    assert data["locally_unique"] == (found.rank.rank == 4)
    table = found.columns()
    assert table["name"] == ["unit a", "unit b", "unit c"]
    assert table["allowed"] == [False, True, True]
    assert table["cost"] == ["1", "1/2", "1"]
    assert sum(table["recorded"]) == len(found.recorded)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.cost = 1


def test_text():
    """The free weights, uniqueness, and a note if the rank is an upper bound."""
    unique = record(PROBLEM, "units").explanation[0]
    assert "4 independent directions" in unique
    assert "locally unique" in unique
    few = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=1), {"W": [[1, 1], [1, 1]]})
    found = record(few, "outputs")
    assert (found.facts()["rank"], found.facts()["learnable"]) == (1, 4)
    assert "free, whatever is recorded, 4 of 4 in W: W[0,0], W[0,1]" in str(found)
    erf = Problem(RNN(n=2, T=2, b=1, d=1, m=2, activation="erf"), {"W": [[1, 0], [0, 0]]})
    assert "not proved for this activation" in record(erf, "units").explanation[0]


def test_bounds_are_rounded_up():
    """The text never states a smaller error than the bound."""
    for numerator, text in ((1, "2^-10"), (2, "2^-9"), (3, "2^-8"), (1024, "2^-0")):
        assert bound_text(Fraction(numerator, 1024)) == text


def test_a_proof_is_read_as_it_was_written():
    """Every field, and the evidence."""
    found = record(PROBLEM, ["outputs", "units"], must=["unit 1"], caps={"matrix": 2})
    data = json.loads(json.dumps(found.proof_file()))
    proof = RECORDING.read(data)
    assert (proof.cost, proof.bound, proof.rank) == (found.cost, found.bound, found.rank.rank)
    assert isinstance(proof.evidence, GroupEvidence)
    assert proof.evidence == found.evidence
    question = proof.question(1)
    assert (question.must, question.caps) == (found.question.must, found.question.caps)
    assert [question.elements[k] for k in proof.recorded] == list(found.recorded)
    # Names of units, and laws, are not part of a proof.
    assert "names" not in data["problem"]
    with pytest.raises(CheckFailed, match="order"):
        RECORDING.read({**data, "what": ["entries"], "caps": {"column": 1, "row": 1}})
