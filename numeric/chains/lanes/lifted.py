"""The lifted Newton system without condensing, for paths on which weights become large.

Condensing to r unknowns multiplies by W at every step; with weights of size R its matrix
has entries of size R^K that cancel, and double precision fails from R ≈ 10^3 on, although
the states keep size one and the solution is well conditioned.  Here all increments of
weights and states are unknowns of one sparse linear system, solved with row equilibration
and pivoting, so that no factor is multiplied twice by large weights.  A step costs more;
the system is used only for paths that need it.
"""

from __future__ import annotations

import numpy as np

from numeric.chains.lanes.condensed import convolve, read_out, read_out_slope
from numeric.chains.lanes.linalg import LANES, OPTIONS, clear, copy, matmul_add, solve
from numeric.chains.lanes.simd import dot_add, row_add
from numeric.chains.lanes.table import READ_EACH, READ_SUM
from numeric.chains.table import IN_D, IN_M, IN_S0
from numeric.kernels import njit


@njit(**OPTIONS)
def _accumulate(ws, to, a, sign):
    for lane in range(LANES):
        ws[to, 0, lane] += sign * ws[a, 0, lane]
        ws[to, 1, lane] += sign * ws[a, 1, lane]


@njit(**OPTIONS)
def lifted_matrix(ws, o, sizes, s, z):
    """The lifted matrix at the point in `now` with states at s, written to slots `lifted`.

    Unknowns are scaled by `sizes` (inverse squared sizes of groups of weights and
    of states): roots near infinity have S_k of size R^k, and pivoting would fail
    without this scaling.  Then rows are divided by their largest entry; the inverse divisors
    are written to slots `row_scale`.
    """
    chain, slot = o.chain, o.slot
    at, scale = slot.lifted, slot.row_scale
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    p_at, cells, equations = chain.p_at, chain.cells, chain.equations
    column, row, cell, label = o.places.column, o.places.row, o.places.cell, o.places.label
    K, c, m, r = chain.steps, chain.columns, chain.samples, chain.unknowns
    size = r + s_at[K + 1] - s_at[1]
    clear(ws, at, size * size)
    for k in range(1, K + 1):
        for i in range(widths[k]):
            for x in range(c):
                e = s_at[k] + i * c + x
                base = at + row[e] * size
                for lane in range(LANES):
                    ws[base + column[e], 0, lane] += 1.0
                if k > 1:
                    for j in range(widths[k - 1]):
                        to = base + column[s_at[k - 1] + j * c + x]
                        _accumulate(ws, to, slot.now + m_at[k] + i * widths[k - 1] + j, -1.0)
    for v in range(r):
        kind, step, i, j = cells[v, 0], cells[v, 1], cells[v, 2], cells[v, 3]
        if kind == IN_M:
            first = step if step else 1
            last = step if step else K
            for k in range(first, last + 1):
                for x in range(c):
                    to = at + row[s_at[k] + i * c + x] * size + cell[v]
                    _accumulate(ws, to, s + s_at[k - 1] + j * c + x, -1.0)
        elif kind == IN_S0:
            for i1 in range(widths[1]):
                to = at + row[s_at[1] + i1 * c + j] * size + cell[v]
                _accumulate(ws, to, slot.now + m_at[1] + i1 * widths[0] + i, -1.0)
    for e in range(r):
        a = equations[e, 0]
        x = equations[e, 1]
        base = at + label[e] * size
        if o.reading == READ_EACH:
            k = K - x // c
            for i in range(widths[k]):
                to = base + column[s_at[k] + i * c + x % c]
                _accumulate(ws, to, slot.now + chain.d_at + a * widths[K] + i, 1.0)
        elif o.reading == READ_SUM:
            for k in range(1, K + 1):
                for i in range(widths[k]):
                    for g in range(c):
                        to = base + column[s_at[k] + i * c + g]
                        row_add(
                            ws, to, slot.now + chain.d_at + a * widths[K] + i,
                            slot.now + p_at[k] + g * m + x, 1,
                        )  # fmt: skip
        elif K > 0:
            for i in range(widths[K]):
                to = base + column[s_at[K] + i * c + x]
                _accumulate(ws, to, slot.now + chain.d_at + a * widths[K] + i, 1.0)
        for v in range(r):
            if cells[v, 0] == IN_D and cells[v, 2] == a:
                _accumulate(ws, base + cell[v], z + cells[v, 3] * m + x, 1.0)
    units = slot.column_scale
    for v in range(r):
        for lane in range(LANES):
            ws[units + cell[v], 0, lane] = 1.0 / np.sqrt(sizes[o.groups[v], lane])
    for k in range(1, K + 1):
        for e in range(s_at[k], s_at[k + 1]):
            for lane in range(LANES):
                ws[units + column[e], 0, lane] = 1.0 / np.sqrt(sizes[o.group_count + k, lane])
    for i in range(size):
        for lane in range(LANES):
            ws[scale + i, 0, lane] = 0.0
        for j in range(size):
            q = at + i * size + j
            for lane in range(LANES):
                f = ws[units + j, 0, lane]
                re = ws[q, 0, lane] * f
                im = ws[q, 1, lane] * f
                ws[q, 0, lane] = re
                ws[q, 1, lane] = im
                ws[scale + i, 0, lane] = max(ws[scale + i, 0, lane], re * re + im * im)
        for lane in range(LANES):
            ws[scale + i, 0, lane] = 1.0 / np.sqrt(ws[scale + i, 0, lane])
        for j in range(size):
            q = at + i * size + j
            for lane in range(LANES):
                ws[q, 0, lane] *= ws[scale + i, 0, lane]
                ws[q, 1, lane] *= ws[scale + i, 0, lane]


