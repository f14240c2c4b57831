"""Compiled evaluation of chains in lanes: states, residuals, Jacobian, Taylor coefficients.

The unknowns are the learnable weights w *and* the states S_1, …, S_K (lifted Newton,
Albersmeyer & Diehl 2010).  The lifted equations ``S_k = M_k S_{k-1}``, ``Y = D Z`` are
bilinear in (w, S); eliminating the state increments ("condensing") leaves the same r×r
linear system as with w alone, whose column for a cell (i, j) of W is, in the RNN,
``Σ_δ (D W^δ)[:, i] ⊗ H_δ[j, :]`` with ``H_δ = Σ_k S_{k-1} P_{k+δ}``.

Because the system is bilinear, the Taylor coefficients of a solution path come cheaply:
order j solves the same linear system, its right-hand side a convolution of the lower orders.

References
----------
.. [1] J. Albersmeyer, M. Diehl, "The lifted Newton method and its application in
   optimization", SIAM J. Optim. 20 (2010).
.. [2] S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm for
   polynomial homotopy continuation", SIAM J. Sci. Comput. 42 (2020).
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains.chain import IN_D, IN_M, IN_S0, Chain
from numeric.chains.lanes.linalg import LANES, OPTIONS, clear, copy, matmul_add, solve
from numeric.chains.lanes.simd import dot_add, row_add

# Indices into the array of sizes and slot offsets that the kernels share.
(
    STEPS, COLUMNS, LABELS, SAMPLES, UNKNOWNS, READ_ALL, PARAMETERS, S0_AT, D_AT, Y_AT,
    STATES, Z_SIZE, ORDER, GROUPS,
    PC, PA, PD, WT, ST, ZT, REST, WN, SN, TN, DW, DS, ZN, JAC, ADJ, HID, TMP, YY,
    LIFTED, LIFTED_ROWS, LIFTED_COLUMNS, LIFTED_RHS,
    UNITS, GRAM, PHI,
    SLOTS, COUNT,
) = range(41)  # fmt: skip


# How Z follows from the states: the last one, a sum of products with P, or (P the identity,
# as many samples as inputs) each state's columns in their place.
READ_LAST, READ_SUM, READ_EACH = 0, 1, 2


def _reading(chain: Chain) -> int:
    if not chain.read_all:
        return READ_LAST
    return READ_EACH if chain.samples == chain.steps * chain.columns else READ_SUM


def layout(chain: Chain, order: int, lifted: bool = False) -> dict[str, np.ndarray]:
    """Sizes, slot offsets and index tables of a chain, as the kernels take them.

    Returns
    -------
    dict
        ``o`` (sizes and offsets), ``widths``, ``s_at`` (offsets of the states), ``m_at``,
        ``p_at``, ``cells`` and ``equations``; ``groups`` is the group of each unknown for
        error norms (one group a row of a matrix).
    """
    n, c, K = chain.widths, chain.columns, chain.steps
    d, m, r = chain.network.d, chain.samples, chain.unknowns
    o = np.zeros(COUNT, np.int64)
    s_at = np.concatenate([[0], np.cumsum(n * c)])
    states, z = int(s_at[-1]), int(n[-1]) * m
    rows = {(int(kind), int(k), int(i)) for kind, k, i, _, _ in chain.cells}
    index = {row: g for g, row in enumerate(sorted(rows))}
    groups = np.array([index[int(a), int(b), int(i)] for a, b, i, _, _ in chain.cells])
    o[:GROUPS] = [
        K, c, d, m, r, _reading(chain), chain.size, chain.s0_at, chain.d_at, chain.y_at,
        states, z, order,
    ]  # fmt: skip
    o[GROUPS] = len(index)
    wide = int(n.max())
    full = r + states - int(s_at[1]) if lifted else 0
    sizes = {
        PC: chain.size, PA: chain.size, PD: chain.size,
        WT: (order + 1) * r, ST: (order + 1) * states, ZT: (order + 1) * z,
        REST: states, WN: r, SN: states, TN: states, DW: r, DS: states, ZN: z,
        JAC: r * r, ADJ: (K + 1) * d * wide, HID: max(K, 1) * wide * m,
        TMP: 2, YY: d * m,
        LIFTED: full * full, LIFTED_ROWS: full, LIFTED_COLUMNS: full, LIFTED_RHS: full,
        # Room of `numeric.tracking.pade`: its window of coefficients, their products, its factors.
        UNITS: 7 * (r + states), GRAM: 49, PHI: 3,
    }  # fmt: skip
    at = 0
    for key, size in sizes.items():
        o[key] = at
        at += size
    o[SLOTS] = at
    return {
        "o": o,
        "widths": n,
        "s_at": s_at.astype(np.int64),
        "m_at": chain.m_at,
        "p_at": chain.p_at,
        "cells": chain.cells,
        "equations": chain.equations,
        "groups": groups.astype(np.int64),
    }


@numba.njit(**OPTIONS)
def set_point(ws, o, cells, t, w):
    """Parameters at t of every lane, learnable cells from slot w, into PC."""
    for i in range(o[PARAMETERS]):
        a = o[PA] + i
        b = o[PD] + i
        c = o[PC] + i
        for lane in range(LANES):
            ws[c, 0, lane] = ws[a, 0, lane] + t[lane] * ws[b, 0, lane]
            ws[c, 1, lane] = ws[a, 1, lane] + t[lane] * ws[b, 1, lane]
    for c in range(o[UNKNOWNS]):
        copy(ws, o[PC] + cells[c, 4], w + c, 1)


@numba.njit(**OPTIONS)
def read_out(ws, o, widths, s_at, p_at, s, z):
    """``Z`` of the states at slot s, into slot z."""
    K, c, m = o[STEPS], o[COLUMNS], o[SAMPLES]
    if o[READ_ALL] == READ_SUM:
        clear(ws, z, o[Z_SIZE])
        step = s_at[K] - s_at[K - 1]
        for i in range(widths[K]):
            for x in range(m):
                for g in range(c):
                    dot_add(
                        ws, z + i * m + x, s + s_at[1] + i * c + g, step,
                        o[PC] + p_at[1] + g * m + x, c * m, K,
                    )  # fmt: skip
    elif o[READ_ALL] == READ_EACH:
        for k in range(1, K + 1):
            for i in range(widths[K]):
                copy(ws, z + i * m + (K - k) * c, s + s_at[k] + i * c, c)
    else:
        copy(ws, z, s + s_at[K], o[Z_SIZE])


@numba.njit(**OPTIONS)
def read_out_slope(ws, o, widths, s_at, p_at, s, z):
    """Add to slot z the states at slot s times the slope of P."""
    if o[READ_ALL] == READ_SUM:
        K, c, m = o[STEPS], o[COLUMNS], o[SAMPLES]
        step = s_at[K] - s_at[K - 1]
        for i in range(widths[K]):
            for x in range(m):
                for g in range(c):
                    dot_add(
                        ws, z + i * m + x, s + s_at[1] + i * c + g, step,
                        o[PD] + p_at[1] + g * m + x, c * m, K,
                    )  # fmt: skip


@numba.njit(**OPTIONS)
def forward(ws, o, widths, s_at, m_at, p_at, s, z):
    """States of the point in PC, into slot s, and Z, into slot z."""
    c = o[COLUMNS]
    copy(ws, s, o[PC] + o[S0_AT], widths[0] * c)
    for k in range(1, o[STEPS] + 1):
        clear(ws, s + s_at[k], widths[k] * c)
        matmul_add(ws, s + s_at[k], o[PC] + m_at[k], s + s_at[k - 1], widths[k], widths[k - 1], c)
    read_out(ws, o, widths, s_at, p_at, s, z)


@numba.njit(**OPTIONS)
def residual(ws, o, widths, equations, z, rhs):
    """``Y - D Z`` on the equations, into slot rhs."""
    d, m = o[LABELS], o[SAMPLES]
    clear(ws, o[YY], d * m)
    matmul_add(ws, o[YY], o[PC] + o[D_AT], z, d, widths[o[STEPS]], m)
    for e in range(o[UNKNOWNS]):
        at = equations[e, 0] * m + equations[e, 1]
        y = o[PC] + o[Y_AT] + at
        for lane in range(LANES):
            ws[rhs + e, 0, lane] = ws[y, 0, lane] - ws[o[YY] + at, 0, lane]
            ws[rhs + e, 1, lane] = ws[y, 1, lane] - ws[o[YY] + at, 1, lane]


@numba.njit(**OPTIONS)
def jacobian(ws, o, widths, s_at, m_at, p_at, cells, equations, s, z):
    """The condensed Jacobian at the point in PC with states at slot s, Z at slot z, into JAC."""
    K, c, d, m, r = o[STEPS], o[COLUMNS], o[LABELS], o[SAMPLES], o[UNKNOWNS]
    wide = 0
    for k in range(K + 1):
        wide = max(wide, widths[k])
    copy(ws, o[ADJ], o[PC] + o[D_AT], d * widths[K])
    for q in range(1, K + 1):
        to = o[ADJ] + q * d * wide
        clear(ws, to, d * widths[K - q])
        matmul_add(
            ws, to, o[ADJ] + (q - 1) * d * wide, o[PC] + m_at[K - q + 1],
            d, widths[K - q + 1], widths[K - q],
        )  # fmt: skip
    if o[READ_ALL] == READ_SUM:
        for q in range(K):
            at = o[HID] + q * wide * m
            clear(ws, at, widths[0] * m)
            for k in range(1, K - q + 1):
                matmul_add(ws, at, s + s_at[k - 1], o[PC] + p_at[k + q], widths[0], c, m)
    for e in range(r):
        a = equations[e, 0]
        x = equations[e, 1]
        for v in range(r):
            to = o[JAC] + e * r + v
            clear(ws, to, 1)
            kind, step, i, j = cells[v, 0], cells[v, 1], cells[v, 2], cells[v, 3]
            if kind == IN_M and o[READ_ALL] == READ_SUM:
                dot_add(
                    ws, to, o[ADJ] + a * widths[0] + i, d * wide,
                    o[HID] + j * m + x, wide * m, K,
                )  # fmt: skip
            elif kind == IN_M and o[READ_ALL] == READ_EACH:
                last = K - x // c
                dot_add(
                    ws, to, o[ADJ] + a * widths[0] + i, d * wide,
                    s + s_at[last - 1] + j * c + x % c, -widths[0] * c, last,
                )  # fmt: skip
            elif kind == IN_M:
                q = K - step
                row_add(
                    ws, to, o[ADJ] + q * d * wide + a * widths[step] + i,
                    s + s_at[step - 1] + j * c + x, 1,
                )  # fmt: skip
            elif kind == IN_S0 and o[READ_ALL] == READ_SUM:
                dot_add(
                    ws, to, o[ADJ] + d * wide + a * widths[0] + i, d * wide,
                    o[PC] + p_at[1] + j * m + x, c * m, K,
                )  # fmt: skip
            elif kind == IN_S0:
                if x % c == j:
                    copy(ws, to, o[ADJ] + (K - x // c) * d * wide + a * widths[0] + i, 1)
            elif i == a:
                copy(ws, to, z + j * m + x, 1)


@numba.njit(**OPTIONS)
def apply_cells(ws, o, s_at, cells, kind, w, source, target):
    """Add the learnable cells of one kind, with values at slot w, times a source.

    For `IN_M`: ``target_k += w S_{k-1}`` for every step k the cell acts in.  For `IN_S0`:
    ``target_0 += w``.
    """
    c = o[COLUMNS]
    for v in range(o[UNKNOWNS]):
        if cells[v, 0] != kind:
            continue
        step, i, j = cells[v, 1], cells[v, 2], cells[v, 3]
        if kind == IN_S0:
            to = target + i * c + j
            for lane in range(LANES):
                ws[to, 0, lane] += ws[w + v, 0, lane]
                ws[to, 1, lane] += ws[w + v, 1, lane]
        else:
            first = step if step else 1
            last = step if step else o[STEPS]
            for k in range(first, last + 1):
                row_add(ws, target + s_at[k] + i * c, w + v, source + s_at[k - 1] + j * c, c)


@numba.njit(**OPTIONS)
def convolve(ws, o, s_at, cells, order, target):
    """Add ``Σ_{q=1}^{order-1} w_q S_{k-1, order-q}`` of the learnable cells to each state."""
    c, r, states = o[COLUMNS], o[UNKNOWNS], o[STATES]
    for v in range(r):
        if cells[v, 0] != IN_M:
            continue
        step, i, j = cells[v, 1], cells[v, 2], cells[v, 3]
        first = step if step else 1
        last = step if step else o[STEPS]
        for k in range(first, last + 1):
            for x in range(c):
                dot_add(
                    ws, target + s_at[k] + i * c + x, o[WT] + r + v, r,
                    o[ST] + (order - 1) * states + s_at[k - 1] + j * c + x, -states, order - 1,
                )  # fmt: skip


@numba.njit(**OPTIONS)
def lifted_update(ws, o, widths, s_at, m_at, cells, base, new):
    """New lifted states after a Newton step.

    PC holds the old weights, DW the increment, slot base the states the Jacobian was taken
    at; ``S⁺_k = M_k S⁺_{k-1} + δM_k S_{k-1}`` goes to slot new.
    """
    c = o[COLUMNS]
    clear(ws, new, o[STATES])
    copy(ws, new, o[PC] + o[S0_AT], widths[0] * c)
    apply_cells(ws, o, s_at, cells, IN_S0, o[DW], base, new)
    apply_cells(ws, o, s_at, cells, IN_M, o[DW], base, new)
    for k in range(1, o[STEPS] + 1):
        matmul_add(
            ws, new + s_at[k], o[PC] + m_at[k], new + s_at[k - 1], widths[k], widths[k - 1], c
        )


@numba.njit(**OPTIONS)
def taylor(ws, o, widths, s_at, m_at, p_at, cells, equations, pivots, pattern):
    """Taylor coefficients 1 … ORDER of w, S and Z in t, at the point in PC.

    Orders 0 stand in WT, ST and ZT; JAC holds the factors of the Jacobian there.
    """
    K, c, d, m, r = o[STEPS], o[COLUMNS], o[LABELS], o[SAMPLES], o[UNKNOWNS]
    states, zs = o[STATES], o[Z_SIZE]
    rest, sigma, z = o[REST], o[DS], o[ZN]
    for order in range(1, o[ORDER] + 1):
        st = o[ST] + order * states
        wt = o[WT] + order * r
        zt = o[ZT] + order * zs
        before = o[ST] + (order - 1) * states
        # Everything of this order but what the new weights bring: R_k.
        clear(ws, rest, states)
        if order == 1:
            copy(ws, rest, o[PD] + o[S0_AT], widths[0] * c)
        for k in range(1, K + 1):
            matmul_add(
                ws, rest + s_at[k], o[PD] + m_at[k], before + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        convolve(ws, o, s_at, cells, order, rest)
        copy(ws, sigma, rest, states)
        for k in range(1, K + 1):
            matmul_add(
                ws, sigma + s_at[k], o[PC] + m_at[k], sigma + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        read_out(ws, o, widths, s_at, p_at, sigma, z)
        read_out_slope(ws, o, widths, s_at, p_at, before, z)
        clear(ws, o[YY], d * m)
        matmul_add(ws, o[YY], o[PC] + o[D_AT], z, d, widths[K], m)
        matmul_add(ws, o[YY], o[PD] + o[D_AT], o[ZT] + (order - 1) * zs, d, widths[K], m)
        for v in range(r):
            if cells[v, 0] == IN_D:
                for x in range(m):
                    dot_add(
                        ws, o[YY] + cells[v, 2] * m + x, o[WT] + r + v, r,
                        o[ZT] + (order - 1) * zs + cells[v, 3] * m + x, -zs, order - 1,
                    )  # fmt: skip
        for e in range(r):
            at = equations[e, 0] * m + equations[e, 1]
            y = o[PD] + o[Y_AT] + at
            for part in range(2):
                for lane in range(LANES):
                    ws[wt + e, part, lane] = -ws[o[YY] + at, part, lane]
                if order == 1:
                    for lane in range(LANES):
                        ws[wt + e, part, lane] += ws[y, part, lane]
        solve(ws, o[JAC], r, pivots, pattern, wt)
        copy(ws, st, rest, states)
        apply_cells(ws, o, s_at, cells, IN_S0, wt, st, st)
        apply_cells(ws, o, s_at, cells, IN_M, wt, o[ST], st)
        for k in range(1, K + 1):
            matmul_add(
                ws, st + s_at[k], o[PC] + m_at[k], st + s_at[k - 1], widths[k], widths[k - 1], c
            )
        read_out(ws, o, widths, s_at, p_at, st, zt)
        read_out_slope(ws, o, widths, s_at, p_at, before, zt)
