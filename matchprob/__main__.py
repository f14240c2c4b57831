"""The entry point: ``matchprob`` and ``python -m matchprob``.

Modules take a second to load.  An interrupt then, like one at any other time, ends in one line
and status 3, never in a traceback; so does SIGTERM, which is taken for Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

UNFINISHED = 3
# Seconds after which an interrupt is tried again.
_AGAIN = 0.02


class Interrupted(KeyboardInterrupt):
    """An interrupt by either signal.

    A class of its own because of a trap: where a plain KeyboardInterrupt passes through
    ``exec`` of a text (as in the making of every dataclass), Python notes it as unhandled and
    ends the process by SIGINT in the end, whatever becomes of the exception.
    """


def _interrupt(number: int, frame: FrameType | None) -> None:
    # An exception in a callback of the compiler would be printed there, and forgotten.
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("llvmlite."):
            _try_again(number)
            return
        frame = frame.f_back
    raise Interrupted


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


def main() -> None:
    """Run the command line, and leave with its status."""
    try:
        sys.unraisablehook = _not_forgotten
        signal.signal(signal.SIGTERM, _interrupt)
        # A shell that starts us in the background may want SIGINT ignored.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _interrupt)
        from matchprob.cli import main as command

        status = command()
    except KeyboardInterrupt:
        sys.stderr.write("matchprob: interrupted; nothing was kept\n")
        status = UNFINISHED
    # What is left is the end of Python itself: too late to be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(status)


if __name__ == "__main__":
    main()
