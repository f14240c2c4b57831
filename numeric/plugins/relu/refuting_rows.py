"""Rows that refuted leaves, tried on other nodes: bounds shared across the tree, compiled.

A row y·A x = y·b of any tableau holds at every node.  By the units' convexity rows it refutes a
node if no ray that the node allows has a positive entry and

    Σ_units max (y·A_j / one_j) b_unit < y·b,

with the maxima over the vertices that the node allows (see `numeric.plugins.relu.hull_simplex`).
So the y that refuted one leaf may refute the next without a simplex step.  And if all columns that
prevent this (rays and vertices of one unit) lie on one side of a hyperplane, y refutes the *other*
side: the pair is decided without a branch.  A learnt clause with one open literal has the same
effect in a satisfiability solver (Marques-Silva and Sakallah 1999, *GRASP*), as have cutting planes
from infeasible nodes in integer programming (Achterberg 2007, *Conflict analysis in mixed integer
programming*; Witzig, Berthold, Heinz 2017 for the dual rays themselves, propagated as constraints).

The number of rows is fixed; a new row replaces the least recently useful one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.kernels import njit
from numeric.plugins.relu.hull_simplex import FAR, GAP, NOISE, FloatHullProgram

NOTHING, NODE, SIDE = 0, 1, 2
# Number of samples in the bits of a mask; pairs of later samples are not considered.
_BITS = 62
_ROWS = 16


class RefutingRows(NamedTuple):
    """Rows that refuted leaves.

    Attributes
    ----------
    most : ndarray of float, shape (N, C)
        Contribution to y·A x of a unit whose weight is all in one vertex; 1 for rays with a
        positive entry, −1 for other rays.
    values : ndarray of float, shape (N, 2)
        y·b, and the gap that rounding requires.
    used : ndarray of int, shape (N,)
        The time at which a row was last useful.
    clock : ndarray of int, shape (2,)
        The current time, and the number of rows.
    positive, negative : ndarray of int, shape (C,)
        Bits of the samples on whose positive (negative) side a column lies.
    """

    most: np.ndarray
    values: np.ndarray
    used: np.ndarray
    clock: np.ndarray
    positive: np.ndarray
    negative: np.ndarray


def no_rows(program: FloatHullProgram) -> RefutingRows:
    """Empty arrays for rows of a program."""
    bits = 1 << np.arange(min(program.signs.shape[1], _BITS))
    signs = program.signs[:, :_BITS]
    return RefutingRows(
        np.zeros((_ROWS, len(signs))), np.zeros((_ROWS, 2)), np.zeros(_ROWS, np.int64),
        np.zeros(2, np.int64), (signs > 0) @ bits, (signs < 0) @ bits,
    )  # fmt: skip


@njit()
def _touch(known, t):
    known.clock[0] += 1
    known.used[t] = known.clock[0]


@njit()
def keep_row(program, basis, r, buffers, known):
    """Keep the r-th row of a basis, which has refuted; `buffers.row` holds it."""
    t = known.clock[1]
    if t < len(known.used):
        known.clock[1] += 1
    else:
        t = np.argmin(known.used)
    _touch(known, t)
    sign = 1.0 if basis.beta[r] > 0 else -1.0
    y = basis.inverse[r]
    value, largest = 0.0, 0.0
    for x in range(len(y)):
        value += y[x] * program.b[x]
        largest = max(largest, abs(y[x]))
    unclear = 0.0
    most = known.most[t]
    for j in range(len(most)):
        a = sign * buffers.row[j]
        if program.one[j] > 0.0:
            most[j] = a / program.one[j] * program.total[program.unit[j]]
        else:
            rises = a > NOISE * largest
            most[j] = 1.0 if rises else -1.0
            if a > 0.0 and not rises:
                unclear += a
    known.values[t, 0] = sign * value
    known.values[t, 1] = GAP * largest + FAR * unclear


@njit()
def _one_side(program, known, gone, sides, most, i, threshold):
    """A non-empty side (sample, side) of unit i without offending columns, or (−1, 0).

    The offending columns are rays with a positive entry and vertices with at least `threshold`.
    """
    positive, negative, others = ~0, ~0, False
    low, high = program.first[i], program.first[i + 1]
    for j in range(low, high):
        if gone[j]:
            continue
        if program.one[j] > 0.0:
            if most[j] < threshold:
                others = True
                continue
        elif most[j] <= 0.0:
            continue
        positive &= known.positive[j]
        negative &= known.negative[j]
        if positive == 0 and negative == 0:
            return -1, 0
    if not others:
        return -1, 0
    for s in range(min(sides.shape[1], _BITS)):
        # All offending columns lie on one side: the other one is refuted.
        side = 1 if (positive >> s) & 1 else 2 if (negative >> s) & 1 else 0
        if side == 0 or sides[i, s] != 0:
            continue
        wrong = 1 if side == 1 else -1
        for j in range(low, high):
            if not gone[j] and program.one[j] > 0.0 and program.signs[j, s] != wrong:
                return s, side
    return -1, 0


@njit()
def find_refutation(program, known, gone, sides):
    """A refutation by some row: (NODE, …), (SIDE, unit, sample, side), or (NOTHING, …).

    Parameters
    ----------
    program : FloatHullProgram
    known : RefutingRows
    gone : ndarray of bool, shape (C,)
        Columns that the node removes.
    sides : ndarray of int8, shape (k, m)
        Sides of the node.
    """
    k = len(program.total)
    best = np.empty(k)
    for t in range(known.clock[1]):
        most = known.most[t]
        total, rays, where = 0.0, 0, -1
        for i in range(k):
            largest, rises = -np.inf, False
            for j in range(program.first[i], program.first[i + 1]):
                if gone[j]:
                    continue
                if program.one[j] > 0.0:
                    largest = max(largest, most[j])
                elif most[j] > 0.0:
                    rises = True
            best[i] = largest
            total += largest
            if rises:
                rays += 1
                where = i
                if rays > 1:
                    break
        if rays > 1:
            continue
        need = total - known.values[t, 0] + known.values[t, 1]
        if rays == 0 and need < 0.0:
            _touch(known, t)
            return NODE, 0, 0, 0
        for i in range(k):
            if rays == 0 or i == where:
                s, side = _one_side(program, known, gone, sides, most, i, best[i] - need)
                if s >= 0:
                    _touch(known, t)
                    return SIDE, i, s, side
    return NOTHING, 0, 0, 0
