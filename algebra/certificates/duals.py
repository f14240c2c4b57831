"""Evidence for bounds of matroid problems, as plain data: written to a file and read from it.

Data of another form are rejected with their place (`algebra.certificates.fields`).  Data that were
read are well formed, but not yet verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, Self

from algebra.certificates.checks import CheckFailed
from algebra.certificates.fields import Fields, items, whole
from algebra.errors import shown
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.matroids.intersection import Shortage, Splitting
from algebra.matroids.lagrangian import LagrangianLeaf
from algebra.problems.allocation import Cell


def over_points(
    points: Iterable[tuple[int, int]], target: Fraction, check: Callable[[int, int], Fraction]
) -> tuple[Fraction, int]:
    """Run a check at as many points as an error bound needs; return the bound and their number.

    Parameters
    ----------
    points : iterable of (int, int)
        Prime and number of each; they do not end before the bound is reached.
    target : Fraction
    check : callable
        Raises if a claim fails at a point; otherwise returns the probability of an error at it.
    """
    error, count = Fraction(1), 0
    for p, number in points:
        if error < target:
            break
        error *= check(p, number)
        count += 1
    return error, count


class Evidence:
    """Evidence for a bound, in the form of a proof file: a key for each field (`written`)."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        declared = fields(self)  # type: ignore[arg-type]
        return {f.metadata["key"]: f.metadata["write"](getattr(self, f.name)) for f in declared}

    @classmethod
    def from_dict(cls, data: object, place: str = "evidence") -> Self:
        """The evidence in plain data."""
        given = Fields(data, place)
        forms = [f.metadata for f in fields(cls)]  # type: ignore[arg-type]
        found = [form["read"](given.raw(form["key"]), given.at(form["key"])) for form in forms]
        given.finish()
        return cls(*found)


def written(
    key: str, write: Callable[[Any], Any], read: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Metadata of a field of `Evidence`: its key, a function that writes it, one that reads it."""
    return {"key": key, "write": write, "read": read}


def cells_to_list(cells: Iterable[Cell]) -> list[list[Any]]:
    """Weights as plain data, each ``[matrix, row, column]``."""
    return [list(cell) for cell in cells]


def wholes(
    value: object, place: str, least: int | None = None, most: int | None = None
) -> tuple[int, ...]:
    """A list of whole numbers."""
    return tuple(whole(v, f"{place}[{k}]", least, most) for k, v in enumerate(items(value, place)))


def fixed_list(value: object, place: str, form: str) -> list[Any]:
    """A list of as many entries as `form` shows."""
    found = items(value, place)
    if len(found) != len(form.split(",")):
        raise CheckFailed(place, f"must be {form}, not {shown(value)}")
    return found


def dual_to_dict(dual: Dual) -> dict[str, Any]:
    """A dual solution as plain data."""
    if isinstance(dual, Splitting):
        return {"kind": "splitting", "first": list(dual.first), "scale": dual.scale}
    if isinstance(dual, Shortage):
        return {"kind": "shortage", "elements": list(dual.elements)}
    assert isinstance(dual, Tree)
    leaves = [
        [list(a.inside), list(a.outside), [list(lines) for lines in a.multipliers]]
        for a in dual.leaves
    ]
    return {"kind": "tree", "leaves": leaves}


def dual_from_dict(data: object, place: str) -> Dual:
    """A dual solution from plain data."""
    given = Fields(data, place)
    kind = given.text("kind")
    dual: Dual
    if kind == "splitting":
        dual = Splitting(given.wholes("first"), given.whole("scale", 1))
    elif kind == "shortage":
        dual = Shortage(0, given.wholes("elements", 0), 0, 0)
    elif kind == "tree":
        leaves = []
        for k, entry in enumerate(given.items("leaves")):
            here = f"{given.at('leaves')}[{k}]"
            inside, outside, lines = fixed_list(entry, here, "[inside, outside, multipliers]")
            multipliers = tuple(wholes(line, here, 0) for line in items(lines, here))
            leaves.append(
                LagrangianLeaf(wholes(inside, here, 0), wholes(outside, here, 0), multipliers)
            )
        dual = Tree(tuple(leaves))
    else:
        raise CheckFailed(given.at("kind"), f"{shown(kind)} is none of splitting, shortage, tree")
    given.finish()
    return dual


def leaves_to_list(leaves: Sequence[GroupLeaf]) -> list[list[Any]]:
    """The leaves of a search over sets of groups as plain data."""
    return [
        [
            list(leaf.chosen),
            list(leaf.banned),
            None if leaf.dual is None else dual_to_dict(leaf.dual),
        ]
        for leaf in leaves
    ]


def leaves_from_list(data: object, place: str) -> tuple[GroupLeaf, ...]:
    """The leaves of a search from plain data."""
    leaves = []
    for k, entry in enumerate(items(data, place)):
        here = f"{place}[{k}]"
        chosen, banned, dual = fixed_list(entry, here, "[chosen, banned, dual]")
        leaves.append(
            GroupLeaf(
                wholes(chosen, here, 0),
                wholes(banned, here, 0),
                None if dual is None else dual_from_dict(dual, here),
            )
        )
    return tuple(leaves)


LEAVES = written("leaves", leaves_to_list, leaves_from_list)
