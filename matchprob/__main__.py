"""The entry point: ``matchprob`` and ``python -m matchprob``.

Modules take a second to load.  An interrupt then, like one at any other time, ends in one line
and status 3, never in a traceback; so does SIGTERM, which is taken for Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

UNFINISHED = 3


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line, and leave with its status."""
    try:
        signal.signal(signal.SIGTERM, _interrupt)
        from matchprob.cli import main as command

        command()
    except KeyboardInterrupt:
        # Before the command line is there, or while it ends: nothing is left to be kept.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.stderr.write("matchprob: interrupted; nothing was kept\n")
        sys.exit(UNFINISHED)


if __name__ == "__main__":
    main()
