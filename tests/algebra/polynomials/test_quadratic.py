"""Quadrics as arrays against python-flint's polynomials."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from algebra.polynomials.quadratic import (
    DegreeAboveTwo,
    QuadraticArray,
    beside,
    stacked,
    total,
)
from algebra.polynomials.rings import PrimeField
from tests.refusals import refuses

P = 1073741827
FIELD = PrimeField(P)


def context(unknowns):
    """The polynomial ring in this number of unknowns."""
    return FIELD.context([f"x{k}" for k in range(unknowns)])


@given(st.integers(0, 10**6))
def test_matrices_multiply_like_arrays(seed):
    """Products, sums, moves and blocks against object arrays of polynomials."""
    rng = random.Random(seed)
    rows, inner, columns = (rng.randint(1, 4) for _ in range(3))
    ring = context(3)

    def pair(shape):
        values = np.array([[rng.randrange(P) for _ in range(shape[1])] for _ in range(shape[0])])
        unknown = np.array([[rng.randint(-1, 2) for _ in range(shape[1])] for _ in range(shape[0])])
        plain = np.empty(shape, object)
        for at in np.ndindex(shape):
            k = unknown[at]
            plain[at] = ring.constant(int(values[at])) if k < 0 else ring.gens()[k]
        return QuadraticArray.of(values.astype(np.int64), P, 3, unknown), plain

    def polynomials(matrix):
        out = np.empty(matrix.shape, object)
        for at, e in zip(np.ndindex(matrix.shape), matrix.entries.polynomials(ring), strict=True):
            out[at] = e
        return out

    (A, a), (B, b), (C, c) = pair((rows, inner)), pair((inner, columns)), pair((rows, columns))
    assert (polynomials(A.product(B)) == a @ b).all()
    assert (polynomials(A.product(B) - C) == a @ b - c).all()
    assert (polynomials(total([A.product(B), C, C])) == a @ b + c + c).all()
    assert (polynomials(-C) == -c).all()
    both = stacked([A[None], A[None]]).product(stacked([B[None], -B[None]]))
    assert (polynomials(both) == np.array([a @ b, -(a @ b)])).all()
    assert (polynomials(A.transpose([1, 0])) == a.T).all()
    assert (polynomials(A[:1].broadcast(a.shape)) == np.broadcast_to(a[:1], a.shape)).all()
    assert (polynomials(A.reshape(-1)) == a.reshape(-1)).all()
    assert (polynomials(beside([A, C])) == np.concatenate([a, c], axis=1)).all()
    assert (polynomials(stacked([B, B])) == np.concatenate([b, b], axis=0)).all()
    assert (polynomials(A[:, 1:]) == a[:, 1:]).all()
    assert (polynomials(A[: rows - 1]) == a[: rows - 1]).all()


def test_degree_three_is_refused():
    """x · x · x is not a quadric."""
    x = QuadraticArray.of(np.zeros((1, 1), np.int64), P, 1, np.zeros((1, 1), np.int64))
    refuses("", x.product(x).product, x, error=DegreeAboveTwo)
