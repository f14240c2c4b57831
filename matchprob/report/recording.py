"""The things to record, as a picture: units (or outputs) down, steps or samples across."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from algebra.networks.readings import LABELS
from algebra.problems.allocation import Cell
from algebra.record.result import Recording
from algebra.record.things import unit_names
from matchprob.report.drawing.masks import Group, draw_grids, grid_size
from matchprob.report.drawing.palette import ABSENT, BLUE, ORANGE, SKY

STATES = (
    ("must not be recorded", ABSENT),
    ("may be recorded", SKY),
    ("recorded", BLUE),
    ("recorded in any case", ORANGE),
)


def grids(found: Recording) -> dict[str, tuple[np.ndarray, tuple[str, ...] | None]]:
    """The states of all numbers that may be recorded, one grid per kind of thing and population.

    Returns
    -------
    dict of str to (ndarray of int, names)
        By a title: indices of `STATES`, units down and steps or samples across; the units' names.
    """
    asked, recorded = found.asked, set(found.recorded)
    state = np.array(
        [
            0 if k in asked.forbidden else 3 if k in asked.must else 2 if thing in recorded else 1
            for k, thing in enumerate(asked.things)
        ]
    )
    network, out = found.problem.network, {}
    for kind, (source, owners) in zip(asked.what, asked.owners, strict=True):
        readings = network.readings(source)
        by_sample = source == LABELS and kind != "outputs"
        for axis in dict.fromkeys(reading.axis for reading in readings):
            blocks = [
                state[owner] if by_sample else state[owner[:, :1]]
                for owner, reading in zip(owners, readings, strict=True)
                if reading.axis == axis
            ]
            # An output is recorded at all steps of the labels alike.
            whole = blocks[0] if kind == "outputs" else np.concatenate(blocks, axis=1)
            title = axis if kind in ("outputs", "units") else kind
            out[title] = (whole, unit_names(axis, found.problem.names))
    return out


def recording_size(found: Recording) -> tuple[float, float]:
    """Suitable width and height in inches."""
    return grid_size([states.shape for states, _ in grids(found).values()])


def draw_recording(axes: Axes, found: Recording) -> None:
    """Draw the grids side by side."""
    parts = grids(found)
    cells: dict[int, list[Cell]] = {k: [] for k in range(len(STATES))}
    for name, (states, _) in parts.items():
        for (i, j), k in np.ndenumerate(states):
            cells[int(k)].append((name, i, j))
    title = f"record {len(found.recorded)} of {len(found.asked.allowed)} at cost {found.cost}"
    draw_grids(
        axes,
        {name: states.shape for name, (states, _) in parts.items()},
        [Group(label, colour, cells[k]) for k, (label, colour) in enumerate(STATES)],
        title=title + ("" if found.is_optimal else f", at least {found.bound}"),
        rows={name: names for name, (_, names) in parts.items()},
        # An output is recorded at all steps alike.
        columns={"outputs": ("all",)} if "outputs" in found.asked.what else {},
        across="samples" if {"entries", "samples"} & set(found.asked.what) else "steps",
        down="units" if "units" in found.asked.what else "outputs",
    )
