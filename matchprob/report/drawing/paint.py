"""Pictures of all results, for `Result.plot` and ``--plot``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from algebra.certificates.certificate import Certificate
from algebra.certificates.verification import Verification
from algebra.errors import InputError, shown
from algebra.linalg.numbers import nearest_double
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.names import Names
from algebra.questions.capacity import Capacity
from algebra.questions.design.robustness import Robustness
from algebra.questions.identify.dimension import Dimension
from algebra.questions.identify.identification import Identification
from algebra.questions.record.result import Recording
from algebra.questions.surveys.atlas import Atlas
from algebra.questions.surveys.audit import Audit, AuditResult
from algebra.ranks.parametrized import by_parameters
from algebra.results import Result
from algebra.systems.inspection import Inspection
from matchprob.api.constructions import DepthConstruction
from matchprob.api.designs.design import DesignResult
from matchprob.api.designs.repair import RepairResult
from matchprob.io.sizes import DPI, inches
from matchprob.report.capacity import draw_capacity, draw_dimension
from matchprob.report.drawing import pictures
from matchprob.report.drawing.masks import Group, draw_masks, mask_size
from matchprob.report.drawing.palette import (
    ABSENT,
    BLUE,
    INK,
    ORANGE,
    ROSE,
    SKY,
    VERDICTS,
    VERMILION,
)
from matchprob.report.drawing.style import (
    SMALL,
    crop,
    grow,
    heading,
    name_ticks,
    new_figure,
    remove_titles,
    tidy,
)
from matchprob.report.identification import cell_groups
from matchprob.report.principles import draw_principles, principles_size
from matchprob.report.profile import draw_profile
from matchprob.report.recording import draw_recording, recording_size
from numeric.count_result import CountResult
from numeric.equations.programs.losses import MSE
from numeric.experiments.principles.survey import PrincipleSurvey
from numeric.experiments.profiles.profile import ProfileResult
from numeric.experiments.training.experiment import TrainResult
from numeric.families.activations.decision import ActivatedDecision
from numeric.families.normalization.construct import Construction
from numeric.families.relu.decision import ReluDecision
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.statistics.sweep import SweepResult

Size = tuple[float, float]
# From this ratio of the largest to the smallest value on the axis is logarithmic.
_LOGARITHMIC = 8


@dataclass(frozen=True)
class Drawing:
    """The drawing of results of one class.

    Attributes
    ----------
    draw : callable
        Takes axes and the result.
    size : callable or (float, float)
        Size of a separate figure, in inches; a callable takes the result.
    is_cropped : bool
        Whether its height follows from its width: squares stay squares.
    """

    draw: Callable[[Axes, Any], None]
    size: Callable[[Any], Size] | Size = (5.0, 3.2)
    is_cropped: bool = False

    def inches(self, found: Result, width: float | None = None) -> Size:
        """Width and height that fit a result, for the user's width if it is given."""
        own, height = self.size(found) if callable(self.size) else self.size
        if width is None or self.is_cropped:
            return width or own, height
        # The size of letters is constant, so a narrow picture needs more height.
        return width, height * min(1.6, max(0.8, width / own))


def paint(found: Result, ax: Axes | None = None) -> Axes:
    """Draw a result, in a new pyplot figure if no axes are given."""
    picture = _picture(found)
    if ax is not None and not isinstance(ax, Axes):
        raise InputError(
            f"`ax` ({shown(ax)}) must be axes of matplotlib; to write a file: "
            "result.plot().figure.savefig(name)"
        )
    if ax is None:
        # Through pyplot, so that a notebook shows the figure and `plt.show()` finds it.
        figure, ax = plt.subplots(figsize=picture.inches(found), layout="constrained")
        try:
            picture.draw(ax, found)
        except InputError:
            plt.close(figure)
            raise
        (crop if picture.is_cropped else grow)(figure)
    else:
        picture.draw(ax, found)
    return ax


def figure_of(found: Result, width: float | None = None, *, has_title: bool = True) -> Figure:
    """A figure for a file, not registered in pyplot.

    Parameters
    ----------
    found : Result
    width : float, optional
        In inches; by default from the drawing.
    has_title : bool, optional
        False leaves the title to a caption.
    """
    picture = _picture(found)
    figure = new_figure(*picture.inches(found, width))
    picture.draw(figure.subplots(), found)
    if not has_title:
        remove_titles(figure)
    (crop if picture.is_cropped else grow)(figure)
    return figure


def write_picture(
    found: Result,
    path: Path,
    width: str | None = None,
    dpi: int = DPI,
    *,
    has_title: bool = True,
) -> None:
    """Draw a result into a file.

    Parameters
    ----------
    found : Result
    path : Path
        .png, .svg (text stays text) or .pdf (fonts embedded).
    width : str, optional
        On paper, with its unit: 85mm.
    dpi : int, optional
        Dots per inch, of .png files.
    has_title : bool, optional
        False leaves the title to a caption.

    Raises
    ------
    InputError
    """
    figure = figure_of(found, None if width is None else inches(width), has_title=has_title)
    pictures.save(figure, path, dpi)


