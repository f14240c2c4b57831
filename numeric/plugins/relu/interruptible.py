"""Compiled tree searches that can be interrupted.

A compiled function reacts neither to Ctrl-C nor to a time limit: Python handles signals only
between its own instructions.  So a search runs in its own thread, without Python's lock
(``nogil``), and reads at each node the largest number of nodes from an array of one number.
The calling thread waits, can be interrupted, and sets this number to -1 if the search
must end.  No part is searched twice, and the result does not depend on the time that it took.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from algebra.children import POLL_SECONDS
from algebra.time_limits import check_time, time_left

Found = TypeVar("Found")


# Searches with at most this number of nodes need no thread.
_SHORT = 8


def run_search(kernel: Any, search: Callable[[np.ndarray], Found], most_nodes: int) -> Found:
    """The result of a search, within its limit of nodes and the call's time limit.

    Parameters
    ----------
    kernel : numba dispatcher
        Called by `search`.  If it has not been called yet, it is compiled (or read from the
        cache) by a first search of one node in the calling thread, where that can be interrupted.
    search : callable
        From the largest number of nodes, an int64[1] that may be lowered during the search, to its
        result.
    most_nodes : int
        Largest number of nodes.

    Raises
    ------
    OutOfTime
        If the time limit of the call is reached first.
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
            thread.join(min(POLL_SECONDS, time_left()))
            if not outcome:
                check_time()
    finally:
        # The search ends at its next node.
        budget[0] = -1
        if thread.ident is not None:
            thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
