"""Pictures of allocations: the cells of a certificate, a design, a repair, an identification."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from algebra.certificates.certificate import Certificate
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.names import Names
from algebra.questions.design.robustness import Robustness
from algebra.questions.identify.identification import Identification
from algebra.ranks.parametrized import by_parameters
from matchprob.api.designs.design import DesignResult
from matchprob.api.designs.repair import RepairResult
from matchprob.report.drawing.drawing import Drawing, Size
from matchprob.report.drawing.masks import Group, draw_masks, mask_size
from matchprob.report.drawing.palette import ABSENT, BLUE, ROSE, SKY, VERDICTS, VERMILION
from matchprob.report.identification import cell_groups


@dataclass(frozen=True)
class _Masks:
    """The content of a picture of masks: cells by group, on the matrices with such cells."""

    allocation: Allocation
    groups: Sequence[Group]
    title: str
    names: Names | None = None
    numbers: Mapping[Cell, int] | None = None
    more: Sequence[Cell] = ()

    @property
    def matrices(self) -> list[str]:
        """The matrices with a visible cell; the first of the network if there is none."""
        names = {cell[0] for cells in (self.allocation.cells, self.more) for cell in cells}
        shapes = self.allocation.network.shapes
        return [name for name in shapes if name in names] or list(shapes)[:1]


def _certificate(found: Certificate) -> _Masks:
    allocation = found.problem.learning.moving
    learns = Group(f"learns: {found.verdict}", VERDICTS[found.verdict], allocation.cells)
    title = f"{allocation.network}\n{found.verdict}: {found.rule}"
    return _Masks(allocation, (Group("fixed", ABSENT), learns), title, found.problem.names)


def _identification(found: Identification) -> _Masks:
    values = found.alternatives.values if found.alternatives else {}
    numbers = {cell: count for cell, count in values.items() if count > 1}
    problem, title = found.problem, found.document().title
    return _Masks(problem.learning.moving, cell_groups(found), title, problem.names, numbers)


def _robustness(found: Robustness) -> _Masks:
    groups = (
        Group("fixed", ABSENT),
        Group("learns", SKY, found.allocation.cells),
        Group("fatal together", ROSE, found.fatal),
        Group("fatal alone", VERMILION, found.coloops),
    )
    return _Masks(found.allocation, groups, found.document().title)


def _design(found: DesignResult) -> _Masks:
    cells = found.demand.cells
    groups = (
        Group("cannot learn", ABSENT),
        Group("could learn", SKY, cells),
        Group("learns", BLUE, found.allocation.cells),
    )
    title = f"{found.goal}: {found.allocation.size} weights learn"
    return _Masks(found.allocation, groups, title, found.names, more=cells)


def _repair(found: RepairResult) -> _Masks:
    problem = by_parameters(found.problem)
    before, after = by_parameters(found.before.problem).allocation, problem.allocation
    groups = (
        Group("fixed", ABSENT),
        Group("learnt before", SKY, before.cells),
        Group("learns as before", BLUE, after.cells),
        Group("learns now", VERMILION, set(after.cells) - set(before.cells)),
    )
    moves = found.repair.moves if found.repair else 0
    title = f"{found.before.verdict} → {found.after.verdict}, {moves} moved"
    return _Masks(after, groups, title, problem.names, more=before.cells)


def _masks(of: Callable[[Any], _Masks]) -> Drawing:
    """A picture of masks, as large as its matrices."""

    def size(found: Any) -> Size:
        shown = of(found)
        return mask_size(shown.allocation.network, shown.matrices)

    def draw(axes: Axes, found: Any) -> None:
        shown = of(found)
        draw_masks(
            axes, shown.allocation.network, shown.matrices, shown.groups, title=shown.title,
            numbers=shown.numbers, names=shown.names,
        )  # fmt: skip

    return Drawing(draw, size, is_cropped=True)


DRAWINGS = {
    "Certificate": _masks(_certificate),
    "Identification": _masks(_identification),
    "Robustness": _masks(_robustness),
    "DesignResult": _masks(_design),
    "RepairResult": _masks(_repair),
}
