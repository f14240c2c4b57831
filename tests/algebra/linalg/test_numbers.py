"""Numbers that users give, and the short texts of reports."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.linalg.numbers import certainty_text, exact_number, float_text, nearest_double
from tests.refusals import refuses


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e-400", "1" + "0" * 301])
def test_numbers_of_files_have_one_bound(text):
    """Numbers that binary64 does not hold are refused, however a file gives them."""
    refuses("too many digits: numbers between 1e-300 and 1e300", exact_number, text)
    with pytest.raises(InputError):
        exact_number(int(text) if text.isdigit() else text)
    assert exact_number("1e300") == 10**300


@pytest.mark.parametrize(
    "value",
    [True, None, [], float("inf"), "", ".", "1/0", "1.5/2", "1e9999999", "9" * 3000, "one", "0x1"],
)
def test_what_is_no_number_is_refused(value):
    """Other types, texts that are no numbers, and those that are too long to be expanded."""
    refuses("", exact_number, value)


@given(st.fractions(-1000, 1000), st.floats(1e-200, 1e200))
def test_numbers_are_exact(fraction, double):
    """A fraction, its text and a double are the rationals that they are."""
    assert exact_number(fraction) == exact_number(str(fraction)) == fraction
    assert exact_number(double) == Fraction(double)
    assert nearest_double(Fraction(double)) == double


@given(st.fractions(0, 1))
def test_bounds_are_rounded_up(error):
    """A bound that is printed is never below the bound, and 0 is certainty."""
    assert Fraction(float_text(error)) >= error
    assert (certainty_text(error) == "proved") == (error == 0)
