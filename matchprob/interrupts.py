"""Ctrl-C and SIGTERM, for the command: one line and status 3, never a traceback.

Two handlers.  While modules load (`leave_at_once`) nothing is at work yet, so the process ends on
the spot.  From then on (`request_stops`) a signal makes a request, and the work stops at its next
`algebra.time_limits.check_time`: a place where nothing is half done, and where whoever catches the
exception keeps what is done.  Whoever cannot wait for that sends a second signal, which ends the
work wherever it is.  SIGTERM, which a cluster's queue sends, is taken for Ctrl-C.

This module is the first to load, so it imports next to nothing.  What comes before it, the start
of Python itself, is not ours: a signal then ends the process as Python does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algebra.time_limits import StopRequest

UNFINISHED = 3
INTERRUPTED = "matchprob: interrupted; nothing was kept\n"


def is_command() -> bool:
    """Whether this process is the command, not somebody's program that imports matchprob."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    return name in ("matchprob", "matchprob.exe") or sys.orig_argv[1:3] == ["-m", "matchprob"]


def leave_at_once() -> None:
    """Until the work begins: an interrupt ends the process."""
    _listen(_leave)


def request_stops(request: StopRequest) -> None:
    """From now on a signal asks the work to stop, and a second one does not ask.

    Parameters
    ----------
    request : StopRequest
        What the work listens to (`algebra.time_limits.stoppable`).
    """

    def ask(number: int, frame: FrameType | None) -> None:
        if request.is_made:
            # A class of its own: where a plain KeyboardInterrupt passes through ``exec`` of a text
            # (as in the making of a dataclass), Python ends the process by SIGINT after all.
            from algebra.time_limits import Interrupted

            raise Interrupted
        request.make()

    _listen(ask)


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
