"""The problem of a proof file: integers for sizes, matrices of 0 and 1 for masks.

A proof file is self-contained: its masks are never names of files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from algebra.checker.checks import CheckFailed
from algebra.checker.records import Context, Converted, Record, read_form
from algebra.checker.sparse import has_sparse_form
from algebra.checker.tables import LawsTable, Mask, Masks, NetworkInFile, by_matrix
from algebra.errors import InputError, one_line
from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem


def _read_learning(value: Any, place: str, context: Context) -> Any:
    """A mask or an update."""
    if not isinstance(value, Mapping) or has_sparse_form(value):
        return read_form(Mask, value, place, context)
    # Loaded here, as the others: most files have none.
    from algebra.checker.problem_options import read_update_table

    return read_update_table(value, place, context)


def _read_values(value: Any, place: str, context: Context) -> dict[str, Any]:
    from algebra.checker.problem_options import read_values

    return read_values(value, place, context)


def _read_teacher(value: Any, place: str, context: Context) -> Problem:
    from algebra.checker.problem_options import read_teacher

    return read_teacher(value, place, context)


# Forms of options, which are loaded for a schema.
_OPTIONS = "algebra.checker.problem_options:"
Learning = Annotated[Any, Converted(_OPTIONS + "LearningForm", _read_learning, lambda own: own)]


@dataclass(frozen=True)
class ProblemTable(Record):
    """A problem without names of files; see `algebra.problems.problem.Problem`."""

    network: NetworkInFile
    learnable: Annotated[dict[str, Any], by_matrix(Learning)]
    support: Masks | None = None
    distribution: LawsTable | None = None
    values: (
        Annotated[dict[str, Any], Converted(_OPTIONS + "ValuesInFile", _read_values, dict)] | None
    ) = None
    teacher: (
        Annotated[Problem, Converted(_OPTIONS + "TeacherInFile", _read_teacher, Problem.as_teacher)]
        | None
    ) = None


def read_problem(data: object, place: str = "problem") -> Problem:
    """The problem of a certificate: integers for sizes, matrices of 0 and 1 for masks.

    Raises
    ------
    CheckFailed
    """
    given = ProblemTable.from_dict(data, place)
    laws = {} if given.distribution is None else given.distribution.given()
    try:
        return Problem(
            given.network, given.learnable, given.support or {}, Distribution(**laws),
            values=given.values or {}, teacher=given.teacher,
        )  # fmt: skip
    except (InputError, TypeError) as error:
        raise CheckFailed(place, one_line(error)) from None
