"""Status lines on stderr: the phase of a long call and its time.

A thread reads the phases of the work (`algebra.time_limits`) and writes a line at intervals; it
writes none while a progress bar is shown, and none for calls of a few seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from algebra.time_limits import phases

# Seconds between lines: at first, and at most.
_FIRST = 5.0
_MOST = 15.0

# Text besides the phase of the work, and whether a bar is shown.
_report: Callable[[], str] | None = None
_is_hidden = False


@contextmanager
def watch(say: Callable[[str], None]) -> Iterator[None]:
    """Write status lines for the work inside.

    Parameters
    ----------
    say : callable
        Receives a line.
    """
    done = threading.Event()
    start = time.monotonic()
    thread = threading.Thread(target=_look, args=(done, start, say), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _look(done: threading.Event, start: float, say: Callable[[str], None]) -> None:
    pause = _FIRST
    last = start
    while not done.wait(0.5):
        now = time.monotonic()
        if _is_hidden:
            last = now
        elif now - last >= pause:
            last, pause = now, min(_MOST, pause + _FIRST)
            say(f"matchprob: {_text(start, now)}")


def _text(start: float, now: float) -> str:
    going_on = phases()
    name, began = going_on[-1] if going_on else ("at work", start)
    text = f"{name} … {now - began:.0f} s"
    if now - start > now - began + 1:
        text += f" ({now - start:.0f} s in all)"
    if _report is not None and (more := _report()):
        text += f"; {more}"
    return text


@contextmanager
def reported(report: Callable[[], str]) -> Iterator[None]:
    """Add the progress of the work to the status lines."""
    global _report
    before, _report = _report, report
    try:
        yield
    finally:
        _report = before


def is_hidden() -> bool:
    """Whether a progress bar is shown, so that no status lines are written."""
    return _is_hidden


@contextmanager
def hidden() -> Iterator[None]:
    """Write no status lines: a progress bar is shown."""
    global _is_hidden
    before, _is_hidden = _is_hidden, True
    try:
        yield
    finally:
        _is_hidden = before
