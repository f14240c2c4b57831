"""Ctrl-C and SIGTERM, for the command: one line and status 3, never a traceback.

Two handlers.  While modules load (`leave_at_once`) nothing is at work yet, so the process ends on
the spot.  From then on (`raise_interrupts`) an exception ends the work, and whoever catches it
keeps what is done.  SIGTERM, which a cluster's queue sends, is taken for Ctrl-C.

This module is the first to load, so it imports next to nothing.  What comes before it, the start
of Python itself, is not ours: a signal then ends the process as Python does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

UNFINISHED = 3
INTERRUPTED = "matchprob: interrupted; nothing was kept\n"
# Seconds after which an interrupt is tried again.
_AGAIN = 0.02
# What must not be broken off: the compiler's callbacks, where an exception is printed and
# forgotten, and the making of a compiled function's results, where it leaves null pointers.
_FRAGILE = ("llvmlite.", "numba.core.serialize")


class Interrupted(KeyboardInterrupt):
    """An interrupt by either signal.

    A class of its own because of a trap: where a plain KeyboardInterrupt passes through
    ``exec`` of a text (as in the making of every dataclass), Python notes it as unhandled and
    ends the process by SIGINT in the end, whatever becomes of the exception.
    """


def is_command() -> bool:
    """Whether this process is the command, not somebody's program that imports matchprob."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        return False
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    return name in ("matchprob", "matchprob.exe") or sys.orig_argv[1:3] == ["-m", "matchprob"]


def leave_at_once() -> None:
    """Until the work begins: an interrupt ends the process."""
    _listen(_leave)


def raise_interrupts() -> None:
    """From now on an interrupt raises `Interrupted`, wherever it falls."""
    sys.unraisablehook = _not_forgotten
    _listen(_interrupt)


def ignore_interrupts() -> None:
    """The work is over: too late to be interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _listen(handler: Callable[[int, FrameType | None], None]) -> None:
    signal.signal(signal.SIGTERM, handler)
    # A shell that starts us in the background may want SIGINT ignored.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, INTERRUPTED.encode())
    os._exit(UNFINISHED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    outer = _outside(frame)
    if outer is frame:
        raise Interrupted
    if outer is None or sys.gettrace() not in (None, _trace_nothing):
        _try_again(number)
        return
    # At the next line, or the return, of the function that called what must not be broken off.
    # Later attempts would not do: where compiled functions follow each other, a signal is seen
    # only when one of them ends, and then its results are made.
    outer.f_trace = _raise_here
    sys.settrace(_trace_nothing)


def _outside(frame: FrameType | None) -> FrameType | None:
    """The innermost function that calls nothing fragile."""
    outer = frame
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(_FRAGILE):
            outer = frame.f_back
        frame = frame.f_back
    return outer


def _raise_here(frame: FrameType, event: str, value: object) -> None:
    sys.settrace(None)
    raise Interrupted


def _trace_nothing(frame: FrameType, event: str, value: object) -> None:
    return None


def _try_again(number: int = signal.SIGINT) -> None:
    again = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _not_forgotten(found: sys.UnraisableHookArgs) -> None:
    """An interrupt that fell into a destructor or a callback, where Python forgets exceptions."""
    if isinstance(found.exc_value, Interrupted):
        _try_again()
    else:
        sys.__unraisablehook__(found)
