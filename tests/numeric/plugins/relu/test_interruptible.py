"""Searches under a time limit: either the result without a limit, or OutOfTime."""

import threading
from math import inf

import numba
import numpy as np
import pytest

from algebra.time_limits import OutOfTime, within
from matchprob import Problem, ShallowReLU, draw_instance
from numeric.plugins.relu.decide import decide
from numeric.plugins.relu.interruptible import run_search


@numba.njit(nogil=True)
def _walk(most):
    """Visit nodes until there are none left; a hundred thousand suffice."""
    nodes, value = 0, 1.0
    while nodes < most[0] and nodes < 100_000:
        nodes += 1
        for _ in range(1000):
            value = value * 0.999 + nodes
    return nodes, value


def test_searches_visit_all_permitted_nodes():
    """With a time limit and without one a search visits all nodes, or as many as permitted."""
    for limit in (60.0, inf):
        with within(limit):
            assert run_search(_walk, _walk, 10**6)[0] == 100_000
            assert run_search(_walk, _walk, 1_000)[0] == 1_000


@numba.njit(nogil=True)
def _for_ever(most, seen):
    """A search that ends only after its nodes; it reads the counter at each of them."""
    while most[0] >= 0:
        seen[0] += 1


@pytest.mark.parametrize("is_main", [True, False])
def test_the_time_limit_ends_a_search(is_main):
    """In the main thread and in another OutOfTime is raised; no search continues in a thread."""
    seen, visited = [], np.zeros(1, np.int64)
    _for_ever(np.full(1, -1), visited)

    def call():
        try:
            with within(0.3):
                run_search(_for_ever, lambda most: _for_ever(most, visited), 10**6)
        except OutOfTime as found:
            seen.append(found)

    if is_main:
        call()
    else:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert len(seen) == 1
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]


def test_an_exception_of_the_search_is_raised():
    """An exception in the search is raised in the caller."""
    with pytest.raises(ZeroDivisionError):
        run_search(_walk, lambda most: 1 // 0, 10)


def test_decisions_do_not_depend_on_the_limit():
    """With a time limit decisions have the same verdict and the same number of nodes."""
    net = ShallowReLU(q=3, n=4, d=2, m=4)
    problem = Problem(net, {"W1": [[1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 0, 0]]})
    for index in range(6):
        instance = draw_instance(problem, 0, index)
        free = decide(instance, certify=True)
        with within(600.0):
            bound = decide(instance, certify=True)
        assert (free.verdict, free.nodes) == (bound.verdict, bound.nodes)
