"""Stored trials and comparisons on the command line."""

import csv
import json

import pytest

from matchprob import Store, load_problem
from matchprob.verbs.unfinished import missing_trials
from numeric.studies.trials import TrialSeries
from tests.matchprob.calls import DIAGONAL, ROW, call, completed


@pytest.fixture
def files(tmp_path):
    (tmp_path / "row.toml").write_text(ROW)
    (tmp_path / "diagonal.toml").write_text(DIAGONAL)
    return tmp_path


def test_estimate_with_a_store(files, answer, capsys):
    """Trials are stored, listed, shown and exported; a second run adds the missing ones."""
    store, problem = files / "s.sqlite", files / "diagonal.toml"
    first = answer("estimate", problem, "--trials", 20, "--store", store)
    second = answer("estimate", problem, "--trials", 30, "--store", store)
    assert (first["trials"], second["trials"]) == (20, 30)
    (study,) = answer("study", "list", store)["studies"]
    assert (study["trials"], study["matched"]) == (30, second["matched"])
    assert call("study", "list", store) == 0
    assert "2 cells" in capsys.readouterr().out
    shown = answer("study", "show", store)
    assert (shown["low"], shown["high"]) == (second["low"], second["high"])
    assert call("study", "show", store, "1") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "trials 30" in printed
    assert "engine homotopy" in printed
    assert call("study", "export", store, "--out", files / "t.csv") == 0
    rows = list(csv.DictReader((files / "t.csv").read_text().splitlines()))
    assert [int(row["index"]) for row in rows] == list(range(30))
    assert sum(row["outcome"] == "matched" for row in rows) == second["matched"]


def test_parquet(files, complaint):
    """A .parquet export holds the same trials as the CSV one."""
    parquet = pytest.importorskip("pyarrow.parquet")
    store = files / "s.sqlite"
    assert call("estimate", files / "row.toml", "--trials", 7, "--store", store) == 0
    assert call("study", "export", store, "--out", files / "t.parquet") == 0
    assert parquet.read_table(files / "t.parquet").num_rows == 7
    assert ".csv or .parquet" in complaint("study", "export", store, "--out", files / "t.xlsx")


def test_stores_are_merged(files, complaint, capsys):
    """Two stores with different seeds become one."""
    for seed in (0, 1):
        words = ("estimate", files / "row.toml", "--trials", 5, "--seed", seed)
        assert call(*words, "--store", files / f"{seed}.sqlite") == 0
    capsys.readouterr()
    assert call("study", "merge", files / "0.sqlite", files / "1.sqlite", "--json") == 0
    merged = json.loads(capsys.readouterr().out)
    assert (merged["studies"], merged["trials"]) == (1, 5)
    assert "has 2 studies" in complaint("study", "show", files / "0.sqlite")
    assert call("study", "merge", files / "0.sqlite", files / "none.sqlite") == 2


def test_compare(files, answer, printed):
    """A row matches more often than the diagonal, on common instances."""
    words = ("compare", files / "row.toml", files / "diagonal.toml", "--trials", 60)
    found = answer(*words)
    assert found["low"] > 0
    assert found["table"][0][1] == 60 - found["second"]["matched"]
    assert "the first matches more often" in printed(*words)


def test_compare_needs_one_network(files, complaint):
    """Allocations of different networks have no common instances."""
    other = files / "other.toml"
    other.write_text(ROW.replace("m = 2", "m = 1"))
    assert "different networks" in complaint("compare", files / "row.toml", other)


def test_half_width(files, complaint, capsys):
    """The interval that stopped the trials is reported; too few trials end with status 3."""
    words = ("estimate", files / "diagonal.toml", "--half-width", "0.1", "--json")
    assert call(*words, "--trials", 5000) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"] == "confidence sequence"
    assert (found["high"] - found["low"]) / 2 <= 0.1
    assert "not yet 0.1" in complaint(*words, "--trials", 60, status=3)


