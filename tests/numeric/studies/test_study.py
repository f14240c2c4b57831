"""Studies: the same records by one worker, two, or a cluster, and after any number of kills."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from algebra.problems.constraints import Constraints
from algebra.ranks.generic_rank import allocation_rank
from matchprob import (
    LinearEstimator,
    LinearRNN,
    Problem,
    RandomCells,
    Store,
    draw_instance,
)
from numeric.statistics.intervals import proportion_interval
from numeric.studies.study import Study
from numeric.studies.trials import record_of
from numeric.studies.workers import WorkerFailed
from tests.numeric.studies.chunks import dies, has_a_bug, lacks_memory
from tests.refusals import refuses
from tests.samples import DIAGONAL, LONG, ROW, many

ROOT = Path(__file__).resolve().parents[3]
# Decided without the tracker, which takes a process a second to load; a third of the draws match.
ESTIMATOR, BOUND = LinearEstimator(q=3, d=2, m=2), Constraints(max_abs=2.0)
RANDOM = Problem(ESTIMATOR, {"W": RandomCells(budget=4)}, constraints=BOUND)
LINEAR = Problem(ESTIMATOR, {"W": [[1, 1, 0], [0, 1, 1]]}, constraints=BOUND)


def records_of(problem, trials, **options):
    with Study(problem, **options) as study:
        return [record_of(c) for c in study.run(trials).counts]


def test_only_the_missing_are_computed(tmp_path):
    """A larger request computes the rest; the same request computes nothing."""
    path = tmp_path / "s.sqlite"
    with Study(DIAGONAL, store=path) as study:
        study.run(20)
        calls = []
        run = study.workers.run
        study.workers.run = lambda work, take: (calls.append(c) or c for c in run(work, take))
        assert study.run(30).trials == 30
        assert sorted(c.index for chunk in calls for c in chunk) == list(range(20, 30))
        calls.clear()
        assert study.run(25).trials == 25
        assert calls == []
    assert records_of(DIAGONAL, 30, store=path) == records_of(DIAGONAL, 30)


def test_a_worker_that_dies_is_replaced():
    """Workers killed during the work do not change the result."""
    kills = (9, 40) if LONG else (9,)
    with Study(DIAGONAL, workers=2) as study:
        killed = []

        def kill_sometimes(count):
            if count.index in kills:
                pid = study.workers._workers[0].worker.child.pid
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        found = study.run(80, advance=kill_sometimes)
    assert killed
    assert [record_of(c) for c in found.counts] == records_of(DIAGONAL, 80)


def test_interrupt_keeps_a_prefix(tmp_path):
    """Ctrl-C: the estimate is of the first trials without a gap, the others are in the store."""
    path = tmp_path / "s.sqlite"

    def stop(count):
        if count.index == 30:
            raise KeyboardInterrupt

    with Study(DIAGONAL, store=path) as study:
        found = study.run(5000, advance=stop)
    assert 30 < found.trials < 5000
    assert found.requested == 5000
    assert [c.index for c in found.counts] == list(range(found.trials))
    with Study(DIAGONAL, store=path) as study:
        assert len(study.records) == found.trials


SCRIPT = """
import sys
from numeric.studies.study import Study
from tests_study_problem import PROBLEM, TRIALS
with Study(PROBLEM, store=sys.argv[1], workers=int(sys.argv[2])) as study:
    study.run(TRIALS)
