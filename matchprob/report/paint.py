"""Every result as a picture: what `Result.plot` and ``--plot`` draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from algebra.certificates.certificate import Certificate
from algebra.certificates.checks import Verification
from algebra.design.robustness import Robustness
from algebra.errors import InputError
from algebra.identify.identification import Identification
from algebra.problems.allocation import Allocation, Cell
from algebra.results import Result
from algebra.surveys.audit import Audit, AuditResult
from matchprob.api.design import DesignResult
from matchprob.api.repair import RepairResult
from matchprob.report import pictures
from matchprob.report.identification import groups_of
from matchprob.report.masks import Group, draw_masks, mask_size
from matchprob.report.palette import (
    ABSENT,
    BLUE,
    INK,
    ORANGE,
    OUTCOMES,
    ROSE,
    SKY,
    VERDICTS,
    VERMILION,
)
from numeric.counts import CountResult
from numeric.normalization.construct import Construction
from numeric.relu.decide import ReluDecision
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.training.experiment import MSE, TrainResult

Size = tuple[float, float]


@dataclass(frozen=True)
class Picture:
    """How results of one kind are drawn.

    Attributes
    ----------
    draw : callable
        Takes axes and the result.
    size : callable or (float, float)
        Of a figure for it alone, in inches; a callable takes the result.
    """

    draw: Callable[[Axes, Any], None]
    size: Callable[[Any], Size] | Size = (5.0, 3.2)

    def inches(self, found: Result) -> Size:
        """Width and height that fit a result."""
        return self.size(found) if callable(self.size) else self.size


def paint(found: Result, ax: Axes | None = None) -> Axes:
    """Draw a result, in a new figure of pyplot's where no axes are given."""
    picture = _picture(found)
    if ax is None:
        # Through pyplot, so that a notebook shows the figure and `plt.show()` finds it.
        figure, ax = plt.subplots(figsize=picture.inches(found), layout="constrained")
        try:
            picture.draw(ax, found)
        except InputError:
            plt.close(figure)
            raise
    else:
        picture.draw(ax, found)
    return ax


def figure_of(found: Result) -> Figure:
    """A figure of its own, unknown to pyplot: for files."""
    picture = _picture(found)
    figure = Figure(figsize=picture.inches(found), layout="constrained")
    picture.draw(figure.subplots(), found)
    return figure


def _picture(found: Result) -> Picture:
    try:
        return PICTURES[found.picture]
    except KeyError:
        raise InputError(f"there is no picture of a {type(found).__name__}") from None


def _matrices(allocation: Allocation, *more: Sequence[Cell]) -> list[str]:
    """Those with a cell to be seen; the first of the network where there is none."""
    names = {cell[0] for cells in (allocation.cells, *more) for cell in cells}
    shapes = allocation.network.shapes
    return [name for name in shapes if name in names] or list(shapes)[:1]


def _certificate(axes: Axes, found: Certificate) -> None:
    allocation = found.problem.allocation
    draw_masks(
        axes, allocation.network, _matrices(allocation),
        (
            Group("fixed", ABSENT),
            Group(f"learns: {found.verdict}", VERDICTS[found.verdict], allocation.cells),
        ),
        title=f"{allocation.network}\n{found.verdict}: {found.rule}",
    )  # fmt: skip


def _identification(axes: Axes, found: Identification) -> None:
    values = found.alternatives.values if found.alternatives else {}
    draw_masks(
        axes, found.problem.network, _matrices(found.problem.allocation), groups_of(found),
        title=found.lines()[0],
        numbers={cell: count for cell, count in values.items() if count > 1},
    )  # fmt: skip


def _robustness(axes: Axes, found: Robustness) -> None:
    cells = found.allocation.cells
    groups = (
        Group("fixed", ABSENT),
        Group("learns", SKY, cells),
        Group("fatal together", ROSE, found.fatal),
        Group("fatal alone", VERMILION, found.coloops),
    )
    draw_masks(
        axes, found.allocation.network, _matrices(found.allocation), groups, title=str(found)
    )


