"""Products with sparse matrices of residues."""

import random

import numpy as np
import pytest
from flint import fmpq
from scipy import sparse

from algebra.errors import InputError
from algebra.linalg.primes import random_prime
from algebra.linalg.sparse import SparseMatrix
from algebra.linalg.sparse_blocks import SparseBlock, sparse_contraction
from algebra.problems.updates import entries_of


def drawn(p, shape, seed, share=0.3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, p, shape) * (rng.random(shape) < share)


@pytest.mark.parametrize("bits", [23, 31, 61])
def test_products_are_those_of_integers(bits):
    """Sparse products equal products of Python's integers, modulo primes of each size."""
    p = random_prime(random.Random(bits), bits)
    a, b = drawn(p, (30, 40), 1), drawn(p, (40, 70), 2, 1)
    expected = (a.astype(object) @ b.astype(object)) % p
    assert (SparseMatrix.of(a).product(b, p) == expected).all()
    transposed = SparseMatrix.of(a).T.product(b[:30], p)
    assert (transposed == (a.T.astype(object) @ b[:30].astype(object)) % p).all()


@pytest.mark.parametrize("bits", [23, 31, 61])
def test_full_rows_are_cut(bits):
    """Rows of 3,000 entries of the largest residues have exact products."""
    p = random_prime(random.Random(bits), bits)
    a, b = np.full((2, 3000), p >> 1), np.full((3000, 3), (p >> 1) + 1)
    a[1, ::7] = 0
    expected = (a.astype(object) @ b.astype(object)) % p
    assert (SparseMatrix.of(a).product(b, p) == expected).all()


def _einsum(letters, *factors):
    return np.einsum(letters.replace("&", "a").replace("@", "z"), *factors)


@pytest.mark.parametrize(("other", "result"), [("&j", "&i"), ("i&", "&j"), ("j", "i")])
def test_einstein_sums(other, result):
    """A contraction with a sparse matrix is that of NumPy, with the batch axis last."""
    p, n = 101, {"i": 5, "j": 4, "&": 3}
    matrix = drawn(p, (5, 4), 3)
    value = drawn(p, (*(n[letter] for letter in other), 2), 4, 1)
    factors = [(other, value), ("ij", SparseBlock(SparseMatrix.of(matrix)))]
    wanted = _einsum(f"ij,{other}@->{result}@", matrix, value)
    found = sparse_contraction(factors, result, lambda matrix, b: matrix.product(b, p))
    assert (found == wanted % p).all()
    assert (sparse_contraction(factors, result, SparseMatrix.times) == wanted).all()


def test_products_over_any_ring():
    """Of rationals with rows that have no entry, and of no entries at all."""
    matrix = drawn(50, (6, 7), 5)
    matrix[2] = 0
    own = SparseMatrix.of(matrix)
    own = own.with_values(np.array([fmpq(int(v), 3) for v in own.values], dtype=object))
    b = np.array([[fmpq(k, 7) for k in range(j, j + 2)] for j in range(7)], dtype=object)
    found = own.times(b)
    assert (found == np.array(own, dtype=object) @ b).all()
    assert all(isinstance(v, fmpq) for v in found.flat)
    assert not SparseMatrix.of(np.zeros((3, 7), np.int64)).times(np.ones((7, 2), np.int64)).any()


def test_entries():
    """Entries are found by their places, also in an empty matrix."""
    a = drawn(50, (6, 7), 5)
    own = SparseMatrix.of(a)
    assert (own.at(*np.indices(a.shape)) == a).all()
    assert (np.asarray(own) == a).all()
    assert not SparseMatrix.of(a * 0).at(np.arange(3), np.arange(3)).any()


def test_entries_of_scipy():
    """Entries that are given twice are added up, and zeros are left out."""
    given = sparse.coo_array(([1, 2, 0, 5], ([0, 0, 1, 2], [1, 1, 1, 0])), shape=(3, 2))
    found = entries_of(given)
    assert (np.asarray(found) == given.toarray()).all()
    assert len(found.values) == 2
    with pytest.raises(InputError):
        entries_of(object())
