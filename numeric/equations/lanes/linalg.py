"""Complex linear algebra for many problems at once, in vector lanes.

The data of a batch of `LANES` problems of the same shape are stored in one workspace
``ws[slot, part, lane]`` (float64; part 0 real, 1 imaginary); a matrix is a range of slots,
row by row.  Every inner loop runs over the lanes, so the compiler generates vector
instructions for all matrix sizes, without any reassociation of sums.

The functions are numba kernels: plain loops, offsets instead of views.
"""

from __future__ import annotations

import math

import numpy as np

from numeric.equations.lanes.simd import (
    LANES,
    TILE,
    copy_slots,
    dot_add,
    invert_slot,
    is_zero,
    list_dot_subtract,
    list_eliminate,
    pair_add,
    pair_list_dot_subtract,
    pair_list_eliminate,
    pair_multiply,
    scale_real,
    scale_slots,
    set_slots,
    set_square,
    take_larger,
    tile_dot_add,
)
from numeric.kernels import INNER, njit

# Contraction to fused multiply-add changes only rounding; no other fast-math
# assumption is made (NaN and infinity must be preserved so that they are detected).
OPTIONS = {"nogil": True, "fastmath": {"contract"}}

# Rows are not swapped if the diagonal is within this factor of the largest candidate:
# swaps differ between lanes, and growth stays harmless (threshold pivoting).
PIVOT_THRESHOLD = 0.2
_PIVOT_SQUARE = PIVOT_THRESHOLD * PIVOT_THRESHOLD


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


@njit(**OPTIONS, **INNER)
def _choose_pivots(ws, a, r, pivots, k, scratch):
    """Choose the row that is swapped with row k, lane by lane; returns whether any is."""
    set_square(ws, scratch, a + k * r + k)
    for lane in range(LANES):
        pivots[k, lane] = k
    swap = False
    for i in range(k + 1, r):
        swap |= take_larger(ws, a + i * r + k, scratch, _PIVOT_SQUARE, pivots, k, i)
    return swap


@njit(**OPTIONS, **INNER)
def _swap(ws, a, r, pivots, k):
    """Swap row k with its pivot's row, lane by lane."""
    for lane in range(LANES):
        p = pivots[k, lane]
        if p != k:
            for j in range(r):
                s = a + k * r + j
                t = a + p * r + j
                for part in range(2):
                    value = ws[s, part, lane]
                    ws[s, part, lane] = ws[t, part, lane]
                    ws[t, part, lane] = value


@njit(**OPTIONS, **INNER)
def _list_right(ws, a, r, pattern, k):
    """Write the non-zeros of row k right of the diagonal to the pattern; returns their number."""
    right = 0
    for j in range(k + 1, r):
        if not is_zero(ws, a + k * r + j):
            pattern[k, 2 + right] = j
            right += 1
    pattern[k, 1] = right
    return right


@njit(**OPTIONS, **INNER)
def _list_left(ws, a, r, pattern):
    """Write the non-zeros left of the diagonal, final only at the end: swaps move them."""
    for i in range(r):
        right = pattern[i, 1]
        left = 0
        for j in range(i):
            if not is_zero(ws, a + i * r + j):
                pattern[i, 2 + right + left] = j
                left += 1
        pattern[i, 0] = left


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
        if _choose_pivots(ws, a, r, pivots, k, scratch):
            _swap(ws, a, r, pivots, k)
        invert_slot(ws, kk)
        right = _list_right(ws, a, r, pattern, k)
        for i in range(k + 1, r):
            ik = a + i * r + k
            if is_zero(ws, ik):
                continue
            scale_slots(ws, ik, 1, kk)
            list_eliminate(ws, a + i * r, ik, a + k * r, pattern[k], 2, 2 + right)
    _list_left(ws, a, r, pattern)


@njit(**OPTIONS, **INNER)
def _permute(ws, r, pivots, x):
    """The row swaps of `factor`, of a right-hand side."""
    for k in range(r):
        _swap(ws, x, np.int64(1), pivots, k)


@njit(**OPTIONS)
def solve_factored(ws, a, r, pivots, pattern, x):
    """Solve with the factors of `factor`; the right-hand side at slot x is overwritten."""
    _permute(ws, r, pivots, x)
    for i in range(r):
        right = pattern[i, 1]
        list_dot_subtract(ws, x + i, a + i * r, x, pattern[i], 2 + right, 2 + right + pattern[i, 0])
    for i in range(r - 1, -1, -1):
        list_dot_subtract(ws, x + i, a + i * r, x, pattern[i], 2, 2 + pattern[i, 1])
        scale_slots(ws, x + i, 1, a + i * r + i)


@njit(**OPTIONS, **INNER)
def power_of_two(x):
    """A power of two near x > 0: a product with it is not rounded."""
    return math.ldexp(1.0, math.frexp(x)[1])


