"""Synapses as a list of edges, the form in which circuits are published.

The synapse from unit `pre` onto unit `post` is row `post`, column `pre` of a weight matrix.  The
order of two columns never decides which one is `pre`: the header of an edge list does (a word of
`HEADERS`), and in a directed graph the source is `pre`.  For a matrix of synapse counts the caller
must say whether its rows are `pre` or `post` (`edges_of_matrix`).

A column `type` distinguishes chemical synapses from gap junctions (`algebra.problems.headers`).  If
a list holds both, the caller must choose one.  A gap junction has no direction: its line is an edge
in both directions; if both directions are listed with different numbers of contacts, the larger
number counts.  A line of type "received" (R, Rp) tells the synapses of the other direction from the
receiver's side: it is read as that direction, and does not count beside lines of chemical synapses.
In Gephi's tables the column says whether an edge has a direction ("Directed", "Undirected").

If a list has a column `matrix`, as ``design --write`` makes it, each line is a weight of the matrix
that it names.

Lines of one pair that differ in their region (neuPrint's ``roi``) or in their word for the type
(S and Sp, both chemical) are added up.  Any other pair that is given twice is refused, with its
rows in the file, unless the caller chooses whether the numbers add up or the first line counts.  If
they add up and the list has no column of numbers, each line counts as one synapse.

Nodes of a graph may have several attributes that name them.  The one with most names of the
problem counts; if several have equally many, or there are no names, the caller must choose.
"""

from __future__ import annotations

import io
import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.files.arrays import coordinates_of
from algebra.files.opening import within_time
from algebra.given import known_name
from algebra.linalg.numbers import exact_number
from algebra.linalg.sparse import SparseMatrix
from algebra.problems.file_entries import (
    ALL_TYPES,
    CHEMICAL,
    ELECTRICAL,
    FIRST,
    RECEIVED,
    REFUSE,
    REPEATED,
    SKIP,
    SUM,
    UNKNOWN,
)
from algebra.problems.headers import (
    DIRECTIONS,
    VALUES,
    canonical_type,
    is_rounded,
    meaning_of,
    types_of,
)
from algebra.problems.names import Names
from algebra.time_limits import checked

# Attributes of a file's nodes that name them if all nodes have the same one.
_LABELS = ("name", "label", "cell_name", "cellname", "neuron", "neuron_name", "vertex_name")
_ID = "id"
# Digits of a number that a spreadsheet keeps.
_SPREADSHEET_DIGITS = 15
# Digits of a node's number that tell whether it is the position of a unit.
_LONGEST = 12


class Edge(NamedTuple):
    """A line of an edge list.

    Attributes
    ----------
    post, pre : str
        Names, or numbers as text.
    value : str
        The number of the edge; "" if there is none.
    type : str
        "chemical", "electrical", or the list's own word in lower case; "" if there is none.
    region : str
    place : str
        Where the line is in the file: "row 17".
    word : str
        The list's own word for the type, in lower case.
    matrix : str
        The weight matrix that the edge belongs to; "" if the list does not say.
    """

    post: str
    pre: str
    value: str = ""
    type: str = ""
    region: str = ""
    place: str = ""
    word: str = ""
    matrix: str = ""


@dataclass(frozen=True)
class Pairs:
    """The pairs of units between which there are edges.

    Attributes
    ----------
    rows, columns : ndarray of int
        Of the weight matrix.
    sums, scale : ndarray of int, int
        The number of each pair, times `scale`; 1 if the edges have none.
    singles : ndarray of int
        The place of a pair's number among the texts; -1 for pairs whose number is a sum.
    texts : tuple of str
    """

    rows: np.ndarray
    columns: np.ndarray
    sums: np.ndarray
    scale: int
    singles: np.ndarray
    texts: tuple[str, ...]

    def text(self, k: int) -> str:
        """The number of a pair as text: that of its only line, or the sum."""
        if self.singles[k] >= 0:
            return self.texts[self.singles[k]] if self.texts else ""
        return str(Fraction(int(self.sums[k]), self.scale))


