"""Studies side by side."""

import pytest

from algebra.workers import Child
from matchprob import Problem, Store, Study
from numeric.studies.study import InProcessWorker
from numeric.studies.together import run_together
from tests.refusals import refuses
from tests.samples import NET

DIAGONAL, OTHER = (Problem(NET, {"W": mask}) for mask in ([[1, 0], [0, 1]], [[0, 1], [1, 0]]))


def studies(**more):
    return [Study(p, engine="exact", **more) for p in (DIAGONAL, OTHER)]


class Interrupted(InProcessWorker):
    """Ctrl-C once, after this number of trials in total."""

    def __init__(self, after):
        self.after = after
        self.rings = 0

    def run(self, work, take):
        for counts in super().run(work, take):
            yield counts
            self.after -= len(counts)
            if self.after <= 0 and not self.rings:
                self.rings += 1
                raise KeyboardInterrupt


def test_as_alone():
    """The estimates are those of two runs, and each trial is reported once."""
    told = []
    found = run_together(studies(), 30, advance=told.append)
    alone = [s.run(30) for s in studies()]
    assert [[c.real for c in f.counts] for f in found] == [
        [c.real for c in f.counts] for f in alone
    ]
    assert sorted(c.index for c in told) == sorted([*range(30), *range(30)])
    assert [f.requested for f in found] == [30, 30]


def test_workers_are_started_only_for_chunks(monkeypatch):
    """Ten thousand workers for two chunks: two processes."""
    from numeric.studies.workers import LocalWorkers

    started = []

    def start(*given):
        assert len(started) < 2, "more workers than chunks"
        started.append(1)
        return Child(*given)

    monkeypatch.setattr("algebra.workers.Child", start)
    chunks = iter([[0, 1], [2]])
    with LocalWorkers(10_000) as crew:
        results = crew.run(studies()[0].work, lambda: next(chunks, None))
        done = [count.index for counts in results for count in counts]
    assert sorted(done) == [0, 1, 2]
    assert len(started) == 2


@pytest.mark.parametrize("after", [1, 4, 20, 41, 60])
def test_one_interrupt_ends_both(after):
    """Their numbers of trials differ by at most one step."""
    crew = Interrupted(after)
    first, second = run_together(studies(workers=crew), 1000)
    assert crew.rings == 1
    assert first.requested == second.requested == 1000
    assert 0 <= first.trials - second.trials <= 16
    assert first.trials + second.trials <= after + 16
    assert first.trouble == second.trouble == ""


def test_names_of_studies(tmp_path):
    """A name is stored, found, replaced on request, and kept by a merge."""
    from numeric.studies.differences import study_differences

    path = tmp_path / "s.sqlite"
    with Store(path, create=True) as store:
        for study, name in zip(studies(store=store), ("one", ""), strict=True):
            study.run(3)
            store.study(study.work, name=name)
    with Store(path, write=False) as store:
        assert store.find("one").trials == 3
        assert study_differences(store.studies(), lambda p: str(p.network)) == [
            "W[0,0] W[1,1]", "W[0,1] W[1,0]",
        ]  # fmt: skip
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.sqlite"]
    with Store(path, create=True) as store:
        store.rename(2, "two")
        store.study(studies()[0].work, name="another")
        assert [s.name for s in store.studies()] == ["one", "two"]
        with Store(tmp_path / "t.sqlite", create=True) as other:
            other.merge(store)
            assert [s.name for s in other.studies()] == ["one", "two"]


def test_too_many_trials_are_refused_at_once():
    """It is refused at once, not after the first million."""
    refuses("must not be greater than 1000000", run_together, studies(), 10**30)