def _design(axes: Axes, found: DesignResult) -> None:
    cells = found.asked.cells
    groups = (
        Group("cannot learn", ABSENT),
        Group("might have", SKY, cells),
        Group("learns", BLUE, found.allocation.cells),
    )
    title = f"{found.goal}: {found.allocation.size} weights learn"
    draw_masks(axes, found.asked.network, _matrices(found.allocation, cells), groups, title=title)


def _repair(axes: Axes, found: RepairResult) -> None:
    before = found.before.problem.allocation
    after = found.problem.allocation
    groups = (
        Group("fixed", ABSENT),
        Group("learnt before", SKY, before.cells),
        Group("learns as before", BLUE, after.cells),
        Group("learns now", VERMILION, set(after.cells) - set(before.cells)),
    )
    moves = found.repair.moves if found.repair else 0
    title = f"{found.before.verdict} → {found.after.verdict}, {moves} moved"
    draw_masks(axes, after.network, _matrices(after, before.cells), groups, title=title)


def _estimate(axes: Axes, found: Estimate) -> None:
    interval = found.interval()
    value = f"MP {found.value_text}"
    if found.certified is None:
        value += f", {found.confidence:.0%} interval [{interval.low:.4f}, {interval.high:.4f}]"
    partial = f", partial: {found.trials} of {found.requested}" if found.is_partial else ""
    pictures.real_solutions(axes, found.counts, f"{found.problem.network}\n{value}{partial}")


def _counts(axes: Axes, found: CountResult) -> None:
    roots = found.generic_root_count
    title = f"{len(found)} instances by {found.engine}, seed {found.seed}"
    if roots is not None:
        title += f"; N = {roots}"
    if found.is_partial:
        title += f"; partial, of {found.requested}"
    pictures.real_solutions(axes, found.instances, title)


