"""Other processes: the one place where they are started, waited for, and ended.

(The page's jobs are forked, by `matchprob.page.zygote`, which is itself started from here.)

A child is the leader of a session of its own, so that Ctrl-C in a terminal reaches only this
process, which decides what becomes of the child.  What the child starts stays in its process group,
so that ending the child ends that, too.
Nobody waits for a child longer than a moment at a time: between two moments `check_time` is asked.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from algebra.time_limits import can_end, check_time, time_left

Result = TypeVar("Result")

_ROOT = str(Path(__file__).resolve().parents[1])
# Set for a child: what it starts belongs to its group.
_MARK = "MATCHPROB_CHILD"
# Seconds that a process is waited for at a time.
LOOK = 0.1
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
    """What a program that ran to its end left.

    Attributes
    ----------
    status : int
        Its exit status; minus the number of the signal that ended it.
    output : bytes
    errors : str
        What it wrote.
    """

    status: int
    output: bytes
    errors: str


def start_child(
    command: Sequence[str], environment: Mapping[str, str] | None = None, **pipes: Any
) -> subprocess.Popen[bytes]:
    """Start a process with one thread a numerical library.

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
        Where it cannot be started.
    """
    around = os.environ if environment is None else environment
    return subprocess.Popen(
        command,
        env={**around, **ONE_THREAD, _MARK: "1"},
        start_new_session=_MARK not in os.environ,
        **pipes,
    )


def end_child(process: subprocess.Popen[bytes], grace: float = 0.0) -> None:
    """End a child and all that it started, and take back its pipes.

    Parameters
    ----------
    process : subprocess.Popen
    grace : float, optional
        Seconds that it has to end by itself before it is killed.
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
) -> Ended:
    """Run a program to its end, and end it where time is up.

    Parameters
    ----------
    command : sequence of str
    seconds : float, optional
    given : bytes, optional
        What it reads from its standard input.
    environment : mapping of str to str, optional
        In place of this process's.

    Raises
    ------
    TimeoutError
        Where it takes longer than `seconds`.
    OutOfTime
        Where the time limit of the call is over first.
    """
    check_time()
    end = time.monotonic() + seconds
    # A file, for Python 3.11 forgets the rest of an input where it waits in several steps.
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = start_child(
            command, environment, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    try:
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                output, errors = process.communicate(timeout=min(left, LOOK, time_left()))
                return Ended(process.returncode, output, errors.decode(errors="replace"))
            check_time()
        raise TimeoutError(f"{command[0]} did not finish within {seconds:g} s")
    finally:
        end_child(process)


def call_apart(function: Callable[..., Result], *arguments: Any) -> Result:
    """The value of a call that takes long and cannot ask `check_time`.

    It is made in a child process, which is ended where the time limit is over first; where there
    is no limit and nobody may stop the work, it is made here.

    Parameters
    ----------
    function : callable
        At the top level of a module of this project.
    *arguments
        What can be pickled; so can the value.

    Raises
    ------
    RuntimeError
        Where the child ends without a value, as where memory runs out.
    OutOfTime
    """
    if not can_end():
        return function(*arguments)
    name = (function.__module__, function.__qualname__)
    paths = (_ROOT, os.environ.get("PYTHONPATH", ""))
    done = run_program(
        [sys.executable, "-m", "algebra.children"],
        given=pickle.dumps((name, arguments)),
        environment={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
    )
    if done.status:
        how = done.errors.strip().rpartition("\n")[2]
        if how.startswith("MemoryError"):
            raise MemoryError
        raise RuntimeError(f"{'.'.join(name)} failed in a child ({done.status}): {how}")
    value: Result = pickle.loads(done.output)
    return value


def _serve_call() -> None:
    """In the child: one call, from the standard input to the standard output."""
    (module, name), arguments = pickle.load(sys.stdin.buffer)
    # What a library prints must not be taken for the value.
    answers = os.dup(1)
    os.dup2(2, 1)
    value = getattr(importlib.import_module(module), name)(*arguments)
    with os.fdopen(answers, "wb") as stream:
        pickle.dump(value, stream)


if __name__ == "__main__":
    _serve_call()
