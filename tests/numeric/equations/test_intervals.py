"""Intervals in doubles contain the exact results."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from algebra.programs.balls import FUNCTIONS
from numeric.equations.intervals import INTERVAL_FUNCTIONS, Intervals

NUMBERS = st.floats(-50, 50)
ENDS = st.tuples(NUMBERS, NUMBERS).map(sorted)


def _inside(exact, found):
    low, high = np.ravel(found.low)[0], np.ravel(found.high)[0]
    return low <= exact <= high


@given(ENDS, ENDS, st.fractions(0, 1), st.fractions(0, 1), st.integers(0, 5), st.floats(0.1, 9))
def test_results_contain_those_of_points(a, b, s, t, exponent, number):
    """Sums, products, powers and quotients of points of intervals lie in the results."""
    x, y = (Fraction(e[0]) + k * (Fraction(e[1]) - Fraction(e[0])) for e, k in ((a, s), (b, t)))
    one, other = (Intervals(np.array([e[0]]), np.array([e[1]])) for e in (a, b))
    assert _inside(x + y, one + other)
    assert _inside(x - 3, one - 3)
    assert _inside(x * y, one * other)
    assert _inside(x * Fraction(b[0]), one * Intervals.point(b[0]))
    assert _inside(x**exponent, one**exponent)
    assert _inside(x * x, one * one)
    assert _inside(x / Fraction(number), one / number)
    assert _inside(x / -Fraction(number), one / -number)
    divisor = Intervals(np.array([number / 2]), np.array([number]))
    assert _inside(x / Fraction(number), one / divisor)
    assert _inside(Fraction(7, 3), Intervals.quotient(7, 3))


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "erf"])
def test_functions_contain_those_of_balls(name):
    """Values and slopes at doubles of every size, and their limits, to a few last places."""
    own, exact = INTERVAL_FUNCTIONS[name], FUNCTIONS[name]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, s, 30) for s in (1e-8, 0.1, 1, 3, 9)])
    x = np.concatenate([x, [0, 20, -20, np.nextafter(20, 0), 1 / 16, 40, -40]])
    points = np.array([Intervals(x, x)], dtype=object)
    values = own.values(points)
    slopes = own.slopes(points, values)
    before, ctx.prec = ctx.prec, 3000
    try:
        for found, function in ((values[0], exact.value), (slopes[0], exact.slope)):
            for k, point in enumerate(x):
                assert arb(found.low[k]) <= function(arb(point)) <= arb(found.high[k])
            near = np.abs(x) < 9
            assert (found.high - found.low)[near].max() < 1e-13
    finally:
        ctx.prec = before
    beyond = own.values(np.array([Intervals(np.array([-np.inf]), np.array([np.inf]))], object))[0]
    assert beyond.low <= values[0].low.min()
    assert beyond.high >= values[0].high.max()


def test_wide_intervals_are_not_wider_than_monotone_values():
    """tanh of an interval reaches from value to value, its slope to 1 only over 0."""
    wide = Intervals(np.array([-1.0, 1.0]), np.array([2.0, 2.0]))
    values = INTERVAL_FUNCTIONS["tanh"].values(np.array([wide], object))
    assert values[0].low == pytest.approx(np.tanh([-1, 1]))
    assert values[0].high == pytest.approx(np.tanh([2, 2]))
    slope = INTERVAL_FUNCTIONS["tanh"].slopes(np.array([wide], object), values)[0]
    assert slope.high == pytest.approx([1, 1 - np.tanh(1) ** 2])
