"""Costs and marks of elements to record: by name, or a file for all of a kind."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from algebra.errors import ErrorsAt, InputError, shown
from algebra.linalg.numbers import exact_number
from algebra.plugins.circuits.elements import (
    Recordable,
    fitting,
    kind_name,
    numbers_of,
    unit_names,
)
from algebra.problems.edges import Edges
from algebra.problems.names import Names
from algebra.problems.tables import read_rows


def _kind_of(element: Recordable) -> str:
    """The name for the elements of a population: layer2, units, outputs, …."""
    if element.axis.startswith("hidden layer "):
        return "layer" + element.axis.removeprefix("hidden layer ")
    return element.kind


def elements_by_kind(elements: Sequence[Recordable]) -> dict[str, list[Recordable]]:
    """The elements of each kind, in their order."""
    found: dict[str, list[Recordable]] = {}
    for element in elements:
        found.setdefault(_kind_of(element), []).append(element)
    return found


def _table(
    path: Path, kind: str, elements: Sequence[Recordable], names: Names, option: str
) -> Iterator[tuple[Recordable, str, str]]:
    """Each element of a kind that a file lists, with its text and its place in the file."""
    where = f"{option} {path}"
    try:
        rows = read_rows(path)
    except (OSError, UnicodeDecodeError, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{where}: {reason}") from None
    if isinstance(rows, Edges):
        raise InputError(f"{where}: an edge list is about weights, not about {kind}")
    texts = [text for row in rows for text in row]
    chosen, given = list(elements), list(rows.row_names)
    if kind == "entries" or not all(len(row) == 1 for row in rows):
        given = []
    if kind != "entries" and len(rows.column_names) == 2 and all(len(r) == 2 for r in rows):
        # Names that are numbers would be data to the reader of matrices.
        given, texts = [row[0] for row in rows], [row[1] for row in rows]
    if given:
        # One line per element, by name or number.
        units = unit_names(elements[0].axis, names) or ()
        are_numbers = any(map(str.isdigit, units))
        known = {} if are_numbers else {str(k): element for k, element in enumerate(elements)}
        known |= dict(zip(units, elements, strict=False))
        for name in given:
            if name not in known:
                raise InputError(f"{where}: {shown(name)} is none of the {len(elements)} {kind}")
        chosen = [known[name] for name in given]
        if len(set(chosen)) < len(chosen):
            raise InputError(f"{where}: one of the {kind} is given twice")
    if len(texts) != len(chosen):
        raise InputError(
            f"{where}: {len(texts)} numbers; one for each of the {kind} ({len(chosen)}) is needed"
        )
    for element, text in zip(chosen, texts, strict=True):
        yield element, text, f"{where}: {element.name}"


def read_element_costs(
    entries: Sequence[str], elements: Sequence[Recordable], names: Names
) -> dict[str, Fraction]:
    """Costs of elements, from entries ``NAME=NUMBER`` or ``KIND=FILE``.

    Parameters
    ----------
    entries : sequence of str
        A name may be a pattern.
    elements : sequence of Recordable
        All elements that may be named.
    names : Names
        Names of units.

    Raises
    ------
    InputError
    """
    known, kinds = numbers_of(elements, names), elements_by_kind(elements)
    costs: dict[str, Fraction] = {}
    for entry in entries:
        name, equals, given = entry.partition("=")
        name = kind_name(name)
        if not equals:
            raise InputError(f"--costs {entry!r}: give NAME=NUMBER or KIND=FILE")
        if named := fitting(name, known):
            found = [(elements[k], given, f"--costs {name}") for k in named]
        elif name in kinds:
            found = list(_table(Path(given), name, kinds[name], names, "--costs"))
        else:
            raise InputError(_unknown("--costs", name, known, kinds))
        for element, text, place in found:
            with ErrorsAt(place):
                costs[element.name] = exact_number(text, "price")
    return costs


def read_marks(
    entries: Sequence[str], elements: Sequence[Recordable], names: Names, option: str
) -> list[str]:
    """Elements given by name or by a pattern, or marked 1 in the files of entries ``KIND=FILE``.

    Raises
    ------
    InputError
    """
    known, kinds = numbers_of(elements, names), elements_by_kind(elements)
    found: list[str] = []
    for entry in entries:
        if named := fitting(entry, known):
            found += [elements[k].name for k in named]
            continue
        name, equals, file = entry.partition("=")
        name = kind_name(name)
        if not equals or name not in kinds:
            raise InputError(_unknown(option, name, known, kinds))
        for element, text, place in _table(Path(file), name, kinds[name], names, option):
            if text not in ("0", "1"):
                raise InputError(f"{place}: {text!r} is not 0 or 1")
            if text == "1":
                found.append(element.name)
    return found


def _unknown(
    option: str,
    name: str,
    known: dict[str, int],
    kinds: dict[str, list[Recordable]],
) -> str:
    # The last name of an element is the one that its file gives.
    own = list({number: name for name, number in known.items()}.values())
    near = difflib.get_close_matches(name, own, 3)
    return (
        f"{option} {name!r}: give the name of an element ("
        + (", ".join(near) + ", …" if near else f"{own[0]} to {own[-1]}")
        + "), or KIND=FILE, of "
        + ", ".join(kinds)
    )
