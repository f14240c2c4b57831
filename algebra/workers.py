"""Workers: child processes that answer one request after the other.

Messages pass over two non-blocking pipes, so that neither side can block the other and every wait
has a limit.  `Child` is a process of any program, with messages as lines of JSON or as pickles;
`Worker` is one of this project's Python, which makes calls.

After a timeout or an error the process is ended and the next request starts a new one, because a
late answer could be taken for the next one.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import math
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import IO, Any, TypeVar

from algebra.children import POLL_SECONDS, end_child, own_environment, start_child
from algebra.errors import InputError, Unfinished
from algebra.time_limits import can_end, check_time, time_left

Result = TypeVar("Result")
Call = tuple[Callable[..., Any], tuple[Any, ...]]

# Of a line of JSON, in bytes; larger than any list of solutions.
_LINE_LIMIT = 2**28
# The length of a pickle, before it.
_HEAD = struct.Struct("<Q")
_PIECE = 1 << 20


class ChildError(RuntimeError):
    """A request to a child failed; later requests are not affected."""


class ChildCrashed(ChildError):
    """The child ended, or its answer is not valid."""


class ChildTimeout(ChildError, TimeoutError):
    """The child did not answer in time."""


# -- messages ----------------------------------------------------------------------------


class Messages(ABC):
    """How messages are written into a stream of bytes."""

    @abstractmethod
    def write(self, message: Any) -> bytes:
        """The bytes of a message."""

    @abstractmethod
    def size(self, unread: bytearray, searched: int) -> int | None:
        """The length of the first message, None if it is not complete.

        Parameters
        ----------
        unread : bytearray
        searched : int
            As many bytes were here at the last call, which returned None.

        Raises
        ------
        ValueError
            If it is too long.
        """

    @abstractmethod
    def read(self, data: bytes) -> Any:
        """The message of these bytes; ValueError if they are none."""


class JsonLines(Messages):
    """JSON objects, one per line: for programs that are not this project's."""

    def write(self, message: Any) -> bytes:
        return json.dumps(message).encode("ascii") + b"\n"

    def size(self, unread: bytearray, searched: int) -> int | None:
        end = unread.find(b"\n", searched)
        if end < 0 and len(unread) > _LINE_LIMIT:
            raise ValueError(f"wrote {len(unread)} bytes without the end of a line")
        return end + 1 or None

    def read(self, data: bytes) -> dict[str, Any]:
        with contextlib.suppress(ValueError):
            answer = json.loads(data)
            if isinstance(answer, dict):
                return answer
        raise ValueError(f"wrote {data[:200].rstrip()!r}, which is not an answer")


class Pickles(Messages):
    """Pickles, each after its length: for processes of this project."""

    def write(self, message: Any) -> bytes:
        data = pickle.dumps(message)
        return _HEAD.pack(len(data)) + data

    def size(self, unread: bytearray, searched: int) -> int | None:
        if len(unread) < _HEAD.size:
            return None
        size = _HEAD.size + int(_HEAD.unpack_from(unread)[0])
        return size if len(unread) >= size else None

    def read(self, data: bytes) -> Any:
        return pickle.loads(memoryview(data)[_HEAD.size :])


PICKLES = Pickles()


def send(stream: IO[bytes], message: Any) -> None:
    """Write a pickle to a stream that blocks."""
    stream.write(PICKLES.write(message))
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read a pickle from a stream that blocks; EOFError if the other end is closed."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    size = int(_HEAD.unpack(head)[0])
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


# -- the processes -----------------------------------------------------------------------


