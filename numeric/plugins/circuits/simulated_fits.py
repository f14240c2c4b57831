r"""Simulated fits of noisy recordings: how many end near the truth, and how far the others are.

The prediction of `numeric.plugins.circuits.noise` is linear: it is about fits that end near the
truth.  Here a truth
θ* is fixed (the circuit's own parameters), and each *student* has a start θ₀ drawn by the law, each
parameter around θ* with its own deviation, and noise of its own.  It minimizes

.. math:: |z − z(θ)|²/σ² + |S^{-1}(θ − θ_0)|²,

S the deviations before the recording, by Levenberg and Marquardt's method from θ₀.  To first order
its error of the target has the predicted covariance; a fit *ends elsewhere* if the root mean square
of its errors of the target is more than `FAR` times the predicted one, which in the linear theory
has a probability below 2e-6 (that of one number; for several it is smaller).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from algebra.errors import InputError
from algebra.time_limits import OutOfTime, check_time
from numeric.plugins.circuits.sensitivities import MovedCircuit, Sensitivity
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval
from numeric.trials.streams import stream

FAR = 5.0
# Steps of a fit.
_STEPS = 200


@dataclass(frozen=True)
class SimulatedFits:
    """Fits of several students.

    Attributes
    ----------
    errors : tuple of float
        Root mean squares of the target's errors, a student each.
    predicted : float
    asked : int
        Number of students that were asked for; fewer have errors if time was up.
    """

    errors: tuple[float, ...]
    predicted: float
    asked: int

    @property
    def elsewhere(self) -> int:
        """Number of fits that end elsewhere."""
        return sum(not error <= FAR * self.predicted for error in self.errors)

    @property
    def share(self) -> ConfidenceInterval:
        """The share of fits that end elsewhere."""
        return proportion_interval(self.elsewhere, len(self.errors) - self.elsewhere)

    @property
    def median(self) -> float:
        """The median error of those that end near the truth; not a number if none does."""
        near = [error for error in self.errors if error <= FAR * self.predicted]
        return float(np.median(near)) if near else float("nan")

    def to_dict(self) -> dict[str, object]:
        """The key ``students`` of a result."""
        low, high = self.share.low, self.share.high
        return {
            "students": {
                "number": len(self.errors), "elsewhere": self.elsewhere, "low": low, "high": high,
                "median_error": None if np.isnan(self.median) else self.median,
            }
        }  # fmt: skip

    def __str__(self) -> str:
        of, share = len(self.errors), self.share
        stopped = "" if of == self.asked else f" (of {self.asked} when time was up)"
        return (
            f"of {of} simulated fits{stopped} {self.elsewhere} end elsewhere (errors of the target "
            f"above {FAR:g} times the predicted deviation), a share between {share.low:.3g} and "
            f"{share.high:.3g}; the median error of the others is {self.median:.3g}"
        )


def simulated_fits(
    found: Sensitivity, chosen: Sequence[int], sigma: float, students: int
) -> SimulatedFits:
    """Fits of students, each with its own start and noise.

    Parameters
    ----------
    found : Sensitivity
    chosen : sequence of int
        Numbers of the recorded elements.
    sigma : float
    students : int

    Notes
    -----
    Those that are finished when time is up are the result.

    Raises
    ------
    InputError
        If units have kinks: a start on another activation pattern has other derivatives.
    """
    from scipy.optimize import least_squares

    question, prior = found.question, found.prior
    if question.parametrized.network.has_kinks:
        raise InputError("`students`: fits are simulated for activations without kinks")
    kept, circuit = found.kept(chosen), MovedCircuit(found)
    damping = np.diag(1 / prior)

    def slopes(by: np.ndarray) -> np.ndarray:
        check_time()
        return np.concatenate([circuit.slopes(by)[kept] / sigma, damping])

    def fitted(number: int, truth: np.ndarray, aim: np.ndarray) -> float:
        """The error of a student's target."""
        drawn = stream(found.seed, number, "students")
        start = prior * drawn.standard_normal(len(prior))
        noisy = truth[kept] + sigma * drawn.standard_normal(int(kept.sum()))

        def misses(by: np.ndarray) -> np.ndarray:
            check_time()
            return np.concatenate(
                [(circuit.recorded(by)[kept] - noisy) / sigma, (by - start) / prior]
            )

        fit = least_squares(misses, start, slopes, x_scale=prior, max_nfev=_STEPS)
        return float(np.sqrt(np.mean((circuit.aims(fit.x) - aim) ** 2)))

    errors: list[float] = []
    # Each student is a sample of its own: fewer give a wider interval.
    with (
        np.errstate(over="ignore", invalid="ignore"),
        suppress(KeyboardInterrupt, OutOfTime),
    ):  # fmt: skip
        truth, aim = (of(np.zeros(len(prior))) for of in (circuit.recorded, circuit.aims))
        for number in range(students):
            errors.append(fitted(number, truth, aim))
    return SimulatedFits(tuple(errors), found.total(chosen, sigma), students)
