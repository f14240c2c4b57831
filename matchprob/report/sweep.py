"""Picture of match probabilities against an entry of the problem file."""

from __future__ import annotations

from matplotlib.axes import Axes

from algebra.errors import InputError
from matchprob.report.drawing.palette import BLUE
from matchprob.report.drawing.style import heading, tidy
from numeric.statistics.sweep import SweepResult

# From this ratio of the largest to the smallest value on the axis is logarithmic.
_LOGARITHMIC = 8


def draw_sweep(axes: Axes, found: SweepResult) -> None:
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
