"""Complex linear algebra on many problems at once, in vector lanes.

All data of a batch of `LANES` problems of the same shape sit in one workspace
``ws[slot, part, lane]`` (float64; part 0 real, 1 imaginary); a matrix is a range of slots,
row by row.  Every inner loop runs over the lanes, so the compiler turns it into vector
instructions whatever the matrix sizes, without any reassociation of sums.

The functions are numba kernels: plain loops, offsets instead of views.
"""

from __future__ import annotations

import numba
import numpy as np

LANES = 16

# Contraction to fused multiply-add changes rounding, never the mathematics; no other
# fast-math assumption is made (NaN and infinity must survive to be seen).
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

# Where the diagonal is within this factor of the largest candidate no rows are swapped:
# swaps break the lanes apart, and growth stays harmless (threshold pivoting).
PIVOT_THRESHOLD = 0.2
_PIVOT_SQUARE = PIVOT_THRESHOLD * PIVOT_THRESHOLD


@numba.njit(**OPTIONS)
def clear(ws, at, count):
    """``ws[at : at + count] = 0``."""
    for i in range(at, at + count):
        for lane in range(LANES):
            ws[i, 0, lane] = 0.0
            ws[i, 1, lane] = 0.0


@numba.njit(**OPTIONS)
def copy(ws, to, at, count):
    """``ws[to : to + count] = ws[at : at + count]``."""
    for i in range(count):
        for lane in range(LANES):
            ws[to + i, 0, lane] = ws[at + i, 0, lane]
            ws[to + i, 1, lane] = ws[at + i, 1, lane]


@numba.njit(**OPTIONS)
def multiply_add(ws, c, a, b):
    """``ws[c] += ws[a] * ws[b]``, one slot each."""
    for lane in range(LANES):
        ar = ws[a, 0, lane]
        ai = ws[a, 1, lane]
        br = ws[b, 0, lane]
        bi = ws[b, 1, lane]
        ws[c, 0, lane] += ar * br - ai * bi
        ws[c, 1, lane] += ar * bi + ai * br


@numba.njit(**OPTIONS)
def row_add(ws, c, a, b, count):
    """``ws[c : c + count] += ws[a] * ws[b : b + count]``."""
    for i in range(count):
        for lane in range(LANES):
            ar = ws[a, 0, lane]
            ai = ws[a, 1, lane]
            br = ws[b + i, 0, lane]
            bi = ws[b + i, 1, lane]
            ws[c + i, 0, lane] += ar * br - ai * bi
            ws[c + i, 1, lane] += ar * bi + ai * br


@numba.njit(**OPTIONS)
def row_subtract(ws, c, a, b, count):
    """``ws[c : c + count] -= ws[a] * ws[b : b + count]``."""
    for i in range(count):
        for lane in range(LANES):
            ar = ws[a, 0, lane]
            ai = ws[a, 1, lane]
            br = ws[b + i, 0, lane]
            bi = ws[b + i, 1, lane]
            ws[c + i, 0, lane] -= ar * br - ai * bi
            ws[c + i, 1, lane] -= ar * bi + ai * br


@numba.njit(**OPTIONS)
def dot_add(ws, c, a, a_stride, b, b_stride, count):
    """``ws[c] += Σ_q ws[a + q a_stride] * ws[b + q b_stride]``, q from 0 to count - 1."""
    q = 0
    while q + 3 < count:
        a0 = a + q * a_stride
        a1 = a0 + a_stride
        a2 = a1 + a_stride
        a3 = a2 + a_stride
        b0 = b + q * b_stride
        b1 = b0 + b_stride
        b2 = b1 + b_stride
        b3 = b2 + b_stride
        for lane in range(LANES):
            x0 = ws[a0, 0, lane]
            y0 = ws[a0, 1, lane]
            u0 = ws[b0, 0, lane]
            v0 = ws[b0, 1, lane]
            x1 = ws[a1, 0, lane]
            y1 = ws[a1, 1, lane]
            u1 = ws[b1, 0, lane]
            v1 = ws[b1, 1, lane]
            x2 = ws[a2, 0, lane]
            y2 = ws[a2, 1, lane]
            u2 = ws[b2, 0, lane]
            v2 = ws[b2, 1, lane]
            x3 = ws[a3, 0, lane]
            y3 = ws[a3, 1, lane]
            u3 = ws[b3, 0, lane]
            v3 = ws[b3, 1, lane]
            re = x0 * u0 - y0 * v0 + (x1 * u1 - y1 * v1)
            im = x0 * v0 + y0 * u0 + (x1 * v1 + y1 * u1)
            re2 = x2 * u2 - y2 * v2 + (x3 * u3 - y3 * v3)
            im2 = x2 * v2 + y2 * u2 + (x3 * v3 + y3 * u3)
            ws[c, 0, lane] += re + re2
            ws[c, 1, lane] += im + im2
        q += 4
    while q < count:
        multiply_add(ws, c, a + q * a_stride, b + q * b_stride)
        q += 1


