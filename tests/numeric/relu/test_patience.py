"""Searches under a time limit: the same answer, or none; never one from a search cut off."""

from __future__ import annotations

import time

import pytest

from algebra.networks.relu import ShallowReLU
from algebra.problems.problem import Problem
from algebra.time_limits import OutOfTime, within
from numeric.instances import draw_instance
from numeric.relu.decide import decide
from numeric.relu.patience import in_time


def slow(needed: int, seconds: float):
    """A search that needs so many nodes, each taking so long."""
    asked = []

    def search(most: int) -> tuple[str, int]:
        asked.append(most)
        time.sleep(seconds * min(most, needed))
        return ("done", needed) if most >= needed else ("cut", most)

    return search, asked


def test_without_a_limit_it_is_one_search():
    """Nothing is done twice."""
    search, asked = slow(50_000, 0.0)
    assert in_time(search, lambda found: found[0] == "cut", 10**6) == ("done", 50_000)
    assert asked == [10**6]


def test_with_a_limit_it_grows():
    """The nodes grow at most fourfold until the search ends."""
    search, asked = slow(50_000, 0.0)
    with within(60.0):
        assert in_time(search, lambda found: found[0] == "cut", 10**6) == ("done", 50_000)
    assert asked == [64, 256, 1_024, 4_096, 16_384, 65_536]


def test_the_most_nodes_are_never_exceeded():
    """A search that is cut off at its own limit says so."""
    search, asked = slow(50_000, 0.0)
    with within(60.0):
        assert in_time(search, lambda found: found[0] == "cut", 10_000) == ("cut", 10_000)
    assert asked[-1] == 10_000


def test_time_is_up():
    """A search that would outlast the limit is not begun."""
    search, asked = slow(10**6, 1e-5)
    with within(0.1), pytest.raises(OutOfTime):
        in_time(search, lambda found: found[0] == "cut", 10**6)
    assert sum(asked) < 10**6


def test_decisions_do_not_depend_on_the_limit():
    """The same verdict and the same number of nodes."""
    net = ShallowReLU(q=3, n=4, d=2, m=4)
    problem = Problem(net, {"W1": [[1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 0, 0]]})
    for index in range(6):
        instance = draw_instance(problem, 0, index)
        free = decide(instance, certify=True)
        with within(600.0):
            bound = decide(instance, certify=True)
        assert (free.verdict, free.nodes) == (bound.verdict, bound.nodes)
