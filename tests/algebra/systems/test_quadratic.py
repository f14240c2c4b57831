"""Quadrics as arrays against python-flint's polynomials."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.polynomials.rings import PrimeField
from algebra.systems import quadratic
from algebra.systems.quadratic import (
    Composed,
    DegreeAboveTwo,
    QuadraticMatrix,
    beside,
    compose,
    merged,
    stacked,
)

P = 1073741827
FIELD = PrimeField(P)


def drawn(rng, count, unknowns, terms):
    """Random quadrics, with monomials that repeat."""
    factor = [[rng.randrange(unknowns + 1) for _ in range(terms)] for _ in range(2)]
    return merged(
        count,
        unknowns,
        P,
        np.array([rng.randrange(count) for _ in range(terms)], np.int64),
        np.array(factor[0], np.int64),
        np.array(factor[1], np.int64),
        np.array([rng.randrange(P) for _ in range(terms)], np.int64),
    )


def affine(rng, unknowns, new):
    """Random affine forms, some of them single unknowns, constants or 0."""
    images = np.zeros((unknowns + 1, new + 1), np.int64)
    for k in range(unknowns):
        for _ in range(rng.choice([0, 1, 1, 3])):
            images[k, rng.randrange(new + 1)] = rng.choice([1, rng.randrange(P)])
    images[-1, -1] = 1
    return images


def context(unknowns):
    """The polynomial ring in so many unknowns."""
    return FIELD.context([f"x{k}" for k in range(unknowns)])


@given(st.integers(0, 10**6))
def test_substitution_is_that_of_polynomials(seed):
    """Expanded by arrays or composed by FLINT: the same polynomials, degrees and patterns."""
    compare_with_flint(seed)


@given(st.integers(0, 10**6))
def test_sparse_matrices_multiply_like_full_ones(seed):
    """The same with SciPy's sparse matrices, which larger systems are multiplied by."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quadratic, "_SMALL", -1)
        compare_with_flint(seed)


def compare_with_flint(seed):
    """Substitution into random quadrics, by arrays and by FLINT."""
    rng = random.Random(seed)
    unknowns, new = rng.randint(1, 5), rng.randint(1, 5)
    quadrics = drawn(rng, rng.randint(1, 4), unknowns, rng.randint(0, 20))
    images = affine(rng, unknowns, new)
    ring = context(new)
    y = [*ring.gens(), 1]
    forms = [
        ring.constant(0) + sum(int(c) * v for c, v in zip(row, y, strict=True)) for row in images
    ]
    expected = [e.compose(*forms[:-1], ctx=ring) for e in quadrics.polynomials(context(unknowns))]
    composed = Composed(quadrics, images)
    found = composed.expanded()
    assert found.polynomials(ring) == expected
    nonzero = [e for e in expected if e != 0]
    assert [d for d in found.degrees if d >= 0] == [e.total_degree() for e in nonzero]
    assert found.patterns() == [[k for k, d in enumerate(e.degrees()) if d > 0] for e in expected]
    assert found.terms == sum(len(e.monoms()) for e in expected)
    pairs = np.array([(i, j) for i in range(new) for j in range(i, new)], np.int64)
    table = composed.coefficients(pairs[:, 0], pairs[:, 1])
    for row, (i, j) in zip(table, pairs, strict=True):
        monomial = tuple(int(k == i) + int(k == j) for k in range(new))
        assert [int(e.to_dict().get(monomial, 0)) for e in expected] == row.tolist()


@given(st.integers(0, 10**6))
def test_two_substitutions_are_one(seed):
    """Composed images do what one substitution after the other does."""
    rng = random.Random(seed)
    a, b, c = (rng.randint(1, 5) for _ in range(3))
    quadrics = drawn(rng, 3, a, 15)
    first, then = affine(rng, a, b), affine(rng, b, c)
    once = Composed(quadrics, compose(first, then, P)).expanded()
    twice = Composed(Composed(quadrics, first).expanded(), then).expanded()
    ring = context(c)
    assert once.polynomials(ring) == twice.polynomials(ring)


@given(st.integers(0, 10**6))
def test_matrices_multiply_like_arrays(seed):
    """Products, sums, slices and blocks against object arrays of polynomials."""
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
        return QuadraticMatrix.of(values.astype(np.int64), P, 3, unknown), plain

    def polynomials(matrix):
        out = np.empty(matrix.shape, object)
        for at, e in zip(np.ndindex(matrix.shape), matrix.entries.polynomials(ring), strict=True):
            out[at] = e
        return out

    (A, a), (B, b), (C, c) = pair((rows, inner)), pair((inner, columns)), pair((rows, columns))
    assert (polynomials(A @ B) == a @ b).all()
    assert (polynomials(A @ B - C) == a @ b - c).all()
    assert (polynomials(A @ B + C) == a @ b + c).all()
    assert (polynomials(beside([A, C])) == np.concatenate([a, c], axis=1)).all()
    assert (polynomials(stacked([B, B])) == np.concatenate([b, b], axis=0)).all()
    assert (polynomials(A[:, 1:]) == a[:, 1:]).all()
    assert (polynomials(A[: rows - 1]) == a[: rows - 1]).all()


def test_degree_three_is_refused():
    """x · x · x is no quadric."""
    x = QuadraticMatrix.of(np.zeros((1, 1), np.int64), P, 1, np.zeros((1, 1), np.int64))
    with pytest.raises(DegreeAboveTwo):
        x @ x @ x
