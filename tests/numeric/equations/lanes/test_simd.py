"""Every vector instruction against complex arithmetic in numpy, lane by lane."""

from fractions import Fraction

import numba
import numpy as np
import pytest

from numeric.equations.lanes import simd
from numeric.equations.lanes.linalg import LANES, dots_add, workspace

SLOTS = 40


@numba.njit
def _dot_add(ws, c, a, sa, b, sb, n):
    simd.dot_add(ws, c, a, sa, b, sb, n)


@numba.njit
def _list_dot_subtract(ws, c, row, x, columns, first, last):
    simd.list_dot_subtract(ws, c, row, x, columns, first, last)


@numba.njit
def _list_eliminate(ws, row, f, pivot, columns, first, last):
    simd.list_eliminate(ws, row, f, pivot, columns, first, last)


@numba.njit
def _horner(ws, to, base, stride, order, h):
    simd.horner(ws, to, base, stride, order, h)


@numba.njit
def _conjugate_dot(ws, c, a, b, n):
    simd.conjugate_dot(ws, c, a, b, n)


@numba.njit
def _scale_slots(ws, at, n, f):
    simd.scale_slots(ws, at, n, f)


@numba.njit
def _tile_dot_add(ws, c, sc, a, sa, b, tb, sb, n):
    simd.tile_dot_add(ws, c, sc, a, sa, b, tb, sb, n)


@numba.njit
def _equilibrate(ws, row, count, columns, own):
    simd.equilibrate(ws, row, count, columns, own)


@numba.njit
def _invert_slot(ws, at):
    simd.invert_slot(ws, at)


@numba.njit
def _set_square(ws, to, at):
    simd.set_square(ws, to, at)


@numba.njit
def _take_larger(ws, at, best, share, pivots, k, i):
    return simd.take_larger(ws, at, best, share, pivots, k, i)


@numba.njit
def _is_zero(ws, at):
    return simd.is_zero(ws, at)


@pytest.fixture
def random_slots():
    """A random workspace, and the same numbers as complex ones (slots × lanes)."""
    ws = workspace(SLOTS)
    ws[:] = np.random.default_rng(0).standard_normal(ws.shape)
    return ws, ws[:, 0] + 1j * ws[:, 1]


def check(ws, z):
    """All slots hold the expected values, those not written to included."""
    found = ws[:, 0] + 1j * ws[:, 1]
    assert np.allclose(found, z, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("sa", "sb", "n"), [(1, 1, 5), (3, -2, 4), (1, 1, 0), (0, 2, 1)])
def test_dot_add(random_slots, sa, sb, n):
    """A dot product over any strides is added; an empty one adds nothing."""
    ws, z = random_slots
    for q in range(n):
        z[0] = z[0] + z[5 + q * sa] * z[30 + q * sb]
    _dot_add(ws, 0, 5, sa, 30, sb, n)
    check(ws, z)


@pytest.mark.parametrize(("sa", "sb", "n"), [(1, 1, 5), (3, -2, 4), (1, 1, 0), (0, 2, 1)])
def test_tile_dot_add(random_slots, sa, sb, n):
    """Dot products with a common factor, as one by one."""
    ws, z = random_slots
    for t in range(simd.TILE):
        for q in range(n):
            z[2 * t] = z[2 * t] + z[7 + q * sa] * z[30 + t + q * sb]
    _tile_dot_add(ws, 0, 2, 7, sa, 30, 1, sb, n)
    check(ws, z)


@pytest.mark.parametrize("dots", [0, 1, 2, 3, 5])
def test_dots_add(random_slots, dots):
    """Any number of dot products is added, in full and partial tiles."""
    ws, z = random_slots
    for t in range(dots):
        for q in range(4):
            z[t] = z[t] + z[7 + q] * z[12 + 5 * t + q]
    dots_add(ws, 0, 1, 7, 1, 12, 5, 1, 4, dots)
    check(ws, z)


def test_list_dot_subtract(random_slots):
    """A dot product over listed columns is subtracted."""
    ws, z = random_slots
    columns = np.array([9, 0, 2, 5, 7])
    z[1] = z[1] - sum(z[10 + j] * z[20 + j] for j in columns[1:4])
    _list_dot_subtract(ws, 1, 10, 20, columns, 1, 4)
    check(ws, z)


def test_list_eliminate(random_slots):
    """A multiple of the pivot row is subtracted in the listed columns only."""
    ws, z = random_slots
    columns = np.array([1, 4, 6])
    for j in columns:
        z[10 + j] = z[10 + j] - z[2] * z[20 + j]
    _list_eliminate(ws, 10, 2, 20, columns, 0, 3)
    check(ws, z)


