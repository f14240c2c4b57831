"""A job that is cancelled at any moment stops at its next check, without a traceback."""

import io
import os
import signal

import pytest

from algebra.time_limits import check_time
from algebra.workers import receive
from matchprob.plugins.page import jobs
from matchprob.plugins.page.fork_server import _do


class Interrupting(io.BytesIO):
    """Sends SIGINT to this process with one of the messages written to it."""

    def __init__(self, at):
        super().__init__()
        self.left = at

    def write(self, data):
        written = super().write(data)
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        self.left -= 1
        return written


@pytest.fixture
def done(monkeypatch):
    """Run a job that is a function of `tell`; return the names of its events."""
    before = signal.getsignal(signal.SIGINT)

    def run(job, stream=None):
        stream = stream or io.BytesIO()
        monkeypatch.setitem(jobs.JOBS, "verdict", lambda ask, tell: job(tell))
        _do({"job": "verdict"}, stream)
        stream.seek(0)
        events = []
        while stream.tell() < len(stream.getvalue()):
            events.append(receive(stream)["event"])
        return events

    yield run
    signal.signal(signal.SIGINT, before)


def asking(tell):
    """A job with two checks and an event between them."""
    check_time()
    tell({"event": "result"})
    check_time()


@pytest.mark.parametrize(
    ("at", "events"),
    [
        (0, ["started", "stopped", "ended"]),
        (1, ["started", "result", "stopped", "ended"]),
        (2, ["started", "result", "ended"]),
    ],
)
def test_a_cancel_at_any_event(done, capfd, at, events):
    """After every event the job stops at its next check, and nothing is printed."""
    assert done(asking, Interrupting(at)) == events
    assert capfd.readouterr() == ("", "")


def test_a_cancel_waits_for_the_next_check(done):
    """Between checks, as while a kernel is unpickled, the job continues."""

    def job(tell):
        os.kill(os.getpid(), signal.SIGINT)
        tell({"event": "result"})

    assert done(job) == ["started", "result", "ended"]


def test_a_cancel_is_for_one_job(done):
    """The next job of the process is not stopped."""

    def late(tell):
        tell({"event": "result"})
        os.kill(os.getpid(), signal.SIGINT)

    assert done(late) == ["started", "result", "ended"]
    assert done(asking) == ["started", "result", "ended"]
