"""Step control in lanes, shared by all path trackers.

A round of a tracker consists of: Taylor coefficients at the current point, a common denominator
(`numeric.tracking.pade`), `choose_steps`, prediction, two Newton steps with one factorisation,
`accept_steps`, `keep`.  The first increment measures the predictor's error; the ratio of the second
to the first measures how far inside the basin of one root the prediction is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.equations.lanes.linalg import LANES, OPTIONS
from numeric.kernels import INNER, njit
from numeric.tracking.pade import DEGREE, denominator

# Status of a path.
DONE, STUCK, SLOW = 0, 1, 2
_MOST_FAILS = 30


class TrackerOptions(NamedTuple):
    """Fields of `numeric.tracking.settings.TrackerSettings`, as the kernels take them."""

    tolerance: float
    contraction: float
    accuracy: float
    shortest: float
    most_steps: int
    most_rejected: int
    refined: float


class PathOutcomes(NamedTuple):
    """One entry per path: status, steps accepted and rejected, last t, last Newton increment."""

    status: np.ndarray
    steps: np.ndarray
    rejected: np.ndarray
    reached: np.ndarray
    error: np.ndarray


class Lanes(NamedTuple):
    """The state of the active paths, one per lane; arrays of length LANES.

    Attributes
    ----------
    path : number of the path, -1 for an idle lane
    t, aim, h : current t, target t, step
    shrink : factor on the estimated step, adapted after each round
    size, rate : size and growth of the series' remainder after the denominator
    first, second : relative sizes of the two Newton increments
    fails : consecutive rejections
    polished : 1 if a round without a step has been made at the end
    fresh : 1 if the lane was just loaded
    accepted, finished : 1 if the round's step is accepted; if the path is over
    """

    path: np.ndarray
    t: np.ndarray
    aim: np.ndarray
    h: np.ndarray
    shrink: np.ndarray
    size: np.ndarray
    rate: np.ndarray
    first: np.ndarray
    second: np.ndarray
    fails: np.ndarray
    polished: np.ndarray
    fresh: np.ndarray
    accepted: np.ndarray
    finished: np.ndarray


class Lines(NamedTuple):
    """Straight lines of parameters and the start points on them.

    Attributes
    ----------
    first, second : ndarray of complex, shape (·, parameters)
        Parameters at the two ends of the lines.
    first_of, second_of : ndarray of int, shape (paths,)
        Index of the line's ends for each path.
    starts : ndarray of complex, shape (paths, unknowns)
    """

    first: np.ndarray
    second: np.ndarray
    first_of: np.ndarray
    second_of: np.ndarray
    starts: np.ndarray


class Work(NamedTuple):
    """Arrays of the tracker besides the workspace.

    Attributes
    ----------
    pivots, pattern : ndarray of int
        Pivots and pattern of the factors (`numeric.equations.lanes.linalg.factor`).
    sizes : ndarray of float, shape (groups, LANES)
    poles : ndarray of complex, shape (DEGREE + 1, LANES)
        Denominators (`numeric.tracking.pade`).
    """

    pivots: np.ndarray
    pattern: np.ndarray
    sizes: np.ndarray
    poles: np.ndarray


def make_lanes() -> Lanes:
    """Idle lanes."""
    floats, ints = np.zeros((8, LANES)), np.zeros((6, LANES), np.int64)
    ints[0] = -1
    path, fails, polished, fresh, accepted, finished = ints
    t, aim, h, shrink, size, rate, first, second = floats
    return Lanes(
        path=path, t=t, aim=aim, h=h, shrink=shrink, size=size, rate=rate, first=first,
        second=second, fails=fails, polished=polished, fresh=fresh, accepted=accepted,
        finished=finished,
    )  # fmt: skip


def make_work(unknowns: int, groups: int) -> Work:
    """Arrays for a number of equations of the linear system, or of the fit, and of groups."""
    size = max(unknowns, DEGREE)
    return Work(
        np.zeros((size, LANES), np.int64), np.zeros((size, size + 2), np.int64),
        np.ones((groups, LANES)), np.zeros((DEGREE + 1, LANES), complex),
    )  # fmt: skip


@njit(**OPTIONS, **INNER)
def load(lanes, waiting, paths):
    """Assign the next paths to idle lanes; returns the first path still waiting.

    Idle lanes without a path continue computing; their results are not read.
    """
    for lane in range(LANES):
        if lanes.path[lane] >= 0 or waiting >= paths:
            continue
        lanes.path[lane] = waiting
        waiting += 1
        lanes.t[lane] = 0.0
        lanes.shrink[lane] = 1.0
        lanes.fails[lane] = 0
        lanes.polished[lane] = 0
        lanes.fresh[lane] = 1
    return waiting


@njit(**OPTIONS, **INNER)
def fill(ws, lanes, lines, base, slope, x):
    """Write lines and start points of the newly loaded lanes to slots `base`, `slope` and `x`.

    Returns whether there are any.
    """
    some = False
    for lane in range(LANES):
        if lanes.fresh[lane] == 0:
            continue
        some = True
        p = lanes.path[lane]
        u, v = lines.first_of[p], lines.second_of[p]
        for i in range(lines.first.shape[1]):
            start = lines.first[u, i]
            way = lines.second[v, i] - start
            ws[base + i, 0, lane] = start.real
            ws[base + i, 1, lane] = start.imag
            ws[slope + i, 0, lane] = way.real
            ws[slope + i, 1, lane] = way.imag
        for i in range(lines.starts.shape[1]):
            ws[x + i, 0, lane] = lines.starts[p, i].real
            ws[x + i, 1, lane] = lines.starts[p, i].imag
    return some


@njit(**OPTIONS, **INNER)
def choose_steps(lanes, poles, order, options):
    """Step lengths from the size of the series' remainder."""
    for lane in range(LANES):
        t = lanes.t[lane]
        lanes.h[lane] = 0.0
        lanes.aim[lane] = t
        if lanes.path[lane] < 0:
            continue
        step = 1.0
        if lanes.size[lane] > 0.0:
            step = min(1.0, (options.tolerance / lanes.size[lane]) ** (1.0 / (order + 1)))
            # The fraction is useless near its own poles.
            for _ in range(8):
                if abs(denominator(poles, lane, step)) > 0.2:
                    break
                step *= 0.8
        step *= lanes.shrink[lane]
        if not step > 0.0:
            step = options.shortest
        # Avoid a tiny last step.
        left = 1.0 - t
        if step >= left:
            lanes.h[lane] = left
            lanes.aim[lane] = 1.0
        else:
            short = step > 0.9 * left
            lanes.h[lane] = min(step, max(0.5 * left, step * 0.5)) if short else step
            lanes.aim[lane] = t + lanes.h[lane]