@numba.njit(**OPTIONS)
def matmul_add(ws, c, a, b, n, k, m):
    """``C += A B`` with A n×k and B k×m, row by row at slots c, a, b."""
    for i in range(n):
        for s in range(m):
            dot_add(ws, c + i * m + s, a + i * k, 1, b + s, m, k)


@numba.njit(**OPTIONS)
def _is_zero(ws, at):
    largest = 0.0
    for lane in range(LANES):
        largest = max(largest, abs(ws[at, 0, lane]), abs(ws[at, 1, lane]))
    return largest == 0.0


@numba.njit(**OPTIONS)
def _eliminate(ws, row, factor_at, pivot_row, columns, first, last):
    """``ws[row + j] -= ws[factor_at] * ws[pivot_row + j]`` for j in columns[first:last]."""
    for q in range(first, last):
        c = row + columns[q]
        b = pivot_row + columns[q]
        for lane in range(LANES):
            ar = ws[factor_at, 0, lane]
            ai = ws[factor_at, 1, lane]
            br = ws[b, 0, lane]
            bi = ws[b, 1, lane]
            ws[c, 0, lane] -= ar * br - ai * bi
            ws[c, 1, lane] -= ar * bi + ai * br


@numba.njit(**OPTIONS)
def factor(ws, a, r, pivots, pattern, scratch):
    """LU factors of the r×r matrix at slot a, in place, rows pivoted lane by lane.

    Entries that are zero in every lane are skipped, so sparse matrices cost what their fill
    costs.

    Parameters
    ----------
    ws : ndarray
    a, r : int
    pivots : ndarray of int64, shape (r, LANES)
        Out: row swapped with row k at step k.
    pattern : ndarray of int64, shape (r, r + 2)
        Out: for each row the number of non-zeros left of the diagonal, the number right of
        it, and their columns.
    scratch : int
        One free slot.  The inverse of each pivot is left on the diagonal.
    """
    for k in range(r):
        kk = a + k * r + k
        for lane in range(LANES):
            pr = ws[kk, 0, lane]
            pi = ws[kk, 1, lane]
            ws[scratch, 0, lane] = pr * pr + pi * pi
            pivots[k, lane] = k
        swap = False
        for i in range(k + 1, r):
            ik = a + i * r + k
            better = False
            for lane in range(LANES):
                pr = ws[ik, 0, lane]
                pi = ws[ik, 1, lane]
                size = pr * pr + pi * pi
                ws[scratch, 1, lane] = size
                better |= size * _PIVOT_SQUARE > ws[scratch, 0, lane]
            if better:
                swap = True
                for lane in range(LANES):
                    size = ws[scratch, 1, lane]
                    if size * _PIVOT_SQUARE > ws[scratch, 0, lane]:
                        # A first swap costs the threshold; further ones need only be larger.
                        pivots[k, lane] = i
                        ws[scratch, 0, lane] = size / _PIVOT_SQUARE
        if swap:
            for lane in range(LANES):
                p = pivots[k, lane]
                if p != k:
                    for j in range(r):
                        s = a + k * r + j
                        t = a + p * r + j
                        re = ws[s, 0, lane]
                        im = ws[s, 1, lane]
                        ws[s, 0, lane] = ws[t, 0, lane]
                        ws[s, 1, lane] = ws[t, 1, lane]
                        ws[t, 0, lane] = re
                        ws[t, 1, lane] = im
        for lane in range(LANES):
            re = ws[kk, 0, lane]
            im = ws[kk, 1, lane]
            size = re * re + im * im
            ws[kk, 0, lane] = re / size
            ws[kk, 1, lane] = -im / size
        right = 0
        for j in range(k + 1, r):
            if not _is_zero(ws, a + k * r + j):
                pattern[k, 2 + right] = j
                right += 1
        pattern[k, 1] = right
        for i in range(k + 1, r):
            ik = a + i * r + k
            if _is_zero(ws, ik):
                continue
            for lane in range(LANES):
                re = ws[ik, 0, lane]
                im = ws[ik, 1, lane]
                pr = ws[kk, 0, lane]
                pi = ws[kk, 1, lane]
                ws[ik, 0, lane] = re * pr - im * pi
                ws[ik, 1, lane] = re * pi + im * pr
            _eliminate(ws, a + i * r, ik, a + k * r, pattern[k], 2, 2 + right)
    # The left parts are final only now: later swaps move them.
    for i in range(r):
        right = pattern[i, 1]
        left = 0
        for j in range(i):
            if not _is_zero(ws, a + i * r + j):
                pattern[i, 2 + right + left] = j
                left += 1
        pattern[i, 0] = left


