"""The end of a path in high precision, for roots near infinity.

If W gets a large eigenvalue R the states grow like R^k, their directions become nearly
parallel, and double precision does not suffice, whatever the linear algebra: paths to such
roots stop early.  They are few.  Each is followed from its last point to the end in
python-flint's arithmetic, by the lifted Newton method (`numeric.chains.lanes.condensed`).
Its matrices are condensed to the weights and stay small, and the additional digits make up for the
cancellation in the powers of W; with the weights alone as unknowns the basin of convergence would
be too small for the predictor, a Taylor polynomial of high order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, acb_mat, arb, ctx

from numeric.chains.balls import BallSystem
from numeric.chains.chain import Chain

# Weights and the states S_0, …, S_K.
Point = tuple[list[acb], list[acb_mat]]

_BITS = 384
_ORDER = 24
# Target for the predictor's relative error.  With a large eigenvalue R the states agree
# except for a part R^-K, which the prediction must get right.
_AIM = 1e-13
# Relative accuracy of the points: far smaller than the errors that extrapolation amplifies.
_GOAL = 2.0**-170
# A path with larger weights diverges: the instance is special.
_FAR = 1e13
_SHORTEST = 1e-13


def finish_path(
    chain: Chain,
    first: np.ndarray,
    second: np.ndarray,
    t: float,
    w: np.ndarray,
    states: np.ndarray,
    *,
    most_steps: int = 120,
) -> np.ndarray | None:
    """Follow a root from t to 1 on the line between two parameter vectors.

    Parameters
    ----------
    chain : Chain
    first, second : ndarray of complex
        Parameter vectors.
    t : float
        The last t of the path, in [0, 1).
    w : ndarray of complex
        Approximate root there.
    states : ndarray of complex
        Its states S_1, …, S_K (`Tracked.lifts`): more accurate than those computed
        from w in double precision.
    most_steps : int, optional

    Returns
    -------
    ndarray of complex or None
        The endpoint, or None if the path is lost again.
    """
    saved = ctx.prec
    ctx.prec = _BITS
    try:
        line = _ChainLine(chain, first, second)
        left = 1.0 - t
        x = line.correct(left, line.point(left, w, states), 12)
        if x is None:
            return None
        # Steps are relative to the remaining part of the line: they may be tiny near its end.
        for _ in range(most_steps):
            step, curve = line.expand(left, x)
            while True:
                aim = 0.0 if step >= 0.9 * left else left - step
                got = line.correct(aim, curve.at(left - aim), 6)
                if got is not None:
                    break
                step = (left - aim) * 0.5
                if step < _SHORTEST * left:
                    return None
            if aim == 0.0:
                return np.array([_double(z) for z in got[0]])
            left, x = aim, got
            if max(float(abs(z).mid()) for z in x[0]) > _FAR:
                return None
        return None
    finally:
        ctx.prec = saved


class _ChainLine:
    """The equations along a line of parameters."""

    def __init__(self, chain: Chain, first: np.ndarray, second: np.ndarray) -> None:
        self.chain = chain
        self.second = [acb(z.real, z.imag) for z in np.asarray(second, complex).tolist()]
        self.back = [
            acb(z.real, z.imag) - b
            for z, b in zip(np.asarray(first, complex).tolist(), self.second, strict=True)
        ]
        self.error = 0.0

    def _system(self, left: float) -> BallSystem:
        s = arb(left)
        return BallSystem(
            self.chain, [(b + s * d).mid() for b, d in zip(self.second, self.back, strict=True)]
        )

    def point(self, left: float, w: np.ndarray, states: np.ndarray) -> Point:
        """A lifted point from doubles."""
        weights = [acb(z.real, z.imag) for z in np.asarray(w).tolist()]
        values = [acb(z.real, z.imag) for z in np.asarray(states).tolist()]
        S = self._system(left).states(weights)[:1]
        at = 0
        for rows in self.chain.widths[1:].tolist():
            size = rows * self.chain.columns
            S.append(acb_mat(rows, self.chain.columns, values[at : at + size]))
            at += size
        return weights, S

    def expand(self, left: float, x: Point) -> tuple[float, _Curve]:
        """The Taylor polynomial at a point, and the step up to which it is accurate."""
        slope = [-z for z in self.back]
        weights, states = self._system(left).taylor(*x, slope, _ORDER)
        step = left
        for order in (_ORDER - 1, _ORDER):
            size = max(
                _ratio(weights[order], weights[0]),
                max(
                    _ratio(a.entries(), b.entries())
                    for a, b in zip(states[order], states[0], strict=True)
                ),
            )
            step = min(step, (_AIM / (size + 1e-300)) ** (1.0 / order))
        return step, _Curve(weights, states)

    def correct(self, left: float, guess: Point, most: int) -> Point | None:
        """Newton's method from a guess; `error` is set to the relative size of its first step."""
        system = self._system(left)
        w, S = guess
        last = np.inf
        for sweep in range(most):
            F, J = system.evaluate(w, S)
            try:
                change = [-z for z in J.mid().solve(F.mid()).mid().entries()]
            except ZeroDivisionError:
                return None
            new = [x.mid() for x in system.step(w, change, S)]
            w = [(x + dx).mid() for x, dx in zip(w, change, strict=True)]
            size = max(
                _ratio(change, w),
                max(_ratio((a - b).entries(), a.entries()) for a, b in zip(new, S, strict=True)),
            )
            S = new
            if not np.isfinite(size):
                return None
            if sweep == 0:
                self.error = size
            if size < _GOAL:
                return w, S
            if sweep and size > 0.3 * last:
                return None
            last = size
        return None


def _ratio(change: Sequence[acb], size: Sequence[acb]) -> float:
    """Largest change relative to the largest size."""
    unit = max(max(float(abs(z).mid()) for z in size), 1e-3)
    return max(float(abs(z).mid()) for z in change) / unit


@dataclass(frozen=True)
class _Curve:
    """Taylor polynomials of weights and states."""

    weights: list[list[acb]]
    states: list[list[acb_mat]]

    def at(self, h: float) -> Point:
        """The point after a step h (towards the end of the line)."""
        w, S = list(self.weights[-1]), list(self.states[-1])
        x = acb(h)
        for dw, dS in zip(self.weights[-2::-1], self.states[-2::-1], strict=True):
            w = [(a * x + b).mid() for a, b in zip(w, dw, strict=True)]
            S = [(a * x + b).mid() for a, b in zip(S, dS, strict=True)]
        return w, S


def _double(z: acb) -> complex:
    return complex(float(z.real.mid()), float(z.imag.mid()))
