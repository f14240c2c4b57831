"""The entry point: ``matchprob`` and ``python -m matchprob``.

Modules take a second to load.  An interrupt then, like one at any other time, ends in one line
and status 3, never in a traceback (`matchprob.interrupts`).
"""

from __future__ import annotations

import os
import sys

from matchprob.interrupts import (
    INTERRUPTED,
    UNFINISHED,
    ignore_interrupts,
    leave_at_once,
    request_stops,
)


def main() -> None:
    """Run the command line, and leave with its status."""
    leave_at_once()
    from algebra.time_limits import StopRequest, stoppable
    from matchprob.cli import main as command

    request = StopRequest()
    try:
        request_stops(request)
        with stoppable(request):
            status = command()
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTED)
        status = UNFINISHED
    # What is left is the end of Python itself.
    ignore_interrupts()
    kernels = sys.modules.get("numeric.kernels")
    if kernels is not None and kernels.is_compiling():
        # Python would wait for the compiler, whose result nobody needs any more.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
