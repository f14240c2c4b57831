"""Tapes in ball arithmetic of any precision: exact points, or enclosures.

Used for the certification of hard roots (`numeric.certification.krawczyk_balls`) and the end of
hard paths (`numeric.tracking.precise`).  Every instruction of `numeric.equations.lanes.tape` has a
ball arithmetic.  Numbers are balls of python-flint at the present precision: the results of a tape
contain those of all points of its inputs, factors and solutions included.  With `points` every
result is replaced by its midpoint, as in ordinary arithmetic of that many digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from flint import acb, acb_mat, arb

from numeric.equations.lanes.tape import (
    ADD,
    CLEAR,
    COPY,
    DOTS,
    EQUILIBRATE,
    FACTOR,
    LINE,
    PAIR_ADD,
    PAIR_DOTS,
    PAIR_FACTOR,
    PAIR_LINE,
    PAIR_SOLVE,
    SCALE,
    SET_ONE,
    SOLVE,
)
from numeric.equations.system import ParameterSystem

_ZERO = acb(0)
# A factor that is this object causes no multiplication.
ONE = acb(1)


class BallTape:
    """A tape, prepared for ball arithmetic.

    Rows of dot products with the same right factors are one product of matrices: python-flint
    computes a product of matrices several times as fast as the same sums of balls.

    Parameters
    ----------
    table : ndarray of int, shape (instructions, 11)
    """

    def __init__(self, table: np.ndarray) -> None:
        self._steps: list[tuple[Any, ...]] = []
        rows = table.tolist()
        at = 0
        while at < len(rows):
            op, c, c_step, a, a_stride, b, b_step, b_stride, count, dots, a_step = rows[at]
            at += 1
            if op not in (DOTS, PAIR_DOTS):
                self._steps.append((op, c, a, b, count))
                continue
            if a_step:
                # Dot products without common factors.
                for k in range(dots):
                    left, right = a + k * a_step, b + k * b_step
                    self._steps.append((
                        DOTS, [c + k * c_step],
                        _getter([left + q * a_stride for q in range(count)]),
                        _getter([right + q * b_stride for q in range(count)]), (1, count, 1),
                    ))  # fmt: skip
                continue
            first, lefts = [c], [a]
            while at < len(rows) and self._continues(rows[at - 1], rows[at], first, lefts):
                first.append(rows[at][1])
                lefts.append(rows[at][3])
                at += 1
            self._steps.append((
                DOTS, [to + k * c_step for to in first for k in range(dots)],
                _getter([left + q * a_stride for left in lefts for q in range(count)]),
                _getter([b + k * b_step + q * b_stride for q in range(count) for k in range(dots)]),
                (len(first), count, dots),
            ))  # fmt: skip

    @staticmethod
    def _continues(last: list[int], row: list[int], first: list[int], lefts: list[int]) -> bool:
        """Whether a row of dot products has the same right factors, none of which it changes."""
        _, c, c_step, a, *same, dots, a_step = row
        if a_step or [row[0], c_step, *same, dots, 0] != [last[0], last[2], *last[4:]]:
            return False
        b, b_step, b_stride, count = same[1:]
        written = {to + k * c_step for to in first for k in range(dots)}
        mine = {c + k * c_step for k in range(dots)}
        read = {b + k * b_step + q * b_stride for k in range(dots) for q in range(count)}
        left = {a + q * same[0] for q in range(count)}
        return not (written & (mine | read | left))

    def run(
        self, x: list[acb], *, t: arb | None = None, solvers: dict[int, _Solver] | None = None,
        points: bool = False,
    ) -> None:  # fmt: skip
        """Run the tape.

        Parameters
        ----------
        x : list of acb
            One ball for each slot.  Pairs of doubles are single balls, in the slot of the high
            part.
        t : arb, optional
            Place on the line of parameters, for tapes that contain one.
        solvers : dict of int to _Solver, optional
            Matrices by their slot: `FACTOR` adds to it and `SOLVE` takes from it.
        points : bool, optional
            Whether results are rounded to points.

        Raises
        ------
        ZeroDivisionError
            If a matrix is singular, or contains a singular one.
        """
        solvers = {} if solvers is None else solvers
        for op, c, a, b, count in self._steps:
            if op == DOTS:
                rows, inner, columns = count
                found = acb_mat(rows, inner, a(x)) * acb_mat(inner, columns, b(x))
                values = (found.mid() if points else found).entries()
                if points:
                    for to, value in zip(c, values, strict=True):
                        x[to] = value if x[to] is _ZERO else (x[to] + value).mid()
                else:
                    for to, value in zip(c, values, strict=True):
                        x[to] += value
            elif op == COPY:
                x[c : c + count] = x[a : a + count]
            elif op in (ADD, PAIR_ADD):
                for k in range(count):
                    total = x[c + k] - x[a + k] if op == ADD and b < 0 else x[c + k] + x[a + k]
                    x[c + k] = total.mid() if points else total
            elif op in (CLEAR, SET_ONE):
                x[c : c + count] = [ONE if op == SET_ONE else _ZERO] * count
            elif op in (LINE, PAIR_LINE):
                for k in range(count):
                    total = x[a + k] + x[b + k] * t
                    x[c + k] = total.mid() if points else total
            elif op == SCALE:
                for k in range(count):
                    if x[a + k] is not ONE:
                        total = x[c + k] * x[a + k].real
                        x[c + k] = total.mid() if points else total
            elif op == EQUILIBRATE:
                # Rows are not scaled: the precision is high enough.
                x[b] = ONE
                for k in range(count):
                    if x[a + k] is not ONE:
                        x[c + k] *= x[a + k].real
            elif op in (FACTOR, PAIR_FACTOR):
                matrix = acb_mat(count, count, x[c : c + count * count])
                solvers[c] = _Solver(matrix, points)
            elif op in (SOLVE, PAIR_SOLVE):
                found = solvers[a].solve(acb_mat(count, 1, x[c : c + count]))
                x[c : c + count] = (found.mid() if points else found).entries()
            else:
                raise ValueError(f"operation {op} has no ball arithmetic")


class _Solver:
    """Solves with one matrix: the first time by elimination, then with its inverse."""

    def __init__(self, matrix: acb_mat, points: bool) -> None:
        self._matrix = matrix.mid() if points else matrix
        self._points = points
        self._inverse: acb_mat | None = None
        self._used = 0

    def solve(self, right: acb_mat) -> acb_mat:
        self._used += 1
        if self._used == 1:
            return self._matrix.solve(right)
        if self._inverse is None:
            inverse = self._matrix.inv()
            self._inverse = inverse.mid() if self._points else inverse
        return self._inverse * right


def _getter(places: list[int]) -> Callable[[list[acb]], Sequence[acb]]:
    """The entries of a list at several places, as a sequence."""
    if len(places) == 1:
        [place] = places
        return lambda x: (x[place],)
    return itemgetter(*places)


class BallSystem:
    """Equations of a system in its weights, at one parameter vector.

    They are computed as in floating point, by products of arrays whose entries are balls.

    Parameters
    ----------
    of : ParameterSystem
    vector : sequence of acb
        The parameter vector, in the layout of `ParameterSystem.raw`.
    """

    def __init__(self, of: ParameterSystem, vector: Sequence[acb]) -> None:
        self._of, self._vector = of, np.array(vector, object)

    def evaluate(self, w: Sequence[acb]) -> tuple[acb_mat, acb_mat]:
        """Residuals ``D Z - Y`` (r×1) and Jacobian (r×r) at w, a point or a polydisc."""
        F, J = self._of.residuals(self._vector, np.array(w, object)[None])
        r = len(w)
        return acb_mat(r, 1, F[0].tolist()), acb_mat(r, r, J[0].ravel().tolist())
