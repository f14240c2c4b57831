"""Names of units: neurons, inputs and outputs.

Names change no result: allocations are cells ``(matrix, row, column)``, and files for programs
(certificates, stores) hold numbers.  Names occur in printed text and figures, and edge lists and
graphs may use them: the synapse from unit `pre` onto unit `post` is row `post`, column `pre`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from algebra.errors import InputError, one_line, shown
from algebra.networks.base import Axis, Network
from algebra.networks.protocols import HasUnits
from algebra.problems.allocation import Cell

_LONGEST = 60
_LINES = r"\d+(?:, \d+)*(?: and \d+ more)?"


def _key(axis: Axis) -> str:
    """The name of a population in a problem file: neurons, layer1, inputs, outputs."""
    if axis.name.startswith("hidden layer "):
        return "layer" + axis.name.removeprefix("hidden layer ")
    return "neurons" if axis.name == "hidden units" else axis.name


def populations(network: Network) -> dict[str, Axis]:
    """The populations of units of a network, by their names in problem files; outputs first.

    Raises
    ------
    InputError
        If units of this kind of network have no names.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> list(populations(LinearRNN(n=2, T=2, b=1, d=1, m=2)))
    ['outputs', 'neurons', 'inputs']
    """
    if not isinstance(network, HasUnits):
        raise InputError(f"the units of a {network.title} network cannot be named")
    known = {_key(axis): axis for axis in network.axes()}
    hidden = [key for key in known if key.startswith("layer")]
    if len(hidden) == 1:
        known = {("neurons" if key == hidden[0] else key): a for key, a in known.items()}
    return known


def by_population(given: Mapping[str, Any], table: str) -> dict[str, Any]:
    """A table of populations; "units" are "neurons", and a table of both is refused."""
    if "units" in given and "neurons" in given:
        raise InputError(f"{table}: units and neurons are the same population; give one of them")
    return {("neurons" if key == "units" else key): value for key, value in given.items()}


@dataclass(frozen=True)
class Names:
    """The names of a network's units.

    Parameters
    ----------
    network : Network
    given : mapping of str to sequence of str, optional
        Names by population: "inputs", "outputs", and "neurons" (of a recurrent network, or of the
        only hidden layer) or "layer1", "layer2", ….

    Raises
    ------
    InputError
        If the network has no such population, or its names are not as many as its units, or not
        distinct words.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> names = Names(net, {"neurons": ["PV", "SST"], "inputs": ["light"]})
    >>> names.cell(("W", 0, 1)), names.cell(("B", 1, 0)), names.cell(("D", 0, 1))
    ('W[PV,SST]', 'B[SST,light]', 'D[0,SST]')
    >>> names.annotate("rows 0, 1 of W have 4 learnable weights, W[0,0] too")
    'rows 0 (PV), 1 (SST) of W have 4 learnable weights, W[PV,PV] too'
    """

    network: Network
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.given, Mapping):
            raise InputError(
                f"`names` ({shown(self.given)}) must map populations to names, such as "
                '{"neurons": ["PV", "SST"]}'
            )
        if not self.given:
            return
        known = populations(self.network)
        kept = {}
        for key, names in by_population(self.given, "names").items():
            if key not in known:
                raise InputError(
                    f"names.{one_line(key)}: a {self.network.title} network has no such units; it "
                    "has " + ", ".join(known)
                )
            kept[key] = _checked(names, f"names.{key}", known[key].size)
        object.__setattr__(self, "given", kept)
        places = {}
        for key, names in kept.items():
            for place in known[key].places:
                places[place] = names
        object.__setattr__(self, "_places", places)

    def __bool__(self) -> bool:
        return bool(self.given)

    def __hash__(self) -> int:
        return hash(tuple(sorted((key, tuple(names)) for key, names in self.given.items())))

    def rows(self, matrix: str) -> tuple[str, ...] | None:
        """The names of a matrix's rows; None if they have none."""
        return self._of(matrix, 0)

    def columns(self, matrix: str) -> tuple[str, ...] | None:
        """The names of a matrix's columns; None if they have none."""
        return self._of(matrix, 1)

    def _of(self, matrix: str, axis: int) -> tuple[str, ...] | None:
        places: dict[tuple[str, int], tuple[str, ...]] = getattr(self, "_places", {})
        return places.get((matrix, axis))

    def population(self, axis: Axis) -> tuple[str, ...] | None:
        """The names of a population's units; None if they have none."""
        return self._of(*axis.places[0])

    def unit(self, matrix: str, axis: int, number: int) -> str:
        """The name of a row (axis 0) or column (axis 1), or its number as text."""
        names = self._of(matrix, axis)
        return names[number] if names else str(number)

    def cell(self, cell: Cell) -> str:
        """A weight in printed form."""
        matrix, i, j = cell
        row, column = (
            printed_name(names, k) if (names := self._of(matrix, axis)) else str(k)
            for axis, k in ((0, i), (1, j))
        )
        return self.network.weight_text(matrix, row, column)

    def find(self, matrix: str, axis: int, text: str) -> int:
        """The row (axis 0) or column (axis 1) with this name or number; -1 if there is none.

        If a name of these units is a number, numbers are names only.
        """
        places, are_numbers = self._known.get((matrix, axis), ({}, False))
        if text in places or are_numbers:
            return places.get(text, -1)
        if text.isascii() and text.isdigit() and len(text) <= _LONGEST:
            return int(text) if int(text) < self.network.shapes[matrix][axis] else -1
        return -1

    def index(self, matrix: str, axis: int, text: str) -> int:
        """The row (axis 0) or column (axis 1) with this name or number, as of `find`.

        Raises
        ------
        InputError
            If there is none.
        """
        if (found := self.find(matrix, axis, text)) >= 0:
            return found
        names = self._of(matrix, axis)
        if self._known.get((matrix, axis), ({}, False))[1]:
            raise self._unknown(matrix, axis, text)
        size = self.network.shapes[matrix][axis]
        what = ("`post`", "row") if axis == 0 else ("`pre`", "column")
        if text.isascii() and text.isdigit():
            raise InputError(
                f"{what[0]} {one_line(text)} is outside: {matrix} has {what[1]}s 0 to {size - 1}; "
                "numbers that are ids, or start at 1, are names: list them in [names]"
            )
        if names is None:
            raise InputError(
                f"{what[0]} ({shown(text)}) must be the number of a unit, from 0: the {what[1]}s "
                f"of {matrix} have no [names]"
            )
        raise self._unknown(matrix, axis, text)

    def _unknown(self, matrix: str, axis: int, text: str) -> InputError:
        """The error that a text is none of the names of a matrix's rows (axis 0) or columns."""
        end, lines = (("`post`", "rows"), ("`pre`", "columns"))[axis]
        names = self._of(matrix, axis) or ()
        return InputError(
            f"{end} ({shown(text)}) is none of the [names] of {matrix}'s {lines}: "
            + shown(", ".join(names))
        )

    @cached_property
    def _known(self) -> dict[tuple[str, int], tuple[dict[str, int], bool]]:
        """The number of each name of rows or columns, and whether some name is a number."""
        axes = populations(self.network) if self.given else {}
        found: dict[tuple[str, int], tuple[dict[str, int], bool]] = {}
        for key, names in self.given.items():
            own = {name: k for k, name in enumerate(names)}, any(map(str.isdigit, names))
            found |= dict.fromkeys(axes[key].places, own)
        return found

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        matrices = "|".join(map(re.escape, self.network.shapes))
        cells = re.compile(rf"\b({matrices})\[(\d+), ?(\d+)\]")
        lines = re.compile(
            rf"\b(rows?|columns?) ({_LINES})(?: and (columns?) ({_LINES}))? of ({matrices})\b"
        )
        return cells, lines

    def annotate(self, text: str) -> str:
        """The text with names inserted after the numbers of weights, rows and columns."""
        if not self:
            return text
        cells, lines = self._patterns

        def cell(found: re.Match[str]) -> str:
            matrix, i, j = found[1], int(found[2]), int(found[3])
            shape = self.network.shapes[matrix]
            return self.cell((matrix, i, j)) if i < shape[0] and j < shape[1] else found[0]

        def numbers(listed: str, noun: str, matrix: str) -> str:
            names = self._of(matrix, 0 if noun.startswith("row") else 1)
            if names is None:
                return listed
            return re.sub(
                r"\b\d+\b(?! more)",
                lambda m: f"{m[0]} ({names[int(m[0])]})" if int(m[0]) < len(names) else m[0],
                listed,
            )

        def line(found: re.Match[str]) -> str:
            first, listed, second, more, matrix = found.groups()
            out = f"{first} {numbers(listed, first, matrix)}"
            if second:
                out += f" and {second} {numbers(more, second, matrix)}"
            return f"{out} of {matrix}"

        return lines.sub(line, cells.sub(cell, text))

    def to_dict(self) -> dict[str, list[str]]:
        """The table [names] of a problem file."""
        return {key: list(names) for key, names in self.given.items()}


def printed_name(names: Sequence[str], number: int) -> str:
    """The name of a unit in a sentence; one that could be an index stands in quotation marks.

    Examples
    --------
    >>> printed_name(["PV", "1"], 0), printed_name(["PV", "1"], 1)
    ('PV', '"1"')
    """
    name = names[number]
    return f'"{name}"' if name.isdigit() and int(name) < len(names) else name


def _checked(names: Any, where: str, size: int) -> tuple[str, ...]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise InputError(f"{where} ({shown(names)}) must be a list of names")
    # Names in published tables are padded with blanks.
    names = [name.strip() if isinstance(name, str) else name for name in names]
    for k, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{where}[{k}] ({shown(name)}) must be a word")
        if not name.isprintable() or len(name) > _LONGEST:
            raise InputError(
                f"{where}[{k}] ({shown(name)}) must be printable, at most {_LONGEST} characters"
            )
        if name.isdigit() and not name.isascii():
            raise InputError(f"{where}[{k}] ({shown(name)}): numbers have the digits 0 to 9")
    if len(names) != size:
        raise InputError(f"{where} has {len(names)} names for {size} units")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"{where} has {shown(twice)} twice")
    return tuple(names)
