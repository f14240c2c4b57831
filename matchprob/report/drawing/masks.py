"""Masks as a picture: matrices side by side in one axes, each cell in the colour of its group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.problems.names import Names
from matchprob.report.drawing.style import SMALL, TEXT, available_width, heading, text_width, tidy

# Distance of two matrices, in cells; the least width of cells, in points, for a grid.
_GAP = 1.5
_GRID = 3.0
# Largest size of a cell, in points.
_CELL = 29.0
# Space above matrices for their names, and for a tick, in points.
_NAMES = 13.0
_TICK = 11.0


@dataclass(frozen=True)
class Group:
    """Cells in one colour.

    Attributes
    ----------
    label : str
    colour : str
    cells : iterable of cells
        If several groups contain a cell, the last one is shown.
    """

    label: str
    colour: str
    cells: Iterable[Cell] = ()


def mask_size(network: Network, matrices: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches that fit the matrices; the height is cropped to what is drawn."""
    return grid_size([network.shapes[name] for name in matrices])


def grid_size(shapes: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """The same for grids of these shapes."""
    columns = sum(c for _, c in shapes) + _GAP * (len(shapes) - 1)
    rows = max(r for r, _ in shapes)
    cell = min(_CELL / 72, 9.0 / max(rows, columns))
    return max(3.6, columns * cell + 1.2), max(1.2, rows * cell) + 2.4


def draw_masks(
    axes: Axes,
    network: Network,
    matrices: Sequence[str],
    groups: Sequence[Group],
    *,
    title: str = "",
    numbers: Mapping[Cell, int] | None = None,
    names: Names | None = None,
) -> dict[str, np.ndarray]:
    """Draw matrices side by side.

    Parameters
    ----------
    axes : matplotlib axes
    network : Network
    matrices : sequence of str
        Drawn from left to right.
    groups : sequence of Group
        The first is the background: cells of no other group.
    title : str, optional
    numbers : mapping of cell to int, optional
        Written into cells, if these are large enough.
    names : Names, optional
        Names of units, as ticks in place of indices.

    Returns
    -------
    dict of str to ndarray of int
        For each matrix, the group shown at each cell.
    """
    shapes = {name: network.shapes[name] for name in matrices}
    return draw_grids(
        axes, shapes, groups, title=title, numbers=numbers,
        rows={name: names.rows(name) for name in matrices} if names else {},
        columns={name: names.columns(name) for name in matrices} if names else {},
    )  # fmt: skip


def draw_grids(
    axes: Axes,
    shapes: Mapping[str, tuple[int, int]],
    groups: Sequence[Group],
    *,
    title: str = "",
    numbers: Mapping[Cell, int] | None = None,
    rows: Mapping[str, Sequence[str] | None] | None = None,
    columns: Mapping[str, Sequence[str] | None] | None = None,
    across: str = "from (column)",
    down: str = "onto (row)",
) -> dict[str, np.ndarray]:
    """Draw grids of cells side by side.

    Parameters
    ----------
    axes : matplotlib axes
    shapes : mapping of str to (int, int)
        Of each grid, by its name.
    groups, title, numbers
        As for `draw_masks`.
    rows, columns : mapping of str to sequence of str, optional
        Names in place of indices.
    across, down : str, optional
        Of the axes.

    Returns
    -------
    dict of str to ndarray of int
        For each grid, the group shown at each cell.
    """
    row_names, column_names = rows or {}, columns or {}
    tallest = max(high for high, _ in shapes.values())
    if tallest > 2 * next(iter(shapes.values()))[0]:
        # The numbers of all rows are beside the first grid.
        shapes = dict(sorted(shapes.items(), key=lambda item: -item[1][0]))
    pictures = {name: np.zeros(shape, int) for name, shape in shapes.items()}
    for k, group in enumerate(groups):
        for name, i, j in group.cells:
            if name in pictures:
                pictures[name][i, j] = k
    colours = np.array([to_rgb(group.colour) for group in groups])
    labels = {
        name: list(row_names.get(name) or map(str, range(picture.shape[0])))
        for name, picture in pictures.items()
    }
    cell, gaps, beside = _places(pictures, labels, available_width(axes), _height(axes))
    left, seen = 0.0, set()
    xticks: list[tuple[float, str, int]] = []
    for name, picture in pictures.items():
        high, wide_here = picture.shape
        seen |= set(np.unique(picture).tolist())
        axes.imshow(
            colours[picture],
            extent=(left, left + wide_here, high, 0),
            interpolation="nearest",
            aspect="equal",
        )
        if cell >= _GRID:
            lines = [((left, i), (left + wide_here, i)) for i in range(high + 1)]
            lines += [((left + j, 0), (left + j, high)) for j in range(wide_here + 1)]
            axes.add_collection(LineCollection(lines, colors="white", linewidths=0.8))
        # The name of a narrow matrix is drawn too, unless it overlaps the next one.
        named = text_width(name, TEXT) / cell
        if named <= wide_here + gaps[name] or len(pictures) == 1:
            is_wider = named > wide_here
            axes.annotate(
                name, (left if is_wider else left + wide_here / 2, 0), (0, 3),
                textcoords="offset points", ha="left" if is_wider else "center",
                fontsize=TEXT, style="italic", annotation_clip=False,
            )  # fmt: skip
        if name in beside:
            for i in _ticks(high, cell):
                axes.annotate(
                    beside[name][i], (left, i + 0.5), (-3, 0), textcoords="offset points",
                    ha="right", va="center", fontsize=SMALL, annotation_clip=False,
                )  # fmt: skip
        across_names = column_names.get(name)
        xticks += [
            (left + j + 0.5, across_names[j] if across_names else str(j), high)
            for j in _ticks(wide_here, cell)
        ]
        if cell >= SMALL + 2:
            for (matrix, i, j), number in (numbers or {}).items():
                if matrix == name:
                    axes.text(
                        left + j + 0.5, i + 0.5, str(number), ha="center", va="center",
                        fontsize=SMALL, color=_ink(colours[picture[i, j]]),
                    )  # fmt: skip
        left += wide_here + gaps[name]
    # A few cells do not fill the width: cells have a largest size.
    axes.set_xlim(0, max(left - _GAP, available_width(axes) / _CELL))
    axes.set_ylim(tallest, 0)
    axes.set_anchor("NW")
    # Names are vertical if they are wider than their column.
    upright = any(text_width(text, SMALL) > cell - 2 for _, text, _ in xticks)
    turned = 90 if upright else 0
    below = [(x, text) for x, text, high in xticks if high == tallest]
    axes.set_xticks([x for x, _ in below], [text for _, text in below], rotation=turned)
    for x, text, high in xticks:
        if high < tallest:
            # Directly below its own matrix.
            axes.annotate(
                text, (x, high), (0, -3), textcoords="offset points", ha="center", va="top",
                fontsize=SMALL, rotation=turned, annotation_clip=False,
            )  # fmt: skip
    down_ticks = _ticks(tallest, cell)
    # The tallest of the grids with common ticks names the rows; others have indices.
    sharing = [labels[name] for name in pictures if name not in beside]
    shared = max(sharing, key=len)
    if any(text != shared[i] for own in sharing for i, text in enumerate(own)):
        shared = list(map(str, range(tallest)))
    down_ticks = [i for i in down_ticks if i < len(shared)]
    axes.set_yticks([i + 0.5 for i in down_ticks], [shared[i] for i in down_ticks])
    tidy(axes, across, down)
    axes.set_xlabel(across, loc="left")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    shown = [Patch(color=groups[k].colour, label=groups[k].label) for k in sorted(seen)]
    heading(axes, title, shown, above=_NAMES)
    return pictures


def _places(
    pictures: Mapping[str, np.ndarray],
    labels: Mapping[str, list[str]],
    width: float,
    height: float,
) -> tuple[float, dict[str, float], dict[str, list[str]]]:
    """Positions of grids within a given number of points.

    Returns
    -------
    float
        Points of a cell.
    dict of str to float
        Cells that stay free to the right of each grid.
    dict of str to list of str
        Names of the rows of grids that differ from the first grid's, to their left.
        Empty if names would take half of the space of the cells.
    """
    names = list(pictures)
    columns = {name: picture.shape[1] for name, picture in pictures.items()}
    first = labels[names[0]]
    differ = [
        name for name in names if any(a != b for a, b in zip(labels[name], first, strict=False))
    ]
    wide = sum(columns.values()) + _GAP * (len(names) - 1)
    tallest = max(picture.shape[0] for picture in pictures.values())
    plain = min(_CELL, width / wide, height / tallest)
    texts = {name: max(text_width(text, SMALL) for text in labels[name]) + 6 for name in differ}
    titles = {name: text_width(name, TEXT) + 4 for name in names}
    longer = sum(max(0.0, titles[name] - (columns[name] + _GAP) * plain) for name in names)
    cell = min(plain, (width - sum(texts.values()) - longer) / wide)
    if cell < plain / 2:
        return plain, dict.fromkeys(names, _GAP), {}
    gaps = {name: max(_GAP, titles[name] / cell - columns[name]) for name in names}
    for before, name in pairwise(names):
        gaps[before] += texts.get(name, 0.0) / cell
    return cell, gaps, {name: labels[name] for name in differ}


def _height(axes: Axes) -> float:
    """Height of the axes, in points."""
    figure: Any = axes.get_figure()
    return float(axes.get_position(original=True).height * figure.bbox.height / figure.dpi * 72)


def _ticks(size: int, cell: float) -> list[int]:
    """Indices with a tick for cells of this many points: those with space for a number."""
    return list(range(0, size, max(1, math.ceil(_TICK / cell))))


def _ink(colour: np.ndarray) -> str:
    return "white" if colour @ (0.2126, 0.7152, 0.0722) < 0.45 else "black"
