"""Trials on disk: written once, never mixed, refused if they are damaged."""

import sqlite3
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchprob import InputError, InstanceCount, Study
from numeric.studies.store import Store, StoreFull, packed, unpacked
from numeric.studies.trials import TrialSeries, record_of
from numeric.trials.counts import COMPLETE, UNDETERMINED
from tests.refusals import refuses
from tests.samples import DIAGONAL

WORK = TrialSeries.of(DIAGONAL)


def count(k, real=0):
    if real is None:
        return InstanceCount(k, None, None, UNDETERMINED, "lost")
    return InstanceCount(k, real, 2, COMPLETE, paths=2, retried=1, certified=2, seconds=0.5)


def test_what_is_written_is_read(tmp_path):
    """Every field of a trial is read back when the file is opened again."""
    with Store(tmp_path / "s.sqlite", create=True) as store:
        study = store.study(WORK, "1.2")
        assert store.add(study, [count(0, 2), count(3, 0), count(1, None)]) == 3
        assert store.add(study, [count(0, 0)]) == 0
    with Store(tmp_path / "s.sqlite", create=False) as store:
        assert store.study(WORK) == study
        found = store.records(study)
        assert list(found) == [0, 1, 3]
        assert found[0] == count(0, 2)
        assert found[1] == count(1, None)
        (info,) = store.studies()
        assert (info.trials, info.matched, info.unmatched, info.undetermined) == (3, 1, 1, 1)
        assert info.version == "1.2"
        assert TrialSeries.from_dict(info.work) == WORK
        assert store.find("1") == store.find(WORK.key[:6]) == info


def test_a_store_that_another_process_creates_is_waited_for(tmp_path):
    """A lock on a new file is waited for, also where SQLite itself does not wait."""
    path = tmp_path / "s.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    ended = threading.Timer(0.1, lambda: other.execute("ROLLBACK"))
    ended.start()
    with Store(path, create=True) as store:
        assert store.studies() == []
    ended.join()
    other.close()


def test_results_of_experiments(tmp_path):
    """Results are stored by experiment and number, once, and merged; a new store has none."""
    with (
        Store(tmp_path / "a.sqlite", create=True) as ours,
        Store(tmp_path / "b.sqlite", create=True) as theirs,
    ):
        assert ours.results("x") == {}
        ours.keep("x", 3, {"error": 1e-28})
        ours.keep("x", 3, {"error": 2.0})
        ours.keep("y", 0, {"steps": 7})
        ours.keep("y", 0, {"steps": 8}, instead=True)
        theirs.keep("x", 3, {"error": 5.0})
        theirs.keep("x", 1, {"error": 0.5})
        assert ours.merge(theirs) == {"studies": 0, "trials": 0}
        assert ours.results("x") == {1: {"error": 0.5}, 3: {"error": 1e-28}}
        assert ours.studies() == []
    with Store(tmp_path / "a.sqlite", write=False) as store:
        assert store.results("y") == {0: {"steps": 8}}
        assert store.results("z") == {}


def test_studies_are_kept_apart(tmp_path):
    """Another seed is another study."""
    with Store(tmp_path / "s.sqlite", create=True) as store:
        first, second = store.study(WORK), store.study(TrialSeries.of(DIAGONAL, 1))
        store.add(first, [count(0, 2)])
        assert store.records(second) == {}
        refuses("no study 'x'", store.find, "x")


