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

import numpy as np

from numeric.equations.lanes.linalg import LANES, OPTIONS, factor, solve_factored
from numeric.equations.lanes.simd import (
    add_slots,
    conjugate,
    conjugate_dot,
    dot_add,
    horner,
    pair_horner,
    scale_real,
    scale_slots,
    set_slots,
)
from numeric.kernels import INNER, njit

# Degree of the denominator.  Three poles follow the nearest branch points; more gain little.
DEGREE = 3
# Number of Taylor coefficients used: the numerator's last three need DEGREE more each.
WINDOW = DEGREE + 4
_RIDGE = 1e-11
# Slots after those of the Gram matrix: the factors φ, the matrix of the least-squares problem, the
# coefficients c with c_0 = 1, sizes, three remainders and an array for their terms.
_PHI = WINDOW**2
_MATRIX = _PHI + DEGREE
_POLES = _MATRIX + DEGREE**2
_SIZES = _POLES + DEGREE + 1
_REMAINDERS = _SIZES + DEGREE
_TERMS = _REMAINDERS + 3
_SLOTS = _TERMS + DEGREE + 1


def pade_slots(size: int) -> int:
    """Slots for a number of unknowns: those of the units, then those of the fit."""
    return WINDOW * size + _SLOTS


@njit(**OPTIONS, **INNER)
def take_units(ws, units, size, base, order, unit):
    """Copy the last `WINDOW` coefficients of all unknowns in units of their size.

    Coefficient j of unknown i is at slot ``base + j size + i``; its copy number q (0 is
    the highest order) goes to ``units + q size + i``.  The inverse size of unknown i is the real
    part at slot ``unit + i``.
    """
    for q in range(WINDOW):
        scale_real(ws, units + q * size, base + (order - q) * size, unit, size)


@njit(**OPTIONS, **INNER)
def _remainder(ws, gram, back, to):
    """Size of coefficient K − 1 − back of q x, to a slot; coefficient K is minimized by the fit."""
    first = gram + (1 + back) * (WINDOW + 1)
    terms, poles = gram + _TERMS, gram + _POLES
    set_slots(ws, terms, DEGREE + 1, 0.0)
    for a in range(DEGREE + 1):
        dot_add(ws, terms + a, first + a * WINDOW, 1, poles, 1, DEGREE + 1)
    conjugate_dot(ws, to, poles, terms, DEGREE + 1)
    for lane in range(LANES):
        # The quadratic form cancels; below this bound it is rounding error.
        floor = 1e-15 * ws[first, 0, lane]
        ws[to, 0, lane] = np.sqrt(max(ws[to, 0, lane], floor))


