"""Compiled evaluation of chains in lanes: states, residuals, Jacobian, Taylor coefficients.

The unknowns are the learnable weights w *and* the states S_1, …, S_K (lifted Newton,
Albersmeyer & Diehl 2010).  The lifted equations ``S_k = M_k S_{k-1}``, ``Y = D Z`` are
bilinear in (w, S); eliminating the state increments ("condensing") leaves the same r×r
linear system as with w alone, whose column for a cell (i, j) of W is, in the RNN,
``Σ_δ (D W^δ)[:, i] ⊗ H_δ[j, :]`` with ``H_δ = Σ_k S_{k-1} P_{k+δ}``.

Because the system is bilinear, the Taylor coefficients of a solution path are cheap:
order j solves the same linear system, and its right-hand side is a convolution of lower orders.

References
----------
.. [1] J. Albersmeyer, M. Diehl, "The lifted Newton method and its application in
   optimization", SIAM J. Optim. 20 (2010).
.. [2] S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm for
   polynomial homotopy continuation", SIAM J. Sci. Comput. 42 (2020).
"""

from __future__ import annotations

from numeric.chains.lanes.linalg import LANES, OPTIONS, clear, copy, dots_add, matmul_add, solve
from numeric.chains.lanes.simd import dot_add, row_add
from numeric.chains.lanes.table import READ_EACH, READ_SUM
from numeric.chains.table import IN_D, IN_M, IN_S0
from numeric.kernels import njit


@njit(**OPTIONS)
def set_point(ws, o, t, w):
    """Parameters at t of every lane, with the learnable cells from slot w, written to `now`."""
    chain, slot = o.chain, o.slot
    cells = chain.cells
    for i in range(chain.size):
        a = slot.base + i
        b = slot.slope + i
        c = slot.now + i
        for lane in range(LANES):
            ws[c, 0, lane] = ws[a, 0, lane] + t[lane] * ws[b, 0, lane]
            ws[c, 1, lane] = ws[a, 1, lane] + t[lane] * ws[b, 1, lane]
    for c in range(chain.unknowns):
        copy(ws, slot.now + cells[c, 4], w + c, 1)


@njit(**OPTIONS)
def read_out(ws, o, s, z):
    """``Z`` of the states at slot s, written to slot z."""
    chain, slot = o.chain, o.slot
    widths, s_at, p_at = chain.widths, chain.s_at, chain.p_at
    K, c, m = chain.steps, chain.columns, chain.samples
    if o.reading == READ_SUM:
        clear(ws, z, chain.z_size)
        step = s_at[K] - s_at[K - 1]
        for i in range(widths[K]):
            for g in range(c):
                dots_add(
                    ws, z + i * m, 1, s + s_at[1] + i * c + g, step,
                    slot.now + p_at[1] + g * m, 1, c * m, K, m,
                )  # fmt: skip
    elif o.reading == READ_EACH:
        for k in range(1, K + 1):
            for i in range(widths[K]):
                copy(ws, z + i * m + (K - k) * c, s + s_at[k] + i * c, c)
    else:
        copy(ws, z, s + s_at[K], chain.z_size)


@njit(**OPTIONS)
def read_out_slope(ws, o, s, z):
    """Add to slot z the states at slot s times the slope of P."""
    chain, slot = o.chain, o.slot
    widths, s_at, p_at = chain.widths, chain.s_at, chain.p_at
    if o.reading == READ_SUM:
        K, c, m = chain.steps, chain.columns, chain.samples
        step = s_at[K] - s_at[K - 1]
        for i in range(widths[K]):
            for g in range(c):
                dots_add(
                    ws, z + i * m, 1, s + s_at[1] + i * c + g, step,
                    slot.slope + p_at[1] + g * m, 1, c * m, K, m,
                )  # fmt: skip


@njit(**OPTIONS)
def forward(ws, o, s, z):
    """States of the point in `now`, written to slot s, and Z, written to slot z."""
    chain, slot = o.chain, o.slot
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    c = chain.columns
    copy(ws, s, slot.now + chain.s0_at, widths[0] * c)
    for k in range(1, chain.steps + 1):
        clear(ws, s + s_at[k], widths[k] * c)
        matmul_add(
            ws, s + s_at[k], slot.now + m_at[k], s + s_at[k - 1], widths[k], widths[k - 1], c
        )
    read_out(ws, o, s, z)


