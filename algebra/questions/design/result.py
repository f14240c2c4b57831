"""A design, its value, and the bound that is proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.checker.duals import DualInFile, Leaves
from algebra.checker.records import Cells, Record
from algebra.declarations import Size, named_key
from algebra.linalg.numbers import float_text
from algebra.problems.allocation import Allocation
from algebra.problems.cells import cells_data
from algebra.questions.design.demand import Demand
from algebra.ranks.generic_rank import GenericRank, allocation_rank
from algebra.results import named


@dataclass(frozen=True)
class Design:
    """A design.

    Attributes
    ----------
    allocation : Allocation
    goal : str
    cost : Fraction
        Cost of all its weights.
    rank : GenericRank
        Generic rank of the allocation, proved; it is the network's.
    caps : tuple of (str, int)
        The caps that were kept: kind of line and number.
    value, bound : Fraction
        The quantity that the goal minimizes, and its proved lower bound.
    error : Fraction
        Bound on the probability that the bound is wrong.
    points : tuple of (int, int)
        Prime and number of each random point that was used.
    proof : str
        The proof of optimality in words, or what is known.
    measure : str
        The quantity that `value` counts; empty for the cost.
    certificate : str
        For goal "maximal": the odd root count.
    line : str
        The kind of line for goals "spread" and "neurons"; empty for the others.
    cost_bound : Fraction
        Lower bound on the cost of an allocation with the same value.
    evidence : Record or None
        `algebra.questions.design.verify` proves the bounds from it.
    """

    allocation: Allocation
    goal: str
    cost: Fraction
    rank: GenericRank = field(repr=False)
    caps: tuple[tuple[str, int], ...] = field(repr=False)
    value: Fraction
    bound: Fraction
    error: Fraction = field(repr=False)
    points: tuple[tuple[int, int], ...] = field(repr=False)
    proof: str = field(default="", repr=False)
    measure: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    line: str = field(default="", repr=False)
    cost_bound: Fraction = field(default=Fraction(0), repr=False)
    evidence: Record | None = field(default=None, repr=False)

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound are equal."""
        return self.value == self.bound

    @property
    def largest(self) -> dict[str, int]:
        """Largest number of learnable weights in one row and in one column."""
        return {line: fullest(self.allocation, line) for line in ("row", "column")}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "goal": self.goal,
            **cells_data("cells", self.allocation.network, self.allocation.cells),
            "learnable": self.allocation.size,
            "cost": str(self.cost),
            "equations": self.rank.rank,
            "caps": dict(self.caps),
            "measure": self.measure or "cost",
            **named(self, "value", "bound", "cost_bound"),
            "optimal": self.is_optimal,
            "proof": self.proof,
            "error_bound": float_text(self.error),
            **named(self, "points", "largest"),
        }


def design_of(
    demand: Demand,
    allocation: Allocation,
    goal: str,
    error: Fraction,
    points: Sequence[tuple[int, int]],
    **more: Any,
) -> Design:
    """The design of an allocation, its rank proved; by default the value is the cost."""
    rank = allocation_rank(allocation, demand.support, demand.equations, demand.seed)
    if rank.rank != demand.equations:
        raise ArithmeticError("a design is minimal: a bug")
    cost = demand.cost(allocation.cells)
    given = {"value": cost, **more}
    given = {"bound": given["value"], "cost_bound": cost, **given}
    return Design(
        allocation, goal, cost, rank, demand.caps, error=error, points=tuple(points), **given
    )


def allocation_of(demand: Demand, elements: Sequence[int]) -> Allocation:
    """The weights that must learn and the chosen free weights."""
    return Allocation.from_cells(
        demand.network, [*demand.must, *(demand.free[k] for k in elements)]
    )


def fullest(allocation: Allocation, line: str) -> int:
    """Largest number of learnable weights in one line."""
    if line == "matrix":
        return max((sum(allocation.row_counts(name)) for name in allocation.matrices), default=0)
    count = allocation.row_counts if line == "row" else allocation.column_counts
    return max((c for name in allocation.matrices for c in count(name)), default=0)


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
