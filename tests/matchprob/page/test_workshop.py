"""Jobs in processes of their own: done, cancelled, killed; nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from matchprob.page.workshop import Workshop

NET = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}


@pytest.fixture(scope="module")
def workshop():
    found = Workshop()
    yield found
    found.close()


def work(workshop, **ask):
    """A job and the list of its events, which grows."""
    events = []
    problem = {"network": NET, "learnable": {"W": [[1, 0], [0, 1]]}}
    ask = {"problem": problem, "seed": 0, "timeout": 20.0, "search": 1.0, **ask}
    return workshop.run(ask, events.append), events


def eventually(is_true):
    """Wait until something is true."""
    end = time.monotonic() + 60
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)
    assert is_true()


def kinds(events):
    return [event["event"] for event in events]


def test_a_verdict_with_its_certificate(workshop):
    """The event is plain data, the certificate comes with it."""
    job, events = work(workshop, job="verdict")
    assert job.wait(300)
    told = next(event for event in events if event["event"] == "verdict")
    assert told["verdict"] == "intermediate"
    assert told["found"].verdict == "intermediate"
    assert kinds(events)[-1] == "ended"


def test_a_process_is_kept_for_the_next_verdict(workshop):
    """The next verdict is begun by the same process, unless the last was killed or went wrong."""

    def whose(**ask):
        job, events = work(workshop, job="verdict", **ask)
        assert job.wait(300)
        return job._pid, kinds(events)

    first, _ = whose()
    eventually(lambda: workshop._idle["verdict"])
    assert whose()[0] == first
    eventually(lambda: workshop._idle["verdict"])
    # One that was killed while it waited is not given work.
    os.kill(first, signal.SIGKILL)
    eventually(lambda: not workshop._idle["verdict"][0].is_there)
    second, told = whose()
    assert second != first
    assert "verdict" in told
    eventually(lambda: workshop._idle["verdict"])
    _, told = whose(timeout="nonsense")
    assert "failed" in told
    third, told = whose()
    assert third != second
    assert "verdict" in told


def test_a_killed_verdict_takes_its_process_along(workshop):
    """A signal for a job never hits the next one: its process is not used again."""
    for _ in range(5):
        job, _ = work(workshop, job="verdict")
        job.kill()
        assert job.wait(10)
        other, events = work(workshop, job="verdict")
        assert other.wait(300)
        assert "verdict" in kinds(events)
        assert other._pid != job._pid


def test_bad_input_and_bugs_are_words(workshop):
    """A job that cannot be done says why."""
    job, events = work(workshop, job="repair", goal="nonsense", must=[], never=[], seconds=1.0)
    assert job.wait(300)
    assert any("must be positive or maximal" in e.get("text", "") for e in events)
    job, events = work(workshop, job="no such job")
    assert job.wait(300)
    assert any("this is a bug" in e.get("text", "") for e in events)


def long_study(workshop):
    """A study that runs for minutes, seen at work."""
    job, events = work(workshop, job="estimate", trials=500_000, complete=True)
    end = time.monotonic() + 300
    while "study" not in kinds(events) and time.monotonic() < end:
        time.sleep(0.02)
    assert "study" in kinds(events)
    return job, events


def test_cancel_keeps_what_is_known(workshop):
    """A cancelled study tells its estimate, and ends."""
    job, events = long_study(workshop)
    job.cancel()
    assert job.wait(10)
    last = next(e for e in reversed(events) if e["event"] == "study")
    assert last["trials"] > 0
    assert kinds(events)[-1] == "ended"
    job.cancel()


def test_a_killed_job_is_told(workshop):
    """A process that dies by itself is words; one that is not wanted any more is silent."""
    job, events = long_study(workshop)
    os.kill(job._pid, signal.SIGKILL)
    assert job.wait(10)
    assert "was killed" in events[-2]["text"]
    job, events = long_study(workshop)
    job.kill()
    assert job.wait(10)
    assert "failed" not in kinds(events)
    assert "stopped" not in kinds(events)


def test_the_zygote_is_replaced():
    """Where the process to fork from was killed, another one is started."""
    workshop = Workshop()
    try:
        job, _ = work(workshop, job="verdict")
        assert job.wait(300)
        workshop._zygote.kill()
        workshop._zygote.wait()
        job, events = work(workshop, job="verdict")
        assert job.wait(300)
        assert "verdict" in kinds(events)
    finally:
        workshop.close()


def running(pids):
    """States of those processes that still are."""
    alive = subprocess.run(
        ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True
    )
    return [s for s in alive.stdout.decode().split() if not s.startswith("Z")]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells children that a parent died")
def test_no_job_outlives_the_zygote():
    """Where it is killed, its jobs are ended too: they would compute for nobody."""
    workshop = Workshop()
    try:
        job, _ = long_study(workshop)
        workshop._zygote.kill()
        workshop._zygote.wait()
        end = time.monotonic() + 20
        while running([job._pid]) and time.monotonic() < end:
            time.sleep(0.05)
        assert running([job._pid]) == []
    finally:
        workshop.close()


def test_nothing_is_left_behind():
    """Closing ends the jobs that run, and the process they were forked from."""
    workshop = Workshop()
    job, _ = long_study(workshop)
    pids = [job._pid, workshop._zygote.pid]
    closed = threading.Thread(target=workshop.close)
    closed.start()
    closed.join(20)
    assert job.wait(10)
    time.sleep(0.2)
    assert running(pids) == []
