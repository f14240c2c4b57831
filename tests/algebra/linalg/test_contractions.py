"""Einstein sums modulo primes against NumPy's on Python integers."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.linalg.contractions import contraction
from algebra.linalg.residues import random_residues
from tests.algebra.programs.programs import residues

SUMS = [
    "ij,j->i",
    "ij,jk->ik",
    "i->",
    "ii->i",
    "ii->",
    "ij->j",
    "i,j->ij",
    "ij,ij->ij",
    "ij,ij->",
    "sij,sjk->sik",
    "sij,jks->ksi",
    "ij,jk,kl->li",
    "ijj,jk->ki",
    "ab,cd,ac->db",
    "hij,hjk,kl->lhi",
    "i,i,i->i",
]


@given(st.sampled_from(SUMS), st.sampled_from([7, 2147483647, (1 << 61) - 1]), st.integers(0, 999))
def test_sums_are_those_of_python_integers(letters, p, seed):
    """Every pattern of letters gives the residues of the sum in Python's integers."""
    rng = random.Random(seed)
    sizes = {letter: rng.randint(1, 4) for letter in "abcdhijkls"}
    factors = [
        random_residues(tuple(sizes[letter] for letter in group), p, rng)
        for group in letters.partition("->")[0].split(",")
    ]
    exact = np.einsum(letters, *(factor.astype(object) for factor in factors)) % p
    assert np.array_equal(contraction(letters, factors, residues(p)), exact)


@pytest.mark.parametrize("p", [2147483647, (1 << 61) - 1])
def test_long_sums(p):
    """Sums of many residues p − 1, which 64 bits would not hold, are exact."""
    ones = np.full((3, 5000), p - 1)
    assert contraction("ij->i", [ones], residues(p)).tolist() == [-5000 % p] * 3
    assert contraction("ij,kj->ik", [ones, ones], residues(p)).tolist() == [[5000] * 3] * 3
