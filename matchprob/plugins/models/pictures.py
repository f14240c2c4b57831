"""Pictures of capacities against parameters, and of dimensions as bars."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from algebra.plugins.models.capacity import Capacity, SubsetCapacity
from algebra.plugins.models.dimension import Dimension
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, INK, SKY
from matchprob.report.drawing.style import SMALL, heading, text_width, tidy

# Subsets off the frontier that have a name in the picture, those that counting misjudges first.
_MOST_OTHERS = 6
# The factor by which counting is too large where both numbers are printed.
_FAR = 1.25


def frontier(found: Capacity) -> list[SubsetCapacity]:
    """The subsets for which no other has fewer parameters and as many samples."""
    out: list[SubsetCapacity] = []
    for subset in sorted(found.subsets, key=lambda s: (s.learnable, -s.capacity)):
        if not out or subset.capacity > out[-1].capacity:
            out.append(subset)
    return out


def _round(low: float, high: float) -> list[int]:
    """1, 2, 5, 10, … between two numbers; 1, 10, 100, … where these would be many."""
    every = [m * 10**k for k in range(12) for m in (1, 2, 5) if low <= m * 10**k <= high]
    return every if len(every) <= 8 else [v for v in every if str(v)[0] == "1"]


def _label(axes: Axes, best: list[SubsetCapacity], others: list[SubsetCapacity]) -> None:
    """Names beside the points, where they cover no point and no other name.

    A subset that fits far fewer samples than counting says has both numbers.
    """
    scale = 72 / axes.figure.dpi
    at = {
        s.name: axes.transData.transform((s.learnable, s.capacity)) * scale for s in best + others
    }
    left = axes.transAxes.transform((0, 0))[0] * scale
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at.values()]
    for subset in sorted(others, key=_excess, reverse=True)[:_MOST_OTHERS] + best:
        text = subset.name
        if _excess(subset) > _FAR:
            text += f": {subset.capacity}, not {subset.counting}"
        x, y = at[subset.name]
        wide = text_width(text, SMALL)
        for dx, dy in ((5, -10), (-5 - wide, 4), (5, 4), (-5 - wide, -10), (-wide / 2, -18)):
            box = (x + dx, y + dy, x + dx + wide, y + dy + SMALL)
            if box[0] > left and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                axes.annotate(
                    text, (subset.learnable, subset.capacity), xytext=(dx, dy),
                    textcoords="offset points", fontsize=SMALL, color=INK,
                )  # fmt: skip
                break


def _excess(subset: SubsetCapacity) -> float:
    """By what factor counting is too large."""
    return subset.counting / max(1, subset.capacity)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def draw_capacity(axes: Axes, found: Capacity) -> None:
    """Capacity against the number of parameters, the frontier joined, counting as a line."""
    best = frontier(found)
    sizes = [subset.learnable for subset in found.subsets]
    ends = [min(sizes), max(sizes)]
    axes.plot(ends, [size / found.outputs for size in ends], color=INK, lw=0.8, ls=":")
    others = [subset for subset in found.subsets if subset not in best]
    axes.plot([s.learnable for s in others], [s.capacity for s in others], "o", color=SKY, ms=4)
    axes.plot([s.learnable for s in best], [s.capacity for s in best], "o-", color=BLUE, ms=5)
    lower = [s for s in found.subsets if not s.exact and (s.on_patterns or not s.is_whole)]
    for s in lower:
        axes.annotate(
            "", (s.learnable, s.capacity), xytext=(0, 13), textcoords="offset points",
            arrowprops={"arrowstyle": "<-", "color": BLUE if s in best else SKY, "shrinkB": 1},
        )  # fmt: skip
    axes.set_xscale("log")
    capacities = [subset.capacity for subset in found.subsets]
    highest = max(*capacities, max(sizes) / found.outputs)
    # A capacity of 0 has no place on a logarithmic axis.
    lowest = min(*capacities, highest)
    if lowest:
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=1, linscale=0.3)
    axes.set_xlim(min(sizes) / 1.6, max(sizes) * 2)
    axes.set_ylim(lowest / 2, 2 * highest)
    ticks = (
        (axes.xaxis, _round(min(sizes) / 1.6, 2 * max(sizes))),
        (axes.yaxis, [*([] if lowest else [0]), *_round(max(1, lowest / 2), 2 * highest)]),
    )
    for axis, places in ticks:
        axis.set_major_locator(FixedLocator(places))
        axis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        axis.set_minor_locator(NullLocator())
    tidy(axes, "parameters that learn", "samples that can be fitted")
    _label(axes, best, others)
    handles = [
        Line2D([], [], color=BLUE, marker="o", ms=5, label="no other subset beats it"),
        Line2D([], [], color=SKY, marker="o", lw=0, ms=4, label="other subsets"),
        Line2D([], [], color=INK, lw=0.8, ls=":", label="by counting"),
    ]
    if lower:
        handles.append(Line2D([], [], color=BLUE, marker="$↑$", lw=0, ms=7, label="at least"))
    heading(axes, f"{found.parameters} parameters, {found.outputs} labels a sample", handles)


def draw_dimension(axes: Axes, found: Dimension) -> None:
    """Dimension, expected and ambient dimension, and the number of weights, as bars."""
    own = "dimension" if found.dimension is not None else "dimension at least"
    if found.at_most is not None:
        own = "dimension at most"
    values = {
        own: found.at_least if found.at_most is None else found.at_most,
        "expected": found.expected,
        "ambient": found.ambient,
        "weights": found.parameters,
    }
    known = {name: value for name, value in values.items() if value is not None}
    colours = [BLUE if name == own else SKY for name in known]
    bars = axes.barh(list(known), list(known.values()), color=colours)
    axes.bar_label(bars, padding=2, fontsize=SMALL)
    if found.dimension is None and found.at_least is not None:
        axes.plot(found.at_least, 0, ">", color=BLUE, ms=9, clip_on=False)
    axes.margins(x=0.12)
    axes.invert_yaxis()
    tidy(axes, "dimension")
    defect = (
        ("lower bound" if found.at_most is None else "upper bound")
        if found.defect is None
        else f"defect {found.defect}"
    )
    heading(axes, f"{found.model}\n{defect}{', filling' * found.filling}")


DRAWINGS = {
    "Capacity": Drawing(draw_capacity, (5.5, 3.6)),
    "Dimension": Drawing(draw_dimension, (5.0, 2.2)),
}
