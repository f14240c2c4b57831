"""Status lines on stderr: the phase of a long call and its time.

A thread reads the phases of the work (`algebra.phases`) and writes a line at intervals; it
writes none while a progress bar is shown, and none for calls of a few seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from algebra.phases import add_spent, phases

# Seconds between lines: at first, and at most.
_FIRST, _MOST = 5.0, 15.0
_COMPILING = "compiling {} (once; it is kept for the next call)"

# Text besides the phase of the work, and whether a bar is shown.
_report: Callable[[], str] | None = None
_is_hidden = False


class _Compiler:
    """What numba is compiling, by its events.

    Attributes
    ----------
    began : list of (float, str)
        When each compilation began that is not finished, and the name of its function; the
        function that the work called comes first.
    """

    def __init__(self) -> None:
        self.is_known = False
        self.began: list[tuple[float, str]] = []

    def look(self) -> None:
        """Register for events, once numba is loaded."""
        events = sys.modules.get("numba.core.event")
        if self.is_known or events is None or not hasattr(sys.modules.get("numba"), "njit"):
            return
        began = self.began

        class Listener(events.Listener):  # type: ignore[name-defined,misc]
            def on_start(self, event: Any) -> None:
                function = event.data["dispatcher"].py_func
                began.append((time.monotonic(), f"{function.__module__}.{function.__name__}"))

            def on_end(self, event: Any) -> None:
                if began:
                    seconds = time.monotonic() - began.pop()[0]
                    if not began:
                        add_spent("compiling", seconds)

        events.register("numba:compile", Listener())
        self.is_known = True


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
    compiler = _Compiler()
    pause = _FIRST
    last = start
    while not done.wait(0.5):
        compiler.look()
        now = time.monotonic()
        if _is_hidden:
            last = now
        elif now - last >= pause:
            last, pause = now, min(_MOST, pause + _FIRST)
            say(f"matchprob: {_text(compiler, start, now)}")


def _text(compiler: _Compiler, start: float, now: float) -> str:
    going_on = phases()
    name, began = going_on[-1] if going_on else ("at work", start)
    if compiler.began:
        began, function = compiler.began[0]
        name = _COMPILING.format(function)
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


@contextmanager
def hidden() -> Iterator[None]:
    """Write no status lines: a progress bar is shown."""
    global _is_hidden
    before, _is_hidden = _is_hidden, True
    try:
        yield
    finally:
        _is_hidden = before
