"""The JSON Schema of tables that are declared as dataclasses."""

from typing import Any

import jsonschema

from algebra.problems.instance_files import InstanceFile
from algebra.schemas import schema_of, table_schema
from tests.algebra.test_declarations import Open, Outer


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
