"""Verdicts with updates, and forged certificates of them."""

import json

import pytest

from algebra.families.certify import certify
from algebra.families.updates.inspect import inspect_updates
from algebra.families.verify import verify
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN
from algebra.networks.rnn import RNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from tests.plain_data import changed, data_of, failures
from tests.refusals import refuses

RNN3 = LinearRNN(n=3, T=2, b=1, d=1, m=2)
DEEP = LinearFeedForward(q=4, widths=(4,), d=4, m=4)
TANH = FeedForward(q=3, widths=(5,), d=2, m=3, activation="tanh", biases=True)
CASES = {
    "rank 1 holds a row": (RNN3, {"W": {"lora": 1}}, "maximal"),
    "rank 2 is the whole matrix": (RNN3, {"W": {"lora": 2}}, "maximal"),
    "gains of one row": (RNN3, {"D": {"gain": "columns"}}, "maximal"),
    "few gains": (LinearRNN(n=2, T=2, b=2, d=2, m=4), {"W": {"gain": "rows"}}, "minimal"),
    "gains": (RNN3, {"W": {"gain": "rows"}}, "undecided"),
    "deep, ranks 2 + 2 = 4": (DEEP, {"W1": {"lora": 2}, "W2": {"lora": 2}}, "maximal"),
    "deep, ranks 2 + 1 < 4": (DEEP, {"W1": {"lora": 2}, "W2": {"lora": 1}}, "minimal"),
    "one layer, rank 2 of 3": (LinearEstimator(q=4, d=3, m=3), {"W": {"lora": 2}}, "minimal"),
    "one layer, rank 3 of 3": (LinearEstimator(q=4, d=3, m=3), {"W": {"lora": 3}}, "maximal"),
    "tied readout": (
        LinearRNN(n=3, T=2, b=2, d=1, m=2), {"D": {"tied": [[1, 1, 2]]}}, "maximal"),
    "gains before tanh": (TANH, {"W2": {"gain": "columns"}, "e": [[1], [1]]}, "maximal"),
    "bias of a group": (TANH, {"c1": {"tied": [[1], [1], [2], [2], [0]]}}, "minimal"),
    "an output that cannot match all labels": (
        RNN(n=3, T=2, b=2, d=2, m=3, activation="tanh", biases=True),
        {"W": {"lora": 1}, "c": {"gain": "rows"}, "D": [[1, 1, 1], [0, 0, 0]]}, "intermediate"),
    "gains before erf": (
        FeedForward(q=3, widths=(5,), d=2, m=3, activation="erf", biases=True),
        {"W2": {"gain": "columns"}, "e": [[1], [1]]}, "maximal"),
    "few gains before erf": (
        RNN(n=2, T=2, b=1, d=2, m=2, activation="erf"), {"W": {"gain": "rows"}}, "minimal"),
    "leaks that are dependent": (
        RNN(n=3, T=3, b=1, d=1, m=2, activation="tanh", biases=True, leak=0.5, read="all"),
        {"W": {"lora": 1}, "D": {"gain": "columns"}, "e": [[1]]}, "undecided"),
    "linear by another name": (
        FeedForward(q=4, widths=(4,), d=4, m=4, activation="linear"),
        {"W1": {"lora": 2}, "W2": {"lora": 2}}, "maximal"),
    "no path": (RNN3, {"W": {"gain": "rows"}}, "maximal"),
}  # fmt: skip


def problem_of(name):
    """The problem of a case."""
    net, learnable, _ = CASES[name]
    return Problem(net, learnable, {"D": [[0, 0, 0]]} if name == "no path" else {})


@pytest.mark.parametrize("name", CASES)
def test_verdicts_hold(name):
    """The verdict, and a file that verifies by itself."""
    problem = problem_of(name)
    found = certify(problem)
    assert found.verdict == CASES[name][2]
    assert found.problem == problem
    assert found.learnable == problem.learning.size
    checked = verify(json.loads(found.to_json()))
    assert checked.holds, str(checked)
    assert checked.verdict == found.verdict


def forged(name, change):
    """The certificate of a case with something changed."""
    data = data_of(problem_of(name))
    change(data)
    return data


def swap(*path, to):
    """Sets one entry."""
    return lambda data: data.update(changed(data, path, to))


def part_of(other, **more):
    """Replaces the part's certificate by that of other cells."""

    def change(data):
        inner = certify(other, **more)
        data["evidence"]["part"] = json.loads(inner.to_json())

    return change


