"""Branch and bound on activation cells, compiled: a dual simplex warm-started down the tree.

The unknowns are convex weights of the vertices and conic weights of the extreme rays of each
unit's arrangement (see `numeric.relu.hull`).  A node says for some pairs (unit, sample) on which
side of the sample's hyperplane the unit's weights lie; that removes columns and nothing else, so
a parent's basis stays dual feasible and a few dual simplex steps solve a child.  Tableaux are
condensed (non-basic columns only), shed the removed columns on the way down, and are copied for
each child.
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.relu.simplex import (
    CANDIDATE,
    FEASIBLE,
    LIMIT,
    NO_MATCH,
    PIVOT,
    drop,
    dual_simplex,
    primal_simplex,
    refresh,
)

REFUTED, DOUBTFUL, CELL = 0, 1, 2
STOP, KEEP, DIVIDE = 0, 1, 2


@numba.njit(cache=True)
def _gain(T, cost, width, r, value):
    """Dual step where basic column r goes to 0; inf where nothing can enter."""
    ratio = np.inf
    for k in range(width):
        a = T[r, k]
        if a > PIVOT:
            q = max(cost[k], 0.0) / a
            if q < ratio:
                ratio = q
    return ratio * value


@numba.njit(cache=True)
def branch_pair(T, beta, cost, basic, width, unit, signs, sides, first, second):
    """The pair (unit, sample) to branch on: largest product of the two estimated gains.

    Returns (unit, sample, side to try first), unit −1 where every unit lies in one cell.
    """
    k, m = first.shape
    first[:] = 0.0
    second[:] = 0.0
    mixed = np.zeros((k, m), np.int8)
    for i in range(len(basic)):
        if beta[i] > FEASIBLE:
            t = basic[i]
            for s in range(m):
                if signs[t, s] > 0:
                    mixed[unit[t], s] |= 1
                elif signs[t, s] < 0:
                    mixed[unit[t], s] |= 2
    for i in range(len(basic)):
        if beta[i] <= FEASIBLE:
            continue
        t = basic[i]
        gain = -1.0
        for s in range(m):
            if mixed[unit[t], s] == 3 and signs[t, s] != 0:
                if gain < 0:
                    gain = min(_gain(T, cost, width, i, beta[i]), 1e6)
                if signs[t, s] > 0:
                    first[unit[t], s] += gain
                else:
                    second[unit[t], s] += gain
    best, bi, bs, side = -1.0, -1, -1, 1
    for i in range(k):
        for s in range(m):
            if mixed[i, s] == 3 and sides[i, s] == 0:
                # first: gain of removing the active side.
                score = (first[i, s] + 1e-6) * (second[i, s] + 1e-6)
                if score > best:
                    best, bi, bs = score, i, s
                    side = 1 if first[i, s] <= second[i, s] else 2
    return bi, bs, side


@numba.njit(cache=True)
def _open_pair(sides):
    """A pair (unit, sample) without a side, unit −1 where there is none."""
    for i in range(sides.shape[0]):
        for s in range(sides.shape[1]):
            if sides[i, s] == 0:
                return i, s
    return -1, -1


@numba.njit(cache=True)
def _remove(gone, unit, signs, i, s, side):
    """Mark the columns that are not on a side (1 inactive: h > 0 goes; 2 active)."""
    wrong = 1 if side == 1 else -1
    for t in range(len(unit)):
        if unit[t] == i and signs[t, s] == wrong:
            gone[t] = True


@numba.njit(cache=True)
def _child(T, beta, cost, basic, other, gone, width, source):
    """Copy a tableau one deeper, without the columns that are gone there."""
    depth = source + 1
    rows = T.shape[1]
    keep = np.empty(width[source], np.int64)
    w = 0
    for c in range(width[source]):
        if not gone[depth, other[source, c]]:
            keep[w] = c
            w += 1
    width[depth] = w
    for c in range(w):
        other[depth, c] = other[source, keep[c]]
        cost[depth, c] = cost[source, keep[c]]
    for x in range(rows):
        for c in range(w):
            T[depth, x, c] = T[source, x, keep[c]]
        beta[depth, x] = beta[source, x]
        basic[depth, x] = basic[source, x]


@numba.njit(cache=True)
def search(
    A,
    b,
    T0,
    beta0,
    basic0,
    other0,
    weights,
    unit,
    signs,
    start,
    most_nodes,
    mode,
    every,
    sides_out,
    kinds,
):
    """Depth-first search of the tree of sides.

    Parameters
    ----------
    A, b : float64[rows, columns], float64[rows]
        The equations, of full row rank.
    T0, beta0, basic0, other0
        Their condensed tableau.
    weights : float64[columns]
        Cost of each column, positive.
    unit : int64[columns]
    signs : int8[columns, m]
        Side of each hyperplane on which the column lies; 0 on it.
    start : int8[k, m]
        Sides of the root: 1 inactive, 2 active, 0 either.
    most_nodes : int
    mode : int
        At a solution `STOP`, or `KEEP` it as a doubtful leaf, or `DIVIDE` down to single
        cells, which are recorded.
    every : bool
        Whether all leaves are recorded, or only cells and what rounding leaves in doubt.
    sides_out, kinds : int8[L, k, m], int8[L]
        Leaves are recorded while there is room: their sides and
        kind (`REFUTED`, `DOUBTFUL`, `CELL`).

    Returns
    -------
    (status, nodes, leaves, recorded, basic, beta)
        `basic` and `beta` are the solution where the status is `CANDIDATE`.
    """
    rows, columns = T0.shape
    k, m = start.shape
    room = k * m + 2
    T = np.empty((room, rows, columns))
    beta = np.empty((room, rows))
    cost = np.empty((room, columns))
    basic = np.empty((room, rows), np.int64)
    other = np.empty((room, columns), np.int64)
    width = np.zeros(room, np.int64)
    age = np.zeros(room, np.int64)
    gone = np.zeros((room, len(unit)), np.bool_)
    sides = np.zeros((room, k, m), np.int8)
    waits = np.full((room, 3), -1)
    first = np.empty((k, m))
    second = np.empty((k, m))
    T[0], beta[0], basic[0], other[0] = T0, beta0, basic0, other0
    width[0] = columns
    sides[0] = start
    for i in range(k):
        for s in range(m):
            if start[i, s] != 0:
                _remove(gone[0], unit, signs, i, s, start[i, s])
    steps = 50 * (rows + columns) + 1000
    # Costs of the first basis count as 0 until a basis is feasible.
    phase = weights.copy()
    for i in range(rows):
        phase[basic0[i]] = 0.0
    for c in range(columns):
        cost[0, c] = phase[other0[c]]
    for c in range(columns - 1, -1, -1):
        if gone[0, other[0, c]]:
            width[0] = drop(T[0], cost[0], other[0], width[0], c)
    nodes, leaves, recorded, depth = 1, 0, 0, 0
    feasible, doubt, width[0], _ = dual_simplex(
        A, b, T[0], beta[0], cost[0], basic[0], other[0], width[0], gone[0], phase, 0, steps
    )
    if feasible:
        if not refresh(A, b, T[0], beta[0], cost[0], basic[0], other[0], width[0], weights):
            return LIMIT, nodes, leaves, recorded, basic[0], beta[0]
        primal_simplex(T[0], beta[0], cost[0], basic[0], other[0], width[0], steps)
        if not refresh(A, b, T[0], beta[0], cost[0], basic[0], other[0], width[0], weights):
            return LIMIT, nodes, leaves, recorded, basic[0], beta[0]
    while True:
        if nodes > most_nodes:
            return LIMIT, nodes, leaves, recorded, basic[depth], beta[depth]
        kind = DOUBTFUL if doubt else REFUTED
        i, s, side = -1, -1, 1
        if feasible:
            i, s, side = branch_pair(
                T[depth],
                beta[depth],
                cost[depth],
                basic[depth],
                width[depth],
                unit,
                signs,
                sides[depth],
                first,
                second,
            )
            if i < 0 and mode == STOP:
                return CANDIDATE, nodes, leaves, recorded, basic[depth], beta[depth]
            if i < 0 and mode == DIVIDE:
                i, s = _open_pair(sides[depth])
            if i < 0:
                kind = CELL if mode == DIVIDE else DOUBTFUL
        if i >= 0:
            # The sibling waits at this depth; the child goes one deeper.
            waits[depth, 0], waits[depth, 1], waits[depth, 2] = i, s, 3 - side
            source = depth
        else:
            if every or kind != REFUTED:
                if recorded < len(kinds):
                    sides_out[recorded] = sides[depth]
                    kinds[recorded] = kind
                recorded += 1
            leaves += 1
            depth -= 1
            while depth >= 0 and waits[depth, 0] < 0:
                depth -= 1
            if depth < 0:
                return NO_MATCH, nodes, leaves, recorded, basic[0], beta[0]
            source = depth
            i, s, side = waits[depth, 0], waits[depth, 1], waits[depth, 2]
            waits[depth, 0] = -1
        depth = source + 1
        gone[depth] = gone[source]
        sides[depth] = sides[source]
        sides[depth, i, s] = side
        _remove(gone[depth], unit, signs, i, s, side)
        _child(T, beta, cost, basic, other, gone, width, source)
        waits[depth, 0] = -1
        nodes += 1
        feasible, doubt, width[depth], age[depth] = dual_simplex(
            A,
            b,
            T[depth],
            beta[depth],
            cost[depth],
            basic[depth],
            other[depth],
            width[depth],
            gone[depth],
            weights,
            age[source],
            steps,
        )
