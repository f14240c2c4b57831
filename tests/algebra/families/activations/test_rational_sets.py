"""Intervals of rationals: results contain those of their numbers, and ends are exact."""

from fractions import Fraction

import numpy as np
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.families.activations.rational_sets import SETS, RationalSet, as_sets
from algebra.programs.homogeneous import Homogeneous

_NUMBERS = st.fractions(min_value=-5, max_value=5, max_denominator=8)
_RECTIFIER = SETS.functions["relu"]


def _exact(x):
    return fmpq(x.numerator, x.denominator)


@st.composite
def _sets(draw):
    """A set, perhaps without an end, and one of its numbers."""
    a, b, c = sorted(draw(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS)))
    low, high = (None if draw(st.booleans()) else _exact(end) for end in (a, c))
    return RationalSet(low, high), _exact(b)


def _holds(found, x):
    return (found.low is None or found.low <= x) and (found.high is None or x <= found.high)


@given(_sets(), _sets())
def test_results_contain_those_of_the_numbers(one, other):
    """Sums, differences, products and ReLU of numbers lie in those of their sets."""
    (a, x), (b, y) = one, other
    assert _holds(a + b, x + y)
    assert _holds(a - b, x - y)
    assert _holds(a * b, x * y)
    assert _holds(-a, -x)
    assert _holds(a + 2, x + 2)
    relu = _RECTIFIER.values(np.array([a], dtype=object))[0]
    assert _holds(relu, max(x, fmpq(0)))
    assert not (a.excludes_zero() and x == 0)


@given(_sets(), st.tuples(_NUMBERS, _NUMBERS, _NUMBERS))
def test_quotients_contain_those_of_the_numbers(one, divisors):
    """Also by numbers of which the least is 0, where ends are infinite."""
    a, x = one
    low, middle, high = sorted(map(abs, divisors))
    if middle:
        assert _holds(a.over(_exact(low), _exact(high)), x / _exact(middle))


def test_zero_times_an_infinite_end_is_zero():
    """Numbers are finite, so nothing but 0 is a product with 0."""
    zero, ray = RationalSet(fmpq(0), fmpq(0)), RationalSet(fmpq(1), None)
    assert (zero * ray).is_zero()
    assert (RationalSet(None, None) * 0).is_zero()
    product = RationalSet(fmpq(0), fmpq(1)) * ray
    assert (product.low, product.high) == (0, None)
    assert not product.excludes_zero()


def test_silent_entries_lose_their_degree():
    """ReLU of v/τ with v ≤ 0 is 0; with v > 0 it stays homogeneous."""
    tau = RationalSet(fmpq(0), fmpq(1, 4))
    entries = np.empty(2, dtype=object)
    entries[0] = Homogeneous(RationalSet(fmpq(-2), fmpq(-1)), (1,), (tau,))
    entries[1] = Homogeneous(RationalSet(fmpq(-1), fmpq(2)), (1,), (tau,))
    silent, active = _RECTIFIER.values(entries)
    assert silent.is_zero()
    assert (active.degrees, active.value.low, active.value.high) == ((1,), 0, 2)


def test_rationals_as_sets():
    """Each is the only number of its set."""
    found = as_sets(np.array([[_exact(Fraction(1, 3))]], dtype=object))[0, 0]
    assert found.low == found.high == fmpq(1, 3)
