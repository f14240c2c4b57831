"""The compiled loop of the path tracker: many paths, `LANES` at a time, any system.

One step consists of: Taylor coefficients at the current point (one factorisation, any order), a
common denominator for all components (`numeric.tracking.pade`), the step length, prediction, one
Newton step, and a simplified one whose contraction decides whether the step is accepted
(`numeric.tracking.steps`).  Errors are relative to the sizes of groups of coordinates, so weights
of size 10^5 do not stall a path.  A lane that finishes takes the next path.

The equations are tapes (`numeric.equations.lanes.tape`): nothing is compiled for a new network.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numeric.equations.lanes.linalg import LANES, OPTIONS, workspace
from numeric.equations.lanes.simd import choose_slots
from numeric.equations.lanes.tape import LaneSystem, run_tape
from numeric.kernels import INNER, call, njit
from numeric.tracking.pade import WINDOW, fit, pade_slots, predict, set_factors, take_units
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import (
    Lines,
    PathOutcomes,
    accept_steps,
    choose_steps,
    fill,
    load,
    make_lanes,
    make_work,
    release,
    write_finished,
)

# Orders of a tape.  Typed, because numba compiles a function once more for each literal.
_POINT: Any = np.int64(0)
_SERIES: Any = np.int64(1)


@njit(**OPTIONS, **INNER)
def _set_units(ws, o, sizes):
    """Sizes of the coordinates at `x`, those of their groups, and inverses; `sizes` is an array."""
    for g in range(len(o.floors)):
        for lane in range(LANES):
            sizes[g, lane] = o.floors[g]
    for v in range(o.size):
        g = o.groups[v]
        if g >= 0:
            for lane in range(LANES):
                re = ws[o.x + v, 0, lane]
                im = ws[o.x + v, 1, lane]
                sizes[g, lane] = max(sizes[g, lane], re * re + im * im)
    for g in range(len(o.floors)):
        for lane in range(LANES):
            sizes[g, lane] = np.sqrt(sizes[g, lane])
    for v in range(o.size):
        g = o.groups[v]
        for lane in range(LANES):
            ws[o.scale + v, 0, lane] = sizes[g, lane] if g >= 0 else 1.0
            ws[o.unit + v, 0, lane] = 1.0 / sizes[g, lane] if g >= 0 else 0.0


@njit(**OPTIONS, **INNER)
def _measure(ws, o, out):
    """The largest relative size per lane of the increment `step`; NaN does not count as small."""
    for lane in range(LANES):
        out[lane] = 0.0
    for v in range(o.size):
        if o.groups[v] >= 0:
            for lane in range(LANES):
                unit = ws[o.unit + v, 0, lane]
                re = ws[o.step + v, 0, lane] * unit
                im = ws[o.step + v, 1, lane] * unit
                size = re * re + im * im
                out[lane] = size if not size <= out[lane] else out[lane]
    for lane in range(LANES):
        out[lane] = np.sqrt(out[lane])


@njit(**OPTIONS, **INNER)
def _keep_points(ws, o, low, chosen):
    """Copy the points `new` to `x` in the lanes where `chosen` is 1; `low` is that of o."""
    choose_slots(ws, o.x, o.new, o.size, chosen)
    if low is not None and o.keeps_pairs:
        choose_slots(ws, o.x + low, o.new + low, o.size, chosen)


@njit(**OPTIONS)
def track_paths(ws, o, lanes, work, options, lines, roots, lifts, outcome):
    """Track paths along straight lines of parameters.

    Parameters
    ----------
    ws : ndarray of float, shape (o.slots + pade_slots(o.size), 2, LANES)
    o : numeric.equations.lanes.tape.LaneSystem
    lanes : numeric.tracking.steps.Lanes
        Idle lanes.
    work : numeric.tracking.steps.Work
    options : numeric.tracking.steps.TrackerOptions
    lines : numeric.tracking.steps.Lines
        Of o.parameters parameters.
    roots : ndarray of complex, shape (paths, ·)
        Output: the first coordinates of the endpoints.
    lifts : ndarray of complex, shape (paths, ·)
        Output: the coordinates from o.lift on.
    outcome : numeric.tracking.steps.PathOutcomes
        Output.
    """
    paths, units = len(roots), o.slots
    gram = units + WINDOW * o.size
    pivots, pattern, poles = work.pivots, work.pattern, work.poles
    waiting = ended = np.int64(0)
    while ended < paths:
        waiting = load(lanes, waiting, paths)
        if fill(ws, lanes, lines, o.base, o.slope, o.x) and o.load.shape[1] > 0:
            _set_units(ws, o, work.sizes)
            run_tape(ws, o.load, _POINT, lanes.t, pivots, pattern, o.scratch, o.low)
            _keep_points(ws, o, o.low, lanes.fresh)
        lanes.fresh[:] = 0
        run_tape(ws, o.point, _POINT, lanes.t, pivots, pattern, o.scratch, o.low)
        _set_units(ws, o, work.sizes)
        run_tape(ws, o.series, _SERIES, lanes.t, pivots, pattern, o.scratch, o.low)
        for order in range(2, o.order + 1):
            run_tape(ws, o.orders, order, lanes.t, pivots, pattern, o.scratch, o.low)
        take_units(ws, units, o.size, o.x, o.order, o.unit)
        fit(ws, units, gram, o.size, poles, lanes.size, lanes.rate, pivots, pattern)
        choose_steps(lanes, poles, o.order, options)
        set_factors(ws, gram, poles, lanes.h)
        predict(ws, gram, o.x, o.size, o.order, lanes.h, o.new, o.low, o.keeps_pairs)
        run_tape(ws, o.newton, _POINT, lanes.aim, pivots, pattern, o.scratch, o.low)
        _measure(ws, o, lanes.first)
        run_tape(ws, o.again, _POINT, lanes.aim, pivots, pattern, o.scratch, o.low)
        _measure(ws, o, lanes.second)
        ended += accept_steps(lanes, o.order, options, outcome)
        _keep_points(ws, o, o.low, lanes.accepted)
        write_finished(ws, lanes, o.x, roots)
        write_finished(ws, lanes, o.x + o.lift, lifts)
        release(lanes)


# The same for systems with pairs, whose type is another.
_track_in_pairs = njit(**OPTIONS)(track_paths.py_func)


def track_system(
    system: LaneSystem,
    settings: TrackerSettings,
    lines: Lines,
    roots: np.ndarray,
    lifts: np.ndarray,
    outcome: PathOutcomes,
) -> None:
    """Call the kernel, which fills roots, lifts and outcome."""
    call(
        track_paths if system.low is None else _track_in_pairs,
        workspace(system.slots + pade_slots(system.size)), system, make_lanes(),
        make_work(system.unknowns, len(system.floors)), settings.options, lines, roots, lifts,
        outcome,
    )  # fmt: skip
