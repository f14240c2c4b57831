"""Least-cost bases under any number of kinds of caps, with proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from algebra.matroids.branch_and_bound import capped_basis
from algebra.matroids.capped import CappedProblem, Optimum
from algebra.matroids.intersection import Shortage, common_basis, is_optimal
from algebra.matroids.lagrangian import Relax

# Makes the relaxation of one problem.
RelaxationMaker = Callable[[CappedProblem], Relax]


def optimum(
    problem: CappedProblem,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Optimum:
    """By matroid intersection for one kind of cap, by branch and bound for several.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1, 0, 1], [0, 1, 1]])
    >>> caps = [([0, 0, 1], [1, 1])]
    >>> optimum(CappedProblem(columns, 101, caps, [1, 2, 5], 2))
    Optimum(elements=(0, 2), cost=6, bound=6, nodes=1)
    """
    if len(problem.systems) == 1:
        found = common_basis(problem)
        if isinstance(found, Shortage):
            return Optimum(None, None, None, found)
        if not is_optimal(problem, found):
            raise ArithmeticError("a weight splitting does not prove its own basis: a bug")
        return Optimum(found.elements, found.cost, found.cost, found.splitting)
    relax = relaxation(problem) if relaxation else None
    return capped_basis(problem, relax=relax, seconds=seconds)


# Points are added until the error bound of an optimum is below this.
TARGET = Fraction(1, 1 << 30)


class OverPoints(Protocol):
    """A problem given at random points only."""

    def points(self) -> Iterator[tuple[int, int]]:
        """Random primes and point numbers, without end."""
        ...

    @property
    def point_error(self) -> Fraction:
        """Bound on the probability that the best basis is missed at a point."""
        ...

    def problem_at(self, p: int, number: int) -> CappedProblem:
        """The problem at a point."""
        ...


def optimum_over_points(
    problems: OverPoints,
    target: Fraction,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> tuple[Optimum, list[tuple[int, int]], Fraction]:
    """The best over as many points as the error bound requires; its bound is the least of all.

    Parameters
    ----------
    problems : OverPoints
    target : Fraction
        Points are added until the error bound is below this.
    relaxation, seconds
        As for `optimum`.

    Returns
    -------
    best : Optimum
    points : list of (int, int)
    error : Fraction
        Bound on the probability that the bound is wrong.
    """
    points: list[tuple[int, int]] = []
    error = Fraction(1)
    best: Optimum | None = None
    for p, number in problems.points():
        if error < target:
            break
        points.append((p, number))
        error *= problems.point_error
        problem = problems.problem_at(p, number)
        if best is not None:
            now = best.dual.bound(problem)
            if now is None or (best.bound is not None and now >= best.bound):
                continue
        found = optimum(problem, relaxation, seconds)
        if best is None:
            best = found
            continue
        # The points disagree, one of them by chance: the smaller lower bound is valid.
        bounds = [b for b in (best.bound, found.bound) if b is not None]
        if best.cost is None or (found.cost is not None and found.cost < best.cost):
            best = found
        best = replace(best, bound=min(bounds, default=None))
    assert best is not None
    return best, points, error
