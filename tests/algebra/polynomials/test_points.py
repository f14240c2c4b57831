"""Points of an ideal all at once, compared with known points."""

import random

import pytest
import sympy

from algebra.polynomials.points import NotRadical, points_of

P = 10007


def basis_of(points):
    """Reduced Gröbner basis of the ideal of some points of the plane, by SymPy."""
    x, y, s = sympy.symbols("x y s")
    # The intersection of maximal ideals as an elimination: Π (s·ideal) is slow; a lex basis of
    # the interpolation is enough for points with distinct x.
    f = sympy.Poly(sympy.prod(x - a for a, _ in points), x, modulus=P)
    g = sympy.Poly(sympy.interpolate([(a, b) for a, b in points], x), x)
    g = sympy.Poly({m: int(c.p) * pow(int(c.q), -1, P) for m, c in g.terms()}, x, modulus=P)
    basis = sympy.groebner([f.as_expr(), y - g.as_expr()], x, y, modulus=P, order="grevlex")
    assert s not in basis.exprs[0].free_symbols
    return [
        {tuple(map(int, m)): int(c) % P for m, c in sympy.Poly(q, x, y, modulus=P).terms()}
        for q in basis.exprs
    ]


@pytest.mark.parametrize("seed", range(5))
def test_values_of_coordinates_are_counted(seed):
    """As many values of x, y and x·y as the points have."""
    rng = random.Random(seed)
    points = [(a, rng.randrange(1, 4)) for a in rng.sample(range(1, 40), 6)]
    found = points_of(basis_of(points), 2, P, rng)
    x, y = found.coordinates
    assert found.count == 6
    assert found.algebra.distinct_values(x) == 6
    assert found.algebra.distinct_values(y) == len({b for _, b in points})
    product = found.algebra.times(x, y)
    assert found.algebra.distinct_values(product) == len({a * b % P for a, b in points})
    assert found.algebra.times(product, found.algebra.inverse(product)) == found.algebra.constant(1)


def test_a_double_point_is_told():
    """x² = 0 has one point, twice."""
    with pytest.raises(NotRadical):
        points_of([{(2,): 1}], 1, P, random.Random(0))
