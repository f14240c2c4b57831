r"""Rigorous arithmetic with complex discs whose midpoints are pairs of doubles; tapes run in it.

A *pair* is the unevaluated sum ``x_h + x_l`` of two doubles with ``x_h = RN(x_h + x_l)``: about 106
bits.  With u = 2^-53 the unit roundoff:

*Lemma* [1]_.  Without underflow and overflow, for pairs x and y,

- the sum that `add_pairs` computes (AccurateDWPlusDW, Algorithm 6) has an error of at most
  ``3 u² / (1 - 4 u) |x + y|`` (Theorem 3.1);
- the product that `multiply_pairs` computes (DWTimesDW3, Algorithm 12) has an error of at most
  ``5 u² |x y|`` (Theorem 5.3; [2]_ proves 4 u² and checks both theorems formally);
- both results are pairs.

*Complex sums of products.*  The real part of ``c + Σ_q a_q b_q``, k products, is a sum of the real
part of c and 2k products, added one after another.  By the lemma its error is at most
``((1 + 5 u²)(1 + 3.01 u²)^{2k} - 1) M`` with ``M = |c| + Σ |a_q| |b_q|``, because the absolute
values of the real products add up to no more than M (Cauchy and Schwarz).  The same holds for the
imaginary part, so the error is below ``√2 (5.01 + 6.03 k) u² M < (9 k + 8) u² M``.  Radii are sums
of non-negative doubles, corrected for their own rounding as in `numeric.equations.discs`.  What an
underflow loses is below 2^-1070 for each operation, far less than the tiny number added; an
overflow makes radii infinite or NaN, which proves nothing.

References
----------
.. [1] M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building
   blocks of double-word arithmetic", ACM Trans. Math. Softw. 44 (2017).
.. [2] J.-M. Muller, L. Rideau, "Formalization of double-word arithmetic, and comments on 'Tight and
   rigorous error bounds …'", ACM Trans. Math. Softw. 48 (2022).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb
from numba import types
from numba.extending import intrinsic

from numeric.equations.discs import OPTIONS, TINY, UNIT
from numeric.equations.lanes.tape import ADD, CLEAR, COPY, DOTS, SET_ONE
from numeric.kernels import INNER, njit

# Columns of an array of discs: the real and the imaginary part as pairs, the radius, and an upper
# bound of the midpoint's modulus.
RE, RE_LOW, IM, IM_LOW, RADIUS, SIZE = range(6)
# The unit of the errors of pairs, u².
PAIR_UNIT = UNIT * UNIT


def make_pair_discs(slots: int) -> np.ndarray:
    """Discs, all 0, as an array (slots, 6)."""
    return np.zeros((slots, 6))


def enclose_in_pairs(values: list[acb]) -> np.ndarray:
    """Discs that contain balls."""
    found = make_pair_discs(len(values))
    for row, z in zip(found, values, strict=True):
        for at, part in ((RE, z.real), (IM, z.imag)):
            row[at] = float(part.mid())
            row[at + 1] = float((part - row[at]).mid())
            # The nearest doubles are a pair except perhaps in a tie.
            total = row[at] + row[at + 1]
            row[at + 1], row[at] = row[at + 1] - (total - row[at]), total
        off = z - acb(row[RE], row[IM]) - acb(row[RE_LOW], row[IM_LOW])
        row[RADIUS] = float(off.abs_upper()) * (1 + 4 * UNIT) + TINY
        row[SIZE] = float(abs(z).abs_upper()) * (1 + 4 * UNIT) + row[RADIUS]
    return found


@intrinsic
def _fma(typing, x, y, z):  # type: ignore[no-untyped-def]
    """``x y + z``, rounded once on every processor."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@njit(inline="always", **OPTIONS)
def _two_sum(x, y):
    """``x + y`` and its rounding error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


@njit(inline="always", **OPTIONS)
def _fast_two_sum(x, y):
    """The same for ``|x| ≥ |y|`` (Dekker)."""
    total = x + y
    return total, y - (total - x)


@njit(inline="always", **OPTIONS)
def add_pairs(xh, xl, yh, yl):
    """The sum of two pairs: AccurateDWPlusDW."""
    sh, sl = _two_sum(xh, yh)
    th, tl = _two_sum(xl, yl)
    vh, vl = _fast_two_sum(sh, sl + th)
    return _fast_two_sum(vh, tl + vl)


@njit(inline="always", **OPTIONS)
def multiply_pairs(xh, xl, yh, yl):
    """The product of two pairs: DWTimesDW3."""
    high = xh * yh
    low = _fma(xh, yh, -high)
    rest = _fma(xl, yh, _fma(xh, yl, xl * yl))
    return _fast_two_sum(high, low + rest)


@njit(inline="always", **OPTIONS)
def set_size(x, c):
    """Write the bound of a midpoint's modulus; the low parts are below 2 u of the high ones."""
    x[c, SIZE] = np.sqrt(x[c, RE] * x[c, RE] + x[c, IM] * x[c, IM]) * (1.0 + 12.0 * UNIT) + TINY


