"""Compiled evaluation in the free inputs, in lanes (`numeric.chains.inputs` has the equations).

Unknowns x are the remaining weights, then the inputs u_1 … u_T; parameters are α, β and the
fixed weights of the remaining rows.  All equations are bilinear in (w, F) with F affine in u, so
Taylor coefficients of a path need one solve with the same factors for each order.

Slots hold complex numbers for `LANES` paths each; matrices are stored row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from numeric.chains.lanes.linalg import LANES, ONCE, OPTIONS, clear, copy, dots_add, solve
from numeric.chains.lanes.simd import dot_add, equilibrate, pair_dot_add, pair_line
from numeric.kernels import njit

if TYPE_CHECKING:
    from numeric.chains.inputs import InputsForm


class InputsTable(NamedTuple):
    """Sizes, index tables and slot offsets of one system.

    Attributes
    ----------
    n, T, b, e : int
        Neurons, time steps, columns of B, inputs per time step and column.
    unknowns, parameters, order : int
    weights : int
        Number of unknowns that are weights; the inputs u follow them.
    rows : ndarray of int
        Remaining rows of W.
    cells : ndarray of int, shape (weights, 2)
        Index into `rows`, and column.
    by_column : ndarray of int, shape (weights,)
        The cells column by column: those of one column read the same states.
    places : ndarray of int, shape (rows, Tb)
        Matrix row of each equation: first enough equations of each block, then the others.
    groups : ndarray of int, shape (unknowns,)
        Groups for error norms: the weights of a row, the inputs of a time step.
    group_count : int
    alpha, beta, fixed : int
        Offsets in a parameter vector.
    now, base, slope : int
        Slots of the parameters at t, at t = 0, and of their direction.
    x, states : int
        Taylor coefficients of the unknowns and of F_0 … F_T, order by order.
    new_x, new_states, step : int
        A trial point, its states, an increment.
    rest : int
        Array for states.
    gain : int
        Derivatives of the equations with respect to the inputs: (row, lag, input).
    matrix, row_scale, column_scale : int
    units, gram, phi : int
        Arrays of `numeric.tracking.pade`.
    scratch : int
        Array with an entry for each equation.
    slots : int
    low : int
        Offset from a slot of `now`, `new_x`, `new_states` and `scratch` to its low part, for
        numbers that are pairs of doubles.
    """

    n: int
    T: int
    b: int
    e: int
    unknowns: int
    parameters: int
    order: int
    weights: int
    rows: np.ndarray
    cells: np.ndarray
    by_column: np.ndarray
    places: np.ndarray
    groups: np.ndarray
    group_count: int
    alpha: int
    beta: int
    fixed: int
    now: int
    base: int
    slope: int
    x: int
    states: int
    new_x: int
    new_states: int
    step: int
    rest: int
    gain: int
    matrix: int
    row_scale: int
    column_scale: int
    units: int
    gram: int
    phi: int
    scratch: int
    slots: int
    low: int


def make_table(form: InputsForm, order: int) -> InputsTable:
    """The table of a system, for Taylor series of an order."""
    n, T, b, e = form.shape
    q, rows, weights = form.unknowns, len(form.rows), len(form.cells)
    places = np.full((rows, T * b), -1, np.int64)
    at = 0
    for i, count in enumerate(np.bincount(form.cells[:, 0], minlength=rows)):
        places[i, :count] = at + np.arange(count)
        at += int(count)
    left = places < 0
    places[left] = at + np.arange(int(left.sum()))
    groups = np.concatenate([form.cells[:, 0], rows + np.arange(T * e * b) // (e * b)])
    state = (T + 1) * n * b
    sizes = {
        "now": form.size, "new_x": q, "new_states": state, "scratch": rows * T * b,
        "base": form.size, "slope": form.size,
        "x": (order + 1) * q, "states": (order + 1) * state,
        "step": q, "rest": state, "gain": rows * T * e,
        "matrix": q * q, "row_scale": q, "column_scale": q,
        "units": 7 * q, "gram": 49, "phi": 3,
    }  # fmt: skip
    offsets, slots = {}, 0
    for name, size in sizes.items():
        offsets[name] = slots
        slots += size
    low = slots
    slots += offsets["base"]
    return InputsTable(
        n=n, T=T, b=b, e=e, unknowns=q, parameters=form.size, order=order, weights=weights,
        rows=form.rows.astype(np.int64), cells=np.ascontiguousarray(form.cells),
        by_column=np.argsort(form.cells[:, 1], kind="stable"), places=places,
        groups=groups.astype(np.int64), group_count=rows + T,
        alpha=0, beta=state, fixed=state + T * n * e, slots=slots, low=low, **offsets,
    )  # fmt: skip


@njit(**OPTIONS)
def set_parameters(ws, o, t, x):
    """Parameters at t of every lane, with the weights among the unknowns at slot x inserted."""
    for i in range(o.parameters):
        a, b, c = o.base + i, o.slope + i, o.now + i
        for lane in range(LANES):
            ws[c, 0, lane] = ws[a, 0, lane] + t[lane] * ws[b, 0, lane]
            ws[c, 1, lane] = ws[a, 1, lane] + t[lane] * ws[b, 1, lane]
    for v in range(o.weights):
        copy(ws, o.now + o.fixed + o.cells[v, 0] * o.n + o.cells[v, 1], x + v, 1)


@njit(**OPTIONS)
def add_response(ws, o, beta, u, to):
    """``to_k += Σ_{l ≤ k} β_{k-l} u_l`` for k = 1 … T; β at slot beta, u_1 at slot u."""
    n, b, e = o.n, o.b, o.e
    for k in range(1, o.T + 1):
        for x in range(b):
            for g in range(e):
                dots_add(
                    ws, to + k * n * b + x, b, u + g * b + x, e * b,
                    beta + (k - 1) * n * e + g, e, -n * e, k, n,
                )  # fmt: skip


@njit(**OPTIONS)
def set_states(ws, o, x, to):
    """States of the point in `now` with unknowns at slot x, written to slot to."""
    copy(ws, to, o.now + o.alpha, (o.T + 1) * o.n * o.b)
    add_response(ws, o, o.now + o.beta, x + o.weights, to)


@njit(**OPTIONS)
def set_matrix(ws, o, s, scale):
    """The Jacobian at the point in `now` with states at slot s, written to `matrix`.

    Unknowns are scaled by the size of their groups (`scale`: inverse squares), then rows divided
    by their largest entry; the sizes are written to `column_scale`, the inverse divisors to
    `row_scale`.
    """
    n, T, b, e, q = o.n, o.T, o.b, o.e, o.unknowns
    clear(ws, o.matrix, q * q)
    for v in range(q):
        for lane in range(LANES):
            ws[o.column_scale + v, 0, lane] = 1.0 / np.sqrt(scale[o.groups[v], lane])
    for v in range(o.weights):
        for k in range(T):
            for x in range(b):
                row = o.places[o.cells[v, 0], k * b + x]
                copy(ws, o.matrix + row * q + v, s + (k * n + o.cells[v, 1]) * b + x, 1)
    clear(ws, o.gain, len(o.rows) * T * e)
    for i in range(len(o.rows)):
        for lag in range(T):
            for g in range(e):
                at = o.gain + (i * T + lag) * e + g
                if lag > 0:
                    dot_add(
                        ws, at, o.now + o.fixed + i * n, 1,
                        o.now + o.beta + (lag - 1) * n * e + g, e, n,
                    )  # fmt: skip
                f = o.now + o.beta + (lag * n + o.rows[i]) * e + g
                for part in range(2):
                    for lane in range(LANES):
                        ws[at, part, lane] -= ws[f, part, lane]
        for k in range(T):
            for x in range(b):
                row = o.matrix + o.places[i, k * b + x] * q + o.weights
                for moment in range(k + 1):
                    for g in range(e):
                        copy(
                            ws, row + (moment * e + g) * b + x,
                            o.gain + (i * T + k - moment) * e + g, 1,
                        )  # fmt: skip
    for i in range(q):
        equilibrate(ws, o.matrix + i * q, q, o.column_scale, o.row_scale + i)


@njit(**OPTIONS)
def solve_scaled(ws, o, pivots, pattern, x):
    """Solve with the factors of `matrix`; the scaled right-hand side at x is overwritten."""
    solve(ws, o.matrix, o.unknowns, pivots, pattern, x)
    for v in range(o.unknowns):
        for lane in range(LANES):
            f = ws[o.column_scale + v, 0, lane]
            ws[x + v, 0, lane] *= f
            ws[x + v, 1, lane] *= f


@njit(**ONCE)
def taylor(ws, o, pivots, pattern):
    """Taylor coefficients 1 … order of x and the states in t, at the point in `now`.

    Orders 0 are given in `x` and `states`; `matrix` holds the factors of the Jacobian there.
    """
    n, T, b, q = o.n, o.T, o.b, o.unknowns
    size = (T + 1) * n * b
    for order in range(1, o.order + 1):
        to = o.x + order * q
        before = o.states + (order - 1) * size
        # The states of this order without the contribution of its own inputs.
        clear(ws, o.rest, size)
        if order == 1:
            copy(ws, o.rest, o.slope + o.alpha, size)
        add_response(ws, o, o.slope + o.beta, o.x + (order - 1) * q + o.weights, o.rest)
        # W and its series applied to the states: equation (i, k) at scratch + i Tb + k.
        clear(ws, o.scratch, len(o.rows) * T * b)
        for i in range(len(o.rows)):
            for x in range(b):
                at = o.scratch + i * T * b + x
                dots_add(ws, at, b, o.now + o.fixed + i * n, 1, o.rest + x, n * b, b, n, T)
                dots_add(ws, at, b, o.slope + o.fixed + i * n, 1, before + x, n * b, b, n, T)
        for v in o.by_column:
            for x in range(b):
                dots_add(
                    ws, o.scratch + o.cells[v, 0] * T * b + x, b, o.x + q + v, q,
                    before + o.cells[v, 1] * b + x, n * b, -size, order - 1, T,
                )  # fmt: skip
        _right_hand_side(ws, o, to)
        solve_scaled(ws, o, pivots, pattern, to)
        states = o.states + order * size
        copy(ws, states, o.rest, size)
        add_response(ws, o, o.now + o.beta, to + o.weights, states)


@njit(**ONCE)
def _right_hand_side(ws, o, to):
    """``F_{k,i}`` of `rest` minus `scratch`, scaled, written to slots to."""
    n, b = o.n, o.b
    for i in range(len(o.rows)):
        for k in range(o.T):
            for x in range(b):
                at = o.places[i, k * b + x]
                f = o.rest + ((k + 1) * n + o.rows[i]) * b + x
                s = o.scratch + (i * o.T + k) * b + x
                for part in range(2):
                    for lane in range(LANES):
                        ws[to + at, part, lane] = ws[o.row_scale + at, 0, lane] * (
                            ws[f, part, lane] - ws[s, part, lane]
                        )


@njit(**ONCE)
def pair_parameters(ws, o, t):
    """`set_parameters` at `new_x` in pairs of doubles."""
    for i in range(o.parameters):
        pair_line(ws, o.now + i, o.base + i, o.slope + i, t, o.low)
    for v in range(o.weights):
        at = o.now + o.fixed + o.cells[v, 0] * o.n + o.cells[v, 1]
        copy(ws, at, o.new_x + v, 1)
        copy(ws, at + o.low, o.new_x + v + o.low, 1)


@njit(**ONCE)
def pair_states(ws, o):
    """`set_states` at `new_x` into `new_states` in pairs of doubles."""
    n, b, e = o.n, o.b, o.e
    size = (o.T + 1) * n * b
    copy(ws, o.new_states, o.now + o.alpha, size)
    copy(ws, o.new_states + o.low, o.now + o.alpha + o.low, size)
    for k in range(1, o.T + 1):
        for i in range(n):
            for x in range(b):
                for g in range(e):
                    pair_dot_add(
                        ws, o.new_states + (k * n + i) * b + x,
                        o.now + o.beta + ((k - 1) * n + i) * e + g, -n * e,
                        o.new_x + o.weights + g * b + x, e * b, k, o.low,
                    )  # fmt: skip


@njit(**ONCE)
def pair_residual(ws, o, to):
    """`residual` at `new_states`, summed in pairs of doubles, rounded at the end."""
    n, b = o.n, o.b
    for i in range(len(o.rows)):
        for k in range(1, o.T + 1):
            for x in range(b):
                at = o.places[i, (k - 1) * b + x]
                f = o.new_states + (k * n + o.rows[i]) * b + x
                for part in range(2):
                    for lane in range(LANES):
                        ws[o.scratch, part, lane] = -ws[f, part, lane]
                        ws[o.scratch + o.low, part, lane] = -ws[f + o.low, part, lane]
                pair_dot_add(
                    ws, o.scratch, o.now + o.fixed + i * n, 1,
                    o.new_states + (k - 1) * n * b + x, b, n, o.low,
                )  # fmt: skip
                for part in range(2):
                    for lane in range(LANES):
                        ws[to + at, part, lane] = (
                            -ws[o.row_scale + at, 0, lane] * ws[o.scratch, part, lane]
                        )
