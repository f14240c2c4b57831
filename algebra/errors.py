"""Classes of errors, and short texts of values for their messages."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

_LONGEST = 80


class InputError(ValueError):
    """Bad input from a user: a wrong size, key, mask, file or a missing engine.

    The message names the argument, echoes the value and says what to try.  The
    command line prints it on stderr and exits with status 2.
    """


class Unrealized(InputError):
    """A target that the layers of a network were not shown to realize."""


class ErrorsAt:
    """A context in which the messages of `InputError` begin with a place.

    Parameters
    ----------
    place : str
        A file, a key, an argument.

    Examples
    --------
    >>> with ErrorsAt("learnable.W[2][0]"):
    ...     raise InputError("is no number")
    Traceback (most recent call last):
    ...
    algebra.errors.InputError: learnable.W[2][0]: is no number
    """

    def __init__(self, place: object) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.place}: {error}") from None


class DualError(ValueError):
    """A proof of a bound that is not a dual solution of its problem (`algebra.matroids.capped`)."""


class Unfinished(RuntimeError):
    """Work that could not be finished; the unfinished part implies nothing about the answer.

    The message gives the cause.  The command line prints it on stderr and exits with
    status 3.
    """


class Notice(UserWarning):
    """A warning for the user, which the command line prints in one line on stderr."""


class LargeMemory(Notice):
    """The computation requires much memory."""


class NoEdges(Notice):
    """A file of synapses that names none."""


def shown(value: object) -> str:
    """The text of a value in a message: its repr, on one line, truncated if it is long.

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> shown("2"), shown([1, 2])
    ("'2'", '[1, 2]')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        # Python refuses to print integers of more than 4300 digits.
        text = f"<{type(value).__name__} too large to print>"
    return one_line(text)


def printable(text: str) -> str:
    """A text on one line: what cannot be printed is written as an escape.

    Examples
    --------
    >>> print(printable("W\\x1b[2J"))
    W\\x1b[2J
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def one_line(text: object) -> str:
    """A name or another program's message on one line, truncated if it is long.

    Parameters
    ----------
    text : object

    Examples
    --------
    >>> print(one_line("W\\nx"))
    W\\nx
    """
    whole = printable(str(text)[: 4 * _LONGEST])
    return whole if len(whole) <= _LONGEST else whole[: _LONGEST - 1] + "…"


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


def need_shape(own: tuple[int, ...], name: str, shape: tuple[int, int]) -> None:
    """Refuse a matrix that has not the shape of the network's.

    Raises
    ------
    InputError
    """
    if own != shape:
        raise InputError(
            f"{name} is {own[0]}×{own[1]} but the network's matrix is {shape[0]}×{shape[1]}"
        )


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


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """An integer in a range, as int; integers of NumPy are accepted, bool is not.

    Parameters
    ----------
    value : int
    name : str
        Its name in messages.
    least, most : int
        The range, inclusive.

    Raises
    ------
    InputError
        If it is not an integer or out of range.
    """
    try:
        # Python's, and NumPy's, which older versions of it take as an index.
        if type(value).__name__ in ("bool", "bool_"):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InputError(f"`{name}` ({shown(value)}) must be a whole number") from None
    if number < least:
        raise InputError(f"`{name}` ({shown(number)}) must be at least {least}")
    if most is not None and number > most:
        raise InputError(f"`{name}` ({shown(number)}) must be at most {most}")
    return number
