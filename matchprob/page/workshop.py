"""Jobs in processes of their own: started at once, killed at once, their events passed on.

A process for what every click asks (`WARM`) is forked before it is wanted, and kept when its work
is done: a click waits neither for a fork nor for what the last one has loaded.
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
from pathlib import Path
from typing import Any

from algebra.children import end_child, start_child
from algebra.errors import Unfinished
from numeric.studies.workers import receive, send

# Seconds that a cancelled job has to put together what it knows before it is killed.
PATIENCE = 0.6
_ROOT = str(Path(__file__).resolve().parents[2])

# Where the results of jobs are defined: a result is unpickled at once where these are loaded.
_RESULTS = (
    "matchprob.api.designs.design",
    "matchprob.api.identify",
    "matchprob.api.designs.repair",
    "numeric.statistics.comparison",
)

# Jobs whose process is kept for the next of the same name; and how many it does at most, so that
# what they leave behind cannot grow for ever.
WARM = ("answer", "verdict", "structure")
_MOST_JOBS = 200
# As many processes wait for their first job.
_SPARES = 3
# When the zygote is to fork.
NOW, LOADED = b"n", b"l"

Event = dict[str, Any]
Listener = Callable[[Event], None]


class _JobProcess:
    """A process that works: the socket to it, and how many jobs it was given."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.stream: Any = connection.makefile("rwb")
        self.jobs = 0

    @property
    def is_there(self) -> bool:
        """Whether it waits: who is asked nothing says nothing, and is heard when it dies."""
        return not _is_heard(self.connection)

    def close(self) -> None:
        """Hear no more of it: it ends when it has done what it does."""
        for end in (self.stream, self.connection):
            with suppress(OSError):
                end.close()


class Job:
    """A piece of work in a process of its own.

    Parameters
    ----------
    worker : _JobProcess
        That was asked to do it.
    listener : callable
        Told of every event, in a thread of the job; the last one is "ended".
    keep : callable
        Takes the worker back once it has ended its work by itself.

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
        # Held while it is signalled: nobody else's work must be hit.
        self._lock = threading.Lock()
        self._pid = 0
        self._wanted = True
        # Signals for a process whose number is not known yet.
        self._due: list[signal.Signals] = []
        self._over = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether its last event was told."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end; whether it came."""
        return self._over.wait(seconds)

    def cancel(self) -> None:
        """End it within a second of its start; what it knows by then is passed on.

        It does not wait for that.
        """
        self._wanted = False
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End it now, or as soon as it has started; none of its events is passed on any more.

        It does not wait for that.
        """
        self._wanted = False
        self._listener = _nothing
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal now, or with the process's first event, which gives its number."""
        with self._lock:
            self._due.append(number)
            self._send_due()

    def _send_due(self) -> None:
        """Send what is due, where that can be; the lock is held."""
        if self._over.is_set() or not self._pid:
            return
        for number in self._due:
            # The interrupt is for the job itself; the end is for all that it started.
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
                # EOF, or half a message of a job that was killed.
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
        # A signal may be on its way to one that was not wanted any more.
        if is_ended and self._wanted and not has_failed:
            self._keep(self._worker)
        else:
            self._worker.close()


class Workshop:
    """Starts jobs; see `matchprob.page.jobs.JOBS` for what they do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._idle: dict[str, list[_JobProcess]] = {name: [] for name in WARM}
        self._spares: list[_JobProcess] = []

    def start(self) -> None:
        """Begin to load what jobs need, and here the classes of what they find."""
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
            Its ``job`` names it; the rest is for it.
        listener : callable

        Raises
        ------
        Unfinished
            Where no process can be started.
        """
        name = str(ask["job"])
        with self._lock:
            if self._zygote is not None and self._zygote.poll() is not None:
                # Its forks end with it.
                self._end()
            self._hear()
            worker = self._waiting(name) or self._fork(NOW)
        worker.jobs += 1
        with suppress(OSError):
            send(worker.stream, dict(ask))

        def keep(worker: _JobProcess) -> None:
            self._keep(name, worker)

        return Job(worker, listener, keep)

    def _waiting(self, name: str) -> _JobProcess | None:
        """A process that waits for such a job."""
        if name not in WARM:
            return None
        for workers in (self._idle[name], self._spares):
            while workers:
                worker = workers.pop()
                if worker.is_there:
                    return worker
                worker.close()
        return None

    def _keep(self, name: str, worker: _JobProcess) -> None:
        """Keep a process whose work is done, and others for the case that it is killed."""
        with self._lock:
            is_kept = name in WARM and worker.jobs < _MOST_JOBS and self._control is not None
            if is_kept and not self._idle[name]:
                self._idle[name].append(worker)
            else:
                worker.close()
            if self._control is not None:
                self._spare()

    def _spare(self) -> None:
        """Fork processes ahead; they come when everything is loaded."""
        with suppress(Unfinished):
            while len(self._spares) < _SPARES:
                self._spares.append(self._fork(LOADED))

    def _hear(self) -> None:
        """More was loaded: who was forked before that is let go."""
        if self._control is not None and _is_heard(self._control):
            with suppress(OSError):
                if self._control.recv(16):
                    self._let_go()
                    self._spare()

    def _let_go(self) -> None:
        for workers in (self._spares, *self._idle.values()):
            for worker in workers:
                worker.close()
            workers.clear()

    def _fork(self, when: bytes) -> _JobProcess:
        """The socket to a new process: forked `NOW`, or once everything is `LOADED`."""
        ours, theirs = socket.socketpair()
        try:
            for attempt in (0, 1):
                control = self._ready()
                try:
                    socket.send_fds(control, [when], [theirs.fileno()])
                    break
                except OSError as error:
                    # It was killed: another one is started.
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
        if self._zygote is not None and self._control is not None and self._zygote.poll() is None:
            return self._control
        self._end()
        if not hasattr(os, "fork"):
            raise Unfinished("the page needs a system that forks processes: Linux or macOS")
        ours, theirs = socket.socketpair()
        paths = [_ROOT, os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        try:
            self._zygote = start_child(
                [sys.executable, "-m", "matchprob.page.zygote", str(theirs.fileno())],
                environment,
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
        self._let_go()
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            end_child(zygote, 2.0)


def _is_heard(connection: socket.socket) -> bool:
    """Whether there is something to read, be it the end."""
    return bool(select.select([connection], [], [], 0)[0])


def _nothing(event: Event) -> None:
    """Whom nobody listens to."""
