"""Fields that several kinds of proof files have: a problem, prices, caps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import RefusedAt
from algebra.checker.problem_tables import ProblemTable, read_problem
from algebra.checker.records import Context, Converted, read_form
from algebra.checker.sparse import as_compact
from algebra.declarations import Count
from algebra.errors import shown
from algebra.problems.problem import Problem


def fixed_problem(data: object, place: str = "problem") -> Problem:
    """The problem of a proof: cells and updates, without laws and values, which are not used."""
    problem = read_problem(data, place)
    for name in ("distribution", "values", "teacher"):
        if isinstance(data, Mapping) and name in data:
            raise CheckFailed(f"{place}.{name}", "is no field of this format")
    return problem


FixedProblem = Annotated[
    Problem,
    Converted(
        ProblemTable,
        lambda value, place, context: fixed_problem(value, place),
        lambda problem: as_compact(problem.to_dict()),
    ),
]


def caps_of(kinds: Sequence[str], in_order: bool = False) -> Converted:
    """Caps of given kinds, in the order of the file; with `in_order` in that of the kinds."""

    def read(value: Any, place: str, context: Context) -> tuple[tuple[str, int], ...]:
        caps = read_form(Mapping[str, Count], value, place)
        for kind in caps:
            if kind not in kinds:
                raise CheckFailed(place, f"has {shown(kind)}, none of " + ", ".join(kinds))
        if in_order and list(caps) != [kind for kind in kinds if kind in caps]:
            raise CheckFailed(place, "are not in the order " + ", ".join(kinds))
        return tuple(caps.items())

    return Converted(Mapping[str, Count], read, dict)


def read_price(value: object, place: str) -> Fraction:
    """An exact number as text."""
    if not isinstance(value, str):
        raise CheckFailed(place, f"must be an exact number as text, not {shown(value)}")
    # Loaded here: certificates have no prices.
    from algebra.linalg.numbers import exact_number

    with RefusedAt(place):
        return exact_number(value, "price")


Price = Annotated[
    Fraction, Converted(str, lambda value, place, context: read_price(value, place), str)
]
