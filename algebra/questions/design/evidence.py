"""Evidence for a design's bounds, declared for proof files.

Data that were read are only well formed; `algebra.questions.design.verify` checks what they prove.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from algebra.certificates.duals import DualInFile, Leaves
from algebra.certificates.records import Cells, Record
from algebra.declarations import Size, named_key


@dataclass(frozen=True)
class CostEvidence(Record):
    """Goal "cheapest": no design costs less.

    Attributes
    ----------
    dual : Splitting or Tree
    """

    dual: DualInFile = field(repr=False, metadata=named_key("cost"))


@dataclass(frozen=True)
class RankEvidence(Record):
    """Goal "rank": no design of this rank costs less, and no larger rank is within the budget.

    Attributes
    ----------
    dual : Splitting or Tree
        For the cost, at this rank.
    refutation : Shortage, Splitting, Tree or None
        A larger rank costs more than the budget, or breaks a cap; None for the network's own rank.
    """

    dual: DualInFile = field(repr=False, metadata=named_key("cost"))
    refutation: DualInFile | None = field(repr=False, metadata=named_key("one_more"))


@dataclass(frozen=True)
class SpreadEvidence(Record):
    """Goal "spread": no design that is as spread costs less, and none is more spread.

    Attributes
    ----------
    dual : Splitting or Tree
        For the cost, under the cap found.
    refutation : Shortage, Splitting, Tree or None
        No design keeps a cap smaller by one; None if no smaller cap is possible.
    """

    dual: DualInFile = field(repr=False, metadata=named_key("cost"))
    refutation: DualInFile | None = field(repr=False, metadata=named_key("one_less"))


@dataclass(frozen=True)
class NeuronEvidence(Record):
    """Goal "neurons": the leaves of the search, which together contain every set of neurons.

    Attributes
    ----------
    leaves : tuple of GroupLeaf
    """

    leaves: Leaves = field(repr=False)


@dataclass(frozen=True)
class CountedRoots(Record):
    """An allocation's generic root count N, or those of parts of it if it is over-complete.

    Attributes
    ----------
    cells : tuple of cells
        The allocation.
    parts : tuple of (cells, int)
        Sets of as many weights as there are equations, with their N.
    """

    cells: Cells
    parts: tuple[tuple[Cells, Size], ...]


@dataclass(frozen=True)
class MaximalEvidence(Record):
    """Goal "maximal": the design's odd root count, and the even ones of all cheaper designs.

    Attributes
    ----------
    roots : CountedRoots
        Of the design, or of a part of it: one odd number.
    cheaper : tuple of CountedRoots
        One for each cheaper design that is not minimal, up to renaming of units.
    """

    roots: CountedRoots = field(metadata=named_key("design"))
    cheaper: tuple[CountedRoots, ...]
