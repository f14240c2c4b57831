"""Branch and bound on activation cells, compiled: a dual simplex warm-started down the tree.

The unknowns are convex weights of the vertices and conic weights of the extreme rays of each
unit's arrangement (see `numeric.relu.hull`).  A node says for some pairs (unit, sample) on which
side of the sample's hyperplane the unit's weights lie; that removes columns and nothing else, so
a parent's basis stays dual feasible and a few dual simplex steps solve a child.  Tableaux are
condensed (non-basic columns only), shed the removed columns on the way down, and are copied for
each child.
"""

from __future__ import annotations

from typing import NamedTuple

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

# For a function that one place calls: part of its caller, not compiled by itself as well.
_ONCE = {"cache": True, "inline": "always"}


class Columns(NamedTuple):
    """The equations and what is known of their columns.

    Attributes
    ----------
    A, b : ndarray of float, shapes (rows, columns) and (rows,)
        The equations, of full row rank.
    weights : ndarray of float, shape (columns,)
        Cost of each column, positive.
    unit : ndarray of int, shape (columns,)
    signs : ndarray of int8, shape (columns, m)
        Side of each hyperplane on which the column lies; 0 on it.
    """

    A: np.ndarray
    b: np.ndarray
    weights: np.ndarray
    unit: np.ndarray
    signs: np.ndarray


class Tableau(NamedTuple):
    """A condensed tableau of the equations.

    Attributes
    ----------
    T : ndarray of float, shape (rows, w)
        Its w non-basic columns.
    beta : ndarray of float, shape (rows,)
        Values of the basic columns.
    basic, other : ndarray of int, shapes (rows,) and (w,)
        Numbers of the basic and of the other columns.
    """

    T: np.ndarray
    beta: np.ndarray
    basic: np.ndarray
    other: np.ndarray


class Path(NamedTuple):
    """The nodes from the root to the one in hand, one entry a depth.

    Attributes
    ----------
    T, beta, cost, basic, other : ndarray
        Tableaux as in `Tableau`, and reduced costs.
    width : ndarray of int
        Non-basic columns still there: they stand first.
    age : ndarray of int
        Pivots since the tableau was computed afresh.
    gone : ndarray of bool, shape (·, columns)
        Columns that the sides remove.
    sides : ndarray of int8, shape (·, k, m)
        1 inactive, 2 active, 0 either.
    waits : ndarray of int, shape (·, 3)
        The other child, as unit, sample and side; unit −1 where none waits.
    """

    T: np.ndarray
    beta: np.ndarray
    cost: np.ndarray
    basic: np.ndarray
    other: np.ndarray
    width: np.ndarray
    age: np.ndarray
    gone: np.ndarray
    sides: np.ndarray
    waits: np.ndarray


class Search(NamedTuple):
    """What is searched for.

    Attributes
    ----------
    most_nodes : int
    mode : int
        At a solution `STOP`, or `KEEP` it as a doubtful leaf, or `DIVIDE` down to single
        cells, which are recorded.
    every : bool
        Whether all leaves are recorded, or only cells and what rounding leaves in doubt.
    """

    most_nodes: int
    mode: int
    every: bool


class Leaves(NamedTuple):
    """Room for leaves: their sides, (L, k, m), and kinds (`REFUTED`, `DOUBTFUL`, `CELL`)."""

    sides: np.ndarray
    kinds: np.ndarray


def make_path(rows: int, columns: int, every: int, k: int, m: int) -> Path:
    """Room for a tree of k·m pairs; of `every` columns `columns` are not basic."""
    room = k * m + 2
    return Path(
        np.empty((room, rows, columns)), np.empty((room, rows)), np.empty((room, columns)),
        np.empty((room, rows), np.int64), np.empty((room, columns), np.int64),
        np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros((room, every), np.bool_),
        np.zeros((room, k, m), np.int8), np.full((room, 3), -1),
    )  # fmt: skip


@numba.njit(cache=True)
def _gain(path, depth, r):
    """Dual step where basic column r goes to 0, times its value; inf where nothing can enter."""
    T, cost = path.T[depth], path.cost[depth]
    ratio = np.inf
    for k in range(path.width[depth]):
        a = T[r, k]
        if a > PIVOT:
            q = max(cost[k], 0.0) / a
            if q < ratio:
                ratio = q
    return ratio * path.beta[depth, r]


@numba.njit(cache=True)
def _branch_pair(program, path, depth):
    """The pair (unit, sample) to branch on: largest product of the two estimated gains.

    Returns (unit, sample, side to try first), unit −1 where every unit lies in one cell.
    """
    unit, signs = program.unit, program.signs
    beta, basic, sides = path.beta[depth], path.basic[depth], path.sides[depth]
    k, m = sides.shape
    first = np.zeros((k, m))
    second = np.zeros((k, m))
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
                    gain = min(_gain(path, depth, i), 1e6)
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
def _remove(program, gone, i, s, side):
    """Mark the columns that are not on a side (1 inactive: h > 0 goes; 2 active)."""
    wrong = 1 if side == 1 else -1
    for t in range(len(program.unit)):
        if program.unit[t] == i and program.signs[t, s] == wrong:
            gone[t] = True


@numba.njit(cache=True)
def _solve(program, path, depth, costs, age):
    """Dual simplex steps at a node: whether it is feasible, whether rounding leaves a doubt."""
    rows, columns = path.T.shape[1:]
    feasible, doubt, path.width[depth], path.age[depth] = dual_simplex(
        program.A, program.b, path.T[depth], path.beta[depth], path.cost[depth],
        path.basic[depth], path.other[depth], path.width[depth], path.gone[depth], costs, age,
        50 * (rows + columns) + 1000,
    )  # fmt: skip
    return feasible, doubt


