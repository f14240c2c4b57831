"""Arithmetic at all roots of w at once, compared with arithmetic at each root."""

import itertools
import random

from flint import nmod_mat, nmod_poly

from algebra.polynomials.quotient import QuotientAlgebra

P = 1_000_003


def algebra_of(roots):
    w = nmod_poly([1], P)
    for root in roots:
        w *= nmod_poly([-root % P, 1], P)
    return QuotientAlgebra(w)


def random_element(rng, degree=4):
    return nmod_poly([rng.randrange(P) for _ in range(degree)], P)


def test_units_and_separation_are_seen_at_the_roots():
    """A unit vanishes at no root; an element separates roots at which its values differ."""
    rng = random.Random(1)
    roots = [3, 7, 20, 91]
    algebra = algebra_of(roots)
    for _ in range(40):
        values = [rng.randrange(3) for _ in roots]
        # Interpolate.
        rows = [[pow(r, k, P) for k in range(len(roots))] for r in roots]
        solved = nmod_mat(rows, P).solve(nmod_mat([[v] for v in values], P))
        element = nmod_poly([int(solved[k, 0]) for k in range(len(roots))], P)
        inverse = algebra.inverse(element)
        assert (inverse is None) == (0 in values)
        if inverse is not None:
            assert algebra.times(element, inverse) == algebra.constant(1)
        assert algebra.distinct_values(element) == len(set(values))
        assert algebra.separates(element) == (len(set(values)) == len(values))
        assert algebra.power(element, 3)(7) == pow(values[1], 3, P)


def test_systems_are_solved_at_every_root():
    """The solution at a root is the solution of the system at that root."""
    rng = random.Random(2)
    roots = [1, 2, 50]
    algebra = algebra_of(roots)
    for size in (1, 2, 4):
        matrix = [[random_element(rng) % algebra.w for _ in range(size)] for _ in range(size)]
        right = [random_element(rng) % algebra.w for _ in range(size)]
        solution = algebra.solve(matrix, right, size, rng)
        assert solution is not None
        for root, i in itertools.product(roots, range(size)):
            total = sum(int(matrix[i][j](root)) * int(solution[j](root)) for j in range(size))
            assert total % P == int(right[i](root))


def test_matrices_that_are_singular_at_one_root_are_seen():
    """Regular at two roots and singular at the third: not injective; tall ones may be."""
    rng = random.Random(3)
    algebra = algebra_of([4, 5, 6])
    t = nmod_poly([0, 1], P)
    singular = [[t - 4, algebra.constant(0)], [algebra.constant(0), algebra.constant(1)]]
    assert not algebra.is_injective(singular, rng)
    assert algebra.is_injective([*singular, [algebra.constant(1), algebra.constant(0)]], rng)
    assert not algebra.is_injective([[algebra.constant(1), algebra.constant(1)]], rng)


def test_a_pivot_may_vanish_at_the_first_place():
    """0·a + t·b = 2, t·a + b = 1 at both square roots of 2: b = t, a = (1 − t)/t."""
    algebra = QuotientAlgebra(nmod_poly([-2 % 10007, 0, 1], 10007))
    t, one, zero = nmod_poly([0, 1], 10007), algebra.constant(1), algebra.constant(0)
    right = [algebra.constant(2), one]
    a, b = algebra.solve([[zero, t], [t, one]], right, 2, random.Random(0))
    assert b == t
    assert algebra.times(a, t) == one - t


def test_a_polynomial_is_evaluated_at_every_root():
    """x² y − 3 at functions in place of x and y, root by root."""
    rng = random.Random(4)
    roots = [3, 8, 11]
    algebra = algebra_of(roots)
    x, y = (random_element(rng) % algebra.w for _ in range(2))
    value = algebra.evaluate([((2, 1), 1), ((0, 0), -3)], [x, y])
    for root in roots:
        assert int(value(root)) == (int(x(root)) ** 2 * int(y(root)) - 3) % P
