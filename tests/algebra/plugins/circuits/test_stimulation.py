"""Stimulations beside recordings equal brute force over all pairs of sets, in 600 bits."""

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.circuits import recording
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from tests.algebra.plugins.circuits.subsets import driven_answer, driven_cases
from tests.refusals import refuses
from tests.samples import more

# No input reaches unit 2.
NET = mp.RNN(n=3, T=2, b=1, d=1, m=1, activation="tanh")
WIRING = {"W": [[1, 0, 0], [1, 0, 1], [0, 0, 0]], "B": [[1], [0], [0]]}
SILENT = mp.Problem(NET, {"W": WIRING["W"]}, WIRING)


def forgeries(data):
    """Proof files that claim more than the given one."""
    yield {**data, "rank": data["rank"] + 1}
    yield {**data, "stimulate": data["stimulate"][:-1]}
    if data["evidence"]["cuts"]:
        yield {**data, "evidence": {**data["evidence"], "cuts": [[]]}}
    if data["recorded"] and data["cost"] == data["bound"]:
        # As cheap without its last element as the prices say.
        price = data["prices"][data["recorded"][-1]]
        if price != "0":
            cost = str(int(data["cost"]) - int(price))
            yield {**data, "recorded": data["recorded"][:-1], "cost": cost, "bound": cost}
            yield {**data, "bound": str(int(data["bound"]) + 1), "cost": data["cost"]}


@pytest.mark.parametrize("count", more(6, 200))
def test_stimulations_equal_brute_force_over_all_pairs_of_sets(count):
    """Costs and bounds are those of all sets of elements and stimulations; the proofs hold."""
    driven = forged = 0
    for number, case in enumerate(driven_cases(count)):
        cost, whole = driven_answer(case)
        found = record(
            case.problem(), case.what, target=case.words if case.target else (),
            costs=case.costs, stimulate=[f"unit {u}" for u in case.drives],
        )  # fmt: skip
        assert found.cost == cost == found.bound, case
        if not case.target:
            assert found.rank.rank == whole, case
        driven += bool(found.stimulated)
        if number % 3 == 0:
            data = found.proof_file()
            assert RECORDING.verify(data).holds, case
            for false in forgeries(data):
                forged += 1
                assert not RECORDING.verify(false).holds, (case, false)
    assert driven >= count / 8
    assert forged >= count / 2


def test_a_drive_shows_weights_that_no_input_reaches():
    """The weight from a silent unit stays free until this unit is driven."""
    alone = mp.record(SILENT, "units")
    assert list(alone.free) == [("W", 1, 2)]
    found = mp.record(SILENT, "units", stimulate="unit *")
    assert found.is_unique
    assert found.is_optimal
    assert found.driven == ("stimulation of unit 2",)
    assert found.to_dict()["stimulated"] == ["unit 2"]
    assert "stimulate 1 of 3" in found.document().title


def test_stimulations_alone_are_chosen_if_everything_is_recorded():
    """With all outputs required by a pattern, only units to drive are chosen, at their costs."""
    costs = {"stimulation of unit *": 2, "stimulation of unit 1": "5/2"}
    found = mp.record(SILENT, must=["output *"], stimulate=["unit *"], costs=costs)
    assert [element.name for element in found.recorded] == ["output 0"]
    prices = {0: 2, 1: 2.5, 2: 2}
    assert found.cost == 1 + sum(prices[element.unit] for element in found.stimulated)
    forbidden = mp.record(
        SILENT, must=["output *"], stimulate=["unit *"], forbidden=["stimulation of unit 2"]
    )
    assert "stimulation of unit 2" not in forbidden.driven
    assert forbidden.rank.rank <= found.rank.rank


def test_stimulations_of_relu_circuits_are_those_at_their_parameters():
    """With ReLU the drives follow from the units, and the proof holds for the file's parameters."""
    relu = mp.RNN(n=3, T=3, b=1, d=1, m=2, activation="relu", biases=True)
    found = mp.record(mp.Problem(relu, {"W": WIRING["W"]}, WIRING), "units", stimulate="unit *")
    data = found.proof_file()
    assert mp.verify(data).holds
    fewer = {**data, "recorded": data["recorded"][1:], "cost": str(found.cost - 1)}
    assert not mp.verify({**fewer, "bound": fewer["cost"]}).holds


def test_the_samples_of_a_drive_are_those_of_the_problem_and_the_drive():
    """At a point weights and inputs are the same, and only the driven unit has the new input."""
    question = record(SILENT, "units", stimulate="unit 2").question
    p, number = 2147483629, 5
    own, driven = (one.point(p, number) for one in question.experiments.values())
    assert all(np.array_equal(own.weights[name], driven.weights[name]) for name in "DW")
    assert np.array_equal(driven.weights["B"][:, :1], own.weights["B"])
    assert np.flatnonzero(driven.weights["B"][:, 1]).tolist() == [2]
    assert np.array_equal(driven.X[::2], own.X)


def test_stimulations_that_are_not_known_are_refused():
    """Patterns that fit no unit, updates of B, and networks whose inputs do not enter at units."""
    refuses("fits none of the 3 units", mp.record, SILENT, stimulate="cell *")
    gains = mp.Problem(NET, {"B": {"gain": "rows"}}, WIRING)
    refuses("B learns by an update", mp.record, gains, stimulate="unit *")
    layers = mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh")
    problem = mp.Problem(layers, {"W1": "all"})
    refuses("stimulations of units", mp.record, problem, stimulate="unit *")


def test_a_search_that_is_interrupted_keeps_what_the_rank_shows(monkeypatch):
    """Before any point is finished the elements by which the rank was found remain, and a bound."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(recording, "cheapest_containing", interrupted)
    found = mp.record(SILENT, "units", stimulate="unit *")
    assert found.interrupted
    assert found.is_unique
    assert found.bound < found.cost
    assert mp.verify(found.proof_file()).holds


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("stimulate", [0, 1, 7], "stimulate"),
        ("stimulate", [1, 0, 2], "stimulate"),
        ("stimulate", [0, 0, 1], "stimulate"),
        ("prices", ["1"], "prices"),
        ("evidence", {"leaves": []}, "evidence"),
        ("recorded", [0, 99], "recorded"),
    ],
)
def test_proof_files_with_other_stimulations_are_refused(key, value, words):
    """Units that do not exist, out of order or twice, and evidence of another question."""
    data = mp.record(SILENT, "units", stimulate="unit *").proof_file()
    found = RECORDING.verify({**data, key: value})
    assert not found.holds
    assert any(words in check.text or words in check.place for check in found.checks)
