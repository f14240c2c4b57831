"""Starts, cancels and kills jobs in separate processes, and passes on their events.

Processes for jobs of every click (`WARM`) are forked in advance and kept when their job
is done, so that a click waits neither for a fork nor for loading what an earlier job has loaded.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from algebra.children import end_child, own_environment, start_child
from algebra.errors import Unfinished
from algebra.workers import receive, send

# Seconds in which a cancelled job may send its result before it is killed.
PATIENCE = 0.6

# Modules with the classes of results: a result is unpickled at once if these are loaded.
_RESULTS = (
    "matchprob.api.designs.design",
    "matchprob.api.identify",
    "matchprob.api.designs.repair",
    "numeric.statistics.comparison",
)

# Jobs whose process is kept for the next one of the same name; and the largest number of jobs of a
# process, which limits the effect of memory leaks.
WARM = ("answer", "verdict", "structure")
_MOST_JOBS = 200
# Number of processes that wait for their first job.
_SPARES = 3
# When the fork server forks.
NOW = b"n"
LOADED = b"l"

Event = dict[str, Any]
Listener = Callable[[Event], None]


class _JobProcess:
    """A worker process: its socket, and the number of jobs that it was given."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.stream: Any = connection.makefile("rwb")
        self.jobs = 0

    @property
    def is_idle(self) -> bool:
        """Whether the idle process still runs: its socket has data only if the process ended."""
        return not _has_input(self.connection)

    def close(self) -> None:
        """Close the socket: the process ends after its present job."""
        for end in (self.stream, self.connection):
            with suppress(OSError):
                end.close()


class Job:
    """A job in a worker process.

    Parameters
    ----------
    worker : _JobProcess
        The process that runs it.
    listener : callable
        Called with every event, in a thread of the job; the last one is "ended".
    keep : callable
        Receives the worker if the job ended regularly.

    Attributes
    ----------
    is_over : bool
    """

    def __init__(
        self, worker: _JobProcess, listener: Listener, keep: Callable[[_JobProcess], None]
    ) -> None:
        self._worker = worker
        self._listener = listener
        self._keep = keep
        # Held while a signal is sent, so that it cannot reach a later job of the process.
        self._lock = threading.Lock()
        self._pid = 0
        self._wanted = True
        # Signals to send when the process id is known.
        self._due: list[signal.Signals] = []
        self._over = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether its last event was passed on."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end; returns whether it has ended."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """End it within a second of its start; its result so far is passed on.

        This method does not wait for the end.
        """
        self._wanted = False
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End it now, or as soon as it has started; none of its events is passed on any more.

        This method does not wait for the end.
        """
        self._wanted = False
        self._listener = _nothing
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal now, or at the first event of the process, which contains its id."""
        with self._lock:
            self._due.append(number)
            self._send_due()

    def _send_due(self) -> None:
        """Send the pending signals, if possible; the lock is held."""
        if self._over.is_set() or not self._pid:
            return
        for number in self._due:
            # An interrupt is for the job process itself; a kill is for its whole process group.
            send_to = os.kill if number == signal.SIGINT else os.killpg
            with suppress(OSError):
                send_to(self._pid, number)
            if number == signal.SIGINT:
                timer = threading.Timer(PATIENCE, self._signal, [signal.SIGKILL])
                timer.daemon = True
                timer.start()
        self._due.clear()

    def _listen(self) -> None:
        is_ended = has_failed = False
        while not is_ended:
            try:
                event = receive(self._worker.stream)
            except Exception:
                # EOF, or an incomplete message of a job that was killed.
                break
            if event["event"] == "started":
                with self._lock:
                    self._pid = event["pid"]
                    self._send_due()
                continue
            is_ended = event["event"] == "ended"
            has_failed = has_failed or event["event"] == "failed"
            if not is_ended:
                self._listener(event)
        if not is_ended:
            text = "the process was killed (out of memory?); what is on the page is kept"
            self._listener(
                {"event": "failed", "text": text} if self._wanted else {"event": "stopped"}
            )
        self._listener({"event": "ended"})
        with self._lock:
            self._over.set()
        # A signal may be on its way to a process that was cancelled.
        if is_ended and self._wanted and not has_failed:
            self._keep(self._worker)
        else:
            self._worker.close()