class LongList(Sequence[Edge]):
    """The edges of a long list without types, which are made when they are asked for."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """All units, in the order of the list."""

    @abstractmethod
    def pairs(self, of: Edges, names: Names, matrix: str, skips: bool) -> Pairs | Sequence[Edge]:
        """The pairs of a matrix; or a few edges for which `Edges.cells` raises the same error.

        Edges with units that are not the matrix's are left out if `skips`, otherwise an error; so
        is an edge that is given twice, and a list of which no edge is left.
        """


# The word for the type and the region of lines of one pair that are not repeated.
_Part = tuple[str, str]


@dataclass(frozen=True)
class Edges:
    """An edge list.

    Attributes
    ----------
    edges : sequence of Edge
    column : str
        The meaning of the numbers: cost, weight or sign; "" if there are none.
    type : str
        The type of synapse that counts, or "all"; "" if the list must have a single type.
    unknown : str
        "refuse" or "skip": how edges with a unit outside the names are treated.
    nodes : tuple of str
        All units, if the list also names units without edges; see `units`.
    repeated : str
        "sum" or "first": how lines that repeat a pair are treated; "": refused.
    labels : mapping of str to tuple of str
        Attributes that can name the nodes, and these names in the order of `nodes`, if the edges
        are between the ids of a graph's nodes.
    label : str
        The attribute that counts if [names] do not decide; "" if the caller must choose.
    at_least : number
        Pairs of a smaller number of synapses are left out; 0 for none.
    """

    edges: Sequence[Edge]
    column: str = ""
    type: str = ""
    unknown: str = REFUSE
    nodes: tuple[str, ...] = ()
    repeated: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    label: str = ""
    at_least: Any = 0

    def __post_init__(self) -> None:
        if not isinstance(self.type, str):
            raise InputError(f"`type` ({shown(self.type)}) must be a word, such as {CHEMICAL!r}")
        known_name(self.unknown, "unknown", UNKNOWN)
        if self.repeated:
            known_name(self.repeated, "repeated", REPEATED)
        if self.repeated == SUM and self.column not in ("", "weight"):
            raise InputError(
                f'`repeated` ("{SUM}"): numbers of synapses add up, and the column of this list is '
                f'`{self.column}`: give "{FIRST}"'
            )
        object.__setattr__(self, "at_least", exact_number(self.at_least, "at_least"))
        if self.at_least < 0:
            raise InputError(f"`at_least` ({self.at_least}) must not be negative")
        if self.at_least and self.measures != "weight":
            raise InputError(
                f"`at_least` ({self.at_least}): the list has no number of synapses for a line"
                + ("" if self.column else f'; if each line is one, give repeated = "{SUM}"')
            )

    @property
    def units(self) -> tuple[str, ...]:
        """All units, in the order of the list.

        Raises
        ------
        InputError
            If several attributes of the nodes of a graph can name them.
        """
        if self.labels:
            return self._labelled(self.label).units
        if isinstance(self.edges, LongList):
            return self.nodes or self.edges.units
        matrices = {edge.matrix for edge in self.edges}
        if len(matrices) > 1:
            raise InputError(
                f"its lines are weights of {', '.join(sorted(matrices))}, between units of several "
                "populations: list their names in [names]"
            )
        ends = (unit for edge in self.edges for unit in (edge.pre, edge.post))
        return self.nodes or tuple(dict.fromkeys(ends))

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of edges of each type."""
        if isinstance(self.edges, LongList):
            return {"": len(self.edges)}
        return dict(Counter(edge.type for edge in self.edges))

    def by_label(self, label: str) -> Edges:
        """The edges of a graph whose nodes are named by one of their attributes.

        Raises
        ------
        InputError
            If it does not name all nodes, each by another name.
        """
        if label not in self.labels:
            raise InputError(
                f"`label` ({shown(label)}) does not name all nodes, each by another name; "
                + (f"these do: {', '.join(self.labels)}" if self.labels else "it is about graphs")
            )
        return replace(self, labels={label: self.labels[label]}, label=label)

    def _labelled(self, label: str) -> Edges:
        """The edges between nodes that are named by one of their attributes."""
        if not label:
            known = ", ".join(
                f"{key} ({shown(', '.join(names[:2]))})"
                for key, names in self.labels.items()
                if key != _ID or len(self.labels) == 1
            )
            raise InputError(
                f"several attributes of its nodes can name them: {known}; choose one, as in "
                f'{{ edges = "…", label = "{list(self.labels)[-1]}" }}'
            )
        names = dict(zip(self.nodes, self.labels[label], strict=True))
        edges = tuple(e._replace(post=names[e.post], pre=names[e.pre]) for e in self.edges)
        return replace(self, edges=edges, nodes=self.labels[label], labels={}, label="")

    def _fitting(self, names: Names, matrix: str) -> Edges:
        """The edges between the nodes of a graph, with the names that fit the problem's.

        Raises
        ------
        InputError
            If several attributes fit equally well, or numbers of nodes are no positions of units.
        """
        wanted = {*(names.rows(matrix) or ()), *(names.columns(matrix) or ())}
        fits = {label: len(wanted.intersection(found)) for label, found in self.labels.items()}
        best = max(fits.values())
        most = [label for label, fit in fits.items() if fit == best > 0]
        found = self._labelled(most[0] if len(most) == 1 else "" if most else self.label)
        numbers = {
            int(node[:_LONGEST])
            for node in found.nodes
            if node.isascii() and node.isdigit() and node not in wanted
        }
        size = max(names.network.shapes[matrix])
        if not wanted:
            wrong = [k for k in numbers if k >= size]
        elif any(name.isdigit() for name in wanted) or numbers == set(range(size)):
            wrong = []
        else:
            wrong = [k for k in numbers if k < size]
        if wrong:
            raise InputError(
                f"its nodes are named by numbers, and {min(wrong)} is not among the [names]"
                + (" " if wanted else f" (there are none), nor a position from 0 to {size - 1}")
                + ": list the nodes' names in [names], in the order of the units"
            )
        return found

    def _of_matrix(self, names: Names, matrix: str) -> Edges:
        """The edges of a matrix, if the list says to which matrix each belongs.

        Raises
        ------
        InputError
            If it has none, or the network has no matrix of a given name.
        """
        if isinstance(self.edges, LongList):
            return self
        listed = Counter(edge.matrix for edge in self.edges)
        if not set(listed) - {""}:
            return self
        for edge in self.edges:
            if edge.matrix not in names.network.shapes:
                raise InputError(
                    f"{_described(edge)}: `matrix` ({shown(edge.matrix)}) is none of "
                    + ", ".join(names.network.shapes)
                )
        if not listed[matrix]:
            found = ", ".join(f"{name} ({count})" for name, count in listed.items())
            raise InputError(f"none of its edges is a weight of {matrix}; by `matrix`: {found}")
        kept = tuple(edge._replace(matrix="") for edge in self.edges if edge.matrix == matrix)
        return replace(self, edges=kept)

    def _of_type(self) -> list[Edge]:
        """The edges of the chosen type.

        Raises
        ------
        InputError
            If there are none, or the list has several types and none was chosen.
        """
        kinds = ", ".join(f"{kind or 'no type'} ({n})" for kind, n in self.counts.items())
        wanted = canonical_type(self.type)
        if not wanted and len(self.counts) > 1:
            raise InputError(
                f"its edges are of several types: {kinds}; choose one, as in "
                f'{{ edges = "…", type = "{next(iter(self.counts))}" }}, or "{ALL_TYPES}"'
            )
        if not wanted or wanted == ALL_TYPES:
            twice = CHEMICAL in self.counts
            return [edge for edge in self.edges if not twice or edge.type != RECEIVED]
        if wanted not in self.counts:
            raise InputError(f"none of its edges is of type {shown(self.type)}; it has {kinds}")
        return [edge for edge in self.edges if edge.type == wanted]

    def cells(self, names: Names, matrix: str) -> dict[tuple[int, int], str]:
        """The numbers of the edges, by row (`post`) and column (`pre`).

        Raises
        ------
        InputError
            If a unit is not one of the matrix's, or an edge is given twice; the message gives its
            row.
        """
        if self.labels:
            return self._fitting(names, matrix).cells(names, matrix)
        if (pairs := self._long_pairs(names, matrix)) is not None:
            kept = np.flatnonzero(self._count(pairs)).tolist()
            places = zip(pairs.rows[kept].tolist(), pairs.columns[kept].tolist(), strict=True)
            return {at: pairs.text(k) for at, k in zip(places, kept, strict=True)}
        if (own := self._of_matrix(names, matrix)) is not self:
            return own.cells(names, matrix)
        lines: dict[tuple[int, int], dict[_Part, list[Edge]]] = {}
        edges, skips = self._of_type(), self.unknown == SKIP and bool(names)
        for edge in checked(edges):
            if skips and min(names.find(matrix, 0, edge.post), names.find(matrix, 1, edge.pre)) < 0:
                continue
            try:
                at = names.index(matrix, 0, edge.post), names.index(matrix, 1, edge.pre)
            except InputError as error:
                hint = _direction_hint(edge, names, matrix)
                raise InputError(f"{_described(edge)}: {error}{hint}") from None
            part = lines.setdefault(at, {}).setdefault((edge.word, edge.region), [])
            if part and not self.repeated:
                raise InputError(
                    f"{_described(edge)}, is given twice, first in {part[0].place}: give "
                    + (f'repeated = "{SUM}" or ' if self.column in ("", "weight") else "")
                    + f'repeated = "{FIRST}" beside `edges`'
                )
            if not part or self.repeated == SUM:
                part.append(edge)
        if edges and not lines:
            raise none_between(edges, matrix)
        found = {
            at: {part: self._joined(repeats) for part, repeats in parts.items()}
            for at, parts in lines.items()
        }
        if any(edge.type == ELECTRICAL for edge in edges):
            self._both_ways(found, names, matrix)
        texts = {at: self._value(list(parts.values())) for at, parts in found.items()}
        if not self.at_least:
            return texts
        numbers = {text: exact_number(text, "weight") for text in set(texts.values())}
        enough = {at: text for at, text in texts.items() if numbers[text] >= self.at_least}
        if not enough:
            raise self._too_few(len(texts))
        return enough

    def _too_few(self, count: int) -> InputError:
        return InputError(f"`at_least` ({self.at_least}): none of its {count} pairs has so many")

    def _long_pairs(self, names: Names, matrix: str) -> Pairs | None:
        """The pairs of a long list; None for a list of which each edge is kept."""
        if not isinstance(self.edges, LongList) or self.type not in ("", ALL_TYPES):
            return None
        found = self.edges.pairs(self, names, matrix, self.unknown == SKIP and bool(names))
        if isinstance(found, Pairs):
            return found
        # These few edges have the error of the list.
        replace(self, edges=tuple(found), at_least=0).cells(names, matrix)
        raise AssertionError(f"no error in {found}")

    def _count(self, pairs: Pairs) -> np.ndarray:
        """Which pairs have enough synapses."""
        if not self.at_least:
            return np.ones(len(pairs.sums), bool)
        enough = pairs.sums * self.at_least.denominator >= self.at_least.numerator * pairs.scale
        if not enough.any():
            raise self._too_few(len(pairs.sums))
        return np.asarray(enough)

    def _joined(self, repeats: Sequence[Edge]) -> Edge:
        """The line of a pair; lines that repeat it are added up."""
        if self.repeated != SUM:
            return repeats[0]
        total = sum(map(_amount, repeats)) if self.column else len(repeats)
        return repeats[0]._replace(value=str(total))

    def _both_ways(
        self,
        found: dict[tuple[int, int], dict[_Part, Edge]],
        names: Names,
        matrix: str,
    ) -> None:
        """Add the other direction of each gap junction."""
        rows, columns = names.network.shapes[matrix]
        if rows != columns or names.rows(matrix) != names.columns(matrix):
            raise InputError(
                f"a gap junction has no direction, and {matrix} leads from one population to "
                "another: choose chemical synapses"
            )
        for (i, j), parts in list(found.items()):
            for key, edge in parts.items():
                if edge.type == ELECTRICAL:
                    other = found.setdefault((j, i), {}).setdefault(key, edge)
                    if self.measures == "weight" and _amount(edge) > _amount(other):
                        found[j, i][key] = edge

    def _value(self, edges: Sequence[Edge]) -> str:
        """The number of a pair: that of its only line, or the sum if the numbers are counts."""
        if len(edges) == 1 or not self.measures:
            return edges[0].value
        if self.measures != "weight":
            raise InputError(f"{_described(edges[1])}, is given twice, first in {edges[0].place}")
        return str(sum(map(_amount, edges)))

    @property
    def measures(self) -> str:
        """The meaning of the numbers of `cells`: `column`, or weight if lines are counted."""
        return self.column or ("weight" if self.repeated == SUM else "")

    def mask(self, names: Names, matrix: str) -> SparseMatrix:
        """1 for each edge; see `cells`."""
        if (pairs := self._long_pairs(names, matrix)) is not None:
            kept = self._count(pairs) & (pairs.sums != 0)
            rows, columns = pairs.rows[kept], pairs.columns[kept]
            ones = np.ones(len(rows), np.int8)
            return SparseMatrix.sorted(rows, columns, ones, names.network.shapes[matrix])
        found = self.cells(names, matrix)
        there = {text: self.is_there(text) for text in set(found.values())}
        places = [place for place, text in found.items() if there[text]]
        rows, columns = np.array(places, np.int64).reshape(-1, 2).T
        ones = np.ones(len(places), np.int8)
        return SparseMatrix.sorted(rows, columns, ones, names.network.shapes[matrix])

    def is_there(self, text: str) -> bool:
        """Whether an edge with this number is a synapse: a weight of 0 is not."""
        return self.column != "weight" or exact_number(text, "weight") != 0


