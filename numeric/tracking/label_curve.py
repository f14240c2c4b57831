r"""A curve of instances and its hyperplane sections: evaluation and path tracking.

With everything fixed but the learnable weights w, the labels are a polynomial map G from
C^r to C^r (`numeric.equations.system`).  A line Y_0 + tV in label space gives the curve

    C = {(w, t) : G(w) = Y_0 + tV}  in  C^r × C.

Sections are given by forms of bidegree (1, 1), ``(1, w)ᵀ Q (1, t) = 0`` with a matrix Q of shape
(r + 1, 2).  Special cases are a slice in t alone (an instance and its solutions) and one
in w alone.  Points are moved from one section to another along a straight line of matrices
Q by the compiled tracker (`ParameterSystem.curve_system` has the
equations).

The results are numerical evidence, not proofs.  `numeric.tracking.trace_test` says what follows
from the results of many paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.equations.system import ParameterSystem
from numeric.tracking.kernel import track_system
from numeric.tracking.settings import TrackerSettings
from numeric.tracking.steps import DONE, Lines, PathOutcomes
from numeric.tracking.tracker import follow_lines

# Newton's last step on a point of the curve is at most this, relative to the point's size.
_ROUNDING = 1e-7
_PASSES = 4


def _scale(z: np.ndarray) -> np.ndarray:
    """Size of each point, at least 1."""
    return np.maximum(1.0, np.abs(z).max(axis=-1))


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Batched solution; NaN where a matrix is singular."""
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        out = np.full_like(right, np.nan)
        for k in range(len(matrix)):
            try:
                out[k] = np.linalg.solve(matrix[k], right[k])
            except np.linalg.LinAlgError:
                continue
        return out


@dataclass(frozen=True)
class LabelCurve:
    """The curve of all (w, t) with labels ``Y_0 + tV``.

    Attributes
    ----------
    of : ParameterSystem
    parameters : ndarray of complex, shape (of.size,)
        All parameters; learnable cells are ignored.  Their labels are Y_0.
    direction : ndarray of complex, shape (r,)
        V, in the order of the equations.
    """

    of: ParameterSystem
    parameters: np.ndarray
    direction: np.ndarray

    @property
    def unknowns(self) -> int:
        """Number r of learnable weights; a point has r + 1 coordinates."""
        return self.of.unknowns

    def system(self, z: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals (k, r + 1) and Jacobians (k, r + 1, r + 1) at points (w, t) of one section.

        Parameters
        ----------
        z : ndarray of complex, shape (k, r + 1)
        Q : ndarray of complex, shape (r + 1, 2)
        """
        r, count = self.unknowns, len(z)
        w, t = z[:, :r], z[:, r]
        gap, derivative = self.of.residuals(self.parameters, w)
        residual = np.empty((count, r + 1), gap.dtype)
        residual[:, :r] = gap - t[:, None] * self.direction
        jacobian = np.zeros((count, r + 1, r + 1), gap.dtype)
        jacobian[:, :r, :r] = derivative
        jacobian[:, :r, r] = -self.direction
        one = np.concatenate([np.ones((count, 1)), w], axis=1)
        parts = one @ Q
        residual[:, r] = parts[:, 0] + t * parts[:, 1]
        jacobian[:, r, :r] = Q[1:, 0] + t[:, None] * Q[1:, 1]
        jacobian[:, r, r] = parts[:, 1]
        return residual, jacobian

    def refine(self, z: np.ndarray, Q: np.ndarray, passes: int = 6) -> np.ndarray:
        """Newton's method on one section; NaN where it does not converge."""
        if not len(z):
            return z
        with np.errstate(all="ignore"):
            for _ in range(passes):
                residual, jacobian = self.system(z, Q)
                step = _solve(jacobian, residual)
                z = z - step
            # Steps of ill-conditioned points are rounding error; far from a root steps are large.
            settled = np.abs(step).max(axis=1) <= _ROUNDING * _scale(z)
        return np.where(settled[:, None], z, np.nan)

    def sharpen(self, z: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, ...]:
        """Points of a section in the longest precision of the machine.

        Residuals are computed in it, the linear systems solved in double precision, as in
        iterative refinement.

        Returns
        -------
        points, errors : ndarray of clongdouble, shape (k, r + 1)
            The points, and the last correction as an estimate of the remaining error.
        """
        z = z.astype(np.clongdouble)
        step = np.zeros_like(z)
        for _ in range(_PASSES):
            residual, jacobian = self.system(z, Q)
            # Equations are scaled to the same size, to avoid overflow.
            size = np.abs(jacobian).max(axis=2)
            step = _solve(
                (jacobian / size[..., None]).astype(complex), (residual / size).astype(complex)
            ).astype(np.clongdouble)
            z = z - step
        return z, step


def track_sections(
    curve: LabelCurve,
    start: np.ndarray,
    Q0: np.ndarray,
    Q1: np.ndarray,
    *,
    careful: bool = False,
) -> np.ndarray:
    """Move points from one section to another.

    Parameters
    ----------
    curve : LabelCurve
    start : ndarray of complex, shape (k, r + 1)
        Points (w, t) on the section `Q0`.
    Q0, Q1 : ndarray of complex, shape (r + 1, 2)
    careful : bool, optional
        Whether steps are small: slower, for paths that fail.

    Returns
    -------
    ndarray of complex, shape (k, r + 1)
        Points on `Q1`, in the same order; NaN where a path was abandoned.
    """
    settings = TrackerSettings()
    ends = np.full(start.shape, np.nan, complex)
    alive = np.flatnonzero(np.isfinite(start).all(axis=1))
    first, second = (
        curve.of.curve_parameters(curve.parameters, curve.direction, Q) for Q in (Q0, Q1)
    )
    nought = np.zeros(len(alive), np.int64)
    done = follow_lines(
        SectionLines(curve.of), first[None], second[None], nought, nought,
        np.ascontiguousarray(start[alive], complex), settings.careful() if careful else settings,
    )  # fmt: skip
    good = done.status == DONE
    ends[alive[good]] = np.column_stack([done.roots[good][:, :-1], done.lifts[good]])
    return curve.refine(ends, Q1, 3)


@dataclass(frozen=True)
class SectionLines:
    """Lines of sections of a system's curves (`ParameterSystem.curve_system`)."""

    of: ParameterSystem

    def lifts(self, settings: TrackerSettings) -> int:
        """Number of further unknowns returned with an endpoint: t."""
        return 1

    def run(
        self, settings: TrackerSettings, lines: Lines, roots: np.ndarray, lifts: np.ndarray,
        outcome: PathOutcomes,
    ) -> None:  # fmt: skip
        """Call the kernel, which fills roots, lifts and outcome."""
        order = settings.order
        system = self.of.once(("curve", order), lambda: self.of.curve_system(order))
        track_system(system, settings, lines, roots, lifts, outcome)
