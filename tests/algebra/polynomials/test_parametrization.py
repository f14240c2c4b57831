"""Parametrizations, compared with known points."""

import itertools
from fractions import Fraction

import flint
import pytest
from flint import arb, fmpz, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.parametrization import (
    Parametrization,
    are_disjoint,
    ball_as_interval,
    real_roots_as_balls,
)
from tests.samples import many


def through(points):
    """The parametrization of points (a, b) by t = a (the a must differ), by Lagrange."""
    w = fmpz_poly([1])
    for a, _ in points:
        w *= fmpz_poly([-a, 1])
    numerator = fmpz_poly()
    for a, b in points:
        numerator += (w / fmpz_poly([-a, 1])) * b
    derivative = w.derivative()
    return Parametrization(w, derivative, fmpz(1), (fmpz_poly([0, 1]) * derivative, numerator))


points = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)),
    min_size=1,
    max_size=6,
    unique_by=lambda p: p[0],
)


@given(points, st.integers(1, 70))
@settings(max_examples=many(60), deadline=None)
def test_boxes_of_rational_points(known, precision):
    """Each known point is in a separate box, no larger than requested, in sorted order."""
    boxes = through(known).real_boxes(precision)
    assert len(boxes) == len(known)
    for box, (a, b) in zip(boxes, sorted(known), strict=True):
        assert box[0][0] <= a <= box[0][1]
        assert box[1][0] <= b <= box[1][1]
        assert all(high - low <= Fraction(1, 2**precision) for low, high in box)
    assert are_disjoint(boxes)


@given(points, st.lists(st.integers(-5, 5), min_size=6, max_size=6))
@settings(max_examples=many(80), deadline=None)
def test_satisfies_is_vanishing_at_all_points(known, coefficients):
    """A polynomial passes exactly if it is zero at each known point."""
    monomials = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    terms = {m: fmpz(c) for m, c in zip(monomials, coefficients, strict=True) if c}
    vanishing = all(sum(int(c) * a**i * b**j for (i, j), c in terms.items()) == 0 for a, b in known)
    claim = through(known)
    assert claim.satisfies(terms) == vanishing
    assert claim.satisfies({(0, 0): fmpz(0)})


def test_a_content_of_w_does_not_matter():
    """Divisibility is over Q: a common factor of w's coefficients changes nothing."""
    claim = Parametrization(fmpz_poly([-12, 0, 6]), fmpz_poly([1]), fmpz(1), (fmpz_poly([0, 1]),))
    assert claim.satisfies({(2,): fmpz(1), (0,): fmpz(-2)})
    assert not claim.satisfies({(2,): fmpz(1), (0,): fmpz(-3)})


@pytest.mark.parametrize(
    ("w", "denominator", "proper"),
    [([-2, 0, 1], [0, 2], True), ([1, -2, 1], [1], False), ([0, -1, 1], [0, 1], False)],
)
def test_proper_means_squarefree_with_a_denominator_not_zero(w, denominator, proper):
    """Double roots of w, or roots shared with the denominator, are refused."""
    t = fmpz_poly([0, 1])
    assert (
        Parametrization(fmpz_poly(w), fmpz_poly(denominator), fmpz(1), (t,)).is_proper() == proper
    )


def test_close_roots_are_isolated():
    """Mignotte's x^9 - 2 (2^20 x - 1)^2, with two roots 2^-109 apart, has separate boxes."""
    w = fmpz_poly([-2, 2 * 2**21, -(2**41)]) + fmpz_poly([0] * 9 + [1])
    claim = Parametrization(w, fmpz_poly([1]), fmpz(1), (fmpz_poly([0, 1]),))
    boxes = claim.real_boxes(1)
    signs = [
        tuple((w(flint.fmpq(e.numerator, e.denominator)) > 0) for e in side) for ((side),) in boxes
    ]
    assert len(boxes) == 3
    assert all(low != high for low, high in signs)
    gap = boxes[1][0][0] - boxes[0][0][1]
    assert 0 < gap < Fraction(1, 2**100)


def test_points_that_differ_in_the_second_coordinate_only():
    """Boxes are disjoint if the parameter is not a coordinate."""
    # t = x + y at (0, ±2^-80).
    shift = 2**160
    claim = Parametrization(
        fmpz_poly([-1, 0, shift]), fmpz_poly([1]), fmpz(1), (fmpz_poly(), fmpz_poly([0, 1]))
    )
    boxes = claim.real_boxes(3)
    assert len(boxes) == 2
    assert are_disjoint(boxes)


def test_no_real_points():
    """Non-real roots give no box."""
    t = fmpz_poly([0, 1])
    assert Parametrization(t**4 + 1, fmpz_poly([1]), fmpz(1), (t,)).real_boxes(5) == ()
    assert real_roots_as_balls(t**2 + 1) == []


boxes = st.lists(
    st.tuples(*(st.tuples(st.integers(0, 8), st.integers(0, 3)) for _ in range(2))), max_size=6
).map(lambda raw: [tuple((Fraction(a), Fraction(a + w)) for a, w in box) for box in raw])


@given(boxes)
def test_are_disjoint_is_pairwise(many):
    """The sweep agrees with a comparison of all pairs."""
    pairwise = all(
        any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, other, strict=True))
        for one, other in itertools.combinations(many, 2)
    )
    assert are_disjoint(many) == pairwise


def test_balls_become_their_exact_end_points():
    """The ends are those of the ball, without rounding."""
    ball = arb("0.75", "0.25")
    low, high = ball_as_interval(ball)
    assert (low + high) / 2 == Fraction(3, 4)
    assert Fraction(1, 2) <= high - low <= Fraction(1, 2) + Fraction(1, 2**20)
    assert ball.rad() == flint.fmpq(((high - low) / 2).numerator, ((high - low) / 2).denominator)
    assert ball_as_interval(arb(3) / 4) == (Fraction(3, 4), Fraction(3, 4))
    low, high = ball_as_interval(arb(1) / 3)
    assert low < Fraction(1, 3) < high
