"""Child processes: started, waited for and ended in one place.

Those that answer requests are in `algebra.workers`.  (The page's jobs are forked, by
`matchprob.plugins.page.fork_server`, which is itself started from here.)

A child is the leader of its own session, so that Ctrl-C in a terminal reaches only this
process, which decides whether the child ends.  Processes that the child starts stay in its group,
so that ending the child ends them too.
A wait for a child is divided into short intervals, and `check_time` is called after each.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from algebra.time_limits import check_time, time_left

_ROOT = str(Path(__file__).resolve().parents[1])
# Set for a child: processes that it starts belong to its group.
_MARK = "MATCHPROB_CHILD"
# Length of the intervals of a wait, in seconds.
POLL_SECONDS = 0.1
# Variables that pin the threads of numerical libraries; they act before these are loaded.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


@dataclass(frozen=True)
class Ended:
    """The result of a program that has ended.

    Attributes
    ----------
    status : int
        Its exit status; minus the number of the signal that ended it.
    output : bytes
    errors : str
        Its output and error output.
    """

    status: int
    output: bytes
    errors: str


def own_environment() -> dict[str, str]:
    """The environment of an interpreter that imports this project, wherever it stands."""
    paths = (_ROOT, os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def start_child(
    command: Sequence[str], environment: Mapping[str, str] | None = None, **pipes: Any
) -> subprocess.Popen[bytes]:
    """Start a process with one thread for each numerical library.

    Parameters
    ----------
    command : sequence of str
    environment : mapping of str to str, optional
        In place of this process's.
    **pipes
        `subprocess.Popen`'s ``stdin``, ``stdout``, ``stderr``, ``pass_fds``, ``bufsize``.

    Raises
    ------
    OSError
        If it cannot be started.
    """
    around = os.environ if environment is None else environment
    return subprocess.Popen(
        command,
        env={**around, **ONE_THREAD, _MARK: "1"},
        start_new_session=_MARK not in os.environ,
        **pipes,
    )


def end_child(process: subprocess.Popen[bytes], grace: float = 0.0) -> None:
    """End a child and all processes that it started, and close its pipes.

    Parameters
    ----------
    process : subprocess.Popen
    grace : float, optional
        Seconds in which it may end by itself before it is killed.
    """
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def run_program(
    command: Sequence[str],
    seconds: float = math.inf,
    *,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    watch: Callable[[str], bool] | None = None,
) -> Ended:
    """Run a program to its end, or end it when time is up.

    Parameters
    ----------
    command : sequence of str
    seconds : float, optional
    given : bytes, optional
        Its standard input.
    environment : mapping of str to str, optional
        In place of this process's.
    watch : callable, optional
        Called with its error output so far; True ends it.

    Raises
    ------
    TimeoutError
        If it takes longer than `seconds`, or `watch` ends it.
    OutOfTime
        If the time limit of the call is over first.
    """
    check_time()
    end = time.monotonic() + seconds
    # A file, because Python 3.11 loses the rest of an input if it waits in several steps.
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = start_child(
            command, environment, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    try:
        while (left := end - time.monotonic()) > 0:
            try:
                output, errors = process.communicate(timeout=min(left, POLL_SECONDS, time_left()))
                return Ended(process.returncode, output, errors.decode(errors="replace"))
            except subprocess.TimeoutExpired as waited:
                if watch is not None and watch((waited.stderr or b"").decode(errors="replace")):
                    raise TimeoutError(f"{command[0]} did more work than it may") from None
            check_time()
        raise TimeoutError(f"{command[0]} did not finish within {seconds:g} s")
    finally:
        end_child(process)
