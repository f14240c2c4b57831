"""Branch and bound on activation cells, compiled: a dual simplex warm-started down the tree.

The unknowns are convex weights of the vertices and conic weights of the extreme rays of each
unit's arrangement (see `numeric.plugins.relu.hull`).  A node fixes for some pairs (unit, sample)
on which side of the sample's hyperplane the unit's weights lie.  This only removes columns, so a
parent's basis stays dual feasible and a few dual simplex steps
(`numeric.plugins.relu.hull_simplex`) solve a child.  A child copies the inverse of the basis and
the reduced costs.

Before its program is solved, the rows that refuted other leaves are tried on a child
(`numeric.plugins.relu.refuting_rows`): some refute it, others refute one side of a pair, which
becomes a leaf, and the child continues with the other side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numeric.kernels import njit
from numeric.plugins.relu.hull_simplex import DOUBTFUL as _IN_DOUBT
from numeric.plugins.relu.hull_simplex import (
    OPTIMAL,
    PIVOT,
    Basis,
    dual_simplex,
    invert,
    times_columns,
)
from numeric.plugins.relu.refuting_rows import NODE, SIDE, find_refutation, keep_row
from numeric.plugins.relu.simplex import (
    CANDIDATE,
    DIVIDE,
    FEASIBLE,
    LIMIT,
    NO_MATCH,
    STOP,
    copy_matrix,
    copy_vector,
)

REFUTED, DOUBTFUL = 0, 1

# Pairs whose gains are estimated at a node.
_CANDIDATES = 4
# For a function with a single caller: it is inlined and not compiled on its own.
_ONCE = {"inline": "always"}


class Path(NamedTuple):
    """The nodes from the root to the current one, one entry per depth.

    Attributes
    ----------
    inverse, beta, basic, reduced, gone, entered : ndarray
        Of each node's basis: see `numeric.plugins.relu.hull_simplex.Basis`.
    age : ndarray of int
        Pivots since the inverse was last computed from scratch.
    sides : ndarray of int8, shape (·, k, m)
        1 inactive, 2 active, 0 either.
    pending : ndarray of int, shape (·, 3)
        The child that is not visited yet, as unit, sample and side; unit −1 if there is none.
    """

    inverse: np.ndarray
    beta: np.ndarray
    basic: np.ndarray
    reduced: np.ndarray
    gone: np.ndarray
    entered: np.ndarray
    age: np.ndarray
    sides: np.ndarray
    pending: np.ndarray


class Search(NamedTuple):
    """Limits and mode of a search.

    Attributes
    ----------
    most_nodes : ndarray of int, shape (1,)
        Another thread may lower it during the search, to end it.
    mode : int
        At a solution: `STOP`, or `KEEP` it as a doubtful leaf, or `DIVIDE` down to single
        cells, which are such leaves.
    every : bool
        Whether all leaves are recorded, or only doubtful ones.
    """

    most_nodes: np.ndarray
    mode: int
    every: bool


class Leaves(NamedTuple):
    """Arrays for leaves: their sides, (L, k, m), and kinds (`REFUTED`, `DOUBTFUL`)."""

    sides: np.ndarray
    kinds: np.ndarray


def make_path(rows: int, columns: int, k: int, m: int) -> Path:
    """Arrays for a tree of k·m pairs."""
    levels = k * m + 2
    return Path(
        np.empty((levels, rows, rows)), np.empty((levels, rows)),
        np.empty((levels, rows), np.int64), np.empty((levels, columns)),
        np.zeros((levels, columns), np.bool_), np.zeros((levels, columns), np.bool_),
        np.zeros(levels, np.int64),
        np.zeros((levels, k, m), np.int8), np.full((levels, 3), -1),
    )  # fmt: skip


@njit()
def _basis(path, depth):
    return Basis(
        path.inverse[depth], path.beta[depth], path.basic[depth], path.reduced[depth],
        path.gone[depth], path.entered[depth],
    )  # fmt: skip


@njit()
def _gain(program, basis, r, buffers):
    """Increase of the cost when basic column r is driven to 0; inf if no column can enter."""
    times_columns(program, basis.inverse[r], buffers)
    ratio = np.inf
    for j in range(len(buffers.row)):
        a = buffers.row[j]
        if a > PIVOT and not (basis.gone[j] or basis.entered[j]):
            ratio = min(ratio, max(basis.reduced[j], 0.0) / a)
    return ratio * basis.beta[r]


@njit()
def _branch_pair(program, basis, sides, buffers):
    """The pair (unit, sample) to branch on.

    Candidates are the few pairs with the largest product of the solution's weights on both sides;
    the candidate with the largest product of the two estimated gains is chosen.  The choice by
    gains alone, which depend on arbitrary costs, made trees three to ten times as large.

    Returns (unit, sample, side to try first), unit −1 if every unit lies in one cell.
    """
    unit, signs = program.unit, program.signs
    beta, basic = basis.beta, basis.basic
    k, m = sides.shape
    first = np.zeros((k, m))
    second = np.zeros((k, m))
    for i in range(len(basic)):
        if beta[i] > FEASIBLE:
            t = basic[i]
            for s in range(m):
                if signs[t, s] > 0:
                    first[unit[t], s] += beta[i]
                elif signs[t, s] < 0:
                    second[unit[t], s] += beta[i]
    chosen = np.zeros((k, m), np.bool_)
    near = np.zeros(k, np.bool_)
    for _ in range(_CANDIDATES):
        best, bi, bs = 0.0, -1, -1
        for i in range(k):
            for s in range(m):
                size = first[i, s] * second[i, s]
                if size > best and sides[i, s] == 0 and not chosen[i, s]:
                    best, bi, bs = size, i, s
        if bi < 0:
            break
        chosen[bi, bs] = near[bi] = True
    # Now `first` is the gain of removing the active side, `second` that of the inactive side.
    first[:] = 0.0
    second[:] = 0.0
    for i in range(len(basic)):
        t = basic[i]
        if beta[i] <= FEASIBLE or not near[unit[t]]:
            continue
        gain = -1.0
        for s in range(m):
            if chosen[unit[t], s] and signs[t, s] != 0:
                if gain < 0:
                    gain = min(_gain(program, basis, i, buffers), 1e6)
                if signs[t, s] > 0:
                    first[unit[t], s] += gain
                else:
                    second[unit[t], s] += gain
    best, bi, bs, side = -1.0, -1, -1, 1
    for i in range(k):
        for s in range(m):
            if chosen[i, s]:
                score = (first[i, s] + 1e-6) * (second[i, s] + 1e-6)
                if score > best:
                    best, bi, bs = score, i, s
                    side = 1 if first[i, s] <= second[i, s] else 2
    return bi, bs, side


@njit()
def _open_pair(sides):
    """A pair (unit, sample) without a side, unit −1 if there is none."""
    for i in range(sides.shape[0]):
        for s in range(sides.shape[1]):
            if sides[i, s] == 0:
                return i, s
    return -1, -1


@njit()
def _remove(program, gone, i, s, side):
    """Mark the columns that are not on a side (1 inactive: h > 0 goes; 2 active)."""
    wrong = 1 if side == 1 else -1
    for t in range(program.first[i], program.first[i + 1]):
        if program.signs[t, s] == wrong:
            gone[t] = True


@njit()
def _solve(program, path, depth, costs, age, buffers, known):
    """Dual simplex steps at a node: whether it is feasible, whether rounding leaves a doubt."""
    limit = 50 * (len(program.b) + len(program.unit)) + 1000
    basis = _basis(path, depth)
    state, path.age[depth], r = dual_simplex(program, basis, costs, age, limit, buffers)
    if r >= 0:
        keep_row(program, basis, r, buffers, known)
    return state == OPTIMAL, state == _IN_DOUBT


@njit(**_ONCE)
def _solve_root(program, basic, path, buffers, known):
    """Solve the root: feasible, in doubt, and whether its basis was found to be singular."""
    copy_vector(basic, path.basic[0])
    path.sides[0] = 0
    path.gone[0] = False
    path.entered[0] = False
    path.pending[0, 0] = -1
    for i in range(len(basic)):
        path.entered[0, basic[i]] = True
    root: Any = np.int64(0)
    basis = _basis(path, root)
    if not invert(program, basis, program.costs, buffers):
        return False, True, True
    # A basis that is not optimal, where the root seems infeasible: costs are raised to make it so.
    for j in range(len(basis.reduced)):
        basis.reduced[j] = max(basis.reduced[j], 0.0)
    feasible, doubt = _solve(program, path, root, program.costs, root, buffers, known)
    return feasible, doubt, False


@njit(**_ONCE)
def _copy_down(program, path, source, i, s, side):
    """Write the child on a side to the next depth."""
    depth = source + 1
    copy_matrix(path.inverse[source], path.inverse[depth])
    copy_vector(path.beta[source], path.beta[depth])
    copy_vector(path.basic[source], path.basic[depth])
    copy_vector(path.reduced[source], path.reduced[depth])
    copy_vector(path.gone[source], path.gone[depth])
    copy_vector(path.entered[source], path.entered[depth])
    copy_matrix(path.sides[source], path.sides[depth])
    path.sides[depth, i, s] = side
    path.pending[depth, 0] = -1
    _remove(program, path.gone[depth], i, s, side)


@njit(**_ONCE)
def _pending_depth(path, depth):
    """The nearest smaller depth with a pending child, -1 if there is none."""
    depth -= 1
    while depth >= 0 and path.pending[depth, 0] < 0:
        depth -= 1
    return depth


@njit(nogil=True)
def search_cells(program, basic, path, wanted, leaves, buffers, known):
    """Depth-first search of the tree of sides.

    Parameters
    ----------
    program : FloatHullProgram
    basic : ndarray of int
        A basis of the program's columns.
    path : Path
        Arrays (`make_path`).
    wanted : Search
    leaves : Leaves
        Output: leaves are recorded up to its capacity.
    buffers : SimplexBuffers
    known : RefutingRows
        Empty; rows that refute leaves are added.

    Returns
    -------
    (status, nodes, leaves, doubtful, basic, beta)
        `basic` and `beta` are the solution if the status is `CANDIDATE`.
    """
    nodes, ended, doubtful, depth = 1, 0, 0, 0
    feasible, doubt, lost = _solve_root(program, basic, path, buffers, known)
    while True:
        if lost or nodes > wanted.most_nodes[0]:
            return LIMIT, nodes, ended, doubtful, path.basic[depth], path.beta[depth]
        kind = DOUBTFUL if doubt else REFUTED
        i, s, side = -1, -1, 1
        if feasible:
            i, s, side = _branch_pair(program, _basis(path, depth), path.sides[depth], buffers)
            if i < 0 and wanted.mode == STOP:
                return CANDIDATE, nodes, ended, doubtful, path.basic[depth], path.beta[depth]
            if i < 0 and wanted.mode == DIVIDE:
                i, s = _open_pair(path.sides[depth])
            if i < 0:
                kind = DOUBTFUL
        if i >= 0:
            # The sibling is kept at this depth; the child is one deeper.
            path.pending[depth, 0], path.pending[depth, 1], path.pending[depth, 2] = i, s, 3 - side
        else:
            place = ended if wanted.every else doubtful
            if (wanted.every or kind == DOUBTFUL) and place < len(leaves.kinds):
                copy_matrix(path.sides[depth], leaves.sides[place])
                leaves.kinds[place] = kind
            doubtful += kind
            ended += 1
            depth = _pending_depth(path, depth)
            if depth < 0:
                return NO_MATCH, nodes, ended, doubtful, path.basic[0], path.beta[0]
            i, s, side = path.pending[depth, 0], path.pending[depth, 1], path.pending[depth, 2]
            path.pending[depth, 0] = -1
        _copy_down(program, path, depth, i, s, side)
        depth += 1
        # Rows that refuted other leaves may refute this node, or one side of some pair.
        feasible, doubt = True, False
        while True:
            what, i, s, side = find_refutation(program, known, path.gone[depth], path.sides[depth])
            feasible = what != NODE
            if what != SIDE:
                break
            if wanted.every and ended < len(leaves.kinds):
                copy_matrix(path.sides[depth], leaves.sides[ended])
                leaves.sides[ended, i, s] = side
                leaves.kinds[ended] = REFUTED
            ended += 1
            path.sides[depth, i, s] = 3 - side
            _remove(program, path.gone[depth], i, s, 3 - side)
        if feasible:
            nodes += 1
            feasible, doubt = _solve(
                program, path, depth, program.costs, path.age[depth - 1], buffers, known
            )
