"""Classes of errors, and short texts of values for their messages."""

from __future__ import annotations

import operator
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
