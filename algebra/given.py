"""Values that users give to functions: tables, lists, matrices, words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from algebra.errors import InputError, shown


def given_mapping(value: Any, name: str, example: str) -> dict[Any, Any]:
    """A table given by a user, as a dict; None is an empty one.

    Parameters
    ----------
    value : mapping or None
    name : str
        Its name in messages.
    example : str
        An example for the message.

    Raises
    ------
    InputError
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"`{name}` ({shown(value)}) must be a table such as {example}")
    return dict(value)


def given_list(value: Any, name: str, example: str) -> list[Any]:
    """A list given by a user; texts and arrays are not accepted, None is an empty one.

    Raises
    ------
    InputError
    """
    if value is None:
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, Set)):
        raise InputError(f"`{name}` ({shown(value)}) must be a list such as {example}")
    return list(value)


def given_rows(value: Any, name: str, what: str, shape: tuple[int, int]) -> Sequence[Sequence[Any]]:
    """The rows of a matrix given by a user, lists or an array, of a given shape.

    Parameters
    ----------
    value : sequence of sequences
    name : str
        Its name in messages.
    what : str
        What it must be.
    shape : (int, int)

    Raises
    ------
    InputError
    """
    rows = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(rows, (list, tuple)) or not all(isinstance(r, (list, tuple)) for r in rows):
        raise InputError(f"`{name}` ({shown(value)}) must be {what}")
    lengths = sorted({len(row) for row in rows})
    if len(rows) != shape[0] or lengths != [shape[1]]:
        size = f"{len(rows)}×{lengths[0]}" if len(lengths) == 1 else f"rows of {shown(lengths)}"
        raise InputError(f"`{name}` is {size}; it must be {shape[0]}×{shape[1]}")
    return rows


def known_name(value: Any, name: str, known: Iterable[str]) -> str:
    """A word given by a user, if it is a known one; anything else is bad input.

    Parameters
    ----------
    value : str
    name : str
        Its name in messages.
    known : iterable of str

    Raises
    ------
    InputError

    Examples
    --------
    >>> known_name("adam", "optimizer", ["gd", "adam"])
    'adam'
    """
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise InputError(f"`{name}` ({shown(value)}) must be one of " + ", ".join(names))
    return value