@njit(**OPTIONS)
def lifted_residual(ws, o, s, z):
    """Right-hand side ``M S - S``, ``Y - D Z`` (equilibrated); Z of s is written to slot z."""
    chain, slot = o.chain, o.slot
    scale, rhs = slot.row_scale, slot.right_side
    widths, s_at, m_at, equations = chain.widths, chain.s_at, chain.m_at, chain.equations
    row, label = o.places.row, o.places.label
    K, c, d, m = chain.steps, chain.columns, chain.labels, chain.samples
    # `rest` is used for M S.
    clear(ws, slot.rest, chain.states)
    for k in range(1, K + 1):
        matmul_add(
            ws,
            slot.rest + s_at[k],
            slot.now + m_at[k],
            s + s_at[k - 1],
            widths[k],
            widths[k - 1],
            c,
        )
        for e in range(s_at[k], s_at[k + 1]):
            q = rhs + row[e]
            f = scale + row[e]
            for lane in range(LANES):
                g = ws[f, 0, lane]
                ws[q, 0, lane] = g * (ws[slot.rest + e, 0, lane] - ws[s + e, 0, lane])
                ws[q, 1, lane] = g * (ws[slot.rest + e, 1, lane] - ws[s + e, 1, lane])
    read_out(ws, o, s, z)
    clear(ws, slot.labels, d * m)
    matmul_add(ws, slot.labels, slot.now + chain.d_at, z, d, widths[K], m)
    for e in range(chain.unknowns):
        at = equations[e, 0] * m + equations[e, 1]
        y = slot.now + chain.y_at + at
        q = rhs + label[e]
        f = scale + label[e]
        for lane in range(LANES):
            g = ws[f, 0, lane]
            ws[q, 0, lane] = g * (ws[y, 0, lane] - ws[slot.labels + at, 0, lane])
            ws[q, 1, lane] = g * (ws[y, 1, lane] - ws[slot.labels + at, 1, lane])


