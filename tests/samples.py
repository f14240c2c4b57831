"""The number of samples for a law: all in a long run, fewer otherwise."""

from __future__ import annotations

import os

# As in `make test LONG=1`.
LONG = bool(os.environ.get("LONG"))


def many(number: int) -> int:
    """This number in a long run, two fifths otherwise; hypothesis draws others each time."""
    return number if LONG else max(1, 2 * number // 5)
