"""Synapses as a list of edges, the form in which circuits are published.

The synapse from unit `pre` onto unit `post` is row `post`, column `pre` of a weight matrix.  The
order of two columns never decides which one is `pre`: the header of an edge list does (a word of
`HEADERS`), and in a directed graph the source is `pre`.  For a matrix of synapse counts the caller
must say whether its rows are `pre` or `post` (`edges_of_matrix`).

A column `type` distinguishes chemical synapses from gap junctions (`TYPES`).  If a list holds both,
the caller must choose one.  A gap junction has no direction: its line is an edge in both
directions; if both directions are listed with different numbers of contacts, the larger number
counts.  Lines of one pair that differ in their region (neuPrint's ``roi``) or, if all types are
taken, in their type are added up; any other pair that is given twice is refused, with its rows in
the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from algebra.errors import InputError, known_name, shown
from algebra.linalg.rational import exact_number
from algebra.problems.names import Names

# Words of a header and their meanings, compared without regard to case.
HEADERS: dict[str, tuple[str, ...]] = {
    "pre": (
        "pre", "presynaptic", "source", "origin", "from", "sender", "bodyid_pre", "pre_root_id",
        "pre_pt_root_id",
    ),
    "post": (
        "post", "postsynaptic", "target", "destination", "to", "receiver", "bodyid_post",
        "post_root_id", "post_pt_root_id",
    ),
    "cost": ("cost",),
    "weight": (
        "weight", "weights", "synapses", "synapse_count", "syn_count", "contacts", "count",
        "number of connections",
    ),
    "sign": ("sign",),
    "type": ("type", "synapse_type", "synapse type", "edge_type"),
    "region": ("roi", "neuropil", "region"),
}  # fmt: skip
# The meanings that the number of an edge can have.
VALUES = ("cost", "weight", "sign")
CHEMICAL, ELECTRICAL, ALL_TYPES = "chemical", "electrical", "all"
TYPES: dict[str, tuple[str, ...]] = {
    CHEMICAL: (CHEMICAL, "chem", "c", "s", "sp", "send"),
    ELECTRICAL: (
        ELECTRICAL, "electric", "e", "ej", "gap", "gap junction", "gap_junction", "gapjunction",
    ),
}  # fmt: skip
# Edges with units that have no name in the problem are refused or left out.
REFUSE, SKIP = "refuse", "skip"
UNKNOWN = (REFUSE, SKIP)
# Attributes of a file's nodes that name them if all nodes have the same one.
_LABELS = ("name", "label", "cell_name")

_MEANINGS = {word: meaning for meaning, words in HEADERS.items() for word in words}
_CANONICAL = {word: kind for kind, words in TYPES.items() for word in words}


def meaning_of(header: str) -> str:
    """The meaning of a column's header, a key of `HEADERS`; "" if it is not known."""
    return _MEANINGS.get(header.strip().lower(), "")


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
    """

    post: str
    pre: str
    value: str = ""
    type: str = ""
    region: str = ""
    place: str = ""


@dataclass(frozen=True)
class Edges:
    """An edge list.

    Attributes
    ----------
    edges : tuple of Edge
    column : str
        The meaning of the numbers: cost, weight or sign; "" if there are none.
    type : str
        The type of synapse that counts, or "all"; "" if the list must have a single type.
    unknown : str
        "refuse" or "skip": how edges with a unit outside the names are treated.
    nodes : tuple of str
        All units, if the list also names units without edges; see `units`.
    """

    edges: tuple[Edge, ...]
    column: str = ""
    type: str = ""
    unknown: str = REFUSE
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.type, str):
            raise InputError(f"`type` ({shown(self.type)}) must be a word, such as {CHEMICAL!r}")
        known_name(self.unknown, "unknown", UNKNOWN)

    @property
    def units(self) -> tuple[str, ...]:
        """All units, in the order of the list."""
        ends = (unit for edge in self.edges for unit in (edge.pre, edge.post))
        return self.nodes or tuple(dict.fromkeys(ends))

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of edges of each type."""
        return dict(Counter(edge.type for edge in self.edges))

    def _of_type(self) -> list[Edge]:
        """The edges of the chosen type.

        Raises
        ------
        InputError
            If there are none, or the list has several types and none was chosen.
        """
        kinds = ", ".join(f"{kind or 'no type'} ({n})" for kind, n in self.counts.items())
        wanted = _canonical(self.type)
        if not wanted and len(self.counts) > 1:
            raise InputError(
                f"its edges are of several types: {kinds}; choose one, as in "
                f'{{ edges = "…", type = "{next(iter(self.counts))}" }}, or "{ALL_TYPES}"'
            )
        if not wanted or wanted == ALL_TYPES:
            return list(self.edges)
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
        found: dict[tuple[int, int], dict[tuple[str, str], Edge]] = {}
        edges = self._of_type()
        for edge in edges:
            try:
                at = names.index(matrix, 0, edge.post), names.index(matrix, 1, edge.pre)
            except InputError as error:
                if self.unknown == SKIP and names:
                    continue
                hint = _direction_hint(edge, names, matrix)
                raise InputError(f"{_described(edge)}: {error}{hint}") from None
            parts = found.setdefault(at, {})
            before = parts.setdefault((edge.type, edge.region), edge)
            if before is not edge:
                raise InputError(f"{_described(edge)}, is given twice, first in {before.place}")
        if edges and not found:
            raise InputError(
                f"none of its {len(edges)} edges is between units of {matrix} that have names; the "
                f"first is {_described(edges[0])}"
            )
        if any(edge.type == ELECTRICAL for edge in edges):
            self._both_ways(found, names, matrix)
        return {at: self._value(list(parts.values())) for at, parts in found.items()}

    def _both_ways(
        self,
        found: dict[tuple[int, int], dict[tuple[str, str], Edge]],
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
                    if self.column == "weight" and _amount(edge) > _amount(other):
                        found[j, i][key] = edge

    def _value(self, edges: Sequence[Edge]) -> str:
        """The number of a pair: that of its only line, or the sum if the numbers are counts."""
        if len(edges) == 1 or not self.column:
            return edges[0].value
        if self.column != "weight":
            raise InputError(f"{_described(edges[1])}, is given twice, first in {edges[0].place}")
        return str(sum(map(_amount, edges)))

    def mask(self, names: Names, matrix: str) -> list[list[int]]:
        """1 for each edge, 0 elsewhere; see `cells`."""
        rows, columns = names.network.shapes[matrix]
        out = [[0] * columns for _ in range(rows)]
        for (i, j), text in self.cells(names, matrix).items():
            out[i][j] = int(self.is_there(text))
        return out

    def is_there(self, text: str) -> bool:
        """Whether an edge with this number is a synapse: a weight of 0 is not."""
        return self.column != "weight" or exact_number(text, "weight") != 0


def edges_of_lines(header: Sequence[str], lines: Iterable[tuple[str, Sequence[str]]]) -> Edges:
    """An edge list from the lines of a file.

    Parameters
    ----------
    header : sequence of str
        Columns whose header is unknown (see `HEADERS`) are ignored.
    lines : iterable of (str, sequence of str)
        The place of each line, and its entries.

    Raises
    ------
    InputError
    """
    at: dict[str, int] = {}
    for k, word in enumerate(header):
        meaning = meaning_of(word)
        if meaning in at:
            raise InputError(
                f"its columns {shown(header[at[meaning]])} and {shown(word)} both mean `{meaning}`"
            )
        if meaning:
            at[meaning] = k
    for name in ("pre", "post"):
        if name not in at:
            raise InputError(
                f"an edge list has one column `{name}`; the header is {shown(list(header))}"
            )
    values = [name for name in VALUES if name in at]
    if len(values) > 1:
        raise InputError(
            f"an edge list has at most one column of {', '.join(VALUES)}; not {shown(list(header))}"
        )
    column = values[0] if values else ""
    edges = []
    for place, line in lines:
        if len(line) != len(header):
            raise InputError(f"{place} has {len(line)} entries, the header {len(header)}")
        fields = {name: line[k] for name, k in at.items()}
        for name in ("pre", "post"):
            if not fields[name]:
                raise InputError(f"{place} lacks `{name}`")
        value, kind = fields.get(column, ""), _canonical(fields.get("type", ""))
        edges.append(
            _checked(
                Edge(fields["post"], fields["pre"], value, kind, fields.get("region", ""), place),
                column,
            )
        )
    return Edges(tuple(edges), column)


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
    parallel, edges, column = graph.is_multigraph(), [], ""
    for number, (pre, post, *key, data) in enumerate(
        graph.edges(keys=True, data=True) if parallel else graph.edges(data=True), 1
    ):
        attributes = {meaning_of(str(word)): str(value).strip() for word, value in data.items()}
        value = attributes.get("weight", "")
        column = "weight" if value else column
        ends = names[post], names[pre]
        more = (value, _canonical(attributes.get("type", "")), shown(key[0]) if key else "")
        place = f"edge {number}"
        edges.append(_checked(Edge(*ends, *more, place), "weight" if value else ""))
        if not graph.is_directed() and pre != post:
            edges.append(Edge(*ends[::-1], *more, place))
    if column and not all(edge.value for edge in edges):
        lacking = next(edge for edge in edges if not edge.value)
        raise InputError(f"{_described(lacking)}, has no weight, and others have one")
    return Edges(tuple(edges), column, nodes=tuple(names.values()))


def edges_of_graphml(path: Path) -> Edges:
    """The edges of a GraphML file.

    A node is named by its attribute name, label or cell_name if all nodes have it, else by its id.
    """
    # Importing networkx takes time.
    import networkx as nx

    graph = nx.read_graphml(path)
    nodes = [data for _, data in graph.nodes.data()]
    label = next((key for key in _LABELS if nodes and all(key in data for data in nodes)), None)
    return edges_of_graph(graph, label)


def edges_of_matrix(
    entries: Any, rows: str, row_names: Sequence[str] = (), column_names: Sequence[str] = ()
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
        edge = _checked(Edge(post, pre, value, "", "", place), "weight")
        if _amount(edge):
            edges.append(edge)
    return Edges(tuple(edges), "weight")


def _entries(entries: Any) -> Iterable[tuple[int, int, str]]:
    """Row, column and text of each entry that may differ from 0."""
    if is_sparse_matrix(entries):
        entries = entries.tocoo()
        rows, columns, values = entries.coords[0], entries.coords[1], entries.data
    elif isinstance(entries, np.ndarray):
        if entries.ndim != 2 or entries.dtype.kind not in "biuf":
            raise InputError(f"it is no matrix of numbers but {shown(entries)}")
        rows, columns = np.nonzero(entries)
        values = entries[rows, columns]
    else:
        listed = [(i, j, v) for i, row in enumerate(entries) for j, v in enumerate(row)]
        yield from listed
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
            raise InputError(f"{error}{hint if value.nodes else ''}") from None
    if is_sparse_matrix(value):
        shape = names.network.shapes[matrix]
        if value.shape != shape:
            size = "×".join(map(str, value.shape))
            raise InputError(f"`{matrix}` is {size} but must be {shape[0]}×{shape[1]}")
        return value.toarray()
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


def _canonical(word: str) -> str:
    word = word.strip().lower()
    return _CANONICAL.get(word, word)


def _checked(edge: Edge, column: str) -> Edge:
    """The edge, after a check that its weight is a number."""
    if column == "weight":
        _amount(edge)
    return edge


def _amount(edge: Edge) -> Any:
    try:
        return exact_number(edge.value, "weight")
    except InputError as error:
        raise InputError(f"{_described(edge)}: {error}") from None


def _direction_hint(edge: Edge, names: Names, matrix: str) -> str:
    """A hint if the edge would fit in the other direction."""
    try:
        names.index(matrix, 0, edge.pre), names.index(matrix, 1, edge.post)
    except InputError:
        return ""
    return f"; {edge.post} could send and {edge.pre} receive: are `pre` and `post` exchanged?"


def _described(edge: Edge) -> str:
    return f"{edge.place}, from {edge.pre} onto {edge.post}"
