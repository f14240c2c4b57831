"""The compiled loop of the path tracker: many paths, `LANES` at a time.

One step consists of: Taylor coefficients at the current point (one factorisation, any order), a
common denominator for all components (`numeric.tracking.pade`), the step length, prediction, one
lifted Newton step, and a simplified one whose contraction decides whether the step is accepted
(`numeric.tracking.steps`).  Errors are relative to the size of each state and of each row of
weights, so weights of size 10^5 do not stall a path.  A lane that finishes takes the next path.

Throughout, `ws` is the workspace, an ndarray of float of shape (o.slot.total, 2, LANES), and `o`
the `numeric.chains.lanes.table.LanesTable` with the offsets in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.chains.lanes.condensed import (
    forward,
    jacobian,
    lifted_update,
    read_out,
    residual,
    set_point,
    taylor,
)
from numeric.chains.lanes.lifted import (
    lifted_matrix,
    lifted_residual,
    lifted_taylor,
    scatter,
)
from numeric.chains.lanes.linalg import LANES, ONCE, OPTIONS, copy, factor, solve
from numeric.kernels import njit
from numeric.tracking.pade import fit, predict, set_factors, take_units
from numeric.tracking.steps import (
    FLOOR,
    choose_steps,
    fill,
    hand_over,
    judge,
    keep,
    load,
    make_lanes,
    release,
)


class KernelArrays(NamedTuple):
    """Arrays of the kernel besides the workspace.

    Attributes
    ----------
    scale : ndarray of float, shape (o.group_count + K + 1, LANES)
        Inverse squared sizes of each group of weights, then of each state.
    pivots, pattern : ndarray of int
        Pivots and pattern of the factors (`numeric.chains.lanes.linalg.factor`).
    """

    scale: np.ndarray
    pivots: np.ndarray
    pattern: np.ndarray


@njit(**ONCE)
def _make_arrays(o):
    size = o.chain.unknowns + o.chain.states
    return KernelArrays(
        np.ones((o.group_count + o.chain.steps + 1, LANES)),
        np.zeros((size, LANES), np.int64),
        np.zeros((size, size + 2), np.int64),
    )


@njit(**OPTIONS)
def _load(ws, o, lanes, lines):
    """Set up the newly loaded lanes: line, start, states and Z; learnable cells do not move."""
    chain, slot = o.chain, o.slot
    fill(ws, lanes, lines, slot.base, slot.slope, slot.weights)
    loaded = False
    for lane in range(LANES):
        if lanes.fresh[lane] == 1:
            loaded = True
            for v in range(chain.unknowns):
                ws[slot.slope + chain.cells[v, 4], 0, lane] = 0.0
                ws[slot.slope + chain.cells[v, 4], 1, lane] = 0.0
    set_point(ws, o, lanes.t, slot.weights)
    if not loaded:
        return
    # New lanes have no states yet; for the others the states in new_states are recomputed.
    forward(ws, o, slot.new_states, slot.new_z)
    for lane in range(LANES):
        if lanes.fresh[lane] == 1:
            lanes.fresh[lane] = 0
            for i in range(chain.states):
                ws[slot.states + i, 0, lane] = ws[slot.new_states + i, 0, lane]
                ws[slot.states + i, 1, lane] = ws[slot.new_states + i, 1, lane]
            for i in range(chain.z_size):
                ws[slot.z + i, 0, lane] = ws[slot.new_z + i, 0, lane]
                ws[slot.z + i, 1, lane] = ws[slot.new_z + i, 1, lane]


@njit(**OPTIONS)
def _scales(ws, o, scale):
    """Inverse squared sizes of each group of weights and each state, per lane."""
    G, K, w, s = o.group_count, o.chain.steps, o.slot.weights, o.slot.states
    s_at = o.chain.s_at
    for g in range(G):
        for lane in range(LANES):
            scale[g, lane] = FLOOR * FLOOR
    for v in range(o.chain.unknowns):
        g = o.groups[v]
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


@njit(**ONCE)
def _series(ws, o, work, lifted):
    """Taylor coefficients 1 … J of weights, states and Z at the lanes' current points."""
    slot = o.slot
    pivots, pattern = work.pivots, work.pattern
    if lifted is not None:
        lifted_matrix(ws, o, work.scale, slot.states, slot.z)
        factor(ws, slot.lifted, o.chain.unknowns + o.free, pivots, pattern, slot.scratch)
        lifted_taylor(ws, o, pivots, pattern)
    else:
        jacobian(ws, o, slot.states, slot.z)
        factor(ws, slot.jacobian, o.chain.unknowns, pivots, pattern, slot.scratch)
        taylor(ws, o, pivots, pattern)


