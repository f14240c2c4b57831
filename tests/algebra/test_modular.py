"""Arithmetic modulo p against Python integers and FLINT."""

import random

import numpy as np
from flint import fmpz, nmod_mat
from hypothesis import given
from hypothesis import strategies as st

from algebra.modular import (
    batched_rank,
    inverses,
    matmul,
    random_prime,
    random_residues,
    rank,
)

P = 2147483647


def test_products_at_the_extremes():
    """Largest residues, inner dimensions beyond the split's chunk: no overflow."""
    for inner in (1, 7, 1 << 15, (1 << 15) + 3):
        a = np.full((1, inner), P - 1, np.int64)
        assert matmul(a, a.T, P)[0, 0] == (P - 1) ** 2 * inner % P


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_products_equal_integers(seed, a, b, c):
    """Random products equal those of Python's integers."""
    rng = random.Random(seed)
    x, y = random_residues((a, b), P, rng), random_residues((b, c), P, rng)
    exact = (x.astype(object) @ y.astype(object)) % P
    assert np.array_equal(matmul(x, y, P), exact.astype(np.int64))


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7), st.integers(0, 7))
def test_batched_ranks_equal_flint(seed, rows, columns, low):
    """Ranks of a batch of low-rank matrices, each against FLINT's."""
    rng = random.Random(seed)
    p = random_prime(rng)
    batch = matmul(
        random_residues((12, rows, low), p, rng), random_residues((12, low, columns), p, rng), p
    )
    batch[rng.randrange(12)] = 0
    expected = [int(nmod_mat(rows, columns, m.ravel().tolist(), p).rank()) for m in batch]
    assert batched_rank(batch, p).tolist() == expected
    assert [rank(m, p) for m in batch] == expected


def test_inverses_and_primes():
    """x · x⁻¹ = 1, 0 stays 0; random primes are primes of 31 bits."""
    rng = random.Random(1)
    values = random_residues((50,), P, rng)
    assert (values * inverses(values, P) % P == 1).all()
    assert inverses(np.array([0]), P)[0] == 0
    for _ in range(20):
        p = random_prime(rng)
        assert 2**30 <= p < 2**31
        assert fmpz(p).is_prime()
