"""What a long call is at, by name, for whoever watches it from another thread.

A function that may take long says so (`phase`); it costs nothing and knows nobody.  Only the
main thread's phases are kept: that is the one somebody waits for.

Examples
--------
>>> with phase("generic root count"):
...     [name for name, _ in phases()]
['generic root count']
>>> phases()
()

What is done for later calls too, such as compiling, is told separately (`spent`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds spent in this call on what later calls are spared.
_spent: dict[str, float] = {}
# Names and the moments of the monotonic clock at which they began, the innermost last.
_now: list[tuple[str, float]] = []


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Say what is done inside.

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
        # An interrupt may have passed over inner ones.
        if mark in _now:
            del _now[_now.index(mark) :]


def phases() -> tuple[tuple[str, float], ...]:
    """Names and beginnings of what is going on, the innermost last."""
    return tuple(_now)


def add_spent(name: str, seconds: float) -> None:
    """Note time that later calls are spared.

    Parameters
    ----------
    name : str
    seconds : float
    """
    _spent[name] = _spent.get(name, 0) + seconds


def spent() -> dict[str, float]:
    """Seconds noted since the call began, by name."""
    return dict(_spent)


def forget_spent() -> None:
    """A call begins."""
    _spent.clear()
