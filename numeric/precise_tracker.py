"""The rest of a path in high precision, for roots near infinity.

Where W gets a large eigenvalue R the states grow like R^k, their directions become nearly
parallel, and double precision is used up whatever the linear algebra: the paths of such
roots are stuck.  They are few.  From where one is stuck it is followed to the end with the
lifted unknowns (weights and states) in python-flint's arithmetic.  Residuals are exact to
all digits; the linear systems are solved in doubles, well scaled, as in iterative refinement,
so a Newton step costs little more than in doubles and still converges to full precision.
The predictor is polynomial extrapolation through the last points.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from flint import acb, acb_mat, arb, ctx

from numeric.chain import Chain
from numeric.krawczyk import tables
from numeric.krawczyk_lifted import _fill

_SHORTEST = 1e-14
_POINTS = 12
_BITS = 192


def finish_path(
    chain: Chain,
    first: np.ndarray,
    second: np.ndarray,
    t: float,
    w: np.ndarray,
    *,
    most_steps: int = 200,
) -> np.ndarray | None:
    """Follow a root from t to 1 on the line between two parameter vectors.

    Parameters
    ----------
    chain : Chain
    first, second : ndarray of complex
        Parameter vectors.
    t : float
        Where the path stands, in [0, 1).
    w : ndarray of complex
        Approximate root there.
    most_steps : int, optional

    Returns
    -------
    ndarray of complex or None
        The endpoint, or None where the path is lost again.
    """
    saved = ctx.prec
    ctx.prec = _BITS
    try:
        line = _Line(chain, first, second)
        x = line.correct(1.0 - t, line.lift(1.0 - t, w), 60, rough=True)
        if x is None:
            return None
        # What is left of the way, not how far it is: steps may be tiny near t.
        left = 1.0 - t
        step = 1e-6 * left
        past: list[tuple[float, list[acb]]] = [(left, x)]
        for _ in range(most_steps):
            aim = 0.0 if step >= 0.9 * left else left - step
            got = line.correct(aim, _extrapolate(past, aim), 12)
            if got is None:
                step = (left - aim) * 0.3
                if step < _SHORTEST * left:
                    return None
                continue
            if aim == 0.0:
                return line.weights(got)
            step = (left - aim) * (2.0 if line.ratio < 1e-2 else 1.4 if line.ratio < 0.1 else 0.9)
            past = [*past[-_POINTS + 1 :], (aim, got)]
            left = aim
        return None
    finally:
        ctx.prec = saved


class _Line:
    """The lifted equations along a line of parameters."""

    def __init__(self, chain: Chain, first: np.ndarray, second: np.ndarray) -> None:
        self.chain = chain
        self.start = np.asarray(first, complex)
        self.change = np.asarray(second, complex) - self.start
        self.precise_start = [acb(z.real, z.imag) for z in self.start.tolist()]
        self.precise_change = [
            acb(b.real, b.imag) - acb(a.real, a.imag)
            for a, b in zip(self.start.tolist(), np.asarray(second, complex).tolist(), strict=True)
        ]
        self.tables = tables(chain)
        self.states = int(self.tables[2][-1] - self.tables[2][1])
        self.ratio = 0.0

    def weights(self, x: list[acb]) -> np.ndarray:
        """The weights of a lifted point, as doubles."""
        return np.array([_double(z) for z in x[self.states :]])

    def lift(self, left: float, w: np.ndarray) -> list[acb]:
        """Weights with the states that follow from them."""
        values = [acb(z.real, z.imag) for z in np.asarray(w, complex).tolist()]
        p = self._parameters(left, values)
        x: list[acb] = []
        state = self._block(p, self.chain.s0_at, self.chain.widths[0], self.chain.columns)
        for k in range(1, self.chain.steps + 1):
            state = self._matrix(p, k) * state
            x += [z.mid() for z in state.entries()]
        return x + values

    def _parameters(self, left: float, w: list[acb]) -> list[acb]:
        s = 1 - arb(left)
        p = [(a + s * d).mid() for a, d in zip(self.precise_start, self.precise_change, strict=True)]
        for at, value in zip(self.chain.cells[:, 4].tolist(), w, strict=True):
            p[at] = value
        return p

    @staticmethod
    def _block(p: list[acb], at: int, rows: int, columns: int) -> acb_mat:
        return acb_mat(int(rows), int(columns), p[int(at) : int(at) + int(rows) * int(columns)])

    def _matrix(self, p: list[acb], k: int) -> acb_mat:
        n = self.chain.widths
        return self._block(p, self.chain.m_at[k], n[k], n[k - 1])

    def residual(self, p: list[acb], x: list[acb]) -> list[acb]:
        """``M_k S_{k-1} - S_k`` and ``D Z - Y``."""
        chain = self.chain
        n, c, m, K = chain.widths.tolist(), chain.columns, chain.samples, chain.steps
        before = self._block(p, chain.s0_at, n[0], c)
        out: list[acb] = []
        at = 0
        Z = None
        for k in range(1, K + 1):
            state = self._block(x, at, n[k], c)
            at += n[k] * c
            out += (self._matrix(p, k) * before - state).entries()
            if chain.read_all:
                part = state * self._block(p, chain.p_at[k], c, m)
                Z = part if Z is None else Z + part
            before = state
        Z = before if Z is None else Z
        labels = self._block(p, chain.d_at, chain.network.d, n[K]) * Z
        for a, s in chain.equations.tolist():
            out.append(labels[a, s] - p[chain.y_at + a * m + s])
        return [z.mid() for z in out]

    def factor(self, p: list[acb], x: list[acb]) -> tuple[tuple, np.ndarray, np.ndarray]:
        """LU factors of the scaled Jacobian in doubles, row and column scales."""
        o, widths, s_at, m_at, p_at, cells, equations = self.tables
        n = self.states + self.chain.unknowns
        point = np.array([_double(z) for z in p])
        values = np.array([_double(z) for z in x])
        S = np.zeros(int(s_at[-1]), complex)
        first = int(s_at[1])
        S[:first] = point[self.chain.s0_at : self.chain.s0_at + first]
        S[first:] = values[: self.states]
        last = S[int(s_at[-2]) :].reshape(int(widths[-1]), -1)
        if self.chain.read_all:
            c, m = self.chain.columns, self.chain.samples
            Z = sum(
                S[int(s_at[k]) : int(s_at[k + 1])].reshape(-1, c)
                @ point[int(p_at[k]) : int(p_at[k]) + c * m].reshape(c, m)
                for k in range(1, self.chain.steps + 1)
            )
        else:
            Z = last
        J, Jr = np.zeros((n, n), complex), np.zeros((n, n))
        zero = np.zeros(len(point))
        Z = np.ascontiguousarray(Z, complex).ravel()
        _fill(
            o, widths, s_at, m_at, p_at, cells, equations, point, zero, S, np.zeros(len(S)),
            Z, np.zeros(len(Z)), J, Jr,
        )  # fmt: skip
        columns = self.sizes(values)
        J *= columns
        rows = 1.0 / np.abs(J).max(axis=1)
        return scipy.linalg.lu_factor(J * rows[:, None]), rows, columns

    def sizes(self, values: np.ndarray) -> np.ndarray:
        """Units of the unknowns: the size of each state, and of each row of weights."""
        s_at = self.tables[2]
        units = np.empty(len(values))
        for k in range(1, self.chain.steps + 1):
            part = slice(int(s_at[k] - s_at[1]), int(s_at[k + 1] - s_at[1]))
            units[part] = np.abs(values[part]).max()
        keys = self.chain.cells[:, :3]
        for v in range(self.chain.unknowns):
            same = np.flatnonzero((keys == keys[v]).all(axis=1))
            units[self.states + v] = max(np.abs(values[self.states + same]).max(), 0.1)
        return units

    def correct(
        self, left: float, guess: list[acb], most: int, rough: bool = False
    ) -> list[acb] | None:
        """Newton's method from a guess; `ratio` becomes that of its first two increments.

        From a rough guess the Jacobian is renewed at every step; on a path one Jacobian does.
        """
        x = guess
        factors = None
        last = np.inf
        self.ratio = 0.0
        for sweep in range(most):
            p = self._parameters(left, x[self.states :])
            try:
                if factors is None or rough or sweep == 1:
                    factors, rows, columns = self.factor(p, x)
            except (ValueError, np.linalg.LinAlgError):
                return None
            r = self.residual(p, x)
            # Scaled residuals may be far below the doubles' range: bring them up first.
            scale = max((float(abs(z).mid()) * q for z, q in zip(r, rows, strict=True)), default=0)
            if scale == 0:
                return x
            right = np.array([_double(z / scale) for z in r]) * rows
            step = scipy.linalg.lu_solve(factors, right)
            size = float(np.abs(step).max()) * scale
            if not np.isfinite(size):
                return None
            x = [
                (z - acb(d.real, d.imag) * scale).mid()
                for z, d in zip(x, (step * columns).tolist(), strict=True)
            ]
            if sweep == 1:
                self.ratio = size / last
            if size < 1e-25:
                return x
            if not rough and (size > 0.1 or (sweep > 0 and size > 0.3 * last)):
                return None
            if rough and size > 1e3:
                return None
            last = size
        return None


def _extrapolate(past: list[tuple[float, list[acb]]], left: float) -> list[acb]:
    """Lagrange extrapolation through the last points."""
    weights = []
    for i, (a, _) in enumerate(past):
        value = arb(1)
        for j, (b, _) in enumerate(past):
            if i != j:
                value *= (arb(left) - arb(b)) / (arb(a) - arb(b))
        weights.append(value.mid())
    return [
        sum((q * point[v] for q, (_, point) in zip(weights, past, strict=True)), acb(0)).mid()
        for v in range(len(past[0][1]))
    ]


def _double(z: acb) -> complex:
    return complex(float(z.real.mid()), float(z.imag.mid()))
