"""The least loss that a search finds for an instance: an upper bound on the infimum.

Levenberg–Marquardt from the student's own weights and from weights drawn again, for every kind of
network whose labels can be computed in doubles.  Under constraints the search stays in their box.
What is returned is the mean squared error at the end, computed from the network's own map: a
certain upper bound, up to rounding, and nothing else.

The search does not depend on the requested loss, so that stored results apply to every one.
"""

from __future__ import annotations

import math

import numpy as np

from numeric.linalg.levenberg_marquardt import CAUTIOUS, levenberg_marquardt
from numeric.programs.losses import Loss
from numeric.programs.students import Students, starts_of
from numeric.trials.instances import Instance

# Part of the name under which results are stored: increase it if the search changes.
VERSION = 2
STARTS = 12
STEPS = 300
# Mean squared errors relative to those of the labels at which a search ends.
_ENOUGH = 1e-24


def least_loss(instance: Instance) -> float:
    """The least mean squared error of an instance's labels that the search finds.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    float
        Infinite if every run diverged.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> from numeric.trials.instances import draw_instance
    >>> net = LinearEstimator(q=2, d=1, m=2)
    >>> least_loss(draw_instance(Problem(net, {"W": [[1, 1]]}), 0, 0)) < 1e-20
    True
    """
    labels = instance.labels
    starts = starts_of(instance, STARTS)
    if not starts.shape[1]:
        return _loss(instance, starts[0])
    between = _box(instance)
    if between is not None:
        starts = np.clip(starts, *between)
    loss = Loss(Students.of([instance], STARTS))
    with np.errstate(over="ignore", invalid="ignore"):
        runs = levenberg_marquardt(
            loss.at, starts, STEPS, enough=_ENOUGH * float((labels * labels).sum()),
            damping=CAUTIOUS, first=True, between=between,
        )  # fmt: skip
        best = runs.ends[int(np.argmin(np.where(np.isfinite(runs.cost), runs.cost, np.inf)))]
        return _loss(instance, best)


def _loss(instance: Instance, w: np.ndarray) -> float:
    error = instance.problem.network.forward(instance.with_weights(w), instance.X)
    loss = float(((np.asarray(error) - instance.labels) ** 2).mean())
    return loss if math.isfinite(loss) else math.inf


def _box(instance: Instance) -> tuple[np.ndarray, np.ndarray] | None:
    """Ends between which each learnable weight stays, rounded inwards."""
    if not instance.box:
        return None
    intervals = [instance.box[cell] for cell in instance.allocation.cells]
    low = [-math.inf if i.low is None else math.nextafter(float(i.low), math.inf)
           for i in intervals]  # fmt: skip
    high = [math.inf if i.high is None else math.nextafter(float(i.high), -math.inf)
            for i in intervals]  # fmt: skip
    return np.array(low), np.array(high)