@njit(**OPTIONS, **INNER)
def dot_add_pair_discs(x, c, a, a_stride, b, b_stride, count, unit):
    """Disc ``x_c += Σ_q x_{a + q a_stride} x_{b + q b_stride}``, q < count."""
    re, re_low, im, im_low = x[c, RE], x[c, RE_LOW], x[c, IM], x[c, IM_LOW]
    rad, mass = x[c, RADIUS], x[c, SIZE]
    for q in range(count):
        i = a + q * a_stride
        j = b + q * b_stride
        high, low = multiply_pairs(x[i, RE], x[i, RE_LOW], x[j, RE], x[j, RE_LOW])
        re, re_low = add_pairs(re, re_low, high, low)
        high, low = multiply_pairs(x[i, RE], x[i, RE_LOW], x[j, IM], x[j, IM_LOW])
        im, im_low = add_pairs(im, im_low, high, low)
        # Products with an imaginary part that is 0 are exact, and change nothing.
        if x[i, IM] != 0.0:
            high, low = multiply_pairs(x[i, IM], x[i, IM_LOW], x[j, IM], x[j, IM_LOW])
            re, re_low = add_pairs(re, re_low, -high, -low)
            high, low = multiply_pairs(x[i, IM], x[i, IM_LOW], x[j, RE], x[j, RE_LOW])
            im, im_low = add_pairs(im, im_low, high, low)
        left, right = x[i, SIZE], x[j, SIZE]
        mass += left * right
        rad += left * x[j, RADIUS] + x[i, RADIUS] * (right + x[j, RADIUS])
    x[c, RE], x[c, RE_LOW], x[c, IM], x[c, IM_LOW] = re, re_low, im, im_low
    rad += (9.0 * count + 8.0) * unit * mass
    x[c, RADIUS] = rad * (1.0 + (4.0 * count + 40.0) * UNIT) + TINY
    set_size(x, c)


@njit(**OPTIONS)
def run_pair_discs(x, table, unit):
    """Run a tape (`numeric.equations.lanes.tape`) on discs.

    Parameters
    ----------
    x : ndarray of float, shape (slots, 6)
    table : ndarray of int, shape (instructions, 11)
    unit : float
        `PAIR_UNIT`.

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
                dot_add_pair_discs(
                    x, c + k * c_step, a + k * a_step, a_stride, b + k * b_step, b_stride, count,
                    unit,
                )  # fmt: skip
        elif op == COPY:
            for k in range(count):
                for part in range(6):
                    x[c + k, part] = x[a + k, part]
        elif op == ADD:
            sign = float(b)
            for k in range(count):
                to, at = c + k, a + k
                rad = x[to, RADIUS] + x[at, RADIUS]
                x[to, RE], x[to, RE_LOW] = add_pairs(
                    x[to, RE], x[to, RE_LOW], sign * x[at, RE], sign * x[at, RE_LOW]
                )
                x[to, IM], x[to, IM_LOW] = add_pairs(
                    x[to, IM], x[to, IM_LOW], sign * x[at, IM], sign * x[at, IM_LOW]
                )
                set_size(x, to)
                rad += 4.0 * unit * x[to, SIZE]
                x[to, RADIUS] = rad * (1.0 + 16.0 * UNIT) + TINY
        elif op in (CLEAR, SET_ONE):
            for k in range(count):
                for part in range(6):
                    x[c + k, part] = 0.0
                if op == SET_ONE:
                    x[c + k, RE] = x[c + k, SIZE] = 1.0
        else:
            return False
    return True


@njit(**OPTIONS)
def line_in_pairs(first, second, t, out):
    """Start and direction, as pairs, of the line from its point at t to its end.

    `out` has the high and the low parts of the start, then of the direction.
    """
    size = len(first)
    left, left_low = add_pairs(1.0, 0.0, -t, 0.0)
    for i in range(size):
        for part in range(2):
            at = first[i].imag if part else first[i].real
            end, end_low = second[i, IM if part else RE], second[i, IM_LOW if part else RE_LOW]
            way, way_low = add_pairs(end, end_low, -at, 0.0)
            step, step_low = multiply_pairs(way, way_low, t, 0.0)
            start, start_low = add_pairs(at, 0.0, step, step_low)
            rest, rest_low = multiply_pairs(way, way_low, left, left_low)
            for k, value in enumerate((start, start_low, rest, rest_low)):
                out[k * size + i] += complex(0.0, value) if part else complex(value, 0.0)
