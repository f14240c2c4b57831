"""Child processes: started, waited for and ended in one place.

(The page's jobs are forked, by `matchprob.page.fork_server`, which is itself started from here.)

A child is the leader of its own session, so that Ctrl-C in a terminal reaches only this
process, which decides whether the child ends.  Processes that the child starts stay in its group,
so that ending the child ends them too.
A wait for a child is divided into short intervals, and `check_time` is called after each.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import select
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


def call_apart(function: Callable[..., Result], *arguments: Any) -> Result:
    """The value of a long call that cannot call `check_time`.

    It runs in a child process, which is ended if the time limit is over first; without
    a limit or a possible interrupt it runs in this process.

    Parameters
    ----------
    function : callable
        At the top level of a module of this project.
    *arguments
        They must be picklable; so must the value.

    Raises
    ------
    RuntimeError
        If the child ends without a value, for instance because memory runs out.
    OutOfTime
    """
    if not can_end():
        return function(*arguments)
    with Caller() as caller:
        return caller.call(function, *arguments)


class Caller:
    """A child process for long calls, one after the other; it starts with the first.

    A context manager: the process ends with it, and after a call that failed or was ended.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._files = contextlib.ExitStack()

    def __enter__(self) -> Caller:
        self._errors = self._files.enter_context(tempfile.TemporaryFile())
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()
        self._files.close()

    def call(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """The value of a call, computed by the child.

        Parameters
        ----------
        function : callable
            At the top level of a module of this project.
        *arguments
            They must be picklable; so must the value.

        Raises
        ------
        RuntimeError, MemoryError, OutOfTime
            As `call_apart`.
        """
        child = self._child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        name = (function.__module__, function.__qualname__)
        try:
            # What the child does not read says its status.
            with contextlib.suppress(BrokenPipeError):
                pickle.dump((name, arguments), child.stdin)
                child.stdin.flush()
            while not select.select([child.stdout], [], [], time_left(POLL_SECONDS))[0]:
                check_time()
            value: Result = pickle.load(child.stdout)
        except (EOFError, pickle.UnpicklingError):
            status, how = child.wait(), self._last_line()
            self._end()
            if how.startswith("MemoryError"):
                raise MemoryError from None
            raise RuntimeError(f"{'.'.join(name)} failed in a child ({status}): {how}") from None
        except BaseException:
            self._end()
            raise
        return value

    def _start(self) -> subprocess.Popen[bytes]:
        check_time()
        paths = (_ROOT, os.environ.get("PYTHONPATH", ""))
        return start_child(
            [sys.executable, "-m", "algebra.children"],
            {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip

    def _last_line(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]

    def _end(self) -> None:
        if self._child is not None:
            end_child(self._child)
        self._child = None


def _serve_calls() -> None:
    """Run calls in the child, from the standard input to the standard output, to its end."""
    # Output of a library must not be mixed with the values.
    answers = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(answers, "wb") as stream:
        while True:
            try:
                (module, name), arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(getattr(importlib.import_module(module), name)(*arguments), stream)
            stream.flush()


if __name__ == "__main__":
    _serve_calls()