@njit(**OPTIONS)
def residual(ws, o, z, rhs):
    """``Y - D Z`` on the equations, written to slot rhs."""
    chain, slot = o.chain, o.slot
    widths, equations = chain.widths, chain.equations
    d, m = chain.labels, chain.samples
    clear(ws, slot.labels, d * m)
    matmul_add(ws, slot.labels, slot.now + chain.d_at, z, d, widths[chain.steps], m)
    for e in range(chain.unknowns):
        at = equations[e, 0] * m + equations[e, 1]
        y = slot.now + chain.y_at + at
        for lane in range(LANES):
            ws[rhs + e, 0, lane] = ws[y, 0, lane] - ws[slot.labels + at, 0, lane]
            ws[rhs + e, 1, lane] = ws[y, 1, lane] - ws[slot.labels + at, 1, lane]


@njit(**OPTIONS)
def jacobian(ws, o, s, z):
    """The condensed Jacobian at the point in `now`, with states at slot s and Z at slot z."""
    chain, slot = o.chain, o.slot
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    p_at, cells, equations = chain.p_at, chain.cells, chain.equations
    K, c, d, m, r = chain.steps, chain.columns, chain.labels, chain.samples, chain.unknowns
    wide = chain.widest
    copy(ws, slot.adjoints, slot.now + chain.d_at, d * widths[K])
    for q in range(1, K + 1):
        to = slot.adjoints + q * d * wide
        clear(ws, to, d * widths[K - q])
        matmul_add(
            ws, to, slot.adjoints + (q - 1) * d * wide, slot.now + m_at[K - q + 1],
            d, widths[K - q + 1], widths[K - q],
        )  # fmt: skip
    if o.reading == READ_SUM:
        for q in range(K):
            at = slot.hidden + q * wide * m
            clear(ws, at, widths[0] * m)
            for k in range(1, K - q + 1):
                matmul_add(ws, at, s + s_at[k - 1], slot.now + p_at[k + q], widths[0], c, m)
    for e in range(r):
        a = equations[e, 0]
        x = equations[e, 1]
        for v in range(r):
            to = slot.jacobian + e * r + v
            clear(ws, to, 1)
            kind, step, i, j = cells[v, 0], cells[v, 1], cells[v, 2], cells[v, 3]
            if kind == IN_M and o.reading == READ_SUM:
                dot_add(
                    ws, to, slot.adjoints + a * widths[0] + i, d * wide,
                    slot.hidden + j * m + x, wide * m, K,
                )  # fmt: skip
            elif kind == IN_M and o.reading == READ_EACH:
                last = K - x // c
                dot_add(
                    ws, to, slot.adjoints + a * widths[0] + i, d * wide,
                    s + s_at[last - 1] + j * c + x % c, -widths[0] * c, last,
                )  # fmt: skip
            elif kind == IN_M:
                q = K - step
                row_add(
                    ws, to, slot.adjoints + q * d * wide + a * widths[step] + i,
                    s + s_at[step - 1] + j * c + x, 1,
                )  # fmt: skip
            elif kind == IN_S0 and o.reading == READ_SUM:
                dot_add(
                    ws, to, slot.adjoints + d * wide + a * widths[0] + i, d * wide,
                    slot.now + p_at[1] + j * m + x, c * m, K,
                )  # fmt: skip
            elif kind == IN_S0:
                if x % c == j:
                    copy(ws, to, slot.adjoints + (K - x // c) * d * wide + a * widths[0] + i, 1)
            elif i == a:
                copy(ws, to, z + j * m + x, 1)


@njit(**OPTIONS)
def apply_cells(ws, o, kind, w, source, target):
    """Add the learnable cells of one kind, with values at slot w, times a source.

    For `IN_M`: ``target_k += w S_{k-1}`` for every step k the cell acts in.  For `IN_S0`:
    ``target_0 += w``.
    """
    chain = o.chain
    s_at, cells = chain.s_at, chain.cells
    c = chain.columns
    for v in range(chain.unknowns):
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
            last = step if step else chain.steps
            for k in range(first, last + 1):
                row_add(ws, target + s_at[k] + i * c, w + v, source + s_at[k - 1] + j * c, c)


@njit(**OPTIONS)
def convolve(ws, o, order, target):
    """Add ``Σ_{q=1}^{order-1} w_q S_{k-1, order-q}`` of the learnable cells to each state."""
    chain, slot = o.chain, o.slot
    s_at, cells = chain.s_at, chain.cells
    c, r, states = chain.columns, chain.unknowns, chain.states
    for v in range(r):
        if cells[v, 0] != IN_M:
            continue
        step, i, j = cells[v, 1], cells[v, 2], cells[v, 3]
        first = step if step else 1
        last = step if step else chain.steps
        for k in range(first, last + 1):
            dots_add(
                ws, target + s_at[k] + i * c, 1, slot.weights + r + v, r,
                slot.states + (order - 1) * states + s_at[k - 1] + j * c, 1, -states,
                order - 1, c,
            )  # fmt: skip


@njit(**OPTIONS)
def lifted_update(ws, o, base, new):
    """New lifted states after a Newton step.

    `now` holds the old weights, `step` the increment, slot base the states at which the Jacobian
    was computed; ``S⁺_k = M_k S⁺_{k-1} + δM_k S_{k-1}`` is written to slot new.
    """
    chain, slot = o.chain, o.slot
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    c = chain.columns
    clear(ws, new, chain.states)
    copy(ws, new, slot.now + chain.s0_at, widths[0] * c)
    apply_cells(ws, o, IN_S0, slot.step, base, new)
    apply_cells(ws, o, IN_M, slot.step, base, new)
    for k in range(1, chain.steps + 1):
        matmul_add(
            ws, new + s_at[k], slot.now + m_at[k], new + s_at[k - 1], widths[k], widths[k - 1], c
        )


@njit(**OPTIONS)
def taylor(ws, o, pivots, pattern):
    """Taylor coefficients 1 … J of w, S and Z in t, at the point in `now`.

    Orders 0 are given in `weights`, `states` and `z`; `jacobian` holds the factors there.
    """
    chain, slot = o.chain, o.slot
    widths, s_at, m_at = chain.widths, chain.s_at, chain.m_at
    cells, equations = chain.cells, chain.equations
    K, c, d, m, r = chain.steps, chain.columns, chain.labels, chain.samples, chain.unknowns
    states, zs = chain.states, chain.z_size
    rest, sigma, z = slot.rest, slot.sigma, slot.new_z
    for order in range(1, o.order + 1):
        st = slot.states + order * states
        wt = slot.weights + order * r
        zt = slot.z + order * zs
        before = slot.states + (order - 1) * states
        # All terms of this order except those of the new weights: R_k.
        clear(ws, rest, states)
        if order == 1:
            copy(ws, rest, slot.slope + chain.s0_at, widths[0] * c)
        for k in range(1, K + 1):
            matmul_add(
                ws, rest + s_at[k], slot.slope + m_at[k], before + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        convolve(ws, o, order, rest)
        copy(ws, sigma, rest, states)
        for k in range(1, K + 1):
            matmul_add(
                ws, sigma + s_at[k], slot.now + m_at[k], sigma + s_at[k - 1],
                widths[k], widths[k - 1], c,
            )  # fmt: skip
        read_out(ws, o, sigma, z)
        read_out_slope(ws, o, before, z)
        clear(ws, slot.labels, d * m)
        matmul_add(ws, slot.labels, slot.now + chain.d_at, z, d, widths[K], m)
        matmul_add(
            ws, slot.labels, slot.slope + chain.d_at, slot.z + (order - 1) * zs, d, widths[K], m
        )
        for v in range(r):
            if cells[v, 0] == IN_D:
                dots_add(
                    ws, slot.labels + cells[v, 2] * m, 1, slot.weights + r + v, r,
                    slot.z + (order - 1) * zs + cells[v, 3] * m, 1, -zs, order - 1, m,
                )  # fmt: skip
        for e in range(r):
            at = equations[e, 0] * m + equations[e, 1]
            y = slot.slope + chain.y_at + at
            for part in range(2):
                for lane in range(LANES):
                    ws[wt + e, part, lane] = -ws[slot.labels + at, part, lane]
                if order == 1:
                    for lane in range(LANES):
                        ws[wt + e, part, lane] += ws[y, part, lane]
        solve(ws, slot.jacobian, r, pivots, pattern, wt)
        copy(ws, st, rest, states)
        apply_cells(ws, o, IN_S0, wt, st, st)
        apply_cells(ws, o, IN_M, wt, slot.states, st)
        for k in range(1, K + 1):
            matmul_add(
                ws, st + s_at[k], slot.now + m_at[k], st + s_at[k - 1], widths[k], widths[k - 1], c
            )
        read_out(ws, o, st, zt)
        read_out_slope(ws, o, before, zt)