FORGERIES = {
    "a minor of balls that is missing": (
        "gains before erf", lambda data: data["evidence"].pop("regular_minor")),
    "a minor of fewer rows": (
        "gains before erf", lambda data: data["evidence"]["regular_minor"]["rows"].pop()),
    "a minor whose columns do not learn": (
        "gains before erf",
        swap("evidence", "regular_minor", "columns",
             to=[["W1", k // 3, k % 3] for k in range(6)])),
    "a larger rank of the update": (
        "deep, ranks 2 + 1 < 4", swap("problem", "learnable", "W2", to={"lora": 2})),
    "a smaller rank of the update": (
        "deep, ranks 2 + 2 = 4", swap("problem", "learnable", "W2", to={"lora": 1})),
    "minimal, where it is not": ("gains", swap("verdict", to="minimal")),
    "maximal, with nothing to show": ("gains", swap("verdict", to="maximal")),
    "intermediate, with nothing to show": ("gains", swap("verdict", to="intermediate")),
    "another rank": ("few gains", swap("rank", to=3)),
    "as many parameters as it likes": ("gains", swap("learnable", to=9)),
    "a bound of zero": ("deep, ranks 2 + 1 < 4", swap("error_bound", to=0.0)),
    "no such update": ("gains", swap("problem", "learnable", "W", to={"gain": "all"})),
    "a rank that is a truth value": (
        "rank 1 holds a row", swap("problem", "learnable", "W", to={"lora": True})),
    "two updates at once": (
        "rank 1 holds a row",
        swap("problem", "learnable", "W", to={"lora": 1, "gain": "rows"})),
    "ties of another shape": (
        "tied readout", swap("problem", "learnable", "D", to={"tied": [[1, 2]]})),
    "a part out of reach": (
        "rank 1 holds a row",
        part_of(Problem(RNN3, {"W": [[1, 1, 1], [1, 1, 1], [0, 0, 0]]}))),
    "a part of a matrix that does not learn": (
        "rank 1 holds a row", part_of(Problem(RNN3, {"D": [[1, 1, 1]]}))),
    "a part of another network": (
        "rank 1 holds a row",
        part_of(Problem(LinearRNN(n=3, T=2, b=1, d=1, m=1), {"W": [[1, 1, 1]] + [[0] * 3] * 2}))),
    "a part of another law": (
        "rank 1 holds a row",
        part_of(Problem(RNN3, {"W": [[1, 1, 1]] + [[0] * 3] * 2},
                        distribution=Distribution(weights="uniform")))),
    "a part that is itself one of updates": (
        "rank 1 holds a row", part_of(Problem(RNN3, {"W": {"lora": 1}}))),
    "a part that is not maximal": (
        "rank 1 holds a row", part_of(Problem(RNN3, {"W": [[1, 0, 0], [0] * 3, [0] * 3]}))),
    "a part whose verdict is forged": (
        "rank 1 holds a row",
        lambda data: data["evidence"]["part"].update(rank=1, equations=1)),
    "an output that learns": (
        "an output that cannot match all labels", swap("evidence", "stuck_output", to=0)),
    "evidence of another family": (
        "gains", swap("evidence", "teacher_reached", to={"blocks": [[[0, 1, 2]]]})),
    "nothing is silent": ("gains", swap("evidence", "labels_vanish", to=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_fail(name):
    """After any change the file does not hold, and the place is named."""
    case, change = FORGERIES[name]
    assert any(failures(verify(forged(case, change))))


def test_a_witness_point_counts():
    """Another point than the one of the claimed rank is refused."""
    data = data_of(problem_of("gains"))
    place = ("evidence", "allocation_rank", "witness_point", "weights", "D")
    assert verify(data).holds
    assert not verify(changed(data, place, [[0, 0, 0]])).holds


def test_kinds_without_a_jacobian_refuse():
    """The message is one line that says what is possible."""
    for net, name in (
        (ShallowReLU(q=2, n=3, d=2, m=3), "W1"),
        (NormNet(widths=(2, 2), hidden=(4,), m=3, activation="relu"), "g1"),
        (NormNet(widths=(2, 2), hidden=(4,), m=3, activation="linear"), "g1"),
    ):
        problem = Problem(net, {name: {"gain": "rows"}})
        for verb in (certify, inspect_updates):
            refuses("masks of cells are, and updates of linear networks", verb, problem)


def test_discrete_laws_are_named():
    """A verdict on discrete weights is about generic instances, and says so."""
    problem = Problem(
        RNN3, {"W": {"gain": "rows"}}, distribution=Distribution(weights="rademacher")
    )
    found = certify(problem)
    assert any("discrete" in note for note in found.notes)
    assert verify(json.loads(found.to_json())).holds


def test_a_part_belongs_to_updates():
    """Of a problem of cells no certificate is nested in the file, however true it is."""
    row = Problem(RNN3, {"W": [[1, 1, 1], [0, 0, 0], [0, 0, 0]]})
    both = Problem(RNN3, {"W": [[1, 1, 1], [1, 0, 0], [0, 0, 0]]})
    data = data_of(both)
    kept = ("network_rank", "allocation_rank")
    evidence = {name: data["evidence"][name] for name in kept} | {"part": data_of(row)}
    found = verify(data | {"evidence": evidence, "generic_root_count": None})
    assert failures(found) == ["evidence.part"]


def test_an_argument_that_does_not_cover_updates(msolve):
    """An instance without real solutions, of the same matrix with single weights: refused by name,
    before the check is run on weights that it does not know."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    cells = data_of(Problem(net, {"W": [[1, 0], [0, 1]]}))
    data = data_of(Problem(net, {"W": {"tied": [[1, 2], [2, 1]]}}))
    assert (cells["verdict"], data["verdict"]) == ("intermediate", "undecided")
    witness = cells["evidence"]["no_real_root"] | {"form": "direct"}
    forged = changed(data, ("evidence", "no_real_root"), witness)
    found = verify(forged | {"verdict": "intermediate"})
    assert "ties" in next(check.text for check in found.checks if check.status == "failed")