@njit(**ONCE)
def _fit(ws, o, lanes, scale):
    """The common denominator of weights and states, each in units of its group's size."""
    chain, slot = o.chain, o.slot
    r, s_at, size = chain.unknowns, chain.s_at, chain.unknowns + o.free
    for v in range(r):
        take_units(
            ws, slot.units, size, v, slot.weights + v, r, 1, o.order, scale[o.groups[v]]
        )  # fmt: skip
    for k in range(1, chain.steps + 1):
        take_units(
            ws, slot.units, size, r + s_at[k] - s_at[1], slot.states + s_at[k], chain.states,
            s_at[k + 1] - s_at[k], o.order, scale[o.group_count + k],
        )  # fmt: skip
    fit(ws, slot.units, slot.gram, size, lanes.poles, lanes.size, lanes.rate)


@njit(**ONCE)
def _predict(ws, o, lanes):
    """Weights and states at the target t, by the fractions: new_weights and guess."""
    slot = o.slot
    set_factors(ws, slot.phi, lanes.poles, lanes.h)
    predict(ws, slot.phi, slot.weights, o.chain.unknowns, o.order, lanes.h, slot.new_weights)
    predict(ws, slot.phi, slot.states, o.chain.states, o.order, lanes.h, slot.guess)


@njit(**OPTIONS)
def _add_step(ws, o):
    new, step = o.slot.new_weights, o.slot.step
    for v in range(o.chain.unknowns):
        for lane in range(LANES):
            ws[new + v, 0, lane] += ws[step + v, 0, lane]
            ws[new + v, 1, lane] += ws[step + v, 1, lane]


@njit(**ONCE)
def _lifted_newton(ws, o, work, fresh):
    """`_newton` with the states as unknowns of the linear system."""
    slot, states = o.slot, o.chain.states
    size = o.chain.unknowns + o.free
    if fresh:
        read_out(ws, o, slot.guess, slot.new_z)
        lifted_matrix(ws, o, work.scale, slot.guess, slot.new_z)
        factor(ws, slot.lifted, size, work.pivots, work.pattern, slot.scratch)
    lifted_residual(ws, o, slot.guess, slot.new_z)
    solve(ws, slot.lifted, size, work.pivots, work.pattern, slot.right_side)
    scatter(ws, o, slot.right_side, slot.step, slot.new_states)
    for i in range(states):
        for lane in range(LANES):
            ws[slot.new_states + i, 0, lane] += ws[slot.guess + i, 0, lane]
            ws[slot.new_states + i, 1, lane] += ws[slot.guess + i, 1, lane]


@njit(**ONCE)
def _condensed_newton(ws, o, work, fresh):
    """`_newton` with the states' increments eliminated."""
    slot, r = o.slot, o.chain.unknowns
    forward(ws, o, slot.new_states, slot.new_z)
    residual(ws, o, slot.new_z, slot.step)
    if fresh:
        jacobian(ws, o, slot.guess, slot.new_z)
        factor(ws, slot.jacobian, r, work.pivots, work.pattern, slot.scratch)
    solve(ws, slot.jacobian, r, work.pivots, work.pattern, slot.step)
    lifted_update(ws, o, slot.guess, slot.new_states)


