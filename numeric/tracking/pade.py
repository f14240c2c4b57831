"""Simultaneous Padé prediction in lanes: one denominator for all components of a path.

All components of a solution path share their singularities, so they are approximated by
fractions with one common denominator ``q(h) = 1 + c_1 h + … + c_m h^m``, chosen by least
squares so that the highest coefficient of ``q(h) x(h)`` vanishes as nearly as it can over all
components.  Near a branch point the poles line up along the cut, and the fractions converge
well beyond the radius of the Taylor series: steps are about 1.7 times as long for the same
order (measured on the n = 8 recurrent nets).

With ``ω_i = c_i h^i / q(h)`` the prediction ``Σ_i ω_i T_{K-i}(h)`` is an average of truncated
Taylor sums, hence the Taylor polynomial with its last m coefficients multiplied by
``φ_j = 1 - Σ_{i > K-j} ω_i``.

References
----------
.. [1] S. Telen, M. Van Barel, J. Verschelde, "A robust numerical path tracking algorithm for
   polynomial homotopy continuation", SIAM J. Sci. Comput. 42 (2020).
"""

from __future__ import annotations

import numba
import numpy as np

from numeric.chains.lanes.condensed import (
    GRAM,
    GROUPS,
    ORDER,
    PHI,
    ST,
    STATES,
    STEPS,
    UNITS,
    UNKNOWNS,
    WT,
)  # fmt: skip
from numeric.chains.lanes.linalg import LANES, OPTIONS
from numeric.chains.lanes.simd import conjugate_dot, scale_slots

# Degree of the denominator.  Three poles follow the nearest branch points; more bring little.
DEGREE = 3
# Taylor coefficients that enter: the numerator's last three need DEGREE more each.
WINDOW = DEGREE + 4
_RIDGE = 1e-11


@numba.njit(**OPTIONS)
def _units(ws, o, s_at, groups, scale):
    """Copies of the last `WINDOW` coefficients in units of the unknowns' sizes.

    Copy number 0 is the highest order.
    """
    r, states, G, K = o[UNKNOWNS], o[STATES], o[GROUPS], o[STEPS]
    first = s_at[1]
    size = r + states - first
    for q in range(WINDOW):
        order = o[ORDER] - q
        to = o[UNITS] + q * size
        for v in range(r):
            at = o[WT] + order * r + v
            g = groups[v]
            for lane in range(LANES):
                f = np.sqrt(scale[g, lane])
                ws[to + v, 0, lane] = ws[at, 0, lane] * f
                ws[to + v, 1, lane] = ws[at, 1, lane] * f
        for k in range(1, K + 1):
            for e in range(s_at[k], s_at[k + 1]):
                at = o[ST] + order * states + e
                out = to + r + e - first
                for lane in range(LANES):
                    f = np.sqrt(scale[G + k, lane])
                    ws[out, 0, lane] = ws[at, 0, lane] * f
                    ws[out, 1, lane] = ws[at, 1, lane] * f
    return size


@numba.njit(**OPTIONS)
def _solve_small(A, b, n):
    """Solve an n×n Hermitian positive definite system in place; the solution goes to b."""
    for k in range(n):
        pivot = A[k, k].real
        if not pivot > 0.0:
            return False
        for i in range(k + 1, n):
            f = A[i, k] * (1.0 / pivot)
            for j in range(k, n):
                A[i, j] -= f * A[k, j]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= A[i, j] * b[j]
        b[i] = total * (1.0 / A[i, i].real)
    return True