def _picture(found: Result) -> Drawing:
    for kind in type(found).__mro__:
        if kind in PICTURES:
            return PICTURES[kind]
    raise InputError(f"there is no picture of a {type(found).__name__}")


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


def _estimate(axes: Axes, found: Estimate) -> None:
    value = f"MP {found.value_text}"
    if found.certified is None:
        value += f", {found.confidence:.0%} interval {found.interval().text()}"
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


def _sweep(axes: Axes, found: SweepResult) -> None:
    """Each value's estimate with its interval; words stand side by side."""
    if not found.estimates:
        raise InputError("no value was finished: there is nothing to draw")
    values = found.values[: len(found.estimates)]
    is_number = all(isinstance(value, (int, float)) for value in values)
    places = [float(v) for v in values] if is_number else [float(k) for k in range(len(values))]
    for place, own in zip(places, found.estimates, strict=True):
        interval = own.interval()
        axes.plot([place, place], [interval.low, interval.high], color=BLUE, lw=1.5)
        if own.estimate is not None:
            axes.plot([place], [own.estimate], "o", ms=4, color=BLUE)
    if is_number and min(places) > 0 and max(places) >= _LOGARITHMIC * min(places):
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(places, [str(value) for value in values])
    axes.set_ylim(-0.01, 1.02)
    tidy(axes, found.key, "match probability")
    first = found.estimates[0]
    part = f", partial: {len(values)} of {len(found.values)} values" if found.is_partial else ""
    heading(axes, f"{first.requested} trials each{part}; {first.confidence:.0%} intervals")


