"""Branch and bound on complementarity, compiled: dual simplex warm-started down the tree.

A node fixes u = 0 or v = 0 for some pairs; its linear program minimizes Σ (u + v), which
favours u·v = 0.  Fixing only tightens bounds, so a parent's basis stays dual feasible
and a few dual simplex steps solve a child.  Tableaux are condensed (non-basic columns only)
and copied on the way down, which also limits the growth of rounding errors.
"""

from __future__ import annotations

import numpy as np

from numeric.kernels import njit
from numeric.plugins.relu.simplex import (
    CANDIDATE,
    FEASIBLE,
    LIMIT,
    NO_MATCH,
    NONE_YET,
    copy_matrix,
    copy_vector,
    pivot,
    primal_simplex,
)

# Least size of a pivot; size, relative to the largest of the row, of entries that may be rounding.
PIVOT = 1e-7
NOISE = 1e-10


@njit()
def start_tableau(A, b):
    """Condensed tableau of A z = b by Gauss–Jordan elimination with full pivoting.

    Returns (T, beta, basic, other, rest): `rest` is the largest right-hand side of a row
    that became 0 = rest.
    """
    A = A.copy()
    b = b.copy()
    rows, columns = A.shape
    pivot_of = np.full(rows, -1)
    used = np.zeros(columns, np.bool_)
    done = np.zeros(rows, np.bool_)
    rank = 0
    for _ in range(min(rows, columns)):
        best, br, bj = 1e-10, -1, -1
        for i in range(rows):
            if not done[i]:
                for k in range(columns):
                    if not used[k] and abs(A[i, k]) > best:
                        best, br, bj = abs(A[i, k]), i, k
        if br < 0:
            break
        done[br] = used[bj] = True
        pivot_of[br] = bj
        rank += 1
        p = A[br, bj]
        for k in range(columns):
            A[br, k] /= p
        b[br] /= p
        for i in range(rows):
            if i != br and A[i, bj] != 0.0:
                f = A[i, bj]
                for k in range(columns):
                    A[i, k] -= f * A[br, k]
                b[i] -= f * b[br]
    T = np.empty((rank, columns - rank))
    beta = np.empty(rank)
    basic = np.empty(rank, np.int64)
    other = np.empty(columns - rank, np.int64)
    t = 0
    for k in range(columns):
        if not used[k]:
            other[t] = k
            t += 1
    rest, t = 0.0, 0
    for i in range(rows):
        if pivot_of[i] < 0:
            rest = max(rest, abs(b[i]))
            continue
        basic[t] = pivot_of[i]
        beta[t] = b[i]
        for k in range(columns - rank):
            T[t, k] = A[i, other[k]]
        t += 1
    return T, beta, basic, other, rest


@njit()
def _noise(T, r):
    """Entries of row r up to this size may be rounding."""
    largest = 1.0
    for k in range(T.shape[1]):
        largest = max(largest, abs(T[r, k]))
    return min(NOISE * largest, PIVOT)


@njit()
def _dual_simplex(T, beta, cost, basic, other, fixed, limit):
    """Dual simplex steps at a node.

    Returns (state, row, doubt): state 0 feasible, 1 infeasible, 2 step limit reached; the row that
    shows infeasibility, or −1; doubt is 1 if rounding may have caused that.
    """
    rows, columns = T.shape
    for _ in range(limit):
        r, worst = NONE_YET, FEASIBLE
        for i in range(rows):
            size = -beta[i]
            if fixed[basic[i]]:
                size = abs(beta[i])
            if size > worst:
                worst, r = size, i
        if r < 0:
            return 0, -1, 0
        sign = 1.0 if beta[r] > 0 else -1.0
        j, ratio, entry, doubt = NONE_YET, np.inf, 0.0, 0
        noise = _noise(T, r)
        for k in range(columns):
            if fixed[other[k]]:
                continue
            a = sign * T[r, k]
            if a > PIVOT:
                value = max(cost[k], 0.0) / a
                if value < ratio - 1e-12 or (value <= ratio + 1e-12 and a > entry):
                    j, ratio, entry = k, min(value, ratio), a
            elif a > noise:
                doubt = 1
        if j < 0:
            if not doubt and worst >= 1e-7:
                return 1, r, 0
            # Another row may refute with certainty.
            for i in range(rows):
                clean = beta[i] < -1e-7 or (fixed[basic[i]] and beta[i] > 1e-7)
                side = 1.0 if beta[i] > 0 else -1.0
                noise = _noise(T, i)
                for k in range(columns):
                    if not clean:
                        break
                    if not fixed[other[k]] and side * T[i, k] > noise:
                        clean = False
                if clean:
                    return 1, i, 0
            return 1, r, 1
        pivot(T, beta, cost, basic, other, columns, r, j)
    return 2, -1, 1


@njit()
def _increase(T, cost, other, fixed, r, value):
    """First dual step when basic unknown r is driven to 0; inf if no column can enter."""
    ratio = np.inf
    for k in range(T.shape[1]):
        a = T[r, k]
        if a > PIVOT and not fixed[other[k]]:
            q = max(cost[k], 0.0) / a
            if q < ratio:
                ratio = q
    return ratio * value


