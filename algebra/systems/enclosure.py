"""Disjoint exact boxes around the weights of real solutions, one solution in each.

The unknowns of a core are isolated in boxes by the parametrization of its points
(`algebra.polynomials.real_roots`); the weights are computed from these by substitution in ball
arithmetic (FLINT's `arb`, every operation rounded outward), with more digits until the boxes of
different solutions are disjoint and small.  Their bounds are rounded outward to decimal fractions,
which are legible and exact rationals; a solution that is rational because the system is linear is
its own box.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
from flint import arb, arb_mat, fmpq

from algebra.polynomials.parametrization import Box, Interval, are_disjoint, ball_as_interval
from algebra.polynomials.real_roots import RealRoots
from algebra.systems.core import CoreSystem, PointAlgebra
from algebra.time_limits import check_time

# Digits after the decimal point: initial and largest number.
_DIGITS = 15
_MOST_DIGITS = 2000
# Bits for each digit, and additional bits for rounding errors of the substitution.
_BITS = 4
_SPARE = 64


def weight_boxes(core: CoreSystem, roots: RealRoots) -> tuple[Box, ...] | None:
    """Boxes around the learnable weights of each real solution.

    Parameters
    ----------
    core : CoreSystem
        Over the rationals.
    roots : RealRoots
        The real roots of its equations; finitely many.

    Returns
    -------
    tuple of boxes or None
        One for each real solution, in the order of `roots`; a box is a pair (low, high) of
        rationals for each weight in the allocation's order.  They are pairwise disjoint: each
        contains one solution.  None if a deferred block may be singular at a root.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> from algebra.polynomials.msolve.solver import real_roots
    >>> from algebra.systems.instances import rational_core, rational_instance
    >>> problem = Problem(LinearRNN(n=1, T=2, b=1, d=1, m=1), {"W": [[1]]})
    >>> student, teacher, X = rational_instance(problem, 0, 0)
    >>> core = rational_core(problem.allocation, student, X, problem.network.forward(teacher, X))
    >>> roots = real_roots(core.equations)
    >>> [low <= high for [(low, high)] in weight_boxes(core, roots)] == [True] * len(roots.roots)
    True
    """
    digits = _DIGITS
    while digits <= _MOST_DIGITS:
        check_time()
        bits = _BITS * digits + _SPARE
        points = roots.roots
        if roots.parametrization is not None:
            points = roots.parametrization.real_boxes(bits)
        with flint.ctx.workprec(2 * bits):
            found = [_weights(core, point) for point in points]
        boxes = [
            None if box is None else tuple(outward(interval, digits) for interval in box)
            for box in found
        ]
        complete = [box for box in boxes if box is not None]
        limit = Fraction(3, 10**digits)
        if (
            len(complete) == len(boxes)
            and all(high - low <= limit for box in complete for low, high in box)
            and are_disjoint(complete)
        ):
            return tuple(complete)
        digits *= 2
    return None


def _ball(low: Fraction, high: Fraction) -> arb:
    """The smallest ball that contains an interval, at the working precision."""
    ends = [arb(fmpq(x.numerator, x.denominator)) for x in (low, high)]
    ball: arb = ends[0].union(ends[1])
    return ball


class _Balls(PointAlgebra):
    """Balls as coordinates of points."""

    def constant(self, value: Any) -> arb:
        return arb(value)

    def solve(self, rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
        try:
            return arb_mat(rows).solve(arb_mat([[value] for value in right])).entries()
        except ZeroDivisionError:
            return None


def _weights(core: CoreSystem, point: Box) -> Box | None:
    """The weights of one root of the core; None if the digits do not suffice."""
    exact = all(low == high for low, high in point)
    if exact:
        rational = core.back_substitute([fmpq(x.numerator, x.denominator) for x, _ in point])
        if rational is None:
            return None
        ends = [Fraction(int(w.p), int(w.q)) for w in rational]
        return tuple((x, x) for x in ends)
    weights = core.back_substitute([_ball(low, high) for low, high in point], _Balls())
    if weights is None or not all(w.is_finite() for w in weights):
        return None
    return tuple(ball_as_interval(w) for w in weights)


def outward(interval: Interval, digits: int) -> Interval:
    """The interval, rounded outward to this many digits; a point is returned unchanged."""
    low, high = interval
    if low == high:
        return interval
    unit = 10**digits
    return (
        Fraction(low.numerator * unit // low.denominator, unit),
        Fraction(-(-high.numerator * unit // high.denominator), unit),
    )