def _comparison(axes: Axes, found: Comparison) -> None:
    handles = [Line2D([], [], color=BLUE, lw=3, label=f"{found.first.confidence:.0%} interval")]
    for k, one in enumerate((found.first, found.second)):
        interval = one.interval()
        axes.plot([interval.low, interval.high], [k, k], color=BLUE, lw=3, solid_capstyle="butt")
        value = one.estimate if one.estimate is not None else one.at_least
        if value is not None:
            # A lower bound is drawn as an arrow towards the possible values.
            mark, label = (">", "lower bound") if one.is_lower_bound else ("o", "estimate")
            (drawn,) = axes.plot([value], [k], mark, color=INK, ms=6, label=label)
            if label not in {str(h.get_label()) for h in handles}:
                handles.append(drawn)
    axes.set_yticks([0, 1], ["first", "second"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(-0.02, 1.02)
    tidy(axes, "match probability")
    heading(axes, f"{found.trials} common trials\n{found.summary}", handles)


def _checks(axes: Axes, found: Verification) -> None:
    tally = Counter(check.status for check in found.checks)
    names = list(tally)
    bars = axes.barh(names, [tally[name] for name in names], color=[_CHECKS[n] for n in names])
    axes.bar_label(bars, padding=2, fontsize=SMALL)
    axes.margins(x=0.08)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(axes, "checks")
    heading(axes, f"{found.verdict}: {found.outcome}")


_CHECKS = {
    "proved": BLUE, "probable": SKY, "unchecked": ABSENT,
    "unfinished": INK, "failed": VERMILION,
}  # fmt: skip


def _audit(axes: Axes, found: Audit | AuditResult) -> None:
    parts = [(a, t) for a in (found if isinstance(found, Audit) else [found]) for t in a.theorems]
    if not parts:
        raise InputError("no theorem speaks of these allocations: there is nothing to draw")
    names = [f"{t.theorem} ({a.matrix})" for a, t in parts]
    start = [0] * len(parts)
    for colour, values in (
        (BLUE, [t.agree for _, t in parts]),
        (ABSENT, [t.silent for _, t in parts]),
        (VERMILION, [t.wrong for _, t in parts]),
    ):
        axes.barh(names, values, left=start, color=colour)
        start = [a + b for a, b in zip(start, values, strict=True)]
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    tidy(axes, "allocations")
    handles = [
        Patch(color=colour, label=label)
        for label, colour in (("agrees", BLUE), ("silent", ABSENT), ("wrong", VERMILION))
    ]
    heading(axes, "the theorems, as stated, against the exact verdict", handles)


def _audit_size(found: Audit | AuditResult) -> Size:
    parts = found if isinstance(found, Audit) else [found]
    return 6.5, 1.4 + 0.35 * max(1, sum(len(a.theorems) for a in parts))


def _witness(axes: Axes, found: ReluDecision | ActivatedDecision) -> None:
    if found.witness is None:
        raise InputError(f"{found.verdict}: there is no witness to draw")
    values = [float_of(v) for v in found.witness]
    axes.bar(range(len(values)), values, color=BLUE)
    axes.axhline(0, color=INK, lw=0.8)
    largest = max(map(abs, values), default=0.0)
    if largest > 100:
        # Few ticks: those that matplotlib chooses overlap around zero.
        top = math.ceil(math.log10(largest))
        powers = [10.0**top, 10.0 ** (top // 2)]
        signs = [s for s in (-1, 1) if any(s * v > 1 for v in values)]
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_yticks(sorted({0.0, *(s * power for s in signs for power in powers)}))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    tidy(axes, "learnable weight, in the allocation's order", "value in the match")
    heading(axes, found.document().title)


def _construction(axes: Axes, found: Construction) -> None:
    axes.bar([b.layer for b in found.blocks], [b.condition for b in found.blocks], color=BLUE)
    axes.set_yscale("log")
    axes.set_ylim(bottom=min(b.condition for b in found.blocks) / 10)
    layers = [b.layer for b in found.blocks]
    name_ticks(axes, layers, list(map(str, layers)))
    tidy(axes, "layer", "condition number of its system")
    heading(axes, found.document().title.partition(",")[0])


def _depth(axes: Axes, found: DepthConstruction) -> None:
    """The largest and the smallest |scale| of each layer of the target."""
    layers = list(range(1, len(found) + 1))
    for label, colour, pick in (("largest |scale|", BLUE, max), ("smallest", ORANGE, min)):
        sizes = [pick(abs(float_of(s)) for row in b.scales for s in row) for b in found]
        axes.plot(layers, sizes, marker="o", ls="none", color=colour, label=label)
    axes.set_yscale("log")
    name_ticks(axes, layers, list(map(str, layers)))
    tidy(axes, "layer of the target", "scale")
    handles, _ = axes.get_legend_handles_labels()
    heading(axes, found.document().title.partition(",")[0], handles)


def float_of(value: Any) -> float:
    """A double, or a rational rounded."""
    return nearest_double(value) if hasattr(value, "p") else float(value)


def _training(axes: Axes, found: TrainResult) -> None:
    groups = (
        ("a match, found", BLUE, [t for t in found.trained if t.found]),
        ("a match, not found", ORANGE, [t for t in found.trained if t.exists and not t.found]),
        ("no match", VERMILION, [t for t in found.trained if t.exists is False]),
        ("open", ROSE, [t for t in found.trained if t.exists is None]),
    )
    if not found.trained:
        raise InputError("no trial was trained: there is nothing to draw")
    # Positions of errors: diverged runs at the right edge, 0 at the left one.
    least, most = 1e-24, 1e4
    for label, colour, trials in groups:
        if trials:
            xs = sorted(min(max(t.least_mse, least), most) for t in trials)
            ys = range(1, len(xs) + 1)
            axes.step([least, *xs, most], [0, *ys, len(xs)], where="post", color=colour,
                      label=f"{label} ({len(xs)})")  # fmt: skip
    axes.axvline(MSE, color=INK, lw=0.8, ls=":", label="the papers' criterion")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(axes, "least mean squared error at the end of training", "trials with at most this error")
    part = f"; partial: {found.trials} of {found.requested}" if found.is_partial else ""
    title = (
        f"{found.settings.optimizer}: found in {found.found} of {found.exists} with a match{part}"
    )
    heading(axes, title, axes.get_legend_handles_labels()[0])


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


# The drawings by class of result.
PICTURES: dict[type[Result], Drawing] = {
    Inspection: Drawing(pictures.draw_incidence, pictures.incidence_size, is_cropped=True),
    Certificate: _masks(_certificate),
    Verification: Drawing(_checks, (5.0, 2.2)),
    ReluDecision: Drawing(_witness),
    ActivatedDecision: Drawing(_witness),
    CountResult: Drawing(_counts),
    Estimate: Drawing(_estimate),
    SweepResult: Drawing(_sweep, (4.2, 2.6)),
    Comparison: Drawing(_comparison, (5.5, 2.4)),
    Capacity: Drawing(draw_capacity, (5.5, 3.6)),
    Dimension: Drawing(draw_dimension, (5.0, 2.2)),
    Recording: Drawing(draw_recording, recording_size, is_cropped=True),
    Identification: _masks(_identification),
    Robustness: _masks(_robustness),
    Audit: Drawing(_audit, _audit_size),
    AuditResult: Drawing(_audit, _audit_size),
    PrincipleSurvey: Drawing(draw_principles, principles_size),
    Atlas: Drawing(pictures.draw_atlas, pictures.atlas_size, is_cropped=True),
    DesignResult: _masks(_design),
    RepairResult: _masks(_repair),
    Construction: Drawing(_construction),
    DepthConstruction: Drawing(_depth),
    ProfileResult: Drawing(draw_profile),
    TrainResult: Drawing(_training),
}