@numba.njit(cache=True)
def _refresh_root(program, path):
    path.age[0] = 0
    return refresh(
        program.A, program.b, path.T[0], path.beta[0], path.cost[0], path.basic[0],
        path.other[0], path.width[0], program.weights,
    )  # fmt: skip


@numba.njit(**_ONCE)
def _place_root(program, tableau, start, path):
    """The first tableau without the columns that the root's sides remove; costs of phase 1."""
    path.T[0], path.beta[0] = tableau.T, tableau.beta
    path.basic[0], path.other[0] = tableau.basic, tableau.other
    path.sides[0] = start
    path.gone[0] = False
    path.waits[0, 0] = -1
    for i in range(start.shape[0]):
        for s in range(start.shape[1]):
            if start[i, s] != 0:
                _remove(program, path.gone[0], i, s, start[i, s])
    # Costs of the first basis count as 0 until a basis is feasible.
    costs = program.weights.copy()
    for i in range(len(tableau.basic)):
        costs[tableau.basic[i]] = 0.0
    width = len(tableau.other)
    for c in range(width):
        path.cost[0, c] = costs[tableau.other[c]]
    for c in range(width - 1, -1, -1):
        if path.gone[0, path.other[0, c]]:
            width = drop(path.T[0], path.cost[0], path.other[0], width, c)
    path.width[0] = width
    return costs


@numba.njit(**_ONCE)
def _solve_root(program, path, costs):
    """The root at its optimum: feasible, in doubt, and whether a basis was found singular."""
    rows, columns = path.T.shape[1:]
    feasible, doubt = _solve(program, path, 0, costs, 0)
    lost = False
    if feasible:
        lost = not _refresh_root(program, path)
        if not lost:
            primal_simplex(
                path.T[0], path.beta[0], path.cost[0], path.basic[0], path.other[0],
                path.width[0], 50 * (rows + columns) + 1000,
            )  # fmt: skip
            lost = not _refresh_root(program, path)
    return feasible, doubt, lost


@numba.njit(**_ONCE)
def _copy_down(program, path, source, i, s, side):
    """The child on a side, one deeper: the tableau without the columns that go there."""
    depth = source + 1
    path.gone[depth] = path.gone[source]
    path.sides[depth] = path.sides[source]
    path.sides[depth, i, s] = side
    path.waits[depth, 0] = -1
    _remove(program, path.gone[depth], i, s, side)
    rows = path.T.shape[1]
    keep = np.empty(path.width[source], np.int64)
    w = 0
    for c in range(path.width[source]):
        if not path.gone[depth, path.other[source, c]]:
            keep[w] = c
            w += 1
    path.width[depth] = w
    for c in range(w):
        path.other[depth, c] = path.other[source, keep[c]]
        path.cost[depth, c] = path.cost[source, keep[c]]
    for x in range(rows):
        for c in range(w):
            path.T[depth, x, c] = path.T[source, x, keep[c]]
        path.beta[depth, x] = path.beta[source, x]
        path.basic[depth, x] = path.basic[source, x]


@numba.njit(**_ONCE)
def _climb(path, depth):
    """The depth above where a child waits, -1 where none does."""
    depth -= 1
    while depth >= 0 and path.waits[depth, 0] < 0:
        depth -= 1
    return depth


@numba.njit(cache=True)
def search(program, tableau, path, start, wanted, leaves):
    """Depth-first search of the tree of sides.

    Parameters
    ----------
    program : Columns
    tableau : Tableau
        Of the program's equations.
    path : Path
        Room (`make_path`).
    start : ndarray of int8, shape (k, m)
        Sides of the root.
    wanted : Search
    leaves : Leaves
        Out: leaves are recorded while there is room.

    Returns
    -------
    (status, nodes, leaves, recorded, basic, beta)
        `basic` and `beta` are the solution where the status is `CANDIDATE`.
    """
    costs = _place_root(program, tableau, start, path)
    nodes, ended, recorded, depth = 1, 0, 0, 0
    feasible, doubt, lost = _solve_root(program, path, costs)
    while True:
        if lost or nodes > wanted.most_nodes:
            return LIMIT, nodes, ended, recorded, path.basic[depth], path.beta[depth]
        kind = DOUBTFUL if doubt else REFUTED
        i, s, side = -1, -1, 1
        if feasible:
            i, s, side = _branch_pair(program, path, depth)
            if i < 0 and wanted.mode == STOP:
                return CANDIDATE, nodes, ended, recorded, path.basic[depth], path.beta[depth]
            if i < 0 and wanted.mode == DIVIDE:
                i, s = _open_pair(path.sides[depth])
            if i < 0:
                kind = CELL if wanted.mode == DIVIDE else DOUBTFUL
        if i >= 0:
            # The sibling waits at this depth; the child goes one deeper.
            path.waits[depth, 0], path.waits[depth, 1], path.waits[depth, 2] = i, s, 3 - side
        else:
            if wanted.every or kind != REFUTED:
                if recorded < len(leaves.kinds):
                    leaves.sides[recorded] = path.sides[depth]
                    leaves.kinds[recorded] = kind
                recorded += 1
            ended += 1
            depth = _climb(path, depth)
            if depth < 0:
                return NO_MATCH, nodes, ended, recorded, path.basic[0], path.beta[0]
            i, s, side = path.waits[depth, 0], path.waits[depth, 1], path.waits[depth, 2]
            path.waits[depth, 0] = -1
        _copy_down(program, path, depth, i, s, side)
        depth += 1
        nodes += 1
        feasible, doubt = _solve(program, path, depth, program.weights, path.age[depth - 1])