def test_horner(random_slots):
    """A polynomial's value, at another real point in every lane."""
    ws, z = random_slots
    h = np.linspace(-1, 2, LANES)
    z[0] = sum(z[5 + 3 * j] * h**j for j in range(5))
    _horner(ws, 0, 5, 3, 4, h)
    check(ws, z)


def test_conjugate_dot(random_slots):
    """The Hermitian product, conjugate in its first factor."""
    ws, z = random_slots
    z[0] = (z[5:11].conj() * z[20:26]).sum(axis=0)
    _conjugate_dot(ws, 0, 5, 20, 6)
    check(ws, z)


def test_scale_slots(random_slots):
    """Slots are multiplied by one slot."""
    ws, z = random_slots
    z[5:9] = z[5:9] * z[30]
    _scale_slots(ws, 5, 4, 30)
    check(ws, z)


def test_equilibrate(random_slots):
    """Rows are multiplied by real column factors, then divided by their largest entry."""
    ws, z = random_slots
    row = z[5:9] * z[20:24].real
    size = np.abs(row).max(axis=0)
    z[5:9], z[1] = row / size, 1 / size + 1j * z[1].imag
    _equilibrate(ws, 5, 4, 20, 1)
    check(ws, z)


def test_inverse_and_square(random_slots):
    """The inverse and the square of one slot are those of numpy."""
    ws, z = random_slots
    z[3], z[4] = 1 / z[3], np.abs(z[6]) ** 2 + 1j * z[4].imag
    _invert_slot(ws, 3)
    _set_square(ws, 4, 6)
    check(ws, z)


def test_take_larger(random_slots):
    """The first choice must be larger by the share, the next only larger; lane by lane."""
    ws, z = random_slots
    pivots = np.zeros((3, LANES), np.int64)
    rows, share = range(10, 20), 0.25
    _set_square(ws, 0, 9)
    best, chosen = np.abs(z[9]) ** 2, np.zeros(LANES, int)
    for i in rows:
        size = share * np.abs(z[i]) ** 2
        assert _take_larger(ws, i, 0, share, pivots, 1, i) == (size > best).any()
        chosen, best = np.where(size > best, i, chosen), np.maximum(size, best)
    assert pivots[1].tolist() == chosen.tolist()
    assert (chosen > 0).sum() > 0
    assert not pivots[[0, 2]].any()


def test_is_zero(random_slots):
    """A slot is zero if both parts are zero in all lanes; NaN counts as nonzero."""
    ws, _ = random_slots
    ws[4] = 0.0
    assert _is_zero(ws, 4)
    ws[4, 0, 2] = -0.0
    assert _is_zero(ws, 4)
    for value in (1e-300, np.nan):
        ws[4] = 0.0
        ws[4, 1, LANES - 1] = value
        assert not _is_zero(ws, 4)


def test_pairs_carry_thirty_digits():
    """Sums and products of pairs of doubles agree with rationals; doubles lose all digits."""
    rng = np.random.default_rng(1)
    n, low = 6, 20
    ws = workspace(2 * low)
    ws[1 : 1 + n] = rng.standard_normal((n, 2, LANES)) * 1e8
    ws[7 : 7 + n] = rng.standard_normal((n, 2, LANES))
    ws[low + 1 : low + 1 + n] = rng.standard_normal((n, 2, LANES)) * 1e-9
    exact = [0, 0]
    for k in range(n):
        ar, ai = (Fraction(ws[1 + k, p, 4]) + Fraction(ws[low + 1 + k, p, 4]) for p in (0, 1))
        br, bi = (Fraction(ws[7 + k, p, 4]) for p in (0, 1))
        exact[0] += ar * br - ai * bi
        exact[1] += ar * bi + ai * br
    ws[13, 0, :], ws[13, 1, :] = -float(exact[0]), -float(exact[1])
    _pairs(ws, low, n)
    for part in (0, 1):
        rest = exact[part] - Fraction(float(exact[part]))
        got = Fraction(ws[0, part, 4]) + Fraction(ws[low, part, 4])
        assert abs(got - rest) < 1e-20
    t = np.linspace(0.1, 0.9, LANES)
    _line(ws, t, low)
    want = Fraction(ws[1, 0, 4]) + Fraction(t[4]) * Fraction(ws[7, 0, 4])
    assert abs(Fraction(ws[0, 0, 4]) + Fraction(ws[low, 0, 4]) - want) < 1e-20


@numba.njit
def _pairs(ws, low, n):
    simd.pair_dot_add(ws, 0, 1, 1, 7, 1, n, low)
    simd.pair_add(ws, 0, 13, low)


@numba.njit
def _line(ws, t, low):
    simd.pair_line(ws, 0, 1, 7, t, low)