@njit(**OPTIONS, **INNER)
def accept_steps(lanes, order, options, outcome):
    """Accept or reject the round of each lane, and end paths; returns how many ended."""
    ended = 0
    for lane in range(LANES):
        p = lanes.path[lane]
        lanes.accepted[lane] = 0
        lanes.finished[lane] = 0
        if p < 0:
            continue
        outcome.steps[p] += 1
        first, second = lanes.first[lane], lanes.second[lane]
        good = (
            first < 0.1
            and second <= max(options.contraction * first, 0.1 * options.accuracy)
            and second <= options.accuracy
        )
        if good:
            lanes.accepted[lane] = 1
            lanes.t[lane] = lanes.aim[lane]
            lanes.fails[lane] = 0
            factor = (options.tolerance / (first + 1e-30)) ** (1.0 / (order + 1))
            shrink = lanes.shrink[lane] * min(1.3, max(0.7, factor))
            lanes.shrink[lane] = min(2.0, max(0.3, shrink))
        else:
            outcome.rejected[p] += 1
            lanes.fails[lane] += 1
            lanes.shrink[lane] *= 0.5
        # At the end one more round without a step refines the root.
        at_end = lanes.t[lane] >= 1.0
        status = -1
        if at_end and (lanes.polished[lane] == 1 or second <= options.refined):
            status = DONE
        elif not at_end and (lanes.h[lane] < options.shortest or lanes.fails[lane] > _MOST_FAILS):
            status = STUCK
        elif not at_end and (
            outcome.steps[p] >= options.most_steps or outcome.rejected[p] >= options.most_rejected
        ):
            status = SLOW
        lanes.polished[lane] = 1 if at_end else 0
        if status >= 0:
            outcome.status[p] = status
            outcome.reached[p] = lanes.t[lane]
            outcome.error[p] = second
            lanes.finished[lane] = 1
            ended += 1
    return ended


@njit(**OPTIONS, **INNER)
def write_finished(ws, lanes, source, out):
    """Copy slots from `source` on to the rows of `out` that belong to the finished paths.

    `out` is an ndarray of complex, shape (paths, ·).
    """
    for lane in range(LANES):
        if lanes.finished[lane] == 1:
            for i in range(out.shape[1]):
                out[lanes.path[lane], i] = complex(ws[source + i, 0, lane], ws[source + i, 1, lane])


@njit(**OPTIONS, **INNER)
def release(lanes):
    """Mark the lanes of finished paths as idle."""
    for lane in range(LANES):
        if lanes.finished[lane] == 1:
            lanes.path[lane] = -1
