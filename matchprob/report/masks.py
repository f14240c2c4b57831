"""Masks as a picture: matrices side by side in one axes, each cell in the colour of its group."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from algebra.networks.base import Network
from algebra.problems.allocation import Cell

# Between two matrices, in cells; grids and numbers only where cells are at least this wide.
_GAP, _GRID, _TEXT = 1.5, 64, 24
# Characters of a title on one line.
_WIDE = 52
# Ticks on a side, at most.
_TICKS = 12


@dataclass(frozen=True)
class Group:
    """Cells in one colour.

    Attributes
    ----------
    label : str
    colour : str
    cells : iterable of cells
        Of several groups with the same cell the last is seen.
    """

    label: str
    colour: str
    cells: Iterable[Cell] = ()


def mask_size(network: Network, matrices: Sequence[str]) -> tuple[float, float]:
    """Width and height in inches that fit the matrices."""
    shapes = [network.shapes[name] for name in matrices]
    columns = sum(c for _, c in shapes) + _GAP * (len(shapes) - 1)
    rows = max(r for r, _ in shapes)
    cell = min(0.4, 9.0 / max(rows, columns))
    return max(3.6, columns * cell + 1.2), max(1.2, rows * cell) + 1.6


def draw_masks(
    axes: Axes,
    network: Network,
    matrices: Sequence[str],
    groups: Sequence[Group],
    *,
    title: str = "",
    numbers: Mapping[Cell, int] | None = None,
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
        Written into cells, where these are large enough.

    Returns
    -------
    dict of str to ndarray of int
        For each matrix, which group is seen at each cell.
    """
    pictures = {name: np.zeros(network.shapes[name], int) for name in matrices}
    for k, group in enumerate(groups):
        for name, i, j in group.cells:
            if name in pictures:
                pictures[name][i, j] = k
    colours = np.array([to_rgb(group.colour) for group in groups])
    left, seen, tallest = 0.0, set(), 0
    xticks: list[tuple[float, str]] = []
    for name, picture in pictures.items():
        rows, columns = picture.shape
        tallest = max(tallest, rows)
        seen |= set(np.unique(picture).tolist())
        axes.imshow(
            colours[picture],
            extent=(left, left + columns, rows, 0),
            interpolation="nearest",
            aspect="equal",
        )
        if max(rows, columns) <= _GRID:
            across = [((left, i), (left + columns, i)) for i in range(rows + 1)]
            down = [((left + j, 0), (left + j, rows)) for j in range(columns + 1)]
            axes.add_collection(LineCollection([*across, *down], colors="white", linewidths=0.8))
        axes.annotate(
            name, (left + columns / 2, 0), (0, 3), textcoords="offset points", ha="center",
            fontsize=9, style="italic", annotation_clip=False,
        )  # fmt: skip
        xticks += [(left + j + 0.5, str(j)) for j in _ticks(columns)]
        if max(rows, columns) <= _TEXT:
            for (matrix, i, j), number in (numbers or {}).items():
                if matrix == name:
                    axes.text(
                        left + j + 0.5, i + 0.5, str(number), ha="center", va="center", fontsize=8,
                        color=_ink(colours[picture[i, j]]),
                    )  # fmt: skip
        left += columns + _GAP
    axes.set_xlim(0, left - _GAP)
    axes.set_ylim(tallest, 0)
    axes.set_xticks([x for x, _ in xticks], [text for _, text in xticks], fontsize=7)
    axes.set_yticks([i + 0.5 for i in _ticks(tallest)], list(map(str, _ticks(tallest))), fontsize=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("from (column)", fontsize=8)
    axes.set_ylabel("onto (row)", fontsize=8)
    lines = [part for line in title.split("\n") for part in textwrap.wrap(line, _WIDE)]
    axes.set_title("\n".join(lines), fontsize=9, pad=16)
    axes.legend(
        handles=[Patch(color=groups[k].colour, label=groups[k].label) for k in sorted(seen)],
        loc="upper left", bbox_to_anchor=(0, -42 / 72 / _height(axes)), borderaxespad=0, ncols=2,
        fontsize=8, frameon=False,
    )  # fmt: skip
    return pictures


def _height(axes: Axes) -> float:
    """Of the axes, in inches."""
    figure: Any = axes.get_figure()
    return max(0.3, axes.get_position().height * figure.bbox.height / figure.dpi)


def _ticks(size: int) -> list[int]:
    return list(range(0, size, -(-size // _TICKS)))


def _ink(colour: np.ndarray) -> str:
    return "white" if colour @ (0.2126, 0.7152, 0.0722) < 0.45 else "black"
