"""Pencils of curve sections, and the sum of a section's points along them.

For the mathematics see `numeric.tracking.trace_test`; for the curve and its sections by forms of
bidegree (1, 1) see `numeric.tracking.label_curve`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from numeric.tracking.label_curve import LabelCurve, track_sections

# Points within this distance, relative to their size, are equal.
_SAME = 1e-6
# Number of detours tried to a section where paths were lost.
_DETOURS = 3


@dataclass(frozen=True)
class Pencil:
    """The sections ``A(w) t + λ(w) + s λ(w) t = 0`` of a curve.

    Attributes
    ----------
    curve : LabelCurve
    at_infinity : ndarray of complex, shape (r + 1,)
        λ: constant, then coefficients.
    direction : ndarray of complex, shape (r + 1,)
        A.
    """

    curve: LabelCurve
    at_infinity: np.ndarray
    direction: np.ndarray

    def section(self, s: np.clongdouble) -> np.ndarray:
        """The form at a finite s, in the longest precision of the machine."""
        return np.column_stack([self.at_infinity, self.direction + s * self.at_infinity])

    @property
    def known(self) -> np.ndarray:
        """The form λ(w) t at s = ∞."""
        return np.column_stack([np.zeros_like(self.at_infinity), self.at_infinity])

    def coordinates(self, z: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w/λ(w) of points (w, t), and the moduli of the errors that result from `errors`."""
        w, dw = z[:, :-1], errors[:, :-1]
        size = self.at_infinity[0] + w @ self.at_infinity[1:]
        x = w / size[:, None]
        change = np.abs(dw - x * (dw @ self.at_infinity[1:])[:, None])
        return x, change / np.abs(size)[:, None]


def trace_residual(
    pencil: Pencil, points: np.ndarray, values: np.ndarray, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Deviation of the sum over some points from a linear function of s.

    Parameters
    ----------
    pencil : Pencil
    points : ndarray of complex, shape (k, r + 1)
        Points of the section at s = ∞.
    values : ndarray of complex, shape (3,)
        Values of s.
    rng : numpy.random.Generator
        For detours.

    Returns
    -------
    residual : float
        Norm of the summed second divided differences over the sum of their norms: 0 for a
        complete set.
    noise : float
        Estimated residual of a complete set, by rounding.
    share : float
        The smallest of these norms over their sum.
        None in place of all three if k distinct points could not be moved to each section, or if
        more were found there.

    Notes
    -----
    Lost paths are replaced by other paths to the same section: any k distinct points of it are
    sufficient.  The test stays sound: if three sets have sums on one line for generic s, then,
    with two values of s fixed, one of the sets has a linear sum.
    """
    z = points
    values = values.astype(np.clongdouble)
    forms = [pencil.known, *(pencil.section(s) for s in values)]
    seen = []
    for before, after in itertools.pairwise(forms):
        z = move_points(pencil.curve, z, before.astype(complex), after.astype(complex), rng)
        if len(z) != len(points):
            return None
        seen.append(z)
    second = np.zeros((len(points), points.shape[1] - 1), np.clongdouble)
    noise = np.zeros(points.shape[1] - 1, np.longdouble)
    epsilon = np.finfo(np.longdouble).eps
    for k, (z, form) in enumerate(zip(seen, forms[1:], strict=True)):
        apart = np.prod([values[k] - values[j] for j in range(3) if j != k])
        x, change = pencil.coordinates(*pencil.curve.sharpen(z, form))
        second += x / apart
        noise += (change + epsilon * np.abs(x)).sum(axis=0) / np.abs(apart)
    norms = np.sqrt((np.abs(second) ** 2).sum(axis=1))
    total = norms.sum()
    if not (np.isfinite(total) and total > 0):
        return None
    left = np.abs(second.sum(axis=0))
    return (
        float(np.sqrt((left**2).sum()) / total),
        float(np.sqrt((noise**2).sum()) / total),
        float(norms.min() / total),
    )


def move_points(
    curve: LabelCurve,
    points: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Distinct points on another section, as many as there are, with detours if needed."""
    arrived = track_sections(curve, points, before, after)
    lost = ~np.isin(np.arange(len(points)), distinct_indices(arrived))
    if lost.any():
        arrived[lost] = track_sections(curve, points[lost], before, after, careful=True)
        lost = ~np.isin(np.arange(len(points)), distinct_indices(arrived))
    for _ in range(_DETOURS):
        if not lost.any():
            break
        via = gaussian(rng, *before.shape)
        again = track_sections(curve, track_sections(curve, points, before, via), via, after)
        # Points keep their positions if possible; only lost ones are filled in.
        fresh = np.concatenate([arrived[~lost], again])
        fresh = fresh[distinct_indices(fresh)][int((~lost).sum()) :]
        if len(fresh) > lost.sum():
            return np.concatenate([arrived[~lost], fresh])
        places = np.flatnonzero(lost)[: len(fresh)]
        arrived[places] = fresh
        lost[places] = False
    return arrived[~lost]


def distinct_indices(points: np.ndarray) -> np.ndarray:
    """Indices of the first of each group of points that agree to within 1e-6."""
    kept: list[int] = []
    size = np.maximum(1.0, np.abs(points).max(axis=1, initial=0.0))
    for k in range(len(points)):
        if not np.isfinite(points[k]).all():
            continue
        gaps = np.abs(points[kept] - points[k]).max(axis=1, initial=0.0)
        if not (gaps <= _SAME * size[k]).any():
            kept.append(k)
    return np.array(kept, np.int64)


def random_section(rng: np.random.Generator, r: int) -> np.ndarray:
    """A form of bidegree (1, 1), its parts of very different size every other time.

    Sections of size 1 hardly move points with a very small t or very large weights, and enclose
    none of their branch points; hence the sections of other sizes.
    """
    form = gaussian(rng, r + 1, 2)
    if rng.random() < 0.5:
        form[:, 0] *= 10 ** rng.uniform(-4, 2)
        form[0] *= 10 ** rng.uniform(-2, 3)
    return form


def gaussian(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Independent complex normal numbers of variance 1."""
    pair = rng.standard_normal((2, *shape))
    return (pair[0] + 1j * pair[1]) / np.sqrt(2.0)
