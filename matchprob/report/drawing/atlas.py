"""A picture of an atlas: the masks of all orbits."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Patch, Rectangle

from algebra.errors import InputError
from algebra.plugins.papers.atlas import DRAWN, Atlas
from algebra.problems.allocation import Allocation
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import ABSENT, VERDICTS
from matchprob.report.drawing.style import SMALL, available_width, heading, text_width

# More masks than this cannot be distinguished in a picture.
_MOST_MASKS = 240


def _mask_cells(found: Atlas) -> tuple[float, float]:
    """Width and height of one mask in cells, with its margin and the text above it."""
    shapes = [found.network.shapes[name] for name in found.matrices]
    width = sum(c for _, c in shapes) + 0.6 * (len(shapes) - 1) + 1.2
    return width, max(r for r, _ in shapes) + 1.8


def atlas_size(found: Atlas) -> tuple[float, float]:
    """Width and height in inches that fit the picture; the height is cropped to what is drawn."""
    number = min(len(found.entries), _MOST_MASKS)
    columns = max(1, min(12, number))
    width, height = _mask_cells(found)
    lines = -(-max(1, number) // columns)
    return max(4.5, 0.95 * columns + 0.4), 0.95 / width * height * lines + 2.4


def draw_atlas(axes: Axes, found: Atlas) -> None:
    """Small multiples: a mask an orbit, coloured by verdict, N or MP and the orbit's size above."""
    drawn = found.drawn()[:_MOST_MASKS]
    if not drawn:
        raise InputError("there is no finished entry to draw")
    entries, texts = zip(*drawn, strict=True)
    width, height = _mask_cells(found)
    least = max(26.0, 6.0 + max(text_width(text, SMALL) for text in texts))
    columns = max(1, min(12, len(entries), int(available_width(axes) / least)))
    # The text above a mask needs its height, however small cells are.
    height += max(0.0, 1.6 * SMALL * columns * width / available_width(axes) - 1.3)
    squares, colours = [], []
    for k, (entry, text) in enumerate(zip(entries, texts, strict=True)):
        down, across = divmod(k, columns)
        allocation = Allocation.from_cells(found.network, entry.cells)
        left, top = across * width + 0.6, (down + 1) * height - _mask_cells(found)[1] + 1.3
        middle = left + (width - 1.2) / 2
        for name in found.matrices:
            mask = allocation.masks[name]
            for i, j in np.ndindex(*mask.shape):
                squares.append(Rectangle((left + j, top + i), 0.9, 0.9))
                colours.append(VERDICTS[entry.verdict] if mask[i, j] else ABSENT)
            left += mask.shape[1] + 0.6
        axes.annotate(
            text, (middle, top), (0, 1.5), textcoords="offset points", ha="center",
            fontsize=SMALL,
        )  # fmt: skip
    axes.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    axes.set_xlim(0, columns * width)
    axes.set_ylim(-(-len(entries) // columns) * height, 0)
    axes.set_aspect("equal", anchor="NW")
    axes.set_axis_off()
    totals = ", ".join(f"{v} {k}" for k, v in found.totals.items())
    more = len(found.entries) - len(entries)
    note = f" (the first {len(entries)} orbits are drawn)" if more else ""
    note += f" (partial: {len(found.entries)} of {found.orbits} orbits)" if found.is_partial else ""
    handles = [
        Patch(color=VERDICTS[verdict], label=verdict)
        for verdict in DRAWN
        if verdict in found.totals
    ]
    handles.append(Patch(color=ABSENT, label=f"fixed; above: {found.drawn_words}"))
    heading(axes, f"{found.network}, r = {found.budget}\n{totals}{note}", handles)


DRAWINGS = {"Atlas": Drawing(draw_atlas, atlas_size, is_cropped=True)}
