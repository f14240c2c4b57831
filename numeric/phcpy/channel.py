"""The line of communication to a phcpy worker process.

One `Channel` is one worker: it is started with it and ends with it.  Requests and answers
are JSON objects, one a line, over two non-blocking pipes, so that neither side can block
the other and every wait has an end.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORKER = Path(__file__).with_name("worker.py")
_LINE_LIMIT = 2**28  # bytes; no list of solutions is longer


class PhcpyError(RuntimeError):
    """phcpy did not do what it was asked; the next call is not affected."""


class PhcpyCrashed(PhcpyError):
    """The worker ended, or answered something that is not an answer."""


class PhcpyTimeout(PhcpyError, TimeoutError):
    """The worker did not answer in time."""


@dataclass(frozen=True)
class PhcpyInstallation:
    """A Python that can import phcpy.

    Attributes
    ----------
    interpreter : str
    version : str
        Of phcpy, such as "1.1.2".
    phcpack : str
        Of the library behind it.
    """

    interpreter: str
    version: str = "unknown"
    phcpack: str = "unknown"


class Channel:
    """A running worker.

    Parameters
    ----------
    interpreter : str
        The Python to run it with.

    Attributes
    ----------
    owner : int
        The process that started it; a forked child must not use it.

    Raises
    ------
    PhcpyCrashed
        Where the interpreter cannot be started.
    """

    def __init__(self, interpreter: str) -> None:
        hidden = {
            "PYTHONPATH",
            "PYTHONHOME",
            "PYTHONSTARTUP",
        }  # these are for our own Python
        self._interpreter = interpreter
        environment = {k: v for k, v in os.environ.items() if k not in hidden}
        held, self._leash = os.pipe()  # the worker ends when the leash is let go
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                [interpreter, str(_WORKER), str(held)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                bufsize=0,
                pass_fds=[held],
                env={**environment, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # a Ctrl-C in the terminal is ours to handle
            )
        except OSError as error:
            os.close(self._leash)
            self._messages.close()
            reason = error.strerror or str(error)
            raise PhcpyCrashed(f"{interpreter} cannot be started: {reason}") from None
        finally:
            os.close(held)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._sink, self._source = self._process.stdin, self._process.stdout
        for pipe in (self._sink, self._source):
            os.set_blocking(pipe.fileno(), False)
        self._unsent, self._unread = bytearray(), bytearray()

    @property
    def pid(self) -> int:
        """Process number of the worker."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the worker runs."""
        return self._process.poll() is None

    def greeting(self, timeout: float) -> PhcpyInstallation:
        """What the worker says of itself when it is ready, its first answer.

        Raises
        ------
        PhcpyTimeout, PhcpyCrashed
            As for `receive`; also where the interpreter cannot import phcpy.
        """
        hello = self.receive(timeout)
        interpreter = self._interpreter
        if hello.get("ready") is not True:
            raise PhcpyCrashed(f"{interpreter}: {hello.get('error', hello)}")
        names = (str(hello.get(key, "unknown")) for key in ("version", "phcpack"))
        return PhcpyInstallation(interpreter, *names)

    def post(self, request: dict[str, Any]) -> None:
        """Queue a request; it is sent while an answer is waited for."""
        self._unsent += json.dumps(request).encode("ascii") + b"\n"
        self._send()

    def receive(self, timeout: float) -> dict[str, Any]:
        """The next answer.

        Raises
        ------
        PhcpyTimeout
            Where none comes in `timeout` seconds.
        PhcpyCrashed
            Where the worker has ended or writes something else.
        """
        deadline = time.monotonic() + timeout
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if searched > _LINE_LIMIT:
                raise PhcpyCrashed("the phcpy process writes without end")
            poll = select.poll()
            poll.register(self._source, select.POLLIN)
            if self._unsent:
                poll.register(self._sink, select.POLLOUT)
            left = deadline - time.monotonic()
            events = dict(poll.poll(None if left == math.inf else max(0.0, 1000 * left)))
            if not events:
                raise PhcpyTimeout(f"phcpy did not answer within {timeout:g} s")
            if self._source.fileno() in events:
                chunk = self._source.read(1 << 16)
                if chunk == b"":
                    raise PhcpyCrashed(f"the phcpy process {self._last_words()}")
                self._unread += chunk or b""
            else:
                self._send()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise PhcpyCrashed(f"the phcpy process wrote {line[:200]!r}, which is no answer")
        return answer

    def _send(self) -> None:
        try:
            written = self._sink.write(self._unsent)
        except BrokenPipeError:  # its end is seen on the other pipe
            written = len(self._unsent)
        del self._unsent[: written or 0]

    def close(self, grace: float = 0.0) -> None:
        """End and reap the worker; in a forked child only close what was inherited.

        Parameters
        ----------
        grace : float
            Seconds it has to end by itself before it is killed.
        """
        for pipe in (self._sink, self._source):
            with contextlib.suppress(OSError):
                pipe.close()
        if self.owner == os.getpid():
            try:
                self._process.wait(grace)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._leash)
        self._messages.close()

    def _last_words(self) -> str:
        """How it ended, with the end of what it wrote on stderr."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            how = "closed its output"
        else:
            how = f"ended with status {code}"
            if code < 0:
                with contextlib.suppress(ValueError):
                    how = f"was ended by {signal.Signals(-code).name}"
        size = self._messages.seek(0, os.SEEK_END)
        self._messages.seek(max(0, size - 300))
        text = " ".join(self._messages.read().decode("utf-8", "replace").split())
        return f"{how} ({text})" if text else how
