"""Picture of match probabilities against a bound."""

from __future__ import annotations

from math import inf

import numpy as np
from matplotlib.axes import Axes

from algebra.errors import InputError
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, tidy
from numeric.plugins.training.profiles.document import profile_names
from numeric.plugins.training.profiles.measures import MEASURES
from numeric.plugins.training.profiles.profile import Profile, ProfileResult

_COLOURS = (BLUE, VERMILION, ORANGE, ROSE, SKY, INK)


def draw_profile(axes: Axes, found: ProfileResult) -> None:
    """Steps of each profile between its lower and upper ends, and its band."""
    if not found.trials:
        raise InputError("no trial was finished: there is nothing to draw")
    left, right = _range(found)
    for k, (name, profile) in enumerate(zip(profile_names(found), found.profiles, strict=True)):
        colour = _COLOURS[k % len(_COLOURS)]
        _draw(axes, profile, name, colour, left, right)
    for c in found.crossings:
        axes.axvspan(c.low, c.high, color=INK, alpha=0.06, lw=0)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(-0.01, 1.02)
    tidy(axes, MEASURES[found.by].title, "match probability")
    part = f", partial: {found.trials} of {found.requested}" if found.is_partial else ""
    heading(
        axes,
        f"{found.profiles[0].problem.network}\n{found.trials} trials{part}; shaded: "
        f"{found.confidence:.0%} band; right edge: no bound",
        axes.get_legend_handles_labels()[0],
    )


def _range(found: ProfileResult) -> tuple[float, float]:
    """From the least to nearly the greatest bound at which a profile changes."""
    steps = [s for p in found.profiles for s in (*p.steps, *p.bounds) if s > 0]
    if not steps:
        return 0.1, 10.0
    low, high = np.quantile(steps, [0.0, 0.98])
    return float(low) / 1.3, max(float(high), 4 * float(low)) * 1.3


def _draw(axes: Axes, profile: Profile, name: str, colour: str, left: float, right: float) -> None:
    bounds = sorted({left, right, *profile.bounds, *profile.steps})
    bounds = [b for b in bounds if left <= b <= right]
    points = [profile.at(b) for b in bounds]
    n = max(1, profile.trials)
    certain = [p.matched / n for p in points]
    possible = [1 - p.unmatched / n for p in points]
    axes.step(bounds, certain, where="post", color=colour, lw=1.3, label=name)
    if any(p.undetermined for p in points):
        axes.step(bounds, possible, where="post", color=colour, lw=0.8, ls=":")
    axes.fill_between(
        bounds, [p.band.low for p in points], [p.band.high for p in points], step="post",
        color=colour, alpha=0.12, lw=0,
    )  # fmt: skip
    # The share matched without a bound, at the right end.
    end = profile.at(inf)
    low, high = end.interval.low, end.interval.high
    axes.plot(
        [right, right], [low, high], color=colour, lw=2.5, solid_capstyle="butt", clip_on=False
    )
    axes.plot([right], [end.matched / n], "o", ms=4, color=colour, clip_on=False)


DRAWINGS = {"ProfileResult": Drawing(draw_profile)}
