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
def matmul_add(ws, c, a, b, n, k, m):
    """``C += A B`` with A n×k and B k×m, row by row at slots c, a, b."""
    half = k // 2
    for i in range(n):
        for q in range(half):
            a0 = a + i * k + 2 * q
            b0 = b + 2 * q * m
            for s in range(m):
                ci = c + i * m + s
                x0 = b0 + s
                x1 = b0 + m + s
                for lane in range(LANES):
                    ar = ws[a0, 0, lane]
                    ai = ws[a0, 1, lane]
                    dr = ws[a0 + 1, 0, lane]
                    di = ws[a0 + 1, 1, lane]
                    br = ws[x0, 0, lane]
                    bi = ws[x0, 1, lane]
                    er = ws[x1, 0, lane]
                    ei = ws[x1, 1, lane]
                    ws[ci, 0, lane] += ar * br - ai * bi + (dr * er - di * ei)
                    ws[ci, 1, lane] += ar * bi + ai * br + (dr * ei + di * er)
        if 2 * half < k:
            row_add(ws, c + i * m, a + i * k + k - 1, b + (k - 1) * m, m)


@numba.njit(**OPTIONS)
def factor(ws, a, r, pivots, scratch):
    """LU factors of the r×r matrix at slot a, in place, rows pivoted lane by lane.

    Parameters
    ----------
    ws : ndarray
    a, r : int
    pivots : ndarray of int64, shape (r, LANES)
        Out: row swapped with row k at step k.  Rows with a zero in the pivot column of every
        lane are skipped, so sparse patterns pay off.
    scratch : int
        Two free slots.  The inverse of each pivot is left on the diagonal.
    """
    for k in range(r):
        kk = a + k * r + k
        for lane in range(LANES):
            pr = ws[kk, 0, lane]
            pi = ws[kk, 1, lane]
            ws[scratch, 0, lane] = pr * pr + pi * pi
            pivots[k, lane] = k
        for i in range(k + 1, r):
            ik = a + i * r + k
            for lane in range(LANES):
                pr = ws[ik, 0, lane]
                pi = ws[ik, 1, lane]
                size = pr * pr + pi * pi
                if size * (PIVOT_THRESHOLD * PIVOT_THRESHOLD) > ws[scratch, 0, lane]:
                    # A first swap costs the threshold; further ones must simply be larger.
                    pivots[k, lane] = i
                    ws[scratch, 0, lane] = size / (PIVOT_THRESHOLD * PIVOT_THRESHOLD)
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
        for i in range(k + 1, r):
            ik = a + i * r + k
            total = 0.0
            for lane in range(LANES):
                total = max(total, abs(ws[ik, 0, lane]), abs(ws[ik, 1, lane]))
            if total == 0.0:
                continue
            for lane in range(LANES):
                re = ws[ik, 0, lane]
                im = ws[ik, 1, lane]
                pr = ws[kk, 0, lane]
                pi = ws[kk, 1, lane]
                ws[ik, 0, lane] = re * pr - im * pi
                ws[ik, 1, lane] = re * pi + im * pr
            row_subtract(ws, ik + 1, ik, kk + 1, r - k - 1)


@numba.njit(**OPTIONS)
def solve(ws, a, r, pivots, x):
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
    for i in range(1, r):
        for j in range(i):
            row_subtract(ws, x + i, a + i * r + j, x + j, 1)
    for i in range(r - 1, -1, -1):
        for j in range(i + 1, r):
            row_subtract(ws, x + i, a + i * r + j, x + j, 1)
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
