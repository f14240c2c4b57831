"""Pictures of constructions: the conditions of their systems, the sizes of their scales."""

from __future__ import annotations

from matplotlib.axes import Axes

from matchprob.plugins.normalization.constructions import DepthConstruction
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, ORANGE
from matchprob.report.drawing.solutions import float_of
from matchprob.report.drawing.style import heading, name_ticks, tidy
from numeric.plugins.normalization.construct import Construction


def _construction(axes: Axes, found: Construction) -> None:
    axes.bar([b.layer for b in found.blocks], [b.condition for b in found.blocks], color=BLUE)
    axes.set_yscale("log")
    axes.set_ylim(bottom=min(b.condition for b in found.blocks) / 10)
    layers = [b.layer for b in found.blocks]
    name_ticks(axes, layers, list(map(str, layers)))
    tidy(axes, "layer", "condition number of its system")
    heading(axes, found.document().title.partition(",")[0])


def _depth(axes: Axes, found: DepthConstruction) -> None:
    """The largest and the smallest |scale| of each layer of the target."""
    layers = list(range(1, len(found) + 1))
    for label, colour, pick in (("largest |scale|", BLUE, max), ("smallest", ORANGE, min)):
        sizes = [pick(abs(float_of(s)) for row in b.scales for s in row) for b in found]
        axes.plot(layers, sizes, marker="o", ls="none", color=colour, label=label)
    axes.set_yscale("log")
    name_ticks(axes, layers, list(map(str, layers)))
    tidy(axes, "layer of the target", "scale")
    handles, _ = axes.get_legend_handles_labels()
    heading(axes, found.document().title.partition(",")[0], handles)


DRAWINGS = {
    "Construction": Drawing(_construction),
    "DepthConstruction": Drawing(_depth),
}
