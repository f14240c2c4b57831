"""Pictures: incidence matrices in block form, atlases, numbers of real solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from algebra.errors import InputError
from algebra.systems.inspection import Inspection
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.palette import (
    INK,
    OUTCOMES,
    ROSE,
    SKY,
    VERMILION,
    YELLOW,
)
from matchprob.report.drawing.style import (
    LEAST,
    SMALL,
    axes_width,
    heading,
    label_bars,
    name_ticks,
    save,
    text_width,
    tidy,
)
from numeric.trials.counts import COMPLETE, InstanceCount

__all__ = ["draw_incidence", "real_solution_groups", "real_solutions", "save"]


def size_of_cells(found: Inspection) -> float:
    """The longer side of the incidence matrix in inches."""
    form = found.forms[0]
    return min(12.0, max(3.0, 0.16 * max(len(form.system), len(form.system.unknowns))))


def incidence_size(found: Inspection) -> tuple[float, float]:
    """Width and height in inches that fit the picture."""
    if not found.forms:
        return 3.0, 3.0
    rows, columns = len(found.forms[0].system), len(found.forms[0].system.unknowns)
    size = size_of_cells(found)
    return (
        max(4.0, size * columns / max(rows, columns) + 2.6),
        size * rows / max(rows, columns) + 1.4,
    )


def draw_incidence(axes: Axes, found: Inspection) -> None:
    """Equations against unknowns, permuted to block triangular form.

    The first form of the report is drawn: linear terms light, terms of higher degree
    dark, the diagonal blocks framed, over- and underdetermined parts shaded.
    """
    if not found.forms:
        raise InputError("there is no system to draw: " + "; ".join(found.skipped))
    form = found.forms[0]
    triangular = form.triangular
    row_of = {e: r for r, e in enumerate(triangular.row_order)}
    column_of = {u: c for c, u in enumerate(triangular.column_order)}
    inside = form.system.in_products
    linear: list[tuple[int, int]] = []
    higher: list[tuple[int, int]] = []
    for e, k in zip(*np.nonzero(form.system.occurs), strict=True):
        (higher if inside[e, k] else linear).append((row_of[e], column_of[k]))
    rows, columns = len(form.system), len(form.system.unknowns)
    names = [form.system.unknowns[u] for u in triangular.column_order]
    labels = [form.system.labels[e] for e in triangular.row_order]
    # Names are drawn if the cells next to them are large enough for their type.
    beside = max(text_width(label, SMALL, "monospace") for label in labels)
    left = axes_width(axes) - beside - 40
    size = min(SMALL, 0.8 * left / columns) if left > 0.4 * axes_width(axes) else 0.0
    handles: list[Any] = []
    for cells, colour, label in (
        (linear, SKY, "linear"),
        (higher, INK, "in a product"),
    ):
        if cells:
            squares = [Rectangle((k - 0.31, e - 0.31), 0.62, 0.62) for e, k in cells]
            axes.add_collection(PatchCollection(squares, facecolors=colour, linewidths=0))
            handles.append(Patch(facecolor=colour, label=label))
    for part, colour, label in (
        (triangular.overdetermined, VERMILION, "too many equations"),
        (triangular.underdetermined, YELLOW, "too few equations"),
    ):
        if _frame(axes, part, row_of, column_of, colour, fill=True):
            handles.append(Patch(facecolor=colour, alpha=0.4, edgecolor=colour, label=label))
    for block in triangular.blocks:
        _frame(axes, block, row_of, column_of, ROSE if len(block.unknowns) > 1 else INK)
    for several, colour, label in (
        (True, ROSE, "block: solved together"),
        (False, INK, "block of one"),
    ):
        if any((len(block.unknowns) > 1) == several for block in triangular.blocks):
            handles.append(Patch(facecolor="none", edgecolor=colour, label=label))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_aspect("equal", anchor="NW")
    tidy(axes, f"{columns} unknowns", f"{rows} equations")
    if size >= LEAST:
        axes.set_xticks(range(columns), names, rotation=90)
        axes.set_yticks(range(rows), labels)
        for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            tick.set(fontsize=size, family="monospace")
    heading(axes, f"{found.allocation.network}\n{form.form} form", handles)


def _frame(
    axes: Any,
    part: Any,
    row_of: Mapping[int, int],
    column_of: Mapping[int, int],
    colour: str,
    fill: bool = False,
) -> bool:
    """Frame a part of the matrix; False where it is empty."""
    if not part.equations or not part.unknowns:
        return False
    top = min(row_of[e] for e in part.equations)
    left = min(column_of[u] for u in part.unknowns)
    axes.add_patch(
        Rectangle(
            (left - 0.5, top - 0.5),
            len(part.unknowns),
            len(part.equations),
            fill=fill,
            facecolor=colour if fill else "none",
            alpha=0.25 if fill else 1.0,
            edgecolor=colour,
            linewidth=1.2,
        )
    )
    return True


def real_solution_groups(counts: Iterable[InstanceCount]) -> dict[tuple[str, str], int]:
    """Trials by the known number of real solutions: every trial is in one group.

    Returns
    -------
    dict of (str, str) to int
        Keys are the outcome and the number: a complete count, "≥ k" if k were found and there may
        be more, "?" if nothing is known.
    """
    tally: Counter[tuple[int, str, str]] = Counter()
    for count in counts:
        if count.outcome == "undetermined":
            tally[1 << 62, "undetermined", "?"] += 1
        elif count.status != COMPLETE or (count.is_settled and count.outcome == "matched"):
            least = count.real or 1
            tally[least, "matched", f"≥ {least}"] += 1
        else:
            tally[count.real or 0, count.outcome, str(count.real or 0)] += 1
    # A complete count before one that is at least as large.
    order = sorted(tally, key=lambda key: (key[0], len(key[2])))
    return {(outcome, text): tally[k, outcome, text] for k, outcome, text in order}


def real_solutions(axes: Axes, counts: Sequence[InstanceCount], title: str) -> None:
    """All trials by the number of real solutions, as far as it is known.

    Fractions are of all trials, so that the bars of one colour add up to the estimate.
    """
    if not counts:
        raise InputError("no trial was finished: there is nothing to draw")
    groups = real_solution_groups(counts)
    tidy(axes, "real solutions", "trials")
    if len(groups) <= 24:
        places: list[float] = list(range(len(groups)))
        name_ticks(axes, places, [text for _, text in groups])
    else:
        # Complete counts first, then lower bounds and unknown numbers.
        numbers = [int(text.removeprefix("≥ ")) for _, text in groups if text != "?"]
        places = [*numbers, *([max(numbers) + 3] if len(numbers) < len(groups) else [])]
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    bars = axes.bar(
        places, list(groups.values()), color=[OUTCOMES[o] for o, _ in groups], width=0.8
    )
    if len(groups) <= 12:
        label_bars(axes, bars, [f"{100 * v / len(counts):.3g} %" for v in groups.values()])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    shown = [o for o in OUTCOMES if any(outcome == o for outcome, _ in groups)]
    heading(axes, title, [Patch(color=OUTCOMES[o], label=o) for o in shown])


DRAWINGS = {
    "Inspection": Drawing(draw_incidence, incidence_size, is_cropped=True),
}
