"""The lifted Newton system without condensing, for paths on which weights grow large.

Condensing to r unknowns multiplies by W at every step; with weights of size R its matrix
holds entries of size R^K that cancel, and double precision is lost from R ≈ 10^3 on, though
the states stay of size one and the solution is well conditioned.  Here all increments of
weights and states are unknowns of one sparse linear system, solved with row equilibration
and pivoting, so nothing is ever multiplied twice by large weights.  It costs more per step
and is used for the paths that need it.
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains.chain import IN_D, IN_M, IN_S0, Chain
from numeric.chains.lanes.condensed import (
    COLUMNS,
    D_AT,
    GROUPS,
    LABELS,
    LIFTED_COLUMNS,
    ORDER,
    PC,
    PD,
    READ_ALL,
    READ_EACH,
    READ_SUM,
    REST,
    S0_AT,
    SAMPLES,
    ST,
    STATES,
    STEPS,
    UNKNOWNS,
    WT,
    Y_AT,
    YY,
    Z_SIZE,
    ZN,
    ZT,
    convolve,
    read_out,
    read_out_slope,
)  # fmt: skip
from numeric.chains.lanes.linalg import LANES, OPTIONS, clear, copy, matmul_add, solve
from numeric.chains.lanes.simd import dot_add, row_add


def positions(chain: Chain) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where unknowns and equations stand in the lifted system.

    Rows without learnable cells come first, each state on its own equation; then, row by
    row, learnable weights on the equations of their row; last the states of learnable rows.

    Returns
    -------
    state_column, state_row : ndarray of int
        For each state entry in storage order (-1 for S_0, which is no unknown).
    cell_column : ndarray of int
    label_row : ndarray of int
    """
    n, c, K = chain.widths, chain.columns, chain.steps
    starts = np.concatenate([[0], np.cumsum(n * c)]).astype(int)
    column = np.full(starts[-1], -1, np.int64)
    row = np.full(starts[-1], -1, np.int64)
    cell = np.full(chain.unknowns, -1, np.int64)
    learn: dict[tuple[int, int], list[int]] = {}
    for v, (kind, step, i, _, _) in enumerate(chain.cells):
        if kind == IN_M:
            learn.setdefault((int(step), int(i)), []).append(v)
    at = 0
    rest: list[int] = []

    def cells_of(k: int, i: int) -> list[int]:
        return learn.get((0, i), []) if chain.read_all else learn.get((k, i), [])

    for k in range(1, K + 1):
        for i in range(n[k]):
            for x in range(c):
                entry = starts[k] + i * c + x
                if cells_of(k, i):
                    rest.append(entry)
                else:
                    column[entry] = row[entry] = at
                    at += 1
    # Equations of the learnable rows, those of one matrix row together.
    order = sorted(rest, key=lambda e: _row_of(e, starts, n, c, chain.read_all))
    next_row = at
    for entry in order:
        row[entry] = next_row
        next_row += 1
    for key in sorted(learn):
        for v in learn[key]:
            cell[v] = at
            at += 1
    for v in range(chain.unknowns):
        if cell[v] < 0:
            cell[v] = at
            at += 1
    for entry in order:
        column[entry] = at
        at += 1
    label_row = next_row + np.arange(chain.unknowns)
    return column, row, cell, label_row.astype(np.int64)


def _row_of(
    entry: int, starts: np.ndarray, n: np.ndarray, c: int, shared: bool
) -> tuple[int, int, int]:
    k = int(np.searchsorted(starts, entry, side="right")) - 1
    i = (entry - int(starts[k])) // c
    return (0, i, entry) if shared else (k, i, entry)


@numba.njit(**OPTIONS)
def _accumulate(ws, to, a, sign):
    for lane in range(LANES):
        ws[to, 0, lane] += sign * ws[a, 0, lane]
        ws[to, 1, lane] += sign * ws[a, 1, lane]


