"""A condensed simplex tableau that guards against its own rounding, compiled.

Only non-basic columns are kept.  Before a pivot that is small the tableau is computed afresh
from the equations, and a row that shows infeasibility is, too: without that, pivots on what
should be 0 make bases singular within some dozens of steps.  Ratios follow Harris (1973).
"""

from __future__ import annotations

import numba
import numpy as np

# How a search over such programs ended.
NO_MATCH, CANDIDATE, LIMIT = 0, 1, 2

FEASIBLE = 1e-9
# Entries, as a share of the largest in their row, that may be pivots, that may be rounding.
PIVOT = 1e-6
NOISE = 1e-9
# The tableau is computed afresh before a pivot of this size, and after so many pivots.
SMALL = 1e-4
OLD = 150
# How far a reduced cost may fall below 0.
HARRIS = 1e-9


@numba.njit(cache=True)
def pivot(T, beta, cost, basic, other, width, r, j):
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


@numba.njit(cache=True)
def drop(T, cost, other, width, j):
    """Column j goes; the last takes its place."""
    last = width - 1
    if j != last:
        for i in range(T.shape[0]):
            T[i, j] = T[i, last]
        cost[j] = cost[last]
        other[j] = other[last]
    return last


@numba.njit(cache=True)
def _solve(B, right):
    """Solution of B y = right by elimination with partial pivoting; False where singular."""
    rows = len(right)
    for c in range(rows):
        best = c
        for i in range(c + 1, rows):
            if abs(B[i, c]) > abs(B[best, c]):
                best = i
        if abs(B[best, c]) < 1e-13:
            return False
        if best != c:
            for x in range(c, rows):
                B[c, x], B[best, x] = B[best, x], B[c, x]
            right[c], right[best] = right[best], right[c]
        for i in range(c + 1, rows):
            f = B[i, c] / B[c, c]
            if f != 0.0:
                for x in range(c, rows):
                    B[i, x] -= f * B[c, x]
                right[i] -= f * right[c]
    for c in range(rows - 1, -1, -1):
        for x in range(c + 1, rows):
            right[c] -= B[c, x] * right[x]
        right[c] /= B[c, c]
    return True


@numba.njit(cache=True)
def _fresh_row(A, b, T, beta, basic, other, width, r):
    """Row r from the equations themselves, what is surely rounding set to 0."""
    rows = len(basic)
    B = np.empty((rows, rows))
    y = np.zeros(rows)
    y[r] = 1.0
    for i in range(rows):
        B[i] = A[:, basic[i]]
    if not _solve(B, y):
        return False
    beta[r] = 0.0
    for x in range(rows):
        beta[r] += y[x] * b[x]
    for c in range(width):
        value, size = 0.0, 0.0
        for x in range(rows):
            term = y[x] * A[x, other[c]]
            value += term
            size += abs(term)
        T[r, c] = value if abs(value) > 1e-12 * size else 0.0
    return True


@numba.njit(cache=True)
def refresh(A, b, T, beta, cost, basic, other, width, weights):
    """The whole tableau from the equations themselves; False where the basis is singular."""
    rows = len(basic)
    B = np.empty((rows, rows + width + 1))
    for c in range(rows):
        B[:, c] = A[:, basic[c]]
    for c in range(width):
        B[:, rows + c] = A[:, other[c]]
    B[:, rows + width] = b
    for c in range(rows):
        best = c
        for i in range(c + 1, rows):
            if abs(B[i, c]) > abs(B[best, c]):
                best = i
        if abs(B[best, c]) < 1e-12:
            return False
        if best != c:
            for x in range(c, rows + width + 1):
                B[c, x], B[best, x] = B[best, x], B[c, x]
        p = 1.0 / B[c, c]
        for x in range(c, rows + width + 1):
            B[c, x] *= p
        for i in range(rows):
            f = B[i, c]
            if i != c and f != 0.0:
                for x in range(c, rows + width + 1):
                    B[i, x] -= f * B[c, x]
    for i in range(rows):
        for c in range(width):
            T[i, c] = B[i, rows + c]
        beta[i] = B[i, rows + width]
    for c in range(width):
        cost[c] = weights[other[c]]
        for i in range(rows):
            cost[c] -= weights[basic[i]] * T[i, c]
    return True


@numba.njit(cache=True)
def _entering(T, cost, width, r, sign):
    """Column that enters for row r, its entry, and whether entries too small to enter are left.

    Harris' test: among the columns that hurt no reduced cost by more than a tolerance, the one
    with the largest entry.
    """
    largest = 1.0
    for k in range(width):
        largest = max(largest, abs(T[r, k]))
    bound, doubt, pivot, noise = np.inf, False, PIVOT * largest, NOISE * largest
    for k in range(width):
        a = sign * T[r, k]
        if a > pivot:
            bound = min(bound, (max(cost[k], 0.0) + HARRIS) / a)
        elif a > noise:
            doubt = True
    j, entry = -1, 0.0
    for k in range(width):
        a = sign * T[r, k]
        if a > pivot and a > entry and max(cost[k], 0.0) <= bound * a:
            j, entry = k, a
    return j, entry, doubt


@numba.njit(cache=True)
def dual_simplex(A, b, T, beta, cost, basic, other, width, gone, weights, age, limit):
    """Make a dual feasible tableau primal feasible.

    `age` counts pivots since the tableau was last computed afresh.

    Returns (feasible, doubtful, width, age).
    """
    rows = T.shape[0]
    for _ in range(limit):
        if age > OLD:
            if not refresh(A, b, T, beta, cost, basic, other, width, weights):
                return False, True, width, age
            age = 0
        r, worst = -1, FEASIBLE
        for i in range(rows):
            size = -beta[i]
            if gone[basic[i]]:
                size = abs(beta[i])
            if size > worst:
                worst, r = size, i
        if r < 0:
            return True, False, width, age
        sign = 1.0 if beta[r] > 0 else -1.0
        j, entry, doubt = _entering(T, cost, width, r, sign)
        if j < 0:
            # Nothing can enter: the row refutes, if it is what the tableau says.
            if not _fresh_row(A, b, T, beta, basic, other, width, r):
                return False, True, width, age
            if not (beta[r] < -FEASIBLE or (gone[basic[r]] and beta[r] > FEASIBLE)):
                continue
            sign = 1.0 if beta[r] > 0 else -1.0
            j, entry, doubt = _entering(T, cost, width, r, sign)
            if j < 0:
                return False, doubt or abs(beta[r]) < 1e-7, width, age
        if entry < SMALL and age > 0:
            # Rounding must not choose such a pivot.
            age = OLD + 1
            continue
        leaving = basic[r]
        pivot(T, beta, cost, basic, other, width, r, j)
        age += 1
        if gone[leaving]:
            width = drop(T, cost, other, width, j)
    return False, True, width, age


@numba.njit(cache=True)
def primal_simplex(T, beta, cost, basic, other, width, limit):
    """Lower the cost of a feasible tableau."""
    rows = T.shape[0]
    for _ in range(limit):
        j = -1
        least = -1e-9
        for k in range(width):
            if cost[k] < least:
                least, j = cost[k], k
        if j < 0:
            return
        r, ratio, entry = -1, np.inf, 0.0
        for i in range(rows):
            a = T[i, j]
            if a > 1e-6:
                value = max(beta[i], 0.0) / a
                if value < ratio - 1e-13 or (value <= ratio + 1e-13 and a > entry):
                    r, ratio, entry = i, value, a
        if r < 0:
            return
        pivot(T, beta, cost, basic, other, width, r, j)
