"""Substitution into quadrics: by arrays, and composed by python-flint."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.polynomials import substitution
from algebra.polynomials.quadratic import merged
from algebra.polynomials.rings import PrimeField
from algebra.polynomials.substitution import Composed, compose

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
    """The polynomial ring in this number of unknowns."""
    return FIELD.context([f"x{k}" for k in range(unknowns)])


@given(st.integers(0, 10**6))
def test_substitution_is_that_of_polynomials(seed):
    """Expanded by arrays or composed by FLINT: the same polynomials, degrees and patterns."""
    compare_with_flint(seed)


@given(st.integers(0, 10**6))
def test_tables_multiply_like_terms(seed):
    """The same if every polynomial with two products is a table, as those with many are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(substitution, "_MANY", 1)
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
    near, far = composed.sides()
    for e, polynomial in enumerate(expected):
        values = composed.coefficients(e, pairs[:, 0], pairs[:, 1])
        for value, (i, j) in zip(values.tolist(), pairs.tolist(), strict=True):
            monomial = tuple(int(k == i) + int(k == j) for k in range(new))
            assert int(polynomial.to_dict().get(monomial, 0)) == value
            assert not value or near[i, e] & far[j, e] | near[j, e] & far[i, e]
    survey = composed.survey()
    assert survey.degrees.tolist() == found.degrees.tolist()
    assert survey.terms.tolist() == np.diff(found.starts).tolist()
    assert (survey.occurs == found.occurs).all()


@given(st.integers(0, 10**6))
def test_two_substitutions_are_one(seed):
    """Composed images equal one substitution after the other."""
    rng = random.Random(seed)
    a, b, c = (rng.randint(1, 5) for _ in range(3))
    quadrics = drawn(rng, 3, a, 15)
    first, then = affine(rng, a, b), affine(rng, b, c)
    once = Composed(quadrics, compose(first, then, P)).expanded()
    twice = Composed(Composed(quadrics, first).expanded(), then).expanded()
    ring = context(c)
    assert once.polynomials(ring) == twice.polynomials(ring)