def edges_of_lines(
    at: Mapping[str, int],
    lines: Iterable[tuple[str, Sequence[str]]],
    width: int,
    number: Callable[[str], str] = str,
) -> Edges:
    """An edge list from the lines of a file.

    Parameters
    ----------
    at : mapping of str to int
        The column of each meaning (`algebra.problems.headers`); others are ignored.
    lines : iterable of (str, sequence of str)
        The place of each line, and its entries.
    width : int
        The number of entries of a line; more are refused unless they are empty.
    number : callable, optional
        The text of a number with a decimal point.

    Raises
    ------
    InputError
    """
    column = next((name for name in VALUES if name in at), "")
    given = []
    for place, line in checked(lines):
        if len(line) != width and (len(line) < width or any(line[width:])):
            raise InputError(f"{place} has {len(line)} entries, the header {width}")
        fields = {name: line[k] for name, k in at.items()}
        for name in ("pre", "post"):
            if not fields[name]:
                raise InputError(f"{place} lacks `{name}`")
        given.append((place, fields))
    types = types_of({fields.get("type", "") for _, fields in given})
    edges = []
    for place, fields in checked(given):
        word = fields.get("type", "").lower()
        ends = fields["post"], fields["pre"]
        has_no_direction = DIRECTIONS.get(word)
        word = word if has_no_direction is None else ""
        edge = Edge(
            *(ends[::-1] if word and types[word] == RECEIVED else ends),
            number(fields.get(column, "")), types.get(word, ""), fields.get("region", ""), place,
            word, fields.get("matrix", ""),
        )  # fmt: skip
        edges.append(_checked(edge, column))
        if has_no_direction and edge.pre != edge.post:
            edges.append(edge._replace(post=edge.pre, pre=edge.post))
    places = dict[str, str]()
    for edge in edges:
        places.setdefault(edge.pre, edge.place)
        places.setdefault(edge.post, edge.place)
    check_units(places, places.__getitem__)
    return Edges(tuple(edges), column)


