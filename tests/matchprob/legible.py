"""Measurements that decide whether a picture is legible."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from matchprob.io.sizes import DPI
from matchprob.report.drawing.style import lay_out
from tests.samples import LONG

# In points: the largest shift of a box by rounding, and the smallest legible font size.
_SLACK, _LEAST = 0.6, 5.0


def texts_of(figure: Figure) -> list[Text]:
    """All texts that are drawn."""
    found: list[Text] = list(figure.texts)
    for legend in figure.legends:
        found += legend.get_texts()
    for axes in figure.axes:
        found += axes.texts
        found += [axes.title]
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                found += [tick.label1 for tick in axis._update_ticks()]
                found += [axis.label, axis.get_offset_text()]
        if axes.get_legend():
            found += axes.get_legend().get_texts()
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def _shrunk(box: Bbox, slack: float) -> Bbox:
    return Bbox.from_extents(box.x0 + slack, box.y0 + slack, box.x1 - slack, box.y1 - slack)


def _name(text: Text) -> str:
    return repr(text.get_text())


def faults(figure: Figure) -> list[str]:
    """Illegible parts: texts that overlap or leave the canvas, legends on data, tiny fonts.

    They are measured at the resolution of a file, in a long run also at that of a screen: the
    width of a text depends on the resolution.
    """
    dots = (100, DPI) if LONG else (DPI,)
    return list(dict.fromkeys(fault for dpi in dots for fault in _faults(figure, dpi)))


def _faults(figure: Figure, dpi: int) -> list[str]:
    figure.set_dpi(dpi)
    # Saving lays out twice as well: one pass does not always determine the layout.
    lay_out(figure)
    figure.draw_without_rendering()
    slack = _SLACK * figure.dpi / 72
    boxes = [(text, _shrunk(text.get_window_extent(), slack)) for text in texts_of(figure)]
    out = []
    for text, inside in boxes:
        if not (
            figure.bbox.x0 <= inside.x0 <= inside.x1 <= figure.bbox.x1
            and figure.bbox.y0 <= inside.y0 <= inside.y1 <= figure.bbox.y1
        ):
            out.append(f"{_name(text)} leaves the canvas")
        if text.get_fontsize() < _LEAST:
            out.append(f"{_name(text)} is set in {text.get_fontsize():.1f} points")
    # Numbers are faster to compare than boxes: a picture has thousands of pairs.
    extents = [(text, (box.xmin, box.ymin, box.xmax, box.ymax)) for text, box in boxes]
    for (a, (left, low, right, high)), (b, other) in combinations(extents, 2):
        if left <= other[2] and other[0] <= right and low <= other[3] and other[1] <= high:
            out.append(f"{_name(a)} and {_name(b)} meet")
    out += [f"a legend covers {what}" for what in _covered(figure)]
    return out


def _covered(figure: Figure) -> list[str]:
    legends = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    return [
        f"the axes {_title(axes)}"
        for legend in legends
        for axes in figure.axes
        if legend.get_window_extent().overlaps(axes.patch.get_window_extent())
    ]


def _title(axes: Axes) -> str:
    return repr(axes.get_title())
