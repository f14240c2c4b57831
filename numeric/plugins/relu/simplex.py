"""A condensed simplex tableau, compiled: pivots, and the primal simplex.

Only non-basic columns are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numeric.kernels import njit

# Status of a search over such programs.
NO_MATCH, CANDIDATE, LIMIT = 0, 1, 2
# What it does at a solution: see `numeric.plugins.relu.tree.PatternTree.search`.
STOP, KEEP, DIVIDE = 0, 1, 2

FEASIBLE = 1e-9
# No index yet.  Typed, because numba compiles functions once more for a variable that begins as a
# literal.
NONE_YET: Any = np.int64(-1)


@njit()
def copy_vector(source, target):
    """Copy entry by entry: an array assignment to a slice costs numba two seconds of compilation.

    For the error message about different shapes it compiles a large part of its string functions,
    again for each kernel.
    """
    for k in range(len(source)):
        target[k] = source[k]


@njit()
def copy_matrix(source, target):
    """Copy the entries of a matrix to another."""
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]


@njit()
def pivot(T, beta, cost, basic, other, width, r, j):
    """Exchange the basic unknown of row r and the non-basic unknown of column j."""
    rows = T.shape[0]
    p = 1.0 / T[r, j]
    for k in range(width):
        T[r, k] *= p
    T[r, j] = p
    beta[r] *= p
    for i in range(rows):
        f = T[i, j]
        if i != r and f != 0.0:
            for k in range(width):
                T[i, k] -= f * T[r, k]
            T[i, j] = -f * p
            beta[i] -= f * beta[r]
    f = cost[j]
    for k in range(width):
        cost[k] -= f * T[r, k]
    cost[j] = -f * p
    basic[r], other[j] = other[j], basic[r]


@njit()
def primal_simplex(T, beta, cost, basic, other, width, limit):
    """Minimize the cost from a feasible tableau."""
    rows = T.shape[0]
    for _ in range(limit):
        j, least = NONE_YET, -1e-9
        for k in range(width):
            if cost[k] < least:
                least, j = cost[k], k
        if j < 0:
            return
        r, ratio, entry = NONE_YET, np.inf, 0.0
        for i in range(rows):
            a = T[i, j]
            if a > 1e-6:
                value = max(beta[i], 0.0) / a
                if value < ratio - 1e-13 or (value <= ratio + 1e-13 and a > entry):
                    r, ratio, entry = i, value, a
        if r < 0:
            return
        pivot(T, beta, cost, basic, other, width, r, j)