def none_between(edges: Sequence[Edge], matrix: str) -> InputError:
    """The error that no edge of a list is between units of a matrix."""
    return InputError(
        f"none of its {len(edges)} edges is between units of {matrix} that have names; the first "
        f"is {_described(edges[0])}"
    )


def check_units(units: Iterable[str], place: Callable[[str], str]) -> None:
    """Refuse ids that a program converted to floating-point numbers: different units merge.

    Spreadsheets keep 15 digits of a number, and tables of numbers (pandas) about 16 once a cell is
    empty.

    Parameters
    ----------
    units : iterable of str
    place : callable
        Where a unit is in the file: "row 17".

    Raises
    ------
    InputError
    """
    long = []
    for unit in units:
        if is_rounded(unit):
            raise InputError(
                f"{place(unit)}: the unit {shown(unit)} is a rounded number, as spreadsheets and "
                "tables of numbers write long ids, and different units may have become one: "
                "export the ids again as text or as integers"
            )
        if len(unit) > _SPREADSHEET_DIGITS and unit.isdigit():
            long.append(unit)
    if len(long) > 1 and all(len(unit.rstrip("0")) <= _SPREADSHEET_DIGITS for unit in long):
        raise InputError(
            f"{place(long[0])}: the unit {long[0]}, like all its long ids, ends in zeros after "
            f"{_SPREADSHEET_DIGITS} digits, as spreadsheets round them, and different units may "
            "have become one: export the ids again as text"
        )


