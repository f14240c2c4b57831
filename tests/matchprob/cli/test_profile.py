"""The verb profile: keys, text, picture, stores, interrupts, refusals."""

import json
import time

import pytest

from numeric.matches.conditions import conditions
from numeric.plugins.training.profiles import measures
from numeric.studies import study as studies
from tests.matchprob.calls import NETWORK, call

EXAMPLES = "examples"
MASKS = {
    "diagonal": "[[1, 0], [0, 1]]",
    "off": "[[0, 1], [1, 0]]",
    "over": "[[1, 1], [1, 0]]",
}


@pytest.fixture
def write(file):
    def problem(name, more=""):
        return file(f"{NETWORK}[learnable]\nW = {MASKS[name]}\n{more}", f"{name}.toml")

    return problem


def test_the_contract_of_the_json_keys(write, answer):
    """The keys that other programs rely on; a bound is the estimate with that constraint."""
    path = write("diagonal")
    data = answer("profile", path, "--bounds", "1,3", "--trials", 40)
    assert (data["by"], data["trials"], data["seed"]) == ("size", 40, 0)
    assert [p["bound"] for p in data["points"]] == [1.0, 3.0]
    for point in data["points"]:
        assert point["matched"] + point["unmatched"] + point["undetermined"] == 40
        assert point["low"] <= point["estimate"] <= point["high"]
        assert point["band_low"] <= point["low"]
    assert len(data["thresholds"]) == 40
    bound = write("diagonal", "[constraints]\nmax_abs = 3.0\n")
    found = answer("estimate", bound, "--trials", 40)
    assert all(found[key] == data["points"][1][key] for key in ("matched", "low", "high"))


def test_several_problems_in_one_picture(write, answer, printed, tmp_path):
    """Common instances, a table for each, and a picture."""
    out = tmp_path / "p.svg"
    paths = write("diagonal"), write("off")
    words = ("--by", "change", "--trials", 40, "--plot", out)
    text = printed("profile", *paths, *words)
    assert "diagonal: 2 cells of W" in text
    assert "off: 2 cells of W" in text
    assert "crossing" in text
    assert out.read_bytes().startswith(b"<?xml")
    data = answer("profile", *paths, "--trials", 10)
    assert [p["name"] for p in data["profiles"]] == ["diagonal", "off"]
    assert data["crossings"] == []


def test_a_store_is_used_for_every_measure(write, capsys, tmp_path, monkeypatch):
    """Profiles by other measures compute no trial again."""
    path, store = write("diagonal"), tmp_path / "s.sqlite"
    words = ("--trials", 25, "--store", store, "--json")
    assert call("profile", path, *words) == 0
    capsys.readouterr()

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(studies, "compute_trials", refuse)
    for by in ("size", "change", "norm", "condition"):
        assert call("profile", path, "--by", by, *words) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["unbounded"]["matched"] > 10
        assert len(data["points"]) > 10


def test_an_interrupt_keeps_finished_trials(write, capsys, monkeypatch):
    """Ctrl-C gives status 3 and the profile of the finished trials."""
    whole = studies.compute_trials

    def until(work, chunk):
        if max(chunk) >= 30:
            raise KeyboardInterrupt
        return whole(work, chunk)

    monkeypatch.setattr(studies, "compute_trials", until)
    assert call("profile", write("diagonal"), "--trials", 90, "--json") == 3
    captured = capsys.readouterr()
    assert 0 < json.loads(captured.out)["trials"] < 40
    assert "interrupted after" in captured.err


def test_a_time_limit_gives_the_profile_of_finished_trials(capsys):
    """The profile of the trials counted by then is given, with status 3."""
    words = ("--trials", 100_000, "--timeout", 1.5, "--json")
    assert call("profile", f"{EXAMPLES}/relu.toml", *words) == 3
    assert 0 < json.loads(capsys.readouterr().out)["trials"] < 100_000


@pytest.mark.parametrize(
    "words",
    [
        ("--by", "weight"),
        ("--bounds", "1,-2"),
        ("--bounds", "nan"),
        ("--bounds", "one"),
        ("--bounds", ""),
        ("--confidence", "1"),
        ("--timeout", "-1"),
        ("--engine", "nothing"),
        ("--plot", "picture.txt"),
    ],
)
def test_bad_input_is_one_line(words, write, complaint):
    """Bad input gives status 2, nothing on stdout and one line on stderr."""
    error = complaint("profile", write("diagonal"), "--trials", 3, *words)
    assert len(error.strip().splitlines()) == 1


def test_problems_without_common_instances_are_refused(write, complaint, capsys):
    """Different networks, and costs of families of matches without a bound, are refused."""
    assert call("profile", write("diagonal"), f"{EXAMPLES}/six_rows.toml", "--trials", 3) == 2
    assert "different networks" in capsys.readouterr().err
    assert "more weights" in complaint("profile", write("over"), "--by", "condition", "--trials", 3)
    assert "normalization" in complaint("profile", f"{EXAMPLES}/normnet.toml", "--trials", 3)


def test_a_time_limit_holds_for_condition_numbers(tmp_path, capsys, monkeypatch):
    """They take longer than counting; those known by then give the profile."""

    def slow(instance, values):
        time.sleep(0.05)
        return conditions(instance, values)

    # On any machine 400 of them take longer than the limit, and the counts finish before it.
    store = tmp_path / "s.sqlite"
    words = ("profile", f"{EXAMPLES}/diagonal.toml", "--trials", 400, "--store", store, "--json")
    assert call(*words) == 0
    capsys.readouterr()
    monkeypatch.setattr(measures, "conditions", slow)
    assert call(*words, "--by", "condition", "--timeout", 3) == 3
    assert 0 < json.loads(capsys.readouterr().out)["trials"] < 400
