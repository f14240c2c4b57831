"""Compiled tree searches under a time limit: they cannot be interrupted, but cut off and redone.

A search takes the most nodes it may visit.  Where the call has a time limit it is begun with
few, and begun again with four times as many, never with more than the time left allows at the
rate seen: all searches together visit a third more nodes than the last alone, and none outlasts
the limit by much.  What is found does not depend on it, because a search is deterministic and
the last one visits all that an unlimited one would.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import isinf
from typing import TypeVar

from algebra.time_limits import OutOfTime, check_time, time_left

Found = TypeVar("Found")

_FIRST = 64


def in_time(
    search: Callable[[int], Found], was_cut: Callable[[Found], bool], most_nodes: int
) -> Found:
    """What a search finds within its nodes and the call's time.

    Parameters
    ----------
    search : callable
        From the most nodes it may visit to what it finds.
    was_cut : callable
        Whether it came to no end within them.
    most_nodes : int

    Raises
    ------
    OutOfTime
        Where the time left is too short to go on.

    Examples
    --------
    >>> in_time(lambda most: most, lambda found: True, 10)
    10
    """
    nodes = most_nodes if isinf(time_left()) else min(_FIRST, most_nodes)
    while True:
        check_time()
        began = time.monotonic()
        found = search(nodes)
        if nodes >= most_nodes or not was_cut(found):
            return found
        rate = nodes / max(time.monotonic() - began, 1e-6)
        affordable = int(rate * time_left())
        if affordable <= nodes:
            raise OutOfTime("the time limit is too short for this search")
        nodes = min(4 * nodes, affordable, most_nodes)
