"""The least loss that a search finds for an instance: an upper bound on the infimum.

Levenberg–Marquardt from the student's own weights and from weights drawn again, for every kind of
network whose labels can be computed in doubles.  Where derivatives are written (chains of matrices,
shallow ReLU nets, networks with activations) they are used, else differences.  Under constraints
the search stays in their box.  What is returned is the mean squared error at the end, computed
from the network's own map: a certain upper bound, up to rounding, and nothing else.

The search does not depend on the requested loss, so that stored results apply to every one.
"""

from __future__ import annotations

import math

import numpy as np

from algebra.errors import InputError
from algebra.networks.activated import ActivatedNetwork
from algebra.time_limits import check_time
from numeric.activations.newton import FloatSystem
from numeric.instances import Instance
from numeric.levenberg_marquardt import PATIENT, Function, levenberg_marquardt
from numeric.training.losses import check_trainable, loss_of
from numeric.training.students import Students, starts_of

# Part of the name under which results are stored: increase it if the search changes.
VERSION = 1
STARTS, STEPS = 12, 300
# Mean squared errors relative to those of the labels at which a search ends.
_ENOUGH = 1e-24
_DIFFERENCE = 1e-7


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
    >>> from algebra.networks.linear import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> from numeric.instances import draw_instance
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
    function = _function(instance)

    def counted(w: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        check_time()
        return function(w, which)

    with np.errstate(over="ignore", invalid="ignore"):
        runs = levenberg_marquardt(
            counted, starts, STEPS, enough=_ENOUGH * float((labels * labels).sum()),
            damping=PATIENT, first=True, between=between,
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


def _function(instance: Instance) -> Function:
    """Residuals and Jacobians at many points."""
    network = instance.problem.network
    if isinstance(network, ActivatedNetwork):
        return FloatSystem(instance)
    try:
        check_trainable(network)
    except InputError:
        return _by_differences(instance)
    loss = loss_of(Students.of([instance], STARTS))
    return lambda w, which: (loss if len(w) == STARTS else loss.take(which)).jacobian(w)


def _by_differences(instance: Instance) -> Function:
    """For kinds of networks without implemented derivatives in doubles."""
    network, Y = instance.problem.network, instance.labels

    def residual(w: np.ndarray) -> np.ndarray:
        labels = network.forward(instance.with_weights(w), instance.X)
        return (np.asarray(labels, float) - Y).ravel()

    def function(points: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f = np.array([residual(w) for w in points])
        steps = _DIFFERENCE * (1.0 + np.abs(points))
        J = np.empty((*f.shape, points.shape[1]))
        for k in range(points.shape[1]):
            moved = points.copy()
            moved[:, k] += steps[:, k]
            ahead = np.array([residual(w) for w in moved])
            J[..., k] = (ahead - f) / steps[:, k, None]
        return f, J

    return function
