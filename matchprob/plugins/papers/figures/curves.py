"""Points of a figure, drawn: curves with intervals, and the meaning of their marks.

Rows are those of `matchprob.plugins.papers.figures.points.Measured.row`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from matchprob.plugins.papers.figures.tables import Row, Rows, Tables, cell_number
from matchprob.report.drawing.palette import INK, SERIES
from matchprob.report.drawing.style import grow, heading, new_panels, remove_titles, share_legend

# Sizes of marks in points: of curves, and of the paper's method, which may overlap them.
_MARK = 4.5
_CROSS = 5.0


def matched_share(row: Row) -> float:
    """Fraction of matched trials; a lower bound if some are undetermined."""
    return cell_number(row, "matched") / max(cell_number(row, "trials"), 1)


def draw_curve(axes: Axes, rows: Rows, colour: str, *, shift: float = 0.0) -> Axes:
    """A curve with intervals: certified points are filled, estimated ones hollow.

    Certified points have no interval.  If trials are undetermined the matched fraction is a lower
    bound, drawn as a triangle, and lines to it are dotted: they do not show the course of the
    curve.

    Parameters
    ----------
    axes : matplotlib axes
    rows : sequence of mapping
    colour : str
    shift : float, optional
        To the right, in units of x: the bars of several curves stand side by side.
    """
    xs, ys = [cell_number(row, "x") + shift for row in rows], [matched_share(row) for row in rows]
    for (a, b), line_x, line_y in zip(pairwise(rows), pairwise(xs), pairwise(ys), strict=True):
        open_ = a["undetermined"] or b["undetermined"]
        axes.plot(line_x, line_y, ":" if open_ else "-", color=colour, lw=0.8 if open_ else 1.2)
    for row, x, y in zip(rows, xs, ys, strict=True):
        if not row["certified"]:
            low, high = max(y - cell_number(row, "low"), 0), max(cell_number(row, "high") - y, 0)
            axes.errorbar(x, y, [[low], [high]], color=colour, capsize=2, lw=0.8)
        face = colour if row["certified"] else "white"
        mark = "^" if row["undetermined"] else "o"
        axes.plot(x, y, mark, color=colour, mfc=face, ms=_MARK, zorder=3)
    return axes


def draw_baseline(axes: Axes, rows: Rows, colour: str, *, shift: float = 0.0) -> Axes:
    """The results of the paper's method on the first of the same instances."""
    tried = [row for row in rows if row["baseline_trials"]]
    if tried:
        xs = [cell_number(row, "x") + shift for row in tried]
        ys = [
            cell_number(row, "baseline_matched") / cell_number(row, "baseline_trials")
            for row in tried
        ]
        axes.plot(xs, ys, "x:", color=colour, lw=0.8, ms=_CROSS, mew=1.2, zorder=4)
    return axes


def draw_curves(
    axes: Axes,
    curves: Mapping[str, Rows],
    title: str,
    *,
    colours: Mapping[str, str] | None = None,
    more: Sequence[Artist] = (),
) -> Axes:
    """Curves side by side, with the title and the legend of their marks.

    Parameters
    ----------
    axes : matplotlib axes
    curves : mapping of str to rows
        By name.
    title : str
    colours : mapping of str to str, optional
        By name; those of `matchprob.report.drawing.palette.SERIES` in turn by default.
    more : sequence of artists, optional
        Further entries of the legend.
    """
    colours = colours or dict(zip(curves, SERIES, strict=False))
    every = [row for rows in curves.values() for row in rows]
    xs = [cell_number(row, "x") for row in every] or [0.0]
    apart = shifts(len(curves), max(xs) - min(xs))
    handles: list[Artist] = []
    for (name, rows), shift in zip(curves.items(), apart, strict=True):
        draw_curve(axes, rows, colours[name], shift=shift)
        if "baseline_trials" in rows[0]:
            draw_baseline(axes, rows, colours[name], shift=shift)
        handles.append(Line2D([], [], color=colours[name], lw=1.2, label=name))
    axes.set_ylim(-0.03, 1.05)
    heading(axes, title, [*handles, *more, *marks(every)])
    return axes


def shifts(curves: int, width: float) -> list[float]:
    """Distances between curves on axes of this width, centred at their positions."""
    return [(k - (curves - 1) / 2) * 0.011 * width for k in range(curves)]


def marks(rows: Iterable[Row]) -> list[Artist]:
    """The meaning of the marks that occur, for a legend."""
    known = list(rows)
    out: list[Artist] = []
    for mark, face, label, seen in (
        ("o", INK, "certified: exact", any(row["certified"] for row in known)),
        ("o", "white", "estimate, 95 % interval",
         any(not row["certified"] and not row["undetermined"] for row in known)),
        ("^", "white", "certified lower bound, 95 % interval",
         any(bool(row["undetermined"]) for row in known)),
        ("x", INK, "the paper's method", any(row.get("baseline_trials") for row in known)),
    ):  # fmt: skip
        if seen:
            size = _CROSS if mark == "x" else _MARK
            line = Line2D([], [], color=INK, ls="", marker=mark, mfc=face, ms=size, label=label)
            out.append(line)
    return out


Panel = Callable[[Axes, Tables], Axes]


@dataclass(frozen=True)
class FigureLayout:
    """A picture: its panels, row by row, and its size in inches on wide paper.

    Attributes
    ----------
    panels : tuple of callable
        Each draws the figure's tables on axes, and returns these.
    width, height : float
    columns : int
        Number of panels side by side; they are one below the other on narrow paper.
    ratios : sequence of float or None
        Ratios of the widths of the columns; None if they are equal.
    name : str
        Empty for the figure's own picture.
    has_one_legend : bool
        Whether one legend above all panels replaces their own.
    """

    panels: tuple[Panel, ...]
    width: float = 6.0
    height: float = 4.0
    columns: int = 1
    ratios: Sequence[float] | None = None
    name: str = ""
    has_one_legend: bool = False

    def draw(self, tables: Tables, *, has_titles: bool = True) -> Canvas:
        """Draw all panels on a new canvas, with the width of `report.drawing.style.on_paper`."""
        rows = -(-len(self.panels) // self.columns)
        canvas, grid = new_panels(rows, self.columns, self.width, self.height, self.ratios)
        for panel, axes in zip(self.panels, grid, strict=False):
            panel(axes, tables)
        if self.has_one_legend:
            share_legend(canvas)
        if not has_titles:
            remove_titles(canvas)
        grow(canvas)
        return canvas
