"""What data determine, on the masks: one panel a matrix that learns."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from algebra.identify.identification import Identification

# Blue, orange, vermilion of Okabe and Ito: told apart with every kind of colour vision.
STATES = (
    ("does not learn", "#f2f2f2"),
    ("the same in every match", "#0072b2"),
    ("finitely many values", "#e69f00"),
    ("determined locally", "#56b4e9"),
    ("free", "#d55e00"),
)


def states(found: Identification, name: str) -> np.ndarray:
    """Which of `STATES` each cell of a matrix is in.

    Returns
    -------
    ndarray of int
    """
    masks = found.problem.allocation.masks
    out = np.zeros(masks[name].shape, int)
    everywhere = found.globally_determined or ()
    for state, cells in (
        (3, found.fibre.determined),
        (2, found.finitely_many),
        (1, everywhere),
        (4, found.fibre.free),
    ):
        for matrix, i, j in cells:
            if matrix == name:
                out[i, j] = state
    return out


def draw(found: Identification) -> Figure:
    """The masks, each learnable cell in the colour of what is known of it.

    Where a weight takes finitely many values, their number stands in its cell.
    """
    names = list(found.problem.allocation.matrices) or list(found.problem.network.shapes)[:1]
    shapes = [found.problem.network.shapes[name] for name in names]
    cell = min(0.45, 7.0 / max(max(shape) for shape in shapes))
    widths = [max(columns * cell, 1.2) for _, columns in shapes]
    height = max(rows for rows, _ in shapes) * cell
    figure = Figure(figsize=(sum(widths) + 0.6 * len(names) + 0.4, max(height, 1.0) + 1.4))
    axes = figure.subplots(1, len(names), squeeze=False, width_ratios=widths)[0]
    values = found.alternatives.values if found.alternatives else {}
    shown: set[int] = set()
    for panel, name in zip(axes, names, strict=True):
        grid = states(found, name)
        shown |= set(grid.ravel().tolist())
        colours = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for _, c in STATES])
        panel.imshow(colours[grid] / 255.0)
        rows, columns = grid.shape
        panel.set_xticks(np.arange(-0.5, columns), minor=True)
        panel.set_yticks(np.arange(-0.5, rows), minor=True)
        panel.grid(which="minor", color="white", linewidth=1)
        panel.tick_params(which="minor", length=0)
        for ticks, size in ((panel.set_xticks, columns), (panel.set_yticks, rows)):
            step = max(1, size // 8)
            ticks(range(0, size, step))
        panel.set_title(name)
        if cell > 0.2:
            for (matrix, i, j), count in values.items():
                if matrix == name and count > 1:
                    panel.text(j, i, str(count), ha="center", va="center", fontsize=8)
    handles = [Patch(color=STATES[k][1], label=STATES[k][0]) for k in sorted(shown)]
    figure.legend(handles=handles, loc="lower center", ncols=2, frameon=False, fontsize=8)
    height = figure.get_figheight()
    figure.subplots_adjust(bottom=0.62 / height + 0.08, top=1 - 0.6 / height)
    figure.suptitle(found.lines()[0], fontsize=9)
    return figure
