"""Tables that are declared as dataclasses: what is refused, and the schema."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import jsonschema
import pytest

from algebra.declarations import (
    InFile,
    Keyword,
    Size,
    read_declared,
    read_tables,
    schema_of,
    table_schema,
)
from algebra.problems.instance_files import InstanceFile
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


def test_the_schema_of_tables():
    """Types, descriptions, keywords, forms in files, keys with and without default."""
    found = table_schema(Outer)
    inner, rows = found["properties"]["inner"], found["properties"]["rows"]
    assert (found["required"], inner["required"]) == (["inner"], ["size"])
    assert inner["properties"]["size"] == {
        "type": "integer",
        "minimum": 1,
        "description": "how many",
    }
    assert inner["properties"]["word"] == {"enum": ["a", "b"], "description": "a letter"}
    assert rows["items"] == {"type": "array", "items": {"type": "number"}}
    assert rows["minItems"] == 1
    check = jsonschema.Draft202012Validator(table_schema(Open))
    assert check.is_valid({"flag": True, "x1": "text", "x2": {"a": 1}})
    assert not check.is_valid({"x1": 3})
    assert not check.is_valid({"y": "text"})
    assert schema_of(dict[str, Any]) == {"type": "object"}


def test_the_schema_of_instance_files():
    """Numbers are numbers or texts; the tables are those of the reader."""
    check = jsonschema.Draft202012Validator(table_schema(InstanceFile))
    good = {"weights": {"W": [["1/2", 0.25]]}, "samples": {"X": [[1], [2]]}}
    assert check.is_valid({**good, "labels": {"Y": [[3]]}})
    assert not check.is_valid({**good, "labels": {"Z": [[3]]}})
    assert not check.is_valid({"weights": {"W": [[[]]]}, "samples": {"X": [[1]]}})
    assert not check.is_valid({"weights": {}})
