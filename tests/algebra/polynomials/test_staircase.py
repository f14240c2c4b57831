"""Staircases and multiplication matrices, against enumeration and companion matrices."""

import itertools
import random

import numpy as np
import pytest
import sympy
from flint import nmod_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.staircase import (
    count_distinct,
    drl_key,
    is_finite,
    multiplication_matrices,
    standard_monomials,
)
from tests.refusals import refuses
from tests.samples import many


@st.composite
def staircases(draw):
    """Minimal generators of a monomial ideal with a pure power of every variable."""
    n = draw(st.integers(1, 4))
    bounds = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    pure = [tuple(b * (i == j) for j in range(n)) for i, b in enumerate(bounds)]
    mixed = draw(st.lists(st.tuples(*(st.integers(0, 3) for _ in range(n))), max_size=4))
    candidates = {m for m in (*pure, *mixed) if any(m)}
    minimal = [
        m
        for m in candidates
        if not any(o != m and all(a <= b for a, b in zip(o, m, strict=True)) for o in candidates)
    ]
    return minimal, n, bounds


@given(staircases())
@settings(max_examples=many(150), deadline=None)
def test_standard_monomials_are_those_not_divisible(data):
    """The monomials found are those of the box that no generator divides, in DRL order."""
    generators, n, bounds = data
    expected = [
        m
        for m in itertools.product(*map(range, bounds))
        if not any(all(a <= b for a, b in zip(g, m, strict=True)) for g in generators)
    ]
    found = standard_monomials(generators, n)
    assert set(found) == set(expected)
    assert len(found) == len(expected)
    assert found == sorted(found, key=drl_key)


def test_order_is_degree_reverse_lexicographic():
    """Monomials sort as SymPy's grevlex sorts them."""
    monomials = list(itertools.product(range(3), repeat=3))
    assert sorted(monomials, key=drl_key) == sorted(
        monomials, key=sympy.polys.orderings.monomial_key("grevlex")
    )


def test_infinite_and_empty_staircases():
    """A missing pure power is found, and the unit ideal has no standard monomial."""
    assert not is_finite([(2, 0), (1, 1)], 2)
    refuses("pure power", standard_monomials, [(2, 0), (1, 1)], 2)
    assert is_finite([(0, 0)], 2)
    assert standard_monomials([(0, 0)], 2) == []


def sympy_basis(equations, symbols, prime):
    """A reduced Gröbner basis over GF(prime) as dictionaries."""
    basis = sympy.groebner(equations, *symbols, order="grevlex", modulus=prime)
    return [
        {m: int(c) % prime for m, c in sympy.Poly(g, *symbols, modulus=prime).terms()}
        for g in basis.exprs
    ]


@pytest.mark.parametrize("prime", [32003, 2147483647])
def test_matrices_commute_and_satisfy_the_equations(prime):
    """Multiplication matrices commute, and the equations are zero on them."""
    rng = random.Random(prime)
    symbols = x, y, z = sympy.symbols("x y z")
    monomials = [m for m in itertools.product(range(3), repeat=3) if sum(m) <= 2]
    terms = [[(m, rng.randrange(1, prime)) for m in monomials] for _ in range(3)]
    equations = [sum(c * x**i * y**j * z**k for (i, j, k), c in t) for t in terms]
    basis = sympy_basis(equations, symbols, prime)
    raw = multiplication_matrices(basis, 3, prime)
    assert raw.shape == (3, 8, 8)
    assert raw.min() >= 0
    matrices = [nmod_mat(m.tolist(), prime) for m in raw]
    for a, b in itertools.combinations(matrices, 2):
        assert a * b == b * a
    identity = nmod_mat(np.eye(8, dtype=int).tolist(), prime)
    for t in terms:
        total = nmod_mat(8, 8, prime)
        for exponents, c in t:
            product = identity * c
            for matrix, exponent in zip(matrices, exponents, strict=True):
                for _ in range(exponent):
                    product = product * matrix
            total = total + product
        assert total.rank() == 0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6))
@settings(max_examples=many(20), deadline=None)
def test_distinct_points_are_counted(points):
    """For the ideal of given points, doubled, the result is the number of different points."""
    prime = 65521
    x, y = sympy.symbols("x y")
    first = sympy.prod([x - a for a in {a for a, _ in points}])
    others = [
        sympy.prod([(x - a) for a in {a for a, _ in points} - {u}])
        * sympy.prod([(y - b) for a, b in set(points) if a == u])
        for u in {a for a, _ in points}
    ]
    basis = sympy_basis([first**2, *(g**2 for g in others)], (x, y), prime)
    assert count_distinct(basis, 2, prime, random.Random(0)) == len(set(points))


def test_a_small_prime_is_refused():
    """Counting needs a prime above the dimension of the quotient."""
    basis = [{(3, 0): 1, (0, 0): 1}, {(0, 2): 1}]
    refuses(r"`prime` \(5\)", count_distinct, basis, 2, 5, random.Random(0))
