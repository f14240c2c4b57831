"""Complex linear algebra for many problems at once, in vector lanes.

The data of a batch of `LANES` problems of the same shape are stored in one workspace
``ws[slot, part, lane]`` (float64; part 0 real, 1 imaginary); a matrix is a range of slots,
row by row.  Every inner loop runs over the lanes, so the compiler generates vector
instructions for all matrix sizes, without any reassociation of sums.

The functions are numba kernels: plain loops, offsets instead of views.
"""

from __future__ import annotations

import numpy as np

from numeric.equations.lanes.simd import (
    LANES,
    TILE,
    dot_add,
    invert_slot,
    is_zero,
    list_dot_subtract,
    list_eliminate,
    scale_slots,
    set_square,
    take_larger,
    tile_dot_add,
)
from numeric.kernels import njit

# Contraction to fused multiply-add changes only rounding; no other fast-math
# assumption is made (NaN and infinity must be preserved so that they are detected).
OPTIONS = {"nogil": True, "fastmath": {"contract"}}

# Rows are not swapped if the diagonal is within this factor of the largest candidate:
# swaps differ between lanes, and growth stays harmless (threshold pivoting).
PIVOT_THRESHOLD = 0.2
_PIVOT_SQUARE = PIVOT_THRESHOLD * PIVOT_THRESHOLD


@njit(**OPTIONS)
def clear(ws, at, count):
    """``ws[at : at + count] = 0``."""
    for i in range(at, at + count):
        for lane in range(LANES):
            ws[i, 0, lane] = 0.0
            ws[i, 1, lane] = 0.0


@njit(**OPTIONS)
def copy(ws, to, at, count):
    """``ws[to : to + count] = ws[at : at + count]``."""
    for i in range(count):
        for lane in range(LANES):
            ws[to + i, 0, lane] = ws[at + i, 0, lane]
            ws[to + i, 1, lane] = ws[at + i, 1, lane]


@njit(**OPTIONS)
def dots_add(ws, c, c_step, a, a_stride, b, b_step, b_stride, count, dots):
    """Dot products with a common factor, from slots b, b + b_step, … into c, c + c_step, …

    ``ws[c + t c_step] += Σ_q ws[a + q a_stride] * ws[b + t b_step + q b_stride]`` for t < dots, q
    from 0 to count − 1.
    """
    t = 0
    while t + TILE <= dots:
        tile_dot_add(
            ws, c + t * c_step, c_step, a, a_stride, b + t * b_step, b_step, b_stride, count
        )
        t += TILE
    while t < dots:
        dot_add(ws, c + t * c_step, a, a_stride, b + t * b_step, b_stride, count)
        t += 1


@njit(**OPTIONS)
def factor(ws, a, r, pivots, pattern, scratch):
    """LU factors of the r×r matrix at slot a, in place, rows pivoted lane by lane.

    Entries that are zero in every lane are skipped, so that the cost of sparse matrices depends
    on their fill-in.

    Parameters
    ----------
    ws : ndarray
    a, r : int
    pivots : ndarray of int64, shape (r, LANES)
        Output: row swapped with row k at step k.
    pattern : ndarray of int64, shape (r, r + 2)
        Output: for each row the number of non-zeros left of the diagonal, the number right of
        it, and their columns.
    scratch : int
        One free slot.  The inverse of each pivot is stored on the diagonal.
    """
    for k in range(r):
        kk = a + k * r + k
        set_square(ws, scratch, kk)
        for lane in range(LANES):
            pivots[k, lane] = k
        swap = False
        for i in range(k + 1, r):
            swap |= take_larger(ws, a + i * r + k, scratch, _PIVOT_SQUARE, pivots, k, i)
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
        invert_slot(ws, kk)
        right = 0
        for j in range(k + 1, r):
            if not is_zero(ws, a + k * r + j):
                pattern[k, 2 + right] = j
                right += 1
        pattern[k, 1] = right
        for i in range(k + 1, r):
            ik = a + i * r + k
            if is_zero(ws, ik):
                continue
            scale_slots(ws, ik, 1, kk)
            list_eliminate(ws, a + i * r, ik, a + k * r, pattern[k], 2, 2 + right)
    # The left parts are final only now: later swaps move them.
    for i in range(r):
        right = pattern[i, 1]
        left = 0
        for j in range(i):
            if not is_zero(ws, a + i * r + j):
                pattern[i, 2 + right + left] = j
                left += 1
        pattern[i, 0] = left


@njit(**OPTIONS)
def solve_factored(ws, a, r, pivots, pattern, x):
    """Solve with the factors of `factor`; the right-hand side at slot x is overwritten."""
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
        list_dot_subtract(ws, x + i, a + i * r, x, pattern[i], 2 + right, 2 + right + pattern[i, 0])
    for i in range(r - 1, -1, -1):
        list_dot_subtract(ws, x + i, a + i * r, x, pattern[i], 2, 2 + pattern[i, 1])
        scale_slots(ws, x + i, 1, a + i * r + i)


def workspace(slots: int) -> np.ndarray:
    """A workspace of zeros with this number of slots, aligned to a cache line.

    Vector loads that straddle cache lines would be up to a quarter slower.
    """
    length = slots * 2 * LANES
    raw = np.zeros(length + 8)
    shift = (-(raw.ctypes.data // 8)) % 8
    return raw[shift : shift + length].reshape(slots, 2, LANES)
