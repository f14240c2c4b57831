"""The verb record: text, data, proof, picture, refusals, and the result after an interrupt."""

import json
from fractions import Fraction

import numpy as np
import pytest

import matchprob as mp
from algebra.matroids import spanning
from tests.matchprob.calls import call

CIRCUIT = """
[network]
kind = "rnn"
n = 4
T = 3
b = 1
d = 1
m = 4
activation = "tanh"
[learnable]
W = [[1, 0, 0, 1], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
B = [[1], [0], [0], [1]]
[names]
neurons = ["PV", "SST", "VIP", "E"]
"""


@pytest.fixture
def circuit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circuit.toml").write_text(CIRCUIT)
    return tmp_path


def test_the_contract_of_the_json_keys(circuit, answer):
    """The keys that other programs rely on."""
    words = ("--what", "units", "--forbid", "unit PV", "--costs", "unit 1=2")
    data = answer("record", "circuit.toml", *words)
    assert (data["cost"], len(data["recorded"]), data["of"]) == ("1", 1, 3)
    assert data["recorded"][0] in ("unit 2", "unit 3")
    assert data["optimal"] is True
    assert data["cost"] == data["bound"]
    assert data["rank"] == data["learnable"] == 9
    assert data["locally_unique"] is True
    assert data["seed"] == 0
    assert any("No cheaper recording" in text for text in data["explanation"])


def test_a_proof_is_written_and_verified(circuit, printed, capsys):
    """Units are chosen by name; the proof holds, and a changed one does not."""
    assert (
        call("record", "circuit.toml", "--what", "units", "--must", "unit SST", "--out", "p.json")
        == 0
    )
    text = capsys.readouterr().out
    assert "unit SST" in text
    assert "the match is locally unique" in " ".join(text.split())
    assert "recording: holds" in printed("verify", "p.json")
    data = json.loads((circuit / "p.json").read_text())
    assert mp.verify(data).holds
    data["recorded"] = []
    assert not mp.verify(data).holds


def test_the_picture_has_units_and_steps(circuit):
    """The picture is a grid of units and time steps."""
    words = ("--what", "units", "--what", "outputs", "--plot", "p.svg")
    assert call("record", "circuit.toml", *words) == 0
    text = (circuit / "p.svg").read_text()
    assert "hidden units" in text
    assert "recorded" in text


@pytest.mark.parametrize("width", ["60mm", "180mm"])
def test_the_picture_names_the_units_of_each_grid(circuit, width):
    """Neurons and output are named at their rows, and each grid has a title."""
    path = circuit / "circuit.toml"
    path.write_text(CIRCUIT + 'outputs = ["lick"]\n')
    words = ("--what", "units", "--what", "outputs", "--plot", "p.svg", "--width", width)
    assert call("record", "circuit.toml", *words) == 0
    text = (circuit / "p.svg").read_text()
    for name in ("PV", "SST", "VIP", "E", "lick", "hidden units", "outputs"):
        assert f">{name}</text>" in text


def test_an_undetermined_problem_is_reported(circuit, printed):
    """One output has four labels for nine weights: recording units is suggested."""
    text = printed("record", "circuit.toml")
    assert "in only 4 independent directions" in " ".join(text.split())
    assert "--what outputs --what units" in text


def test_without_time_the_greedy_choice_is_the_answer(tmp_path, capsys, monkeypatch):
    """It is printed on stderr at once, with its bound, and is the result, with status 3."""
    rng = np.random.default_rng(0)
    net = mp.RNN(n=8, T=3, b=1, d=1, m=3, activation="tanh")
    problem = mp.Problem(net, {"W": (rng.random((8, 8)) < 0.3).astype(int)})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(problem.to_toml())
    (tmp_path / "c.csv").write_text(",".join(map(str, rng.integers(5, 30, 8))) + "\n")
    words = ("record", "p.toml", "--what", "units", "--costs", "units=c.csv", "--seconds", "0")
    assert call(*words, "--json") == 3
    told = capsys.readouterr()
    data, lines = json.loads(told.out), told.err.splitlines()
    assert f"costs {data['cost']}, and nothing costs less than" in lines[0]
    assert "the search goes on" in lines[0]
    assert "out of time; the result above costs" in lines[1]
    assert data["optimal"] is False


