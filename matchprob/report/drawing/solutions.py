"""Picture of a solution: a match that was found."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import BLUE, INK
from matchprob.report.drawing.style import heading, tidy
from numeric.families.activations.decision import ActivatedDecision
from numeric.plugins.relu.decision import ReluDecision


def _witness(axes: Axes, found: ReluDecision | ActivatedDecision) -> None:
    if found.witness is None:
        raise InputError(f"{found.verdict}: there is no witness to draw")
    values = [float_of(v) for v in found.witness]
    axes.bar(range(len(values)), values, color=BLUE)
    axes.axhline(0, color=INK, lw=0.8)
    largest = max(map(abs, values), default=0.0)
    if largest > 100:
        # Few ticks: those that matplotlib chooses overlap around zero.
        top = math.ceil(math.log10(largest))
        powers = [10.0**top, 10.0 ** (top // 2)]
        signs = [s for s in (-1, 1) if any(s * v > 1 for v in values)]
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_yticks(sorted({0.0, *(s * power for s in signs for power in powers)}))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    tidy(axes, "learnable weight, in the allocation's order", "value in the match")
    heading(axes, found.document().title)


def float_of(value: Any) -> float:
    """A double, or a rational rounded."""
    return nearest_double(value) if hasattr(value, "p") else float(value)


DRAWINGS = {
    "ReluDecision": Drawing(_witness),
    "ActivatedDecision": Drawing(_witness),
}