class Child:
    """A running child process.

    Parameters
    ----------
    name : str
        Used in messages.
    command : sequence of str
        Called with one more argument: the number of a pipe that is closed when this process
        ends.
    environment : mapping of str to str
    messages : Messages

    Attributes
    ----------
    owner : int
        The process that started the child; a fork of it must not use the child.

    Raises
    ------
    ChildCrashed
        If it cannot be started.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        messages: Messages,
    ) -> None:
        self.name, self.messages = name, messages
        held, self._lifeline = os.pipe()  # the child ends when this end is closed
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.owner = os.getpid()
        try:
            self._process = start_child(
                [*command, str(held)],
                environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                pass_fds=[held],
            )
        except OSError as error:
            os.close(self._lifeline)
            self._errors.close()
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

    def fileno(self) -> int:
        """The number of the pipe of its answers."""
        return self._source.fileno()

    def post(self, request: Any) -> None:
        """Queue a request; what the pipe does not take now is sent by `receive` or `flush`."""
        self._unsent += self.messages.write(request)
        self._send()

    def flush(self) -> None:
        """Wait until the child has taken all requests, or has ended."""
        while self._unsent:
            self._wait(time_left(POLL_SECONDS), reads=False)

    def receive(self, timeout: float = math.inf) -> Any:
        """The next answer.

        Raises
        ------
        ChildTimeout
            If none arrives within `timeout` seconds.
        ChildCrashed
            If the child has ended or its output is not an answer.
        OutOfTime
        """
        deadline = time.monotonic() + timeout
        searched = 0
        try:
            while (size := self.messages.size(self._unread, searched)) is None:
                searched = len(self._unread)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChildTimeout(f"{self.name} did not answer within {timeout:g} s")
                self._wait(min(left, time_left(POLL_SECONDS)), reads=True)
            data = bytes(self._unread[:size])
            del self._unread[:size]
            return self.messages.read(data)
        except (ValueError, pickle.UnpicklingError) as error:
            raise ChildCrashed(f"{self.name} {error}") from None

    def _wait(self, seconds: float, *, reads: bool) -> None:
        """Read and send what is possible, or wait for so many seconds."""
        poll = select.poll()
        if reads:
            poll.register(self._source, select.POLLIN)
        if self._unsent:
            poll.register(self._sink, select.POLLOUT)
        events = dict(poll.poll(1000 * max(seconds, 0)))
        check_time()
        if self._source.fileno() in events:
            piece = self._source.read(_PIECE)
            if piece == b"":
                raise ChildCrashed(f"{self.name} {self.how_it_ended()}")
            self._unread += piece or b""
        elif events:
            self._send()

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
        self._errors.close()

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
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 300))
        text = " ".join(self._errors.read().decode("utf-8", "replace").split())
        return f"{how} ({text})" if text else how


class Worker:
    """A child process that makes calls; it starts with the first, and again after an error.

    A context manager: the process ends with it.

    Parameters
    ----------
    name : str, optional
        Used in messages.
    start : callable, optional
        With its arguments: called first in each process.

    Notes
    -----
    Functions are at the top level of a module of this project; arguments and values are picklable.
    """

    def __init__(
        self, name: str = "a child process", start: Callable[..., Any] | None = None, *given: Any
    ) -> None:
        self.name = name
        self._first: Call | None = None if start is None else (start, given)
        self._child: Child | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def child(self) -> Child:
        """The process, started if none runs; see `start`."""
        return self.start()

    def start(self, seconds: float = math.inf) -> Child:
        """Start the process, unless one of this process runs.

        Parameters
        ----------
        seconds : float, optional
            In which the call of its start must have ended.

        Raises
        ------
        ChildError
            If it cannot be started; or as `receive`, of the call of its start.
        """
        child = self._child
        if child is None or child.owner != os.getpid() or not child.alive:
            self.close()
            check_time()
            command = [sys.executable, "-m", "algebra.workers"]
            child = self._child = Child(self.name, command, own_environment(), PICKLES)
            if self._first is not None:
                self._post(child, *self._first)
                try:
                    self.receive(seconds)
                except BaseException:
                    self.close()
                    raise
        return child

    def post(self, function: Callable[..., Any], *arguments: Any) -> Child:
        """Request a call whose value is `receive`'s; returns the process that makes it."""
        child = self.child
        self._post(child, function, arguments)
        return child

    def _post(self, child: Child, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        try:
            child.post((function.__module__, function.__qualname__, arguments))
            child.flush()
        except BaseException:
            self.close()
            raise

    def receive(self, seconds: float = math.inf) -> Any:
        """The value of the call that was requested.

        Raises
        ------
        InputError, Unfinished, MemoryError
            As the call.
        ChildError
            If the call raises another exception; with its type and text.
        ChildCrashed, ChildTimeout, OutOfTime
            As `Child.receive`; the process is ended.
        """
        child = self._child
        assert child is not None
        try:
            value, error = child.receive(seconds)
        except BaseException:
            self.close()
            raise
        if error is not None:
            raise error
        return value

    def call(
        self, function: Callable[..., Result], *arguments: Any, seconds: float = math.inf
    ) -> Result:
        """The value of a call; raises what `receive` does."""
        try:
            self.post(function, *arguments)
            value: Result = self.receive(seconds)
        except MemoryError:
            # What is left of its memory may not be enough for the next call.
            self.close()
            raise
        return value

    def close(self) -> None:
        """End the process; the next call starts a new one."""
        child, self._child = self._child, None
        if child is not None:
            child.close()


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
    ChildError, MemoryError, OutOfTime
        As `Worker.call`.
    """
    if not can_end():
        return function(*arguments)
    with Worker() as worker:
        return worker.call(function, *arguments)


def _loaded(module: str) -> ModuleType:
    """A module.  What modules make stays: loading them, the collector would look at it in vain."""
    if module in sys.modules:
        return sys.modules[module]
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _answer(module: str, name: str, arguments: tuple[Any, ...]) -> bytes:
    """The value of a call and None, or None and its error, as a pickle."""
    try:
        value = getattr(_loaded(module), name)(*arguments)
        return PICKLES.write((value, None))
    except (InputError, Unfinished, MemoryError) as error:
        return PICKLES.write((None, error))
    except Exception as error:
        text = f"{module}.{name} failed in a child process: {type(error).__name__}: {error}"
        return PICKLES.write((None, ChildError(text)))


def _serve_calls() -> None:
    """Make calls in the child, from the standard input to the standard output, to its end."""
    # Output of a library must not be mixed with the values.
    answers = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(answers, "wb") as stream, contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            request = receive(sys.stdin.buffer)
            stream.write(_answer(*request))
            stream.flush()


if __name__ == "__main__":
    # Errors are pickled by the names of this module's classes.
    importlib.import_module("algebra.workers")._serve_calls()
