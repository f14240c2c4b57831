"""Products with sparse matrices of residues."""

import random

import numpy as np
import pytest
from scipy import sparse

from algebra.errors import InputError
from algebra.linalg.modular import random_prime
from algebra.linalg.sparse import SparseMatrix, sparse_product
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
    found = sparse_product("ij", SparseMatrix.of(matrix), other, value, result, p)
    assert (found == _einsum(f"ij,{other}@->{result}@", matrix, value) % p).all()


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