@njit(**OPTIONS, **INNER)
def fit(ws, units, gram, size, c, error, rate, pivots, pattern):
    """Denominators, and the size and growth of the series' remainder.

    Parameters
    ----------
    units : int
        Slots filled by `take_units`, `size` to a coefficient.
    gram : int
        The slots after these, `pade_slots` in all.
    size : int
    c : ndarray of complex, shape (DEGREE + 1, LANES)
        Output: coefficients of q, c[0] = 1.
    error : ndarray, shape (LANES,)
        Output: estimated size of the coefficient after the last of q x.
    rate : ndarray, shape (LANES,)
        Output: growth of these coefficients from order to order (an inverse radius).
    pivots, pattern : ndarray of int
        Arrays of `numeric.equations.lanes.linalg.factor`, for DEGREE unknowns at least.
    """
    matrix, sizes, poles = gram + _MATRIX, gram + _SIZES, gram + _POLES
    for a in range(WINDOW):
        for b in range(a, min(a + DEGREE + 1, WINDOW)):
            here, there = gram + a * WINDOW + b, gram + b * WINDOW + a
            conjugate_dot(ws, here, units + a * size, units + b * size, size)
            conjugate(ws, there, here)
    # Unknowns are scaled by the sizes of their coefficients.
    for i in range(DEGREE):
        for lane in range(LANES):
            square = ws[gram + (i + 1) * (WINDOW + 1), 0, lane]
            ws[sizes + i, 0, lane] = 1.0 / (np.sqrt(square) + 1e-140)
    set_slots(ws, poles, 1, 1.0)
    for i in range(DEGREE):
        row = gram + (i + 1) * WINDOW
        scale_real(ws, matrix + i * DEGREE, row + 1, sizes, DEGREE)
        set_slots(ws, poles + 1 + i, 1, 0.0)
        add_slots(ws, poles + 1 + i, row, 1, -1.0)
        scale_slots(ws, poles + 1 + i, 1, sizes + i)
        scale_slots(ws, matrix + i * DEGREE, DEGREE, sizes + i)
        for lane in range(LANES):
            ws[matrix + i * (DEGREE + 1), 0, lane] += _RIDGE
    # A literal would compile both once more.
    degree = np.int64(DEGREE)
    factor(ws, matrix, degree, pivots, pattern, gram + _TERMS)
    solve_factored(ws, matrix, degree, pivots, pattern, poles + 1)
    scale_real(ws, poles + 1, poles + 1, sizes, DEGREE)
    for lane in range(LANES):
        total = 0.0
        for i in range(1, DEGREE + 1):
            total += abs(ws[poles + i, 0, lane]) + abs(ws[poles + i, 1, lane])
        good = np.isfinite(total)
        for i in range(DEGREE + 1):
            if i > 0 and not good:
                ws[poles + i, 0, lane] = ws[poles + i, 1, lane] = 0.0
            c[i, lane] = complex(ws[poles + i, 0, lane], ws[poles + i, 1, lane])
    last = gram + _REMAINDERS
    for back in range(3):
        _remainder(ws, gram, back, last + back)
    tiny = 1e-250
    for lane in range(LANES):
        size = ws[last, 0, lane]
        growth = size / (ws[last + 1, 0, lane] + tiny)
        rate[lane] = max(growth, np.sqrt(size / (ws[last + 2, 0, lane] + tiny)))
        error[lane] = size * rate[lane] * rate[lane]


@njit(**OPTIONS, **INNER)
def denominator(c, lane, h):
    """q(h) of one lane."""
    value = c[DEGREE, lane]
    for i in range(DEGREE - 1, -1, -1):
        value = value * h + c[i, lane]
    return value


@njit(**OPTIONS, **INNER)
def set_factors(ws, gram, c, h):
    """The factors φ_j of the last DEGREE coefficients, written to their slots after `gram`."""
    for lane in range(LANES):
        q = denominator(c, lane, h[lane])
        size = q.real * q.real + q.imag * q.imag
        # Complex division would raise on zero; the value in an idle lane is arbitrary.
        inverse = complex(q.real / size, -q.imag / size) if size > 1e-30 else 0j
        factor = 1.0 + 0j
        # ω_m first: φ_{K-m+1} = 1 - ω_m, φ_{K-m+2} = 1 - ω_m - ω_{m-1}, …
        for i in range(DEGREE, 0, -1):
            factor -= c[i, lane] * (h[lane] ** i) * inverse
            at = gram + _PHI + DEGREE - i
            ws[at, 0, lane] = factor.real
            ws[at, 1, lane] = factor.imag


@njit(**OPTIONS, **INNER)
def predict(ws, gram, base, count, order, h, to, low, in_pairs):
    """Values of the fractions after a step h: `count` unknowns with coefficients from slot `base`.

    The last DEGREE coefficients are multiplied by the factors φ, in place, and the
    polynomial is evaluated by Horner's rule; in pairs of doubles if `in_pairs`, and then `low` is
    not None.
    """
    for i in range(DEGREE):
        scale_slots(ws, base + (order - DEGREE + 1 + i) * count, count, gram + _PHI + i)
    for i in range(count):
        if not in_pairs:
            horner(ws, to + i, base + i, count, order, h)
        elif low is not None:
            pair_horner(ws, to + i, base + i, count, order, h, low)