def edges_of_graph(graph: Any, label: str | None = None) -> Edges:
    """The edges of a networkx graph, from `pre` to `post`.

    Parameters
    ----------
    graph : networkx graph
        An undirected edge is a synapse in both directions.  Parallel edges are added up.
    label : str, optional
        The attribute that names a node, if the node itself does not.

    Raises
    ------
    InputError
        If a node is neither a name nor a number, or two nodes have one name.
    """
    names = {node: _node(node if label is None else graph.nodes[node][label]) for node in graph}
    if len(set(names.values())) < len(names):
        first = next(name for name, n in Counter(names.values()).items() if n > 1)
        raise InputError(f"two of its nodes are named {shown(first)}")
    parallel, column = graph.is_multigraph(), ""
    given = []
    for pre, post, *key, data in (
        graph.edges(keys=True, data=True) if parallel else graph.edges(data=True)
    ):
        given.append(
            (pre, post, key, {meaning_of(str(k)): str(v).strip() for k, v in data.items()})
        )
    types = types_of({attributes.get("type", "") for *_, attributes in given})
    edges = []
    for number, (pre, post, key, attributes) in enumerate(given, 1):
        value, word = attributes.get("weight", ""), attributes.get("type", "").lower()
        column = "weight" if value else column
        ends = names[post], names[pre]
        more = (value, types[word], shown(key[0]) if key else "", f"edge {number}", word)
        edges.append(_checked(Edge(*ends, *more), "weight" if value else ""))
        if not graph.is_directed() and pre != post:
            edges.append(Edge(*ends[::-1], *more))
    if column and not all(edge.value for edge in edges):
        lacking = next(edge for edge in edges if not edge.value)
        raise InputError(f"{_described(lacking)}, has no weight, and others have one")
    return Edges(tuple(edges), column, nodes=tuple(names.values()))


