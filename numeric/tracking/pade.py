"""Simultaneous Padé prediction in lanes: one denominator for all components of a path.

All components of a solution path share their singularities, so they are approximated by
fractions with one common denominator ``q(h) = 1 + c_1 h + … + c_m h^m``, chosen by least
squares so that the highest coefficient of ``q(h) x(h)`` is as small as possible over all
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

from typing import Any

import numpy as np

from numeric.equations.lanes.linalg import LANES, OPTIONS
from numeric.equations.lanes.simd import conjugate_dot, horner, pair_horner, scale_slots
from numeric.kernels import njit

# Degree of the denominator.  Three poles follow the nearest branch points; more gain little.
DEGREE = 3
# Number of Taylor coefficients used: the numerator's last three need DEGREE more each.
WINDOW = DEGREE + 4
_RIDGE = 1e-11
# Typed, because numba compiles a function once more for each literal.
_FIRST: Any = np.int64(0)


def pade_slots(size: int) -> int:
    """Slots of the arrays units, gram and phi for a number of unknowns."""
    return WINDOW * size + WINDOW**2 + DEGREE


@njit(**OPTIONS)
def take_units(ws, units, size, base, order, unit):
    """Copy the last `WINDOW` coefficients of all unknowns in units of their size.

    Coefficient j of unknown i is at slot ``base + j size + i``; its copy number q (0 is
    the highest order) goes to ``units + q size + i``.  The inverse size of unknown i is the real
    part at slot ``unit + i``.
    """
    for q in range(WINDOW):
        source = base + (order - q) * size
        to = units + q * size
        for i in range(size):
            for lane in range(LANES):
                f = ws[unit + i, 0, lane]
                ws[to + i, 0, lane] = ws[source + i, 0, lane] * f
                ws[to + i, 1, lane] = ws[source + i, 1, lane] * f


@njit(**OPTIONS)
def _solve_small(A):
    """Solve a Hermitian positive definite system in place; the last row is the right-hand side."""
    n = A.shape[1]
    for k in range(n):
        pivot = A[k, k].real
        if not pivot > 0.0:
            return False
        for i in range(k + 1, n):
            f = A[i, k] * (1.0 / pivot)
            for j in range(k, n):
                A[i, j] -= f * A[k, j]
            A[n, i] -= f * A[n, k]
    for i in range(n - 1, -1, -1):
        total = A[n, i]
        for j in range(i + 1, n):
            total -= A[i, j] * A[n, j]
        A[n, i] = total * (1.0 / A[i, i].real)
    return True


@njit(**OPTIONS)
def _product(ws, gram, a, b, lane):
    """``conj(Y_a) · Y_b`` of one lane."""
    at = gram + a * WINDOW + b
    return complex(ws[at, 0, lane], ws[at, 1, lane])


@njit(**OPTIONS)
def _remainder(ws, gram, c, lane, back):
    """Size of coefficient K − 1 − back of q x; coefficient K is minimized by the fit."""
    total = 0.0
    for a in range(DEGREE + 1):
        for b in range(a, DEGREE + 1):
            value = _product(ws, gram, 1 + back + a, 1 + back + b, lane)
            term = (c[a, lane].conjugate() * c[b, lane] * value).real
            total += term if a == b else 2.0 * term
    # The quadratic form cancels; below this bound it is rounding error.
    floor = 1e-15 * _product(ws, gram, 1 + back, 1 + back, lane).real
    return np.sqrt(max(total, floor))


@njit(**OPTIONS)
def fit(ws, units, gram, size, c, error, rate, A):
    """Denominators, and the size and growth of the series' remainder.

    Parameters
    ----------
    units : int
        Slots filled by `take_units`, `size` to a coefficient.
    gram : int
        ``WINDOW²`` free slots.
    size : int
    c : ndarray of complex, shape (DEGREE + 1, LANES)
        Output: coefficients of q, c[0] = 1.
    error : ndarray, shape (LANES,)
        Output: estimated size of the coefficient after the last of q x.
    rate : ndarray, shape (LANES,)
        Output: growth of these coefficients from order to order (an inverse radius).
    A : ndarray of complex, shape (DEGREE + 1, DEGREE)
        An array.
    """
    for a in range(WINDOW):
        for b in range(a, min(a + DEGREE + 1, WINDOW)):
            conjugate_dot(ws, gram + a * WINDOW + b, units + a * size, units + b * size, size)
    for lane in range(LANES):
        c[0, lane] = 1.0
        # Unknowns are scaled by the sizes of their coefficients.
        for i in range(DEGREE):
            size_i = np.sqrt(_product(ws, gram, i + 1, i + 1, lane).real) + 1e-140
            A[DEGREE, i] = -_product(ws, gram, _FIRST, i + 1, lane).conjugate() * (1.0 / size_i)
            for j in range(i, DEGREE):
                size_j = np.sqrt(_product(ws, gram, j + 1, j + 1, lane).real) + 1e-140
                A[i, j] = _product(ws, gram, i + 1, j + 1, lane) * (1.0 / (size_i * size_j))
                A[j, i] = A[i, j].conjugate()
            A[i, i] += _RIDGE
        good = _solve_small(A)
        for i in range(DEGREE):
            size_i = np.sqrt(_product(ws, gram, i + 1, i + 1, lane).real) + 1e-140
            c[i + 1, lane] = A[DEGREE, i] * (1.0 / size_i) if good else 0j
        last = _remainder(ws, gram, c, lane, _FIRST)
        tiny = 1e-250
        growth = max(
            last / (_remainder(ws, gram, c, lane, _FIRST + 1) + tiny),
            np.sqrt(last / (_remainder(ws, gram, c, lane, _FIRST + 2) + tiny)),
        )
        rate[lane] = growth
        error[lane] = last * growth * growth


@njit(**OPTIONS)
def denominator(c, lane, h):
    """q(h) of one lane."""
    value = c[DEGREE, lane]
    for i in range(DEGREE - 1, -1, -1):
        value = value * h + c[i, lane]
    return value


@njit(**OPTIONS)
def set_factors(ws, phi, c, h):
    """The factors φ_j of the last DEGREE coefficients, written to the slots from phi."""
    for lane in range(LANES):
        q = denominator(c, lane, h[lane])
        size = q.real * q.real + q.imag * q.imag
        # Complex division would raise on zero; the value in an idle lane is arbitrary.
        inverse = complex(q.real / size, -q.imag / size) if size > 1e-30 else 0j
        factor = 1.0 + 0j
        # ω_m first: φ_{K-m+1} = 1 - ω_m, φ_{K-m+2} = 1 - ω_m - ω_{m-1}, …
        for i in range(DEGREE, 0, -1):
            factor -= c[i, lane] * (h[lane] ** i) * inverse
            at = phi + DEGREE - i
            ws[at, 0, lane] = factor.real
            ws[at, 1, lane] = factor.imag


@njit(**OPTIONS)
def predict(ws, phi, base, count, order, h, to, low):
    """Values of the fractions after a step h: `count` unknowns with coefficients from slot `base`.

    The last DEGREE coefficients are multiplied by the factors in `phi`, in place, and the
    polynomial is evaluated by Horner's rule; in pairs of doubles if `low` is not 0.
    """
    for i in range(DEGREE):
        scale_slots(ws, base + (order - DEGREE + 1 + i) * count, count, phi + i)
    for i in range(count):
        if low:
            pair_horner(ws, to + i, base + i, count, order, h, low)
        else:
            horner(ws, to + i, base + i, count, order, h)
