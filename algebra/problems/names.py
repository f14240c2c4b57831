"""Names of units: neurons, inputs and outputs.

Names change no result: allocations are cells ``(matrix, row, column)``, and files for programs
(certificates, stores) hold numbers.  Names occur in printed text and figures, and edge lists and
graphs may use them: the synapse from unit `pre` onto unit `post` is row `post`, column `pre`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from algebra.errors import InputError, one_line, shown
from algebra.networks.base import Axis, Network
from algebra.problems.allocation import Cell


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
        from algebra.problems.populations import by_population, checked_names, populations

        known = populations(self.network)
        kept = {}
        for key, names in by_population(self.given, "names").items():
            if key not in known:
                raise InputError(
                    f"names.{one_line(key)}: a {self.network.title} network has no such units; it "
                    "has " + ", ".join(known)
                )
            kept[key] = checked_names(names, f"names.{key}", known[key].size)
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
        return self.of(matrix, 0)

    def columns(self, matrix: str) -> tuple[str, ...] | None:
        """The names of a matrix's columns; None if they have none."""
        return self.of(matrix, 1)

    def of(self, matrix: str, axis: int) -> tuple[str, ...] | None:
        """The names of a matrix's rows (axis 0) or columns (axis 1); None if they have none."""
        places: dict[tuple[str, int], tuple[str, ...]] = getattr(self, "_places", {})
        return places.get((matrix, axis))

    def population(self, axis: Axis) -> tuple[str, ...] | None:
        """The names of a population's units; None if they have none."""
        return self.of(*axis.places[0])

    def unit(self, matrix: str, axis: int, number: int) -> str:
        """The name of a row (axis 0) or column (axis 1), or its number as text."""
        names = self.of(matrix, axis)
        return names[number] if names else str(number)

    def cell(self, cell: Cell) -> str:
        """A weight in printed form."""
        matrix, i, j = cell
        row, column = (
            printed_name(names, k) if (names := self.of(matrix, axis)) else str(k)
            for axis, k in ((0, i), (1, j))
        )
        return self.network.weight_text(matrix, row, column)

    def find(self, matrix: str, axis: int, text: str) -> int:
        """The row (axis 0) or column (axis 1) with this name or number; -1 if there is none.

        If a name of these units is a number, numbers are names only.
        """
        from algebra.problems.units_in_text import find

        return find(self, matrix, axis, text)

    def index(self, matrix: str, axis: int, text: str) -> int:
        """The row (axis 0) or column (axis 1) with this name or number, as of `find`.

        Raises
        ------
        InputError
            If there is none.
        """
        from algebra.problems.units_in_text import needed

        return needed(self, matrix, axis, text)

    def annotate(self, text: str) -> str:
        """The text with names inserted after the numbers of weights, rows and columns."""
        if not self:
            return text
        from algebra.problems.units_in_text import annotated

        return annotated(self, text)

    @cached_property
    def known(self) -> dict[tuple[str, int], tuple[dict[str, int], bool]]:
        """The number of each name of rows or columns, and whether some name is a number."""
        from algebra.problems.populations import populations

        axes = populations(self.network) if self.given else {}
        found: dict[tuple[str, int], tuple[dict[str, int], bool]] = {}
        for key, names in self.given.items():
            own = {name: k for k, name in enumerate(names)}, any(map(str.isdigit, names))
            found |= dict.fromkeys(axes[key].places, own)
        return found

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
