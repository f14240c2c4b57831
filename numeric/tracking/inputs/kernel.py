"""The compiled tracker in the free inputs: many paths, `LANES` at a time.

The equations are those of `numeric.chains.inputs`, the rounds those of `numeric.tracking.steps`.
"""

from __future__ import annotations

import numpy as np

from numeric.chains.lanes import inputs
from numeric.chains.lanes.linalg import LANES, ONCE, OPTIONS, clear, factor
from numeric.chains.lanes.simd import pair_add
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


@njit(**ONCE)
def _scales(ws, o, scale):
    """Inverse squared sizes of each group of unknowns, per lane."""
    scale[:] = FLOOR * FLOOR
    for v in range(o.unknowns):
        g = o.groups[v]
        for lane in range(LANES):
            re = ws[o.x + v, 0, lane]
            im = ws[o.x + v, 1, lane]
            scale[g, lane] = max(scale[g, lane], re * re + im * im)
    for g in range(o.group_count):
        for lane in range(LANES):
            scale[g, lane] = 1.0 / scale[g, lane]


@njit(**ONCE)
def _newton(ws, o, scale, pivots, pattern, t, fresh, size):
    """One Newton step at `new_x`; its relative size goes to `size`.

    Unknowns, parameters and residual are pairs of doubles: near infinity (a large eigenvalue R of
    W, inputs like R^k) the equations cancel many digits.  The matrix is in doubles: its factors
    give each step to some digits, which is enough.
    """
    inputs.pair_parameters(ws, o, t)
    inputs.pair_states(ws, o)
    if fresh:
        inputs.set_matrix(ws, o, o.new_states, scale)
        factor(ws, o.matrix, o.unknowns, pivots, pattern, o.scratch)
    inputs.pair_residual(ws, o, o.step)
    inputs.solve_scaled(ws, o, pivots, pattern, o.step)
    size[:] = 0.0
    for v in range(o.unknowns):
        g = o.groups[v]
        for lane in range(LANES):
            re = ws[o.step + v, 0, lane]
            im = ws[o.step + v, 1, lane]
            # NaN must not count as small.
            now = (re * re + im * im) * scale[g, lane]
            size[lane] = now if not now <= size[lane] else size[lane]
        pair_add(ws, o.new_x + v, o.step + v, o.low)
    for lane in range(LANES):
        size[lane] = np.sqrt(size[lane])


@njit(**OPTIONS)
def track_inputs(ws, o, options, lines, roots, outcome):
    """Track paths along straight lines of parameters.

    Parameters
    ----------
    ws : ndarray of float, shape (o.slots, 2, LANES)
    o : numeric.chains.lanes.inputs.InputsTable
    options : numeric.tracking.steps.TrackerOptions
    lines : numeric.tracking.steps.Lines
        Of o.parameters parameters and o.unknowns unknowns.
    roots : ndarray of complex, shape (paths, o.unknowns)
        Output.
    outcome : numeric.tracking.steps.PathOutcomes
        Output.
    """
    q, order, paths = o.unknowns, o.order, len(roots)
    pivots = np.zeros((q, LANES), np.int64)
    pattern = np.zeros((q, q + 2), np.int64)
    scale = np.ones((o.group_count, LANES))
    lanes = make_lanes()
    ws[:] = 0.0
    waiting = ended = 0
    while ended < paths:
        waiting = load(lanes, waiting, paths)
        fill(ws, lanes, lines, o.base, o.slope, o.x)
        lanes.fresh[:] = 0
        inputs.set_parameters(ws, o, lanes.t, o.x)
        inputs.set_states(ws, o, o.x, o.states)
        _scales(ws, o, scale)
        inputs.set_matrix(ws, o, o.states, scale)
        factor(ws, o.matrix, q, pivots, pattern, o.scratch)
        inputs.taylor(ws, o, pivots, pattern)
        for v in range(q):
            take_units(ws, o.units, q, v, o.x + v, q, 1, order, scale[o.groups[v]])
        fit(ws, o.units, o.gram, q, lanes.poles, lanes.size, lanes.rate)
        choose_steps(lanes, order, options)
        set_factors(ws, o.phi, lanes.poles, lanes.h)
        predict(ws, o.phi, o.x, q, order, lanes.h, o.new_x)
        clear(ws, o.new_x + o.low, q)
        for fresh in (True, False):
            size = lanes.first if fresh else lanes.second
            _newton(ws, o, scale, pivots, pattern, lanes.aim, fresh, size)
        ended += judge(lanes, order, options, outcome)
        keep(ws, lanes, o.x, o.new_x, q)
        hand_over(ws, lanes, o.x, roots)
        release(lanes)
