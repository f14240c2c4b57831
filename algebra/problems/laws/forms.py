"""Forms of the table [distribution] in problem files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from algebra.declarations import Keyword
from algebra.problems.file_entries import (
    EdgesFile,
    FileName,
    SampleFile,
    SampleTable,
    SignsOfTable,
)
from algebra.problems.laws.distribution import LABELS, LAWS

_Law = Keyword("enum", tuple(LAWS))
_Rows = Annotated[
    list[list[Annotated[Any, Keyword("type", ("number", "string"))]]], "a row for each sample"
]
Inputs = Annotated[str, _Law, "a law"] | SampleFile | SampleTable | _Rows
Labels = (
    Annotated[str, Keyword("enum", LABELS), "where they come from"]
    | SampleFile
    | SampleTable
    | _Rows
)
Factor = Annotated[Any, Keyword("type", ("number", "string"))]
_Sign = Literal[1, -1, 0, "+", "-"]
_UnitSigns = Annotated[list[_Sign], "a sign for each unit"]
Signs = (
    _UnitSigns
    | FileName
    | SignsOfTable
    | dict[str, _Sign | _UnitSigns | list[list[_Sign]] | FileName | EdgesFile | SignsOfTable]
)
Factors = dict[str, Factor]
