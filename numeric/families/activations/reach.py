"""A search for labels that no values of the learnable weights give.

The labels of a sample without the parts that do not move must lie in a set of all D z with bounded
z, which is convex and closed (`algebra.families.activations.reach`).  If they do not, then the
difference from the nearest point of the set separates them from it.  It is found by least squares
under bounds, in doubles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpq
from scipy.optimize import lsq_linear

from algebra.families.activations.reach import LabelReach, SeparatedLabels
from numeric.trials.instances import Instance

# The least distance, relative to the labels, for which a proof is tried.
_MARGIN = 1e-9


def separated_labels(reach: LabelReach, instance: Instance) -> SeparatedLabels | None:
    """Labels of an instance that are proved to be out of reach; None if none are found.

    Parameters
    ----------
    reach : LabelReach
        Of the instance's allocation.
    instance : Instance
    """
    labels = np.asarray(instance.labels, float).reshape(-1, reach.problem.network.m)
    given = instance.drawn_labels
    teacher = instance.teacher if given is None else None
    with np.errstate(over="ignore", invalid="ignore"):
        D, readings = reach.parts(instance.weights, instance.X, labels)
    inverse = np.linalg.pinv(D)
    for number, rest in enumerate(readings):
        known = np.flatnonzero(np.isfinite(rest).all(axis=0))
        for sample in known[_outside(reach, D, inverse, rest[:, known])].tolist():
            for factors in _directions(reach, D, rest[:, sample]):
                rational = tuple(fmpq(*x.as_integer_ratio()) for x in factors.tolist())
                found = SeparatedLabels(sample, number, rational)
                if reach.separates(found, instance.weights, instance.X, teacher, given):
                    return found
    return None


def _ends(reach: LabelReach, units: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval of each of the moved units."""
    low, high = reach.reading.range.low, reach.reading.range.high
    return (
        np.full(units, -np.inf if low is None else float(low)),
        np.full(units, np.inf if high is None else float(high)),
    )


def _outside(reach: LabelReach, D: np.ndarray, inverse: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The samples for which the solution that is nearest to the middle leaves the intervals."""
    low, high = _ends(reach, D.shape[1])
    middle = (low + high) / 2 if reach.reading.range.is_bounded else np.zeros(D.shape[1])
    z = middle[:, None] + inverse @ (rest - (D @ middle)[:, None])
    fits = ((z >= low[:, None]) & (z <= high[:, None])).all(axis=0)
    size = 1 + np.abs(rest).max(axis=0)
    fits &= np.abs(D @ z - rest).max(axis=0) < _MARGIN * size
    return ~fits


def _directions(reach: LabelReach, D: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
    """Candidates for λ."""
    ends, difference = _ends(reach, D.shape[1]), right
    if D.shape[1]:
        difference = right - D @ lsq_linear(D, right, ends, method="bvls").x
    if np.abs(difference).max() < _MARGIN * (1 + np.abs(right).max()):
        return
    if reach.reading.range.is_bounded:
        yield difference
    else:
        # In single rows no coefficient is 0 but for rounding.
        yield from np.diag(np.sign(difference))
