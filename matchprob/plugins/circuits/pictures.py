"""What to record, as a picture: units (or outputs) down, steps or samples across.

Of more than a few units, and where units may be driven, only what is chosen is drawn: a list of
names, with bars of the increase of the rank (or of costs that differ).  Under noise the picture is
the predicted deviation by the number of elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from algebra.networks.base import LABELS
from algebra.plugins.circuits.elements import title, unit_names
from algebra.plugins.circuits.result import Recording
from algebra.problems.allocation import Cell
from algebra.words import some
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.masks import Group, draw_grids, grid_size
from matchprob.report.drawing.palette import ABSENT, BLUE, ORANGE, SKY, VERMILION
from matchprob.report.drawing.style import SMALL, available_width, heading, text_width, tidy

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


# Largest number of units of which all are drawn, lines of a list, and its columns.
_ALL = 16
_LINES = 20
_COLUMNS = 4
# Inches of a line.
_LINE = 0.17
# Points between a name and its bar, between columns, and of the longest bar at least.
_SPACE = 4.0
_BETWEEN = 10.0
_LEAST_BAR = 24.0
# Colours of a list, by what is said of an element.
_IN_ANY_CASE = "recorded in any case"
LISTED = {"recorded": BLUE, _IN_ANY_CASE: ORANGE, "stimulated": VERMILION}


def recording_size(found: Recording) -> tuple[float, float]:
    """Width and height in inches that fit."""
    if len(getattr(found, "curve", ())) > 1:
        return 4.8, 3.2
    if _is_listed(found):
        return 4.2, 1.2 + _LINE * min(len(found.recorded) + len(found.stimulated), _LINES)
    return grid_size([states.shape for states, _ in grids(found).values()])


def _is_listed(found: Recording) -> bool:
    """Whether what is recorded has lines: of many units, or with stimulations."""
    question, chosen = found.question, len(found.recorded) + len(found.stimulated)
    kinds = set(question.kinds) <= {"units", "outputs"}
    return bool(chosen) and (bool(question.drives) or (kinds and len(question.elements) > _ALL))


def _title(found: Recording) -> str:
    text = f"record {found.counted} at cost {found.cost}"
    return text + ("" if found.is_optimal else f", at least {found.bound}")


def listed(found: Recording) -> list[tuple[str, Any, str]]:
    """The lines of the list: the element's name, what it adds to the rank or costs, its state."""
    prices = dict(zip(found.question.elements, found.question.prices, strict=True))
    required = {found.question.elements[k] for k in found.question.must}
    lengths: list[tuple[Any, Any]] = [*found.order]
    lengths = lengths or [(e, prices[e]) for e in (*found.recorded, *found.stimulated)]
    lines, driven = [], set(found.stimulated)
    for element, length in lengths:
        name = title(element, found.problem.names).removeprefix("stimulation of ")
        state = _IN_ANY_CASE if element in required else "recorded"
        lines.append((
            name.removeprefix("unit "), length, "stimulated" if element in driven else state
        ))  # fmt: skip
    return lines


def draw_list(axes: Axes, found: Recording) -> None:
    """A line for each recorded element or driven unit, with bars if they differ, in columns."""
    lines = listed(found)
    differ = len({length for _, length, _ in lines}) > 1
    beside = max(text_width(name, SMALL) for name, _, _ in lines) + _SPACE
    ends = max(text_width(str(length), SMALL) for _, length, _ in lines) if differ else 0.0
    width, most = available_width(axes), max(length for _, length, _ in lines)
    fits = int((width + _BETWEEN) // (beside + ends + _SPACE + _LEAST_BAR + _BETWEEN))
    columns = min(max(1, fits), _COLUMNS, -(-len(lines) // _LINES))
    rows = min(len(lines), _LINES)
    each = (width + _BETWEEN) / columns
    longest = each - beside - ends - _SPACE - _BETWEEN if differ else _LEAST_BAR / 2
    for k, (name, length, state) in enumerate(lines[: rows * columns]):
        left, at = k // rows * each, k % rows
        size = max(1.0, longest * float(length) / float(most)) if differ else longest
        start = left + (beside if differ else 0.0)
        axes.barh(at, size, left=start, color=LISTED[state], height=0.7 if differ else 0.5)
        axes.text(
            left if differ else left + size + _SPACE, at, name, fontsize=SMALL, va="center"
        )  # fmt: skip
        if differ:
            axes.text(start + size + 2, at, str(length), fontsize=SMALL, va="center")
    axes.set_xlim(0, width)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.axis("off")
    more = len(lines) - rows * columns
    rank = f"; rank {found.rank.rank} of {found.learnable}" if found.order else ""
    below = f"; the first {rows * columns} of {len(lines)}" if more > 0 else ""
    bars = (": adds to the rank" if found.order else ": cost") if differ else ""
    handles = [
        Patch(color=colour, label=state + bars)
        for state, colour in LISTED.items()
        if any(own == state for _, _, own in lines)
    ]
    heading(axes, _title(found) + rank + below, handles)


def draw_curve(axes: Axes, found: Any) -> None:
    """The predicted deviation with the best elements of each number."""
    at = [len(best.chosen) for best in found.curve]
    deviations = [best.deviation for best in found.curve]
    axes.plot(at, deviations, "o-", color=BLUE, ms=3.5, lw=1)
    count = len(found.recorded) + len(found.stimulated)
    axes.plot([count], [found.total], "o", color=ORANGE, ms=6, label="recorded")
    axes.set_ylim(0, 1.08 * max(*deviations, found.total))
    what = "elements recorded and units driven" if found.question.drives else "elements recorded"
    tidy(
        axes, f"{what}, of {len(found.question.allowed)}",
        f"predicted deviation, noise {found.sigma:g}",
    )  # fmt: skip
    names = some([*found.names, *found.driven], 6) or "nothing"
    handle = Line2D([], [], color=ORANGE, marker="o", ms=6, lw=0, label=f"recorded: {names}")
    heading(axes, "least predicted deviation of the target", [handle])


def draw_recording(axes: Axes, found: Recording) -> None:
    """Draw the grids side by side, the list of many units, or deviations under noise."""
    if len(getattr(found, "curve", ())) > 1:
        draw_curve(axes, found)
        return
    if _is_listed(found):
        draw_list(axes, found)
        return
    parts = grids(found)
    cells: dict[int, list[Cell]] = {k: [] for k in range(len(STATES))}
    for name, (states, _) in parts.items():
        for (i, j), k in np.ndenumerate(states):
            cells[int(k)].append((name, i, j))
    draw_grids(
        axes,
        {name: states.shape for name, (states, _) in parts.items()},
        [Group(label, colour, cells[k]) for k, (label, colour) in enumerate(STATES)],
        title=_title(found),
        rows={name: names for name, (_, names) in parts.items()},
        # An output is recorded at all steps.
        columns={"outputs": ("all",)} if "outputs" in found.question.kinds else {},
        across="samples" if {"entries", "samples"} & set(found.question.kinds) else "steps",
        down="units" if "units" in found.question.kinds else "outputs",
    )


DRAWINGS = {"Recording": Drawing(draw_recording, recording_size, is_cropped=True)}
