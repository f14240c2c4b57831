"""Words of counts and lists."""

from algebra.words import plural, some


def test_plural():
    """None of them, one, two."""
    assert [plural(k, f"{k} row") for k in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_some_of_many():
    """The others are counted; there may be none, or no names."""
    assert [some(["a", "b", "c"], k) for k in (1, 3, 9)] == ["a and 2 more", "a, b, c", "a, b, c"]
    assert some([], 2) == ""