class JobRunner:
    """Starts jobs; see `matchprob.plugins.page.jobs.JOBS` for what they do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fork_server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._idle: dict[str, list[_JobProcess]] = {name: [] for name in WARM}
        self._spares: list[_JobProcess] = []

    def start(self) -> None:
        """Start to load the modules of jobs, and here the classes of their results."""
        with self._lock:
            self._ready()
            self._spare()
        for name in _RESULTS:
            importlib.import_module(name)

    def run(self, ask: Mapping[str, Any], listener: Listener) -> Job:
        """Start a job.

        Parameters
        ----------
        ask : mapping
            ``job`` is its name; the rest are its arguments.
        listener : callable

        Raises
        ------
        Unfinished
            If no process can be started.
        """
        name = str(ask["job"])
        with self._lock:
            if self._fork_server is not None and self._fork_server.poll() is not None:
                # Its forks end with it.
                self._end()
            self._check_loaded()
            worker = self._waiting(name) or self._fork(NOW)
        worker.jobs += 1
        with suppress(OSError):
            send(worker.stream, dict(ask))

        def keep(worker: _JobProcess) -> None:
            self._keep(name, worker)

        return Job(worker, listener, keep)

    def _waiting(self, name: str) -> _JobProcess | None:
        """An idle process for jobs of this name."""
        if name not in WARM:
            return None
        for workers in (self._idle[name], self._spares):
            while workers:
                worker = workers.pop()
                if worker.is_idle:
                    return worker
                worker.close()
        return None

    def _keep(self, name: str, worker: _JobProcess) -> None:
        """Keep a process whose job is done, and fork others in case it is killed later."""
        with self._lock:
            is_kept = name in WARM and worker.jobs < _MOST_JOBS and self._control is not None
            if is_kept and not self._idle[name]:
                self._idle[name].append(worker)
            else:
                worker.close()
            if self._control is not None:
                self._spare()

    def _spare(self) -> None:
        """Fork processes in advance; they start when all modules are loaded."""
        with suppress(Unfinished):
            while len(self._spares) < _SPARES:
                self._spares.append(self._fork(LOADED))

    def _check_loaded(self) -> None:
        """More modules were loaded: close the idle processes that were forked before."""
        if self._control is not None and _has_input(self._control):
            with suppress(OSError):
                if self._control.recv(16):
                    self._close_idle()
                    self._spare()

    def _close_idle(self) -> None:
        for workers in (self._spares, *self._idle.values()):
            for worker in workers:
                worker.close()
            workers.clear()

    def _fork(self, when: bytes) -> _JobProcess:
        """The socket of a new process: forked `NOW`, or once all modules are `LOADED`."""
        ours, theirs = socket.socketpair()
        try:
            for attempt in (0, 1):
                control = self._ready()
                try:
                    socket.send_fds(control, [when], [theirs.fileno()])
                    break
                except OSError as error:
                    # The fork server was killed: start another one.
                    self._end()
                    if attempt:
                        raise Unfinished(f"no process can be started: {error}") from None
        except Unfinished:
            ours.close()
            raise
        finally:
            theirs.close()
        return _JobProcess(ours)

    def close(self) -> None:
        """End all jobs."""
        with self._lock:
            self._end()

    def _ready(self) -> socket.socket:
        server = self._fork_server
        if server is not None and self._control is not None and server.poll() is None:
            return self._control
        self._end()
        if not hasattr(os, "fork"):
            raise Unfinished("the page needs a system that forks processes: Linux or macOS")
        ours, theirs = socket.socketpair()
        try:
            self._fork_server = start_child(
                [sys.executable, "-m", "matchprob.plugins.page.fork_server", str(theirs.fileno())],
                own_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        except OSError as error:
            ours.close()
            raise Unfinished(f"no process can be started: {error}") from None
        finally:
            theirs.close()
        self._control = ours
        return ours

    def _end(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            control.close()
        self._close_idle()
        fork_server, self._fork_server = self._fork_server, None
        if fork_server is not None:
            end_child(fork_server, 2.0)


def _has_input(connection: socket.socket) -> bool:
    """Whether the socket has data to read, or its end."""
    return bool(select.select([connection], [], [], 0)[0])


def _nothing(event: Event) -> None:
    """A listener that ignores events."""
