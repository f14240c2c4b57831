"""Evidence for bounds of matroid problems, declared for proof files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from algebra.checker.records import Context, Converted, Counts, Record, read_form, row
from algebra.declarations import Size
from algebra.matroids.branch_and_bound import Tree
from algebra.matroids.capped import Dual
from algebra.matroids.groups import GroupLeaf
from algebra.matroids.intersection import Shortage, Splitting
from algebra.matroids.lagrangian import LagrangianLeaf


@dataclass(frozen=True)
class SplittingTable(Record):
    """See `algebra.matroids.intersection.Splitting`."""

    kind: Literal["splitting"]
    first: tuple[int, ...]
    scale: Size

    def dual(self) -> Splitting:
        """The dual solution."""
        return Splitting(self.first, self.scale)


@dataclass(frozen=True)
class ShortageTable(Record):
    """See `algebra.matroids.intersection.Shortage`: its ranks are computed again."""

    kind: Literal["shortage"]
    elements: Counts

    def dual(self) -> Shortage:
        """The dual solution."""
        return Shortage(0, self.elements, 0, 0)


@dataclass(frozen=True)
class TreeTable(Record):
    """See `algebra.matroids.branch_and_bound.Tree`."""

    kind: Literal["tree"]
    leaves: tuple[
        Annotated[LagrangianLeaf, row(LagrangianLeaf, Counts, Counts, tuple[Counts, ...])], ...
    ]

    def dual(self) -> Tree:
        """The dual solution."""
        return Tree(self.leaves)


_Table = SplittingTable | ShortageTable | TreeTable


def _read(value: Any, place: str, context: Context) -> Dual:
    found: Dual = read_form(_Table, value, place, context).dual()
    return found


def _write(dual: Dual) -> dict[str, Any]:
    if isinstance(dual, Splitting):
        return SplittingTable("splitting", dual.first, dual.scale).to_dict()
    if isinstance(dual, Shortage):
        return ShortageTable("shortage", dual.elements).to_dict()
    assert isinstance(dual, Tree)
    return TreeTable("tree", dual.leaves).to_dict()


DualInFile = Annotated[Dual, Converted(_Table, _read, _write)]
Leaves = tuple[Annotated[GroupLeaf, row(GroupLeaf, Counts, Counts, DualInFile | None)], ...]
