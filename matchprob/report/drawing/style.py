"""One style for all pictures: sizes, titles, legends above the data, and files.

Sizes are points on paper: a picture is drawn for the width at which it is printed
(``--width 85mm``), not scaled afterwards.  Titles and legends are placed above the axes, from its
left edge, and are broken to the available width, so that nothing is covered or outside the canvas;
a test measures that for every picture.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.transforms import ScaledTranslation

from matchprob.io import files
from matchprob.io.sizes import DPI, check_dpi
from matchprob.report.drawing.palette import INK

# Sizes of type in points: titles, names of axes, everything else.
TITLE = 9.0
TEXT = 8.0
SMALL = 7.0
# Nothing smaller can be read.
LEAST = 5.0
_TALLEST = 11.0
# Part of a figure's width for its axes, before names and numbers are known.
_AXES = 0.775
# Inches of a panel, at least.
_PANEL = 2.3
# The width of the paper for which figures are made; None if each has its own width.
_PAPER: ContextVar[float | None] = ContextVar("paper", default=None)
# Least part of a figure's height for its axes.
_LEAST_HIGH = 0.55
# Around a picture, inches; between heading and axes, points.
_MARGIN = 0.06
_GAP = 4.0
# Of a legend, in sizes of its type: from one line to the next, below the last one.
_LINE = 1.35
_LAST = 0.2
# A handle with its gap, and the gap between columns.
_HANDLE = 1.7
_COLUMN = 1.2
_TIED = "\u00a0=\u00a0"
# Text stays text; fonts are embedded as TrueType; the same picture is the same file.
_FILES: Any = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "matchprob",
}
_UNDATED: Mapping[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "ModDate": None},
    ".png": {},
}


@contextmanager
def on_paper(width: float | None) -> Iterator[None]:
    """Figures made inside have this width in inches; with None each has its own."""
    token = _PAPER.set(width)
    try:
        yield
    finally:
        _PAPER.reset(token)


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches, or as wide as the paper (`on_paper`), not in pyplot."""
    paper = _PAPER.get()
    if paper is not None:
        width, height = paper, height * min(1.6, max(0.8, paper / width))
    figure = Figure(figsize=(width, height), layout="constrained")
    set_margins(figure)
    return figure


def new_panels(
    rows: int, columns: int, width: float, height: float, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, row by row; one below the other if the paper is narrow.

    Parameters
    ----------
    rows, columns : int
    width, height : float
        Inches of the whole, side by side.
    ratios : sequence of float, optional
        Widths of the columns to each other.
    """
    paper = _PAPER.get()
    if paper is not None and paper / columns < _PANEL:
        with on_paper(None):
            each = height / rows * min(1.0, max(0.7, columns * paper / width))
            figure = new_figure(paper, each * rows * columns)
        rows, columns, ratios = rows * columns, 1, None
    else:
        figure = new_figure(width, height)
    grid = figure.add_gridspec(rows, columns, width_ratios=ratios)
    return figure, [figure.add_subplot(grid[k]) for k in range(rows * columns)]


def set_margins(figure: Figure) -> None:
    """Keep a little of the canvas free on all sides."""
    engine: Any = figure.get_layout_engine()
    if engine is not None:
        engine.set(w_pad=_MARGIN, h_pad=_MARGIN)


def lay_out(figure: Figure) -> None:
    """Move the axes to where a drawing would, without drawing: half the time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def crop(figure: Figure) -> None:
    """Set the height of a figure to that of its content, which follows from the width."""
    set_margins(figure)
    # A second time, since positions are known only after the first layout.
    for _ in range(2):
        lay_out(figure)
        height = figure.get_tightbbox().height + 2 * _MARGIN
        figure.set_figheight(min(_TALLEST, max(0.8, height)))


def grow(figure: Figure) -> None:
    """Increase the height of a figure if its headings leave too little for the axes."""
    least = [(axes, _high(axes)) for axes in figure.axes]
    rows = max(axes.get_subplotspec().get_gridspec().nrows for axes in figure.axes)  # type: ignore[union-attr]
    # Without space for the axes matplotlib lays out nothing: first all must be inside.
    for _ in range(3):
        lay_out(figure)
        outside = figure.get_tightbbox().height + 2 * _MARGIN - figure.get_figheight()
        heights = (axes.get_window_extent().height / figure.dpi for axes in figure.axes)
        missing = max(high / 72 - own for (_, high), own in zip(least, heights, strict=True))
        if max(outside, missing) < 0.01:
            return
        figure.set_figheight(min(_TALLEST, figure.get_figheight() + max(outside, rows * missing)))


def _high(axes: Axes) -> float:
    """Smallest height of the axes in points, without the parts above and below."""
    figure: Any = axes.get_figure()
    part = _LEAST_HIGH * axes.get_position(original=True).height / _AXES
    return float(part * figure.bbox.height / figure.dpi * 72)


def save(figure: Figure, path: Path, dpi: int = DPI) -> None:
    """Write a figure atomically; the suffix determines the format.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        .png, .svg (text stays text) or .pdf (fonts embedded).
    dpi : int, optional
        Dots per inch, of .png files.

    Raises
    ------
    InputError
    """
    files.check_picture(path)
    files.check_target(path)
    buffer = io.BytesIO()
    with mpl.rc_context(_FILES):
        figure.savefig(
            buffer, format=path.suffix[1:], dpi=check_dpi(dpi), metadata=_UNDATED[path.suffix]
        )
    files.write_bytes(path, buffer.getvalue())


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, family: str | None = None) -> float:
    """Largest width of a line in points: hinting widens small letters at low resolution."""
    if not text.strip():
        return 0.0
    # Numbers of a logarithmic axis, with exponents in the same size.
    shown = re.sub(r"\\[a-z]+|[${}^]", "", text) if text.startswith("$") else text
    path = TextPath((0, 0), shown.replace("$", r"\$"), size=size, prop=FontProperties(family))
    # The points of the outlines, which hardly leave them: `get_extents` solves for every curve.
    across = path.vertices[path.codes != TextPath.CLOSEPOLY, 0]
    return float(np.ptp(across)) * 1.08


