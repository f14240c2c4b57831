"""What of a network can be recorded besides its labels: outputs at earlier steps, hidden units."""

from __future__ import annotations

from dataclasses import dataclass

# The labels; the outputs of a recurrent network at every step; the states of hidden units.
LABELS, TRACES, STATES = "labels", "traces", "states"


@dataclass(frozen=True)
class Reading:
    """Numbers that are there at one time: one for each unit of a population and each sample.

    Attributes
    ----------
    axis : str
        The population, as the network's axes name it: "outputs", "hidden units", ….
    step : int or None
        The step, from 0; None in a network without steps.
    size : int
        Number of units.
    """

    axis: str
    step: int | None
    size: int
