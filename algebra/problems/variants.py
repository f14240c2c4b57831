"""Variants of a problem file: one entry takes several values, such as ``n=4,8,16``."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from algebra.errors import ErrorsAt, InputError, shown
from algebra.files.opening import path_text
from algebra.problems.files import problem_from_dict, read_toml
from algebra.problems.problem import Problem

# Variants of one call.
_MOST = 1_000


def read_variants(text: object) -> tuple[str, tuple[Any, ...]]:
    """The entry that varies and its values.

    Parameters
    ----------
    text : str
        As in ``n=4,8,16`` or ``distribution.weights=normal,uniform``.

    Raises
    ------
    InputError

    Examples
    --------
    >>> read_variants("n=4,8,16")
    ('n', (4, 8, 16))
    >>> read_variants("distribution.scale.W=1/2,2.5")
    ('distribution.scale.W', ('1/2', 2.5))
    """
    key, equals, rest = text.partition("=") if isinstance(text, str) else ("", "", "")
    words = [word.strip() for word in rest.split(",")]
    if not equals or not key.strip() or not all(words):
        raise InputError(
            f"`sweep` ({shown(text)}) must name an entry of the problem file and its values, such "
            "as n=4,8,16"
        )
    values = tuple(_value(word) for word in words)
    if len(values) > _MOST or len(set(words)) < len(words):
        raise InputError(f"`sweep` ({shown(text)}) must have different values, at most {_MOST}")
    return key.strip(), values


def _value(word: str) -> Any:
    """A number or a truth value as TOML has it; otherwise the text."""
    try:
        value = tomllib.loads(f"value = {word}")["value"]
    except tomllib.TOMLDecodeError:
        return word
    return value if isinstance(value, (Real, str)) else word


def variants(source: Problem | str | Path, key: str, values: tuple[Any, ...]) -> list[Problem]:
    """The problem with each of these values of an entry.

    Parameters
    ----------
    source : Problem, str or Path
        A problem, or the name of a problem file.
    key : str
        The entry's name if no other entry has it, or its place, ``distribution.scale.W``, which is
        added if the file has none.
    values : tuple

    Raises
    ------
    InputError
        If there is no such entry, or several, or a value is refused; the message names it.
    """
    folder = None
    if isinstance(source, Problem):
        data, where = source.to_dict(), ""
    else:
        path = Path(source)
        data, folder, where = read_toml(path), path.parent, f"{path_text(path)}: "
    place = _place(data, key, where)
    found = []
    for value in values:
        changed: Any = copy.deepcopy(data)
        inner = changed
        for name in place[:-1]:
            inner = inner.setdefault(name, {})
        inner[place[-1]] = value
        with ErrorsAt(f"{where}{key} = {shown(value)}"):
            found.append(problem_from_dict(changed, folder))
    return found


def _place(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    path = tuple(key.split("."))
    places = [own for own in _entries(data) if own[-len(path) :] == path]
    whole = [own for own in places if own == path]
    if len(whole or places) == 1:
        return (whole or places)[0]
    if not places and len(path) > 1 and _is_free(data, path):
        return path
    if places:
        names = ", ".join(".".join(own) for own in places[:5])
        raise InputError(f"{where}`{key}` is the name of several entries: give one of {names}")
    names = ", ".join(dict.fromkeys(own[-1] for own in _entries(data)))
    raise InputError(f"{where}there is no entry `{key}` with a number or a word; there are {names}")


def _is_free(data: Any, path: tuple[str, ...]) -> bool:
    """Whether an entry may be added there: what is above it are tables."""
    for name in path[:-1]:
        data = data.get(name, {})
        if not isinstance(data, Mapping):
            return False
    return not isinstance(data.get(path[-1]), Mapping)


def _entries(data: Mapping[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places of numbers and words in tables of tables."""
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _entries(value, (*at, name))
        elif isinstance(value, (Real, str)):
            yield (*at, name)
