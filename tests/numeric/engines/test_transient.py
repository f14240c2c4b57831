"""Child processes that crash: they are replaced, and lost trials are not stored."""

import os
import stat

import pytest

from algebra.polynomials.msolve import process as msolve
from algebra.polynomials.msolve.process import find_msolve
from matchprob import InstanceCount, LinearRNN, Problem, Store, Study, draw_instance
from numeric.engines.base import EngineInfo, engine, unregister
from numeric.engines.exact import ExactEngine
from numeric.engines.phcpy.engine import PhcpyEngine
from numeric.engines.phcpy.process import PhcpyCrashed, PhcpyProcess
from numeric.trials.counts import COMPLETE, UNDETERMINED, Reason
from tests.samples import DIAGONAL

# Its core has several unknowns, so that msolve is called.
WIDE = Problem(LinearRNN(n=3, T=3, b=1, d=1, m=2), {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]})


@pytest.fixture
def crashing_msolve(tmp_path, monkeypatch):
    """An msolve that is killed in its first `crashes` runs, then works."""

    def make(crashes: int):
        real, runs = find_msolve(), tmp_path / "runs"
        script = tmp_path / "msolve"
        script.write_text(
            f"#!/bin/sh\necho x >> {runs}\n"
            f'[ "$(wc -l < {runs})" -le {crashes} ] && kill -9 $$\nexec {real} "$@"\n'
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(msolve, "find_msolve", lambda: str(script))
        return runs

    return make


@pytest.mark.parametrize("crashes", [1, 2])
def test_msolve_is_run_again_after_a_crash(crashing_msolve, crashes):
    """After one or two crashes the count is the same as without a crash."""
    instance = draw_instance(WIDE, 0, 0)
    expected = ExactEngine(WIDE).count(instance)
    crashing_msolve(crashes)
    found = ExactEngine(WIDE).count(instance)
    assert (found.real, found.complex, found.status) == (expected.real, expected.complex, COMPLETE)


def test_a_count_is_lost_after_three_crashes_of_msolve(crashing_msolve):
    """After three processes the reason is "lost", with the signal in the note."""
    runs = crashing_msolve(99)
    found = ExactEngine(WIDE).count(draw_instance(WIDE, 0, 0))
    assert (found.status, found.reason) == (UNDETERMINED, Reason.LOST)
    assert "signal 9" in found.note
    assert runs.read_text().count("x") == 3


class CrashingPhcpy(PhcpyProcess):
    """A phcpy whose worker crashes in the first calls; the next call raises AssertionError."""

    def __init__(self, crashes: int) -> None:
        super().__init__()
        self.crashes = crashes

    def solve(self, *arguments, **more):
        if self.crashes:
            self.crashes -= 1
            raise PhcpyCrashed("the phcpy process was ended by SIGKILL")
        raise AssertionError("called again")


def test_phcpy_is_tried_three_times():
    """Two failures are tolerated; after three the count is lost."""
    instance = draw_instance(WIDE, 0, 0)
    with pytest.raises(AssertionError, match="called again"):
        PhcpyEngine(WIDE, 6, process=CrashingPhcpy(2)).count(instance)
    found = PhcpyEngine(WIDE, 6, process=CrashingPhcpy(3)).count(instance)
    assert (found.status, found.reason) == (UNDETERMINED, Reason.LOST)


@pytest.fixture
def broken(tmp_path):
    """An engine that loses odd trials while a file exists."""
    mark = tmp_path / "broken"
    mark.touch()

    class Engine:
        def count_many(self, instances):
            return [
                InstanceCount(i.index, None, None, UNDETERMINED, "it died", reason=Reason.LOST)
                if mark.exists() and i.index % 2
                else InstanceCount(i.index, 2, 2, COMPLETE)
                for i in instances
            ]

    @engine(EngineInfo("broken", {"linear"}, complete=True))
    def make(task):
        return Engine()

    yield mark
    unregister("broken")


def test_lost_trials_are_not_stored_and_are_computed_again(tmp_path, broken):
    """Lost trials are undetermined in their run and not in the store; the next run has them."""
    path = tmp_path / "s.sqlite"
    with Study(DIAGONAL, engine="broken", store=path) as study:
        found = study.run(6)
        assert (found.trials, found.matched, found.undetermined) == (6, 3, 3)
        assert study.store is not None
        assert sorted(study.store.records(1)) == [0, 2, 4]
        os.remove(broken)
        assert study.run(6).matched == 6
        assert sorted(study.store.records(1)) == list(range(6))


def test_merging_compares_counts_not_notes(tmp_path):
    """A complete count replaces an undetermined one and is never replaced itself."""
    whole = InstanceCount(0, 2, 2, COMPLETE, "by one way")
    again = InstanceCount(0, 2, 2, COMPLETE, "by another", paths=9)
    part = InstanceCount(0, None, None, UNDETERMINED, "phcpy: no answer")
    with (
        Study(DIAGONAL, store=tmp_path / "a.sqlite") as a,
        Study(DIAGONAL, store=tmp_path / "b.sqlite") as b,
    ):
        ours, theirs = a.store, b.store
        assert isinstance(ours, Store)
        assert isinstance(theirs, Store)
        ours.add(1, [part])
        theirs.add(1, [whole])
        assert ours.merge(theirs) == {"studies": 0, "trials": 1}
        assert ours.records(1)[0].real == 2
        theirs.add(1, [again])  # a complete count stays as it was first written
        assert theirs.records(1)[0].note == "by one way"
        assert theirs.merge(ours) == {"studies": 0, "trials": 0}
        assert ours.add(1, [part]) == 0
        assert ours.records(1)[0].status == COMPLETE
