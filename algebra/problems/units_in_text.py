"""Names of units in texts: found in the words of tables, inserted after numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from algebra.errors import InputError, one_line, shown
from algebra.problems.populations import LONGEST

if TYPE_CHECKING:
    from algebra.problems.names import Names

_LINES = r"\d+(?:, \d+)*(?: and \d+ more)?"


def find(names: Names, matrix: str, axis: int, text: str) -> int:
    """The row (axis 0) or column (axis 1) with this name or number; -1 if there is none.

    If a name of these units is a number, numbers are names only.
    """
    places, are_numbers = names.known.get((matrix, axis), ({}, False))
    if text in places or are_numbers:
        return places.get(text, -1)
    if text.isascii() and text.isdigit() and len(text) <= LONGEST:
        return int(text) if int(text) < names.network.shapes[matrix][axis] else -1
    return -1


def needed(names: Names, matrix: str, axis: int, text: str) -> int:
    """The row (axis 0) or column (axis 1) with this name or number, as of `find`.

    Raises
    ------
    InputError
        If there is none.
    """
    if (at := find(names, matrix, axis, text)) >= 0:
        return at
    own = names.of(matrix, axis)
    if names.known.get((matrix, axis), ({}, False))[1]:
        raise _unknown(names, matrix, axis, text)
    size = names.network.shapes[matrix][axis]
    what = ("`post`", "row") if axis == 0 else ("`pre`", "column")
    if text.isascii() and text.isdigit():
        raise InputError(
            f"{what[0]} {one_line(text)} is outside: {matrix} has {what[1]}s 0 to {size - 1}; "
            "numbers that are ids, or start at 1, are names: list them in [names]"
        )
    if own is None:
        raise InputError(
            f"{what[0]} ({shown(text)}) must be the number of a unit, from 0: the {what[1]}s "
            f"of {matrix} have no [names]"
        )
    raise _unknown(names, matrix, axis, text)


def _unknown(names: Names, matrix: str, axis: int, text: str) -> InputError:
    """The error that a text is none of the names of a matrix's rows (axis 0) or columns."""
    end, lines = (("`post`", "rows"), ("`pre`", "columns"))[axis]
    own = names.of(matrix, axis) or ()
    return InputError(
        f"{end} ({shown(text)}) is none of the [names] of {matrix}'s {lines}: "
        + shown(", ".join(own))
    )


@lru_cache(maxsize=16)
def _patterns(shapes: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    matrices = "|".join(map(re.escape, shapes))
    cells = re.compile(rf"\b({matrices})\[(\d+), ?(\d+)\]")
    lines = re.compile(
        rf"\b(rows?|columns?) ({_LINES})(?: and (columns?) ({_LINES}))? of ({matrices})\b"
    )
    return cells, lines


def annotated(names: Names, text: str) -> str:
    """The text with names inserted after the numbers of weights, rows and columns."""
    cells, lines = _patterns(tuple(names.network.shapes))

    def cell(found: re.Match[str]) -> str:
        matrix, i, j = found[1], int(found[2]), int(found[3])
        shape = names.network.shapes[matrix]
        return names.cell((matrix, i, j)) if i < shape[0] and j < shape[1] else found[0]

    def numbers(listed: str, noun: str, matrix: str) -> str:
        own = names.of(matrix, 0 if noun.startswith("row") else 1)
        if own is None:
            return listed
        return re.sub(
            r"\b\d+\b(?! more)",
            lambda m: f"{m[0]} ({own[int(m[0])]})" if int(m[0]) < len(own) else m[0],
            listed,
        )

    def line(found: re.Match[str]) -> str:
        first, listed, second, more, matrix = found.groups()
        out = f"{first} {numbers(listed, first, matrix)}"
        if second:
            out += f" and {second} {numbers(more, second, matrix)}"
        return f"{out} of {matrix}"

    return lines.sub(line, cells.sub(cell, text))
