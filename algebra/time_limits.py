"""One time limit for a whole call, obeyed in the innermost loops.

A verb sets a limit once (`limited`); whatever it calls, however deep, asks `check_time` in its
loops and gives child processes no more than `time_left`.  The end is one moment of the
monotonic clock, so time spent anywhere counts, and it can only be brought forward: a limit
inside another ends no later.  The limit belongs to the thread and the call (a
`contextvars.ContextVar`), as a cancel scope does in trio, so that the functions between the
verb and the loop need no argument for it and cannot forget to hand it on.

Nothing else ends the work: no signal, no alarm, no trace function.  What cannot ask (a program, a
compiled search, a library's long call) runs where it can be ended from outside: in a child process
(`algebra.children`) or with a budget that may be taken away while it runs
(`numeric.relu.patience`).  The same question, `check_time`, is the place where the work is
interrupted: a program that wants to stop it, at Ctrl-C say, gives a `StopRequest` to `stoppable`.

`OutOfTime` and `Interrupted` are no `Exception`, so that ``except Exception`` cannot lose them.
To a caller who set no limit of its own `limited` turns `OutOfTime` into `LimitReached`, which is
one, as trio's ``fail_after`` does.

What a caller does when time is up is its own affair: a verdict becomes "undecided" with what
was tried, a count "undetermined".  `OutOfTime` never means "there is none".

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
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from algebra.errors import InputError, Unfinished, shown
from algebra.phases import forget_spent, phases, spent

Item = TypeVar("Item")

# Seconds (thirty years) from which on a limit is none.
_FOREVER = 1e9
# How much of the time left a part of the work may take.
_OF_REST = 0.9
# The moment of the monotonic clock at which the work must end.
_END: ContextVar[float] = ContextVar("end", default=math.inf)


class OutOfTime(BaseException):
    """The time limit of the call is over; nothing follows of what was not finished."""


class TooSlow(OutOfTime):
    """There is far less time than an estimate asks for: refused before it is begun."""


class LimitReached(Unfinished):
    """What a caller without a limit of its own gets for `OutOfTime`; the message is the same.

    Attributes
    ----------
    was_refused : bool
        Whether the work was not begun, for it would have taken far longer (`TooSlow`).
    """

    def __init__(self, text: str, was_refused: bool = False) -> None:
        super().__init__(text)
        self.was_refused = was_refused


class Interrupted(KeyboardInterrupt):
    """The work was asked to stop, by a `StopRequest`."""


class StopRequest:
    """A wish that the work stops, made by a signal handler or another thread."""

    def __init__(self) -> None:
        self._is_made = False

    def make(self) -> None:
        """Ask the work to stop: its next `check_time` raises `Interrupted`, once."""
        self._is_made = True

    def take(self) -> bool:
        """Whether it was asked to stop; it is asked no more."""
        is_made, self._is_made = self._is_made, False
        return is_made

    @property
    def is_made(self) -> bool:
        """Whether the work is asked to stop and has not noticed yet."""
        return self._is_made


# The request that the work of this call listens to.
_STOP: ContextVar[StopRequest | None] = ContextVar("stop", default=None)


@dataclass(frozen=True)
class Limits:
    """How much a verdict may cost.

    Attributes
    ----------
    seconds : float
        For the whole call; inf for none.
    search : float
        Of these, at most so many to look for an instance without real solutions.
    subsets : int
        Where more weights learn than needed, sub-allocations searched for a maximal one.
    """

    seconds: float = 120.0
    search: float = 2.0
    subsets: int = 40

    def __post_init__(self) -> None:
        positive_seconds(self.seconds, "timeout")
        positive_seconds(self.search, "search", zero=True)

    @property
    def basis(self) -> float:
        """Seconds for one Gröbner basis: half, so that the other ways have their chance."""
        return min(self.seconds / 2, 1e6)


def positive_seconds(value: float, name: str, *, zero: bool = False) -> float:
    """A duration: a positive number of seconds, or inf for no limit.

    Parameters
    ----------
    value : float
    name : str
        What it is called in messages.
    zero : bool, optional
        Whether 0 is allowed too.

    Raises
    ------
    InputError
        For 0 (unless allowed), negative numbers, NaN and what is no number.
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
    """Limit the time of what is done inside; a limit around it stays in force.

    Parameters
    ----------
    seconds : float
    """
    before = _END.get()
    if math.isinf(before):
        forget_spent()
    # Clocks overflow at times that nobody will see.
    end = time.monotonic() + seconds if seconds < _FOREVER else math.inf
    token = _END.set(min(before, end))
    try:
        yield
    finally:
        _END.reset(token)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """`within`, for what users call: to a caller without a limit, an ordinary error in the end.

    Parameters
    ----------
    seconds : float

    Raises
    ------
    LimitReached
        Where the limit is over and there is none around it; else `OutOfTime` passes.
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
    """What is done inside stops at the next `check_time` after the request.

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
    """Work that must be finished though time is up: what is known is put together."""
    token, other = _END.set(math.inf), _STOP.set(None)
    try:
        yield
    finally:
        _END.reset(token)
        _STOP.reset(other)


def time_left(most: float = math.inf) -> float:
    """Seconds left, at most so many; 0 where time is up.

    Parameters
    ----------
    most : float, optional
    """
    return max(0.0, min(most, _END.get() - time.monotonic()))


def end_of_part(seconds: float) -> float:
    """The moment at which a part of the work should end by itself, with what it has by then.

    Parameters
    ----------
    seconds : float
        For the part; inf for no limit of its own.

    Returns
    -------
    float
        Of the monotonic clock, for `has_passed` and `seconds_until`; inf without any limit.  Of
        the time left for the whole call a tenth is kept to put together what was found.

    Examples
    --------
    >>> with within(10.0):
    ...     seconds_until(end_of_part(60.0)) < 9.1
    True
    >>> has_passed(end_of_part(math.inf))
    False
    """
    return time.monotonic() + min(seconds, _OF_REST * time_left())


def moment_after(seconds: float) -> float:
    """The moment of the monotonic clock at which so many seconds from now are over."""
    return time.monotonic() + seconds


def limit_until(moment: float) -> float:
    """Seconds until a moment, as a time limit, which must be positive: at least a thousandth."""
    return max(moment - time.monotonic(), 1e-3)


def has_passed(moment: float) -> bool:
    """Whether a moment of the monotonic clock is over."""
    return time.monotonic() > moment


def seconds_until(moment: float) -> float:
    """Seconds until a moment of the monotonic clock; 0 where it is over."""
    return max(0.0, moment - time.monotonic())


def can_end() -> bool:
    """Whether `check_time` may ever raise: there is a limit, or somebody may stop the work."""
    return _STOP.get() is not None or not math.isinf(_END.get())


def is_over() -> bool:
    """Whether time is up."""
    return time.monotonic() >= _END.get()


def check_time() -> None:
    """End the work where time is up or a stop is asked for: cheap enough for every loop of Python.

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
    """The items one by one, with `check_time` before each: for loops without a body to ask it.

    Parameters
    ----------
    items : iterable
    """
    for item in items:
        check_time()
        yield item


def _over() -> str:
    """That time is up, and what was being done."""
    doing = [name for name, _ in phases()]
    told = [f"at work: {', '.join(doing)}"] if doing else []
    told += [
        f"{seconds:.0f} s went into {name}, which the next call is spared"
        for name, seconds in spent().items()
        if seconds >= 1
    ]
    return "the time limit is over" + (f" ({'; '.join(told)})" if told else "")
