"""Tables of files, declared as dataclasses: read with a place in every message.

A field is a key of the table, of its name or of that in its metadata (`named_key`); one without a
default is required.  The type of a field is that of its values: bool, int, float, str, `Literal`,
lists, mappings of texts, unions (None: the key may be missing), and other declarations.
`Annotated` adds a description (a text), a keyword of JSON Schema (`Keyword`), or the form in files
of a value that has another type in Python (`InFile`).  A table with keys of any name has the class
variable `others`, the type of their values, and may have `pattern`, which the names match.

`read_declared` checks the keys; the classes that are made from the values check the values.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from algebra.errors import InputError, one_line, shown


@dataclass(frozen=True)
class Keyword:
    """A keyword of JSON Schema and its value, beside a type.

    Attributes
    ----------
    name : str
    value : object
        A list is given as a tuple; a value that is not known at import, as a function without
        arguments.
    """

    name: str
    value: Any


@dataclass(frozen=True)
class InFile:
    """The type of a value in files, where the field has another type.

    Attributes
    ----------
    form : type or str
        A form that only readers of files need is named by its module, as in "package.module:Name".
    """

    form: Any

    @property
    def known(self) -> Any:
        """The form; the module of a named one is loaded."""
        return loaded(self.form) if isinstance(self.form, str) else self.form


def loaded(place: str) -> Any:
    """What has a name in a module, as in "package.module:name"; the module is loaded."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


Count = Annotated[int, Keyword("minimum", 0)]
Size = Annotated[int, Keyword("minimum", 1)]

# The methods by which solutions are counted, in files.
LINEAR, DEGREE, TRACE = "linear", "quotient degree", "trace test"


@cache
def declared(table: type) -> Mapping[str, Any]:
    """The type of each key of a table."""
    hints = get_type_hints(table, include_extras=True)
    return {key: hints[f.name] for f in fields(table) if (key := key_of(f)) is not None}


def named_key(key: str | None) -> dict[str, str | None]:
    """The metadata of a field whose key has another name, or that is no key (None)."""
    return {"key": key}


def key_of(field: Field[Any]) -> str | None:
    """The key of a field; None if the field is not in the table."""
    key: str | None = field.metadata.get("key", field.name)
    return key


def required(table: type) -> list[str]:
    """The keys that a table must have."""
    given = [f for f in fields(table) if f.default is MISSING]
    return [key for f in given if (key := key_of(f)) is not None]


def description(form: Any) -> str:
    """The description in a type; "" if it has none.

    Examples
    --------
    >>> description(Annotated[int, "hidden units"])
    'hidden units'
    """
    if get_origin(form) is not Annotated:
        return ""
    return next((more for more in get_args(form) if isinstance(more, str)), "")


def nearest(key: str, known: Collection[str]) -> str:
    """A hint with the most similar known key; "" if none is similar.

    Examples
    --------
    >>> nearest("learnabel", ["network", "learnable"])
    ' (did you mean `learnable`?)'
    """
    found = difflib.get_close_matches(str(key), known, 1, 0.7)
    return f" (did you mean `{found[0]}`?)" if found else ""


def read_keys(data: Any, known: Collection[str], where: str, what: str = "key") -> dict[str, Any]:
    """A table of a file whose keys are known.

    Parameters
    ----------
    data : object
    known : collection of str
    where : str
        The table, in messages.
    what : str, optional
        A word for its keys.

    Raises
    ------
    InputError
        If it is no table, or has an unknown key.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a table, not {shown(data)}")
    for key in data:
        if key not in known:
            raise InputError(
                f"{where} has an unknown {what} `{one_line(key)}`{nearest(key, known)}; known are "
                + ", ".join(sorted(known))
            )
    return dict(data)


def read_declared(
    table: type,
    data: Any,
    where: str,
    what: str = "key",
    meanings: Mapping[str, str] | None = None,
    more: Collection[str] = (),
) -> dict[str, Any]:
    """A table of a file with the keys of its declaration.

    Parameters
    ----------
    table : dataclass
    data : object
    where, what : str
        As for `read_keys`.
    meanings : mapping of str to str, optional
        Descriptions of keys whose types have none.
    more : collection of str, optional
        Further known keys.

    Raises
    ------
    InputError
        If it is no table, has an unknown key, or lacks one.
    """
    forms = declared(table)
    known = {*forms, *more, *(data if hasattr(table, "others") else ())}
    found = read_keys(data, known, where, what)
    missing = [key for key in required(table) if key not in found]
    if missing:
        texts = [description(forms[key]) or (meanings or {}).get(key, key) for key in missing]
        lacking = "; ".join(f"{key}: {text}" for key, text in zip(missing, texts, strict=True))
        raise InputError(f"{where} lacks {', '.join(missing)} ({lacking})")
    return found


def read_tables(file: type, data: Any) -> None:
    """Check the tables of a file against its declaration.

    Raises
    ------
    InputError
        If one is unknown, no table, or missing.
    """
    read_keys(data, declared(file), "the file", "table")
    for table in data:
        if not isinstance(data[table], Mapping):
            raise InputError(f"`{table}` ({shown(data[table])}) must be a table: write [{table}]")
    for table in required(file):
        if table not in data:
            raise InputError(f"there is no [{table}] table")
