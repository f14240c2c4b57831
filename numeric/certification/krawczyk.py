"""Certified roots: Krawczyk's test in double-precision discs, in balls where that fails.

Around an approximate root x the test takes a polydisc ``X = {|z_j - x_j| ≤ ρ_j}``, an
approximate inverse C of the Jacobian, and shows

    |C F(x)|_i + Σ_j |I - C F'(X)|_ij ρ_j < ρ_i    for every i,

with F(x) and F'(X) enclosed rigorously.  Then X holds exactly one root of F, a simple one.
(F is holomorphic and X convex, so ``F(y) - F(z) = M (y - z)`` with M in the convex
enclosure of F'(X): the map z - C F(z) is a contraction of X into itself.)

Where x is real, X is its own mirror image and F has real coefficients, so the root's
conjugate lies in X too; being the only one it is real.  A root is non-real where some
``|Im x_j| > ρ_j``.  Roots are distinct where their polydiscs are disjoint.

The labels enter as discs that contain the exact teacher's labels, so the statements hold for
the exact rational instance, not for its rounded labels.

References
----------
.. [1] R. Krawczyk, Computing 4 (1969); R. E. Moore, SIAM J. Numer. Anal. 14 (1977).
.. [2] P. Breiding, K. Rose, S. Timme, "Certifying zeros of polynomial systems using interval
   arithmetic", ACM Trans. Math. Softw. 49 (2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from numeric.certification.krawczyk_lifted import certify_lifted
from numeric.chains import discs as balls
from numeric.chains.chain import Chain
from numeric.instances import Instance

FAILED, REAL, NONREAL = 0, 1, 2

_NEWTON = 10


@dataclass(frozen=True)
class Target:
    """An instance in original coordinates, its labels enclosed: what certification needs.

    Attributes
    ----------
    middle : ndarray of complex
        A parameter vector (not normalised).
    radius : ndarray of float
        Radii: zero but for the labels.
    """

    middle: np.ndarray
    radius: np.ndarray


@dataclass(frozen=True)
class Certified:
    """Outcome for a batch of approximate roots.

    Attributes
    ----------
    kind : ndarray of int
        `FAILED`, `REAL` or `NONREAL`.
    roots : ndarray of complex, shape (·, r)
        Centres; exactly real for real roots.
    radii : ndarray of float, shape (·, r)
    """

    kind: np.ndarray
    roots: np.ndarray
    radii: np.ndarray


def tables(chain: Chain) -> tuple[np.ndarray, ...]:
    n, c = chain.widths, chain.columns
    o = np.array(
        [
            chain.steps, c, chain.network.d, chain.samples, chain.unknowns, chain.read_all,
            chain.size, chain.s0_at, chain.d_at, chain.y_at,
        ],
        np.int64,
    )  # fmt: skip
    s_at = np.concatenate([[0], np.cumsum(n * c)]).astype(np.int64)
    return o, n, s_at, chain.m_at, chain.p_at, chain.cells, chain.equations


@numba.njit(**balls.OPTIONS)
def _labels(o, widths, s_at, m_at, p_at, p, pr):
    """Discs of all labels of a chain."""
    d, m = o[2], o[3]
    S = np.zeros(s_at[-1], np.complex128)
    Sr = np.zeros(s_at[-1])
    Z = np.zeros(widths[o[0]] * m, np.complex128)
    Zr = np.zeros(widths[o[0]] * m)
    Y = np.zeros(d * m, np.complex128)
    Yr = np.zeros(d * m)
    balls.states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr)
    balls.matmul(p[o[8] :], pr[o[8] :], Z, Zr, Y, Yr, d, widths[o[0]], m, False)
    return Y, Yr


@numba.njit(**balls.OPTIONS)
def _certify(o, widths, s_at, m_at, p_at, cells, equations, middle, radius, roots, kind, radii):
    K, d, m, r = o[0], o[2], o[3], o[4]
    wide = 0
    for k in range(K + 1):
        wide = max(wide, widths[k])
    S = np.zeros(s_at[-1], np.complex128)
    Sr = np.zeros(s_at[-1])
    Z = np.zeros(widths[K] * m, np.complex128)
    Zr = np.zeros(widths[K] * m)
    Y = np.zeros(d * m, np.complex128)
    Yr = np.zeros(d * m)
    f = np.zeros(r, np.complex128)
    fr = np.zeros(r)
    A = np.zeros((K + 1) * d * wide, np.complex128)
    Ar = np.zeros((K + 1) * d * wide)
    H = np.zeros(max(K, 1) * wide * m, np.complex128)
    Hr = np.zeros(max(K, 1) * wide * m)
    J = np.zeros((r, r), np.complex128)
    Jr = np.zeros((r, r))
    C = np.zeros((r, r), np.complex128)
    work = np.zeros((r, r), np.complex128)
    step = np.zeros(r)
    rho = np.zeros(r)
    row = np.zeros(r, np.complex128)
    slack = np.zeros((r, r))
    columns = np.zeros((r, r + 1), np.int64)
    p = middle.copy()
    pr = radius.copy()
    x = np.zeros(r, np.complex128)
    for number in range(len(roots)):
        kind[number] = FAILED
        for v in range(r):
            x[v] = roots[number, v]
        finite = True
        for v in range(r):
            if not (np.isfinite(x[v].real) and np.isfinite(x[v].imag)):
                finite = False
        if not finite:
            continue
        # Newton to the floor of double precision, on midpoints; near the root the inverse is
        # kept.
        regular = True
        largest = np.inf
        for _ in range(_NEWTON):
            for v in range(r):
                p[cells[v, 4]] = x[v]
                pr[cells[v, 4]] = 0.0
            balls.states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr)
            balls.residual(o, widths, equations, p, pr, Z, Zr, Y, Yr, f, fr)
            if largest > 1e-7:
                balls.jacobian(
                    o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr,
                    A, Ar, H, Hr, J, Jr,
                )  # fmt: skip
                if not balls.approximate_inverse(J, C, work):
                    regular = False
                    break
            last = largest
            largest = 0.0
            for v in range(r):
                delta = 0j
                for e in range(r):
                    delta += C[v, e] * f[e]
                x[v] -= delta
                largest = max(largest, abs(delta) / (abs(x[v]) + 1e-3))
            if largest < 1e-13 or (largest < 1e-7 and largest > 0.1 * last):
                break
        if not largest < 1e-5:
            regular = False
        if not regular:
            continue
        # A root that looks real is tried as a real one first.
        looks_real = True
        for v in range(r):
            if abs(x[v].imag) > 1e-7 * (abs(x[v]) + 1e-2):
                looks_real = False
        for attempt in range(2):
            as_real = looks_real and attempt == 0
            if attempt == 0 and not as_real:
                continue
            for v in range(r):
                p[cells[v, 4]] = complex(x[v].real, 0.0) if as_real else x[v]
                pr[cells[v, 4]] = 0.0
            balls.states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr)
            balls.residual(o, widths, equations, p, pr, Z, Zr, Y, Yr, f, fr)
            balls.newton_step(C, f, fr, step)
            done = False
            for blow in range(2):
                for v in range(r):
                    y = p[cells[v, 4]]
                    rho[v] = (2.0 + 14.0 * blow) * step[v] + 1e-16 * abs(y)
                    pr[cells[v, 4]] = rho[v]
                balls.states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr)
                balls.jacobian(
                    o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr,
                    A, Ar, H, Hr, J, Jr,
                )  # fmt: skip
                for v in range(r):
                    pr[cells[v, 4]] = 0.0
                done = balls.contracts(C, J, Jr, rho, step, row, slack, columns)
                if done:
                    break
            if done:
                apart = False
                for v in range(r):
                    roots[number, v] = p[cells[v, 4]]
                    radii[number, v] = rho[v]
                    if abs(p[cells[v, 4]].imag) > rho[v]:
                        apart = True
                if as_real:
                    kind[number] = REAL
                elif apart:
                    kind[number] = NONREAL
                if kind[number] != FAILED:
                    break


@numba.njit(**balls.OPTIONS)
def _overlaps(roots, radii, more, more_radii):
    """Index in `more` whose polydisc may meet that of each root, or -1."""
    r = roots.shape[1]
    out = np.full(len(roots), -1)
    for a in range(len(roots)):
        for b in range(len(more)):
            apart = False
            for v in range(r):
                gap = roots[a, v] - more[b, v]
                size = np.sqrt(gap.real * gap.real + gap.imag * gap.imag)
                if size * (1.0 - 16.0 * balls.UNIT) > (radii[a, v] + more_radii[b, v]) * (
                    1.0 + 4.0 * balls.UNIT
                ):
                    apart = True
                    break
            if not apart:
                out[a] = b
                break
    return out


def make_target(chain: Chain, instance: Instance) -> Target:
    """The instance as discs: exact weights and samples, labels enclosed by disc arithmetic."""
    chosen = chain.independent_samples(instance.X)
    X = instance.X[:, chosen]
    middle = chain.raw(instance.weights, X, np.zeros((chain.network.d, chain.samples)))
    teacher = chain.raw(
        instance.teacher, X, np.zeros((chain.network.d, chain.samples)), keep_cells=True
    )
    o, n, s_at, m_at, p_at, _, _ = tables(chain)
    zero = np.zeros(chain.size)
    Y, Yr = _labels(o, n, s_at, m_at, p_at, teacher.astype(complex), zero)
    radius = zero.copy()
    middle = middle.astype(complex)
    middle[chain.y_at : chain.y_at + len(Y)] = Y
    radius[chain.y_at : chain.y_at + len(Y)] = Yr
    return Target(middle, radius)


def certify(chain: Chain, target: Target, roots: np.ndarray) -> Certified:
    """Krawczyk's test for each approximate root, in double-precision discs.

    Parameters
    ----------
    chain : Chain
    target : Target
    roots : ndarray of complex, shape (·, r)

    Returns
    -------
    Certified
    """
    roots = np.array(roots, complex).reshape(-1, chain.unknowns)
    kind = np.zeros(len(roots), np.int64)
    radii = np.full(roots.shape, np.inf)
    data = (*tables(chain), target.middle, target.radius, roots, kind, radii)
    _certify(*data)
    if (kind == FAILED).any() and chain.steps > 0:
        certify_lifted(*data)
    return Certified(kind, roots, radii)


class RootPool:
    """Certified, pairwise distinct roots of one instance, closed under conjugation.

    The coefficients are real: with a non-real root its conjugate is one too, and its
    polydisc is the mirror image.
    """

    def __init__(self, chain: Chain) -> None:
        self.roots = np.zeros((0, chain.unknowns), complex)
        self.radii = np.zeros((0, chain.unknowns))
        self.is_real = np.zeros(0, bool)

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def real(self) -> int:
        """Number of real roots."""
        return int(self.is_real.sum())

    def add(self, certified: Certified) -> np.ndarray:
        """Take what is certified and surely new; returns which ones were."""
        new = np.zeros(len(certified.kind), bool)
        for k in np.flatnonzero(certified.kind != FAILED):
            root, radii = certified.roots[k], certified.radii[k]
            new[k] = self._add(root, radii, certified.kind[k] == REAL)
        # Conjugates last, so that a path's own endpoint counts as new.
        for k in np.flatnonzero(certified.kind == NONREAL):
            self._add(certified.roots[k].conj(), certified.radii[k], False)
        return new

    def owners(self, certified: Certified) -> np.ndarray:
        """Number of the pooled root that each certified one may be, or -1."""
        out = _overlaps(certified.roots, certified.radii, self.roots, self.radii)
        return np.where(certified.kind == FAILED, -1, out)

    def _add(self, root: np.ndarray, radii: np.ndarray, real: bool) -> bool:
        if len(self) and _overlaps(root[None], radii[None], self.roots, self.radii)[0] >= 0:
            return False
        self.roots = np.vstack([self.roots, root])
        self.radii = np.vstack([self.radii, radii])
        self.is_real = np.append(self.is_real, real)
        return True
