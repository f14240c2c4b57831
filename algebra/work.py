"""Work, by which the parts of a search end: the same on every machine.

What a verdict rests on must not depend on the machine.  Inside `by_work` the parts of a call
(`end_of_part`, `has_passed`, `now`) are measured by the work that is done, in seconds of a quiet
machine: `spend` adds the work of a Gröbner basis (the sizes of its matrices), of paths and of
instances, which inputs and seed determine.  The whole call has an amount of work too
(`by_work(most)`), at which every part ends; its limit of time (`algebra.time_limits`) only ends a
call that is late.  Outside `by_work` parts are measured in time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from algebra.errors import InputError, shown
from algebra.time_limits import check_time, positive_seconds, time_left

# Largest share of the remaining time for a part of the work.
_OF_REST = 0.9

# The work of this call; None where parts are measured in time.
_WORK: ContextVar[_Work | None] = ContextVar("work", default=None)


@dataclass
class _Work:
    """Work in seconds of a quiet machine: what is done, and the most of the whole call."""

    most: float
    done: float = 0.0


@dataclass(frozen=True)
class Shares:
    """The parts of its time that `certify` gives to counts: a call's seconds divided by these.

    Attributes
    ----------
    root_count : int
        The root count, half of the time so that the other methods have some too.
    cells : int
        Each part of single cells within the reach of updates.
    later : int
        A Gröbner basis of an argument on parts or on solutions at infinity.
    last : int
        The same where very many are searched.
    """

    root_count: int = 2
    cells: int = 8
    later: int = 8
    last: int = 16


SHARES = Shares()

# Work of a call with effort 1.
_WORK_OF_CALL = 60.0


@dataclass(frozen=True)
class Limits:
    """Limits of the effort for a verdict.

    Attributes
    ----------
    seconds : float
        For the whole call; inf for none.
    search : float
        Work of the search of an instance without real solutions, in seconds of a quiet machine.
    subsets : int
        If more weights learn than needed: number of sub-allocations tried for a maximal one.
    effort : float
        Factor of all work of searches and counts.
    """

    seconds: float = 120.0
    search: float = 2.0
    subsets: int = 40
    effort: float = 1.0

    def __post_init__(self) -> None:
        positive_seconds(self.seconds, "timeout")
        positive_seconds(self.search, "search", zero=True)
        positive_effort(self.effort)

    @property
    def searched(self) -> float:
        """Work of the search of an instance without real solutions, with this effort."""
        return self.search * self.effort

    @property
    def work(self) -> float:
        """Work of a whole call with this effort."""
        return _WORK_OF_CALL * self.effort

    @property
    def basis(self) -> float:
        """Work for one Gröbner basis, as `Shares.root_count` says."""
        return self.part(SHARES.root_count)

    def part(self, divisor: int) -> float:
        """Work of the call, or its seconds, divided by a number; finite even without a limit."""
        return min((self.work if is_by_work() else self.seconds) / divisor, 1e6)


def positive_effort(value: float) -> float:
    """A factor of the work of searches: a positive number.

    Raises
    ------
    InputError
        For anything else.
    """
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (is_number and 0 < value < math.inf):
        raise InputError(f"`effort` ({shown(value)}) must be a positive number; 1 by default")
    return float(value)


@contextmanager
def by_work(most: float = math.inf) -> Iterator[None]:
    """Measure parts of the work inside by the work that is done, not by time.

    Parameters
    ----------
    most : float, optional
        Work of all parts together.

    Examples
    --------
    >>> with by_work():
    ...     end = end_of_part(2.0)
    ...     spend(3.0)
    ...     has_passed(end)
    True
    """
    token = _WORK.set(_Work(most))
    try:
        yield
    finally:
        _WORK.reset(token)


def is_by_work() -> bool:
    """Whether parts are measured by work."""
    return _WORK.get() is not None


def share() -> str:
    """What a part of a call ends by, in words."""
    return f"its share of the {'work' if is_by_work() else 'time'}"


def spend(seconds: float) -> None:
    """Add work that is done, in seconds of a quiet machine; nothing outside `by_work`."""
    work = _WORK.get()
    if work is not None:
        work.done += seconds


def now() -> float:
    """The work done so far inside `by_work`, else the time of the monotonic clock."""
    work = _WORK.get()
    return time.monotonic() if work is None else work.done


def end_of_part(seconds: float) -> float:
    """The time at which a part of the work should end by itself, with its results so far.

    Parameters
    ----------
    seconds : float
        For the part; inf for no further limit.

    Returns
    -------
    float
        On the clock of `now`, for `has_passed` and `seconds_until`; inf without any limit.  Of time
        a tenth of that left for the whole call is reserved for assembling the results.  Work ends
        at that of the whole call.

    Examples
    --------
    >>> from algebra.time_limits import within
    >>> with within(10.0):
    ...     seconds_until(end_of_part(60.0)) < 9.1
    True
    >>> has_passed(end_of_part(math.inf))
    False
    """
    work = _WORK.get()
    if work is not None:
        return min(work.done + seconds, work.most)
    return time.monotonic() + min(seconds, _OF_REST * time_left())


def moment_after(seconds: float) -> float:
    """The time of the monotonic clock after this number of seconds."""
    return time.monotonic() + seconds


def limit_until(moment: float) -> float:
    """Seconds until a moment, as a time limit, which must be positive: at least a thousandth."""
    return max(moment - time.monotonic(), 1e-3)


def has_passed(moment: float) -> bool:
    """Whether the time of a search that keeps its results so far has passed.

    Before that a stop request and the end of the call end the work, as at `check_time`; after it
    they do not, so that a search that is late returns what it has.

    Parameters
    ----------
    moment : float
        Of `end_of_part`: on the clock of `now`.

    Raises
    ------
    OutOfTime
    Interrupted
    """
    if now() > moment:
        return True
    check_time()
    return False


def seconds_until(moment: float) -> float:
    """Seconds until a time of the clock of `now`; 0 if it has passed."""
    return max(0.0, moment - now())