@njit(**OPTIONS, **INNER)
def _equilibrate_pairs(ws, a, r, scales, low):
    """Scale a matrix of pairs by powers of two near its columns' units, then each row to about 1.

    The factors replace the units of the columns; those of the rows follow them.
    """
    columns, rows = scales, scales + r
    for j in range(r):
        for lane in range(LANES):
            ws[columns + j, 0, lane] = power_of_two(ws[columns + j, 0, lane])
    for i in range(r):
        for lane in range(LANES):
            largest = 1e-300
            for j in range(r):
                s = a + i * r + j
                size = abs(ws[s, 0, lane]) + abs(ws[s, 1, lane])
                largest = max(largest, size * ws[columns + j, 0, lane])
            ws[rows + i, 0, lane] = 1.0 / power_of_two(largest)
        for j in range(r):
            s = a + i * r + j
            for part in range(2):
                for lane in range(LANES):
                    scale = ws[rows + i, 0, lane] * ws[columns + j, 0, lane]
                    ws[s, part, lane] *= scale
                    ws[s + low, part, lane] *= scale


@njit(**OPTIONS, **INNER)
def _invert_pair(ws, at, scratch, low):
    """``ws[at] = 1 / ws[at]`` in pairs: a step of Newton's method from the inverse in doubles."""
    copy_slots(ws, scratch, at, 1)
    set_slots(ws, scratch + low, 1, 0.0)
    invert_slot(ws, scratch)
    # The residual 1 - z y, negated.
    copy_slots(ws, scratch + 1, at, 1)
    copy_slots(ws, scratch + 1 + low, at + low, 1)
    pair_multiply(ws, scratch + 1, scratch, low)
    for lane in range(LANES):
        error = (ws[scratch + 1, 0, lane] - 1.0) + ws[scratch + 1 + low, 0, lane]
        ws[scratch + 1, 0, lane] = -error
        ws[scratch + 1, 1, lane] *= -1.0
    scale_slots(ws, scratch + 1, 1, scratch)
    pair_add(ws, scratch, scratch + 1, low)
    copy_slots(ws, at, scratch, 1)
    copy_slots(ws, at + low, scratch + low, 1)


@njit(**OPTIONS)
def factor_pairs(ws, a, r, scales, pivots, pattern, scratch, low):
    """`factor` in pairs of doubles, of the matrix scaled by powers of two.

    With factors in doubles a linear system of condition 10^16 has no solution, not even by
    iterative refinement; with these one of condition 10^28 has.

    Parameters
    ----------
    scales : int
        Slots of the columns' units, which are rounded to powers of two, then of the rows' factors.
    scratch : int
        Two free slots for pairs.
    low : int
        Offset of low parts.
    """
    _equilibrate_pairs(ws, a, r, scales, low)
    for k in range(r):
        kk = a + k * r + k
        if _choose_pivots(ws, a, r, pivots, k, scratch):
            _swap(ws, a, r, pivots, k)
            _swap(ws, a + low, r, pivots, k)
        _invert_pair(ws, kk, scratch, low)
        right = _list_right(ws, a, r, pattern, k)
        for i in range(k + 1, r):
            ik = a + i * r + k
            if is_zero(ws, ik):
                continue
            pair_multiply(ws, ik, kk, low)
            pair_list_eliminate(ws, a + i * r, ik, a + k * r, pattern[k], 2, 2 + right, low)
    _list_left(ws, a, r, pattern)


@njit(**OPTIONS)
def solve_factored_pairs(ws, a, r, scales, pivots, pattern, x, low):
    """Solve with the factors of `factor_pairs`; the right-hand side at slot x is overwritten."""
    for part in (0, low):
        scale_real(ws, x + part, x + part, scales + r, r)
        _permute(ws, r, pivots, x + part)
    for i in range(r):
        row, right = a + i * r, pattern[i, 1]
        first = 2 + right
        pair_list_dot_subtract(ws, x + i, row, x, pattern[i], first, first + pattern[i, 0], low)
    for i in range(r - 1, -1, -1):
        row = a + i * r
        pair_list_dot_subtract(ws, x + i, row, x, pattern[i], 2, 2 + pattern[i, 1], low)
        pair_multiply(ws, x + i, row + i, low)
    for part in (0, low):
        scale_real(ws, x + part, x + part, scales, r)


def workspace(slots: int) -> np.ndarray:
    """A workspace of zeros with this number of slots, aligned to a cache line.

    Vector loads that straddle cache lines would be up to a quarter slower.
    """
    length = slots * 2 * LANES
    raw = np.zeros(length + 8)
    shift = (-(raw.ctypes.data // 8)) % 8
    return raw[shift : shift + length].reshape(slots, 2, LANES)
