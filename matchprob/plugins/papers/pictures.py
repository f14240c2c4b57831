"""Picture of match probabilities against the numbers that may predict them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from algebra.errors import InputError
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, INK
from matchprob.report.drawing.style import SMALL, available_width, heading, tidy
from numeric.plugins.papers.principles.correlation import RankCorrelation
from numeric.plugins.papers.principles.survey import PrincipleSurvey

# Panels side by side, which are as many as are drawn, and the size of one in inches.
_ACROSS = 3
_WIDTH = 2.3
_HEIGHT = 1.9
# The narrowest panel in points; the lowest one, and the heading, in inches.
_NARROWEST = 110.0
_LOWEST = 1.5
_HEADING = 1.6
# The space between panels, as a share of the picture and of a row.
_GAP_ACROSS = 0.07
_GAP_DOWN = 0.34
# Of the latter, what is below a panel: its numbers and its name.
_BELOW = 0.6


def _shown(found: PrincipleSurvey) -> list[RankCorrelation]:
    """The predictors that differ between classes, the strongest correlation first.

    Of those with the same values, or the opposite ones, the first is kept: their pictures are
    equal.
    """
    seen, kept = set[tuple[int, ...]](), []
    for tau in found.tau:
        if tau.value is not None:
            values = [value for value in found.values_of(tau.predictor) if value is not None]
            order = tuple(np.unique(values, return_inverse=True)[1].tolist())
            reversed_order = tuple(max(order) - rank for rank in order)
            if not {order, reversed_order} & seen:
                seen.add(order)
                kept.append(tau)
    return sorted(kept, key=lambda tau: -abs(tau.value or 0.0))


def principles_size(found: PrincipleSurvey) -> tuple[float, float]:
    """Width and height in inches that fit the panels."""
    return _ACROSS * _WIDTH, _HEADING + _HEIGHT


def draw_principles(axes: Axes, found: PrincipleSurvey) -> None:
    """The three predictors of the strongest correlation; the table has the others.

    A panel has a point for each class, with its interval, and τ above it.
    """
    shown = _shown(found)
    if not shown:
        raise InputError("no number differs between the classes: there is nothing to draw")
    axes.set_axis_off()
    across = max(1, min(_ACROSS, int(available_width(axes) / _NARROWEST)))
    figure: Any = axes.get_figure()
    down = max(1, int((figure.get_figheight() - _HEADING) / _LOWEST))
    shown = shown[: min(_ACROSS, across * down)]
    left_out = sum(t.value is not None for t in found.tau) - len(shown)
    across = min(across, len(shown))
    down = -(-len(shown) // across)
    width = (1 - _GAP_ACROSS * (across - 1)) / across
    slot = 1 / down
    for k, tau in enumerate(shown):
        row, column = divmod(k, across)
        left = column * (width + _GAP_ACROSS)
        bottom = 1 - (row + 1 - _BELOW * _GAP_DOWN) * slot
        panel = axes.inset_axes((left, bottom, width, (1 - _GAP_DOWN) * slot))
        _panel(panel, found, tau, has_name=column == 0)
    more = f"; {left_out} more numbers in the table" if left_out > 0 else ""
    heading(
        axes,
        f"{found.network}\n{len(found.classes)} classes, {found.trials} trials each; bars: "
        f"{found.confidence:.0%} intervals{more}",
    )


def _panel(axes: Axes, found: PrincipleSurvey, tau: RankCorrelation, *, has_name: bool) -> None:
    points = [
        (value, c.estimate.interval(), c.estimate.estimate)
        for c, value in zip(found.classes, found.values_of(tau.predictor), strict=True)
        if value is not None
    ]
    places = _places([value for value, *_ in points])
    colour = BLUE if tau.is_principle else INK
    for x, (_, interval, estimate) in zip(places, points, strict=True):
        axes.plot([x, x], [interval.low, interval.high], color=colour, lw=0.8, alpha=0.5)
        if estimate is not None:
            axes.plot([x], [estimate], "o", ms=3, color=colour)
    lowest = min(interval.low for _, interval, _ in points)
    axes.set_ylim(max(-0.02, np.floor(10 * lowest) / 10 - 0.02), 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    low = "" if tau.low is None else f" [{tau.low:.2f}, {tau.high:.2f}]"
    axes.set_title(f"τ {tau.value:.2f}{low}".replace("-", "−"), fontsize=SMALL, pad=2)
    largest = max(value for value, *_ in points)
    name = f"log₂ of {tau.predictor}" if largest > _LARGE else tau.predictor
    tidy(axes, name, "MP" if has_name else "")


# Larger numbers are drawn by their logarithm.
_LARGE = 10_000


def _places(values: Sequence[int]) -> np.ndarray:
    """The abscissas, points of one value a little apart so that their bars are seen."""
    if max(values) > _LARGE:
        x = np.array([float(max(value, 1).bit_length() - 1) for value in values])
    else:
        x = np.array(values, float)
    spread = 0.02 * float(np.ptp(x) or 1)
    seen: dict[float, int] = {}
    for k, value in enumerate(x):
        place = seen[value] = seen.get(value, -1) + 1
        x[k] = value + spread * (place if place % 2 else -place) / 2
    return x


DRAWINGS = {"PrincipleSurvey": Drawing(draw_principles, principles_size)}
