"""Match probability against a bound: table and picture."""

from __future__ import annotations

from math import inf

import numpy as np
from matplotlib.axes import Axes
from rich.console import Console
from rich.text import Text

from algebra.errors import InputError
from matchprob.report.drawing.palette import BLUE, INK, ORANGE, ROSE, SKY, VERMILION
from matchprob.report.drawing.style import heading, tidy
from matchprob.report.tables import learns, table
from numeric.profiles.measures import MEASURES
from numeric.profiles.profile import Profile, ProfileResult
from numeric.statistics.bands import band_half_width

# Rows shown if no bounds are given.
_ROWS = 12
_COLOURS = (BLUE, VERMILION, ORANGE, ROSE, SKY, INK)


def names_of(found: ProfileResult) -> list[str]:
    """Names of the problems: of their files, else numbers."""
    return [p.name or f"problem {k + 1}" for k, p in enumerate(found.profiles)]


def print_profile(out: Console, found: ProfileResult) -> None:
    """A table of each profile, and the crossings of rankings."""
    if not found.trials:
        out.print("no trial was finished")
        return
    title = MEASURES[found.by].title
    level = f"{found.confidence:.0%}"
    out.print(
        Text(f"match probability by {found.by}: {title}", style="bold"),
    )
    out.print(
        f"  {found.trials} trials, seed {found.seed}; intervals for one bound at a time, {level}; "
        f"the band ± {band_half_width(found.trials, found.confidence):.4f} holds at all bounds"
    )
    columns = ("bound", "matched", "not", "?", "MP", "interval", "band")
    for name, profile in zip(names_of(found), found.profiles, strict=True):
        points = profile.points
        if not profile.bounds and len(points) > _ROWS:
            places = np.linspace(0, len(points) - 1, _ROWS).round().astype(int)
            points = [points[k] for k in places]
        out.print()
        out.print(f"{name}: {learns(profile.problem)}", markup=False)
        grid = table(*columns, right=columns)
        for p in [*points, profile.at(inf)]:
            bound = "none" if p.bound == inf else f"{p.bound:.4g}"
            value = "–" if p.estimate is None else f"{p.estimate:.4f}"
            grid.add_row(
                bound, str(p.matched), str(p.unmatched), str(p.undetermined), value,
                str(p.interval), str(p.band),
            )  # fmt: skip
        out.print(grid)
    if len(found.profiles) > 1:
        out.print()
        names = names_of(found)
        for c in found.crossings:
            other = c.first if c.ahead == c.second else c.second
            out.print(
                f"between {c.low:.4g} and {c.high:.4g}: {names[c.ahead]} overtakes {names[other]}",
                markup=False,
            )
        if not found.crossings:
            out.print("no crossing of rankings is certain")
        out.print(f"  paired intervals, all bounds together {level} (Bonferroni)")


def draw_profile(axes: Axes, found: ProfileResult) -> None:
    """Steps of each profile between its lower and upper ends, and its band."""
    if not found.trials:
        raise InputError("no trial was finished: there is nothing to draw")
    left, right = _range(found)
    for k, (name, profile) in enumerate(zip(names_of(found), found.profiles, strict=True)):
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
