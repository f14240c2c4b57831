"""Entries of problem files that name another file, and what counts of a list of synapses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from algebra.declarations import Keyword

# The sides of a synapse, and its types.
PRE, POST = "pre", "post"
CHEMICAL, ELECTRICAL, RECEIVED, ALL_TYPES = "chemical", "electrical", "received", "all"
# Edges with units that have no name in the problem are refused or left out.
UNKNOWN = REFUSE, SKIP = ("refuse", "skip")
# Endings of files of names of units, and of matrices and edge lists; gzip adds another.
_TABLES = (".csv", ".tsv", ".txt")
# Graphs, which networkx reads.
GRAPHS = (".graphml", ".gml", ".gexf")
ARROW_TABLES = (".parquet", ".feather", ".arrow")


def _with_zipped(*suffixes: str) -> tuple[str, ...]:
    return (*suffixes, *(f"{suffix}.gz" for suffix in suffixes))


NAME_ENDINGS = (*_with_zipped(*_TABLES, *GRAPHS), ".xlsx", *ARROW_TABLES)
ENDINGS = (*_with_zipped(*_TABLES, *GRAPHS, ".mtx"), ".xlsx", *ARROW_TABLES, ".npy", ".npz", ".mat")
# Lines that repeat a pair: their numbers are added up, or the first line counts.
REPEATED = SUM, FIRST = ("sum", "first")


def pattern(suffixes: Iterable[str]) -> str:
    """The pattern of JSON Schema for names of files with these endings."""
    words = [re.escape(suffix.removeprefix(".")) for suffix in suffixes]
    return rf"\.({'|'.join(words)})$"


FileName = Annotated[str, Keyword("pattern", pattern(ENDINGS)), "a file beside this one"]


@dataclass(frozen=True)
class EdgesTable:
    """A file of synapses with options: see `algebra.problems.tables.read_edges`."""

    edges: FileName
    type: Annotated[
        str,
        f"the type of synapse that counts: {CHEMICAL}, {ELECTRICAL}, {ALL_TYPES}, or a word of the "
        "file's column `type`",
    ] = ""
    unknown: Annotated[
        str, Keyword("enum", UNKNOWN), "treatment of edges with units that have no name here"
    ] = REFUSE
    rows: Annotated[str, Keyword("enum", (PRE, POST)), "of a matrix: what its rows are"] = ""
    columns: Annotated[
        str | dict[str, str],
        'the columns in their order, such as "pre post weight", or the words of the header for '
        "pre, post, weight, …",
    ] = ""
    repeated: Annotated[
        str, Keyword("enum", REPEATED), "lines that repeat a pair are added up, or the first counts"
    ] = ""
    at_least: Annotated[
        Any, Keyword("type", ("number", "string")), "pairs of fewer synapses are left out"
    ] = 0
    where: Annotated[
        dict[str, Any] | None,
        "lines of an edge list count only if a column has a value, or one of a list of values",
    ] = None
    label: Annotated[str, "of a graph: the attribute that names its nodes"] = ""
    sheet: Annotated[str, "of a workbook: the name of a sheet"] = ""
    variable: Annotated[str, "of a MATLAB file: the name of a matrix"] = ""


EdgesFile = Annotated[
    EdgesTable, "what counts of an edge list, a graph or a matrix of synapse counts"
]


# Endings of tables of samples.
SAMPLE_TABLES = (*_with_zipped(*_TABLES), ".xlsx", *ARROW_TABLES, ".npy")


@dataclass(frozen=True)
class SampleTable:
    """Columns of a table with a header and a row for each sample."""

    file: Annotated[
        str, Keyword("pattern", pattern(SAMPLE_TABLES)), "a table with a row for each sample"
    ]
    columns: Annotated[list[str] | None, "headers of the columns, in their order"] = None
    column: Annotated[str, "header of the only column"] = ""


SampleFile = Annotated[
    str, Keyword("pattern", pattern(SAMPLE_TABLES)), "a table with a row for each sample"
]


# Endings of such tables.
UNIT_TABLES = (*_with_zipped(*_TABLES), ".xlsx", *ARROW_TABLES)
# What a unit without a word has: a type of its own, or no sign.
OWN = "own"
FREE = "free"

_File = Annotated[str, Keyword("pattern", pattern(UNIT_TABLES)), "a table beside this file"]
_Name = Annotated[str, "the header of the column of names; by default the first that is known"]
_Where = Annotated[
    dict[str, Any] | None, "lines count only if a column has a value, or one of a list of values"
]
_Unknown = Annotated[
    str, Keyword("enum", UNKNOWN), "treatment of lines whose unit has no name here"
]


@dataclass(frozen=True)
class NamesOfTable:
    """Names of units from a column of a table."""

    file: _File
    name: _Name = ""
    where: _Where = None


@dataclass(frozen=True)
class TypesOfTable:
    """Types of units from a column of a table."""

    file: _File
    type: Annotated[str, "the header of the column of types"]
    name: _Name = ""
    where: _Where = None
    unknown: _Unknown = REFUSE
    missing: Annotated[
        str, Keyword("enum", (REFUSE, OWN)), "what a unit without a type has: one of its own"
    ] = REFUSE


@dataclass(frozen=True)
class SignsOfTable:
    """Signs of units from a column of a table; other keys are its words, with their signs."""

    file: _File
    column: Annotated[str, "the header of the column that decides"]
    name: _Name = ""
    where: _Where = None
    unknown: _Unknown = REFUSE
    missing: Annotated[
        str, Keyword("enum", (REFUSE, FREE)), "what a unit without a word has: no sign"
    ] = REFUSE

    others: ClassVar[Any] = Annotated[Any, Keyword("enum", ("+", "-", 1, -1, 0))]
