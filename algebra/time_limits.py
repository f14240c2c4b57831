"""One time limit for a whole call, checked in the innermost loops; the names of its phases.

A verb sets a limit once (`limited`); all functions that it calls, at any depth, call `check_time`
in their loops and give child processes no more than `time_left`.  The limit is one time of the
monotonic clock, so all time counts, and it can only be made earlier: a limit
inside another ends no later.  The limit belongs to the thread and the call (a
`contextvars.ContextVar`), as a cancel scope does in trio, so that the functions between the
verb and the loop need no argument for it.

Nothing else ends the work: no signal, no alarm, no trace function.  Code that cannot call
`check_time` (a program, a compiled search, a library's long call) runs where it can be ended from
outside: in a child process (`algebra.workers`) or with a limit of nodes that can be lowered
while it runs (`numeric.plugins.relu.interruptible`).  Interrupts occur at `check_time` too: a
program that stops the work, for instance at Ctrl-C, gives a `StopRequest` to `stoppable`.

`OutOfTime` and `Interrupted` do not derive from `Exception`, so that ``except Exception`` does not
catch them.  For a caller without its own limit `limited` turns `OutOfTime` into `LimitReached`,
which does, as trio's ``fail_after`` does.  Parts of a search end by their work: `algebra.work`.

The result after a time limit depends on the caller: a verdict becomes "undecided" with the
attempts, a count "undetermined".  `OutOfTime` never means "there is none".

Examples
--------
>>> with within(60.0):
...     check_time()
...     time_left() <= 60.0
True
>>> time_left()
inf
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from algebra.errors import InputError, Unfinished, shown

Item = TypeVar("Item")

# Limits from this number of seconds on (thirty years) mean no limit.
_FOREVER = 1e9
# The time of the monotonic clock at which the work must end.
_END: ContextVar[float] = ContextVar("end", default=math.inf)


class OutOfTime(BaseException):
    """The time limit of the call is over; the unfinished part implies nothing."""


class TooSlow(OutOfTime):
    """The remaining time is far less than the estimated time: the work is not begun."""


class LimitReached(Unfinished):
    """Raised instead of `OutOfTime` for a caller without its own limit; with the same message.

    Attributes
    ----------
    was_refused : bool
        Whether the work was not begun because it would have taken far longer (`TooSlow`).
    """

    def __init__(self, text: str, was_refused: bool = False) -> None:
        super().__init__(text)
        self.was_refused = was_refused


class Interrupted(KeyboardInterrupt):
    """A `StopRequest` ended the work."""


class StopRequest:
    """A request to stop the work, made by a signal handler or another thread."""

    def __init__(self) -> None:
        self._is_made = False

    def make(self) -> None:
        """Make the request: the next `check_time` of the work raises `Interrupted`, once."""
        self._is_made = True

    def take(self) -> bool:
        """Whether the request was made; it is then cleared."""
        is_made, self._is_made = self._is_made, False
        return is_made

    @property
    def is_made(self) -> bool:
        """Whether the request was made and has not ended the work yet."""
        return self._is_made


# The stop request of this call.
_STOP: ContextVar[StopRequest | None] = ContextVar("stop", default=None)


def positive_seconds(value: float, name: str, *, zero: bool = False) -> float:
    """A duration: a positive number of seconds, or inf for no limit.

    Parameters
    ----------
    value : float
    name : str
        Its name in messages.
    zero : bool, optional
        Whether 0 is allowed too.

    Raises
    ------
    InputError
        For 0 (unless allowed), negative numbers, NaN and values that are not numbers.
    """
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`{name}` ({shown(value)}) must be a number of seconds") from None
    if not (seconds > 0 or (zero and seconds == 0)):
        least = "0 or more" if zero else "greater than 0"
        raise InputError(f"`{name}` ({shown(value)}) must be {least} seconds; inf for no limit")
    return seconds


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of the work inside; an outer limit stays in force.

    Parameters
    ----------
    seconds : float
    """
    before = _END.get()
    if math.isinf(before):
        forget_spent()
    # Clocks overflow at very large times.
    end = time.monotonic() + seconds if seconds < _FOREVER else math.inf
    token = _END.set(min(before, end))
    try:
        yield
    finally:
        _END.reset(token)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """`within`, for public functions: a caller without its own limit receives `LimitReached`.

    Parameters
    ----------
    seconds : float

    Raises
    ------
    LimitReached
        If the limit is over and there is no outer one; otherwise `OutOfTime` passes.
    """
    is_outermost = math.isinf(_END.get())
    try:
        with within(seconds):
            yield
    except OutOfTime as over:
        if not is_outermost:
            raise
        raise LimitReached(str(over), isinstance(over, TooSlow)) from None


