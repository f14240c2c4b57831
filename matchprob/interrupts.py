"""Ctrl-C and SIGTERM in the command: one line and status 3, never a traceback.

There are two handlers.  While modules load (`leave_at_once`) no work has begun, so the process ends
at once.  From then on (`request_stops`) a signal makes a request, and the work stops at its next
`algebra.time_limits.check_time`: a point with a consistent state, at which the code that catches
the exception keeps the finished part.  A second signal ends the work at any point.  SIGTERM, which
a cluster's queue sends, is treated like Ctrl-C.

This module is loaded first, so it imports very little.  During the start of Python itself, before
it, a signal ends the process as Python does.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algebra.time_limits import StopRequest

UNFINISHED = 3
INTERRUPTED = "matchprob: interrupted; nothing was kept\n"


def is_command() -> bool:
    """Whether this process is the command, not another program that imports matchprob."""
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    # Options of Python itself may stand before `-m`.
    pairs = [*pairwise(sys.orig_argv)]
    module = any(("-m", own) in pairs for own in ("matchprob", "matchprob.check"))
    return name in ("matchprob", "matchprob.exe") or module


def leave_at_once() -> None:
    """Make an interrupt end the process, until the work begins."""
    _listen(_leave)


def request_stops(request: StopRequest) -> None:
    """From now on the first signal makes a stop request, and a second one ends the work at once.

    Parameters
    ----------
    request : StopRequest
        The request that the work checks (`algebra.time_limits.stoppable`).
    """

    def ask(number: int, frame: FrameType | None) -> None:
        if request.is_made:
            # A subclass: if a plain KeyboardInterrupt passes through ``exec`` of a text
            # (as in the making of a dataclass), Python ends the process by SIGINT.
            from algebra.time_limits import Interrupted

            raise Interrupted
        request.make()

    _listen(ask)


def ignore_interrupts() -> None:
    """Ignore interrupts, because the work is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _listen(handler: Callable[[int, FrameType | None], None]) -> None:
    # A shell that starts this process in the background may want SIGINT ignored.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)
    # SIGTERM comes last: Python handles SIGINT from the start, so this shows that both are set.
    signal.signal(signal.SIGTERM, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, INTERRUPTED.encode())
    os._exit(UNFINISHED)
