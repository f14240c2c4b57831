"""What proves a design's bounds: frozen, of exact types, written to a file and read from it.

Reading refuses whatever is not of the form written here, with its place
(`algebra.certificates.fields`).  What is read is well formed, no more; `algebra.design.verify`
checks what it proves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from algebra.certificates.checks import CheckFailed
from algebra.certificates.fields import Fields, items, whole
from algebra.errors import shown
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.capped import Dual
from algebra.matroids.intersection import Shortage, Splitting
from algebra.matroids.lagrangian import Leaf
from algebra.problems.allocation import Cell


def cell(value: object, place: str) -> Cell:
    """A weight ``[matrix, row, column]``."""
    parts = _parts(value, place, "[matrix, row, column]")
    if not isinstance(parts[0], str):
        raise CheckFailed(place, f"must name a matrix, not {shown(parts[0])}")
    return parts[0], whole(parts[1], place, 0), whole(parts[2], place, 0)


def cells(value: object, place: str) -> tuple[Cell, ...]:
    """A list of different weights."""
    found = tuple(cell(v, f"{place}[{k}]") for k, v in enumerate(items(value, place)))
    if len(set(found)) < len(found):
        raise CheckFailed(place, "names a weight twice")
    return found


def wholes(value: object, place: str, least: int | None = None) -> tuple[int, ...]:
    """A list of whole numbers."""
    return tuple(whole(v, f"{place}[{k}]", least) for k, v in enumerate(items(value, place)))


def _parts(value: object, place: str, form: str) -> list[Any]:
    """A list of as many entries as its form has."""
    parts = items(value, place)
    if len(parts) != len(form.split(",")):
        raise CheckFailed(place, f"must be {form}, not {shown(value)}")
    return parts


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
        fields = Fields(data, "evidence")
        dual = dual_from_dict(fields.raw("cost"), fields.at("cost"))
        fields.finish()
        return cls(dual)


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
        fields = Fields(data, "evidence")
        dual = dual_from_dict(fields.raw("cost"), fields.at("cost"))
        less = fields.raw("one_less")
        fields.finish()
        return cls(dual, None if less is None else dual_from_dict(less, fields.at("one_less")))


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
        fields = Fields(data, "evidence")
        leaves = []
        for k, part in enumerate(fields.items("leaves")):
            place = f"{fields.at('leaves')}[{k}]"
            chosen, banned, dual = _parts(part, place, "[chosen, banned, dual]")
            leaves.append(
                NeuronLeaf(
                    wholes(chosen, place, 0),
                    wholes(banned, place, 0),
                    None if dual is None else dual_from_dict(dual, place),
                )
            )
        fields.finish()
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
        fields = Fields(data, place)
        own = cells(fields.raw("cells"), fields.at("cells"))
        parts = []
        for k, entry in enumerate(fields.items("parts")):
            here = f"{fields.at('parts')}[{k}]"
            part, roots = _parts(entry, here, "[cells, roots]")
            parts.append((cells(part, here), whole(roots, here, 1)))
        fields.finish()
        return cls(own, tuple(parts))


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
        fields = Fields(data, "evidence")
        own = CountedRoots.from_dict(fields.raw("design"), fields.at("design"))
        cheaper = tuple(
            CountedRoots.from_dict(part, f"{fields.at('cheaper')}[{k}]")
            for k, part in enumerate(fields.items("cheaper"))
        )
        fields.finish()
        return cls(own, cheaper)


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
    fields = Fields(data, place)
    kind = fields.text("kind")
    dual: Dual
    if kind == "splitting":
        dual = Splitting(fields.wholes("first"), fields.whole("scale", 1))
    elif kind == "shortage":
        dual = Shortage(0, fields.wholes("elements", 0), 0, 0)
    elif kind == "tree":
        leaves = []
        for k, part in enumerate(fields.items("leaves")):
            here = f"{fields.at('leaves')}[{k}]"
            inside, outside, lines = _parts(part, here, "[inside, outside, multipliers]")
            multipliers = tuple(wholes(line, here, 0) for line in items(lines, here))
            leaves.append(Leaf(wholes(inside, here, 0), wholes(outside, here, 0), multipliers))
        dual = Tree(tuple(leaves))
    else:
        raise CheckFailed(fields.at("kind"), f"{shown(kind)} is none of splitting, shortage, tree")
    fields.finish()
    return dual
