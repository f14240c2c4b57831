"""Tables of units as they are published: columns of names, types, transmitters, roles.

Codex's classification and neurons, hemibrain's traced neurons and tables of one's own have a header
and a line for each unit.  A problem file names the columns::

    [names]
    neurons = { file = "neurons.csv", name = "root_id", where = { role = "neuron" } }
    [types]
    neurons = { file = "classification.csv", name = "root_id", type = "cell_type", missing = "own" }
    [distribution]
    signs = { file = "neurons.csv", column = "nt_type", ACH = "+", GABA = "-" }

A plain name, ``neurons = "neurons.csv"``, is enough if the table has a column ``role``: the lines
of a population are those whose role is its word, such as neuron, input or output.

Units of the table that the problem does not name are refused or left out (``unknown = "skip"``); so
are units without a word there: by ``missing = "own"`` each has a type of its own, by ``missing =
"free"`` no sign.  Signs by a column tie no parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from algebra.errors import InputError, shown
from algebra.problems.edges import check_units
from algebra.problems.file_entries import SKIP
from algebra.problems.headers import NAME_HEADERS
from algebra.problems.sheets import TextTable, table_of_file, wanted_rows
from algebra.time_limits import checked

ROLE = "role"
# The words of a population in a column of roles, besides its own.
_ROLES = {"neurons": ("neuron", "unit", "units"), "inputs": ("input",), "outputs": ("output",)}


def has_roles(table: TextTable) -> bool:
    """Whether it is a table of units with a column of roles, which are read by `of_role`."""
    header = [word.lower() for word in next(iter(table.rows), [])]
    return ROLE in header and not {*NAME_HEADERS}.isdisjoint(header)


def of_role(path: Path, units: str, column: str = "") -> list[tuple[str, str, str]]:
    """The lines of a table whose role is a population: place, unit, and its word in a column.

    Parameters
    ----------
    path : Path
    units : str
        "neurons", "inputs", "outputs", "layer1", …
    column : str, optional
        As of `read_column`.

    Raises
    ------
    InputError
        If no line has this role, and as `read_column`.
    """
    words = (units, *_ROLES.get(units, ()))
    lines = read_column(path, "", column, {ROLE: words})
    if not lines:
        roles = sorted({word for _, _, word in read_column(path, "", ROLE, None)} - {""})
        raise InputError(
            f"no line has the {ROLE} {' or '.join(words)}; roles are {', '.join(roles) or 'none'}: "
            f'choose, as in {{ file = "{path.name}", where = {{ {ROLE} = "word" }} }}'
        )
    return lines


def read_column(
    path: Path, name: str, column: str, where: Mapping[str, Any] | None
) -> list[tuple[str, str, str]]:  # fmt: skip
    """The lines of a table that count: place, unit, and its word in a column.

    Parameters
    ----------
    path : Path
    name : str
        The header of the column of names; "": the first known one.
    column : str
        The header of the other column; "" for none.
    where : mapping, optional
        As of `algebra.problems.sheets.wanted_rows`.

    Raises
    ------
    InputError
        If a column is missing, a unit is given twice or was rounded; OSError is left to the caller.
    """
    table = table_of_file(path)
    header = table.rows[0]

    def place_of(wanted: str, option: str) -> int:
        at = [k for k, word in enumerate(header) if word.lower() == wanted.strip().lower()]
        if len(at) != 1:
            many = "several columns are" if at else "no column is"
            raise InputError(
                f"`{option}`: {many} named {shown(wanted)}; the header is {shown(','.join(header))}"
            )
        return at[0]

    known = [word for word in header if word.lower() in NAME_HEADERS]
    if not name and not known:
        raise InputError(
            f"its header ({shown(','.join(header))}) has no column of names that is known "
            f"({', '.join(NAME_HEADERS)}): give it, as in name = {shown(header[0])}"
        )
    unit_at = place_of(name or known[0], "name")
    word_at = place_of(column, "type" if column else "name") if column else unit_at
    chosen = wanted_rows(header, where or {})
    first, found = dict[str, str](), []
    for place, row in checked(zip(table.places[1:], table.rows[1:], strict=True)):
        if len(row) != len(header) and (len(row) < len(header) or any(row[len(header) :])):
            raise InputError(f"{place} has {len(row)} entries, the header {len(header)}")
        if any(row[k] not in words for k, words in chosen.items()):
            continue
        unit = row[unit_at]
        if not unit:
            raise InputError(f"{place} has no name in the column {shown(header[unit_at])}")
        if first.setdefault(unit, place) != place:
            raise InputError(f"{place} has {shown(unit)} again, after {first[unit]}")
        found.append((place, unit, row[word_at]))
    check_units(first, first.__getitem__)
    return found


def words_of_units(
    lines: Sequence[tuple[str, str, str]], units: Sequence[str] | None, unknown: str
) -> list[str]:
    """The word of each unit; "" for one without.

    Parameters
    ----------
    lines : sequence of (str, str, str)
        Place, unit and word.
    units : sequence of str or None
        The units' names.
    unknown : str
        "refuse" or "skip".

    Raises
    ------
    InputError
        If these units have no names, or a line's unit is none of them.
    """
    if units is None:
        raise InputError("it names units, but these have no [names]")
    words = dict.fromkeys(units, "")
    for place, unit, word in checked(lines):
        if unit in words:
            words[unit] = word
        elif unknown != SKIP:
            raise InputError(
                f"{place} names {shown(unit)}, which is none of the [names]; unknown = "
                f'"{SKIP}" leaves such lines out'
            )
    return list(words.values())


def own_types(words: Sequence[str], units: Sequence[str]) -> list[str]:
    """The types of units, of which one without has a type of its own: its name.

    Examples
    --------
    >>> own_types(["Tm1", "", "b"], ["a", "b", "c"])
    ['Tm1', 'only b', 'b']
    """
    known = set(words)
    return [
        word or (unit if unit not in known else f"only {unit}")
        for word, unit in zip(words, units, strict=True)
    ]