@numba.njit(**OPTIONS)
def lifted_matrix(
    ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell, label,
    sizes, s, z, at, scale,
):  # fmt: skip
    """The lifted matrix at the point in PC with states at s, into slots from `at`.

    Unknowns are measured in units of `sizes` (inverse squared sizes of groups of weights and
    of states): roots near infinity have S_k of size R^k, and without this scaling pivoting
    would lose them.  Then rows are divided by their largest entry; the divisors' inverses go
    to slots `scale`.
    """
    K, c, m, r = o[STEPS], o[COLUMNS], o[SAMPLES], o[UNKNOWNS]
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
                        _accumulate(ws, to, o[PC] + m_at[k] + i * widths[k - 1] + j, -1.0)
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
                _accumulate(ws, to, o[PC] + m_at[1] + i1 * widths[0] + i, -1.0)
    for e in range(r):
        a = equations[e, 0]
        x = equations[e, 1]
        base = at + label[e] * size
        if o[READ_ALL] == READ_EACH:
            k = K - x // c
            for i in range(widths[k]):
                to = base + column[s_at[k] + i * c + x % c]
                _accumulate(ws, to, o[PC] + o[D_AT] + a * widths[K] + i, 1.0)
        elif o[READ_ALL] == READ_SUM:
            for k in range(1, K + 1):
                for i in range(widths[k]):
                    for g in range(c):
                        to = base + column[s_at[k] + i * c + g]
                        row_add(
                            ws, to, o[PC] + o[D_AT] + a * widths[K] + i,
                            o[PC] + p_at[k] + g * m + x, 1,
                        )  # fmt: skip
        elif K > 0:
            for i in range(widths[K]):
                to = base + column[s_at[K] + i * c + x]
                _accumulate(ws, to, o[PC] + o[D_AT] + a * widths[K] + i, 1.0)
        for v in range(r):
            if cells[v, 0] == IN_D and cells[v, 2] == a:
                _accumulate(ws, base + cell[v], z + cells[v, 3] * m + x, 1.0)
    units = o[LIFTED_COLUMNS]
    for v in range(r):
        for lane in range(LANES):
            ws[units + cell[v], 0, lane] = 1.0 / np.sqrt(sizes[groups[v], lane])
    for k in range(1, K + 1):
        for e in range(s_at[k], s_at[k + 1]):
            for lane in range(LANES):
                ws[units + column[e], 0, lane] = 1.0 / np.sqrt(sizes[o[GROUPS] + k, lane])
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


@numba.njit(**OPTIONS)
def lifted_residual(
    ws, o, widths, s_at, m_at, p_at, equations, row, label, s, z, scale, rhs
):  # fmt: skip
    """Right-hand side ``M S - S``, ``Y - D Z`` (equilibrated); Z of s goes to slot z."""
    K, c, d, m = o[STEPS], o[COLUMNS], o[LABELS], o[SAMPLES]
    # REST serves as room for M S.
    clear(ws, o[REST], o[STATES])
    for k in range(1, K + 1):
        matmul_add(
            ws, o[REST] + s_at[k], o[PC] + m_at[k], s + s_at[k - 1], widths[k], widths[k - 1], c
        )
        for e in range(s_at[k], s_at[k + 1]):
            q = rhs + row[e]
            f = scale + row[e]
            for lane in range(LANES):
                g = ws[f, 0, lane]
                ws[q, 0, lane] = g * (ws[o[REST] + e, 0, lane] - ws[s + e, 0, lane])
                ws[q, 1, lane] = g * (ws[o[REST] + e, 1, lane] - ws[s + e, 1, lane])
    read_out(ws, o, widths, s_at, p_at, s, z)
    clear(ws, o[YY], d * m)
    matmul_add(ws, o[YY], o[PC] + o[D_AT], z, d, widths[K], m)
    for e in range(o[UNKNOWNS]):
        at = equations[e, 0] * m + equations[e, 1]
        y = o[PC] + o[Y_AT] + at
        q = rhs + label[e]
        f = scale + label[e]
        for lane in range(LANES):
            g = ws[f, 0, lane]
            ws[q, 0, lane] = g * (ws[y, 0, lane] - ws[o[YY] + at, 0, lane])
            ws[q, 1, lane] = g * (ws[y, 1, lane] - ws[o[YY] + at, 1, lane])


