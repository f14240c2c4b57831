"""How many samples a law is tried on: all of them in a long run, fewer while one works."""

from __future__ import annotations

import os

# As in `make test LONG=1`.
LONG = bool(os.environ.get("LONG"))


def many(number: int) -> int:
    """So many in a long run, two fifths of them else; hypothesis draws others each time."""
    return number if LONG else max(1, 2 * number // 5)
