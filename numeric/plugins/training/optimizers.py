"""The first paper's criterion for ReLU nets: an optimizer, and "a match" where MSE < 1e-2.

Kept as baselines that show the effect of the criterion.  The paper used AdaHessian (Appendix E.1)
and gives neither starts, steps nor rates; it used Adam for MNIST only.  Here every method starts
from random weights with the student's own law, all starts in a batch: the first-order methods
`sgd` and `adam`, `adahessian`, and `levenberg-marquardt` for least squares.  Their rates are those
of four each with which most trials of Figure 3b (n = 8) get below the criterion, and of these the
one of the least median error (``benchmarks/bench_optimizers.py --relu``).

The paper's verdict is kept as `InstanceCount.paper_match`.  A trial counts as matched only if
the activation pattern of an endpoint has an exact rational witness; otherwise it is undetermined.
"""

from __future__ import annotations

import time

import numpy as np

from algebra.errors import InputError
from algebra.given import known_name
from algebra.linalg.numbers import nearest_double
from algebra.time_limits import check_time
from numeric.engines.base import SequentialEngine
from numeric.linalg.levenberg_marquardt import CAUTIOUS, levenberg_marquardt
from numeric.plugins.relu.decide import witness_at
from numeric.programs.descent import OPTIMIZERS
from numeric.programs.losses import MSE, Loss
from numeric.programs.students import Students
from numeric.trials.counts import UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance

# Number of endpoints whose patterns are tried exactly.
TRIED = 5
# Steps of the methods with gradients, and their rates; steps of Levenberg–Marquardt.
STEPS = 2000
_RATES = {"sgd": 0.3, "adam": 0.1, "adahessian": 0.5}
_DAMPED_STEPS = 100
# Part of the seed of the starts.
_STARTS = 0x0971


def endpoints(method: str, loss: Loss, starts: np.ndarray) -> np.ndarray:
    """Ends (·, r) of a method from a batch of starts (·, r)."""
    if method in _RATES:
        return OPTIMIZERS[method].descend(loss, starts, STEPS, _RATES[method]).ends
    return damped_endpoints(loss, starts)


def damped_endpoints(loss: Loss, starts: np.ndarray) -> np.ndarray:
    """Ends (·, r) of damped Gauss–Newton from a batch of starts, until one of them converges."""
    return levenberg_marquardt(
        loss.at, starts, _DAMPED_STEPS, enough=1e-24, damping=CAUTIOUS, first=True
    ).ends


def random_starts(instance: Instance, count: int) -> np.ndarray:
    """Random learnable weights of W1 (count, r), with the law of the student's own."""
    key = (instance.index, _STARTS)
    rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
    scale = instance.problem.network.shapes["W1"][1] ** -0.5
    return np.asarray(scale * rng.standard_normal((count, instance.allocation.size)))


class OptimizerEngine(SequentialEngine):
    """Real solutions found by an optimizer, and the paper's verdict.

    Parameters
    ----------
    method : {"sgd", "adam", "adahessian", "levenberg-marquardt"}
    starts : int, optional
        Random starts for an instance.

    Raises
    ------
    InputError
        For another method, or for an allocation outside W1.
    """

    def __init__(self, method: str, *, starts: int = 100) -> None:
        self.method = known_name(method, "method", METHODS)
        self.starts = starts

    def count(self, instance: Instance) -> InstanceCount:
        """The proved part of the count of one instance."""
        check_time()
        began = time.perf_counter()
        if set(instance.allocation.matrices) != {"W1"}:
            raise InputError(
                f"engine {self.method!r} is for learnable weights in W1 only, not in "
                + ", ".join(instance.allocation.matrices)
            )
        loss = Loss(Students.of([instance], self.starts))
        ends = endpoints(self.method, loss, random_starts(instance, self.starts))
        errors = (loss.errors(ends) ** 2).mean(axis=(1, 2))
        best = float(errors.min())
        witness = witness_at(instance, ends[np.argsort(errors)[:TRIED]])
        solution = None if witness is None else tuple(nearest_double(v) for v in witness)
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


METHODS = (*_RATES, "levenberg-marquardt")
