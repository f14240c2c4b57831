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
