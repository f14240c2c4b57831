"""What proves a design's bounds: frozen, of exact types, written to a file and read from it.

Reading refuses whatever is not of the form written here: whole numbers are Python's integers
(neither floats nor booleans) with at most `MOST_DIGITS` digits, fields are neither missing nor
unknown.  What is read is well formed, no more; `algebra.design.verify` checks what it proves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from algebra.design.demand import MOST_DIGITS
from algebra.errors import InputError
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.capped import Dual
from algebra.matroids.intersection import Shortage, Splitting
from algebra.matroids.lagrangian import Leaf
from algebra.problems.allocation import Cell

_MOST_BITS = MOST_DIGITS * 10 // 3


class BadField(InputError):
    """A field of a proof file that is not of its form.

    Attributes
    ----------
    place : str
    """

    def __init__(self, place: str, text: str) -> None:
        super().__init__(f"`{place}` {text}")
        self.place = place


def whole(value: object, place: str, least: int | None = None) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadField(place, f"is {_shown(value)}, not a whole number")
    if value.bit_length() > _MOST_BITS:
        raise BadField(place, f"has more than {MOST_DIGITS} digits")
    if least is not None and value < least:
        raise BadField(place, f"is {value}, less than {least}")
    return value


def text(value: object, place: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise BadField(place, f"is {_shown(value)}, not a text")
    return value


def listed(value: object, place: str) -> Sequence[Any]:
    """A list."""
    if not isinstance(value, list | tuple):
        raise BadField(place, f"is {_shown(value)}, not a list")
    return value


def wholes(value: object, place: str, least: int | None = None) -> tuple[int, ...]:
    """A list of whole numbers."""
    return tuple(whole(v, f"{place}[{k}]", least) for k, v in enumerate(listed(value, place)))


def record(value: object, place: str, names: Sequence[str]) -> Mapping[str, Any]:
    """An object with exactly these fields."""
    if not isinstance(value, Mapping):
        raise BadField(place, f"is {_shown(value)}, not an object")
    for name in names:
        if name not in value:
            raise BadField(place, f"has no field `{name}`")
    unknown = [name for name in value if name not in names]
    if unknown:
        raise BadField(place, f"has an unknown field {_shown(unknown[0])}")
    return value


def cell(value: object, place: str) -> Cell:
    """A weight ``[matrix, row, column]``."""
    parts = listed(value, place)
    if len(parts) != 3:
        raise BadField(place, f"is {_shown(value)}, not [matrix, row, column]")
    return text(parts[0], place), whole(parts[1], place, 0), whole(parts[2], place, 0)


def cells(value: object, place: str) -> tuple[Cell, ...]:
    """A list of different weights."""
    found = tuple(cell(v, f"{place}[{k}]") for k, v in enumerate(listed(value, place)))
    if len(set(found)) < len(found):
        raise BadField(place, "names a weight twice")
    return found


def _shown(value: object) -> str:
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else ""
    if not shown or len(shown) > 40:
        return f"a {type(value).__name__}"
    return shown


@dataclass(frozen=True)
class CostEvidence:
    """Goal "cheapest": nothing costs less.

    Attributes
    ----------
    dual : Splitting or Tree
    """

    dual: Dual = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"cost": dual_to_dict(self.dual)}

    @classmethod
    def from_dict(cls, data: object) -> CostEvidence:
        """Read it."""
        return cls(dual_from_dict(record(data, "evidence", ["cost"])["cost"], "evidence.cost"))


@dataclass(frozen=True)
class SpreadEvidence:
    """Goal "spread": nothing as spread costs less, and nothing is more spread.

    Attributes
    ----------
    dual : Splitting or Tree
        Of the cost, under the cap found.
    refutation : Shortage, Splitting, Tree or None
        No design keeps a cap of one less; None where no line can hold fewer anyway.
    """

    dual: Dual = field(repr=False)
    refutation: Dual | None = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        none = None if self.refutation is None else dual_to_dict(self.refutation)
        return {"cost": dual_to_dict(self.dual), "one_less": none}

    @classmethod
    def from_dict(cls, data: object) -> SpreadEvidence:
        """Read it."""
        found = record(data, "evidence", ["cost", "one_less"])
        less = found["one_less"]
        return cls(
            dual_from_dict(found["cost"], "evidence.cost"),
            None if less is None else dual_from_dict(less, "evidence.one_less"),
        )


@dataclass(frozen=True)
class NeuronLeaf:
    """A part of the search for the fewest neurons.

    Attributes
    ----------
    chosen, banned : tuple of int
        Neurons that learn, and that do not: by their number (`algebra.design.neurons.Neurons`).
    dual : Dual or None
        Bounds the cost of the designs inside the chosen neurons alone.
    """

    chosen: tuple[int, ...]
    banned: tuple[int, ...]
    dual: Dual | None = field(default=None, repr=False)


@dataclass(frozen=True)
class NeuronEvidence:
    """Goal "neurons": the leaves of the search; every set of neurons is in one of them.

    Attributes
    ----------
    leaves : tuple of NeuronLeaf
    """

    leaves: tuple[NeuronLeaf, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        leaves = [
            [
                list(leaf.chosen),
                list(leaf.banned),
                None if leaf.dual is None else dual_to_dict(leaf.dual),
            ]
            for leaf in self.leaves
        ]
        return {"leaves": leaves}

    @classmethod
    def from_dict(cls, data: object) -> NeuronEvidence:
        """Read it."""
        leaves = []
        for k, part in enumerate(
            listed(record(data, "evidence", ["leaves"])["leaves"], "evidence.leaves")
        ):
            place = f"evidence.leaves[{k}]"
            if len(listed(part, place)) != 3:
                raise BadField(place, "is not [chosen, banned, dual]")
            chosen, banned, dual = part
            leaves.append(
                NeuronLeaf(
                    wholes(chosen, place, 0),
                    wholes(banned, place, 0),
                    None if dual is None else dual_from_dict(dual, place),
                )
            )
        return cls(tuple(leaves))


@dataclass(frozen=True)
class CountedRoots:
    """An allocation's generic root count N; of parts of it where it is over-complete.

    Attributes
    ----------
    cells : tuple of cells
        The allocation.
    parts : tuple of (cells, int)
        Weights as many as there are equations, and their N.
    """

    cells: tuple[Cell, ...]
    parts: tuple[tuple[tuple[Cell, ...], int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        parts = [[[list(c) for c in part], roots] for part, roots in self.parts]
        return {"cells": [list(c) for c in self.cells], "parts": parts}

    @classmethod
    def from_dict(cls, data: object, place: str) -> CountedRoots:
        """Read it."""
        found = record(data, place, ["cells", "parts"])
        parts = []
        for k, entry in enumerate(listed(found["parts"], f"{place}.parts")):
            here = f"{place}.parts[{k}]"
            if len(listed(entry, here)) != 2:
                raise BadField(here, "is not [cells, roots]")
            parts.append((cells(entry[0], here), whole(entry[1], here, 1)))
        return cls(cells(found["cells"], f"{place}.cells"), tuple(parts))


@dataclass(frozen=True)
class MaximalEvidence:
    """Goal "maximal": the design's odd root count, and the even ones of all that is cheaper.

    Attributes
    ----------
    roots : CountedRoots
        Of the design, or of a part of it: one odd number.
    cheaper : tuple of CountedRoots
        One for each cheaper design that is not minimal, up to renaming of units.
    """

    roots: CountedRoots
    cheaper: tuple[CountedRoots, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"design": self.roots.to_dict(), "cheaper": [c.to_dict() for c in self.cheaper]}

    @classmethod
    def from_dict(cls, data: object) -> MaximalEvidence:
        """Read it."""
        found = record(data, "evidence", ["design", "cheaper"])
        cheaper = listed(found["cheaper"], "evidence.cheaper")
        return cls(
            CountedRoots.from_dict(found["design"], "evidence.design"),
            tuple(
                CountedRoots.from_dict(part, f"evidence.cheaper[{k}]")
                for k, part in enumerate(cheaper)
            ),
        )


Evidence = CostEvidence | SpreadEvidence | NeuronEvidence | MaximalEvidence


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
    """A dual solution read."""
    if not isinstance(data, Mapping):
        raise BadField(place, f"is {_shown(data)}, not an object")
    kind = data.get("kind")
    if kind == "splitting":
        found = record(data, place, ["kind", "first", "scale"])
        return Splitting(
            wholes(found["first"], f"{place}.first"), whole(found["scale"], f"{place}.scale", 1)
        )
    if kind == "shortage":
        found = record(data, place, ["kind", "elements"])
        return Shortage(0, wholes(found["elements"], f"{place}.elements", 0), 0, 0)
    if kind != "tree":
        raise BadField(place, f"is of kind {_shown(kind)}, not splitting, shortage or tree")
    leaves = []
    for k, part in enumerate(listed(record(data, place, ["kind", "leaves"])["leaves"], place)):
        here = f"{place}.leaves[{k}]"
        if len(listed(part, here)) != 3:
            raise BadField(here, "is not [inside, outside, multipliers]")
        inside, outside, lines = part
        multipliers = tuple(wholes(line, here, 0) for line in listed(lines, here))
        leaves.append(Leaf(wholes(inside, here, 0), wholes(outside, here, 0), multipliers))
    return Tree(tuple(leaves))
