"""What to record, as a picture: units (or outputs) down, steps or samples across.

For many units only the recorded ones are drawn, ranked by their increase of the rank.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from algebra.networks.base import LABELS
from algebra.problems.allocation import Cell
from algebra.questions.record.elements import title, unit_names
from algebra.questions.record.result import Recording
from matchprob.report.drawing.masks import Group, draw_grids, grid_size
from matchprob.report.drawing.palette import ABSENT, BLUE, ORANGE, SKY
from matchprob.report.drawing.style import heading, name_ticks, tidy

STATES = (
    ("must not be recorded", ABSENT),
    ("may be recorded", SKY),
    ("recorded", BLUE),
    ("recorded in any case", ORANGE),
)


def grids(found: Recording) -> dict[str, tuple[np.ndarray, tuple[str, ...] | None]]:
    """The states of all numbers that may be recorded, one grid a kind of element and population.

    Returns
    -------
    dict of str to (ndarray of int, names)
        By a title: indices of `STATES`, units down and steps or samples across; the units' names.
    """
    question, recorded = found.question, set(found.recorded)
    state = np.array(
        [
            0
            if k in question.forbidden
            else 3
            if k in question.must
            else 2
            if element in recorded
            else 1
            for k, element in enumerate(question.elements)
        ]
        # Numbers that may not be recorded.
        + [0]
    )
    network, out = found.problem.network, {}
    for kind, (source, owners) in zip(question.kinds, question.owners, strict=True):
        readings = network.readings(source)
        by_sample = source == LABELS and kind != "outputs"
        for axis in dict.fromkeys(reading.axis for reading in readings):
            blocks = [
                state[owner] if by_sample else state[owner[:, :1]]
                for owner, reading in zip(owners, readings, strict=True)
                if reading.axis == axis
            ]
            # An output is recorded at all steps of the labels.
            whole = blocks[0] if kind == "outputs" else np.concatenate(blocks, axis=1)
            name = axis if kind in ("outputs", "units") else kind
            out[name] = (whole, unit_names(axis, found.problem.names))
    return out


# Largest number of units of which all are drawn.
_ALL = 64


def recording_size(found: Recording) -> tuple[float, float]:
    """Width and height in inches that fit."""
    if _is_ranked(found):
        return min(8.0, max(4.0, 1.6 + 0.22 * len(found.order))), 3.2
    return grid_size([states.shape for states, _ in grids(found).values()])


def _is_ranked(found: Recording) -> bool:
    return found.question.of_units and len(found.question.elements) > _ALL and bool(found.order)


def draw_ranking(axes: Axes, found: Recording) -> None:
    """The increase of the rank by each recorded unit, and the rank that is reached."""
    gains = [gain for _, gain in found.order]
    at = np.arange(1, len(gains) + 1)
    axes.bar(at, gains, color=SKY, width=0.8)
    axes.plot(at, np.cumsum(gains), "o-", color=BLUE, ms=3, lw=1)
    axes.axhline(found.learnable, color=ORANGE, lw=0.8)
    axes.set_ylim(0, 1.08 * found.learnable)
    axes.set_xlim(0.3, len(gains) + 0.7)
    units = [
        title(element, found.problem.names).removeprefix("unit ") for element, _ in found.order
    ]
    tidy(axes, "units, by what each adds", "rank")
    name_ticks(axes, at.tolist(), units)
    handles = [
        Patch(color=SKY, label="adds"),
        Line2D([], [], color=BLUE, marker="o", ms=3, label="of all up to here"),
        Line2D([], [], color=ORANGE, label="learnable"),
    ]
    of = f"record {len(gains)} of {len(found.question.allowed)} at cost {found.cost}"
    heading(axes, of + ("" if found.is_optimal else f", at least {found.bound}"), handles)


def draw_recording(axes: Axes, found: Recording) -> None:
    """Draw the grids side by side, or the ranking of many elements."""
    if _is_ranked(found):
        draw_ranking(axes, found)
        return
    parts = grids(found)
    cells: dict[int, list[Cell]] = {k: [] for k in range(len(STATES))}
    for name, (states, _) in parts.items():
        for (i, j), k in np.ndenumerate(states):
            cells[int(k)].append((name, i, j))
    of = f"record {len(found.recorded)} of {len(found.question.allowed)} at cost {found.cost}"
    draw_grids(
        axes,
        {name: states.shape for name, (states, _) in parts.items()},
        [Group(label, colour, cells[k]) for k, (label, colour) in enumerate(STATES)],
        title=of + ("" if found.is_optimal else f", at least {found.bound}"),
        rows={name: names for name, (_, names) in parts.items()},
        # An output is recorded at all steps.
        columns={"outputs": ("all",)} if "outputs" in found.question.kinds else {},
        across="samples" if {"entries", "samples"} & set(found.question.kinds) else "steps",
        down="units" if "units" in found.question.kinds else "outputs",
    )
