"""Child processes: run to their end, ended with the time limit, and with all that they started."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from algebra.children import end_child, run_program, start_child
from algebra.time_limits import Interrupted, OutOfTime, StopRequest, stoppable, within


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_program_is_run_to_its_end() -> None:
    """Its status and what it wrote; it reads what it is given and has one thread a library."""
    done = run_program(
        ["/bin/sh", "-c", "cat; echo $OMP_NUM_THREADS; echo no >&2; exit 4"], given=b"x" * 10**6
    )
    assert (done.status, done.output, done.errors) == (4, b"x" * 10**6 + b"1\n", "no\n")


def test_a_program_has_a_limit_of_its_own() -> None:
    """TimeoutError, and it has ended."""
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"sleep did not finish within 0.2 s"):
        run_program(["sleep", "60"], 0.2)
    assert time.monotonic() - began < 20


def eventually(is_true: Callable[[], object]) -> None:
    """Wait until something is true, on a busy machine too."""
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_program_ends_with_the_call() -> None:
    """Where the time limit is over its children end, too."""
    with pytest.raises(OutOfTime), within(0.2):
        run_program(["sleep", "60"])


def test_a_program_that_is_stopped_ends_with_what_it_started(tmp_path: Path) -> None:
    """A request, made by another thread, ends the wait, the program and its own child."""
    note, request = tmp_path / "pid", StopRequest()

    def stop() -> None:
        eventually(note.exists)
        request.make()

    threading.Thread(target=stop).start()
    command = f"sleep 60 & echo $! > {note}.new; mv {note}.new {note}; wait"
    with pytest.raises(Interrupted), stoppable(request):
        run_program(["/bin/sh", "-c", command])
    eventually(lambda: not is_alive(int(note.read_text())))


def test_a_child_may_end_by_itself_first() -> None:
    """Its input is closed, and it has some seconds before it is killed."""
    child = start_child(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert os.getpgid(child.pid) == child.pid
    end_child(child, 20.0)
    assert child.returncode == 0
    child = start_child(["sleep", "60"])
    end_child(child)
    assert child.returncode == -9


def test_what_a_child_starts_ends_with_it(tmp_path: Path) -> None:
    """A program that a child runs belongs to the child's group, not to a session of its own."""
    note = tmp_path / "pid"
    code = (
        "from algebra.children import run_program\n"
        f"run_program(['/bin/sh', '-c', 'echo $$ > {note}.new; mv {note}.new {note}; sleep 60'])"
    )
    child = start_child([sys.executable, "-c", code])
    try:
        eventually(note.exists)
        pid = int(note.read_text())
        assert os.getpgid(pid) == child.pid
    finally:
        end_child(child)
    eventually(lambda: not is_alive(pid))
