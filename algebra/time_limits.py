"""One time limit for a whole call, obeyed in the innermost loops.

A verb sets a limit once (`within`); whatever it calls, however deep, asks `check_time` in its
loops and gives child processes no more than `time_left`.  The end is one moment of the
monotonic clock, so time spent anywhere counts, and it can only be brought forward: a limit
inside another ends no later.  The limit belongs to the thread and the call (a
`contextvars.ContextVar`), as a cancel scope does in trio, so that the functions between the
verb and the loop need no argument for it and cannot forget to hand it on.

Code that asks nothing is reached too where it can be: in the main thread, where nobody else uses
the alarm clock (SIGALRM), an alarm raises `OutOfTime` a moment after the end, as Ctrl-C would.
It waits for a compiled call to return (such calls are kept short), for imports, compilations and
transactions to be done, and for collections of garbage and finalizers, where Python swallows
exceptions.

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

import gc
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType

from algebra.errors import InputError, Unfinished, shown
from algebra.phases import forget_spent, phases, spent

# Seconds that loops have to notice by themselves before the alarm rings.
_GRACE = 0.5
# Where the alarm waits: imports, compilers, transactions, and children being waited for (which
# have a time limit of their own); and how long it waits before it looks again.
_FRAGILE = frozenset(
    {
        "importlib",
        "_frozen_importlib",
        "_frozen_importlib_external",
        "numba",
        "llvmlite",
        "subprocess",
        "numeric.studies.store",
    }
)
_AGAIN = 0.05
# Whether garbage is being collected: Python prints an exception out of there and goes on.
_collecting = False
# Seconds (thirty years) from which on a limit is none.
_FOREVER = 1e9
# How much of the time left a part of the work may take.
_OF_REST = 0.9
# The moment of the monotonic clock at which the work must end.
_END: ContextVar[float] = ContextVar("end", default=math.inf)


class OutOfTime(Unfinished):
    """The time limit of the call is over; nothing follows of what was not finished."""


class TooSlow(OutOfTime):
    """There is far less time than an estimate asks for: refused before it is begun."""


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
    armed = False
    try:
        armed = _END.get() < before and _arm()
        yield
    finally:
        if armed:
            _disarm()
        _END.reset(token)
        if armed and not math.isinf(before):
            _arm()


def _arm() -> bool:
    """Set the alarm to a moment after the end; False where it is not ours to set."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL and not _is_ours():
        return False
    left = _END.get() - time.monotonic()
    if math.isinf(left):
        return False
    signal.signal(signal.SIGALRM, _ring)
    _watch_collections(True)
    signal.setitimer(signal.ITIMER_REAL, max(left, 0.0) + _GRACE)
    return True


def _is_ours() -> bool:
    return signal.getsignal(signal.SIGALRM) is _ring


def _disarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _watch_collections(False)


def _watch_collections(watched: bool) -> None:
    """Know when garbage is collected: from before anybody's callback until after the last."""
    global _collecting
    for callback in (_collection_begins, _collection_ends):
        if callback in gc.callbacks:
            gc.callbacks.remove(callback)
    _collecting = False
    if watched:
        gc.callbacks.insert(0, _collection_begins)
        gc.callbacks.append(_collection_ends)


def _collection_begins(phase: str, info: dict[str, int]) -> None:
    global _collecting
    _collecting = True


def _collection_ends(phase: str, info: dict[str, int]) -> None:
    global _collecting
    _collecting = phase == "start"


def _ring(number: int, frame: FrameType | None) -> None:
    # An inner limit caught, or work that must be finished: then there is time again.
    if not is_over():
        return
    if _is_fragile(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        return
    raise OutOfTime(_over())


def _is_fragile(frame: FrameType | None) -> bool:
    """Whether something is at work that an exception would leave in pieces, or that swallows it."""
    if _collecting:
        return True
    # The alarm may come upon a callback before its first line.
    if frame is not None and frame.f_code in (
        _collection_begins.__code__,
        _collection_ends.__code__,
    ):
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] in _FRAGILE or name in _FRAGILE:
            return True
        frame = frame.f_back
    return False


@contextmanager
def unlimited() -> Iterator[None]:
    """Work that must be finished though time is up: what is known is put together."""
    token = _END.set(math.inf)
    try:
        yield
    finally:
        _END.reset(token)


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


def is_over() -> bool:
    """Whether time is up."""
    return time.monotonic() >= _END.get()


def check_time() -> None:
    """End the work where time is up: cheap enough for every loop of Python.

    Raises
    ------
    OutOfTime
    """
    if time.monotonic() >= _END.get():
        if threading.current_thread() is threading.main_thread() and _is_ours():
            # Who catches this puts together what is known: the alarm must not break in there.
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        raise OutOfTime(_over())


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
