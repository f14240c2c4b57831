"""Proofs of recordings: genuine ones hold, forged ones are refused with the place."""

import copy
import json

import numpy as np
import pytest

from algebra.plugins.circuits.elements import available_kinds
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from matchprob import RNN, FeedForward, LinearRNN, Problem
from matchprob import record as record_at_own_parameters
from tests.numeric.plugins.circuits.test_own_parameters import circuit
from tests.refusals import refuses
from tests.samples import many

NET = RNN(n=4, T=2, b=1, d=1, m=3, activation="tanh")
PROBLEM = Problem(NET, {"W": [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1]]})
COSTS = {"unit 0": "5/2", "unit 1": 4, "unit 2": 3, "unit 3": 2}


def proof(problem=PROBLEM, what="units", **options):
    """A proof read from a file."""
    return json.loads(json.dumps(record(problem, what, **options).proof_file()))


def failure(data):
    """The place and text of the failure, or None."""
    checked = RECORDING.verify(data)
    return next((f"{c.place}: {c.text}" for c in checked.checks if c.status == "failed"), None)


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        Problem(LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": [[1, 1, 0], [0, 0, 1], [1, 0, 0]]}),
        Problem(
            FeedForward(q=2, widths=(3, 2), d=2, m=2, activation={"polynomial": [0, 1, 1]},
                        biases=True),
            {"W1": [[1, 1], [0, 1], [1, 0]], "c2": [[1], [1]]},
        ),
        Problem(
            LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": np.eye(3, dtype=int)},
            support={"W": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]},
        ),
    ],
)  # fmt: skip
def test_true_proofs_hold(problem):
    """Recordings of every kind of element."""
    for what in available_kinds(problem.network):
        checked = RECORDING.verify(proof(problem, what))
        assert checked.holds, str(checked)
        assert [c.place for c in checked.checks] == ["derivatives", "rank", "evidence"]


def test_musts_caps_and_unfinished_searches():
    """The question is in the file; a bound below the cost is a separate claim."""
    assert failure(proof(costs=COSTS, must=["unit 2"], forbidden=["unit 0"])) is None
    assert failure(proof(what=["outputs", "units"], caps={"matrix": 2})) is None
    assert failure(proof(what="entries", caps={"row": 3, "column": 1})) is None
    short = proof(costs=COSTS, seconds=1e-9)
    assert failure(short) is None
    assert RECORDING.verify(short).verdict == "recording"


def changed(**new):
    data = proof(costs=COSTS, must=["unit 2"])
    assert failure(data) is None
    for key, value in new.items():
        data[key] = value(copy.deepcopy(data[key])) if callable(value) else value
    return data


def drop(key):
    data = proof()
    del data[key]
    return data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (lambda: changed(cost="1"), "cost: says 1, the prices add up to"),
        (lambda: changed(bound="100"), "bound: says 100"),
        (lambda: changed(rank=3), "rank: says 3; all that may be recorded has"),
        (lambda: changed(prices=["9", "9", "9", "9"]), "cost: says"),
        (lambda: changed(recorded=[2], cost="3", bound="3"), "recorded: has rank"),
        (lambda: changed(recorded=[0]), "recorded: unit 2 must be recorded and is not"),
        (lambda: changed(forbidden=[2]), "question: unit 2 both must and must not"),
        (lambda: changed(recorded=[9]), "question: recorded: not each number"),
        (lambda: changed(recorded=[2, 2]), "question: recorded: not each number"),
        (lambda: changed(prices=["1"]), "question: 1 prices for 4 elements"),
        (lambda: changed(prices=[1, 1, 1, 1]), "prices[0]: must be an exact number as text"),
        (lambda: changed(prices=["-1", "1", "1", "1"]), "question: `costs`"),
        (lambda: changed(caps={"matrix": 1}), "caps: "),
        (lambda: changed(caps={"unit": 1}), "caps: has 'unit'"),
        (lambda: changed(caps={"row": 1}), "question: `caps`"),
        (lambda: changed(what=["unit"]), "question: "),
        (lambda: changed(what="units"), "what: must be a list"),
        (lambda: changed(evidence={"leaves": []}), "evidence: the leaves"),
        (lambda: changed(evidence={"leaves": [[[1], [], None]]}), "evidence: the leaves"),
        (lambda: changed(evidence={"leaves": [[[], [2], None]]}), "evidence: a leaf bans"),
        (lambda: changed(evidence={"leaves": [[[7], [], None]]}), "evidence: a leaf names"),
        (lambda: changed(evidence={"leaves": [[[1.0], [], None]]}), "evidence.leaves[0][0][0]"),
        (lambda: changed(evidence={}), "evidence.leaves: is missing"),
        (lambda: changed(evidence=lambda e: {**e, "x": 1}), "evidence.x: is no field"),
        (lambda: changed(extra=1), "extra: is no field"),
        (lambda: drop("recorded"), "recorded: is missing"),
        (lambda: changed(problem=lambda p: {**p, "learnable": {"W": [[2]]}}), "problem.learnable"),
        (lambda: changed(problem=lambda p: {**p, "names": {}}), "problem.names: is no field"),
    ],
)
def test_forged_proofs_are_refused(data, text):
    """The message names the place of the false field, in one line."""
    found = failure(data())
    assert found is not None
    assert found.startswith(text), found