@njit(**OPTIONS)
def scatter(ws, o, x, w, s):
    """Solution x of the lifted system as weights (slot w) and states (slot s, S_0 included).

    The scaling of the unknowns is undone.
    """
    chain, slot = o.chain, o.slot
    s_at, cells = chain.s_at, chain.cells
    column, cell = o.places.column, o.places.cell
    c = chain.columns
    units = slot.column_scale
    for i in range(chain.unknowns + s_at[chain.steps + 1] - s_at[1]):
        for lane in range(LANES):
            ws[x + i, 0, lane] *= ws[units + i, 0, lane]
            ws[x + i, 1, lane] *= ws[units + i, 0, lane]
    clear(ws, s, s_at[1])
    for v in range(chain.unknowns):
        copy(ws, w + v, x + cell[v], 1)
        if cells[v, 0] == IN_S0:
            copy(ws, s + cells[v, 2] * c + cells[v, 3], x + cell[v], 1)
    for e in range(s_at[1], s_at[chain.steps + 1]):
        copy(ws, s + e, x + column[e], 1)


@njit(**OPTIONS)
def lifted_taylor(ws, o, pivots, pattern):
    """Taylor coefficients 1 … J of w, S and Z; the slots `lifted` hold the lifted factors."""
    chain, slot = o.chain, o.slot
    at, scale, rhs = slot.lifted, slot.row_scale, slot.right_side
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    cells, equations = chain.cells, chain.equations
    row, label = o.places.row, o.places.label
    K, c, d, m, r = chain.steps, chain.columns, chain.labels, chain.samples, chain.unknowns
    states, zs = chain.states, chain.z_size
    size = r + s_at[K + 1] - s_at[1]
    rest = slot.rest
    for order in range(1, o.order + 1):
        st = slot.states + order * states
        wt = slot.weights + order * r
        zt = slot.z + order * zs
        before = slot.states + (order - 1) * states
        clear(ws, rest, states)
        for k in range(1, K + 1):
            matmul_add(
                ws, rest + s_at[k], slot.slope + m_at[k], before + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        convolve(ws, o, order, rest)
        if order == 1 and K > 0:
            matmul_add(
                ws,
                rest + s_at[1],
                slot.now + m_at[1],
                slot.slope + chain.s0_at,
                widths[1],
                widths[0],
                c,
            )
        for e in range(s_at[1], s_at[K + 1]):
            q = rhs + row[e]
            for lane in range(LANES):
                g = ws[scale + row[e], 0, lane]
                ws[q, 0, lane] = g * ws[rest + e, 0, lane]
                ws[q, 1, lane] = g * ws[rest + e, 1, lane]
        clear(ws, slot.labels, d * m)
        clear(ws, slot.new_z, zs)
        read_out_slope(ws, o, before, slot.new_z)
        if K == 0 and order == 1:
            copy(ws, slot.new_z, slot.slope + chain.s0_at, zs)
        matmul_add(ws, slot.labels, slot.now + chain.d_at, slot.new_z, d, widths[K], m)
        matmul_add(
            ws, slot.labels, slot.slope + chain.d_at, slot.z + (order - 1) * zs, d, widths[K], m
        )
        for v in range(r):
            if cells[v, 0] == IN_D:
                for x in range(m):
                    dot_add(
                        ws, slot.labels + cells[v, 2] * m + x, slot.weights + r + v, r,
                        slot.z + (order - 1) * zs + cells[v, 3] * m + x, -zs, order - 1,
                    )  # fmt: skip
        for e in range(r):
            y_at = equations[e, 0] * m + equations[e, 1]
            y = slot.slope + chain.y_at + y_at
            q = rhs + label[e]
            for part in range(2):
                for lane in range(LANES):
                    value = -ws[slot.labels + y_at, part, lane]
                    if order == 1:
                        value += ws[y, part, lane]
                    ws[q, part, lane] = ws[scale + label[e], 0, lane] * value
        solve(ws, at, size, pivots, pattern, rhs)
        scatter(ws, o, rhs, wt, st)
        if order == 1:
            for e in range(s_at[1]):
                _accumulate(ws, st + e, slot.slope + chain.s0_at + e, 1.0)
        read_out(ws, o, st, zt)
        read_out_slope(ws, o, before, zt)
