"""Rigorous arithmetic with complex discs in double precision, for chains.

A disc is a midpoint (two doubles) and a radius that covers every rounding error (Rump's
midpoint-radius arithmetic).  With unit roundoff u a complex product-sum of k terms computed
in any order satisfies ``|fl(s) - s| ≤ (2k + 8) u Σ|a||b|`` for the small k met here; a sum of
k non-negative doubles is below the true one by a factor of at most 1 - k u, so radii are
multiplied by 1 + (4k + 32) u and a tiny number is added for underflow.  No fast-math options:
these kernels rely on IEEE rounding.

References
----------
.. [1] S. M. Rump, "Fast and parallel interval arithmetic", BIT 39 (1999).
.. [2] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", ch. 3.
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains.chain import IN_M, IN_S0

OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}

UNIT = 2.0**-53
TINY = 1e-290


@numba.njit(**OPTIONS)
def size_up(re, im):
    """An upper bound of |re + i im|."""
    return np.sqrt(re * re + im * im) * (1.0 + 8.0 * UNIT) + TINY


@numba.njit(**OPTIONS)
def matmul(a, ar, b, br, c, cr, n, k, m, add):
    """Discs ``C = A B`` (or ``C += A B``): midpoints a, b, c complex, radii ar, br, cr.

    All are flat, row by row.
    """
    factor = (2.0 * k + 10.0) * UNIT
    grow = 1.0 + (4.0 * k + 40.0) * UNIT
    for i in range(n):
        for s in range(m):
            mid = 0j
            mass = 0.0
            rad = 0.0
            if add:
                mid = c[i * m + s]
                rad = cr[i * m + s]
                mass = size_up(mid.real, mid.imag)
            for q in range(k):
                x = a[i * k + q]
                y = b[q * m + s]
                mid += x * y
                sx = size_up(x.real, x.imag)
                sy = size_up(y.real, y.imag)
                rx = ar[i * k + q]
                ry = br[q * m + s]
                mass += sx * sy
                rad += sx * ry + rx * (sy + ry)
            c[i * m + s] = mid
            cr[i * m + s] = (rad + factor * mass) * grow + TINY


@numba.njit(**OPTIONS)
def states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr):
    """Discs of the states and of Z of a chain whose parameters are discs (learnable ones too).

    ``o`` holds K, c, d, m, r, read_all, size, offsets of S_0, D and Y, in this order.
    """
    K, c, m = o[0], o[1], o[3]
    for i in range(widths[0] * c):
        S[i] = p[o[7] + i]
        Sr[i] = pr[o[7] + i]
    for k in range(1, K + 1):
        matmul(
            p[m_at[k] :], pr[m_at[k] :], S[s_at[k - 1] :], Sr[s_at[k - 1] :],
            S[s_at[k] :], Sr[s_at[k] :], widths[k], widths[k - 1], c, False,
        )  # fmt: skip
    zs = widths[K] * m
    if o[5]:
        for k in range(1, K + 1):
            matmul(
                S[s_at[k] :], Sr[s_at[k] :], p[p_at[k] :], pr[p_at[k] :], Z, Zr,
                widths[k], c, m, k > 1,
            )  # fmt: skip
    else:
        for i in range(zs):
            Z[i] = S[s_at[K] + i]
            Zr[i] = Sr[s_at[K] + i]


@numba.njit(**OPTIONS)
def residual(o, widths, equations, p, pr, Z, Zr, Y, Yr, f, fr):
    """Discs of ``D Z - Y`` on the equations; Y, Yr is room for the d×m labels."""
    d, m, r = o[2], o[3], o[4]
    matmul(p[o[8] :], pr[o[8] :], Z, Zr, Y, Yr, d, widths[o[0]], m, False)
    for e in range(r):
        at = equations[e, 0] * m + equations[e, 1]
        y = p[o[9] + at]
        value = Y[at] - y
        f[e] = value
        fr[e] = (Yr[at] + pr[o[9] + at] + 4.0 * UNIT * size_up(value.real, value.imag)) * (
            1.0 + 16.0 * UNIT
        )


@numba.njit(**OPTIONS)
def _fused(acc, accr, x, xr, y, yr):
    """Disc ``acc + x y``."""
    sx = size_up(x.real, x.imag)
    sy = size_up(y.real, y.imag)
    out = acc + x * y
    rad = accr + sx * yr + xr * (sy + yr)
    rad += 8.0 * UNIT * (sx * sy) + 4.0 * UNIT * size_up(out.real, out.imag)
    return out, rad * (1.0 + 32.0 * UNIT) + TINY


@numba.njit(**OPTIONS)
def jacobian(
    o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr, A, Ar, H, Hr, J, Jr
):  # fmt: skip
    """Discs of the Jacobian; formulas as in `numeric.chains.lanes.condensed.jacobian`."""
    K, c, d, m, r = o[0], o[1], o[2], o[3], o[4]
    wide = 0
    for k in range(K + 1):
        wide = max(wide, widths[k])
    for i in range(d * widths[K]):
        A[i] = p[o[8] + i]
        Ar[i] = pr[o[8] + i]
    for q in range(1, K + 1):
        at = (q - 1) * d * wide
        to = q * d * wide
        k = K - q + 1
        matmul(
            A[at:], Ar[at:], p[m_at[k] :], pr[m_at[k] :], A[to:], Ar[to:],
            d, widths[k], widths[k - 1], False,
        )  # fmt: skip
    if o[5]:
        for q in range(K):
            at = q * wide * m
            for k in range(1, K - q + 1):
                matmul(
                    S[s_at[k - 1] :], Sr[s_at[k - 1] :], p[p_at[k + q] :], pr[p_at[k + q] :],
                    H[at:], Hr[at:], widths[0], c, m, k > 1,
                )  # fmt: skip
    for e in range(r):
        a = equations[e, 0]
        x = equations[e, 1]
        for v in range(r):
            kind, step, i, j = cells[v, 0], cells[v, 1], cells[v, 2], cells[v, 3]
            mid = 0j
            rad = 0.0
            if kind == IN_M:
                if o[5]:
                    for q in range(K):
                        u = q * d * wide + a * widths[K - q] + i
                        h = q * wide * m + j * m + x
                        mid, rad = _fused(mid, rad, A[u], Ar[u], H[h], Hr[h])
                else:
                    u = (K - step) * d * wide + a * widths[step] + i
                    h = s_at[step - 1] + j * c + x
                    mid, rad = _fused(mid, rad, A[u], Ar[u], S[h], Sr[h])
            elif kind == IN_S0:
                for q in range(1, K + 1):
                    u = q * d * wide + a * widths[K - q] + i
                    h = p_at[q] + j * m + x
                    mid, rad = _fused(mid, rad, A[u], Ar[u], p[h], pr[h])
            elif i == a:
                mid = Z[j * m + x]
                rad = Zr[j * m + x]
            J[e, v] = mid
            Jr[e, v] = rad


@numba.njit(**OPTIONS)
def approximate_inverse(J, C, work):
    """Gauss-Jordan inverse of J into C; False where a pivot vanishes.  Not rigorous."""
    r = len(J)
    for i in range(r):
        for j in range(r):
            work[i, j] = J[i, j]
            C[i, j] = 0j
        C[i, i] = 1.0 + 0j
    for k in range(r):
        best = -1.0
        pivot = k
        for i in range(k, r):
            size = abs(work[i, k].real) + abs(work[i, k].imag)
            if size > best:
                best = size
                pivot = i
        if not best > 0.0 or not np.isfinite(best):
            return False
        if pivot != k:
            for j in range(r):
                x = work[k, j]
                work[k, j] = work[pivot, j]
                work[pivot, j] = x
                x = C[k, j]
                C[k, j] = C[pivot, j]
                C[pivot, j] = x
        inverse = 1.0 / work[k, k]
        for j in range(k, r):
            work[k, j] *= inverse
        for j in range(r):
            C[k, j] *= inverse
        for i in range(r):
            if i == k:
                continue
            f = work[i, k]
            if f.real == 0.0 and f.imag == 0.0:
                continue
            for j in range(k, r):
                work[i, j] -= f * work[k, j]
            for j in range(r):
                C[i, j] -= f * C[k, j]
    return True


@numba.njit(**OPTIONS)
def newton_step(C, f, fr, step):
    """Upper bounds of ``|C F|`` for F in discs (f, fr), into step."""
    n = len(f)
    grow = 1.0 + (8.0 * n + 64.0) * UNIT
    for v in range(n):
        total = 0.0
        delta = 0j
        mass = 0.0
        for e in range(n):
            c = C[v, e]
            if c.real == 0.0 and c.imag == 0.0:
                continue
            delta += c * f[e]
            size = size_up(c.real, c.imag)
            total += size * fr[e]
            mass += size * size_up(f[e].real, f[e].imag)
        total += size_up(delta.real, delta.imag)
        total += (2.0 * n + 10.0) * UNIT * mass
        step[v] = total * grow + TINY


@numba.njit(**OPTIONS)
def contracts(C, J, Jr, rho, step, work, slack, columns):
    """Whether ``step_i + Σ_j |I - C J|_ij ρ_j < ρ_i`` for every i, J in discs (J, Jr).

    Parameters
    ----------
    C, J, Jr : ndarray, shape (n, n)
    rho, step : ndarray, shape (n,)
    work, slack, columns : ndarray
        Room: n complex, (n, n) real, (n, n + 1) int.
    """
    n = len(rho)
    grow = 1.0 + (8.0 * n + 64.0) * UNIT
    # What a disc of J and the rounding of its products may add, and where J is not zero.
    for e in range(n):
        count = 0
        for j in range(n):
            y = J[e, j]
            if y.real != 0.0 or y.imag != 0.0 or Jr[e, j] != 0.0:
                slack[e, j] = Jr[e, j] + (2.0 * n + 12.0) * UNIT * size_up(y.real, y.imag)
                columns[e, count] = j
                count += 1
        columns[e, n] = count
        # Only Σ_j slack_ej ρ_j is needed.
        total = 0.0
        for q in range(count):
            total += slack[e, columns[e, q]] * rho[columns[e, q]]
        slack[e, 0] = total * grow
    for i in range(n):
        for j in range(n):
            work[j] = 0j
        total = 0.0
        for e in range(n):
            c = C[i, e]
            if c.real == 0.0 and c.imag == 0.0:
                continue
            total += size_up(c.real, c.imag) * slack[e, 0]
            for q in range(columns[e, n]):
                j = columns[e, q]
                work[j] += c * J[e, j]
        total *= grow
        # The subtraction of 1 on the diagonal rounds once.
        work[i] -= 1.0
        total += 4.0 * UNIT * rho[i]
        for j in range(n):
            total += size_up(work[j].real, work[j].imag) * rho[j]
        if not (total * grow + step[i]) * grow < rho[i]:
            return False
    return True
