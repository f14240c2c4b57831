"""Names of the present phases of a long call, for a reader in another thread.

A function that may take long names its phase (`phase`), at no cost and independently of readers.
Only the main thread's phases are kept, since the user waits for that thread.

Examples
--------
>>> with phase("generic root count"):
...     [name for name, _ in phases()]
['generic root count']
>>> phases()
()

Time spent for later calls too, such as compilation, is recorded separately (`spent`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds spent in this call on work that later calls need not repeat.
_spent: dict[str, float] = {}
# Names and start times (of the monotonic clock), the innermost last.
_now: list[tuple[str, float]] = []


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Name the phase of the work inside.

    Parameters
    ----------
    name : str
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