def test_cheaper_things_are_not_hidden():
    """A more expensive recording with an equal bound: the evidence does not prove it."""
    data = proof(costs=COSTS)
    cost = sum(map(float, (2.5, 4, 3, 2)))
    data.update(recorded=[0, 1, 2, 3], cost=str(cost), bound=str(cost))
    found = failure(data)
    assert found is not None
    assert found.startswith("evidence: does not bound the cost by")


def test_another_network_does_not_pass():
    """The recording of one network is not one of another."""
    data = proof()
    data["problem"]["network"]["m"] = 1
    assert failure(data) is not None
    for wrong in ({"format": "x"}, {"format": "matchprob-recording", "version": 2}, [], 3):
        refuses("", RECORDING.verify, wrong)


def relu(seed, target=()):
    """A proof at the parameters of a random circuit."""
    return record_at_own_parameters(circuit(seed), "units", target=target, seed=seed).proof_file()


@pytest.mark.parametrize("seed", range(many(12)))
def test_proofs_at_own_parameters_hold(seed):
    """With ReLU the file has parameters, no pattern; every rank says what it is about."""
    target = ["", "outputs", "samples=new"][seed % 3]
    data = json.loads(json.dumps(relu(seed, target)))
    assert set(data["parameters"]) == {"weights", "X"}
    checked = RECORDING.verify(data)
    assert checked.holds, str(checked)
    assert [c.place for c in checked.checks][:2] == ["parameters", "derivatives"]
    about = "at these parameters" + " and these new inputs" * (target == "samples=new")
    assert all(about in check.text for check in checked.checks[2:])


def test_forged_parameters_fail():
    """Units that other parameters silence, and parameters of no weight or sample, are refused."""
    net = RNN(n=3, T=2, b=1, d=1, m=2, activation="relu", biases=True)
    values = {"W": [[0, 1, 0], [1, 0, 0], [0, 1, 0]], "B": [[1], [2], [0]], "c": [[4], [5], [6]]}
    values |= {"D": [[1, 1, 1]], "e": [[0]]}
    problem = Problem(net, {"c": "all"}, {"W": values["W"]}, values=values)
    data = json.loads(json.dumps(record_at_own_parameters(problem, "units").proof_file()))
    assert failure(data) is None
    assert data["rank"] == 3

    def forged(change):
        other = copy.deepcopy(data)
        change(other["parameters"])
        return failure(other)

    def silent(own):
        own["weights"]["c"][2] = ["-1000"]

    def kink(own):
        own["X"] = [["0", "0"], ["0", "0"]]
        own["weights"]["c"] = [["0"], ["0"], ["0"]]

    assert "rank" in forged(silent)
    assert "exactly at its kink" in forged(kink)
    assert "does not exist" in forged(lambda own: own["weights"]["W"][0].__setitem__(0, "1"))
    assert "has no D" in forged(lambda own: own["weights"].pop("D"))
    assert "parameters.X" in forged(lambda own: own["X"][0].append("1"))
    assert "a fraction as text" in forged(lambda own: own["X"][0].__setitem__(0, 0.5))
    assert "are missing" in failure({k: v for k, v in data.items() if k != "parameters"})
    smooth = copy.deepcopy(data)
    smooth["problem"]["network"]["activation"] = "tanh"
    assert "networks with ReLU" in failure(smooth)
    unequal = copy.deepcopy(data)
    unequal["problem"]["network"]["activation"] = {"leaky": "1/10"}
    assert failure(unequal) is None


def test_primes_follow_from_the_parameters():
    """A file with other numbers is checked modulo other primes."""
    first, second = (RECORDING.read(relu(seed)).question(1) for seed in (0, 1))
    assert first.stream != second.stream
