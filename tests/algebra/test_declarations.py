"""Tables that are declared as dataclasses: what is refused, and the schema."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pytest

from algebra.declarations import (
    InFile,
    Keyword,
    Size,
    read_declared,
    read_tables,
)
from tests.refusals import refuses


@dataclass(frozen=True)
class Inner:
    """A table inside another."""

    size: Annotated[Size, "how many"]
    word: Annotated[Literal["a", "b"] | None, "a letter"] = None


@dataclass(frozen=True)
class Outer:
    """A file."""

    inner: Inner
    rows: Annotated[Any, InFile(list[list[float]]), Keyword("minItems", lambda: 1)] = ()


@dataclass(frozen=True)
class Open:
    """A table with keys of any name."""

    flag: bool = False

    others: ClassVar[Any] = dict[str, int] | str
    pattern: ClassVar[str] = "^x"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "here must be a table, not 3"),
        ({"size": 1, "wrod": "a"}, "here has an unknown key `wrod` (did you mean `word`?)"),
        ({"word": "a"}, "here lacks size (size: how many)"),
    ],
)
def test_wrong_keys_are_named(data, message):
    """With the place, the value, and what the missing key is."""
    assert str(refuses("", read_declared, Inner, data, "here")).startswith(message)


def test_right_keys_are_read():
    """Values are left to the classes that are made of them; a table may have further keys."""
    assert read_declared(Inner, {"size": "?"}, "here") == {"size": "?"}
    assert read_declared(Inner, {"size": 1, "kind": 2}, "here", more=("kind",))["kind"] == 2
    assert read_declared(Open, {"any": 1}, "here") == {"any": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"iner": {}}, "the file has an unknown table `iner` (did you mean `inner`?)"),
        ({"inner": 3}, "`inner` (3) must be a table: write [inner]"),
        ({}, "there is no [inner] table"),
    ],
)
def test_wrong_tables_are_named(data, message):
    """Unknown, of another type, missing."""
    assert str(refuses("", read_tables, Outer, data)).startswith(message)
