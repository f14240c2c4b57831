"""Fields are read with exact types; every refusal names the place."""

from collections.abc import Mapping
from functools import partial
from types import NoneType
from typing import Any, Literal

import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import (
    Fields,
    entries_by_row,
    matrix_rows,
    rational_text,
    whole,
    whole_text,
)
from algebra.checker.records import read_form
from tests.refusals import refuses

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(PLAIN)
def test_whole_numbers_are_ints_and_nothing_else(value):
    """True, 1.0 and "1" are no whole numbers."""
    if type(value) is int:
        assert whole(value, "here") == value
        return
    assert refuses("", whole, value, "here", error=CheckFailed).place == "here"


@given(PLAIN)
def test_any_data_is_read_or_refused(value):
    """Each reader returns its own type or refuses; nothing else is raised."""
    for form, kind in (
        (int, int), (str, str), (bool, bool), (tuple[str, ...], tuple), (tuple[int, ...], tuple),
        (Mapping[str, Any], dict), (tuple[int, str], tuple), (Literal["", 0], (int, str)),
        (int | None, (int, NoneType)),
    ):  # fmt: skip
        place = "file.x"
        try:
            found = read_form(form, value, place)
        except CheckFailed as refusal:
            place = refusal.place
        else:
            assert isinstance(found, kind)
            assert (type(found) is bool) == (form is bool)
        assert place.startswith("file.x")


@given(st.integers(), st.integers(min_value=1))
def test_fractions_as_text(numerator, denominator):
    """FLINT's text is read back."""
    value = fmpq(numerator, denominator)
    assert rational_text(str(value), "x", 1000) == value
    assert whole_text(str(numerator), "x") == numerator


@pytest.mark.parametrize("text", ["1/0", "1e9", "", " 1", "+1", "0.5", "1/-2", "٣", "1_0", None, 1])
def test_other_texts_are_no_fractions(text):
    """They are not integers either."""
    refuses("", rational_text, text, "x", 100, error=CheckFailed)
    refuses("", whole_text, text, "x", error=CheckFailed)


def test_long_whole_numbers():
    """FLINT reads what Python would not."""
    assert whole_text("1" + "0" * 6000, "x") == fmpz(10) ** 6000
    refuses("at most 64", rational_text, "1" * 65, "x", 64, error=CheckFailed)


def test_missing_and_unknown_fields():
    """Both are named."""
    fields = Fields({"a": 1, "b": 2}, "file.part")
    assert fields.raw("a") == 1
    assert refuses("missing", fields.raw, "c", error=CheckFailed).place == "file.part.c"
    assert refuses("no field", fields.finish, error=CheckFailed).place == "file.part.b"
    refuses("more than", whole, fields.raw("b"), "file.part.b", 0, 1, error=CheckFailed)
    refuses("table", Fields, [], "", error=CheckFailed)


def test_matrices_have_their_shape():
    """Flat, nested and ragged ones are refused."""
    assert matrix_rows([[1, 2]], "m", (1, 2)) == [[1, 2]]
    for bad in ([1, 2], [[1], [2]], [[1, 2], [3]], [], None, "12"):
        refuses("", matrix_rows, bad, "m", (1, 2), error=CheckFailed)


def test_entries_of_matrices_have_their_places():
    """The row and the column of a wrong entry."""
    bit = partial(whole, least=0, most=1)
    assert entries_by_row([[0, 1]], "X", (1, 2), bit) == [[0, 1]]
    caught = refuses("", entries_by_row, [[0, 1], [0, 2]], "X", (2, 2), bit, error=CheckFailed)
    assert caught.place == "X[1][1]"
