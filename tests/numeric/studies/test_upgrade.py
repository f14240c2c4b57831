"""Old stores are read and upgraded once; what a dead child left is computed again."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from algebra.errors import InputError
from algebra.networks.recurrent import LinearRNN
from algebra.problems.problem import Problem
from numeric.counts import Reason
from numeric.studies.store import SCHEMA, Store
from numeric.studies.study import Study
from numeric.studies.trials import Work
from numeric.studies.upgrade import reason_of_note

# Made by the last code that wrote version 2 (examples/*.toml, seed 0), with one trial as that
# code wrote it where the phcpy process had died.
OLD = Path(__file__).parents[2] / "data" / "store_v2.sqlite"
# Made by the last code that wrote version 3.
THIRD = OLD.with_name("store_v3.sqlite")
DIAGONAL = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})


@pytest.fixture
def old(tmp_path):
    """A copy of the old store."""
    return Path(shutil.copy(OLD, tmp_path / "old.sqlite"))


def test_reasons_of_an_old_store(old):
    """Each trial has the reason that its words gave; the lost one is gone."""
    with Store(old, create=True) as store:
        found = {
            s.id: Counter(c.reason for c in store.records(s.id).values()) for s in store.studies()
        }
    assert found == {
        1: {Reason.COUNTED: 11},
        2: {Reason.SETTLED_MAXIMAL: 5},
        3: {Reason.SETTLED_MINIMAL: 5},
        4: {Reason.FOUND_ONE: 5},
        5: {Reason.SEARCHED: 3, Reason.FOUND_ONE: 2},
        6: {Reason.COUNTED: 6, Reason.FOUND_ONE: 2},
        7: {Reason.COUNTED: 4},
    }
    db = sqlite3.connect(old)
    assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
    db.close()


def test_an_old_study_goes_on(old):
    """The same key: eleven trials are there, the lost one and no other is computed."""
    computed = []
    with Study(DIAGONAL, engine="exact", store=old) as study:
        before = set(study.records)
        found = study.run(12, advance=lambda count: computed.append(count.index))
    assert set(range(12)) - before == {3}
    assert [c.real for c in found.counts] == [0, 2, 0, 0, 2, 2, 2, 2, 2, 2, 2, 0]
    assert (found.matched, found.unmatched, found.undetermined) == (8, 4, 0)


def test_an_upgraded_store_is_opened_again(old):
    """The second opening changes nothing."""
    with Store(old, create=True) as store:
        first = {s.id: store.records(s.id) for s in store.studies()}
    with Store(old, create=False) as store:
        assert {s.id: store.records(s.id) for s in store.studies()} == first


def test_a_store_of_version_3_goes_on_with_solutions(tmp_path):
    """Its trials are there without solutions; those computed now keep theirs, after reopening."""
    path = Path(shutil.copy(THIRD, tmp_path / "third.sqlite"))
    with Study(DIAGONAL, engine="exact", store=path) as study:
        found = study.run(16)
    assert [c.real for c in found.counts[:12]] == [0, 2, 0, 0, 2, 2, 2, 2, 2, 2, 2, 0]
    assert not any(c.solutions for c in found.counts[:12])
    with Store(path, create=False) as store:
        kept = store.records(1)
    fresh = Study(DIAGONAL, engine="exact").run(16).counts
    assert any(c.solutions for c in fresh[12:])
    for k in range(12, 16):
        assert kept[k].solutions == fresh[k].solutions
        assert len(kept[k].solutions) == kept[k].real


@pytest.mark.parametrize(
    ("engine", "real", "status", "note", "reason"),
    [
        ("homotopy", 2, "complete", "N by trace test", Reason.COUNTED_BY_TRACE),
        ("homotopy", 0, "undetermined", "3 of 4 solutions found", Reason.FAILED),
        ("exact", None, "undetermined", "msolve: msolve was ended by signal 9", Reason.LOST),
        ("exact", None, "undetermined", "msolve: it did not finish", Reason.FAILED),
        ("adam", None, "undetermined", "least MSE 1e-1 of 100 starts", Reason.SEARCHED),
        ("homotopy", None, "undetermined", "surplus weights kept fixed", Reason.SEARCHED),
    ],
)
def test_words_of_version_2(engine, real, status, note, reason):
    """The words that version 2 used, one by one."""
    assert reason_of_note(engine, real, status, note) is reason


@pytest.mark.parametrize("given", [OLD, THIRD], ids=["version 2", "version 3"])
def test_old_stores_can_be_read_without_a_right_to_write(given, tmp_path):
    """Listing upgrades a copy in memory; the file stays as it is."""
    path = tmp_path / "old.sqlite"
    shutil.copy(given, path)
    before = path.read_bytes()
    with Store(path, write=False) as store:
        assert store.studies()
    assert path.read_bytes() == before


def test_results_of_version_0_1(tmp_path):
    """A file of the second paper's experiments becomes a store; another one is not touched."""
    path = tmp_path / "norm-fig4.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE normalization (setting TEXT PRIMARY KEY, result TEXT)")
    setting = {
        "d": 5,
        "density": 1.0,
        "epochs": 40,
        "repeat": 2,
        "samples": 9,
        "seed": 0,
        "width": 25,
    }
    db.execute(
        "INSERT INTO normalization VALUES (?, ?)",
        (json.dumps(setting, sort_keys=True), json.dumps({"sgd": 0.5, "target": 1e-28})),
    )
    db.commit()
    db.close()
    with pytest.raises(InputError, match="not a matchprob store"):
        Store(path, write=False)
    for _ in range(2):
        with Store(path, create=True) as store:
            done = {**setting, "experiment": "normalization"}
            repeat = done.pop("repeat")
            kept = store.results(json.dumps(done, sort_keys=True))
            assert kept == {repeat: {"adam": 0.5, "target": 1e-28}}
            store.study(Work.of(DIAGONAL))
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE normalization (x)")
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    with pytest.raises(InputError, match="not a matchprob store"):
        Store(other, create=True)
