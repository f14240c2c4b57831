"""The exception for bad input, and values in messages: short, on one line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matchprob
from algebra.errors import InputError, one_line, shown, whole_number
from algebra.given import known_name
from algebra.networks.recurrent import LinearRNN
from tests.refusals import refuses


@given(st.text())
def test_one_line_is_printable_and_short(text):
    """Whatever the text, what is shown is printable and at most 80 characters."""
    for made in (one_line(text), shown(text)):
        assert len(made) <= 80
        assert all(c.isprintable() for c in made)


@given(st.from_regex(r"[a-zA-Z0-9 .,]{0,80}", fullmatch=True))
def test_plain_text_is_not_changed(text):
    """Plain text that fits stays as it is."""
    assert one_line(text) == text


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_too_long_to_print_is_named(sign):
    """Python refuses to print 10^5000; a message is still possible."""
    assert shown(sign * 10**5000) == "<int too large to print>"
    assert "too large" in shown([sign * 10**5000])


def test_a_list_inside_itself_is_shown():
    """A recursive or very deep value does not end in RecursionError."""
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert "too large" in shown(deep)


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integers_of_all_kinds_are_whole(value):
    """Python's and NumPy's integers become int."""
    number = whole_number(value, "n", 1)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, np.float64(3), "3", None, [3], 3j])
def test_other_things_are_not_whole(value):
    """Floats, bools and text are refused by name, even where their value is whole."""
    refuses(r"^`n` \(.+\) must be a whole number$", whole_number, value, "n", 1)


def test_the_range_is_inclusive():
    """Both ends of the range are valid; a number outside is named with the end."""
    assert [whole_number(k, "n", 1, 3) for k in (1, 3)] == [1, 3]
    refuses(r"`n` \(0\) must be at least 1", whole_number, 0, "n", 1, 3)
    refuses(r"`n` \(4\) must be at most 3", whole_number, 4, "n", 1, 3)


def test_it_is_a_value_error_that_names_argument_and_value():
    """Callers may catch ValueError; the message names the argument and echoes the value."""
    assert matchprob.InputError is InputError
    met = refuses(r"`n` \(0\)", LinearRNN, n=0, T=1, b=1, d=1, m=1, error=ValueError)
    assert isinstance(met, InputError)


@pytest.mark.parametrize("value", ["sgd", "", None, 1, ["gd"], {"gd": 1}, np.array(["gd"])])
def test_what_is_no_known_name_is_bad_input(value):
    """A list, a table or an array cannot be looked up, and are refused like another word."""
    assert known_name("gd", "optimizer", ("gd", "adam")) == "gd"
    with pytest.raises(InputError, match=r"^`optimizer` \(.*\) must be one of gd, adam$"):
        known_name(value, "optimizer", {"gd": 1, "adam": 2})
