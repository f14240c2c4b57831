"""The weights that data determine, on the masks: one panel per matrix that learns."""

from __future__ import annotations

import numpy as np

from algebra.problems.allocation import Cell
from algebra.questions.identify.identification import Identification
from matchprob.report.drawing.masks import Group
from matchprob.report.drawing.palette import ABSENT, BLUE, ORANGE, SKY, VERMILION

STATES = (
    ("does not learn", ABSENT),
    ("the same in every match", BLUE),
    ("finitely many values", ORANGE),
    ("determined locally", SKY),
    ("free", VERMILION),
)


def states(found: Identification, name: str) -> np.ndarray:
    """Which of `STATES` each cell of a matrix is in.

    Returns
    -------
    ndarray of int
    """
    masks = found.problem.learning.moving.masks
    out = np.zeros(masks[name].shape, int)
    everywhere = found.globally_determined or ()
    for state, cells in (
        (3, found.fibre.determined),
        (2, found.finitely_many),
        (1, everywhere),
        (4, found.fibre.free),
    ):
        for matrix, i, j in cells:
            if matrix == name:
                out[i, j] = state
    return out


def cell_groups(found: Identification) -> tuple[Group, ...]:
    """The cells grouped by their state, for `matchprob.report.drawing.masks.draw_masks`."""
    cells: dict[int, list[Cell]] = {k: [] for k in range(len(STATES))}
    for name in found.problem.learning.moving.matrices:
        for (i, j), state in np.ndenumerate(states(found, name)):
            cells[int(state)].append((name, i, j))
    return tuple(
        Group(label, colour, cells[k] if k else ()) for k, (label, colour) in enumerate(STATES)
    )
