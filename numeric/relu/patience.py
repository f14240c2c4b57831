"""Compiled tree searches that end when they are told to.

A compiled function sees neither Ctrl-C nor the alarm of a time limit: Python looks at signals only
between its own instructions.  So a search runs in a thread of its own, without Python's lock
(``nogil``), and asks at each node how many nodes it may visit, in an array of one number.  The
calling thread waits, where signals and limits reach it, and takes the nodes away when the work
shall end.  Nothing is searched twice, and what is found does not depend on the time it took.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from algebra.time_limits import check_time, time_left

Found = TypeVar("Found")

# Seconds between two looks at the clock.
_LOOK = 0.1
# Searches of so few nodes need no thread.
_SHORT = 8


def in_time(kernel: Any, search: Callable[[np.ndarray], Found], most_nodes: int) -> Found:
    """What a search finds within its nodes and the call's time.

    Parameters
    ----------
    kernel : numba dispatcher
        What `search` calls.  If it has not been called yet, it is compiled (or read from the
        cache) by a first search of one node in the calling thread, where that can be interrupted.
    search : callable
        From the most nodes it may visit, an int64[1] that may fall while it runs, to what it
        finds.
    most_nodes : int

    Raises
    ------
    OutOfTime
        Where the time limit of the call is over first.
    """
    check_time()
    if most_nodes <= _SHORT:
        return search(np.array([most_nodes]))
    if not kernel.signatures:
        search(np.zeros(1, np.int64))
    budget = np.array([most_nodes])
    outcome: list[Found | BaseException] = []

    def run() -> None:
        try:
            outcome.append(search(budget))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name="search", daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(min(_LOOK, time_left()))
            if not outcome:
                check_time()
    finally:
        # Whatever ended the waiting, the thread comes to its end.
        budget[0] = -1
        if thread.ident is not None:
            thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