@numba.njit(**OPTIONS)
def _dot_subtract(ws, to, row, x, columns, first, last):
    """``ws[to] -= Σ_j ws[row + j] ws[x + j]`` over j in columns[first:last]."""
    q = first
    while q + 1 < last:
        a = row + columns[q]
        b = x + columns[q]
        c = row + columns[q + 1]
        d = x + columns[q + 1]
        for lane in range(LANES):
            ar = ws[a, 0, lane]
            ai = ws[a, 1, lane]
            br = ws[b, 0, lane]
            bi = ws[b, 1, lane]
            cr = ws[c, 0, lane]
            ci = ws[c, 1, lane]
            dr = ws[d, 0, lane]
            di = ws[d, 1, lane]
            ws[to, 0, lane] -= ar * br - ai * bi + (cr * dr - ci * di)
            ws[to, 1, lane] -= ar * bi + ai * br + (cr * di + ci * dr)
        q += 2
    if q < last:
        row_subtract(ws, to, row + columns[q], x + columns[q], 1)


@numba.njit(**OPTIONS)
def solve(ws, a, r, pivots, pattern, x):
    """Solve with the factors of `factor`; the right-hand side at slot x becomes the solution."""
    for k in range(r):
        for lane in range(LANES):
            p = x + pivots[k, lane]
            re = ws[p, 0, lane]
            im = ws[p, 1, lane]
            ws[p, 0, lane] = ws[x + k, 0, lane]
            ws[p, 1, lane] = ws[x + k, 1, lane]
            ws[x + k, 0, lane] = re
            ws[x + k, 1, lane] = im
    for i in range(r):
        right = pattern[i, 1]
        _dot_subtract(
            ws, x + i, a + i * r, x, pattern[i], 2 + right, 2 + right + pattern[i, 0]
        )
    for i in range(r - 1, -1, -1):
        _dot_subtract(ws, x + i, a + i * r, x, pattern[i], 2, 2 + pattern[i, 1])
        ii = a + i * r + i
        for lane in range(LANES):
            re = ws[x + i, 0, lane]
            im = ws[x + i, 1, lane]
            pr = ws[ii, 0, lane]
            pi = ws[ii, 1, lane]
            ws[x + i, 0, lane] = re * pr - im * pi
            ws[x + i, 1, lane] = re * pi + im * pr


def workspace(slots: int) -> np.ndarray:
    """An empty workspace of so many slots, aligned to a cache line.

    Alignment matters: vector loads that straddle lines cost up to a quarter of the speed.
    """
    length = slots * 2 * LANES
    raw = np.zeros(length + 8)
    shift = (-(raw.ctypes.data // 8)) % 8
    return raw[shift : shift + length].reshape(slots, 2, LANES)
