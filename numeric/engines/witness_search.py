"""Which rational instances have no real solution? A numerical guess for the certificate.

The certificate of an intermediate allocation needs one rational instance without real
solutions, solved exactly.  Where such instances are rare, solving one after another
exactly takes long; the path tracker goes through thousands first and names those that
are worth the exact work.  A wrong guess costs time, never truth.
"""

from __future__ import annotations

from collections.abc import Iterator

from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.systems.instances import rational_instance
from algebra.time_limits import end_of_part, has_passed
from numeric.counts import COMPLETE
from numeric.engines.homotopy import HomotopyEngine
from numeric.instances import Instance, to_double

# Larger start systems take longer to find than the search is worth.
LARGEST_COUNT = 60
_CHUNK = 64


def rational_draw(problem: Problem, seed: int, index: int) -> Instance:
    """The rational instance of that number as doubles; eighths are doubles, nothing is lost."""
    student, teacher, X = rational_instance(problem, seed, index)
    floats = [
        {name: to_double(value) for name, value in matrices.items()}
        for matrices in (student, teacher)
    ]
    return Instance(problem, problem.allocation, seed, index, floats[0], floats[1], to_double(X))


def rootless_instances(
    problem: Problem, root_count: int, seed: int, seconds: float
) -> Iterator[int]:
    """Numbers of rational instances in which the tracker finds no real solution.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.
    root_count : int
        The generic root count.
    seed : int
    seconds : float
        Then the search ends.
    """
    end = end_of_part(seconds)
    if root_count > LARGEST_COUNT or seconds <= 0:
        return
    try:
        # Where paths are hard another instance will do.
        engine = HomotopyEngine(problem, root_count=root_count, retries=0)
    except InputError:
        # The labels' dimension is below what the tracker takes it for: it has no guess here.
        return
    start = 0
    while not has_passed(end):
        draws = [rational_draw(problem, seed, k) for k in range(start, start + _CHUNK)]
        for found in engine.count_many(draws):
            if found.status == COMPLETE and found.real == 0:
                yield found.index
        start += _CHUNK
