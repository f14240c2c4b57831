"""Rigorous arithmetic with complex discs in double precision, and chains evaluated in it.

A disc is a midpoint (two doubles) and a radius that covers every rounding error (Rump's
midpoint-radius arithmetic).  With unit roundoff u a complex product-sum of k terms computed
in any order satisfies ``|fl(s) - s| ≤ (2k + 8) u Σ|a||b|`` for the small k used here; a sum of
k non-negative doubles is below the true one by a factor of at most 1 - k u, so radii are
multiplied by 1 + (4k + 32) u and a tiny number is added for underflow.  No fast-math options:
these kernels rely on IEEE rounding.

Throughout, `t` is the chain's `numeric.chains.table.ChainTable`, p the discs of a parameter
vector, learnable cells included, S those of all states in order, Z the input of D.

References
----------
.. [1] S. M. Rump, "Fast and parallel interval arithmetic", BIT 39 (1999).
.. [2] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", ch. 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.chains.table import IN_M, IN_S0, ChainTable
from numeric.kernels import njit

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

UNIT = 2.0**-53
TINY = 1e-290


class Discs(NamedTuple):
    """Discs of a vector, or of matrices row by row.

    Attributes
    ----------
    mid : ndarray of complex
    rad : ndarray of float, of the same shape
    """

    mid: np.ndarray
    rad: np.ndarray


def make_discs(*shape: int) -> Discs:
    """Discs of a shape, all 0."""
    return Discs(np.zeros(shape, complex), np.zeros(shape))


@njit(**OPTIONS)
def since(x, at):
    """The discs from index `at` on, not copied."""
    return Discs(x.mid[at:], x.rad[at:])


@njit(**OPTIONS)
def size_up(z):
    """An upper bound of |z|."""
    return np.sqrt(z.real * z.real + z.imag * z.imag) * (1.0 + 8.0 * UNIT) + TINY


@njit(**OPTIONS)
def clear(x, count):
    """Set the first `count` discs to 0."""
    for i in range(count):
        x.mid[i] = 0j
        x.rad[i] = 0.0


@njit(**OPTIONS)
def matmul_add(a, b, c, n, k, m):
    """Discs ``C += A B`` of an n×k and a k×m matrix."""
    factor = (2.0 * k + 10.0) * UNIT
    grow = 1.0 + (4.0 * k + 40.0) * UNIT
    for i in range(n):
        for s in range(m):
            mid = c.mid[i * m + s]
            rad = c.rad[i * m + s]
            mass = size_up(mid)
            for q in range(k):
                x = a.mid[i * k + q]
                y = b.mid[q * m + s]
                mid += x * y
                sx = size_up(x)
                sy = size_up(y)
                rx = a.rad[i * k + q]
                ry = b.rad[q * m + s]
                mass += sx * sy
                rad += sx * ry + rx * (sy + ry)
            c.mid[i * m + s] = mid
            c.rad[i * m + s] = (rad + factor * mass) * grow + TINY


@njit(**OPTIONS)
def matmul(a, b, c, n, k, m):
    """Discs ``C = A B``."""
    clear(c, n * m)
    matmul_add(a, b, c, n, k, m)


@njit(**OPTIONS)
def fused(mid, rad, x, i, y, j):
    """Disc ``acc + x_i y_j`` for acc given by its midpoint and radius."""
    a, b = x.mid[i], y.mid[j]
    sx = size_up(a)
    sy = size_up(b)
    out = mid + a * b
    rad += sx * y.rad[j] + x.rad[i] * (sy + y.rad[j])
    rad += 8.0 * UNIT * (sx * sy) + 4.0 * UNIT * size_up(out)
    return out, rad * (1.0 + 32.0 * UNIT) + TINY


@njit(**OPTIONS)
def minus(x, i, y, j, out, at):
    """Disc ``x_i - y_j``, written to index `at` of `out`."""
    value = x.mid[i] - y.mid[j]
    out.mid[at] = value
    out.rad[at] = (x.rad[i] + y.rad[j] + 4.0 * UNIT * size_up(value)) * (1.0 + 16.0 * UNIT)


def jacobian_arrays(t: ChainTable) -> tuple[Discs, Discs]:
    """Arrays for the adjoints and for H of `jacobian`."""
    return (
        make_discs((t.steps + 1) * t.labels * t.widest),
        make_discs(max(t.steps, 1) * t.widest * t.samples),
    )


@njit(**OPTIONS)
def states(t, p, S):
    """Discs of the states S_0, …, S_K computed from the parameters."""
    c = t.columns
    for i in range(t.widths[0] * c):
        S.mid[i] = p.mid[t.s0_at + i]
        S.rad[i] = p.rad[t.s0_at + i]
    for k in range(1, t.steps + 1):
        matmul(
            since(p, t.m_at[k]), since(S, t.s_at[k - 1]), since(S, t.s_at[k]),
            t.widths[k], t.widths[k - 1], c,
        )  # fmt: skip


@njit(**OPTIONS)
def read_out(t, p, S, Z):
    """Discs of Z, the last state or ``Σ_k S_k P_k``."""
    K = t.steps
    if t.read_all:
        clear(Z, t.z_size)
        for k in range(1, K + 1):
            at = since(S, t.s_at[k])
            matmul_add(at, since(p, t.p_at[k]), Z, t.widths[K], t.columns, t.samples)
    else:
        for i in range(t.z_size):
            Z.mid[i] = S.mid[t.s_at[K] + i]
            Z.rad[i] = S.rad[t.s_at[K] + i]


@njit(**OPTIONS)
def labels(t, p, Z, Y):
    """Discs of ``D Z``, d×m."""
    matmul(since(p, t.d_at), Z, Y, t.labels, t.widths[t.steps], t.samples)


@njit(**OPTIONS)
def all_labels(t, p, S, Z, Y):
    """Discs of the labels Y; the states S and Z are computed on the way."""
    states(t, p, S)
    read_out(t, p, S, Z)
    labels(t, p, Z, Y)


@njit(**OPTIONS)
def residual(t, p, Z, Y, f):
    """Discs of ``D Z - Y`` on the equations; Y is overwritten with the d×m labels."""
    labels(t, p, Z, Y)
    for e in range(t.unknowns):
        at = t.equations[e, 0] * t.samples + t.equations[e, 1]
        minus(Y, at, p, t.y_at + at, f, e)


@njit(**OPTIONS)
def jacobian(t, p, S, Z, A, H, J):
    """Discs of the Jacobian, r×r; formulas as in `numeric.chains.lanes.condensed.jacobian`.

    A is an array for the adjoints ``D M_K … M_{K-q+1}``, H for ``H_q = Σ_k S_{k-1} P_{k+q}``
    (`jacobian_arrays`).
    """
    K, c, d, m, r = t.steps, t.columns, t.labels, t.samples, t.unknowns
    wide = t.widest
    for i in range(d * t.widths[K]):
        A.mid[i] = p.mid[t.d_at + i]
        A.rad[i] = p.rad[t.d_at + i]
    for q in range(1, K + 1):
        k = K - q + 1
        matmul(
            since(A, (q - 1) * d * wide), since(p, t.m_at[k]), since(A, q * d * wide),
            d, t.widths[k], t.widths[k - 1],
        )  # fmt: skip
    if t.read_all:
        for q in range(K):
            at = since(H, q * wide * m)
            clear(at, t.widths[0] * m)
            for k in range(1, K - q + 1):
                matmul_add(since(S, t.s_at[k - 1]), since(p, t.p_at[k + q]), at, t.widths[0], c, m)
    for e in range(r):
        a = t.equations[e, 0]
        x = t.equations[e, 1]
        for v in range(r):
            kind, step, i, j = t.cells[v, 0], t.cells[v, 1], t.cells[v, 2], t.cells[v, 3]
            mid = 0j
            rad = 0.0
            if kind == IN_M and t.read_all:
                for q in range(K):
                    u = q * d * wide + a * t.widths[K - q] + i
                    mid, rad = fused(mid, rad, A, u, H, q * wide * m + j * m + x)
            elif kind == IN_M:
                u = (K - step) * d * wide + a * t.widths[step] + i
                mid, rad = fused(mid, rad, A, u, S, t.s_at[step - 1] + j * c + x)
            elif kind == IN_S0:
                for q in range(1, K + 1):
                    u = q * d * wide + a * t.widths[K - q] + i
                    mid, rad = fused(mid, rad, A, u, p, t.p_at[q] + j * m + x)
            elif i == a:
                mid = Z.mid[j * m + x]
                rad = Z.rad[j * m + x]
            J.mid[e, v] = mid
            J.rad[e, v] = rad