"""


def killed_many_times(tmp_path, kills, trials, workers, problem):
    """Kill a run with SIGKILL at random moments, a given number of times."""
    (tmp_path / "tests_study_problem.py").write_text(
        "from algebra.problems.files import problem_from_dict\n"
        f"PROBLEM = problem_from_dict({problem.to_dict()!r})\nTRIALS = {trials}\n"
    )
    store = tmp_path / "s.sqlite"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    rng = random.Random(0)
    command = [sys.executable, "-c", SCRIPT, str(store), str(workers)]
    done = 0
    for _ in range(kills):
        process = subprocess.Popen(command, env=environment, cwd=tmp_path)
        before = done
        # Between the start of the work and well into it.
        patience = time.monotonic() + 600
        while process.poll() is None and time.monotonic() < patience:
            if store.exists():
                with Store(store, create=True) as opened:
                    done = sum(s.trials for s in opened.studies())
            if done > before:
                break
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.2))
        process.kill()
        process.wait()
    assert 0 < done < trials, "the run must be in its middle when it is killed"
    return store


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        (dies, r"trials \d+–\d+: 3 workers ended unexpectedly \(the last: a child process was "
         r"ended by SIGKILL\); .* finished trials are kept"),
        (lacks_memory, r"trials \d+–\d+: the memory is not enough"),
        (has_a_bug, r"trials \d+–\d+: tests.*has_a_bug failed in a child process: KeyError: 'x'"),
    ],
)  # fmt: skip
def test_a_chunk_that_cannot_be_computed(chunk, words, monkeypatch):
    """It is tried three times where its process ends, otherwise once; its trials are named."""
    monkeypatch.setattr("numeric.studies.workers.compute_described", chunk)
    with Study(LINEAR, workers=2) as study:
        refuses(words, study.run, 40, error=WorkerFailed)


def test_a_worker_that_cannot_be_started(monkeypatch):
    """The reason, and the trials that were not computed."""
    monkeypatch.setattr(sys, "executable", "/no such python")
    with Study(LINEAR, workers=2) as study:
        refuses(
            r"trials 0–\d+: /no such python cannot be started: No such file",
            study.run, 40, error=WorkerFailed,
        )  # fmt: skip


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_killed_and_resumed(tmp_path, workers):
    """SIGKILL at random moments, then resumed: record by record the undisturbed run."""
    store = killed_many_times(tmp_path, many(5), 100_000, workers, RANDOM)
    with Store(store, create=True) as opened:
        opened.check()
        kept = opened.records(1)
    trials = many(250)
    assert records_of(RANDOM, trials, store=store) == records_of(RANDOM, trials)
    assert kept


@pytest.mark.long
def test_killed_twenty_times(tmp_path):
    """Twenty kills, then 3,000 trials: record by record the undisturbed run."""
    store = killed_many_times(tmp_path, 20, 1_000_000, 2, DIAGONAL)
    with Store(store, create=True) as opened:
        opened.check()
    assert records_of(DIAGONAL, 3000, store=store) == records_of(DIAGONAL, 3000)


def test_two_processes_share_a_store(tmp_path, file):
    """Two studies at once in one file: no trial is lost, none differs."""
    path = tmp_path / "s.sqlite"
    code = (
        "import sys; from algebra.problems.files import load_problem\n"
        "from numeric.studies.study import Study\n"
        "with Study(load_problem(sys.argv[1]), store=sys.argv[2]) as s: print(s.run(120).trials)\n"
    )
    problem = file(LINEAR.to_toml())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(problem), str(path)],
            stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [p.communicate(timeout=600)[0].strip() for p in running] == ["120", "120"]
    assert records_of(LINEAR, 120, store=path) == records_of(LINEAR, 120)


def test_verdicts_first():
    """Certified maximal trials are settled by the verdict, unless a computation is wanted."""
    with Study(ROW) as study:
        found = study.run(5)
    assert found.matched == 5
    assert all("odd" in c.note and c.paths == 0 for c in found.counts)
    with Study(ROW, certify=False) as study:
        assert {c.status for c in study.run(5).counts} == {"complete"}


def test_half_width_does_not_depend_on_workers():
    """Trials and their records are the same by one worker and by two, also where the allocation
    is drawn, and the interval holds.
    """
    width, ends = 0.08 if LONG else 0.2, []
    for workers in (1, 2):
        with Study(RANDOM, workers=workers) as study:
            ends.append(study.run(5000, half_width=width))
    first, second = ends
    assert first.trials == second.trials < 5000
    assert list(map(record_of, first.counts)) == list(map(record_of, second.counts))
    assert first.interval() == second.interval() == first.running
    assert first.running.half_width <= width
    exact = proportion_interval(first.matched, first.unmatched, first.undetermined)
    assert first.running.half_width > exact.half_width


def cluster_records(trials, kill_at, problem=LINEAR):
    """Records by a Dask cluster of two processes, one of which is killed at some trials."""
    distributed = pytest.importorskip("distributed")
    os.environ["PYTHONPATH"] = str(ROOT)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        ) as cluster,
        Study(problem, scheduler=cluster.scheduler_address) as study,
    ):  # fmt: skip
        killed = []

        def kill_sometimes(count):
            if count.index in kill_at:
                pids = list(study.workers.client.run(os.getpid, on_error="ignore").values())
                if pids:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append(pids[0])

        found = study.run(trials, advance=kill_sometimes)
    return [record_of(c) for c in found.counts], killed


def test_cluster_gives_the_same_records():
    """A Dask cluster of processes, one of them killed: the records of one process."""
    trials = 150 if LONG else 40
    found, killed = cluster_records(trials, {20})
    assert killed
    assert found == records_of(LINEAR, trials)


def test_a_cluster_without_workers_ends_the_work(monkeypatch):
    """Workers that are gone for good: the message says so, and the computed trials are stored."""
    distributed = pytest.importorskip("distributed")
    from numeric.studies import cluster as module

    monkeypatch.setattr(module, "_BETWEEN", 0.05)
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    done = []
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Study(DIAGONAL, scheduler=cluster.scheduler_address) as study,
    ):

        def close_all(count):
            if not done:
                for worker in cluster.workers.values():
                    cluster.sync(worker.close, executor_wait=False)
            done.append(count.index)

        with pytest.raises(WorkerFailed, match=r"no workers for 0\.2 s: start some"):
            study.run(10_000, advance=close_all)
    assert 0 < len(done) < 10_000


@pytest.mark.long
def test_cluster_whose_workers_keep_dying():
    """Ten Dask workers killed during the work: the records of one process."""
    found, killed = cluster_records(6000, set(range(500, 5500, 500)), DIAGONAL)
    assert len(killed) >= 8
    assert found == records_of(DIAGONAL, 6000)


def test_bad_arguments(tmp_path, monkeypatch):
    """Impossible numbers, a missing scheduler and a foreign store are refused by name."""
    refuses("`confidence`", Study, DIAGONAL, confidence=1.0)
    refuses("`workers`", Study, DIAGONAL, workers=0)
    refuses("`engine`", Study, DIAGONAL, engine="magic")
    with Study(DIAGONAL) as study:
        for trials in (0, True, 10**9):
            refuses("`trials`", study.run, trials)
        refuses("`half_width`", study.run, 10, half_width=0.5)
    pytest.importorskip("distributed")
    from numeric.studies.cluster import DaskWorkers

    monkeypatch.setitem(DaskWorkers.__init__.__kwdefaults__, "timeout", 0.2)
    refuses("no Dask scheduler", Study, DIAGONAL, scheduler="tcp://127.0.0.1:9")


def test_random_allocations_are_certified_one_by_one():
    """Of a random problem the minimal draws are unmatched by rank, the maximal ones matched."""
    problem = Problem(LinearRNN(n=3, T=2, b=1, d=2, m=2), {"W": RandomCells(budget=4)})
    with Study(problem) as study:
        found = study.run(80 if LONG else 40)
    kinds = Counter(c.note.split(" (")[0] for c in found.counts)
    assert kinds["no solution, with probability 1"] > 0
    assert any(kind.startswith("certified maximal") for kind in kinds)
    assert found.undetermined == 0
    for count in found.counts:
        rank = allocation_rank(draw_instance(problem, 0, count.index).allocation).rank
        assert (rank < 4) == ("probability 1" in count.note)