@njit()
def solve_root(T, beta, cost, basic, other, weights, fixed):
    """Make a tableau feasible, at first as if basic unknowns cost nothing, then optimal.

    Returns (state, row, doubt) of the dual simplex; `cost` has the reduced costs.
    """
    rows, columns = T.shape
    steps = 50 * (rows + columns) + 1000
    for k in range(columns):
        cost[k] = weights[other[k]]
    state, row, doubt = _dual_simplex(T, beta, cost, basic, other, fixed, steps)
    if state == 0:
        for k in range(columns):
            cost[k] = weights[other[k]]
            for i in range(rows):
                cost[k] -= weights[basic[i]] * T[i, k]
        primal_simplex(T, beta, cost, basic, other, columns, steps)
    return state, row, doubt


@njit(nogil=True)
def search_pairs(
    T0, beta0, basic0, other0, pairs, weights, most_nodes, every, keep, fixes, bases, rows_out
):
    """Depth-first search of the tree of fixings.

    Parameters
    ----------
    T0, beta0, basic0, other0
        From `start_tableau`; unknown t < pairs is u, t + pairs its v; further non-negative unknowns
        may follow (distances of weights from the ends of their intervals).
    pairs : int
    weights : float64[unknowns]
        Cost of each unknown, positive.
    most_nodes : int64[1]
        Another thread may lower it during the search, to end it.
    every : bool
        Whether all leaves are recorded, or only those that rounding leaves in doubt.
    keep : bool
        Whether a solution, or a program that did not finish, is recorded as a doubtful leaf and
        the search continues; otherwise the search ends.
    fixes, bases, rows_out : int8[L, pairs], int64[L, rows], int64[L]
        Output: for each recorded leaf, up to L, its fixings, its basis, and the number of the row
        that refutes it plus 1, with the sign of the refutation; 0 if there is none.

    Returns
    -------
    (status, nodes, leaves, doubtful, basic, beta)
    """
    rows, columns = T0.shape
    levels = pairs + 2
    T = np.empty((levels, rows, columns))
    beta = np.empty((levels, rows))
    cost = np.empty((levels, columns))
    basic = np.empty((levels, rows), np.int64)
    other = np.empty((levels, columns), np.int64)
    fixed = np.zeros((levels, len(weights)), np.bool_)
    second = np.full(levels, -1)
    where = np.full(len(weights), -1)
    copy_matrix(T0, T[0])
    copy_vector(beta0, beta[0])
    copy_vector(basic0, basic[0])
    copy_vector(other0, other[0])
    steps = 50 * (rows + columns) + 1000
    nodes, leaves, doubtful, depth = 1, 0, 0, 0
    state, row, doubt = solve_root(T[0], beta[0], cost[0], basic[0], other[0], weights, fixed[0])
    while True:
        if nodes > most_nodes[0] or (state == 2 and not keep):
            return LIMIT, nodes, leaves, doubtful + 1, basic[depth], beta[depth]
        pair = -1
        if state == 0:
            where[:] = -1
            for i in range(rows):
                where[basic[depth, i]] = i
            best, left, right = -1.0, 0.0, 0.0
            for t in range(pairs):
                a, c = where[t], where[t + pairs]
                if a < 0 or c < 0:
                    continue
                x, y = beta[depth, a], beta[depth, c]
                if x <= FEASIBLE or y <= FEASIBLE:
                    continue
                up = _increase(T[depth], cost[depth], other[depth], fixed[depth], a, x)
                down = _increase(T[depth], cost[depth], other[depth], fixed[depth], c, y)
                score = (min(up, 1e6) + 1e-6) * (min(down, 1e6) + 1e-6)
                if score > best:
                    best, pair, left, right = score, t, up, down
            if pair < 0 and not keep:
                return CANDIDATE, nodes, leaves, doubtful, basic[depth], beta[depth]
        if pair >= 0:
            first, then = pair, pair + pairs
            if left > right:
                first, then = then, first
            # The sibling is kept at this depth; the child is one deeper.
            second[depth] = then
            source, new = depth, first
            depth += 1
        else:
            if state != 1:
                row, doubt = -1, 1
            place = leaves if every else doubtful
            if (every or doubt) and place < len(rows_out):
                for t in range(pairs):
                    fixes[place, t] = 1 * fixed[depth, t] + 2 * fixed[depth, t + pairs]
                copy_vector(basic[depth], bases[place])
                rows_out[place] = (row + 1) if row < 0 or beta[depth, row] < 0 else -(row + 1)
            leaves += 1
            doubtful += doubt
            depth -= 1
            while depth >= 0 and second[depth] < 0:
                depth -= 1
            if depth < 0:
                return NO_MATCH, nodes, leaves, doubtful, basic[0], beta[0]
            source, new = depth, second[depth]
            second[depth] = -1
            depth += 1
        copy_matrix(T[source], T[depth])
        copy_vector(beta[source], beta[depth])
        copy_vector(cost[source], cost[depth])
        copy_vector(basic[source], basic[depth])
        copy_vector(other[source], other[depth])
        copy_vector(fixed[source], fixed[depth])
        fixed[depth, new] = True
        second[depth] = -1
        nodes += 1
        state, row, doubt = _dual_simplex(
            T[depth], beta[depth], cost[depth], basic[depth], other[depth], fixed[depth], steps
        )
