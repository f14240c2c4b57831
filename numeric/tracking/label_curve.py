r"""A curve of instances and its hyperplane sections: evaluation and path tracking.

With everything fixed but the learnable weights w, the labels are a polynomial map G from
C^r to C^r (`numeric.chains.chain`).  A line Y_0 + tV in label space gives the curve

    C = {(w, t) : G(w) = Y_0 + tV}  in  C^r × C.

Sections are given by forms of bidegree (1, 1), ``(1, w)ᵀ Q (1, t) = 0`` with a matrix Q of shape
(r + 1, 2).  Special cases are a slice in t alone (an instance and its solutions) and one
in w alone.  Points are moved from one section to another along a straight line of matrices
Q by a batched predictor and corrector, all points of a section at once.

The results are numerical evidence, not proofs.  `numeric.tracking.trace_test` says what follows
from the results of many paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.chains.arrays import residuals
from numeric.chains.chain import Chain

# A path is abandoned below this step, or after this many steps (about a hundred are usual).
_SMALLEST_STEP = 1e-9
_MOST_STEPS = 400
# The prediction must be within this distance of the curve, relative to the point's size, ...
_PREDICTION = 1e-5
# ... and corrections must fall below this, or stagnate at rounding error, below _ROUNDING.
_CORRECTION = 1e-11
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
    chain : Chain
    parameters : ndarray of complex, shape (chain.size,)
        All parameters; learnable cells are ignored.  Their labels are Y_0.
    direction : ndarray of complex, shape (r,)
        V, in the order of the chain's equations.
    """

    chain: Chain
    parameters: np.ndarray
    direction: np.ndarray

    @property
    def unknowns(self) -> int:
        """Number r of learnable weights; a point has r + 1 coordinates."""
        return self.chain.unknowns

    def system(
        self, z: np.ndarray, Q: np.ndarray, dQ: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residuals, Jacobian and derivative with respect to the moving section, at points (w, t).

        Parameters
        ----------
        z : ndarray of complex, shape (k, r + 1)
        Q, dQ : ndarray of complex, shape (k, r + 1, 2) or (r + 1, 2)
            The section of each point, and its derivative.

        Returns
        -------
        residual, jacobian, moving : ndarray of complex
            Shapes (k, r + 1), (k, r + 1, r + 1) and (k,): only the last equation moves.
        """
        r, count = self.unknowns, len(z)
        w, t = z[:, :r], z[:, r]
        gap, derivative = residuals(self.chain, self.parameters, w)
        residual = np.empty((count, r + 1), gap.dtype)
        residual[:, :r] = gap - t[:, None] * self.direction
        jacobian = np.zeros((count, r + 1, r + 1), gap.dtype)
        jacobian[:, :r, :r] = derivative
        jacobian[:, :r, r] = -self.direction
        one = np.concatenate([np.ones((count, 1)), w], axis=1)
        Q = np.broadcast_to(Q, (count, r + 1, 2))
        dQ = np.broadcast_to(dQ, (count, r + 1, 2))
        parts = np.einsum("ki,kij->kj", one, Q)
        residual[:, r] = parts[:, 0] + t * parts[:, 1]
        jacobian[:, r, :r] = Q[:, 1:, 0] + t[:, None] * Q[:, 1:, 1]
        jacobian[:, r, r] = parts[:, 1]
        speed = np.einsum("ki,kij->kj", one, dQ)
        return residual, jacobian, speed[:, 0] + t * speed[:, 1]

    def newton(self, z: np.ndarray, Q: np.ndarray, *, precise: bool = False) -> np.ndarray:
        """Newton's correction of points; `precise` computes residuals in longer precision."""
        residual, jacobian, _ = self.system(z, Q, Q)
        if precise:
            residual = self.system(z.astype(np.clongdouble), Q, Q)[0].astype(complex)
        return _solve(jacobian, residual)

    def refine(
        self, z: np.ndarray, Q: np.ndarray, passes: int = 6, *, precise: bool = False
    ) -> np.ndarray:
        """Newton's method on one section; NaN where it does not converge."""
        if not len(z):
            return z
        with np.errstate(all="ignore"):
            for _ in range(passes):
                step = self.newton(z, Q, precise=precise)
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
            residual, jacobian, _ = self.system(z, Q, Q)
            # Equations are scaled to the same size, to avoid overflow.
            size = np.abs(jacobian).max(axis=2)
            step = _solve(
                (jacobian / size[..., None]).astype(complex), (residual / size).astype(complex)
            ).astype(np.clongdouble)
            z = z - step
        return z, step


def track(
    curve: LabelCurve,
    start: np.ndarray,
    Q0: np.ndarray,
    Q1: np.ndarray,
    *,
    precise: bool = False,
) -> np.ndarray:
    """Move points from one section to another.

    Parameters
    ----------
    curve : LabelCurve
    start : ndarray of complex, shape (k, r + 1)
        Points (w, t) on the section `Q0`.
    Q0, Q1 : ndarray of complex, shape (r + 1, 2)
    precise : bool, optional
        Whether residuals are computed in longer precision: slower, for paths that fail.

    Returns
    -------
    ndarray of complex, shape (k, r + 1)
        Points on `Q1`, in the same order; NaN where a path was abandoned.

    Notes
    -----
    Davidenko's equation is integrated by the classical Runge–Kutta method, then corrected by
    Newton's method.  A step is accepted if the error of the prediction was small and the
    corrections decrease, which also sets the next step length.  Each path has its own.
    """
    ends = np.array(start, complex)
    position = np.zeros(len(start))
    step = np.full(len(start), 0.05)
    alive = np.isfinite(ends).all(axis=1)
    dQ = Q1 - Q0
    with np.errstate(all="ignore"):
        for _ in range(_MOST_STEPS):
            now = np.flatnonzero(alive & (position < 1))
            if not len(now):
                break
            z, u = ends[now], position[now]
            h = np.minimum(step[now], 1 - u)
            guess = _runge_kutta(curve, z, Q0, dQ, u, h)
            there = np.where(h >= 1 - u, 1.0, u + h)
            landed, good = _correct(curve, guess, Q0 + there[:, None, None] * dQ, precise)
            ends[now[good]] = landed[good]
            position[now[good]] = there[good]
            gap = np.abs(landed - guess).max(axis=1) / _scale(guess)
            # The error of a step of a method of order four is of order five in its length.
            factor = np.clip((0.1 * _PREDICTION / np.maximum(gap, 1e-16)) ** 0.2, 0.3, 2.0)
            step[now] = np.where(good, h * factor, h * 0.35)
            alive[now] &= step[now] > _SMALLEST_STEP
    ends[~(alive & (position >= 1))] = np.nan
    return curve.refine(ends, Q1, 3, precise=precise)


def _runge_kutta(
    curve: LabelCurve, z: np.ndarray, Q0: np.ndarray, dQ: np.ndarray, u: np.ndarray, h: np.ndarray
) -> np.ndarray:
    def slope(point: np.ndarray, at: np.ndarray) -> np.ndarray:
        _, jacobian, moving = curve.system(point, Q0 + at[:, None, None] * dQ, dQ)
        right = np.zeros_like(point)
        right[:, -1] = -moving
        return _solve(jacobian, right)

    half = (h / 2)[:, None]
    a = slope(z, u)
    b = slope(z + half * a, u + h / 2)
    c = slope(z + half * b, u + h / 2)
    d = slope(z + h[:, None] * c, u + h)
    return z + (h / 6)[:, None] * (a + 2 * b + 2 * c + d)


def _correct(
    curve: LabelCurve, z: np.ndarray, Q: np.ndarray, precise: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method from a prediction; returns points and which of them are accepted."""
    size = _scale(z)
    last = np.zeros(len(z))
    good = np.isfinite(z).all(axis=1)
    done = np.zeros(len(z), bool)
    for k in range(_PASSES):
        change = curve.newton(z, Q, precise=precise)
        length = np.abs(change).max(axis=1) / size
        z = z - change
        if k == 0:
            last = length
            good &= length <= _PREDICTION
        else:
            # Convergence is quadratic down to rounding; slower means that another root is near.
            good &= (length <= 0.1 * last) | (length <= _ROUNDING)
            last = length
        done |= length <= _CORRECTION
        if (done | ~good).all():
            break
    return z, good & (done | (last <= _ROUNDING)) & np.isfinite(last)
