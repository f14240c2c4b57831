"""A revised simplex for the hull programs of a ReLU instance, compiled.

Columns are products: the column of a vertex or ray of unit i with activations u (m of them) is
W2[:, i] ⊗ u over a convexity entry.  So a row y·A of a tableau costs m + 1 products per column,
after d·m products per unit, while an explicit column has dm entries: with n = k = 12, q = m = 6,
d = 4 that is 3·10³ products for 300 columns, and a pivot on the inverse of the basis as many,
compared with 11·10³ for a pivot on a condensed tableau, whose copy for each child was ten times as
large.

Every row that the dual simplex selects is first combined with the units' convexity rows.  With
y·A x = y·b and Σ one·x = b over a unit's vertices,

    y·b ≤ Σ_units max (y·A_j / one_j) b_unit + Σ_rays (y·A_j) x_j,

so y refutes if the left side is larger and no y·A_j of a ray is positive: this is the Lagrangian
bound of `algebra.plugins.relu.arrangement`, which does not require every entry to have the right
sign. Rounding gives entries of about 1e-15 where rays have 0: y refutes with certainty if rays with
weights up to `FAR` do not close the gap.  Ratios follow Harris (1973), *Pivot selection methods of
the Devex LP code*; for the product form of the inverse see Chvátal (1983), *Linear Programming*,
chapter 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numeric.kernels import njit
from numeric.plugins.relu.simplex import FEASIBLE, NONE_YET, copy_matrix

# Least size of a pivot, relative to the largest entry of its row; the same directly after the
# inverse was recomputed.
PIVOT = 1e-6
_TINY = 1e-10
# Tolerance for negative reduced costs.
HARRIS = 1e-9
# Pivots after which the inverse is recomputed; tolerance between two computations of a pivot.
_OLD = 100
_DRIFT = 1e-7
# Weights of rays that cannot undo a refutation, and its gap, relative to |y|.
FAR = 1e8
GAP = 1e-7
# Entries of rays up to this share of |y| may be 0.
NOISE = 1e-12

INFEASIBLE, DOUBTFUL, OPTIMAL = 0, 1, 2

_SUMS = {"fastmath": {"reassoc", "contract", "nsz"}}


class FloatHullProgram(NamedTuple):
    """Rows and columns; the columns of a unit are consecutive.

    Attributes
    ----------
    columns : ndarray of float, shape (C, R)
        The columns, restricted to R independent rows.
    b : ndarray of float, shape (R,)
    rows : ndarray of int, shape (R,)
        Those rows' numbers among all dm + k: s·d + o, then dm + unit.
    first : ndarray of int, shape (k + 1,)
        Where the columns of each unit begin.
    activations : ndarray of float, shape (m, C)
    outputs : ndarray of float, shape (k, m, d)
        Column of W2 of each unit in the units of the rows.
    one : ndarray of float, shape (C,)
        Convexity entries, 0 for rays.
    total : ndarray of float, shape (k,)
        Right-hand sides of the convexity rows.
    costs : ndarray of float, shape (C,)
        Positive.
    unit : ndarray of int, shape (C,)
    signs : ndarray of int8, shape (C, m)
        Side of each hyperplane on which the column lies; 0 on it.
    """

    columns: np.ndarray
    b: np.ndarray
    rows: np.ndarray
    first: np.ndarray
    activations: np.ndarray
    outputs: np.ndarray
    one: np.ndarray
    total: np.ndarray
    costs: np.ndarray
    unit: np.ndarray
    signs: np.ndarray


class Basis(NamedTuple):
    """A basis and quantities computed from it.

    Attributes
    ----------
    inverse : ndarray of float, shape (R, R)
    beta : ndarray of float, shape (R,)
        Values of the basic columns.
    basic : ndarray of int, shape (R,)
    reduced : ndarray of float, shape (C,)
        Reduced costs.
    gone : ndarray of bool, shape (C,)
        Columns that must be 0.
    entered : ndarray of bool, shape (C,)
        Whether a column is basic.
    """

    inverse: np.ndarray
    beta: np.ndarray
    basic: np.ndarray
    reduced: np.ndarray
    gone: np.ndarray
    entered: np.ndarray


class SimplexBuffers(NamedTuple):
    """Arrays for intermediate results: shapes (C,), (dm + k,), (R,), (R, 2R)."""

    row: np.ndarray
    wide: np.ndarray
    column: np.ndarray
    both: np.ndarray


def make_simplex_buffers(rows: int, every: int, columns: int) -> SimplexBuffers:
    """Arrays for R independent rows out of `every`, and C columns."""
    return SimplexBuffers(
        np.zeros(columns), np.zeros(every), np.zeros(rows), np.zeros((rows, 2 * rows))
    )


@njit(**_SUMS)
def times_columns(program, y, buffers):
    """Write y·A of all columns to `buffers.row`; returns the largest |y|."""
    wide, row = buffers.wide, buffers.row
    largest = 0.0
    for x in range(len(y)):
        wide[program.rows[x]] = y[x]
        largest = max(largest, abs(y[x]))
    k, m, d = program.outputs.shape
    for i in range(k):
        low, high = program.first[i], program.first[i + 1]
        # Slices: indices that are known to be non-negative allow vectorized loops.
        own, one = row[low:high], program.one[low:high]
        entry = wide[d * m + i]
        for j in range(len(own)):
            own[j] = entry * one[j]
        for s in range(m):
            slope = 0.0
            for o in range(d):
                slope += wide[s * d + o] * program.outputs[i, s, o]
            active = program.activations[s, low:high]
            for j in range(len(own)):
                own[j] += slope * active[j]
    return largest


@njit(**_SUMS)
def _times_inverse(inverse, vector, out):
    """The product of the inverse with a vector."""
    for i in range(len(out)):
        total = 0.0
        for x in range(len(vector)):
            total += inverse[i, x] * vector[x]
        out[i] = total


@njit()
def invert(program, basis, costs, buffers):
    """Recompute inverse, values and reduced costs; False if the basis is singular."""
    basic, both = basis.basic, buffers.both
    rows = len(basic)
    both[:] = 0.0
    for c in range(rows):
        column = program.columns[basic[c]]
        for x in range(rows):
            both[x, c] = column[x]
        both[c, rows + c] = 1.0
    for c in range(rows):
        best = c
        for i in range(c + 1, rows):
            if abs(both[i, c]) > abs(both[best, c]):
                best = i
        if abs(both[best, c]) < 1e-12:
            return False
        if best != c:
            for x in range(c, 2 * rows):
                both[c, x], both[best, x] = both[best, x], both[c, x]
        p = 1.0 / both[c, c]
        for x in range(c, 2 * rows):
            both[c, x] *= p
        for i in range(rows):
            f = both[i, c]
            if i != c and f != 0.0:
                for x in range(c, 2 * rows):
                    both[i, x] -= f * both[c, x]
    copy_matrix(both[:, rows:], basis.inverse)
    _times_inverse(basis.inverse, program.b, basis.beta)
    y = both[0]
    y[:] = 0.0
    for i in range(rows):
        for x in range(rows):
            y[x] += costs[basic[i]] * basis.inverse[i, x]
    times_columns(program, y[:rows], buffers)
    for j in range(len(costs)):
        basis.reduced[j] = 0.0 if basis.entered[j] else costs[j] - buffers.row[j]
    return True


@njit()
def _refutes(program, basis, y, sign, largest, buffers):
    """1 if the row y·A x = y·b certainly has no solution, 0 if this depends on rounding, else -1.

    `buffers.row` holds y·A; `sign` makes y·b positive.
    """
    value, falling, unclear = 0.0, 0.0, 0.0
    for x in range(len(y)):
        value += y[x] * program.b[x]
    value *= sign
    for i in range(len(program.total)):
        most = -np.inf
        for j in range(program.first[i], program.first[i + 1]):
            if basis.gone[j]:
                continue
            a = sign * buffers.row[j]
            if program.one[j] > 0.0:
                a /= program.one[j]
                most = max(most, a)
            elif a > 0.0:
                if a > NOISE * largest:
                    return -1
                unclear += a
        if most == -np.inf:
            return 1
        falling += most * program.total[i]
    gap = value - falling
    if gap > GAP * largest + FAR * unclear:
        return 1
    return 0 if gap > 0.0 else -1


@njit()
def _entering(basis, row, sign, share):
    """Column that enters for a row, -1 if none can.

    Harris' test: among the columns that change no reduced cost by more than a tolerance, the one
    with the largest entry.
    """
    gone, entered, reduced = basis.gone, basis.entered, basis.reduced
    largest = 1.0
    for j in range(len(row)):
        size = abs(row[j])
        if size > largest and not (gone[j] or entered[j]):
            largest = size
    bound, pivot = np.inf, share * largest
    for j in range(len(row)):
        a = sign * row[j]
        if a > pivot and not (gone[j] or entered[j]):
            bound = min(bound, (max(reduced[j], 0.0) + HARRIS) / a)
    best, entry = -1, pivot
    for j in range(len(row)):
        a = sign * row[j]
        if a > entry and not (gone[j] or entered[j]) and max(reduced[j], 0.0) <= bound * a:
            best, entry = j, a
    return best


@njit(**_SUMS)
def _exchange(basis, r, j, row, column):
    """Column j replaces the r-th basic one; `row` is the tableau's row, `column` its column."""
    inverse, beta, basic, reduced = basis.inverse, basis.beta, basis.basic, basis.reduced
    rows = len(basic)
    p = 1.0 / column[r]
    for x in range(rows):
        inverse[r, x] *= p
    beta[r] *= p
    for i in range(rows):
        f = column[i]
        if i != r and f != 0.0:
            for x in range(rows):
                inverse[i, x] -= f * inverse[r, x]
            beta[i] -= f * beta[r]
    step = reduced[j] / row[j]
    for c in range(len(row)):
        reduced[c] -= step * row[c]
    for i in range(rows):
        reduced[basic[i]] = 0.0
    leaving = basic[r]
    reduced[leaving] = -step
    reduced[j] = 0.0
    basis.entered[leaving] = False
    basis.entered[j] = True
    basic[r] = j


