"""Ranks modulo primes of 23 bits against FLINT, on matrices with structure, and at the bounds."""

import random

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.elimination import _inverse_in_parts, independent_columns
from algebra.linalg.modular import (
    _Residues,
    matmul,
    modular_echelon,
    modular_rank,
    random_prime,
    random_residues,
)
from algebra.linalg.short_primes import WIDTH, ShortRing, reduced, signed

LARGEST = (1 << 23) - 15


def columns_of(A, p):
    """By elimination in blocks, whatever the size."""
    if p < 1 << 23:
        return independent_columns(signed(A, p), ShortRing(p))
    return independent_columns(A.copy(), _Residues(p))


def of_rank(rows, columns, rank, p, seed):
    """A product of two random matrices."""
    rng = random.Random(seed)
    left, right = random_residues((rows, rank), p, rng), random_residues((rank, columns), p, rng)
    return matmul(left, right, p)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([4194319, LARGEST, 2147483629, (1 << 61) - 1]),
    st.integers(1, 150),
    st.integers(1, 150),
    st.integers(0, 150),
    st.integers(0, 99),
)
def test_the_columns_are_those_of_the_echelon_form(p, rows, columns, rank, seed):
    """Of a random matrix of any rank the independent columns are the pivots of FLINT."""
    A = of_rank(rows, columns, rank, p, seed)
    assert columns_of(A, p) == modular_echelon(A, p)[1]


@pytest.mark.parametrize("bits", [23, 61])
@pytest.mark.parametrize(
    ("shape", "rank", "zeros"),
    [
        ((1100, 700), 650, (slice(0, 500), slice(0, 300))),
        ((600, 1000), 600, (slice(None), slice(100, 200))),
        ((1200, 500), 40, (slice(0, 600), slice(None))),
        ((900, 950), 0, (slice(0, 1), slice(0, 1))),
    ],
)
def test_blocks_that_are_singular(shape, rank, zeros, bits):
    """Zero blocks, repeated columns and a low rank: the pivots of FLINT, across blocks."""
    p = random_prime(random.Random(5), bits)
    A = of_rank(*shape, rank, p, 1)
    A[zeros] = 0
    A[:, 7] = A[:, 3]
    A[:, 480] = (A[:, 3] + A[:, 460]) % p
    assert columns_of(A, p) == modular_echelon(A, p)[1]


@pytest.mark.parametrize("bits", [23, 61])
@pytest.mark.parametrize("singular", [0, 60, 300])
def test_inverses_by_those_of_parts(singular, bits):
    """The inverse of a regular matrix; None if its leading block is singular, or all of it."""
    p = random_prime(random.Random(3), bits)
    ring = ShortRing(p) if bits == 23 else _Residues(p)
    A = random_residues((300, 300), p, random.Random(singular))
    A[:singular, :singular] = 0
    found = _inverse_in_parts(ring.of_residues(A), ring)
    if singular:
        assert found is None
        return
    assert (ring.product(ring.of_residues(A), found) % p == np.eye(300, dtype=int)).all()


@pytest.mark.parametrize("inner", [1, 30, 448, 449, 2000])
def test_products_are_those_of_integers(inner):
    """Products of the largest and smallest residues and of random ones, of any inner dimension."""
    p, rng = LARGEST, random.Random(inner)
    a, b = random_residues((40, inner), p, rng), random_residues((inner, 50), p, rng)
    a[0], b[:, 0], a[1], b[:, 1] = p - 1, p - 1, p // 2, p // 2 + 1
    expected = (a.astype(object) @ b.astype(object)) % p
    assert (matmul(a, b, p) == expected).all()
    stack = matmul(np.stack([a, a + 0]), np.stack([b, b]), p)
    assert (stack[1] == expected).all()


def test_permuted_block_diagonal():
    """First rows of a block need not span it: rows far below do."""
    p, rng = LARGEST, random.Random(3)
    A = np.zeros((1300, 1300), np.int64)
    for start in range(0, 1300, 100):
        A[start : start + 100, start : start + 100] = of_rank(100, 100, 99, p, start)
    A = A[rng.sample(range(1300), 1300)]
    assert modular_rank(A, p) == 13 * 99


def test_the_largest_sums_are_exact():
    """A block of products of the largest residues, plus one, is reduced without rounding."""
    p = LARGEST
    for half in (p // 2, p // 2 + 8):
        a = np.full((2, WIDTH), float(half))
        exact = half * half * WIDTH + half
        assert exact < 1 << 53
        found = reduced(a @ a.T + half, p)
        assert (found.astype(np.int64) % p == exact % p).all()
        assert abs(found).max() <= p / 2 + 8


def test_a_wrong_bound_is_seen():
    """Twice as many of these products are not exact in doubles: the block must not be wider."""
    half = LARGEST // 2 - 1
    assert half * half * 2 * WIDTH > 1 << 53


def test_large_ranks_agree_with_flint():
    """A full and a deficient matrix of 1,050 columns."""
    p = random_prime(random.Random(8), 23)
    A = of_rank(1060, 1050, 1050, p, 2)
    assert modular_rank(A, p) == nmod_mat(*A.shape, A.ravel().tolist(), p).rank() == 1050
    A[:, 1049] = (3 * A[:, 2] + A[:, 1000]) % p
    assert modular_rank(A, p) == 1049
