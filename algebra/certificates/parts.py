"""Parts that several kinds of proof files have: a problem, prices, caps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from algebra.certificates.checks import CheckFailed
from algebra.certificates.fields import Fields, items, whole
from algebra.errors import InputError, shown
from algebra.linalg.rational import exact_number
from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem


def read_problem(fields: Fields) -> Problem:
    """The problem, whole in itself: no file names, and no laws (nothing rests on them)."""
    tables = {"network": fields.raw("network"), "learnable": _masks(fields.table("learnable"))}
    if fields.has("support"):
        tables["support"] = _masks(fields.table("support"))
    fields.finish()
    try:
        return problem_from_dict(tables)
    except InputError as error:
        raise CheckFailed("problem", f"is none: {error}") from None


def _masks(fields: Fields) -> dict[str, Any]:
    """Matrices of 0 and 1."""
    masks = {name: fields.raw(name) for name in fields}
    for name, mask in masks.items():
        for i, row in enumerate(items(mask, fields.at(name))):
            for j, entry in enumerate(items(row, f"{fields.at(name)}[{i}]")):
                whole(entry, f"{fields.at(name)}[{i}][{j}]", 0, 1)
    return masks


def read_caps(fields: Fields, kinds: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Caps of some kinds, in the order of the file."""
    caps = tuple((str(kind), fields.whole(kind, 0)) for kind in fields)
    for kind, _ in caps:
        if kind not in kinds:
            raise CheckFailed("caps", f"has {shown(kind)}, none of " + ", ".join(kinds))
    return caps


def read_price(value: object, place: str) -> Fraction:
    """An exact number as text."""
    if not isinstance(value, str):
        raise CheckFailed(place, f"must be an exact number as text, not {shown(value)}")
    try:
        return exact_number(value, "price")
    except InputError as error:
        raise CheckFailed(place, str(error)) from None
