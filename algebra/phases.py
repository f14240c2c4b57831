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
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
