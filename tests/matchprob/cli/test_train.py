"""The verb train: keys, text, picture, stores, interrupts, refusals."""

import json

import pytest

from matchprob.cli import app, run_command
from numeric.plugins.training.experiment import Experiment
from numeric.studies.store import Store
from tests.matchprob.calls import NETWORK, call

EXAMPLES = "examples"
DIAGONAL = NETWORK + "[learnable]\nW = [[1, 0], [0, 1]]\n"


@pytest.fixture
def diagonal(file):
    return file(DIAGONAL, "diagonal.toml")


def test_the_contract_of_the_json_keys(diagonal, answer, capsys):
    """The keys that other programs rely on, and their sums."""
    words = ("--optimizer", "levenberg-marquardt", "--trials", 30, "--json")
    assert call("train", diagonal, *words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["trials"] == 30
    assert data["optimizer"] == "levenberg-marquardt"
    assert data["seed"] == 0
    share = data["found_given_exists"]
    assert share["estimate"] == data["found"] / data["exists"]
    assert share["low"] <= share["estimate"] <= share["high"]
    assert data["exists"] < 30
    assert data["false_matches"] <= data["below_criterion"]
    assert len(data["runs"]) == 30
    assert sum(part["exists"] for part in data["by_distance"]) == data["exists"]
    assert sum(part["found"] for part in data["by_size"]) == data["found"]
    # These are the trials of an estimate.
    assert answer("estimate", diagonal, "--trials", 30)["matched"] == data["exists"]


def test_text_picture_and_store(diagonal, printed, tmp_path, monkeypatch):
    """The picture is written; counts and results are stored, and a second run repeats them."""
    store, out = tmp_path / "s.sqlite", tmp_path / "t.svg"
    words = ("train", diagonal, "--trials", 12, "--steps", 300, "--store", store)
    first = printed(*words, "--plot", out)
    assert "found, given that a match exists" in first
    assert "The papers' criterion" in first
    assert out.read_bytes().startswith(b"<?xml")
    with Store(store, write=False) as kept:
        [study] = kept.studies()
        assert study.trials == 12
    whole, again = Experiment._trial, []

    def told(self, count, instance, runs):
        again.append(count.index)
        return whole(self, count, instance, runs)

    monkeypatch.setattr(Experiment, "_trial", told)
    assert printed(*words) == first
    assert again == []
    words = [14 if word == 12 else word for word in words]
    assert call(*words) == 0
    assert again == [12, 13]
    assert call(*words, "--restarts", 1) == 0
    assert again[2:] == list(range(14))


def test_relu_networks_train(capsys):
    """A ReLU net is decided and trained; its matches are not listed."""
    words = ("--trials", 12, "--steps", 200, "--restarts", 1, "--json")
    assert call("train", f"{EXAMPLES}/relu.toml", *words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["undetermined"] == 0
    assert data["found"] <= data["exists"] <= 12
    assert data["by_distance"] == []


def test_an_interrupt_keeps_finished_trainings(diagonal, capsys, monkeypatch):
    """Ctrl-C during training gives status 3; the finished trials are reported."""
    whole = Experiment._trial

    def until(self, count, instance, runs):
        if count.index == 5:
            raise KeyboardInterrupt
        return whole(self, count, instance, runs)

    monkeypatch.setattr(Experiment, "_trial", until)
    assert call("train", diagonal, "--trials", 9, "--steps", 50, "--json") == 3
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert (data["trials"], data["requested"]) == (5, 9)
    assert "after 5 of 9 trials" in captured.err


def test_a_time_limit_keeps_finished_trainings(diagonal, capsys):
    """The trials trained by then are reported, with status 3."""
    words = ("--steps", 100_000_000, "--rate", "1e-12", "--trials", 3, "--timeout", 0.5, "--json")
    assert call("train", diagonal, *words) == 3
    assert json.loads(capsys.readouterr().out)["trials"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--optimizer", "newton"),
        ("--optimizer", "levenberg-marquardt", "--rate", "0.1"),
        ("--rate", "-1"),
        ("--rate", "nan"),
        ("--confidence", "2"),
        ("--timeout", "0"),
        ("--engine", "nothing"),
        ("--plot", "picture.txt"),
    ],
)
def test_bad_input_is_one_line(words, diagonal, complaint):
    """Bad input gives status 2, nothing on stdout and one line on stderr."""
    assert len(complaint("train", diagonal, "--trials", 3, *words).strip().splitlines()) == 1


def test_normalization_networks_are_refused(complaint):
    """Training has no loss for normalization networks."""
    assert "normalization" in complaint("train", f"{EXAMPLES}/normnet.toml", "--trials", 3)


def test_a_problem_without_learnable_weights_is_refused(capsys, file):
    """Without learnable weights there is nothing to train."""
    path = file(
        '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
        "[learnable]\nW = [[0, 0], [0, 0]]\n",
        "none.toml",
    )
    assert run_command(lambda: app(["train", str(path)], standalone_mode=False)) == 2
    assert "no weight learns" in capsys.readouterr().err
