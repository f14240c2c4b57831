"""The process that work is forked from: everything is loaded once, each job starts at once.

``python -m matchprob.page.zygote FD`` is started by `matchprob.page.workshop`.  For every worker a
socket arrives over the control socket FD; a fork reads requests from it, works, writes events, and
ends when the socket is closed.  Forks that are wanted ahead are made once everything is loaded. A
job that is not wanted any more is killed with all it started, and nothing is lost: the next fork
is as warm as the first.  The zygote itself never computes and has one thread, so
that forking it is safe.  It ends, with all its jobs, when the control socket is closed; where it
is killed, the system ends them.
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
from matchprob.page.workshop import LOADED
from numeric.studies.workers import receive, send

# Seconds of quiet after which something more is loaded; and between two looks for ended jobs.
_QUIET, _REAP = 0.05, 5.0
# Linux's prctl: the signal that a process gets when its parent dies.
_PR_SET_PDEATHSIG = 1


def _load_exact() -> None:
    """Certify the smallest net: most modules are loaded by that."""
    import matchprob.page.jobs as jobs

    for mask in ([[1, 0], [0, 1]], [[1, 1], [0, 0]]):
        network = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
        ask = {"problem": {"network": network, "learnable": {"W": mask}}, "seed": 0}
        for name in ("verdict", "structure"):
            with suppress(InputError, Unfinished):
                jobs.JOBS[name]({**ask, "timeout": 5.0, "search": 0.5}, lambda *event: None)


def _load_numeric() -> None:
    """Count two instances: the compiled kernels are loaded by that."""
    from algebra.problems.files import problem_from_dict
    from matchprob.api.estimate import estimate

    network = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
    problem = problem_from_dict({"network": network, "learnable": {"W": [[1, 0], [0, 1]]}})
    with suppress(InputError, Unfinished):
        estimate(problem, 2, complete=True, certify=False)


def serve(control: socket.socket) -> None:
    """Fork a worker for every socket that arrives, until the control socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps: list[Callable[[], None]] = [_load_exact]
    children: set[int] = set()
    ahead: list[int] = []
    # Kernels may have to be compiled first, which takes a minute: a fork does that.
    compiler = 0

    def hire(handle: int) -> None:
        # A socket that another process held open would hide the end of its own.
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
                # A part that cannot be loaded is met again, and told, by the job that needs it.
                with suppress(Exception):
                    steps.pop(0)()
                # What is loaded stays: the collector need not look at it in every fork.
                gc.collect()
                gc.freeze()
                if compiler:
                    with suppress(OSError):
                        control.send(b"l")
                else:
                    compiler = _fork(_load_numeric, control)
                    children.add(compiler)
                while ahead:
                    hire(ahead.pop())
            continue
        when, handles = b"", list[int]()
        # Who leaves a word unheard ends with a reset.
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
                hire(handle)


def _fork(work: Callable[[], None], *closed: socket.socket) -> int:
    """A process that does some work and ends; it is the head of a group of its own."""
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
    """Not to compute on for nobody where the zygote was killed; elsewhere than on Linux it may.

    A leash, as phcpy's process has one, would be a pipe for each fork, which later forks hold open.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _work(handle: int) -> None:
    """One job after the other, in the fork, until nobody asks any more."""
    connection = socket.socket(fileno=handle)
    stream: Any = connection.makefile("rwb")
    is_first = True
    while True:
        try:
            ask: dict[str, Any] = receive(stream)
        except (EOFError, OSError):
            return
        # Somebody waits for a verdict; the rest leaves the machine to who works at it.
        if is_first and ask["job"] not in ("answer", "verdict"):
            os.nice(5)
        is_first = False
        _do(ask, stream)


def _do(ask: dict[str, Any], stream: Any) -> None:
    """One job; whatever becomes of it is sent as events.

    SIGINT, which cancels it, makes a `StopRequest` from before the first event, which says where to
    send it.  So nothing is broken off but at a `check_time` of the job: not the loading of a
    module, nor that of a kernel.  A job that does not ask in time is killed by the workshop.
    """
    import matchprob.page.jobs as jobs

    request = StopRequest()
    signal.signal(signal.SIGINT, lambda number, frame: request.make())
    send(stream, {"event": "started", "pid": os.getpid()})

    def tell(event: dict[str, Any], found: Any = None) -> None:
        send(stream, {**event, "found": found})

    try:
        with stoppable(request), jobs.watched(tell) as told:
            jobs.JOBS[ask["job"]](ask, told)
    except (InputError, Unfinished) as error:
        tell({"event": "failed", "text": str(error)})
    except Interrupted:
        tell({"event": "stopped"})
    except MemoryError:
        tell({"event": "failed", "text": "there is not enough memory for this: try a smaller net"})
    except OSError as error:
        tell({"event": "failed", "text": f"{error.filename or 'the system'}: {error.strerror}"})
    except Exception as error:
        # For whoever serves it; the page goes on.
        traceback.print_exc()
        tell({"event": "failed", "text": f"this is a bug: {type(error).__name__}: {error}"})
    send(stream, {"event": "ended"})


def _reap(children: set[int]) -> set[int]:
    """Those that have ended; they are children no more."""
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
    serve(socket.socket(fileno=int(sys.argv[1])))
