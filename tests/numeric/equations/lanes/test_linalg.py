"""Lane kernels against numpy."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from numeric.equations.lanes.linalg import (
    LANES,
    dots_add,
    factor,
    factor_pairs,
    solve_factored,
    solve_factored_pairs,
    workspace,
)


def fill(ws, at, values):
    """Write complex values (count, LANES) into slots."""
    ws[at : at + len(values), 0] = values.real
    ws[at : at + len(values), 1] = values.imag


def read(ws, at, count):
    """Complex values of slots."""
    return ws[at : at + count, 0] + 1j * ws[at : at + count, 1]


def gaussian(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@pytest.mark.parametrize(("n", "k", "m"), [(1, 1, 1), (3, 4, 2), (2, 5, 3)])
def test_products_of_matrices(n, k, m):
    """Rows of dot products are numpy's products, lane by lane, odd and even inner sizes."""
    rng = np.random.default_rng(0)
    A, B = gaussian(rng, n * k, LANES), gaussian(rng, k * m, LANES)
    ws = workspace(n * k + k * m + n * m)
    fill(ws, 0, A)
    fill(ws, n * k, B)
    for i in range(n):
        dots_add(ws, n * k + k * m + i * m, 1, i * k, 1, n * k, 1, m, k, m)
    C = read(ws, n * k + k * m, n * m)
    for lane in range(LANES):
        expected = A[:, lane].reshape(n, k) @ B[:, lane].reshape(k, m)
        assert np.allclose(C[:, lane].reshape(n, m), expected)


@pytest.mark.parametrize("density", [0.2, 1.0])
@pytest.mark.parametrize("r", [1, 2, 7, 16])
def test_factor_and_solve(r, density):
    """Solutions agree with numpy for full and sparse matrices that need pivoting."""
    rng = np.random.default_rng(r)
    pattern = rng.random((r, r)) < density
    # A shuffled diagonal keeps the sparse matrices regular and the natural pivots zero.
    pattern[np.arange(r), np.roll(np.arange(r), 1)] = True
    A = gaussian(rng, r, r, LANES) * pattern[..., None]
    A[np.arange(r), np.roll(np.arange(r), 1)] += 3.0
    b = gaussian(rng, r, LANES)
    ws = workspace(r * r + r + 1)
    fill(ws, 0, A.reshape(r * r, LANES))
    fill(ws, r * r, b)
    pivots = np.zeros((r, LANES), np.int64)
    columns = np.zeros((r, r + 2), np.int64)
    factor(ws, 0, r, pivots, columns, r * r + r)
    solve_factored(ws, 0, r, pivots, columns, r * r)
    x = read(ws, r * r, r)
    for lane in range(LANES):
        assert np.allclose(A[..., lane] @ x[:, lane], b[:, lane], atol=1e-9)


def test_factors_in_pairs_solve_systems_of_condition_10_to_the_20():
    """Hilbert matrices with columns of very different sizes, against fractions."""
    r = 14
    ws, low = workspace(2 * (r * r + r + 2) + 2 * r), r * r + r + 2
    scales = 2 * low
    exact = fmpq_mat(r, r, [fmpq(1, i + j + 1) for i in range(r) for j in range(r)])
    A, sizes = np.zeros((2, r, r)), 4.0 ** np.arange(r)
    for i, j in np.ndindex(r, r):
        A[0, i, j] = float(Fraction(1, i + j + 1))
        A[1, i, j] = float(Fraction(1, i + j + 1) - Fraction(A[0, i, j]))
    rng = np.random.default_rng(0)
    turns = np.exp(2j * np.pi * rng.integers(0, 4, LANES) / 4).round()
    b = rng.integers(-9, 10, (r, LANES))
    for part in (0, 1):
        fill(ws, part * low, (A[part] * sizes).reshape(-1, 1) * turns)
    fill(ws, r * r, b + 0j)
    fill(ws, scales, np.repeat(1 / sizes[:, None], LANES, axis=1) + 0j)
    pivots, columns = np.zeros((r, LANES), np.int64), np.zeros((r, r + 2), np.int64)
    factor_pairs(ws, 0, r, scales, pivots, columns, r * r + r, low)
    solve_factored_pairs(ws, 0, r, scales, pivots, columns, r * r, low)
    x = read(ws, r * r, r)
    for lane in range(LANES):
        wanted = exact.solve(fmpq_mat(r, 1, b[:, lane].tolist())).entries()
        wanted = np.array([float(Fraction(int(z.p), int(z.q))) for z in wanted]) / sizes
        assert np.allclose(x[:, lane] * turns[lane], wanted, rtol=1e-9, atol=0)


def test_a_singular_lane_leaves_the_others_alone():
    """A zero matrix in one lane gives no number there and correct numbers elsewhere."""
    rng = np.random.default_rng(1)
    A = gaussian(rng, 2, 2, LANES)
    A[..., 3] = 0
    b = gaussian(rng, 2, LANES)
    ws = workspace(7)
    fill(ws, 0, A.reshape(4, LANES))
    fill(ws, 4, b)
    pivots, columns = np.zeros((2, LANES), np.int64), np.zeros((2, 4), np.int64)
    factor(ws, 0, 2, pivots, columns, 6)
    solve_factored(ws, 0, 2, pivots, columns, 4)
    x = read(ws, 4, 2)
    assert not np.isfinite(x[:, 3]).all()
    assert np.allclose(np.einsum("ijl,jl->il", A, x)[:, :3], b[:, :3])


def test_workspace_is_aligned():
    """A workspace begins on a cache line."""
    assert workspace(3).ctypes.data % 64 == 0