def _comparison(axes: Axes, found: Comparison) -> None:
    for k, one in enumerate((found.first, found.second)):
        interval = one.interval()
        axes.plot([interval.low, interval.high], [k, k], color=BLUE, lw=3, solid_capstyle="butt")
        value = one.estimate if one.estimate is not None else one.at_least
        if value is not None:
            # A lower bound points to where the value may be.
            axes.plot([value], [k], ">" if one.is_lower_bound else "o", color=INK, ms=7)
    axes.set_yticks([0, 1], ["first", "second"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(f"match probability, {found.first.confidence:.0%} intervals")
    axes.set_title(f"{found.trials} common trials\n{found.summary}", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _checks(axes: Axes, found: Verification) -> None:
    tally = Counter(check.status for check in found.checks)
    names = list(tally)
    bars = axes.barh(names, [tally[name] for name in names], color=[_CHECKS[n] for n in names])
    axes.bar_label(bars, padding=2, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("checks")
    axes.set_title(f"{found.verdict}: {'holds' if found.holds else 'does not hold'}", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


_CHECKS = {
    "proved": BLUE, "probable": SKY, "trusted": OUTCOMES["undetermined"], "unchecked": ABSENT,
    "unfinished": INK, "failed": VERMILION,
}  # fmt: skip


def _audit(axes: Axes, found: Audit | AuditResult) -> None:
    parts = [(a, t) for a in (found if isinstance(found, Audit) else [found]) for t in a.theorems]
    if not parts:
        raise InputError("no theorem speaks of these allocations: there is nothing to draw")
    names = [f"{t.theorem} ({a.matrix})" for a, t in parts]
    start = [0] * len(parts)
    for label, colour, values in (
        ("agrees", BLUE, [t.agree for _, t in parts]),
        ("silent", ABSENT, [t.silent for _, t in parts]),
        ("wrong", VERMILION, [t.wrong for _, t in parts]),
    ):
        axes.barh(names, values, left=start, color=colour, label=label)
        start = [a + b for a, b in zip(start, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("allocations")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, fontsize=8, frameon=False,
        borderaxespad=0.2,
    )  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)


def _audit_size(found: Audit | AuditResult) -> Size:
    parts = found if isinstance(found, Audit) else [found]
    return 6.5, 1.4 + 0.35 * max(1, sum(len(a.theorems) for a in parts))


def _witness(axes: Axes, found: ReluDecision) -> None:
    if found.witness is None:
        raise InputError(f"{found.verdict}: there is no witness to draw")
    values = [float(int(v.p) / int(v.q)) for v in found.witness]
    axes.bar(range(len(values)), values, color=BLUE)
    axes.axhline(0, color=INK, lw=0.8)
    if max(map(abs, values), default=0) > 100:
        axes.set_yscale("symlog")
    axes.set_xlabel("learnable weight, in the allocation's order")
    axes.set_ylabel("value in the match")
    axes.set_title(str(found), fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _construction(axes: Axes, found: Construction) -> None:
    axes.bar([b.layer for b in found.blocks], [b.condition for b in found.blocks], color=BLUE)
    axes.set_yscale("log")
    axes.set_xticks([b.layer for b in found.blocks])
    axes.set_xlabel("layer")
    axes.set_ylabel("condition number of its system")
    axes.set_title(str(found).partition("\n")[0].partition(",")[0], fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _training(axes: Axes, found: TrainResult) -> None:
    groups = (
        ("a match, found", BLUE, [t for t in found.trained if t.found]),
        ("a match, not found", ORANGE, [t for t in found.trained if t.exists and not t.found]),
        ("no match", VERMILION, [t for t in found.trained if t.exists is False]),
        ("open", ROSE, [t for t in found.trained if t.exists is None]),
    )
    if not found.trained:
        raise InputError("no trial was trained: there is nothing to draw")
    # Errors as they are drawn: diverged runs at the right edge, 0 at the left one.
    least, most = 1e-24, 1e4
    for label, colour, trials in groups:
        if trials:
            xs = sorted(min(max(t.least_mse, least), most) for t in trials)
            ys = range(1, len(xs) + 1)
            axes.step([least, *xs, most], [0, *ys, len(xs)], where="post", color=colour,
                      label=f"{label} ({len(xs)})")  # fmt: skip
    axes.axvline(MSE, color=INK, lw=0.8, ls=":", label="the papers' criterion")
    axes.set_xscale("log")
    axes.set_xlabel("least mean squared error at the end of training")
    axes.set_ylabel("trials with at most this error")
    axes.set_ylim(bottom=0)
    part = f", partial: {found.trials} of {found.requested}" if found.is_partial else ""
    axes.set_title(f"{found.problem.network}\n{found}{part}", fontsize=8)
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes.spines[["top", "right"]].set_visible(False)


def _mask_size_of(cells: Callable[[Any], tuple[Allocation, Sequence[Cell]]]) -> Callable[..., Size]:
    def size(found: Any) -> Size:
        allocation, more = cells(found)
        return mask_size(allocation.network, _matrices(allocation, more))

    return size


PICTURES: dict[str, Picture] = {
    "incidence": Picture(pictures.draw_incidence, pictures.incidence_size),
    "certificate": Picture(_certificate, _mask_size_of(lambda f: (f.problem.allocation, ()))),
    "checks": Picture(_checks, (5.0, 2.2)),
    "witness": Picture(_witness),
    "real solutions": Picture(_counts),
    "outcomes": Picture(_estimate),
    "comparison": Picture(_comparison, (6.0, 2.2)),
    "identification": Picture(_identification, _mask_size_of(lambda f: (f.problem.allocation, ()))),
    "robustness": Picture(_robustness, _mask_size_of(lambda f: (f.allocation, ()))),
    "audit": Picture(_audit, _audit_size),
    "atlas": Picture(pictures.draw_atlas, pictures.atlas_size),
    "design": Picture(_design, _mask_size_of(lambda f: (f.allocation, f.asked.cells))),
    "repair": Picture(
        _repair,
        _mask_size_of(lambda f: (f.problem.allocation, f.before.problem.allocation.cells)),
    ),
    "construction": Picture(_construction),
    "training": Picture(_training, (7.5, 3.2)),
}
