"""Rigorous arithmetic with complex discs in double precision, and tapes run in it.

A disc is a midpoint (two doubles) and a radius that covers every rounding error (Rump's
midpoint-radius arithmetic).  With unit roundoff u a complex product-sum of k terms computed
in any order satisfies ``|fl(s) - s| ≤ (2k + 8) u Σ|a||b|`` for the small k used here; a sum of
k non-negative doubles is below the true one by a factor of at most 1 - k u, so radii are
multiplied by 1 + (4k + 32) u and a tiny number is added for underflow.  No fast-math options:
these kernels rely on IEEE rounding.

References
----------
.. [1] S. M. Rump, "Fast and parallel interval arithmetic", BIT 39 (1999).
.. [2] N. J. Higham, "Accuracy and Stability of Numerical Algorithms", ch. 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.equations.lanes.tape import ADD, CLEAR, COPY, DOTS, SET_ONE
from numeric.kernels import INNER, njit

OPTIONS = {"nogil": True}

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


@njit(**OPTIONS, **INNER)
def size_up(z):
    """An upper bound of |z|."""
    return np.sqrt(z.real * z.real + z.imag * z.imag) * (1.0 + 8.0 * UNIT) + TINY


@njit(**OPTIONS, **INNER)
def dot_add_discs(x, c, a, a_stride, b, b_stride, count):
    """Disc ``x_c += Σ_q x_{a + q a_stride} x_{b + q b_stride}``, q < count."""
    mid = x.mid[c]
    rad = x.rad[c]
    mass = size_up(mid)
    for q in range(count):
        i = a + q * a_stride
        j = b + q * b_stride
        mid += x.mid[i] * x.mid[j]
        left = size_up(x.mid[i])
        right = size_up(x.mid[j])
        mass += left * right
        rad += left * x.rad[j] + x.rad[i] * (right + x.rad[j])
    x.mid[c] = mid
    rad += (2.0 * count + 10.0) * UNIT * mass
    x.rad[c] = rad * (1.0 + (4.0 * count + 40.0) * UNIT) + TINY


@njit(**OPTIONS)
def run_discs(x, table):
    """Run a tape (`numeric.equations.lanes.tape`) on discs.

    Parameters
    ----------
    x : Discs
        One disc for each slot.
    table : ndarray of int, shape (instructions, 11)

    Returns
    -------
    bool
        False if the tape has an instruction without an enclosure; then nothing is proved.
    """
    for i in range(len(table)):
        op, c, c_step, a, a_stride = table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4]
        b, b_step, b_stride, count = table[i, 5], table[i, 6], table[i, 7], table[i, 8]
        a_step = table[i, 10]
        if op == DOTS:
            for k in range(table[i, 9]):
                dot_add_discs(
                    x, c + k * c_step, a + k * a_step, a_stride, b + k * b_step, b_stride, count
                )
        elif op == COPY:
            for k in range(count):
                x.mid[c + k] = x.mid[a + k]
                x.rad[c + k] = x.rad[a + k]
        elif op == ADD:
            for k in range(count):
                value = x.mid[c + k] + float(b) * x.mid[a + k]
                rad = x.rad[c + k] + x.rad[a + k] + 4.0 * UNIT * size_up(value)
                x.mid[c + k] = value
                x.rad[c + k] = rad * (1.0 + 16.0 * UNIT)
        elif op in (CLEAR, SET_ONE):
            for k in range(count):
                x.mid[c + k] = 1.0 if op == SET_ONE else 0.0
                x.rad[c + k] = 0.0
        else:
            return False
    return True


@njit(**OPTIONS)
def run_discs_of(x, table, vectors, first, out):
    """Run a tape for several vectors of parameters.

    Parameters
    ----------
    x : Discs
        One disc for each slot; overwritten.
    table : ndarray of int, shape (instructions, 11)
    vectors : Discs, shape (·, parameters)
    first : int
        The first slot of the results.
    out : Discs, shape (·, results)
        Output.

    Returns
    -------
    bool
        As `run_discs`.
    """
    # Loops: assignments of slices take seconds to compile.
    size = vectors.mid.shape[1]
    for k in range(len(vectors.mid)):
        for v in range(len(x.mid)):
            x.mid[v] = vectors.mid[k, v] if v < size else 0.0
            x.rad[v] = vectors.rad[k, v] if v < size else 0.0
        if not run_discs(x, table):
            return False
        for v in range(out.mid.shape[1]):
            out.mid[k, v] = x.mid[first + v]
            out.rad[k, v] = x.rad[first + v]
    return True
