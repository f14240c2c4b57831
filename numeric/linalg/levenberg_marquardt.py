"""Damped Gauss–Newton (Levenberg–Marquardt) for a batch of real starts.

All starts of a batch are stepped together: Jacobians and normal equations are stacks of small
matrices, which are handled by the BLAS.

References
----------
.. [1] J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory", Numerical
   Analysis (Dundee 1977), Lecture Notes in Mathematics 630.
.. [2] C. Kanzow, N. Yamashita, M. Fukushima, "Levenberg-Marquardt methods with strong local
   convergence properties for solving nonlinear equations with convex constraints", J. Comput.
   Appl. Math. 172 (2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Function = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From points (·, r) and numbers of starts to residuals (·, e) and Jacobians (·, e, r)."""


@dataclass(frozen=True)
class Runs:
    """Endpoints of the runs of a batch.

    Attributes
    ----------
    ends : ndarray, shape (·, r)
    cost : ndarray, shape (·,)
        Sums of squares at the ends.
    steps : ndarray of int, shape (·,)
        Steps tried, including rejected ones.
    """

    ends: np.ndarray
    cost: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True)
class Damping:
    """How the damping changes after success and failure.

    Attributes
    ----------
    better, worse : float
        Factors after a step that lowered the cost, and after one that did not.
    least, most : float
        The damping stays above `least`; a start whose damping reaches `most` is abandoned.
    floor : float
        Added to the diagonal of the normal equations, for variables that may have no effect.
    """

    better: float = 0.1
    worse: float = 8.0
    least: float = 1e-14
    most: float = 1e10
    floor: float = 1e-300


# For losses of ReLU nets and of training: slower than the default, and stable along variables
# without effect.
CAUTIOUS = Damping(better=1 / 3, worse=4.0, least=1e-12, most=1e12, floor=1e-9)


def levenberg_marquardt(
    function: Function,
    starts: np.ndarray,
    steps: int,
    *,
    enough: float | np.ndarray,
    damping: Damping,
    first: bool = False,
    between: tuple[np.ndarray, np.ndarray] | None = None,
) -> Runs:
    """Damped Gauss–Newton from a batch of real starts.

    Parameters
    ----------
    function : callable
        From points (·, r) and the numbers of their starts to residuals (·, e) and
        Jacobians (·, e, r); starts may belong to different systems.
    starts : ndarray, shape (·, r)
    steps : int
        Maximal number of steps.
    enough : float or ndarray, shape (·,)
        A start is done when its sum of squares is at most this.
    damping : Damping
    first : bool, optional
        Whether the first start that is done ends all others.
    between : (ndarray, ndarray), each of shape (r,), optional
        Lower and upper ends of a box: steps are projected onto it, and a variable at an end whose
        step points outward is fixed for that step [2]_.

    Returns
    -------
    Runs
    """
    w = np.array(starts, float)
    everyone = np.arange(len(w))
    enough = np.broadcast_to(np.asarray(enough, float), everyone.shape)
    taken = np.zeros(len(w), int)
    f, J = function(w, everyone)
    cost = np.einsum("be,be->b", f, f)
    factor = np.full(len(w), 1e-2)
    active = np.isfinite(cost)
    each = np.arange(w.shape[1])
    for _ in range(steps):
        run = np.flatnonzero(active)
        if not len(run):
            break
        across = J[run].transpose(0, 2, 1)
        damped = across @ J[run]
        slope = (across @ f[run, :, None])[..., 0]
        diagonal = np.einsum("bvv->bv", damped).copy()
        damped[:, each, each] = diagonal * (1.0 + factor[run, None]) + damping.floor
        if between is not None:
            low, high = between
            held = ((w[run] <= low) & (slope > 0)) | ((w[run] >= high) & (slope < 0))
            damped[held[:, :, None] | held[:, None, :]] = 0.0
            damped[:, each, each] += held
            slope[held] = 0.0
        try:
            delta = np.linalg.solve(damped, slope[..., None])[..., 0]
        except np.linalg.LinAlgError:
            delta = np.array(
                [np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(damped, slope, strict=True)]
            )
        trial = w[run] - delta
        if between is not None:
            trial = np.clip(trial, *between)
        with np.errstate(over="ignore", invalid="ignore"):
            new_f, new_J = function(trial, run)
            new_cost = np.einsum("be,be->b", new_f, new_f)
        better = new_cost < cost[run]
        up, down = run[better], run[~better]
        w[up], f[up], J[up], cost[up] = (
            trial[better],
            new_f[better],
            new_J[better],
            new_cost[better],
        )
        factor[up] = np.maximum(factor[up] * damping.better, damping.least)
        factor[down] = factor[down] * damping.worse
        taken[run] += 1
        active[run] = (cost[run] > enough[run]) & (factor[run] < damping.most)
        if first and (cost <= enough).any():
            break
    return Runs(w, cost, taken)