@contextmanager
def stoppable(request: StopRequest) -> Iterator[None]:
    """Make the work inside stop at the next `check_time` after the request.

    Parameters
    ----------
    request : StopRequest
    """
    token = _STOP.set(request)
    try:
        yield
    finally:
        _STOP.reset(token)


@contextmanager
def unlimited() -> Iterator[None]:
    """Disable the limit for work that must be finished after it, such as assembling a result."""
    token, other = _END.set(math.inf), _STOP.set(None)
    try:
        yield
    finally:
        _END.reset(token)
        _STOP.reset(other)


def time_left(most: float = math.inf) -> float:
    """Remaining seconds, at most `most`; 0 if time is up.

    Parameters
    ----------
    most : float, optional
    """
    return max(0.0, min(most, _END.get() - time.monotonic()))


def can_end() -> bool:
    """Whether `check_time` may ever raise: there is a limit or a stop request."""
    return _STOP.get() is not None or not math.isinf(_END.get())


def is_over() -> bool:
    """Whether time is up."""
    return time.monotonic() >= _END.get()


def check_time() -> None:
    """End the work if time is up or a stop is requested: cheap enough for every loop of Python.

    Raises
    ------
    OutOfTime
    Interrupted
    """
    request = _STOP.get()
    if request is not None and request.is_made and request.take():
        raise Interrupted
    if time.monotonic() >= _END.get():
        raise OutOfTime(_over())


def checked(items: Iterable[Item]) -> Iterator[Item]:
    """The items one by one, with `check_time` before each: for loops that do not call it.

    Parameters
    ----------
    items : iterable
    """
    for item in items:
        check_time()
        yield item


def _over() -> str:
    """The message that time is up, with the present phases."""
    doing = [name for name, _ in phases()]
    parts = [f"at work: {', '.join(doing)}"] if doing else []
    parts += [
        f"{seconds:.0f} s were spent on {name}, which the next call need not repeat"
        for name, seconds in spent().items()
        if seconds >= 1
    ]
    return "the time limit is over" + (f" ({'; '.join(parts)})" if parts else "")


# -- phases of a call -------------------------------------------------------------------

# Seconds spent in this call on work that later calls need not repeat.
_spent: dict[str, float] = {}
# Names and start times (of the monotonic clock), the innermost last.
_now: list[tuple[str, float]] = []


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Name the phase of the work inside, for a reader in another thread.

    A function that may take long does so, at no cost and independently of readers.  Only the main
    thread's phases are kept, since the user waits for that thread.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> with phase("generic root count"):
    ...     [name for name, _ in phases()]
    ['generic root count']
    >>> phases()
    ()
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    mark = (name, time.monotonic())
    _now.append(mark)
    try:
        yield
    finally:
        # An interrupt may have skipped the ends of inner phases.
        if mark in _now:
            del _now[_now.index(mark) :]


def phases() -> tuple[tuple[str, float], ...]:
    """Names and start times of the present phases, the innermost last."""
    return tuple(_now)


def add_spent(name: str, seconds: float) -> None:
    """Record time that later calls do not need.

    Parameters
    ----------
    name : str
    seconds : float
    """
    _spent[name] = _spent.get(name, 0) + seconds


def spent() -> dict[str, float]:
    """Recorded seconds since the call began, by name."""
    return dict(_spent)


def forget_spent() -> None:
    """Clear the record at the beginning of a call."""
    _spent.clear()
