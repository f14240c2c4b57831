"""The declaration of problem files: tables, keys, their meanings and the forms of their values.

The parser (`algebra.problems.files`) reads the tables by it, and the JSON Schema for editors,
``docs/problem.schema.json``, is made from it.  Keys of the network, laws, constraints and random
cells are the fields of the classes that check their values.  Only the parser checks shapes,
structural zeros and relations between sizes.

``python -m algebra.problems.schema`` prints the schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from algebra.declarations import Count, Keyword, Size
from algebra.networks.base import Network
from algebra.networks.kinds import KINDS, MEANINGS
from algebra.problems.constraints import Constraints
from algebra.problems.file_entries import (
    NAME_ENDINGS,
    EdgesFile,
    EdgesTable,
    FileName,
    NamesOfTable,
    TypesOfTable,
    pattern,
)
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import ALL
from algebra.problems.random_cells import RandomCells
from algebra.schemas import table_schema

_AtLeastOne = Keyword("minItems", 1)
_BitRow = Annotated[list[Literal[0, 1]], _AtLeastOne]
_NumberRow = Annotated[list[Count], _AtLeastOne]
_NumberRows = Annotated[list[_NumberRow], _AtLeastOne]


@dataclass(frozen=True)
class RandomTable:
    """An allocation drawn for each trial."""

    random: RandomCells


_CALLED = "names of the groups, in the order of their numbers"


@dataclass(frozen=True)
class LowRankTable:
    """See `algebra.problems.updates.LowRank`."""

    lora: Annotated[Size, "the matrix learns by a change of this rank, W + U Vᵀ"]


@dataclass(frozen=True)
class GainTable:
    """See `algebra.problems.updates.Gain`."""

    gain: Annotated[
        Literal["rows", "columns", "cells"],
        "each row (or column, or group of cells) learns a factor",
    ]
    groups: Annotated[
        _NumberRow | _NumberRows | FileName | None,
        "rows (columns, cells) of equal numbers share a factor; 0 has none",
    ] = None
    called: Annotated[list[str] | None, _CALLED] = None


@dataclass(frozen=True)
class TiedTable:
    """See `algebra.problems.updates.Tied`."""

    tied: Annotated[_NumberRows | FileName, "cells with equal numbers move together; 0 is fixed"]
    called: Annotated[list[str] | None, _CALLED] = None


LEARNING_TABLES = (RandomTable, LowRankTable, GainTable, TiedTable)

_Mask = (
    Annotated[list[_BitRow], _AtLeastOne, "rows of 0 and 1"]
    | Annotated[str, Keyword("const", ALL), "every weight of the matrix"]
    | FileName
    | EdgesFile
)
_Learning = (
    _Mask
    | Annotated[RandomTable, "an allocation drawn for each trial"]
    | LowRankTable
    | GainTable
    | TiedTable
)
_Exact = Annotated[Any, Keyword("type", ("number", "string"))]
_Text = Annotated[str, Keyword("minLength", 1)]


@dataclass(frozen=True)
class RelativeJitter:
    """A jitter that is a share of each measured weight."""

    relative: _Exact


@dataclass(frozen=True)
class ValuesTable:
    """See `algebra.problems.laws.values`; the other keys are matrices."""

    jitter: Annotated[
        _Exact | RelativeJitter | None,
        "standard deviation of a draw from the measured weights, absolute or relative",
    ] = None

    others: ClassVar[Any] = list[list[_Exact]] | FileName | EdgesFile


@dataclass(frozen=True)
class TypesTable:
    """See `algebra.problems.cell_types.Types`; the other keys are populations of units."""

    together: Annotated[bool, "false: types only serve the signs of [constraints]"] = True

    others: ClassVar[Any] = (
        list[_Text]
        | Annotated[
            str,
            Keyword("pattern", pattern(["csv", "txt"])),
            "a file beside this one: a type, or a unit's name and its type, a line",
        ]
        | Annotated[TypesOfTable, "a column of a table of units"]
    )
    pattern: ClassVar[str] = "^(neurons|units|layer[0-9]+|inputs|outputs)$"


@dataclass(frozen=True)
class NamesTable:
    """See `algebra.problems.names`; the keys are populations of units."""

    others: ClassVar[Any] = (
        Annotated[list[_Text], Keyword("uniqueItems", True)]
        | Annotated[
            str,
            Keyword("pattern", pattern(NAME_ENDINGS)),
            "a file beside this one: one name a line, or edges",
        ]
        | Annotated[EdgesTable, "the units of an edge list or a graph, with options"]
        | Annotated[NamesOfTable, "a column of a table of units"]
    )
    pattern: ClassVar[str] = TypesTable.pattern


@dataclass(frozen=True)
class TeacherTable:
    """Another network that gives the labels."""

    file: Annotated[
        str | None, Keyword("pattern", "\\.toml$"), "a problem file beside this one"
    ] = None
    network: Annotated[dict[str, Any] | None, "instead of a file: its network"] = None
    support: Annotated[dict[str, _Mask] | None, "its structural zeros"] = None
    distribution: Annotated[Distribution | None, "the law of its weights, as `teacher`"] = None


@dataclass(frozen=True)
class ProblemFile:
    """The tables of a problem file."""

    network: Annotated[dict[str, Any], "the kind of network and its sizes"]
    learnable: Annotated[
        dict[str, _Learning] | None, "which weights may learn: an entry for each matrix that does"
    ] = None
    support: Annotated[
        dict[str, _Mask] | None, "structural zeros: the weights that exist, for each sparse matrix"
    ] = None
    distribution: Annotated[Distribution | None, "how weights, teacher and inputs are drawn"] = None
    teacher: Annotated[
        TeacherTable | None, "another network that gives the labels: its file, or its tables"
    ] = None
    constraints: Annotated[
        Constraints | None, "conditions on a match: bounds and signs of the learnable weights"
    ] = None
    values: Annotated[
        ValuesTable | None,
        "measured weights, which are not drawn: an entry for each matrix that has some",
    ] = None
    types: Annotated[
        TypesTable | None,
        "cell types: parameters of one type, or of one pair of types, change together",
    ] = None
    names: Annotated[
        NamesTable | None, "names of units: neurons (or units), layer1, layer2, …, inputs, outputs"
    ] = None


def problem_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of problem files."""
    found = table_schema(ProblemFile)
    found["properties"]["network"] |= {
        "required": ["kind"],
        "properties": {"kind": {"enum": sorted(KINDS)}},
        "oneOf": [_network(KINDS[kind]) for kind in sorted(KINDS)],
    }
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "matchprob problem file",
    }
    # Leaks of types need the types.
    by_type = {"required": ["leak"], "properties": {"leak": {"type": "object"}}}
    condition = {"required": ["network"], "properties": {"network": by_type}}
    return head | found | {"if": condition, "then": {"required": ["types"]}}


def _network(cls: type[Network]) -> dict[str, Any]:
    """The schema of a kind of network, whose integers are sizes."""
    found, meanings = table_schema(cls), {**MEANINGS, **cls.meanings}
    for key, form in found["properties"].items():
        size = form.get("items", form)
        if size == {"type": "integer"}:
            size["minimum"] = 1
        form.setdefault("description", meanings[key])
    found["properties"]["kind"] = {"const": cls.kind}
    return found | {"title": cls.title, "required": ["kind", *found["required"]]}


def schema_text() -> str:
    """The text of ``docs/problem.schema.json``."""
    return json.dumps(problem_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
