"""Costs of a match, enclosed in intervals: the measures of profiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from algebra.errors import InputError
from algebra.given import known_name
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.programs.balls import as_balls
from algebra.ranks.parametrized import Parametrized, by_updates
from algebra.time_limits import check_time
from numeric.matches.conditions import conditions
from numeric.plugins.training.profiles.errors import least_error, new_errors
from numeric.trials.instances import Instance

# A multiple of the error of a few rounded operations on doubles.
_SLACK = 4e-15

# From an instance, certified centres (·, r) and radii (·, r) to lower and upper bounds of costs.
_Costs = Callable[[Instance, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Measure:
    """A cost of matches that a profile bounds.

    Attributes
    ----------
    name, title : str
        Its name as an option, and a text for tables and axes.
    constraint : str or None
        The constraint of a problem file that bounds it, if there is one.
    costs : callable
        From an instance, certified centres (·, r) and radii (·, r) to lower and upper bounds (·,)
        of the costs of the solutions.
    of_family : callable or None
        The least cost of a family of matches, enclosed, or None if it is not known: where more
        weights learn than there are equations.
    is_slow : bool
        Whether it may take much longer than the counts.
    """

    name: str
    title: str
    constraint: str | None
    costs: _Costs = field(repr=False)
    is_slow: bool = False
    of_family: Callable[[Instance], tuple[float, float] | None] | None = field(
        default=None, repr=False
    )


def _weights(
    instance: Instance, middles: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres and radii of the weights that learn, and their values before learning.

    Where matrices learn by updates these are the weights that change, enclosed in balls.
    """
    network = instance.problem.network
    if not isinstance(network, Parametrized):
        return middles, radii, instance.before
    learning = by_updates(instance.problem).learning
    cells, fixed = learning.moving.cells, instance.weights
    before = np.array([fixed[name][i, j] for name, i, j in cells])
    found = np.empty((2, len(middles), len(cells)))
    for row, (middle, radius) in enumerate(zip(middles, radii, strict=True)):
        student = {name: as_balls(value) for name, value in fixed.items()}
        for (name, i, j), x, r in zip(instance.allocation.cells, middle, radius, strict=True):
            student[name][i, j] = arb(float(x), float(r))
        after = network.after(student)
        for column, (name, i, j) in enumerate(cells):
            ball = after[name][i, j]
            found[:, row, column] = float(ball.mid()), math.nextafter(float(ball.rad()), math.inf)
    return found[0], found[1], before


def _largest(
    middles: np.ndarray, radii: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    away = np.abs(middles - origin)
    slack = radii * (1 + _SLACK) + _SLACK * (np.abs(middles) + np.abs(origin))
    low = np.maximum(away - slack, 0.0).max(axis=1, initial=0.0)
    return low, (away + slack).max(axis=1, initial=0.0)


def _size(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    middles, radii, before = _weights(instance, middles, radii)
    return _largest(middles, radii, 0 * before)


def _change(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    return _largest(*_weights(instance, middles, radii))


def _norm(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    middles, radii, before = _weights(instance, middles, radii)
    length = np.linalg.norm(middles - before, axis=1)
    slack = radii * (1 + _SLACK) + _SLACK * (np.abs(middles) + np.abs(before))
    off = np.linalg.norm(slack, axis=1) + len(before) * _SLACK * length
    return np.maximum(length - off, 0.0), length + off


def _condition(instance: Instance, middles: np.ndarray, radii: np.ndarray) -> Any:
    ends = []
    for w in middles:
        check_time()
        found = conditions(instance, w.tolist())[1]
        ends.append((math.inf, math.inf) if found is None else (found.low, found.high))
    low, high = np.array(ends).reshape(-1, 2).T
    return low, high


MEASURES = {
    m.name: m
    for m in (
        Measure("size", "largest |weight| allowed", "max_abs", _size),
        Measure("change", "largest change of a weight allowed", "max_change", _change),
        Measure("norm", "Euclidean length of the change allowed", None, _norm),
        Measure("error", "error on new samples allowed", None, new_errors, True, least_error),
        Measure("condition", "condition number allowed", None, _condition, is_slow=True),
    )
}


def check_measure(problem: Problem, measure: Measure) -> None:
    """Refuse a measure that has no meaning for what learns.

    Raises
    ------
    InputError
    """
    if measure.name == "condition" and any(
        isinstance(u, LowRank) for u in problem.updates.values()
    ):
        raise InputError(
            "`by` ('condition'): it is about single parameters, and those of a low-rank update "
            "have no meaning one by one; take size, change, norm or error"
        )


def find_measure(name: str) -> Measure:
    """The measure of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    return MEASURES[known_name(name, "by", MEASURES)]
