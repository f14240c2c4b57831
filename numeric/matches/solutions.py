"""The cost of each match: size of its weights, their change, the residual after rounding.

The weights are the doubles nearest to a certified solution, and all figures refer to these
doubles.  Sizes and changes are rounded once.  Residuals are computed over Q and rounded at the
end, so that they measure only the rounding of the weights; for analytic activations they are
computed in balls.  The condition (`numeric.matches.conditions`) is given by certified bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.results import named
from numeric.families.activations.krawczyk import ActivationBallSystem
from numeric.matches.conditions import Bounds, conditions
from numeric.trials.instances import Instance, to_rational

# Formats in which learnable weights may be stored.
FORMATS = ("float64", "float32", "float16")
# Precisions for residuals of analytic activations, and the accurate bits required.
_PRECISIONS = (212, 848, 1696)
_ENOUGH = 50


@dataclass(frozen=True)
class SolutionCost:
    """One match and its cost.

    Attributes
    ----------
    weights : tuple of float
        Values of the learnable weights, in the allocation's order.
    size : float
        Largest |w|.
    change : float
        Largest |w - v|, where v is the value before learning.
    distance : float
        Euclidean norm of the change.
    signs_kept : int
        Number of weights with the sign of their value before learning.
    residuals : mapping of str to float
        For each of `FORMATS`: largest error of a label, relative to the largest label, with the
        learnable weights rounded to that format and everything else exact.  Infinite if a
        weight exceeds the format, or if all labels are 0 (an inactive ReLU teacher) and one is
        missed.
    smallest_singular : Bounds or None
        Bounds of the smallest singular value σ of the labels' Jacobian with respect to the
        learnable weights: an error δ of the labels (Euclidean norm) moves the match by at most
        δ / σ.  None if σ is 0, as it is if a weight has no effect.
    condition : Bounds or None
        Bounds of the relative condition number ``|Y| / (|w| σ)``; None if it is infinite.
    """

    weights: tuple[float, ...]
    size: float
    change: float
    distance: float
    signs_kept: int
    residuals: Mapping[str, float]
    smallest_singular: Bounds | None = None
    condition: Bounds | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; None for an infinite residual or condition, else the bounds."""

        def pair(found: Bounds | None) -> list[float] | None:
            return None if found is None else [found.low, found.high]

        return {
            "weights": list(self.weights),
            **named(self, "size", "change", "distance", "signs_kept"),
            "residuals": {k: v if math.isfinite(v) else None for k, v in self.residuals.items()},
            "smallest_singular": pair(self.smallest_singular),
            "condition": pair(self.condition),
        }


def solution_costs(instance: Instance, solutions: Sequence[Sequence[float]]) -> list[SolutionCost]:
    """The cost of each real solution of an instance.

    Parameters
    ----------
    instance : Instance
    solutions : sequence of sequence of float
        `InstanceCount.solutions` from a count of that instance.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> from numeric.trials.instances import draw_instance
    >>> instance = draw_instance(Problem(LinearEstimator(q=1, d=1, m=1), {"W": [[1]]}), 0, 0)
    >>> [cost] = solution_costs(instance, [[float(instance.teacher["W"][0, 0])]])
    >>> cost.residuals["float64"]
    0.0
    """
    cells = instance.allocation.cells
    before = np.array([instance.weights[name][i, j] for name, i, j in cells])
    out = []
    for solution in solutions:
        w = np.asarray(solution, float)
        if w.shape != before.shape:
            raise InputError(
                f"`solutions`: one has {w.size} weights, the allocation has {len(cells)}"
            )
        moved = w - before
        out.append(
            SolutionCost(
                tuple(float(x) for x in w),
                float(np.abs(w).max(initial=0.0)),
                float(np.abs(moved).max(initial=0.0)),
                math.hypot(*moved),
                int((np.sign(w) == np.sign(before)).sum()),
                {name: _residual(instance, w, name) for name in FORMATS},
                *conditions(instance, solution),
            )
        )
    return out


def _residual(instance: Instance, w: np.ndarray, name: str) -> float:
    """Largest error with w rounded to a format, relative to the largest label."""
    with np.errstate(over="ignore"):
        rounded = w.astype(name).astype(float)
    if not np.isfinite(rounded).all():
        return math.inf
    if instance.problem.network.equations_are == "analytic":
        return _residual_in_balls(instance, to_rational(rounded))
    weights, X, Y = instance.exact
    student = {key: value.copy() for key, value in weights.items()}
    for (key, i, j), value in zip(instance.allocation.cells, to_rational(rounded), strict=True):
        student[key][i, j] = value
    error = instance.problem.network.forward(student, X) - Y
    largest = max(abs(y) for y in Y.flat)
    worst = max(abs(e) for e in error.flat)
    if not largest:
        return 0.0 if not worst else math.inf
    return nearest_double(fmpq(worst) / largest)


def _residual_in_balls(instance: Instance, w: np.ndarray) -> float:
    """The residual for analytic activations, to 50 bits; an upper bound if 1,696 are too few."""
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            system = ActivationBallSystem(instance)
            errors = system.residual([arb(x) for x in w]).entries()
            worst = _largest([abs(e) for e in errors])
            largest = _largest([abs(y) for y in system.labels.flat])
            if not worst.is_finite() or not largest > 0:
                continue
            found = worst / largest
            if found.rel_accuracy_bits() > _ENOUGH:
                return float(found.mid())
        return math.inf if not largest > 0 else math.nextafter(float(found.upper()), math.inf)
    finally:
        ctx.prec = before


def _largest(values: Sequence[arb]) -> arb:
    found = values[0]
    for value in values[1:]:
        found = found.max(value)
    return found
