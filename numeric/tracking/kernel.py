"""The compiled loop of the path tracker: many paths, `LANES` at a time.

One step is: Taylor coefficients at the current point (one factorisation, any order), a common
denominator for all components (`numeric.tracking.pade`), the step length, prediction, one
lifted Newton
step, and a simplified one whose contraction decides whether the step is accepted.  Errors are
relative to the size of each state and of each row of weights, so weights of size 10^5 do not
stall a path.  A lane that finishes takes the next path.
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains.lanes.condensed import (
    DW,
    GRAM,
    GROUPS,
    JAC,
    LIFTED,
    LIFTED_RHS,
    LIFTED_ROWS,
    ORDER,
    PA,
    PARAMETERS,
    PD,
    PHI,
    SN,
    ST,
    STATES,
    STEPS,
    TMP,
    TN,
    UNITS,
    UNKNOWNS,
    WN,
    WT,
    Z_SIZE,
    ZN,
    ZT,
    forward,
    jacobian,
    lifted_update,
    read_out,
    residual,
    set_point,
    taylor,
)  # fmt: skip
from numeric.chains.lanes.lifted import (
    lifted_matrix,
    lifted_residual,
    lifted_taylor,
    scatter,
)  # fmt: skip
from numeric.chains.lanes.linalg import LANES, OPTIONS, copy, factor, solve
from numeric.tracking.pade import DEGREE, denominator, fit, predict, set_factors, take_units
from numeric.tracking.steps import DONE, SLOW, STUCK

# Weights below this size are measured absolutely.
_FLOOR = 0.1


@numba.njit(**OPTIONS)
def _scales(ws, o, s_at, groups, w, s, scale):
    """Inverse squared sizes of each group of weights and each state, per lane."""
    G, K = o[GROUPS], o[STEPS]
    for g in range(G):
        for lane in range(LANES):
            scale[g, lane] = _FLOOR * _FLOOR
    for v in range(o[UNKNOWNS]):
        g = groups[v]
        for lane in range(LANES):
            re = ws[w + v, 0, lane]
            im = ws[w + v, 1, lane]
            scale[g, lane] = max(scale[g, lane], re * re + im * im)
    for k in range(K + 1):
        for lane in range(LANES):
            scale[G + k, lane] = 1e-300
        for i in range(s + s_at[k], s + s_at[k + 1]):
            for lane in range(LANES):
                re = ws[i, 0, lane]
                im = ws[i, 1, lane]
                scale[G + k, lane] = max(scale[G + k, lane], re * re + im * im)
    for g in range(G + K + 1):
        for lane in range(LANES):
            scale[g, lane] = 1.0 / scale[g, lane]


@numba.njit(**OPTIONS)
def _norm(ws, o, s_at, groups, w, s, minus, scale, out):
    """Largest relative size per lane of weights at slot w and states at slot s less `minus`.

    With ``minus < 0`` nothing is subtracted; with ``s < 0`` only the weights count.
    """
    G = o[GROUPS]
    for lane in range(LANES):
        out[lane] = 0.0
    for v in range(o[UNKNOWNS]):
        g = groups[v]
        for lane in range(LANES):
            re = ws[w + v, 0, lane]
            im = ws[w + v, 1, lane]
            out[lane] = max(out[lane], (re * re + im * im) * scale[g, lane])
    if s >= 0:
        for k in range(1, o[STEPS] + 1):
            for i in range(s_at[k], s_at[k + 1]):
                if minus >= 0:
                    for lane in range(LANES):
                        re = ws[s + i, 0, lane] - ws[minus + i, 0, lane]
                        im = ws[s + i, 1, lane] - ws[minus + i, 1, lane]
                        out[lane] = max(out[lane], (re * re + im * im) * scale[G + k, lane])
                else:
                    for lane in range(LANES):
                        re = ws[s + i, 0, lane]
                        im = ws[s + i, 1, lane]
                        out[lane] = max(out[lane], (re * re + im * im) * scale[G + k, lane])
    for lane in range(LANES):
        out[lane] = np.sqrt(out[lane])


@numba.njit(**OPTIONS)
def _add_step(ws, o):
    for v in range(o[UNKNOWNS]):
        for lane in range(LANES):
            ws[o[WN] + v, 0, lane] += ws[o[DW] + v, 0, lane]
            ws[o[WN] + v, 1, lane] += ws[o[DW] + v, 1, lane]


@numba.njit(**OPTIONS)
def _newton(
    ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell, label,
    lifted, sizes, pivots, pattern, fresh, base, new, t,
):  # fmt: skip
    """One Newton step at WN with states at slot base; new states to slot new, step in DW."""
    set_point(ws, o, cells, t, o[WN])
    if lifted:
        size = o[UNKNOWNS] + o[STATES] - s_at[1]
        if fresh:
            read_out(ws, o, widths, s_at, p_at, base, o[ZN])
            lifted_matrix(
                ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell,
                label, sizes, base, o[ZN], o[LIFTED], o[LIFTED_ROWS],
            )  # fmt: skip
            factor(ws, o[LIFTED], size, pivots, pattern, o[TMP])
        lifted_residual(
            ws, o, widths, s_at, m_at, p_at, equations, row, label, base, o[ZN],
            o[LIFTED_ROWS], o[LIFTED_RHS],
        )  # fmt: skip
        solve(ws, o[LIFTED], size, pivots, pattern, o[LIFTED_RHS])
        scatter(ws, o, s_at, cells, column, cell, o[LIFTED_RHS], o[DW], new)
        for i in range(o[STATES]):
            for lane in range(LANES):
                ws[new + i, 0, lane] += ws[base + i, 0, lane]
                ws[new + i, 1, lane] += ws[base + i, 1, lane]
        _add_step(ws, o)
        return
    forward(ws, o, widths, s_at, m_at, p_at, o[TN], o[ZN])
    residual(ws, o, widths, equations, o[ZN], o[DW])
    if fresh:
        jacobian(ws, o, widths, s_at, m_at, p_at, cells, equations, base, o[ZN])
        factor(ws, o[JAC], o[UNKNOWNS], pivots, pattern, o[TMP])
    solve(ws, o[JAC], o[UNKNOWNS], pivots, pattern, o[DW])
    lifted_update(ws, o, widths, s_at, m_at, cells, base, new)
    _add_step(ws, o)


@numba.njit(**OPTIONS)
def track_paths(
    ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell, label,
    lifted, first, second, first_of, second_of, starts, options,
    roots, lifts, status, steps, rejected, reached, error,
):  # fmt: skip
    r, size, states, order = o[UNKNOWNS], o[PARAMETERS], o[STATES], o[ORDER]
    tolerance, contraction, accuracy = options[0], options[1], options[2]
    shortest, most_steps, most_rejected = options[3], options[4], options[5]
    paths = len(starts)
    pivots = np.zeros((r + states, LANES), np.int64)
    pattern = np.zeros((r + states, r + states + 2), np.int64)
    scale = np.ones((o[GROUPS] + o[STEPS] + 1, LANES))
    t = np.zeros(LANES)
    aim = np.zeros(LANES)
    h = np.zeros(LANES)
    shrink = np.ones(LANES)
    e1 = np.zeros(LANES)
    e2 = np.zeros(LANES)
    a0 = np.zeros(LANES)
    rate = np.zeros(LANES)
    poles = np.zeros((DEGREE + 1, LANES), np.complex128)
    path = np.full(LANES, -1)
    again = np.zeros(LANES, np.int64)
    polished = np.zeros(LANES, np.int64)
    fails = np.zeros(LANES, np.int64)
    ws[:] = 0.0
    waiting = 0
    alive = 0
    while True:
        # Idle lanes take the next path; when none is left they compute on, unread.
        loaded = False
        for lane in range(LANES):
            if path[lane] >= 0:
                continue
            if waiting < paths:
                path[lane] = waiting
                waiting += 1
                alive += 1
            else:
                continue
            p = path[lane]
            u, v = first_of[p], second_of[p]
            for i in range(size):
                x = first[u, i]
                dx = second[v, i] - x
                ws[o[PA] + i, 0, lane] = x.real
                ws[o[PA] + i, 1, lane] = x.imag
                ws[o[PD] + i, 0, lane] = dx.real
                ws[o[PD] + i, 1, lane] = dx.imag
            for i in range(r):
                ws[o[WT] + i, 0, lane] = starts[p, i].real
                ws[o[WT] + i, 1, lane] = starts[p, i].imag
                ws[o[PD] + cells[i, 4], 0, lane] = 0.0
                ws[o[PD] + cells[i, 4], 1, lane] = 0.0
            t[lane] = 0.0
            again[lane] = 1
            fails[lane] = 0
            polished[lane] = 0
            shrink[lane] = 1.0
            loaded = True
        if alive == 0:
            break
        set_point(ws, o, cells, t, o[WT])
        if loaded:
            # Fresh lanes have no states yet; for the others they are recomputed in TN only.
            forward(ws, o, widths, s_at, m_at, p_at, o[TN], o[ZN])
            for lane in range(LANES):
                if again[lane] == 1:
                    again[lane] = 0
                    for i in range(states):
                        ws[o[ST] + i, 0, lane] = ws[o[TN] + i, 0, lane]
                        ws[o[ST] + i, 1, lane] = ws[o[TN] + i, 1, lane]
                    for i in range(o[Z_SIZE]):
                        ws[o[ZT] + i, 0, lane] = ws[o[ZN] + i, 0, lane]
                        ws[o[ZT] + i, 1, lane] = ws[o[ZN] + i, 1, lane]
        _scales(ws, o, s_at, groups, o[WT], o[ST], scale)
        if lifted:
            lifted_matrix(
                ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell,
                label, scale, o[ST], o[ZT], o[LIFTED], o[LIFTED_ROWS],
            )  # fmt: skip
            factor(ws, o[LIFTED], r + states - s_at[1], pivots, pattern, o[TMP])
            lifted_taylor(
                ws, o, widths, s_at, m_at, p_at, cells, equations, pivots, pattern,
                column, row, cell, label, o[LIFTED], o[LIFTED_ROWS], o[LIFTED_RHS],
            )  # fmt: skip
        else:
            jacobian(ws, o, widths, s_at, m_at, p_at, cells, equations, o[ST], o[ZT])
            factor(ws, o[JAC], r, pivots, pattern, o[TMP])
            taylor(ws, o, widths, s_at, m_at, p_at, cells, equations, pivots, pattern)
        free = states - s_at[1]
        for v in range(r):
            take_units(ws, o[UNITS], r + free, v, o[WT] + v, r, 1, order, scale[groups[v]])
        for k in range(1, o[STEPS] + 1):
            take_units(
                ws, o[UNITS], r + free, r + s_at[k] - s_at[1], o[ST] + s_at[k], states,
                s_at[k + 1] - s_at[k], order, scale[o[GROUPS] + k],
            )  # fmt: skip
        fit(ws, o[UNITS], o[GRAM], r + free, poles, a0, rate)
        for lane in range(LANES):
            h[lane] = 0.0
            aim[lane] = t[lane]
            if path[lane] < 0:
                continue
            step = 1.0
            if a0[lane] > 0.0:
                step = min(1.0, (tolerance / a0[lane]) ** (1.0 / (order + 1)))
                # Poles of the fraction on the way make it useless near them.
                for _ in range(8):
                    if abs(denominator(poles, lane, step)) > 0.2:
                        break
                    step *= 0.8
            step *= shrink[lane]
            if not step > 0.0:
                step = shortest
            # Never leave a last sliver of the way.
            left = 1.0 - t[lane]
            if step >= left:
                h[lane] = left
                aim[lane] = 1.0
            else:
                h[lane] = min(step, max(0.5 * left, step * 0.5)) if step > 0.9 * left else step
                aim[lane] = t[lane] + h[lane]
        set_factors(ws, o[PHI], poles, h)
        predict(ws, o[PHI], o[WT], r, order, h, o[WN])
        predict(ws, o[PHI], o[ST], states, order, h, o[SN])
        _newton(
            ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell, label,
            lifted, scale, pivots, pattern, True, o[SN], o[TN], aim,
        )  # fmt: skip
        # The first increment measures the predictor's error.
        _norm(ws, o, s_at, groups, o[DW], o[TN], o[SN], scale, e1)
        copy(ws, o[SN], o[TN], states)
        _newton(
            ws, o, widths, s_at, m_at, p_at, cells, equations, groups, column, row, cell, label,
            lifted, scale, pivots, pattern, False, o[SN], o[TN], aim,
        )  # fmt: skip
        _norm(ws, o, s_at, groups, o[DW], o[TN], o[SN], scale, e2)
        if lifted:
            read_out(ws, o, widths, s_at, p_at, o[TN], o[ZN])
        else:
            set_point(ws, o, cells, aim, o[WN])
            forward(ws, o, widths, s_at, m_at, p_at, o[TN], o[ZN])
        for lane in range(LANES):
            p = path[lane]
            if p < 0:
                continue
            steps[p] += 1
            good = (
                e1[lane] < 0.1
                and e2[lane] <= max(contraction * e1[lane], 0.1 * accuracy)
                and e2[lane] <= accuracy
            )
            if good:
                t[lane] = aim[lane]
                fails[lane] = 0
                for i in range(r):
                    ws[o[WT] + i, 0, lane] = ws[o[WN] + i, 0, lane]
                    ws[o[WT] + i, 1, lane] = ws[o[WN] + i, 1, lane]
                for i in range(states):
                    ws[o[ST] + i, 0, lane] = ws[o[TN] + i, 0, lane]
                    ws[o[ST] + i, 1, lane] = ws[o[TN] + i, 1, lane]
                for i in range(o[Z_SIZE]):
                    ws[o[ZT] + i, 0, lane] = ws[o[ZN] + i, 0, lane]
                    ws[o[ZT] + i, 1, lane] = ws[o[ZN] + i, 1, lane]
                factor_up = (tolerance / (e1[lane] + 1e-30)) ** (1.0 / (order + 1))
                shrink[lane] = min(2.0, max(0.3, shrink[lane] * min(1.3, max(0.7, factor_up))))
            else:
                rejected[p] += 1
                fails[lane] += 1
                shrink[lane] *= 0.5
            # At the end one more round, with no step, polishes the root.
            finished = t[lane] >= 1.0 and (polished[lane] == 1 or e2[lane] < 1e-12)
            polished[lane] = 1 if t[lane] >= 1.0 else 0
            if finished:
                status[p] = DONE
            elif t[lane] < 1.0 and (h[lane] < shortest or fails[lane] > 30):
                status[p] = STUCK
                finished = True
            elif t[lane] < 1.0 and (steps[p] >= most_steps or rejected[p] >= most_rejected):
                status[p] = SLOW
                finished = True
            if finished:
                reached[p] = t[lane]
                error[p] = e2[lane]
                for i in range(r):
                    roots[p, i] = complex(ws[o[WT] + i, 0, lane], ws[o[WT] + i, 1, lane])
                for i in range(lifts.shape[1]):
                    u = o[ST] + s_at[1] + i
                    lifts[p, i] = complex(ws[u, 0, lane], ws[u, 1, lane])
                path[lane] = -1
                alive -= 1
