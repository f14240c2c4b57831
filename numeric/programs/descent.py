"""Gradient descent, SGD, Adam, AdaHessian and Levenberg–Marquardt for a batch of students.

A run ends when the root of its mean squared error is 1e-10 of the root mean square of its
labels, when it is no longer finite, or after the given number of steps (Levenberg–Marquardt also
when no step reduces the error at the largest damping).  Runs are independent: the result of a run
does not depend on the batch.

The rate is constant for gradient descent and SGD; for Adam and AdaHessian it falls to a hundredth
by half a cosine over the given steps; Levenberg–Marquardt has none, its damping adapts to success
and failure.

SGD has momentum 0.9; each step sees half of the samples, drawn for that step (of sequences, half of
the labels at all times).  At a match every sample's gradient is 0, so that a constant rate
converges.

AdaHessian [1]_ is Adam with an estimate of the Hessian's diagonal in place of the gradient in the
second moment: z ∘ H z for random signs z.  H z is a central difference of two gradients, which is
exact for losses that are piecewise quadratic (a layer of a ReLU net between its kinks).  The
diagonal is not averaged over blocks of weights: a subset of weights has no blocks.

References
----------
.. [1] Z. Yao, A. Gholami, S. Shen, M. Mustafa, K. Keutzer, M. Mahoney, "AdaHessian: an adaptive
   second order optimizer for machine learning", arXiv 2006.00719.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algebra.given import known_name
from algebra.time_limits import check_time
from numeric.linalg.levenberg_marquardt import CAUTIOUS, levenberg_marquardt
from numeric.programs.losses import Loss

# A run is done when its error is this small, relative to the labels.
ENOUGH = 1e-10
# Number of steps after which finished runs are removed from the batch.
_SWEEP = 25
# What SGD keeps of the last step.
_MOMENTUM = 0.9
# The distance of the gradients whose difference is a product with the Hessian, and what AdaHessian
# adds to the root of the mean square.
_DIFFERENCE = 1e-4
_TINY = 1e-4


@dataclass(frozen=True)
class Descent:
    """Endpoints of the runs of a batch.

    Attributes
    ----------
    ends : ndarray, shape (runs, r)
    mse : ndarray, shape (runs,)
        Mean squared errors there; infinite or NaN if a run diverged.
    steps : ndarray of int, shape (runs,)
    """

    ends: np.ndarray
    mse: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True)
class Optimizer:
    """A training method.

    Attributes
    ----------
    name, summary : str
    steps : int
        Default number of steps of a run.
    rate : float or None
        Default step size; None if the method has none.
    descend : callable
        From a loss, starts (runs, r), steps and rate to a `Descent`.
    """

    name: str
    summary: str
    steps: int
    rate: float | None
    descend: Callable[[Loss, np.ndarray, int, float], Descent]


# From gradients (runs, r), the number of the step and their rows in the batch to steps (runs, r).
_Rule = Callable[[np.ndarray, int, np.ndarray], np.ndarray]


def gradient_descent(loss: Loss, starts: np.ndarray, steps: int, rate: float) -> Descent:
    """Full-batch gradient descent with a constant rate.

    Parameters
    ----------
    loss : Loss
    starts : ndarray, shape (runs, r)
    steps : int
    rate : float
        Factor of the gradient of the mean squared error.
    """
    return _descend(loss, starts, steps, lambda slope, t, rows: rate * slope)


def stochastic_descent(loss: Loss, starts: np.ndarray, steps: int, rate: float) -> Descent:
    """Stochastic gradients of half of the samples, with momentum and a constant rate.

    Parameters
    ----------
    loss : Loss
    starts : ndarray, shape (runs, r)
    steps : int
    rate : float
        Factor of the gradient of the mean squared error of the samples of a step.
    """
    speed, columns = np.zeros(np.shape(starts)), loss.students.Y.shape[-1]

    def seen(t: int) -> np.ndarray:
        # The same samples for all runs, so that a run does not depend on its batch.
        order = np.random.default_rng(t).permutation(columns)
        return order[: (columns + 1) // 2]

    def rule(slope: np.ndarray, t: int, rows: np.ndarray) -> np.ndarray:
        nonlocal speed
        speed = _MOMENTUM * speed[rows] + rate * slope
        return speed

    return _descend(loss, starts, steps, rule, seen)


def adam(loss: Loss, starts: np.ndarray, steps: int, rate: float) -> Descent:
    """Adam, full batch, the rate falling to a hundredth by half a cosine.

    Parameters
    ----------
    loss : Loss
    starts : ndarray, shape (runs, r)
    steps : int
    rate : float
        Size of the first steps.
    """
    state = Adam(np.array(starts, float))

    def rule(slope: np.ndarray, t: int, rows: np.ndarray) -> np.ndarray:
        nonlocal state
        state = state.take(rows)
        return state.step(slope, half_cosine(rate, t, steps))

    return _descend(loss, starts, steps, rule)


def adahessian(loss: Loss, starts: np.ndarray, steps: int, rate: float) -> Descent:
    """AdaHessian, full batch, the rate falling to a hundredth by half a cosine.

    Parameters
    ----------
    loss : Loss
    starts : ndarray, shape (runs, r)
    steps : int
    rate : float
        Factor of the steps; 0.15 in its authors' experiments.  Of 0.05, 0.15, 0.5 and 1 the last
        ends at a match most often for small recurrent networks.
    """
    state, part, w = Adam(np.array(starts, float), _TINY), loss, np.array(starts, float)

    def rule(slope: np.ndarray, t: int, rows: np.ndarray) -> np.ndarray:
        nonlocal state, part, w
        state = state.take(rows)
        if len(rows) < len(w):
            part, w = part.take(rows), w[rows]
        # The same signs for all runs, so that a run does not depend on its batch.
        signs = np.random.default_rng(t).choice((-1.0, 1.0), size=w.shape[1])
        ends = [part.slope(w + sign * _DIFFERENCE * signs)[1] for sign in (1, -1)]
        diagonal = signs * (ends[0] - ends[1]) / (2 * _DIFFERENCE)
        step = state.step(slope, half_cosine(rate, t, steps), diagonal)
        w = w - step
        return step

    return _descend(loss, starts, steps, rule)


def damped_gauss_newton(
    loss: Loss, starts: np.ndarray, steps: int, rate: float = math.nan
) -> Descent:
    """Levenberg–Marquardt.

    Parameters
    ----------
    loss : Loss
    starts : ndarray, shape (runs, r)
    steps : int
    rate : float, optional
        Not used: the method has no rate.  It is a parameter of every `Optimizer.descend`.
    """
    labels = loss.students.Y
    size = labels[0].size

    with np.errstate(over="ignore", invalid="ignore"):
        runs = levenberg_marquardt(
            loss.at, starts, steps, enough=_enough(labels) * size, damping=CAUTIOUS
        )
    return Descent(runs.ends, runs.cost / size, runs.steps)


def _enough(labels: np.ndarray) -> np.ndarray:
    """Mean squared errors at which runs are done."""
    return np.asarray(ENOUGH**2 * (labels * labels).mean(axis=(1, 2)))


def _descend(
    loss: Loss,
    starts: np.ndarray,
    steps: int,
    rule: _Rule,
    seen: Callable[[int], np.ndarray | None] = lambda t: None,
) -> Descent:
    """Runs whose steps are those of a rule; `seen` has the columns of labels that a step sees."""
    ends = np.array(starts, float)
    count = len(ends)
    mse, taken = np.full(count, np.nan), np.full(count, steps)
    enough = _enough(loss.students.Y)
    # Indices of the unfinished runs; `kept` are their positions among the previous ones.
    rows, kept, w = np.arange(count), np.arange(count), ends.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(steps + 1):
            if t % _SWEEP == 0:
                check_time()
            error, slope = loss.slope(w, seen(t))
            over = (error <= enough[rows]) | ~np.isfinite(error) | (t == steps)
            if over.any():
                mse[rows[over]], ends[rows[over]] = error[over], w[over]
                taken[rows[over]] = t
                kept = np.flatnonzero(~over)
                rows, w, slope = rows[kept], w[kept], slope[kept]
                if not len(rows):
                    break
                loss = loss.take(kept)
            w = w - rule(slope, t + 1, kept)
            kept = np.arange(len(rows))
    return Descent(ends, mse, taken)


OPTIMIZERS = {
    one.name: one
    for one in (
        Optimizer("gd", "gradient descent", 10_000, 0.1, gradient_descent),
        Optimizer("sgd", "stochastic gradients with momentum", 10_000, 0.03, stochastic_descent),
        Optimizer("adam", "Adam, its rate falling by a half cosine", 5_000, 0.03, adam),
        Optimizer(
            "adahessian", "AdaHessian, its rate falling by a half cosine", 2_000, 1.0, adahessian
        ),
        Optimizer("levenberg-marquardt", "damped Gauss-Newton", 200, None, damped_gauss_newton),
    )
}


def find_optimizer(name: str) -> Optimizer:
    """The optimizer of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    return OPTIMIZERS[known_name(name, "optimizer", OPTIMIZERS)]