@numba.njit(**OPTIONS)
def fit(ws, o, s_at, groups, scale, c, error, rate):
    """Denominators, and the size and growth of what they leave of the series.

    Parameters
    ----------
    c : ndarray of complex, shape (DEGREE + 1, LANES)
        Out: coefficients of q, c[0] = 1.
    error : ndarray, shape (LANES,)
        Out: estimated size of coefficient ORDER + 1 of q x.
    rate : ndarray, shape (LANES,)
        Out: growth of these coefficients from order to order (an inverse radius).
    """
    size = _units(ws, o, s_at, groups, scale)
    for a in range(WINDOW):
        for b in range(a, min(a + DEGREE + 1, WINDOW)):
            conjugate_dot(
                ws, o[GRAM] + a * WINDOW + b, o[UNITS] + a * size, o[UNITS] + b * size, size
            )
    A = np.zeros((DEGREE, DEGREE), np.complex128)
    x = np.zeros(DEGREE, np.complex128)
    length = np.zeros(DEGREE)
    left = np.zeros(3)
    for lane in range(LANES):
        c[0, lane] = 1.0
        for i in range(DEGREE):
            at = o[GRAM] + (i + 1) * WINDOW + i + 1
            length[i] = np.sqrt(ws[at, 0, lane]) + 1e-140
        for i in range(DEGREE):
            at = o[GRAM] + i + 1
            # Gram(a, b) = conj(Y_a) · Y_b; the right-hand side is -conj(Y_{i+1}) · Y_0.
            x[i] = -complex(ws[at, 0, lane], -ws[at, 1, lane]) * (1.0 / length[i])
            for j in range(i, DEGREE):
                at = o[GRAM] + (i + 1) * WINDOW + j + 1
                unit = 1.0 / (length[i] * length[j])
                A[i, j] = complex(ws[at, 0, lane], ws[at, 1, lane]) * unit
                A[j, i] = A[i, j].conjugate()
            A[i, i] += _RIDGE
        good = _solve_small(A, x, DEGREE)
        for i in range(DEGREE):
            c[i + 1, lane] = x[i] * (1.0 / length[i]) if good else 0j
        # Sizes of coefficients K - 1, K - 2, K - 3 of q x; K itself is fitted away.
        for back in range(3):
            total = 0.0
            for a in range(DEGREE + 1):
                for b in range(a, DEGREE + 1):
                    at = o[GRAM] + (1 + back + a) * WINDOW + 1 + back + b
                    value = complex(ws[at, 0, lane], ws[at, 1, lane])
                    term = (c[a, lane].conjugate() * c[b, lane] * value).real
                    total += term if a == b else 2.0 * term
            # The quadratic form cancels; below this it is rounding.
            floor = 1e-15 * ws[o[GRAM] + (1 + back) * WINDOW + 1 + back, 0, lane]
            left[back] = np.sqrt(max(total, floor))
        tiny = 1e-250
        growth = max(left[0] / (left[1] + tiny), np.sqrt(left[0] / (left[2] + tiny)))
        rate[lane] = growth
        error[lane] = left[0] * growth * growth


@numba.njit(**OPTIONS)
def denominator(c, lane, h):
    """q(h) of one lane."""
    value = c[DEGREE, lane]
    for i in range(DEGREE - 1, -1, -1):
        value = value * h + c[i, lane]
    return value


@numba.njit(**OPTIONS)
def damp(ws, o, c, h):
    """Multiply the last coefficients by φ_j, so that Horner's rule gives the fractions.

    Overwrites the Taylor coefficients of order K - DEGREE + 1 … K of w and S.
    """
    r, states, K = o[UNKNOWNS], o[STATES], o[ORDER]
    for lane in range(LANES):
        q = denominator(c, lane, h[lane])
        size = q.real * q.real + q.imag * q.imag
        # Complex division would raise on zero; an idle lane may have anything here.
        inverse = complex(q.real / size, -q.imag / size) if size > 1e-30 else 0j
        phi = 1.0 + 0j
        # ω_m first: φ_{K-m+1} = 1 - ω_m, φ_{K-m+2} = 1 - ω_m - ω_{m-1}, …
        for i in range(DEGREE, 0, -1):
            omega = c[i, lane] * (h[lane] ** i) * inverse
            phi -= omega
            at = o[PHI] + DEGREE - i
            ws[at, 0, lane] = phi.real
            ws[at, 1, lane] = phi.imag
    for i in range(DEGREE):
        order = K - DEGREE + 1 + i
        scale_slots(ws, o[WT] + order * r, r, o[PHI] + i)
        scale_slots(ws, o[ST] + order * states, states, o[PHI] + i)
