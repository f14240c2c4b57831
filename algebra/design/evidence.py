"""What proves a design's bounds: frozen, of exact types, written to a file and read from it.

Reading refuses whatever is not of the form written here, with its place
(`algebra.certificates.fields`).  What is read is well formed, no more; `algebra.design.verify`
checks what it proves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from algebra.certificates.checks import CheckFailed
from algebra.certificates.duals import (
    dual_from_dict,
    dual_to_dict,
    leaves_from_list,
    leaves_to_list,
    parts,
)
from algebra.certificates.fields import Fields, items, whole
from algebra.errors import shown
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.problems.allocation import Cell


def cell(value: object, place: str) -> Cell:
    """A weight ``[matrix, row, column]``."""
    name, i, j = parts(value, place, "[matrix, row, column]")
    if not isinstance(name, str):
        raise CheckFailed(place, f"must name a matrix, not {shown(name)}")
    return name, whole(i, place, 0), whole(j, place, 0)


def cells(value: object, place: str) -> tuple[Cell, ...]:
    """A list of different weights."""
    found = tuple(cell(v, f"{place}[{k}]") for k, v in enumerate(items(value, place)))
    if len(set(found)) < len(found):
        raise CheckFailed(place, "names a weight twice")
    return found


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
class NeuronEvidence:
    """Goal "neurons": the leaves of the search; every set of neurons is in one of them.

    Attributes
    ----------
    leaves : tuple of GroupLeaf
    """

    leaves: tuple[GroupLeaf, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"leaves": leaves_to_list(self.leaves)}

    @classmethod
    def from_dict(cls, data: object) -> NeuronEvidence:
        """Read it."""
        fields = Fields(data, "evidence")
        leaves = leaves_from_list(fields.raw("leaves"), fields.at("leaves"))
        fields.finish()
        return cls(leaves)


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
        counted = [[[list(c) for c in part], roots] for part, roots in self.parts]
        return {"cells": [list(c) for c in self.cells], "parts": counted}

    @classmethod
    def from_dict(cls, data: object, place: str) -> CountedRoots:
        """Read it."""
        fields = Fields(data, place)
        own = cells(fields.raw("cells"), fields.at("cells"))
        counted = []
        for k, entry in enumerate(fields.items("parts")):
            here = f"{fields.at('parts')}[{k}]"
            part, roots = parts(entry, here, "[cells, roots]")
            counted.append((cells(part, here), whole(roots, here, 1)))
        fields.finish()
        return cls(own, tuple(counted))


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