def axes_width(axes: Axes) -> float:
    """Points of the figure's width that belong to the axes with its labels."""
    figure: Any = axes.get_figure()
    width = axes.get_position(original=True).width / _AXES
    return float(width * figure.bbox.width / figure.dpi * 72)


def available_width(axes: Axes) -> float:
    """Points between the left edge of the axes and the end of its part of the figure."""
    # Of axes that only hold panels, what is beside the first of these.
    owners = [axes] if axes.axison else axes.child_axes[:1]
    names = [text for own in owners for text in own.get_yticklabels()]
    beside = max((text_width(t.get_text(), t.get_fontsize()) for t in names), default=0.0)
    if label := "".join(own.get_ylabel() for own in owners):
        beside += _GAP + 1.25 * TEXT * (1 + label.count("\n"))
    return max(40.0, axes_width(axes) - beside - 2 * 72 * _MARGIN - 3 * _GAP)


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Lines up to a width in points, broken between words (within a word that is too long)."""
    out = []
    # An equation is not broken.
    for line in text.replace(" = ", _TIED).split("\n"):
        now = ""
        for word in line.split(" "):
            longer = f"{now} {word}" if now else word
            if not now or text_width(longer, size) <= width:
                now = longer
            else:
                out.append(now)
                now = word
            while text_width(now, size) > width and len(now) > 1:
                fits = max(1, int(len(now) * width / text_width(now, size)))
                out.append(now[:fits])
                now = now[fits:]
        out.append(now)
    return [line.replace(_TIED, " = ") for line in out]


def heading(axes: Axes, title: str, handles: Sequence[Artist] = (), *, above: float = 0.0) -> None:
    """Title and legend above the axes, from its left edge.

    Parameters
    ----------
    axes : matplotlib axes
    title : str
        Broken to the available width.
    handles : sequence of artists
        With labels; without any there is no legend.
    above : float, optional
        Points between them and the axes that are reserved.
    """
    width = available_width(axes)
    if handles:
        above = _legend(axes, handles, width, above + _GAP)
    lines = wrapped(title, width, TITLE) if title else []
    axes.set_title("\n".join(lines), fontsize=TITLE, pad=above + _GAP, x=0.0, ha="left")


def _legend(axes: Axes, handles: Sequence[Artist], width: float, above: float) -> float:
    """Draw it at this distance in points above the axes; returns the distance at which it ends."""
    figure: Any = axes.get_figure()
    columns = legend_columns([str(h.get_label()) for h in handles], width)
    shift = ScaledTranslation(0, above / 72, figure.dpi_scale_trans)
    axes.legend(
        handles=list(handles), loc="lower left", bbox_to_anchor=(0.0, 1.0),
        bbox_transform=axes.transAxes + shift, borderaxespad=0.0, ncols=columns, **LEGEND,
    )  # fmt: skip
    return above + (-(-len(handles) // columns) * _LINE + _LAST) * SMALL


def share_legend(figure: Figure) -> None:
    """One legend above all panels, each entry once, in place of the panels' own."""
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is None:
            continue
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if handle is not None:
                entries.setdefault(text.get_text(), handle)
        legend.remove()
        heading(axes, axes.get_title())
    width = (figure.get_figwidth() - 2 * _MARGIN) * 72
    figure.legend(
        list(entries.values()), list(entries), loc="outside upper left",
        ncols=legend_columns(list(entries), width),
        **{**LEGEND, "borderaxespad": _MARGIN * 72 / SMALL},
    )  # fmt: skip


