"""Values of a network that can be recorded besides its labels: earlier outputs, hidden units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# The labels; the outputs of a recurrent network at every step; the states of hidden units.
LABELS, TRACES, STATES = "labels", "traces", "states"


@dataclass(frozen=True)
class Reading:
    """Values at one time: one for each unit of a population and each sample.

    Attributes
    ----------
    axis : str
        The population, by its name among the network's axes: "outputs", "hidden units", ….
    step : int or None
        The step, from 0; None for a network without steps.
    size : int
        Number of units.
    """

    axis: str
    step: int | None
    size: int


def of_units(
    found: list[dict[str, tuple[np.ndarray, np.ndarray]]], units: Sequence[np.ndarray] | None
) -> list[dict[str, tuple[np.ndarray, np.ndarray]]]:
    """The factors of each reading (`Network.modular_readings`), restricted to some of its units."""
    if units is None:
        return found
    return [
        {name: (L[:, some], R) for name, (L, R) in factors.items()}
        for factors, some in zip(found, units, strict=True)
    ]
