"""Pictures: incidence matrices in block form, histograms of real-root counts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.surveys.atlas import Atlas
from algebra.systems.inspection import Inspection
from matchprob.io import files

# More masks than this are not told apart in a picture.
_MOST_MASKS = 240
VERDICT_COLOURS = {
    "maximal": "#2a9d4a",
    "minimal": "#c0392b",
    "intermediate": "#e0a100",
    "undecided": "#8e5ea2",
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all; the suffix says the format."""
    files.check_picture(path)
    files.check_target(path)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:], dpi=150, bbox_inches="tight")
    files.write_bytes(path, buffer.getvalue())


def incidence(found: Inspection) -> Figure:
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
    equations = form.system.equations
    product = equations.second < equations.unknowns
    inside = np.zeros((equations.count, equations.unknowns), bool)
    for factor in (equations.first, equations.second):
        inside[equations.polynomial[product], factor[product]] = True
    linear: list[tuple[int, int]] = []
    higher: list[tuple[int, int]] = []
    for e, k in zip(*np.nonzero(equations.occurs), strict=True):
        (higher if inside[e, k] else linear).append((row_of[e], column_of[k]))
    rows, columns = len(form.system), len(form.system.unknowns)
    size = min(12.0, max(3.0, 0.16 * max(rows, columns)))
    figure = Figure(figsize=(size * columns / max(rows, columns) + 1.5, size))
    axes = figure.add_subplot()
    cell = 72 * size / max(rows, columns)
    for cells, colour, label in (
        (linear, "#9db8d9", "linear"),
        (higher, "#1d3557", "in a product"),
    ):
        if cells:
            ys, xs = zip(*cells, strict=True)
            axes.scatter(xs, ys, s=(0.62 * cell) ** 2, marker="s", c=colour, label=label, lw=0)
    for part, colour in (
        (triangular.overdetermined, "#c0392b"),
        (triangular.underdetermined, "#e0a100"),
    ):
        _frame(axes, part, row_of, column_of, colour, fill=True)
    for block in triangular.blocks:
        _frame(axes, block, row_of, column_of, "#c0392b" if len(block.unknowns) > 1 else "#888888")
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_aspect("equal")
    if max(rows, columns) <= 60:
        names = form.system.unknowns
        axes.set_xticks(
            range(columns),
            [names[u] for u in triangular.column_order],
            rotation=90,
            fontsize=min(7.0, 0.6 * cell),
            family="monospace",
        )
        axes.set_yticks(
            range(rows),
            [form.system.labels[e] for e in triangular.row_order],
            fontsize=min(7.0, 0.6 * cell),
            family="monospace",
        )
    axes.set_xlabel(f"{columns} unknowns")
    axes.set_ylabel(f"{rows} equations")
    axes.set_title(f"{found.allocation.network}\n{form.form} form", fontsize=9)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=7, frameon=False)
    return figure


def _frame(
    axes: Any,
    part: Any,
    row_of: Mapping[int, int],
    column_of: Mapping[int, int],
    colour: str,
    fill: bool = False,
) -> None:
    if not part.equations or not part.unknowns:
        return
    top = min(row_of[e] for e in part.equations)
    left = min(column_of[u] for u in part.unknowns)
    axes.add_patch(
        Rectangle(
            (left - 0.5, top - 0.5),
            len(part.unknowns),
            len(part.equations),
            fill=fill,
            facecolor=colour if fill else "none",
            alpha=0.2 if fill else 1.0,
            edgecolor=colour,
            linewidth=1.2,
        )
    )


def atlas(found: Atlas) -> Figure:
    """Small multiples: one mask an orbit, coloured by verdict, N and the orbit's size below."""
    order = ("maximal", "intermediate", "undecided", "minimal")
    entries = sorted(found.entries, key=lambda e: (order.index(e.verdict), e.cells))[:_MOST_MASKS]
    if not entries:
        raise InputError("there is no finished entry to draw")
    columns = min(12, len(entries))
    rows = -(-len(entries) // columns)
    figure = Figure(figsize=(0.95 * columns + 0.4, 1.3 * rows + 0.8))
    for k, entry in enumerate(entries):
        axes = figure.add_subplot(rows, columns, k + 1)
        allocation = Allocation.from_cells(found.network, entry.cells)
        left = 0.0
        for name in found.matrices:
            mask = allocation.masks[name]
            for i, j in np.ndindex(*mask.shape):
                colour = VERDICT_COLOURS[entry.verdict] if mask[i, j] else "#e8e8e8"
                axes.add_patch(Rectangle((left + j, -i), 0.9, -0.9, facecolor=colour, lw=0))
            left += mask.shape[1] + 0.6
        tallest = max(found.network.shapes[n][0] for n in found.matrices)
        axes.set_xlim(-0.1, left - 0.6)
        axes.set_ylim(-tallest, 0.1)
        axes.set_aspect("equal")
        axes.set_axis_off()
        count = "" if entry.root_count is None else f"N {entry.root_count} "
        axes.set_title(f"{count}×{entry.orbit}", fontsize=7, pad=2)
    totals = ", ".join(f"{v} {k}" for k, v in found.totals.items())
    more = len(found.entries) - len(entries)
    note = f" (the first {len(entries)} orbits are drawn)" if more else ""
    figure.suptitle(f"{found.network}, r = {found.budget}\n{totals}{note}", fontsize=9)
    handles = [Rectangle((0, 0), 1, 1, facecolor=VERDICT_COLOURS[v]) for v in order]
    figure.legend(handles, order, loc="lower center", ncol=4, fontsize=7, frameon=False)
    figure.subplots_adjust(top=1 - 0.62 / (1.3 * rows + 0.8), bottom=0.35 / (1.3 * rows + 0.8))
    return figure


def histogram(tally: Mapping[int, int], caption: str, title: str = "") -> Figure:
    """Complete trials by number of real solutions."""
    figure = Figure(figsize=(5, 3.2))
    axes = figure.add_subplot()
    total = sum(tally.values())
    colours = ["#c0392b" if real == 0 else "#457b9d" for real in tally]
    bars = axes.bar(list(tally), list(tally.values()), color=colours, width=0.8)
    if total and len(tally) <= 20:
        axes.bar_label(bars, [f"{100 * v / total:.1f} %" for v in tally.values()], fontsize=7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("real solutions")
    axes.set_ylabel("trials")
    axes.set_title(f"{title}\n{caption}" if title else caption, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
