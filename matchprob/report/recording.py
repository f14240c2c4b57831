"""What to record, as a picture: units (or outputs) down, steps or samples across.

Of more than a few units only the recorded ones are drawn, as bars with their names, ranked by their
increase of the rank.  Under noise the picture is the predicted deviation by the number of elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from algebra.networks.base import LABELS
from algebra.networks.limits import some
from algebra.problems.allocation import Cell
from algebra.questions.record.elements import title, unit_names
from algebra.questions.record.result import Recording
from matchprob.report.drawing.masks import Group, draw_grids, grid_size
from matchprob.report.drawing.palette import ABSENT, BLUE, ORANGE, SKY
from matchprob.report.drawing.style import SMALL, heading, tidy

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


# Largest number of units of which all are drawn, and of bars, each with its name.
_ALL = 16
_BARS = 60
# Inches of a bar with its name.
_BAR = 0.17


def recording_size(found: Recording) -> tuple[float, float]:
    """Width and height in inches that fit."""
    if len(getattr(found, "curve", ())) > 1:
        return 4.8, 3.2
    if _is_ranked(found):
        return 4.2, 1.2 + _BAR * min(len(found.recorded), _BARS)
    return grid_size([states.shape for states, _ in grids(found).values()])


def _is_ranked(found: Recording) -> bool:
    wholes = {"outputs", "units"}.issuperset(found.question.kinds)
    return wholes and len(found.question.elements) > _ALL and bool(found.recorded)


def _title(found: Recording) -> str:
    text = f"record {found.counted} at cost {found.cost}"
    return text + ("" if found.is_optimal else f", at least {found.bound}")


def draw_ranking(axes: Axes, found: Recording) -> None:
    """What is recorded as bars, each with its name: what it adds to the rank, or its cost."""
    prices = dict(zip(found.question.elements, found.question.prices, strict=True))
    lengths: list[tuple[Any, float]] = [*found.order]
    lengths = lengths or [(e, float(prices[e])) for e in found.recorded]
    shown, more = lengths[:_BARS], len(lengths) - _BARS
    at = np.arange(len(shown))
    axes.barh(at, [length for _, length in shown], color=BLUE, height=0.7)
    names, what = [title(element, found.problem.names) for element, _ in shown], "recorded"
    if found.question.of_units:
        names, what = [name.removeprefix("unit ") for name in names], "recorded units"
    axes.set_yticks(at, names, fontsize=SMALL)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    below = f", the first {_BARS} of {len(lengths)}" if more > 0 else ""
    tidy(axes, "adds to the rank" if found.order else "cost", f"{what}{below}")
    axes.tick_params(axis="y", length=0)
    rank = f"; rank {found.rank.rank} of {found.learnable}" if found.order else ""
    heading(axes, _title(found) + rank)


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
    """Draw the grids side by side, the bars of many units, or deviations under noise."""
    if len(getattr(found, "curve", ())) > 1:
        draw_curve(axes, found)
        return
    if _is_ranked(found):
        draw_ranking(axes, found)
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
