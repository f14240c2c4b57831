"""The end of paths in the free inputs, in pairs of doubles, at the rational instance itself.

A line ends at an instance in doubles, whose rounding alone moves a root of condition 10^12 by
10^-4 of its size.  These lines end at the instance rounded to pairs, and all coordinates, series
and residuals on them are pairs (`numeric.equations.lanes.paired_inputs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numeric.equations.inputs import InputsForm
from numeric.equations.lanes.paired_inputs import make_paired_inputs
from numeric.equations.pairs import line_in_pairs
from numeric.kernels import call
from numeric.tracking.kernel import track_system
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import DONE, Lines, PathOutcomes

# Predictions and points must be right to more digits than in doubles: Newton's basin is as small
# as 10^-13 where the last paths are lost.
SETTINGS = TrackerSettings(
    order=18, tolerance=1e-10, accuracy=1e-10, shortest=1e-7, most_steps=120, most_rejected=30
)


class StuckPath(NamedTuple):
    """The last point of a path.

    Attributes
    ----------
    t : float
        In [0, 1).
    x : ndarray of complex, shape (q,)
        Approximate unknowns there.
    is_exact : bool
        Whether the point is on the line to the exact instance, not to its reduction in doubles.
    low : ndarray of complex, shape (q,), or None
        Low parts of the unknowns, of a point in pairs.
    begun : float
        Of a point in pairs: where the path was stuck in doubles.  Then t is a share of the way from
        there to 1, since at a condition of 10^17 the rounding of t itself would move the point.
    before : StuckPath or None
        Of a point in pairs: that in doubles.
    """

    t: float
    x: np.ndarray
    is_exact: bool = False
    low: np.ndarray | None = None
    begun: float = 0.0
    before: StuckPath | None = None


def finish_in_pairs(
    form: InputsForm, first: np.ndarray, paths: Sequence[tuple[np.ndarray, StuckPath]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Follow paths to their ends.

    Parameters
    ----------
    form : InputsForm
    first : ndarray of complex, shape (form.size,)
        Parameters at t = 0.
    paths : sequence of (ndarray of float, StuckPath)
        Parameters at t = 1, in pairs (`numeric.equations.pairs`), shape (form.size, 6); the path.

    Returns
    -------
    reached : ndarray of float, shape (paths,)
        The last place of each path, as a share of the way from its t to 1; 1 if it arrived.
    high, low : ndarray of complex, shape (paths, q)
        The points there, as pairs.
    """
    count, size = len(paths), form.size
    ways = np.zeros((count, 4 * size), complex)
    for way, (second, path) in zip(ways, paths, strict=True):
        call(line_in_pairs, np.ascontiguousarray(first, complex), second, path.t, way)
    system = form.chain.once("paired inputs", lambda: make_paired_inputs(form, SETTINGS.order))
    steps = np.zeros((3, count), np.int64)
    outcome = PathOutcomes(*steps, *np.zeros((2, count)))
    high, low = np.zeros((2, count, form.unknowns), complex)
    starts = np.ascontiguousarray([path.x for _, path in paths], complex)
    lines = Lines(
        np.zeros((1, 4 * size), complex), ways, np.zeros(count, np.int64), np.arange(count), starts
    )
    track_system(system, SETTINGS, lines, high, low, outcome)
    return np.where(outcome.status == DONE, 1.0, outcome.reached), high, low
