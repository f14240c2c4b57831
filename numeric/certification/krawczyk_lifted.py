"""Krawczyk's test on the lifted system, for roots with large weights.

With weights of size R the equations in the weights alone have a condition number near R^K;
with the states S_1, …, S_K as unknowns too the system ``M_k S_{k-1} - S_k = 0``,
``D Z - Y = 0`` is bilinear and as well conditioned as the problem itself.  Its Jacobian over a
polydisc has entries that are unknowns or data, so their discs are exact.  A root of the
lifted system is a root of the equations and conversely, and so are real ones.
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains import discs as balls
from numeric.chains.chain import IN_D, IN_M, IN_S0

_NEWTON = 8


@numba.njit(**balls.OPTIONS)
def _fill(o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr, J, Jr):
    """Discs of the lifted Jacobian; unknowns are S_1, …, S_K, then w."""
    K, c, m, r = o[0], o[1], o[3], o[4]
    first = s_at[1]
    states = s_at[K + 1] - first
    J[:] = 0j
    Jr[:] = 0.0
    for k in range(1, K + 1):
        for i in range(widths[k]):
            for x in range(c):
                e = s_at[k] + i * c + x - first
                J[e, e] = -1.0
                if k > 1:
                    for j in range(widths[k - 1]):
                        u = m_at[k] + i * widths[k - 1] + j
                        v = s_at[k - 1] + j * c + x - first
                        J[e, v] = p[u]
                        Jr[e, v] = pr[u]
    for v in range(r):
        kind, step, i, j = cells[v, 0], cells[v, 1], cells[v, 2], cells[v, 3]
        if kind == IN_M:
            low = step if step else 1
            high = step if step else K
            for k in range(low, high + 1):
                for x in range(c):
                    e = s_at[k] + i * c + x - first
                    u = s_at[k - 1] + j * c + x
                    J[e, states + v] = S[u]
                    Jr[e, states + v] = Sr[u]
        elif kind == IN_S0:
            for i1 in range(widths[1]):
                u = m_at[1] + i1 * widths[0] + i
                e = i1 * c + j
                J[e, states + v] = p[u]
                Jr[e, states + v] = pr[u]
    for q in range(r):
        a = equations[q, 0]
        s = equations[q, 1]
        e = states + q
        if o[5]:
            for k in range(1, K + 1):
                for i in range(widths[K]):
                    u = o[8] + a * widths[K] + i
                    for g in range(c):
                        w = p_at[k] + g * m + s
                        v = s_at[k] + i * c + g - first
                        J[e, v], Jr[e, v] = balls._fused(0j, 0.0, p[u], pr[u], p[w], pr[w])
        elif K > 0:
            for i in range(widths[K]):
                u = o[8] + a * widths[K] + i
                v = s_at[K] + i * c + s - first
                J[e, v] = p[u]
                Jr[e, v] = pr[u]
        for v in range(r):
            if cells[v, 0] == IN_D and cells[v, 2] == a:
                J[e, states + v] = Z[cells[v, 3] * m + s]
                Jr[e, states + v] = Zr[cells[v, 3] * m + s]


@numba.njit(**balls.OPTIONS)
def _place(o, s_at, cells, first, p, x, S):
    """Write the unknowns x into the parameters p and the states S."""
    states = s_at[o[0] + 1] - first
    for v in range(o[4]):
        p[cells[v, 4]] = x[states + v]
    for e in range(states):
        S[first + e] = x[e]
    for i in range(first):
        S[i] = p[o[7] + i]


@numba.njit(**balls.OPTIONS)
def _function(o, widths, s_at, m_at, p_at, equations, p, pr, S, Sr, Z, Zr, Y, Yr, T, Tr, f, fr):
    """Discs of the lifted equations at discs of all unknowns; Z of S as a by-product."""
    K, c, m, _r = o[0], o[1], o[3], o[4]
    first = s_at[1]
    states = s_at[K + 1] - first
    for k in range(1, K + 1):
        balls.matmul(
            p[m_at[k] :], pr[m_at[k] :], S[s_at[k - 1] :], Sr[s_at[k - 1] :],
            T[s_at[k] :], Tr[s_at[k] :], widths[k], widths[k - 1], c, False,
        )  # fmt: skip
        for e in range(s_at[k], s_at[k + 1]):
            value = T[e] - S[e]
            f[e - first] = value
            fr[e - first] = (
                Tr[e] + Sr[e] + 4.0 * balls.UNIT * balls.size_up(value.real, value.imag)
            ) * (1.0 + 16.0 * balls.UNIT)
    if o[5]:
        for k in range(1, K + 1):
            balls.matmul(
                S[s_at[k] :], Sr[s_at[k] :], p[p_at[k] :], pr[p_at[k] :], Z, Zr,
                widths[k], c, m, k > 1,
            )  # fmt: skip
    else:
        for i in range(widths[K] * m):
            Z[i] = S[s_at[K] + i]
            Zr[i] = Sr[s_at[K] + i]
    balls.residual(o, widths, equations, p, pr, Z, Zr, Y, Yr, f[states:], fr[states:])


@numba.njit(**balls.OPTIONS)
def certify_lifted(
    o, widths, s_at, m_at, p_at, cells, equations, middle, radius, roots, kind, radii
):  # fmt: skip
    """Test the roots whose kind is 0; sets kind to 1 (real) or 2 (non-real), and radii."""
    K, d, m, r = o[0], o[2], o[3], o[4]
    first = s_at[1]
    states = s_at[K + 1] - first
    n = states + r
    S = np.zeros(s_at[-1], np.complex128)
    Sr = np.zeros(s_at[-1])
    T = np.zeros(s_at[-1], np.complex128)
    Tr = np.zeros(s_at[-1])
    Z = np.zeros(widths[K] * m, np.complex128)
    Zr = np.zeros(widths[K] * m)
    Y = np.zeros(d * m, np.complex128)
    Yr = np.zeros(d * m)
    f = np.zeros(n, np.complex128)
    fr = np.zeros(n)
    J = np.zeros((n, n), np.complex128)
    Jr = np.zeros((n, n))
    C = np.zeros((n, n), np.complex128)
    work = np.zeros((n, n), np.complex128)
    row = np.zeros(n, np.complex128)
    slack = np.zeros((n, n))
    columns = np.zeros((n, n + 1), np.int64)
    step = np.zeros(n)
    rho = np.zeros(n)
    x = np.zeros(n, np.complex128)
    p = middle.copy()
    pr = radius.copy()
    for number in range(len(roots)):
        if kind[number] != 0:
            continue
        finite = True
        for v in range(r):
            x[states + v] = roots[number, v]
            p[cells[v, 4]] = roots[number, v]
            pr[cells[v, 4]] = 0.0
            if not (np.isfinite(x[states + v].real) and np.isfinite(x[states + v].imag)):
                finite = False
        if not finite:
            continue
        balls.states(o, widths, s_at, m_at, p_at, p, pr, S, Sr, Z, Zr)
        Sr[:] = 0.0
        for e in range(states):
            x[e] = S[first + e]
        regular = True
        last = np.inf
        for sweep in range(_NEWTON):
            _place(o, s_at, cells, first, p, x, S)
            _function(
                o, widths, s_at, m_at, p_at, equations, p, pr, S, Sr, Z, Zr, Y, Yr, T, Tr, f, fr
            )
            if sweep < 2 or last > 1e-7:
                _fill(o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr, J, Jr)
                if not balls.approximate_inverse(J, C, work):
                    regular = False
                    break
            largest = 0.0
            for v in range(n):
                delta = 0j
                for e in range(n):
                    delta += C[v, e] * f[e]
                x[v] -= delta
                largest = max(largest, abs(delta) / (abs(x[v]) + 1e-3))
            if not np.isfinite(largest):
                regular = False
                break
            if largest < 1e-13 or (sweep > 3 and largest > 0.5 * last):
                break
            last = largest
        if not regular:
            continue
        looks_real = True
        for v in range(states, n):
            if abs(x[v].imag) > 1e-7 * (abs(x[v]) + 1e-2):
                looks_real = False
        for attempt in range(2):
            as_real = looks_real and attempt == 0
            if attempt == 0 and not as_real:
                continue
            saved = x.copy()
            if as_real:
                for v in range(n):
                    x[v] = complex(x[v].real, 0.0)
            _place(o, s_at, cells, first, p, x, S)
            Sr[:] = 0.0
            for v in range(r):
                pr[cells[v, 4]] = 0.0
            _function(
                o, widths, s_at, m_at, p_at, equations, p, pr, S, Sr, Z, Zr, Y, Yr, T, Tr, f, fr
            )
            balls.newton_step(C, f, fr, step)
            done = False
            for blow in range(2):
                for v in range(n):
                    rho[v] = (2.0 + 14.0 * blow) * step[v] + 1e-16 * abs(x[v])
                for v in range(r):
                    pr[cells[v, 4]] = rho[states + v]
                for e in range(states):
                    Sr[first + e] = rho[e]
                for i in range(first):
                    Sr[i] = pr[o[7] + i]
                # Z over the polydisc, for learnable cells of D.
                _function(
                    o, widths, s_at, m_at, p_at, equations, p, pr, S, Sr, Z, Zr, Y, Yr,
                    T, Tr, f, fr,
                )  # fmt: skip
                _fill(o, widths, s_at, m_at, p_at, cells, equations, p, pr, S, Sr, Z, Zr, J, Jr)
                done = balls.contracts(C, J, Jr, rho, step, row, slack, columns)
                if done:
                    break
            if done:
                apart = False
                for v in range(r):
                    roots[number, v] = x[states + v]
                    radii[number, v] = rho[states + v]
                    if abs(x[states + v].imag) > rho[states + v]:
                        apart = True
                if as_real:
                    kind[number] = 1
                elif apart:
                    kind[number] = 2
                if kind[number] != 0:
                    break
            for v in range(n):
                x[v] = saved[v]
