"""The JSON Schema of tables of files, made from their declarations (`algebra.declarations`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from algebra.declarations import InFile, Keyword, declared, description, required

_WORDS = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


def schema_of(form: Any, missing: bool = False) -> dict[str, Any]:
    """The JSON Schema of a type.

    Parameters
    ----------
    form : type
    missing : bool, optional
        Whether None stands for a missing key; otherwise it is null.

    Examples
    --------
    >>> from algebra.declarations import Size
    >>> schema_of(Literal["rows", "columns"] | list[Size])["anyOf"][1]
    {'type': 'array', 'items': {'type': 'integer', 'minimum': 1}}
    """
    origin, inside = get_origin(form), get_args(form)
    if origin is Annotated:
        other = [more.known for more in inside if isinstance(more, InFile)]
        out = schema_of((*other, inside[0])[0], missing)
        out |= {more.name: _plain(more.value) for more in inside if isinstance(more, Keyword)}
        return out | ({"description": description(form)} if description(form) else {})
    if form is Any:
        return {}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, UnionType):
        kinds = [schema_of(kind) for kind in inside if not (missing and kind is NoneType)]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if origin is tuple and inside[-1] is not Ellipsis:
        entries = [schema_of(entry) for entry in inside]
        return {"type": "array", "prefixItems": entries, "minItems": len(entries), "items": False}
    if origin in (list, tuple):
        return {"type": "array", "items": schema_of(inside[0])}
    if origin in (dict, Mapping):
        values = schema_of(inside[1])
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if is_dataclass(form):
        assert isinstance(form, type)
        return table_schema(form)
    return {"type": _WORDS[form]}


def table_schema(table: type) -> dict[str, Any]:
    """The JSON Schema of a table."""
    needed, more = required(table), schema_of(getattr(table, "others", Any))
    pattern = getattr(table, "pattern", "")
    return {
        "type": "object",
        **({"required": needed} if needed else {}),
        "properties": {
            key: schema_of(form, key not in needed) for key, form in declared(table).items()
        },
        **({"patternProperties": {pattern: more}} if pattern else {}),
        "additionalProperties": False if pattern or not more else more,
    }


def _plain(value: Any) -> Any:
    """A value of a keyword with lists in place of tuples and functions."""
    value = value() if callable(value) else value
    return list(value) if isinstance(value, tuple) else value
