"""Evidence for a design's bounds: frozen, of exact types, written to a file and read from it.

Reading refuses data in any other form than the one written here, with its place
(`algebra.certificates.fields`).  Data that were read are only well formed; `algebra.design.verify`
checks what they prove.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from algebra.certificates.duals import (
    LEAVES,
    Evidence,
    cells_to_list,
    dual_from_dict,
    dual_to_dict,
    fixed_list,
    written,
)
from algebra.certificates.fields import cells, items, whole
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.problems.allocation import Cell


@dataclass(frozen=True)
class CostEvidence(Evidence):
    """Goal "cheapest": no design costs less.

    Attributes
    ----------
    dual : Splitting or Tree
    """

    dual: Dual = field(repr=False, metadata=written("cost", dual_to_dict, dual_from_dict))


def _optional_dual(place: str) -> Mapping[str, Any]:
    """A dual solution that may be missing, under this name."""
    return written(
        place,
        lambda dual: None if dual is None else dual_to_dict(dual),
        lambda data, at: None if data is None else dual_from_dict(data, at),
    )


@dataclass(frozen=True)
class RankEvidence(Evidence):
    """Goal "rank": no design of this rank costs less, and no larger rank is within the budget.

    Attributes
    ----------
    dual : Splitting or Tree
        For the cost, at this rank.
    refutation : Shortage, Splitting, Tree or None
        A larger rank costs more than the budget, or breaks a cap; None for the network's own rank.
    """

    dual: Dual = field(repr=False, metadata=written("cost", dual_to_dict, dual_from_dict))
    refutation: Dual | None = field(repr=False, metadata=_optional_dual("one_more"))


@dataclass(frozen=True)
class SpreadEvidence(Evidence):
    """Goal "spread": no design that is as spread costs less, and none is more spread.

    Attributes
    ----------
    dual : Splitting or Tree
        For the cost, under the cap found.
    refutation : Shortage, Splitting, Tree or None
        No design keeps a cap smaller by one; None if no smaller cap is possible.
    """

    dual: Dual = field(repr=False, metadata=written("cost", dual_to_dict, dual_from_dict))
    refutation: Dual | None = field(repr=False, metadata=_optional_dual("one_less"))


@dataclass(frozen=True)
class NeuronEvidence(Evidence):
    """Goal "neurons": the leaves of the search, which together contain every set of neurons.

    Attributes
    ----------
    leaves : tuple of GroupLeaf
    """

    leaves: tuple[GroupLeaf, ...] = field(repr=False, metadata=LEAVES)


def _counts_to_list(counts: tuple[tuple[tuple[Cell, ...], int], ...]) -> list[list[Any]]:
    return [[cells_to_list(part), roots] for part, roots in counts]


def _counts_from_list(data: object, place: str) -> tuple[tuple[tuple[Cell, ...], int], ...]:
    counted = []
    for k, entry in enumerate(items(data, place)):
        here = f"{place}[{k}]"
        part, roots = fixed_list(entry, here, "[cells, roots]")
        counted.append((cells(part, here), whole(roots, here, 1)))
    return tuple(counted)


@dataclass(frozen=True)
class CountedRoots(Evidence):
    """An allocation's generic root count N, or those of parts of it if it is over-complete.

    Attributes
    ----------
    cells : tuple of cells
        The allocation.
    parts : tuple of (cells, int)
        Sets of as many weights as there are equations, with their N.
    """

    cells: tuple[Cell, ...] = field(metadata=written("cells", cells_to_list, cells))
    parts: tuple[tuple[tuple[Cell, ...], int], ...] = field(
        metadata=written("parts", _counts_to_list, _counts_from_list)
    )


@dataclass(frozen=True)
class MaximalEvidence(Evidence):
    """Goal "maximal": the design's odd root count, and the even ones of all cheaper designs.

    Attributes
    ----------
    roots : CountedRoots
        Of the design, or of a part of it: one odd number.
    cheaper : tuple of CountedRoots
        One for each cheaper design that is not minimal, up to renaming of units.
    """

    roots: CountedRoots = field(
        metadata=written("design", CountedRoots.to_dict, CountedRoots.from_dict)
    )
    cheaper: tuple[CountedRoots, ...] = field(
        metadata=written(
            "cheaper",
            lambda counted: [roots.to_dict() for roots in counted],
            lambda data, place: tuple(
                CountedRoots.from_dict(part, f"{place}[{k}]")
                for k, part in enumerate(items(data, place))
            ),
        ),
    )
