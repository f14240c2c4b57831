"""Jobs in processes of their own: started at once, killed at once, their events passed on."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from algebra.errors import Unfinished
from numeric.studies.workers import ONE_THREAD, receive, send

# Seconds that a job has to put together what it knows before it is killed.
PATIENCE = 0.6
_ROOT = str(Path(__file__).resolve().parents[2])

# Where the results of jobs are defined: a result is unpickled at once where these are loaded.
_RESULTS = (
    "matchprob.api.designs.design",
    "matchprob.api.identify",
    "matchprob.api.designs.repair",
    "numeric.statistics.comparison",
)

Event = dict[str, Any]
Listener = Callable[[Event], None]


class Job:
    """A piece of work in a process of its own.

    Parameters
    ----------
    stream : file
        Of the socket to it.
    listener : callable
        Told of every event, in a thread of the job; the last one is "ended".

    Attributes
    ----------
    is_over : bool
    """

    def __init__(self, stream: Any, listener: Listener) -> None:
        self._stream = stream
        self._listener = listener
        self._pid = 0
        self._wanted = True
        self._started = threading.Event()
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
        """End it within a second; what it knows by then is told."""
        if self._over.is_set():
            return
        self._wanted = False
        self._signal(signal.SIGINT)
        timer = threading.Timer(PATIENCE, self._signal, [signal.SIGKILL])
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End it now; nothing more is told of it but its end."""
        self._wanted = False
        self._listener = _nothing
        threading.Thread(target=self._signal, args=[signal.SIGKILL], daemon=True).start()

    def _signal(self, number: int) -> None:
        # A fork says who it is in its first words.
        self._started.wait(5.0)
        if self._over.is_set() or not self._pid:
            return
        # The interrupt is for the job itself; the end is for all that it started.
        if number == signal.SIGINT:
            with suppress(OSError):
                os.kill(self._pid, number)
            return
        with suppress(OSError):
            os.killpg(self._pid, number)

    def _listen(self) -> None:
        is_ended = False
        while True:
            try:
                event = receive(self._stream)
            except Exception:
                # EOF, or half a message of a job that was killed.
                break
            if event["event"] == "started":
                self._pid = event["pid"]
                self._started.set()
                continue
            is_ended = is_ended or event["event"] == "ended"
            if not is_ended:
                self._listener(event)
        with suppress(OSError):
            self._stream.close()
        if not is_ended:
            text = "the process was killed (out of memory?); what is on the page is kept"
            self._listener(
                {"event": "failed", "text": text} if self._wanted else {"event": "stopped"}
            )
        self._over.set()
        self._started.set()
        self._listener({"event": "ended"})


class Workshop:
    """Starts jobs; see `matchprob.page.jobs.JOBS` for what they do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Begin to load what jobs need, and here the classes of what they find."""
        with self._lock:
            self._ready()
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
        ours, theirs = socket.socketpair()
        with self._lock:
            for attempt in (0, 1):
                control = self._ready()
                try:
                    socket.send_fds(control, [b"j"], [theirs.fileno()])
                    break
                except OSError as error:
                    # It was killed: another one is started.
                    self._end()
                    if attempt:
                        ours.close()
                        theirs.close()
                        raise Unfinished(f"no process can be started: {error}") from None
        theirs.close()
        stream: Any = ours.makefile("rwb")
        ours.close()
        with suppress(OSError):
            send(stream, dict(ask))
        return Job(stream, listener)

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
            **ONE_THREAD,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        try:
            self._zygote = subprocess.Popen(
                [sys.executable, "-m", "matchprob.page.zygote", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
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
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            try:
                zygote.wait(2.0)
            except subprocess.TimeoutExpired:
                zygote.kill()
                zygote.wait()


def _nothing(event: Event) -> None:
    """Whom nobody listens to."""