@pytest.mark.parametrize("content", [b"", b"not a database at all, but quite long" * 30])
def test_foreign_files(tmp_path, content):
    """A text file is refused and not changed; an empty file becomes a store."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(content)
    if not content:
        Store(path, create=True).close()
        return
    refuses("not a matchprob store", Store, path, create=True)
    assert path.read_bytes() == content


def test_other_databases(tmp_path):
    """Another program's SQLite file, or a store of a later version, is rejected."""
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    refuses("not a matchprob store", Store, path, create=True)
    Store(tmp_path / "s.sqlite", create=True).close()
    with sqlite3.connect(tmp_path / "s.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    refuses("version 99", Store, tmp_path / "s.sqlite", create=True)


def test_damage_is_noticed(tmp_path):
    """A store with overwritten pages is an error and gives no trials."""
    path = tmp_path / "s.sqlite"
    with Store(path, create=True) as store:
        study = store.study(WORK)
        store.add(study, [count(k, 2) for k in range(3000)])
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for at in range(2 * 4096, len(data) - 4096, 4096):
        data[at : at + 2048] = b"\xff" * 2048
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"), Store(path, create=False) as store:
        store.check()


def test_missing_files(tmp_path):
    """A store that must exist, or whose folder does not exist, is refused by name."""
    refuses("no such store", Store, tmp_path / "s.sqlite", create=False)
    refuses("no folder", Store, tmp_path / "none" / "s.sqlite", create=True)


def test_claims(tmp_path):
    """Trials of another live process are left to it; those of a dead one are free again."""
    path = tmp_path / "s.sqlite"
    with Store(path, create=True) as store:
        study = store.study(WORK)
        assert store.claim(study, [0, 1, 2]) == [0, 1, 2]
        assert store.claim(study, [2, 3]) == [2, 3]
        script = (
            "import sys; from numeric.studies.store import Store\n"
            f"with Store({str(path)!r}, create=True) as s:\n"
            "    print(s.claim(1, [3, 4, 5])); sys.stdout.flush()\n"
            "    import os; os.kill(os.getpid(), 9)\n"
        )
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert other.stdout.strip() == "[4, 5]"
        assert store.claim(study, [4, 5, 6]) == [4, 5, 6]
        store.release()
        assert store._db.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_merge(tmp_path):
    """New studies and trials are added; a contradiction stops the merge without changes."""
    with (
        Store(tmp_path / "a.sqlite", create=True) as a,
        Store(tmp_path / "b.sqlite", create=True) as b,
    ):
        a.add(a.study(WORK), [count(0, 2), count(1, 0)])
        b.add(b.study(WORK), [count(1, 0), count(2, 2)])
        b.add(b.study(TrialSeries.of(DIAGONAL, 9)), [count(0, 0)])
        assert a.merge(b) == {"studies": 1, "trials": 2}
        assert a.merge(b) == {"studies": 0, "trials": 0}
        assert [record_of(c) for c in a.records(a.study(WORK)).values()] == [
            record_of(c) for c in (count(0, 2), count(1, 0), count(2, 2))
        ]
        b.add(b.study(WORK), [count(0, 0), count(7, 0)])
        refuses("differ on trial 0", a.merge, b)
        assert 7 not in a.records(a.study(WORK))


def test_full_disk_ends_a_study_with_what_is_done(tmp_path):
    """If the store cannot be written, the estimate so far is returned, and the file stays valid."""
    problem = DIAGONAL
    path = tmp_path / "s.sqlite"
    with Store(path, create=True) as store, Study(problem, store=store) as study:
        study.run(20)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count={pages}")
        found = study.run(3000)
        assert "full" in found.trouble
        assert 20 < found.trials < found.requested == 3000
        with pytest.raises(StoreFull):
            store.add(1, [InstanceCount(k, 0, 2, COMPLETE, "x" * 200) for k in range(3000, 4000)])
    with Store(path, create=False) as store:
        store.check()
        kept = store.records(1)
        assert len(kept) >= 20
        assert [record_of(kept[k]) for k in range(20)] == [record_of(c) for c in found.counts[:20]]
    with Study(problem, store=path) as study:
        assert study.run(100).trials == 100


@given(
    st.integers(1, 5).flatmap(
        lambda r: st.lists(st.tuples(*[st.floats(allow_nan=False)] * r), max_size=6)
    )
)
def test_solutions_are_stored_to_the_last_bit(solutions):
    """What is packed is unpacked, in 4 bytes and 8 for each weight."""
    kept = packed(solutions)
    assert unpacked(kept) == tuple(solutions)
    assert len(kept or b"") == (4 + 8 * len(solutions) * len(solutions[0]) if solutions else 0)


def test_damaged_solutions_are_refused():
    """Bytes that are not an integer number of solutions are refused in one line."""
    refuses("damaged", unpacked, packed([(1.0, 2.0)])[:-3])
