"""Pictures of trials: counts, estimates, comparisons, training."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from algebra.errors import InputError
from matchprob.report.drawing import pictures
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, VERMILION
from matchprob.report.drawing.style import heading, tidy
from numeric.plugins.training.experiment import TrainResult
from numeric.programs.losses import MSE
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.statistics.sweep import SweepResult
from numeric.trials.count_result import CountResult

# From this ratio of the largest to the smallest value on the axis is logarithmic.
_LOGARITHMIC = 8


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


DRAWINGS = {
    "CountResult": Drawing(_counts),
    "Estimate": Drawing(_estimate),
    "SweepResult": Drawing(_sweep, (4.2, 2.6)),
    "Comparison": Drawing(_comparison, (5.5, 2.4)),
    "TrainResult": Drawing(_training),
}