def test_foreign_store(files, complaint):
    """A problem file given as a store is refused and not changed."""
    problem = files / "row.toml"
    assert "is an input" in complaint("estimate", problem, "--store", problem)
    assert problem.read_text() == ROW


def test_compare_with_structural_zeros(files, capsys):
    """Problems with equal zeros are compared, others are refused."""
    support = "[support]\nW = [[1, 1], [0, 1]]\n"
    (files / "one.toml").write_text(ROW + support)
    (files / "two.toml").write_text(DIAGONAL + support)
    words = ("--trials", 3, "--engine", "exact", "--json")
    assert call("compare", files / "one.toml", files / "two.toml", *words) == 0
    assert json.loads(capsys.readouterr().out)["trials"] == 3
    assert call("compare", files / "one.toml", files / "diagonal.toml", *words) == 2
    assert "differ in [distribution], [support], [values] or [teacher]" in capsys.readouterr().err


def test_names_and_exports(files, answer, printed, capsys):
    """A study has the name of its file or a given one; a store that is only read is not written."""
    store = files / "s.sqlite"
    words = ("--trials", 2, "--engine", "exact", "--store", store)
    assert call("estimate", files / "row.toml", *words) == 0
    assert call("estimate", files / "diagonal.toml", *words, "--name", "my own") == 0
    store.chmod(0o444)
    before = store.read_bytes()
    capsys.readouterr()
    found = answer("study", "list", store)["studies"]
    assert [s["name"] for s in found] == ["row", "my own"]
    assert [s["apart"] for s in found] == ["W[0,1]", "W[1,1]"]
    exported = answer("study", "export", store, "my own")
    assert exported["study"]["name"] == "my own"
    assert [t["index"] for t in exported["trials"]] == [0, 1]
    assert store.read_bytes() == before
    assert not list(files.glob("s.sqlite-*"))
    store.chmod(0o644)
    assert call("study", "rename", store, "1", "other") == 0
    assert "study 1, other" in printed("study", "show", store, "other")


def test_completion():
    """Verbs, options, engines and optimizers are completed."""
    assert completed("rob") == ["robust"]
    assert "homotopy" in completed("count", "P.toml", "--engine", "ho")
    assert completed("count", "P.toml", "--engine", "nonsense") == []
    assert completed("train", "P.toml", "--optimizer", "adam") == ["adam"]
    assert completed("record", "P.toml", "--forb") == ["--forbid"]
    assert completed("profile", "P.toml", "--by", "c") == ["change", "condition"]
    assert completed("design", "P.toml", "--goal", "sp") == ["spread"]
    assert completed("repair", "P.toml", "--goal", "p") == ["positive"]


def test_contents_of_a_store_are_counted(tmp_path):
    """After an early end, finished trials that were not stored are not reported as stored."""
    path = tmp_path / "s.sqlite"
    with Store(path, create=True) as store:
        store.add(store.study(TrialSeries.of(load_problem("examples/diagonal.toml"), 0)), [])
    text = missing_trials(760, 20_000, "trials", "estimate", path, "the disk is full")
    assert "the result above is about these 760" in text
    assert f"{path} holds 0 trials; the same command goes on" in text
    text = missing_trials(1, 2, "trials", "estimate", tmp_path / "none.sqlite")
    assert "the number of stored trials is unknown" in text
    assert missing_trials(2, 2, "trials", "estimate", path) == ""


@pytest.mark.parametrize("verb", ["estimate", "profile", "train"])
def test_a_file_is_read_once(files, answer, monkeypatch, verb):
    """For the expected cost and for the trials, whose study has the file's name."""
    read = []

    def counted(path, **options):
        read.append(path.name)
        return load_problem(path, **options)

    monkeypatch.setattr("algebra.problems.files.load_problem", counted)
    answer(verb, files / "row.toml", "--trials", 2, "--store", files / "s.sqlite")
    assert read == ["row.toml"]
    with Store(files / "s.sqlite") as store:
        assert all(study.name.startswith("row") for study in store.studies())
