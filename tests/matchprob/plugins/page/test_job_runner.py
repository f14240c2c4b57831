"""Jobs in separate processes: finished, cancelled, killed, without leftover processes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from algebra.workers import send
from matchprob.plugins.page.job_runner import Job, JobRunner, _JobProcess

NET = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}


def work(runner, **ask):
    """Start a job; return it and the growing list of its events."""
    events = []
    problem = {"network": NET, "learnable": {"W": [[1, 0], [0, 1]]}}
    ask = {"problem": problem, "seed": 0, "timeout": 20.0, "search": 1.0, **ask}
    return runner.run(ask, events.append), events


# Seconds that a machine busy with other things may take; what is waited for ends the wait.
PATIENT = 300


def eventually(is_true):
    """Wait until a condition is true."""
    end = time.monotonic() + PATIENT
    while not (found := is_true()) and time.monotonic() < end:
        time.sleep(0.01)
    assert found


def kinds(events):
    return [event["event"] for event in events]


def test_a_verdict_with_its_certificate(runner):
    """The event is plain data and contains the certificate."""
    job, events = work(runner, job="verdict")
    assert job.wait(PATIENT)
    told = next(event for event in events if event["event"] == "verdict")
    assert told["verdict"] == "intermediate"
    assert told["found"].verdict == "intermediate"
    assert kinds(events)[-1] == "ended"


def test_a_process_is_used_for_the_next_verdict(runner):
    """The same process computes the next verdict, unless the last one was killed or failed."""

    def whose(**ask):
        job, events = work(runner, job="verdict", **ask)
        assert job.wait(PATIENT)
        return job._pid, kinds(events)

    def is_kept():
        before, _ = whose()
        eventually(lambda: runner._idle["verdict"])
        return whose()[0] == before

    # Processes that were forked before all modules were loaded are closed once.
    eventually(is_kept)
    eventually(lambda: runner._idle["verdict"])
    first, _ = whose()
    # One that was killed while it waited is not given work.
    os.kill(first, signal.SIGKILL)
    eventually(lambda: not any(worker.is_idle for worker in runner._idle["verdict"]))
    second, told = whose()
    assert second != first
    assert "verdict" in told
    eventually(lambda: runner._idle["verdict"])
    _, told = whose(timeout="nonsense")
    assert "failed" in told
    third, told = whose()
    assert third != second
    assert "verdict" in told


def test_the_process_of_a_killed_verdict_ends(runner):
    """A signal for a job cannot reach the next one: its process is not used again."""
    for _ in range(5):
        # Its last event waits until it is killed: a job that has ended has nothing to take along.
        is_killed = threading.Event()
        problem = {"network": NET, "learnable": {"W": [[1, 0], [0, 1]]}}
        ask = {"job": "verdict", "problem": problem, "seed": 0, "timeout": 20.0, "search": 1.0}
        job = runner.run(ask, lambda event, is_killed=is_killed: is_killed.wait(PATIENT))
        job.kill()
        is_killed.set()
        assert job.wait(PATIENT)
        other, events = work(runner, job="verdict")
        assert other.wait(PATIENT)
        assert "verdict" in kinds(events)
        assert other._pid != job._pid


def test_bad_input_and_bugs_are_reported(runner):
    """A job that fails reports the reason."""
    job, events = work(runner, job="repair", goal="nonsense", must=[], never=[], seconds=1.0)
    assert job.wait(PATIENT)
    assert any("must be positive or maximal" in e.get("text", "") for e in events)
    job, events = work(runner, job="no such job")
    assert job.wait(PATIENT)
    assert any("this is a bug" in e.get("text", "") for e in events)


@pytest.fixture
def unstarted():
    """Runs a program as a job that has not sent its first event; gives what sends it, and both."""
    made = []

    def run(program):
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True
        )
        ours, theirs = socket.socketpair()
        made.append((process, theirs))
        assert process.stdout.readline() == b"ready\n"

        def start():
            send(theirs.makefile("wb"), {"event": "started", "pid": process.pid})

        return Job(_JobProcess(ours), lambda event: None, lambda worker: None), process, start

    yield run
    for process, theirs in made:
        theirs.close()
        process.kill()
        process.wait()
        process.stdout.close()


_SLEEP = "import time; print('ready', flush=True); time.sleep(600)"


def test_a_kill_waits_for_the_job_not_its_caller(unstarted):
    """A job that is killed before its first event is killed with it, however late that comes."""
    job, process, start = unstarted(_SLEEP)
    job.kill()
    assert process.poll() is None
    start()
    assert process.wait(PATIENT) == -signal.SIGKILL


def test_a_cancel_waits_for_the_job_not_its_caller(unstarted):
    """A job cancelled before its first event is interrupted at that event, and may finish."""
    asks = "import signal; signal.signal(signal.SIGINT, lambda *_: exit(7));"
    job, process, start = unstarted(asks + _SLEEP)
    job.cancel()
    assert process.poll() is None
    start()
    assert process.wait(PATIENT) == 7


def test_a_job_that_does_not_stop_is_killed(unstarted):
    """The job is killed `PATIENCE` seconds after the interrupt."""
    ignores = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    job, process, start = unstarted(ignores + _SLEEP)
    start()
    job.cancel()
    assert process.wait(PATIENT) == -signal.SIGKILL


def long_study(runner):
    """Start a study that takes minutes, and wait for its first event."""
    job, events = work(runner, job="estimate", trials=500_000, complete=True)
    eventually(lambda: "study" in kinds(events))
    return job, events


def test_a_cancelled_study_sends_its_estimate(runner):
    """A cancelled study sends its estimate and ends."""
    job, events = long_study(runner)
    job.cancel()
    assert job.wait(PATIENT)
    last = next(e for e in reversed(events) if e["event"] == "study")
    assert last["trials"] > 0
    assert kinds(events)[-1] == "ended"
    job.cancel()


def test_an_unexpected_end_of_a_process_is_reported(runner):
    """An unexpected end of a process is reported; the end of a cancelled one is not."""
    job, events = long_study(runner)
    os.kill(job._pid, signal.SIGKILL)
    assert job.wait(PATIENT)
    assert "was killed" in events[-2]["text"]
    job, events = long_study(runner)
    job.kill()
    assert job.wait(PATIENT)
    assert "failed" not in kinds(events)
    assert "stopped" not in kinds(events)


def running(pids):
    """States of those processes that still exist."""
    alive = subprocess.run(
        ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True
    )
    return [s for s in alive.stdout.decode().split() if not s.startswith("Z")]


def test_the_fork_server_is_replaced(runner):
    """If the fork server is killed, its jobs are ended and another one is started."""
    job, _ = long_study(runner)
    runner._fork_server.kill()
    runner._fork_server.wait()
    if sys.platform == "linux":
        # Which tells children that a parent died.
        eventually(lambda: not running([job._pid]))
    job, events = work(runner, job="verdict")
    assert job.wait(PATIENT)
    assert "verdict" in kinds(events)


def test_closing_leaves_no_processes():
    """Closing ends the running jobs and the fork server."""
    runner = JobRunner()
    job, _ = long_study(runner)
    pids = [job._pid, runner._fork_server.pid]
    closed = threading.Thread(target=runner.close)
    closed.start()
    closed.join(PATIENT)
    assert job.wait(PATIENT)
    eventually(lambda: not running(pids))
