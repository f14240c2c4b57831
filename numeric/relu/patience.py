"""Compiled tree searches that end when they are told to.

A compiled function sees neither Ctrl-C nor the alarm of a time limit: Python looks at signals only
between its own instructions.  So a search runs in a thread of its own, without Python's lock
(``nogil``), and asks at each node how many nodes it may visit, in an array of one number.  The
calling thread waits, where signals and limits reach it, and takes the nodes away when the work
shall end.  Nothing is searched twice, and what is found does not depend on the time it took.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from typing import Any, TypeVar

import numpy as np

from algebra.time_limits import check_time, time_left

Found = TypeVar("Found")

# Seconds between two looks at the clock.
_LOOK = 0.1


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
    if not kernel.signatures:
        search(np.zeros(1, np.int64))
    budget = np.array([most_nodes])
    with ThreadPoolExecutor(1, "search") as pool:
        try:
            running = pool.submit(search, budget)
            while True:
                try:
                    return running.result(min(_LOOK, time_left()))
                except TimeoutError:
                    check_time()
        finally:
            # The thread is waited for, so it must come to its end.
            budget[0] = -1
