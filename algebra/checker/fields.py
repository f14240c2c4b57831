"""Values of a file, read with their exact types; each refusal has its place.

Tables are declared and read by `algebra.checker.records`, which uses the functions here.

A file from an unknown writer is first read into frozen objects and then verified.  A value that is
not an integer where one is required (1.0, true, "1"), a missing key and an unknown key are errors
of the file, reported with their place.  An exception after that is a bug in the verifier.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flint import fmpq, fmpz

from algebra.checker.checks import CheckFailed
from algebra.errors import DualError, InputError, one_line, shown
from algebra.linalg.primes import PRIME_SIZES

# Primes of the points at which ranks are computed.
PRIMES = 1 << PRIME_SIZES.least_read - 1, 1 << PRIME_SIZES.usual
LONG_PRIMES = 1 << PRIME_SIZES.long - 1, 1 << PRIME_SIZES.long
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_RATIONAL = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")


class RefusedAt:
    """A context in which bad input is refused at a place of the file.

    Parameters
    ----------
    place : str
    """

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, (InputError, DualError)):
            raise CheckFailed(self.place, str(error)) from None


class Fields:
    """A table of a file; unknown keys are rejected by `finish`.

    Parameters
    ----------
    data : object
        The value at `place`; anything but a table is rejected.
    place : str
        "" for the file itself.
    """

    def __init__(self, data: object, place: str = "") -> None:
        self.place = place
        if not isinstance(data, Mapping):
            raise CheckFailed(place or "file", f"must be a table, not {shown(data)}")
        self._data = data
        self._asked: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        for key in self._data:
            if not isinstance(key, str):
                raise CheckFailed(self.place or "file", f"the key {shown(key)} is no text")
            yield key

    def at(self, key: str) -> str:
        """The place of a field."""
        return within(self.place, key)

    def has(self, key: str) -> bool:
        """Whether there is such a field."""
        return key in self._data

    def raw(self, key: str) -> Any:
        """The raw value of a field."""
        self._asked.add(key)
        if key not in self._data:
            raise CheckFailed(self.at(key), "is missing")
        return self._data[key]

    def text(self, key: str) -> str:
        """A text."""
        value = self.raw(key)
        if not isinstance(value, str):
            raise CheckFailed(self.at(key), f"must be a text, not {shown(value)}")
        return value

    def finish(self) -> None:
        """Reject keys that were not read."""
        for key in self._data:
            if key not in self._asked:
                raise CheckFailed(self.at(one_line(key)), "is no field of this format")


def within(place: str, key: str) -> str:
    """The place of a field of the table at a place; "" is the file itself."""
    return f"{place}.{key}" if place else key


def whole(value: Any, place: str, least: int | None = None, most: int | None = None) -> int:
    """An integer (of type int) within bounds."""
    if type(value) is not int:
        raise CheckFailed(place, f"must be a whole number, not {shown(value)}")
    if least is not None and value < least:
        raise CheckFailed(place, f"{shown(value)} is less than {least}")
    if most is not None and value > most:
        raise CheckFailed(place, f"{shown(value)} is more than {most}")
    return value


def items(value: Any, place: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise CheckFailed(place, f"must be a list, not {shown(value)}")
    return value


def matrix_rows(value: Any, place: str, shape: tuple[int, int]) -> list[list[Any]]:
    """Rows of the right number and length."""
    rows = [items(row, f"{place}[{i}]") for i, row in enumerate(items(value, place))]
    if len(rows) != shape[0] or any(len(row) != shape[1] for row in rows):
        raise CheckFailed(place, f"is not a matrix of {shape[0]}×{shape[1]}")
    return rows


def entries_by_row(
    value: Any, place: str, shape: tuple[int, int], read: Callable[[Any, str], Any]
) -> list[list[Any]]:
    """The entries of a matrix given by its rows.

    Parameters
    ----------
    value : object
    place : str
    shape : (int, int)
    read : callable
        Makes the value of an entry, from the entry and its place.

    Raises
    ------
    CheckFailed
    """
    # The size is that of the file's own network: rows of this size come first.
    return [
        [read(entry, f"{place}[{i}][{j}]") for j, entry in enumerate(row)]
        for i, row in enumerate(matrix_rows(value, place, shape))
    ]


def cells(value: Any, place: str) -> tuple[tuple[str, int, int], ...]:
    """Distinct weights, each as [matrix, row, column]; their existence is not checked."""
    found: list[tuple[str, int, int]] = []
    for k, cell in enumerate(items(value, place)):
        at = f"{place}[{k}]"
        parts = items(cell, at)
        if len(parts) != 3 or not isinstance(parts[0], str):
            raise CheckFailed(at, "must be a matrix, a row and a column")
        found.append((parts[0], whole(parts[1], at, 0), whole(parts[2], at, 0)))
    if len(set(found)) < len(found):
        raise CheckFailed(place, "names a weight twice")
    return tuple(found)


def prime_and_point(value: Any, place: str) -> tuple[int, int]:
    """The prime and the number of a random point, as in the evidence of ranks."""
    pair = items(value, place)
    if len(pair) != 2:
        raise CheckFailed(place, "must be a prime and the number of a point")
    p, number = (whole(entry, f"{place}[{k}]", 0) for k, entry in enumerate(pair))
    inside = PRIMES[0] < p < PRIMES[1] or LONG_PRIMES[0] < p < LONG_PRIMES[1]
    if not (inside and fmpz(p).is_prime()):
        raise CheckFailed(
            place, f"{one_line(p)} is no prime between 2^20 and 2^31 or between 2^60 and 2^61"
        )
    return p, number


def whole_text(value: Any, place: str) -> fmpz:
    """An integer written as text; it may be long."""
    if not isinstance(value, str) or not _WHOLE.fullmatch(value):
        raise CheckFailed(place, f"must be a whole number as text, not {shown(value)}")
    return fmpz(value)


def rational_text(value: Any, place: str, digits: int) -> fmpq:
    """A fraction written as text, such as "-3/8", of at most `digits` characters."""
    if not isinstance(value, str) or len(value) > digits or not _RATIONAL.fullmatch(value):
        text = f"must be a fraction as text, of at most {digits} characters, not {shown(value)}"
        raise CheckFailed(place, text)
    numerator, _, denominator = value.partition("/")
    # FLINT reads long integers fast, and without Python's limit of digits.
    return fmpq(fmpz(numerator), fmpz(denominator or "1"))
