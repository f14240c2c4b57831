"""The process from which jobs are forked: modules are loaded once, and each job starts at once.

``python -m matchprob.plugins.page.fork_server FD`` is started by
`matchprob.plugins.page.job_runner`.  For every worker a socket arrives over the control socket FD;
a fork reads requests from it, computes, writes events, and ends when the socket is closed.  Forks
in advance are made once all modules are loaded.  A cancelled job is killed with its process group;
the next fork has the same loaded modules.  The fork server itself does not compute and has one
thread, so that forking it is safe.  It ends, with all its jobs, when the control socket is closed;
if it is killed, the system ends them.

A process pool that can end its children (pebble over forkserver) was slower when it was measured:
3.5 instead of 2.4 s to the first click.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from algebra.errors import InputError, Unfinished
from algebra.time_limits import Interrupted, StopRequest, stoppable
from algebra.workers import receive, send
from matchprob.plugins.page.job_runner import LOADED

# Idle seconds before another module is loaded, and between two checks for ended jobs.
_QUIET = 0.05
_REAP = 5.0
# Linux's prctl: the signal sent to a process when its parent dies.
_PR_SET_PDEATHSIG = 1


def _load_exact() -> None:
    """Load most modules by certifying the smallest network."""
    import matchprob.plugins.page.jobs as jobs

    for mask in ([[1, 0], [0, 1]], [[1, 1], [0, 0]]):
        network = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
        ask = {"problem": {"network": network, "learnable": {"W": mask}}, "seed": 0}
        for name in ("verdict", "structure"):
            with suppress(InputError, Unfinished):
                jobs.JOBS[name]({**ask, "timeout": 5.0, "search": 0.5}, lambda *event: None)


def _load_numeric() -> None:
    """Load the compiled kernels by counting two instances."""
    from algebra.problems.files import problem_from_dict
    from matchprob.api.estimate import estimate

    network = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
    problem = problem_from_dict({"network": network, "learnable": {"W": [[1, 0], [0, 1]]}})
    with suppress(InputError, Unfinished):
        estimate(problem, 2, complete=True, certify=False)


def _are_compiled() -> bool:
    """Whether the kernels of most counts are in the cache."""
    from numeric.certification.krawczyk_kernel import prove_all
    from numeric.kernels import is_kept
    from numeric.tracking.kernel import track_paths

    return is_kept(track_paths) and is_kept(prove_all)


def fork_workers(control: socket.socket) -> None:
    """Fork a worker for every socket that arrives, until the control socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps: list[Callable[[], None]] = [_load_exact]
    children: set[int] = set()
    ahead: list[int] = []
    # Kernels may have to be compiled first, which takes a minute: a fork does that.  -1 if they are
    # in the cache.
    compiler = 0

    def start_worker(handle: int) -> None:
        # The fork closes its copies of the waiting sockets, which would hide their end.
        def work() -> None:
            for other in ahead:
                os.close(other)
            _work(handle)

        children.add(_fork(work, control))
        os.close(handle)

    while True:
        ready, _, _ = select.select([control], [], [], _QUIET if steps else _REAP)
        if compiler in _reap(children):
            steps.append(_load_numeric)
        if not ready:
            if steps:
                # A module that cannot be loaded is reported by the job that needs it.
                with suppress(Exception):
                    steps.pop(0)()
                # Loaded objects are permanent: exclude them from garbage collection in forks.
                gc.collect()
                gc.freeze()
                if compiler:
                    with suppress(OSError):
                        control.send(b"l")
                elif _are_compiled():
                    compiler = -1
                    steps.append(_load_numeric)
                else:
                    compiler = _fork(_load_numeric, control)
                    children.add(compiler)
                while ahead:
                    start_worker(ahead.pop())
            continue
        when, handles = b"", list[int]()
        # The other side resets the connection if it closes its socket with unread data.
        with suppress(ConnectionError):
            when, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not when:
            for pid in children:
                _kill(pid)
            return
        for handle in handles:
            if when == LOADED and not compiler:
                ahead.append(handle)
            else:
                start_worker(handle)


def _fork(work: Callable[[], None], *closed: socket.socket) -> int:
    """Fork a process that calls `work` and ends; it leads its own process group."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        _end_with_parent()
        for one in closed:
            one.close()
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _end_with_parent() -> None:
    """End this process when the fork server is killed, on Linux; elsewhere it continues.

    A pipe as in `numeric.engines.phcpy.worker` would not work: later forks hold copies of it open.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(handle: int) -> None:
    """Run one job after the other in the fork, until the socket is closed."""
    connection = socket.socket(fileno=handle)
    stream: Any = connection.makefile("rwb")
    is_first = True
    while True:
        try:
            ask: dict[str, Any] = receive(stream)
        except (EOFError, OSError):
            return
        # Verdicts keep their priority; other jobs run with low priority.
        if is_first and ask["job"] not in ("answer", "verdict"):
            os.nice(5)
        is_first = False
        _do(ask, stream)


def _do(ask: dict[str, Any], stream: Any) -> None:
    """Run one job; its result or failure is sent as events.

    SIGINT, which cancels it, sets a `StopRequest` that exists before the first event, which
    contains the process id.  So the job stops only at a call of `check_time`, not while a module or
    a kernel is loaded.  A job that does not stop in time is killed by the job runner.
    """
    import matchprob.plugins.page.jobs as jobs

    request = StopRequest()
    signal.signal(signal.SIGINT, lambda number, frame: request.make())
    send(stream, {"event": "started", "pid": os.getpid()})

    def report(event: dict[str, Any], found: Any = None) -> None:
        send(stream, {**event, "found": found})

    try:
        with stoppable(request), jobs.watched_phases(report) as reporter:
            jobs.JOBS[ask["job"]](ask, reporter)
    except (InputError, Unfinished) as error:
        report({"event": "failed", "text": str(error)})
    except Interrupted:
        report({"event": "stopped"})
    except MemoryError:
        report(
            {"event": "failed", "text": "there is not enough memory for this: try a smaller net"}
        )
    except OSError as error:
        report({"event": "failed", "text": f"{error.filename or 'the system'}: {error.strerror}"})
    except Exception as error:
        # The traceback is for the user of the server; the page continues.
        traceback.print_exc()
        report({"event": "failed", "text": f"this is a bug: {type(error).__name__}: {error}"})
    send(stream, {"event": "ended"})


def _reap(children: set[int]) -> set[int]:
    """Reap the children that have ended; returns the others."""
    ended = set()
    for pid in children:
        with suppress(ChildProcessError):
            done, _ = os.waitpid(pid, os.WNOHANG)
            if not done:
                continue
        ended.add(pid)
    children -= ended
    return ended


def _kill(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    fork_workers(socket.socket(fileno=int(sys.argv[1])))