def test_an_interrupt_keeps_the_best_so_far(tmp_path, capsys, monkeypatch):
    """Status 3; the result has the bound proved so far, and the proof file proves it."""
    rng = np.random.default_rng(0)
    net = mp.RNN(n=8, T=3, b=1, d=1, m=3, activation="tanh")
    problem = mp.Problem(net, {"W": (rng.random((8, 8)) < 0.3).astype(int)})
    costs = [int(c) for c in rng.integers(5, 30, 8)]
    best = mp.record(problem, "units", costs={f"unit {k}": c for k, c in enumerate(costs)})
    assert len(best.evidence.leaves) > 1
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(problem.to_toml())
    (tmp_path / "c.csv").write_text(",".join(map(str, costs)) + "\n")

    def stop(self, leaf):
        raise KeyboardInterrupt

    monkeypatch.setattr(spanning._SpanningSearch, "settle", stop)
    words = ("record", "p.toml", "--what", "units", "--costs", "units=c.csv", "--out", "r.json")
    assert call(*words, "--json") == 3
    told = capsys.readouterr()
    assert "interrupted; the result above costs" in told.err
    data = json.loads(told.out)
    assert data["optimal"] is False
    assert Fraction(data["bound"]) < best.cost <= Fraction(data["cost"])
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert call("verify", "r.json") == 0
    assert f"nothing costs less than {data['bound']}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--what unit", "--what ('unit') must be one of"),
        ("--must output_0", "--must 'output_0': give the name of an element"),
        ("--row-cap 1", "--matrix-cap: a cap on each row"),
        ("--out circuit.toml", "circuit.toml is an input"),
    ],
)
def test_bad_input_is_refused_in_one_line(circuit, complaint, words, said):
    """Bad input gives one line and status 2."""
    err = complaint("record", "circuit.toml", *words.split()).strip()
    assert said in err
    assert len(err.splitlines()) == 1


def test_noise_adds_deviations_and_singular_values(circuit, answer):
    """The keys of a target with noise: of each activity its deviation, of a choice its path."""
    words = ("--target", "units", "--noise", 0.1)
    data = answer("record", "circuit.toml", *words)
    assert all(entry["deviation"] > 0 and entry["determined"] for entry in data["target"])
    assert data["noise"] == 0.1
    assert data["deviation"] < data["deviation_before"]
    assert data["singular_values"] == sorted(data["singular_values"], reverse=True)
    assert 0 < data["singular_value_error"] < 1e-10
    assert (data["below"], data["path"]) == (None, [])
    below = data["deviation"] * 0.9
    chosen = answer("record", "circuit.toml", *words, "--below", below)
    assert chosen["deviation"] < below
    assert [name for name, _ in chosen["path"]][-1] in chosen["recorded"]
    assert chosen["path"][-1][1] == pytest.approx(chosen["deviation"])
    assert chosen["optimal"] is False
    assert 0 <= chosen["supermodularity"] < 1
    labels = answer("identify", "circuit.toml", *words)
    assert labels["target"][3]["deviation"] > 0
    assert labels["noise"] == 0.1


@pytest.mark.parametrize(
    ("verb", "words", "status", "named"),
    [
        ("record", ("--target", "units", "--noise", 0), 2, "noise"),
        ("record", ("--target", "units", "--noise", -1), 2, "noise"),
        ("record", ("--target", "units", "--noise", "nan"), 2, "noise"),
        ("record", ("--target", "units", "--noise", "inf"), 2, "noise"),
        ("record", ("--noise", 0.1), 2, "target"),
        ("record", ("--target", "units", "--below", 0.1), 2, "noise"),
        ("record", ("--target", "units", "--noise", 0.1, "--below", 0), 2, "below"),
        ("record", ("--target", "units", "--noise", 0.1, "--below", 1e-9), 3, "below"),
        ("record", ("--target", "unit PV", "--must", "unit PV"), 2, "unit 0"),
        ("record", ("--target", "unit PV", "--noise", 1, "--must", "unit PV"), 2, "unit 0"),
        ("record", ("--target", "unit 4"), 2, "unit 4"),
        ("record", ("--target", "times=2:9"), 2, "times=2:9"),
        ("identify", ("--target", "outputs"), 2, "output 0"),
        ("identify", ("--target", "units", "--noise", 0), 2, "noise"),
        ("identify", ("--noise", 0.1), 2, "target"),
    ],
)
def test_wrong_targets_and_noise_are_refused(circuit, capsys, verb, words, status, named):
    """A recorded target, noise or errors that are not above 0: one line that names them."""
    assert call(verb, "circuit.toml", *words) == status
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert named in lines[0]
