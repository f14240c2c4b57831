"""Pictures made of panels: functions that draw tables on the axes they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from matchprob.figures.tables import Tables
from matchprob.report.drawing.style import grow, new_panels, remove_titles, share_legend

Panel = Callable[[Axes, Tables], Axes]


@dataclass(frozen=True)
class FigureLayout:
    """A picture: its panels, row by row, and the inches it takes where the paper is wide.

    Attributes
    ----------
    panels : tuple of callable
        Each draws the figure's tables on axes, and returns these.
    width, height : float
    columns : int
        Panels side by side; below one another where the paper is narrow.
    ratios : sequence of float or None
        Widths of the columns to each other; None where they are equal.
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
        """All panels on a new canvas, as wide as `report.drawing.style.on_paper` says."""
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
