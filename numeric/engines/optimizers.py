"""The first paper's criterion for ReLU nets: an optimizer, and "a match" where MSE < 1e-2.

Kept as baselines that show the effect of the criterion.  The paper used AdaHessian (Appendix E.1)
and gives neither starts, steps nor rates; it used Adam for MNIST only.  Neither method here is
the paper's, and neither was compared with it: `adam`, a first-order method (Kingma and Ba 2015),
and `levenberg-marquardt`, a second-order one for least squares; both from random starts with the
student's own law, all starts in a batch.

The paper's verdict is kept as `InstanceCount.paper_match`.  A trial counts as matched only if
the activation pattern of an endpoint has an exact rational witness; otherwise it is undetermined.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algebra.errors import InputError
from algebra.linalg.rational import nearest_double
from algebra.relu.equations import relu_system
from algebra.time_limits import check_time
from numeric.adam import Adam, half_cosine
from numeric.counts import UNDETERMINED, InstanceCount, Reason
from numeric.engines.base import EngineInfo, Maker, OneByOne, engine
from numeric.instances import Instance
from numeric.levenberg_marquardt import PATIENT, levenberg_marquardt

# The paper's threshold (Appendix E.1).
MSE = 1e-2
# Number of endpoints whose patterns are tried exactly.
_TRIED = 5
_TINY = 1e-10
_ADAM_STEPS, _RATE, _DAMPED_STEPS = 2000, 0.03, 100
# Part of the seed of the starts.
_STARTS = 0x0971


@dataclass(frozen=True)
class FirstLayerLoss:
    """Mean squared error of the labels as a function of W1's learnable weights.

    Attributes
    ----------
    X : ndarray, q×m
    W2 : ndarray, d×k
        Columns of the learning units.
    mask : ndarray of bool, k×q
    c : ndarray, k×m
        Fixed input of the learning units.
    G : ndarray, d×m
        Labels minus the contribution of the other units.
    """

    X: np.ndarray
    W2: np.ndarray
    mask: np.ndarray
    c: np.ndarray
    G: np.ndarray

    @classmethod
    def of(cls, instance: Instance) -> FirstLayerLoss:
        """The loss of an instance."""
        W1, W2, X = instance.weights["W1"], instance.weights["W2"], instance.X
        mask = np.asarray(instance.allocation.masks["W1"]) != 0
        units = mask.any(axis=1)
        rest = W2[:, ~units] @ np.maximum(W1[~units] @ X, 0.0)
        fixed = (W1 * ~mask)[units] @ X
        return cls(X, W2[:, units], mask[units], fixed, instance.labels - rest)

    def inputs(self, w: np.ndarray) -> np.ndarray:
        """Inputs of the learning units, (·, k, m), for weights (·, r)."""
        whole = np.zeros((len(w), *self.mask.shape))
        whole[:, self.mask] = w
        return whole @ self.X + self.c

    def residual(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors of the labels (·, d, m), and which units are active (·, k, m)."""
        h = self.inputs(w)
        return self.W2 @ np.maximum(h, 0.0) - self.G, h > 0

    def gradient(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loss (·) and its gradient (·, r)."""
        errors, active = self.residual(w)
        back = (2.0 / errors[0].size) * (self.W2.T @ errors) * active
        return (errors**2).mean(axis=(1, 2)), (back @ self.X.T)[:, self.mask]

    def jacobian(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors (·, dm) and their derivatives (·, dm, r)."""
        errors, active = self.residual(w)
        unit, source = np.nonzero(self.mask)
        slopes = active[:, unit] * self.X[source]
        J = self.W2[:, unit].T[None, :, :, None] * slopes[:, :, None, :]
        count = len(w)
        return errors.reshape(count, -1), J.reshape(count, len(unit), -1).transpose(0, 2, 1)


def adam(loss: FirstLayerLoss, starts: np.ndarray) -> np.ndarray:
    """Adam from a batch of starts, the rate falling to a hundredth by half a cosine.

    Parameters
    ----------
    loss : FirstLayerLoss
    starts : ndarray, (·, r)

    Returns
    -------
    ndarray, (·, r)
    """
    w = np.array(starts, float)
    state = Adam(w, _TINY)
    for t in range(1, _ADAM_STEPS + 1):
        _, slope = loss.gradient(w)
        w -= state.step(slope, half_cosine(_RATE, t, _ADAM_STEPS))
    return w


def damped(loss: FirstLayerLoss, starts: np.ndarray) -> np.ndarray:
    """Damped Gauss–Newton from a batch of starts, until one of them converges.

    Parameters
    ----------
    loss : FirstLayerLoss
    starts : ndarray, (·, r)

    Returns
    -------
    ndarray, (·, r)
    """
    return levenberg_marquardt(
        lambda w, _: loss.jacobian(w),
        starts,
        _DAMPED_STEPS,
        enough=1e-24,
        damping=PATIENT,
        first=True,
    ).ends  # fmt: skip


class OptimizerEngine(OneByOne):
    """Real solutions found by an optimizer, and the paper's verdict.

    Parameters
    ----------
    method : "adam" or "levenberg-marquardt"
    starts : int, optional
        Random starts for an instance.

    Raises
    ------
    InputError
        For another method, or for an allocation outside W1.
    """

    def __init__(self, method: str, *, starts: int = 100) -> None:
        if method not in METHODS:
            raise InputError(f"`method` ({method!r}) must be one of " + ", ".join(METHODS))
        self.method = method
        self.starts = starts

    def count(self, instance: Instance) -> InstanceCount:
        """The proved part of the count of one instance."""
        check_time()
        began = time.perf_counter()
        if set(instance.allocation.matrices) != {"W1"}:
            raise InputError(f"engine {self.method!r} learns weights of W1 alone")
        loss = FirstLayerLoss.of(instance)
        key = (instance.index, _STARTS)
        rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
        scale = instance.problem.network.shapes["W1"][1] ** -0.5
        starts = scale * rng.standard_normal((self.starts, instance.allocation.size))
        ends = METHODS[self.method](loss, starts)
        errors = (loss.residual(ends)[0] ** 2).mean(axis=(1, 2))
        best = float(errors.min())
        solution = self._exact(instance, loss, ends[np.argsort(errors)[:_TRIED]])
        return InstanceCount(
            instance.index,
            None if solution is None else 1,
            None,
            UNDETERMINED,
            f"least MSE {best:.1e} of {self.starts} starts"
            + ("" if solution is None else "; a rational witness, verified"),
            solutions=() if solution is None else (solution,),
            seconds=time.perf_counter() - began,
            paper_match=best < MSE,
            reason=Reason.SEARCHED if solution is None else Reason.FOUND_ONE,
        )

    @staticmethod
    def _exact(
        instance: Instance, loss: FirstLayerLoss, ends: np.ndarray
    ) -> tuple[float, ...] | None:
        system = relu_system(instance.allocation, *instance.exact, instance.box)
        learns = np.asarray(instance.allocation.masks["W1"]).any(axis=1)
        kept = np.isin(np.flatnonzero(learns), system.units)
        for active in (loss.inputs(ends) > 0)[:, kept]:
            values = system.solve_pattern(active, np.zeros(active.shape, bool))
            if values is not None:
                return tuple(nearest_double(v) for v in values)
        return None


METHODS: dict[str, Callable[[FirstLayerLoss, np.ndarray], np.ndarray]] = {
    "adam": adam,
    "levenberg-marquardt": damped,
}


def _maker(method: str) -> Maker:
    return lambda task: OptimizerEngine(method)


for _method, _summary in (
    ("adam", "Adam from 100 starts; a match only with a witness"),
    ("levenberg-marquardt", "damped Gauss-Newton from 100 starts; a match only with a witness"),
):
    engine(
        EngineInfo(
            _method, {"relu"}, complete=False, summary=_summary, plans=False, constraints=True
        )
    )(_maker(_method))
