"""Entries that are divided by powers of τ."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from algebra.programs.homogeneous import Homogeneous, limit_of, plain

VALUES = st.fractions(-9, 9, max_denominator=20)
SCALES = st.tuples(*[st.fractions(Fraction(1, 30), 1, max_denominator=30)] * 2)
DEGREES = st.tuples(st.integers(0, 2), st.integers(0, 2))


@given(VALUES, VALUES, DEGREES, DEGREES, SCALES, VALUES, st.integers(1, 3))
def test_operations_are_those_of_the_quotients(a, b, d, e, scales, number, power):
    """Sums, products and powers have the quotients of ordinary numbers."""
    x, y = Homogeneous(a, d, scales), Homogeneous(b, e, scales)
    p, q = (v / scales[0] ** w[0] / scales[1] ** w[1] for v, w in ((a, d), (b, e)))
    for found, exact in (
        (x + y, p + q), (x - y, p - q), (number - x, number - p), (x * y, p * q),
        (x * number, p * number), (x / 7, p / 7), (x**power, p**power), (x + number, p + number),
    ):  # fmt: skip
        assert limit_of(found) == exact
        assert limit_of(-found) == -exact


def test_degrees_of_sums_are_the_larger_ones():
    """A bounded number beside 1/τ vanishes with τ: only the numerator is left at τ = 0."""
    large = Homogeneous(Fraction(2), (1,), (Fraction(0),))
    assert plain(large + 100) == 2
    assert plain(large * large - large) == 4
    assert plain(3) == limit_of(3) == 3