def remove_titles(figure: Figure) -> None:
    """Remove titles, for use with a caption; each of several panels keeps a letter."""
    several = len(figure.axes) > 1
    for axes, letter in zip(figure.axes, ascii_lowercase, strict=False):
        axes.title.set_text(letter if several else "")


def legend_columns(labels: Sequence[str], width: float) -> int:
    """The largest number of columns in which labels fit."""
    widths = [text_width(label, SMALL) + _HANDLE * SMALL for label in labels]
    for columns in range(len(widths), 1, -1):
        rows = -(-len(widths) // columns)
        # Matplotlib fills columns from the first on; the last ones may be one shorter.
        full = len(widths) - (rows - 1) * columns
        starts = [0]
        for k in range(columns):
            starts.append(starts[-1] + (rows if k < full else rows - 1))
        each = [max(widths[a:b], default=0.0) for a, b in pairwise(starts)]
        if sum(each) + _COLUMN * SMALL * (columns - 1) <= width:
            return columns
    return 1


LEGEND: dict[str, Any] = {
    "fontsize": SMALL, "frameon": False, "borderpad": 0.0, "handlelength": 1.2,
    "handletextpad": 0.5, "columnspacing": _COLUMN, "labelspacing": 0.35,
}  # fmt: skip


def tidy(axes: Axes, xlabel: str = "", ylabel: str = "") -> Axes:
    """Names of the axes, small ticks, no frame at the top and on the right.

    Parameters
    ----------
    axes : matplotlib axes
    xlabel, ylabel : str, optional
        Broken to the available width.
    """
    if xlabel:
        axes.set_xlabel("\n".join(wrapped(xlabel, available_width(axes), TEXT)), fontsize=TEXT)
    if ylabel:
        axes.set_ylabel("\n".join(wrapped(ylabel, _high(axes), TEXT)), fontsize=TEXT)
    axes.tick_params(labelsize=SMALL, color=INK)
    axes.tick_params(which="minor", labelsize=SMALL)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def name_ticks(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Names on the horizontal axis: rotated, or partly omitted, if they do not fit."""
    width = available_width(axes) / max(len(names), 1)
    if all(text_width(name, SMALL) + 4 <= width for name in names):
        axes.set_xticks(places, names, fontsize=SMALL)
        return
    step = max(1, -(-int(SMALL * 1.3) // max(1, int(width))))
    axes.set_xticks(places[::step], names[::step], fontsize=SMALL, rotation=90)


def label_bars(axes: Axes, bars: Any, texts: Sequence[str]) -> None:
    """Write values on bars, vertically if they are wider than a bar."""
    width = available_width(axes) / max(len(texts), 1)
    flat = all(text_width(text, SMALL) + 2 <= width for text in texts)
    if flat or width >= SMALL * 1.3:
        axes.bar_label(bars, texts, fontsize=SMALL, padding=2, rotation=0 if flat else 90)
        axes.margins(y=0.12 if flat else 0.3)