@njit()
def dual_simplex(program, basis, costs, age, limit, buffers):
    """Make a dual feasible basis primal feasible.

    `age` counts pivots since the inverse was recomputed.

    Returns (`INFEASIBLE`, `DOUBTFUL` or `OPTIMAL`, age, the row that refutes, or -1).
    """
    beta, basic, gone = basis.beta, basis.basic, basis.gone
    for _ in range(limit):
        if age > _OLD:
            if not invert(program, basis, costs, buffers):
                return DOUBTFUL, age, -1
            age = 0
        r, worst = NONE_YET, FEASIBLE
        for i in range(len(basic)):
            size = abs(beta[i]) if gone[basic[i]] else -beta[i]
            if size > worst:
                worst, r = size, i
        if r < 0:
            return OPTIMAL, age, -1
        sign = 1.0 if beta[r] > 0 else -1.0
        y = basis.inverse[r]
        largest = times_columns(program, y, buffers)
        clear = _refutes(program, basis, y, sign, largest, buffers)
        if clear == 1:
            return INFEASIBLE, age, r
        j = _entering(basis, buffers.row, sign, PIVOT)
        if j < 0 and age == 0:
            j = _entering(basis, buffers.row, sign, _TINY)
            if j < 0:
                return DOUBTFUL, age, -1
        if j >= 0:
            _times_inverse(basis.inverse, program.columns[j], buffers.column)
            drift = abs(buffers.column[r] - buffers.row[j])
            if age > 0 and drift > _DRIFT * abs(buffers.row[j]):
                j = -1
        if j < 0:
            # Rounding must not decide: repeat with a recomputed inverse.
            age = _OLD + 1
            continue
        _exchange(basis, r, j, buffers.row, buffers.column)
        age += 1
    return DOUBTFUL, age, -1