def edges_of_graph_file(text: bytes, form: str) -> Edges:
    """The edges of a file of GraphML, GML or GEXF.

    Parameters
    ----------
    text : bytes
    form : str
        The ending of the file's name.

    Any attribute that all nodes have, each another value, can name them.  If names of a problem do
    not decide, a node is named by its attribute name, label or cell_name if all nodes have one of
    them, else by its id.
    """
    # Importing networkx takes time.
    import networkx as nx

    with warnings.catch_warnings():
        # Attributes without a type are texts.
        warnings.simplefilter("ignore")
        read = {
            ".graphml": nx.read_graphml,
            ".gml": partial(nx.read_gml, label=_ID),
            ".gexf": nx.read_gexf,
        }[form]
        graph = within_time(read, io.BytesIO(text))
    nodes = [data for _, data in graph.nodes.data()]
    found = edges_of_graph(graph)
    shared = [key for key in (nodes[0] if nodes else ()) if all(key in data for data in nodes)]
    labels: dict[str, tuple[str, ...]] = {_ID: found.nodes}
    for key in shared:
        values = [data[key] for data in nodes]
        if all(isinstance(value, str) or type(value) is int for value in values):
            texts = tuple(str(value).strip() for value in values)
            if len(set(texts)) == len(texts) and all(texts) and texts not in labels.values():
                labels[key if key != _ID else "id (attribute)"] = texts
    named = [key for key in shared if key.lower().replace(" ", "_") in _LABELS]
    if not named:
        label = _ID
    else:
        distinct = [key for key in named if key in labels]
        label = distinct[0] if len(distinct) == 1 and len(named) == 1 else ""
        if len(named) == 1 and not distinct:
            texts = tuple(str(data[named[0]]).strip() for data in nodes)
            same = [key for key, other in labels.items() if other == texts]
            label = same[0] if same else ""
    return replace(found, labels=labels, label=label)


def edges_of_matrix(
    entries: Any,
    rows: str,
    row_names: Sequence[str] = (),
    column_names: Sequence[str] = (),
) -> Edges:
    """The non-zero entries of a matrix, as edges with weights.

    Parameters
    ----------
    entries : ndarray, sparse matrix of SciPy, or list of lists of str
        Numbers of synapses.
    rows : str
        Whether a row is `pre` or `post`.
    row_names, column_names : sequence of str, optional
        By default units are numbers.

    Raises
    ------
    InputError
    """
    if rows not in ("pre", "post"):
        raise InputError(
            f"`rows` ({shown(rows)}): a matrix does not say whether its rows or columns "
            'are `pre`; give rows = "pre" or rows = "post"'
        )
    edges = []
    for i, j, value in _entries(entries):
        place = f"row {i}, column {j}"
        down = row_names[i] if row_names else str(i)
        across = column_names[j] if column_names else str(j)
        post, pre = (across, down) if rows == "pre" else (down, across)
        edge = Edge(post, pre, value, "", "", place)
        if _amount(edge):
            edges.append(edge)
    return Edges(tuple(edges), "weight")


