"""The drawing of results of one class, with the size of its figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from algebra.results import Result

Size = tuple[float, float]


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
