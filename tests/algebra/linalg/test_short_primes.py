"""Ranks modulo primes of 23 bits against FLINT, on matrices with structure, and at the bounds."""

import random

import numpy as np
import pytest
from flint import nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.echelon import _Residues, modular_echelon
from algebra.linalg.elimination import ShortRing, _inverse_in_parts, independent_columns
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
from algebra.linalg.short_primes import WIDTH, product, reduced, signed
from tests.samples import more

LARGEST = (1 << 23) - 15


def columns_of(A, p, **width):
    """By elimination in blocks, whatever the size."""
    if p < 1 << 23:
        return independent_columns(signed(A, p), ShortRing(p, **width))
    return independent_columns(A.copy(), _Residues(p, **width))


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


@pytest.mark.parametrize("part", more(8, 1))
@pytest.mark.parametrize("bits", [23, 61])
@pytest.mark.parametrize(
    ("shape", "rank", "zeros"),
    [
        ((1104, 704), 648, (slice(0, 504), slice(0, 304))),
        ((600, 1000), 600, (slice(None), slice(104, 200))),
        ((1200, 504), 40, (slice(0, 600), slice(None))),
        ((904, 952), 0, (slice(0, 8), slice(0, 8))),
    ],
)
def test_blocks_that_are_singular(shape, rank, zeros, bits, part):
    """Zero blocks, repeated columns and a low rank: the pivots of FLINT, across blocks.

    In a quick run sizes and the width of a block are an eighth.
    """
    p = random_prime(random.Random(5), bits)
    A = of_rank(*(size // part for size in shape), rank // part, p, 1)
    A[tuple(slice(s.start and s.start // part, s.stop and s.stop // part) for s in zeros)] = 0
    A[:, 7] = A[:, 3]
    A[:, 480 // part] = (A[:, 3] + A[:, 456 // part]) % p
    assert columns_of(A, p, width=WIDTH // part) == modular_echelon(A, p)[1]


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


def test_large_and_transposed_products():
    """By rows, of matrices in either order of memory: those of integers in 62 bits."""
    p, rng = 8191, random.Random(1)
    a, b = random_residues((700, 20), p, rng), random_residues((20, 900), p, rng)
    expected = (a @ b) % p
    assert (product(a, b, p) == expected).all()
    turned = [np.ascontiguousarray(part.T).T for part in (a, b)]
    assert (product(*turned, p) == expected).all()
    assert (signed(turned[0], p, np.float64) == signed(a, p, np.float64)).all()


@pytest.mark.parametrize("bits", [23, 61])
def test_halves_of_a_block_of_low_rank(bits):
    """Rows that span a wide block are found in its halves where random ones do not span it."""
    p = random_prime(random.Random(7), bits)
    A = of_rank(140, 150, 90, p, 2)
    A[:, :30] = 0
    A[:100, 70:80] = A[:100, 60:70]
    # Most rows are copies of a few.
    A = A[np.random.default_rng(1).integers(0, 140, 400) // 3 * 2 % 140]
    assert columns_of(A, p) == modular_echelon(A, p)[1]


@pytest.mark.parametrize("size", more(20, 100))
def test_permuted_block_diagonal(size):
    """First rows of a block need not span it: rows far below do."""
    p, rng, n = LARGEST, random.Random(3), 13 * size
    A = np.zeros((n, n), np.int64)
    for start in range(0, n, size):
        part = slice(start, start + size)
        A[part, part] = of_rank(size, size, size - 1, p, start)
    A = A[rng.sample(range(n), n)]
    assert len(columns_of(A, p, width=WIDTH * size // 100)) == modular_rank(A, p) == n - 13


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
