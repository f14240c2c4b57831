"""Matrices of random residues, and powers, for tests of statements over every field."""

import random

import numpy as np
from flint import nmod

from algebra.polynomials.rings import PrimeField


def residue_matrix(field: PrimeField, shape: tuple[int, int], rng: random.Random) -> np.ndarray:
    """A matrix of independent uniform residues (object array of `nmod`)."""
    p = field.characteristic
    entries = [nmod(rng.randrange(p), p) for _ in range(shape[0] * shape[1])]
    return np.array(entries, dtype=object).reshape(shape)


def power(matrix, exponent):
    """Matrix power by repeated multiplication, over any ring."""
    result = np.array(np.eye(len(matrix), dtype=int), dtype=object)
    for _ in range(exponent):
        result = result @ matrix
    return result