def _entries(entries: Any) -> Iterable[tuple[int, int, str]]:
    """Row, column and text of each entry that may differ from 0."""
    if is_sparse_matrix(entries):
        entries = coordinates_of(entries)
        rows, columns, values = entries.coords[0], entries.coords[1], entries.data
    elif isinstance(entries, np.ndarray):
        if entries.ndim != 2 or entries.dtype.kind not in "biuf":
            raise InputError(f"it is no matrix of numbers but {shown(entries)}")
        rows, columns = np.nonzero(entries)
        values = entries[rows, columns]
    else:
        # An empty cell of a published table is no synapse.
        for i, row in enumerate(entries):
            yield from ((i, j, v) for j, v in enumerate(row) if v not in ("", "0"))
        return
    if values.dtype.kind not in "biuf":
        raise InputError(f"its entries are no numbers but {values.dtype}")
    values = values.astype(int) if values.dtype.kind == "b" else values
    for i, j, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        yield i, j, repr(value)


def given_mask(value: Any, matrix: str, names: Names) -> Any:
    """Convert a graph, an edge list or a sparse matrix to a mask; return anything else unchanged.

    Parameters
    ----------
    value : object
        The rows of a sparse matrix are `post`, as in every mask.
    matrix : str
    names : Names

    Raises
    ------
    InputError
        If a unit is not one of the matrix's, or a sparse matrix has another shape.
    """
    if is_graph(value):
        value = edges_of_graph(value)
    if isinstance(value, Edges):
        try:
            return value.mask(names, matrix)
        except InputError as error:
            hint = "" if names else ': give Problem(…, names={"neurons": […]})'
            raise InputError(f"{error}{hint if value.nodes and not value.labels else ''}") from None
    if is_sparse_matrix(value):
        shape = names.network.shapes[matrix]
        if value.shape != shape:
            size = "×".join(map(str, value.shape))
            raise InputError(f"`{matrix}` is {size} but must be {shape[0]}×{shape[1]}")
        found = coordinates_of(value)
        found.sum_duplicates()
        rows, columns = (np.asarray(of, np.int64) for of in found.coords)
        return SparseMatrix.sorted(rows, columns, found.data, shape).without_zeros()
    return value


def is_graph(value: Any) -> bool:
    """Whether a value has the interface of a networkx graph."""
    return callable(getattr(value, "is_directed", None)) and hasattr(value, "edges")


def is_sparse_matrix(value: Any) -> bool:
    """Whether a value has the interface of a SciPy sparse matrix."""
    return callable(getattr(value, "tocoo", None))


def _node(node: Any) -> str:
    if isinstance(node, bool) or not isinstance(node, (str, int)) or str(node).startswith("-"):
        raise InputError(f"the node {shown(node)} is neither a name nor the number of a unit")
    return str(node).strip()


def _checked(edge: Edge, column: str) -> Edge:
    """The edge, after a check that its weight is a number."""
    if column == "weight":
        _amount(edge)
    return edge


def _amount(edge: Edge) -> Any:
    try:
        return exact_number(edge.value, "weight")
    except InputError as error:
        hint = " (a decimal point, and no commas between digits, are needed)"
        more = hint if edge.value[:1].isdigit() and "," in edge.value else ""
        raise InputError(f"{_described(edge)}: {error}{more}") from None


def _direction_hint(edge: Edge, names: Names, matrix: str) -> str:
    """A hint if the edge would fit in the other direction."""
    try:
        names.index(matrix, 0, edge.pre), names.index(matrix, 1, edge.post)
    except InputError:
        return ""
    ends = f"{one_line(edge.post)} could send and {one_line(edge.pre)} receive"
    return f"; {ends}: are `pre` and `post` exchanged?"


def _described(edge: Edge) -> str:
    return f"{edge.place}, from {one_line(edge.pre)} onto {one_line(edge.post)}"
