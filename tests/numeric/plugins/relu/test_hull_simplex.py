"""The revised simplex on hull programs, and refutations, compared with SciPy's."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.hull import columns_left
from numeric.plugins.relu.hull_simplex import (
    DOUBTFUL,
    INFEASIBLE,
    OPTIMAL,
    Basis,
    dual_simplex,
    invert,
    make_simplex_buffers,
    times_columns,
)
from numeric.plugins.relu.refuting_rows import NODE, SIDE, find_refutation, keep_row, no_rows
from numeric.plugins.relu.simplex import FEASIBLE
from tests.numeric.plugins.relu.cases import instances, problem
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 1]]


def _trees(count, seed=0):
    return [CellTree(i) for i in instances(problem(3, 4, 2, 3, W1=MASK), count, seed=seed)]


def _begin(tree):
    program, basic, consistent = tree._start
    assert consistent
    columns, rows = program.columns.shape
    k, m, d = program.outputs.shape
    basis = Basis(
        np.zeros((rows, rows)), np.zeros(rows), basic.copy(), np.zeros(columns),
        np.zeros(columns, bool), np.zeros(columns, bool),
    )  # fmt: skip
    basis.entered[basic] = True
    buffers = make_simplex_buffers(rows, d * m + k, columns)
    assert invert(program, basis, program.costs, buffers)
    basis.reduced[:] = np.maximum(basis.reduced, 0.0)
    return program, basis, buffers


def _peer(tree, sides):
    left = columns_left(tree.program, sides)
    A, b, costs = tree.program.A[:, left], tree.program.b, tree.program.costs[left]
    return linprog(costs, A_eq=A, b_eq=b)


def _random_sides(rng, shape):
    sides = rng.integers(0, 3, shape).astype(np.int8)
    sides[rng.random(shape) < 0.6] = 0
    return sides


def test_products_with_the_columns():
    """Products computed unit by unit equal those with the matrix of columns."""
    rng = np.random.default_rng(0)
    for tree in _trees(5):
        program, _, buffers = _begin(tree)
        y = rng.normal(size=len(program.b))
        largest = times_columns(program, y, buffers)
        assert largest == pytest.approx(np.abs(y).max())
        assert buffers.row == pytest.approx(program.columns @ y, abs=1e-12)


def test_hull_simplex_agrees_with_scipy():
    """Feasibility of the root program, and its optimum, are SciPy's."""
    seen = set()
    for tree in _trees(many(30)):
        program, basis, buffers = _begin(tree)
        state, _, row = dual_simplex(program, basis, program.costs, 0, 1000, buffers)
        peer = _peer(tree, np.zeros(program.outputs.shape[:2], int))
        seen.add(state)
        assert state == (OPTIMAL if peer.status == 0 else INFEASIBLE)
        assert (row >= 0) == (state == INFEASIBLE)
        if state == OPTIMAL:
            assert (basis.beta >= -1e-8).all()
            assert program.costs[basis.basic] @ basis.beta == pytest.approx(peer.fun, rel=1e-6)
    assert seen == {OPTIMAL, INFEASIBLE}


def test_removed_columns_and_kept_rows():
    """From an optimal basis sides are decided as by SciPy; kept rows refute only such sides.

    Removed columns have the value 0 in the optimal basis.
    """
    rng = np.random.default_rng(1)
    seen = {"refuted": 0, "solved": 0, "row refutes node": 0, "row refutes side": 0}
    for tree in _trees(many(30, 7), seed=3):
        program, start, buffers = _begin(tree)
        if dual_simplex(program, start, program.costs, 0, 1000, buffers)[0] != OPTIMAL:
            continue
        known = no_rows(program)
        shape = program.outputs.shape[:2]
        for _ in range(25):
            sides = _random_sides(rng, shape)
            gone = ~columns_left(tree.program, sides)
            kind, i, s, side = find_refutation(program, known, gone, sides)
            if kind == NODE:
                seen["row refutes node"] += 1
                assert _peer(tree, sides).status == 2
            if kind == SIDE:
                seen["row refutes side"] += 1
                assert sides[i, s] == 0
                sides_then = sides.copy()
                sides_then[i, s] = side
                assert _peer(tree, sides_then).status == 2
            basis = Basis(*(np.array(part) for part in start))
            basis.gone[:] = gone
            state, _, row = dual_simplex(program, basis, program.costs, 50, 1000, buffers)
            peer = _peer(tree, sides)
            if state == INFEASIBLE:
                assert peer.status == 2
                keep_row(program, basis, row, buffers, known)
                seen["refuted"] += 1
            elif state == OPTIMAL:
                assert peer.status == 0
                assert program.costs[basis.basic] @ basis.beta == pytest.approx(peer.fun, rel=1e-6)
                assert np.abs(basis.beta[gone[basis.basic]]).max(initial=0.0) <= FEASIBLE
                seen["solved"] += 1
            else:
                assert state == DOUBTFUL
    assert min(seen.values()) > many(10), seen
