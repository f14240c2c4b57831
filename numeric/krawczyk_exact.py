"""Krawczyk's test in balls of any precision, on the exact rational instance.

The last resort for roots that double precision cannot separate or certify: near a double
root, or with very large weights.  The test is that of `numeric.krawczyk`, in python-flint's
ball arithmetic (`acb`), with the precision doubled until it succeeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, ctx

from numeric.chain import IN_M, IN_S0, Chain
from numeric.instances import Instance
from numeric.krawczyk import FAILED, NONREAL, REAL, Certified

_NEWTON = 30


def certify_exact(
    chain: Chain, instance: Instance, roots: np.ndarray, bits: int = 128, most_bits: int = 1024
) -> Certified:
    """Krawczyk's test for approximate roots, in balls.

    Parameters
    ----------
    chain : Chain
    instance : Instance
    roots : ndarray of complex, shape (·, r)
    bits, most_bits : int, optional
        First and last precision tried; it doubles in between.

    Returns
    -------
    Certified
        Centres and radii are rounded to doubles, outwards: a radius covers the rounding of
        its centre.
    """
    roots = np.array(roots, complex).reshape(-1, chain.unknowns)
    kind = np.zeros(len(roots), np.int64)
    radii = np.full(roots.shape, np.inf)
    if not len(roots):
        return Certified(kind, roots, radii)
    chosen = chain.independent_samples(instance.X)
    weights, X, Y = instance.exact
    vector = chain.raw(weights, X[:, chosen], Y[:, chosen])
    saved = ctx.prec
    try:
        for number, root in enumerate(roots):
            precision = bits
            while precision <= most_bits and kind[number] == FAILED:
                ctx.prec = precision
                system = _System(chain, [acb(arb(x)) for x in vector])
                found = system.test(root)
                if found is not None:
                    kind[number], roots[number], radii[number] = found
                precision *= 2
    finally:
        ctx.prec = saved
    return Certified(kind, roots, radii)


class _System:
    """The equations of an instance in ball arithmetic at the current precision."""

    def __init__(self, chain: Chain, vector: list[acb]) -> None:
        self.chain = chain
        self.vector = vector

    def _block(self, p: list[acb], at: int, rows: int, columns: int) -> acb_mat:
        return acb_mat(rows, columns, p[int(at) : int(at) + rows * columns])

    def evaluate(self, w: list[acb]) -> tuple[acb_mat, acb_mat]:
        """Residuals (r×1) and Jacobian (r×r) at balls w."""
        chain = self.chain
        n = [int(x) for x in chain.widths]
        c, m, K, d = chain.columns, chain.samples, chain.steps, chain.network.d
        p = list(self.vector)
        for v, at in enumerate(chain.cells[:, 4]):
            p[int(at)] = w[v]
        S = [self._block(p, chain.s0_at, n[0], c)]
        M: list[Any] = [None]
        for k in range(1, K + 1):
            M.append(self._block(p, chain.m_at[k], n[k], n[k - 1]))
            S.append(M[k] * S[-1])
        P: list[Any] = [None] + [
            self._block(p, chain.p_at[k], c, m) if chain.read_all else None for k in range(1, K + 1)
        ]
        Z = S[K]
        if chain.read_all:
            Z = S[1] * P[1]
            for k in range(2, K + 1):
                Z = Z + S[k] * P[k]
        A = [self._block(p, chain.d_at, d, n[K])]
        for q in range(1, K + 1):
            A.append(A[-1] * M[K - q + 1])
        Y = A[0] * Z
        H = []
        if chain.read_all:
            for q in range(K):
                total = S[0] * P[1 + q]
                for k in range(2, K - q + 1):
                    total = total + S[k - 1] * P[k + q]
                H.append(total)
        r = chain.unknowns
        F, J = [], []
        for a, x in chain.equations.tolist():
            F.append(Y[a, x] - p[chain.y_at + a * m + x])
            for kind, step, i, j, _ in chain.cells.tolist():
                if kind == IN_M and chain.read_all:
                    J.append(sum((A[q][a, i] * H[q][j, x] for q in range(K)), acb(0)))
                elif kind == IN_M:
                    J.append(A[K - step][a, i] * S[step - 1][j, x])
                elif kind == IN_S0:
                    J.append(sum((A[q][a, i] * P[q][j, x] for q in range(1, K + 1)), acb(0)))
                else:
                    J.append(Z[j, x] if i == a else acb(0))
        return acb_mat(r, 1, F), acb_mat(r, r, J)

    def test(self, root: np.ndarray) -> tuple[int, np.ndarray, np.ndarray] | None:
        """Kind, centre and radii of the certified root near an approximate one, or None."""
        x = [acb(float(z.real), float(z.imag)) for z in root]
        if not np.isfinite(root).all():
            return None
        r = len(x)
        goal = arb(2) ** (-(ctx.prec * 3) // 5)
        try:
            for _ in range(_NEWTON):
                F, J = self.evaluate(x)
                step = J.mid().solve(F.mid())
                x = [(x[v] - step[v, 0]).mid() for v in range(r)]
                if all(abs(step[v, 0]) < goal * (abs(x[v]) + goal) for v in range(r)):
                    break
        except ZeroDivisionError:
            return None
        near_real = all(
            abs(z.imag) < arb(2) ** (-ctx.prec // 3) * (abs(z) + arb(2) ** (-10)) for z in x
        )
        for as_real in (True, False):
            if as_real and not near_real:
                continue
            centre = [acb(z.real.mid()) for z in x] if as_real else x
            rho = self.krawczyk(centre)
            if rho is None:
                continue
            apart = any(abs(z.imag) > q for z, q in zip(centre, rho, strict=True))
            if as_real or apart:
                return (REAL if as_real else NONREAL), *_rounded(centre, rho)
        return None

    def krawczyk(self, x: list[acb]) -> list[arb] | None:
        """Radii of a polydisc about exact points x that holds one root, or None."""
        r = len(x)
        F, J = self.evaluate(x)
        try:
            C = J.mid().inv().mid()
        except ZeroDivisionError:
            return None
        CF = C * F
        step = [abs(CF[v, 0]).abs_upper() for v in range(r)]
        tiny = arb(2) ** (-2 * ctx.prec)
        for factor in (2, 64):
            rho = [(factor * s + tiny).mid() for s in step]
            box = [acb(z.real + arb(0, q), z.imag + arb(0, q)) for z, q in zip(x, rho, strict=True)]
            JX = self.evaluate(box)[1]
            R = C * JX
            good = True
            for i in range(r):
                total = step[i]
                for j in range(r):
                    entry = R[i, j] - 1 if i == j else R[i, j]
                    total += abs(entry).abs_upper() * rho[j]
                if not total < rho[i]:
                    good = False
                    break
            if good:
                return rho
        return None


def _rounded(centre: list[acb], rho: list[arb]) -> tuple[np.ndarray, np.ndarray]:
    """Centre and radii as doubles; the radius grows by the rounding of the centre."""
    points, radii = [], []
    for z, q in zip(centre, rho, strict=True):
        point = complex(float(z.real.mid()), float(z.imag.mid()))
        off = abs(z - acb(point.real, point.imag)) + q
        bound = float(off.abs_upper()) * (1 + 2.0**-40) + 5e-324
        points.append(point)
        radii.append(bound)
    return np.array(points), np.array(radii)