_DECAY = (0.9, 0.999)


def half_cosine(rate: float, t: float, steps: int) -> np.floating:
    """Step size of step t of `steps`: half a cosine from `rate` down to a hundredth of it.

    Examples
    --------
    >>> [float(round(half_cosine(1.0, t, 100), 3)) for t in (0, 50, 100)]
    [1.0, 0.505, 0.01]
    """
    return rate * (0.01 + 0.495 * (1.0 + np.cos(np.pi * t / steps)))


class Adam:
    """Running means for one array of variables.

    Parameters
    ----------
    like : ndarray
        An array with the variables' shape and dtype.
    tiny : float, optional
        Added to the root of the mean square; ε of [1]_.

    Examples
    --------
    The first step has the length of the rate, whatever the slope:

    >>> Adam(np.zeros(2)).step(np.array([3.0, -1e-3]), 0.5).round(4).tolist()
    [0.5, -0.5]
    """

    def __init__(self, like: np.ndarray, tiny: float = 1e-8) -> None:
        self._first, self._second = np.zeros_like(like), np.zeros_like(like)
        self._tiny = tiny
        self._steps = 0

    def step(
        self, slope: np.ndarray, rate: float | np.floating, scale: np.ndarray | None = None
    ) -> np.ndarray:
        """The amount to subtract from the variables, given the gradient and the step size.

        The second moment is that of `scale`, by default of the gradient.
        """
        self._steps += 1
        scale = slope if scale is None else scale
        self._first += (1 - _DECAY[0]) * (slope - self._first)
        self._second += (1 - _DECAY[1]) * (scale * scale - self._second)
        mean = self._first / (1 - _DECAY[0] ** self._steps)
        spread = self._second / (1 - _DECAY[1] ** self._steps)
        return np.asarray(rate * mean / (np.sqrt(spread) + self._tiny))

    def take(self, rows: np.ndarray) -> Adam:
        """The state of some variables, selected along the first axis; `self` if all are."""
        if len(rows) == len(self._first):
            return self
        part = Adam(self._first[rows], self._tiny)
        part._first, part._second = self._first[rows], self._second[rows]
        part._steps = self._steps
        return part