@njit(**ONCE)
def _newton(ws, o, work, t, fresh, size, lifted):
    """One lifted Newton step from new_weights and guess; its relative size goes to `size`.

    Adds to new_weights and writes new_states.  With ``fresh`` false the present factors are used.
    """
    set_point(ws, o, t, o.slot.new_weights)
    if lifted is not None:
        _lifted_newton(ws, o, work, fresh)
    else:
        _condensed_newton(ws, o, work, fresh)
    _add_step(ws, o)
    _size(ws, o, work.scale, size)


@njit(**OPTIONS)
def _size(ws, o, scale, out):
    """Largest relative size per lane of the weights' step and of new_states minus guess."""
    slot, s_at = o.slot, o.chain.s_at
    for lane in range(LANES):
        out[lane] = 0.0
    for v in range(o.chain.unknowns):
        g = o.groups[v]
        for lane in range(LANES):
            re = ws[slot.step + v, 0, lane]
            im = ws[slot.step + v, 1, lane]
            out[lane] = max(out[lane], (re * re + im * im) * scale[g, lane])
    for k in range(1, o.chain.steps + 1):
        g = o.group_count + k
        for i in range(s_at[k], s_at[k + 1]):
            for lane in range(LANES):
                re = ws[slot.new_states + i, 0, lane] - ws[slot.guess + i, 0, lane]
                im = ws[slot.new_states + i, 1, lane] - ws[slot.guess + i, 1, lane]
                out[lane] = max(out[lane], (re * re + im * im) * scale[g, lane])
    for lane in range(LANES):
        out[lane] = np.sqrt(out[lane])


@njit(**ONCE)
def _correct(ws, o, lanes, work, lifted):
    """Two Newton steps with one factorisation at the prediction; the final Z goes to new_z."""
    slot = o.slot
    for fresh in (True, False):
        if not fresh:
            copy(ws, slot.guess, slot.new_states, o.chain.states)
        size = lanes.first if fresh else lanes.second
        _newton(ws, o, work, lanes.aim, fresh, size, lifted)
    if lifted is not None:
        read_out(ws, o, slot.new_states, slot.new_z)
    else:
        set_point(ws, o, lanes.aim, slot.new_weights)
        forward(ws, o, slot.new_states, slot.new_z)


@njit(**OPTIONS)
def track_paths(ws, o, options, lines, roots, lifts, outcome, lifted):
    """Track paths along straight lines of parameters.

    Parameters
    ----------
    ws : ndarray of float, shape (o.slot.total, 2, LANES)
    o : numeric.chains.lanes.table.LanesTable
    options : numeric.tracking.steps.TrackerOptions
    lines : numeric.tracking.steps.Lines
        Of o.chain.size parameters and r unknowns.
    roots : ndarray of complex, shape (paths, r)
        Output.
    lifts : ndarray of complex, shape (paths, o.free) or (paths, 0)
        Output: states S_1, …, S_K at the ends.
    outcome : numeric.tracking.steps.PathOutcomes
        Output.
    lifted : True or None
        Whether the states are unknowns too.  None is a type of its own: a call compiles the
        one of the two trackers that it uses.
    """
    chain, slot, paths = o.chain, o.slot, len(roots)
    lanes = make_lanes()
    work = _make_arrays(o)
    ws[:] = 0.0
    waiting = ended = 0
    while ended < paths:
        waiting = load(lanes, waiting, paths)
        _load(ws, o, lanes, lines)
        _scales(ws, o, work.scale)
        _series(ws, o, work, lifted)
        _fit(ws, o, lanes, work.scale)
        choose_steps(lanes, o.order, options)
        _predict(ws, o, lanes)
        _correct(ws, o, lanes, work, lifted)
        ended += judge(lanes, o.order, options, outcome)
        keep(ws, lanes, slot.weights, slot.new_weights, chain.unknowns)
        keep(ws, lanes, slot.states, slot.new_states, chain.states)
        keep(ws, lanes, slot.z, slot.new_z, chain.z_size)
        hand_over(ws, lanes, slot.weights, roots)
        hand_over(ws, lanes, slot.states + chain.s_at[1], lifts)
        release(lanes)
