"""The entry point: ``matchprob`` and ``python -m matchprob``.

Loading modules takes a second.  An interrupt during that time, as at any other, ends with one line
and status 3, never with a traceback (`matchprob.interrupts`).
"""

from __future__ import annotations

import gc
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
    """Run the command line, and exit with its status."""
    leave_at_once()
    # What modules make stays as long as the process: loading them, the collector of garbage would
    # look at it many times, and at their end once more.
    gc.disable()
    from algebra.time_limits import StopRequest, stoppable
    from matchprob.cli import main as command

    gc.freeze()
    gc.enable()
    request = StopRequest()
    try:
        request_stops(request)
        with stoppable(request):
            status = command()
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTED)
        status = UNFINISHED
    # Only the end of Python itself remains.
    ignore_interrupts()
    kernels = sys.modules.get("numeric.kernels")
    if kernels is not None and kernels.is_compiling():
        # Python would wait for the compiler, whose result is no longer needed.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