@numba.njit(**OPTIONS)
def scatter(ws, o, s_at, cells, column, cell, x, w, s):
    """Solution x of the lifted system as weights (slot w) and states (slot s, S_0 included).

    x is brought back from the units of the unknowns.
    """
    c = o[COLUMNS]
    units = o[LIFTED_COLUMNS]
    for i in range(o[UNKNOWNS] + s_at[o[STEPS] + 1] - s_at[1]):
        for lane in range(LANES):
            ws[x + i, 0, lane] *= ws[units + i, 0, lane]
            ws[x + i, 1, lane] *= ws[units + i, 0, lane]
    clear(ws, s, s_at[1])
    for v in range(o[UNKNOWNS]):
        copy(ws, w + v, x + cell[v], 1)
        if cells[v, 0] == IN_S0:
            copy(ws, s + cells[v, 2] * c + cells[v, 3], x + cell[v], 1)
    for e in range(s_at[1], s_at[o[STEPS] + 1]):
        copy(ws, s + e, x + column[e], 1)


@numba.njit(**OPTIONS)
def lifted_taylor(
    ws, o, widths, s_at, m_at, p_at, cells, equations, pivots, pattern, column, row, cell, label,
    at, scale, rhs,
):  # fmt: skip
    """Taylor coefficients 1 … ORDER of w, S and Z; slots from `at` hold the lifted factors."""
    K, c, d, m, r = o[STEPS], o[COLUMNS], o[LABELS], o[SAMPLES], o[UNKNOWNS]
    states, zs = o[STATES], o[Z_SIZE]
    size = r + s_at[K + 1] - s_at[1]
    rest = o[REST]
    for order in range(1, o[ORDER] + 1):
        st = o[ST] + order * states
        wt = o[WT] + order * r
        zt = o[ZT] + order * zs
        before = o[ST] + (order - 1) * states
        clear(ws, rest, states)
        for k in range(1, K + 1):
            matmul_add(
                ws, rest + s_at[k], o[PD] + m_at[k], before + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        convolve(ws, o, s_at, cells, order, rest)
        if order == 1 and K > 0:
            matmul_add(
                ws, rest + s_at[1], o[PC] + m_at[1], o[PD] + o[S0_AT], widths[1], widths[0], c
            )
        for e in range(s_at[1], s_at[K + 1]):
            q = rhs + row[e]
            for lane in range(LANES):
                g = ws[scale + row[e], 0, lane]
                ws[q, 0, lane] = g * ws[rest + e, 0, lane]
                ws[q, 1, lane] = g * ws[rest + e, 1, lane]
        clear(ws, o[YY], d * m)
        clear(ws, o[ZN], zs)
        read_out_slope(ws, o, widths, s_at, p_at, before, o[ZN])
        if K == 0 and order == 1:
            copy(ws, o[ZN], o[PD] + o[S0_AT], zs)
        matmul_add(ws, o[YY], o[PC] + o[D_AT], o[ZN], d, widths[K], m)
        matmul_add(ws, o[YY], o[PD] + o[D_AT], o[ZT] + (order - 1) * zs, d, widths[K], m)
        for v in range(r):
            if cells[v, 0] == IN_D:
                for x in range(m):
                    dot_add(
                        ws, o[YY] + cells[v, 2] * m + x, o[WT] + r + v, r,
                        o[ZT] + (order - 1) * zs + cells[v, 3] * m + x, -zs, order - 1,
                    )  # fmt: skip
        for e in range(r):
            y_at = equations[e, 0] * m + equations[e, 1]
            y = o[PD] + o[Y_AT] + y_at
            q = rhs + label[e]
            for part in range(2):
                for lane in range(LANES):
                    value = -ws[o[YY] + y_at, part, lane]
                    if order == 1:
                        value += ws[y, part, lane]
                    ws[q, part, lane] = ws[scale + label[e], 0, lane] * value
        solve(ws, at, size, pivots, pattern, rhs)
        scatter(ws, o, s_at, cells, column, cell, rhs, wt, st)
        if order == 1:
            for e in range(s_at[1]):
                _accumulate(ws, st + e, o[PD] + o[S0_AT] + e, 1.0)
        read_out(ws, o, widths, s_at, p_at, st, zt)
        read_out_slope(ws, o, widths, s_at, p_at, before, zt)
