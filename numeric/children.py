"""A child process with a protocol of JSON lines.

Requests and answers are JSON objects, one per line, over two non-blocking pipes, so that neither
side can block the other and every wait has a limit.  After a timeout or an error the child is
closed and a new one started, because a late answer could be taken for the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from algebra.children import POLL_SECONDS, end_child, start_child
from algebra.time_limits import check_time

_LINE_LIMIT = 2**28  # bytes; larger than any list of solutions


class ChildError(RuntimeError):
    """A request to a child failed; later requests are not affected."""


class ChildCrashed(ChildError):
    """The child ended, or its answer is not valid."""


class ChildTimeout(ChildError, TimeoutError):
    """The child did not answer in time."""


class Child:
    """A running child process.

    Parameters
    ----------
    name : str
        Used in messages.
    command : sequence of str
        Called with one more argument: the number of a pipe that is closed when this process
        ends (`numeric.engines.phcpy.worker.end_with_parent`).
    environment : mapping of str to str

    Attributes
    ----------
    owner : int
        The process that started the child; a fork of it must not use the child.

    Raises
    ------
    ChildCrashed
        If it cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        held, self._lifeline = os.pipe()  # the child ends when this end is closed
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.owner = os.getpid()
        try:
            self._process = start_child(
                [*command, str(held)],
                environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                bufsize=0,
                pass_fds=[held],
            )
        except OSError as error:
            os.close(self._lifeline)
            self._messages.close()
            reason = error.strerror or str(error)
            raise ChildCrashed(f"{command[0]} cannot be started: {reason}") from None
        finally:
            os.close(held)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._sink, self._source = self._process.stdin, self._process.stdout
        for pipe in (self._sink, self._source):
            os.set_blocking(pipe.fileno(), False)
        self._unsent, self._unread = bytearray(), bytearray()
        self._is_closed = False

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the child runs."""
        return self._process.poll() is None

    def post(self, request: dict[str, Any]) -> None:
        """Queue a request; it is sent by `receive`."""
        self._unsent += json.dumps(request).encode("ascii") + b"\n"
        self._send()

    def receive(self, timeout: float) -> dict[str, Any]:
        """The next answer.

        Raises
        ------
        ChildTimeout
            If none arrives within `timeout` seconds.
        ChildCrashed
            If the child has ended or its output is not an answer.
        """
        deadline = time.monotonic() + timeout
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if searched > _LINE_LIMIT:
                raise ChildCrashed(f"{self.name} wrote {searched} bytes without the end of a line")
            poll = select.poll()
            poll.register(self._source, select.POLLIN)
            if self._unsent:
                poll.register(self._sink, select.POLLOUT)
            left = deadline - time.monotonic()
            if left <= 0:
                raise ChildTimeout(f"{self.name} did not answer within {timeout:g} s")
            events = dict(poll.poll(1000 * min(left, POLL_SECONDS)))
            check_time()
            if self._source.fileno() in events:
                chunk = self._source.read(1 << 16)
                if chunk == b"":
                    raise ChildCrashed(f"{self.name} {self.how_it_ended()}")
                self._unread += chunk or b""
            elif events:
                self._send()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise ChildCrashed(f"{self.name} wrote {line[:200]!r}, which is not an answer")
        return answer

    def _send(self) -> None:
        try:
            written = self._sink.write(self._unsent)
        except BrokenPipeError:  # the other pipe reports the child's end
            written = len(self._unsent)
        del self._unsent[: written or 0]

    def close(self, grace: float = 0.0) -> None:
        """End the child and its descendants and reap it; a fork closes its copies of the pipes.

        Parameters
        ----------
        grace : float
            Seconds in which the child may end by itself before it is killed.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if self.owner == os.getpid():
            end_child(self._process, grace)
        else:
            for pipe in (self._sink, self._source):
                with contextlib.suppress(OSError):
                    pipe.close()
        os.close(self._lifeline)
        self._messages.close()

    def how_it_ended(self) -> str:
        """How the child ended, and the end of its output on stderr."""
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
