"""What data leave free of some activities: the part of results that is about a target.

A target is a set of activities, such as hidden units, steps, or outputs for new samples, of which
it is asked whether the data determine them, weights or not: `algebra.plugins.circuits.target`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from algebra.problems.allocation import Cell
from algebra.problems.names import Names
from algebra.words import plural, some

# Number of activities in a text, and of parameters of a table.
_MOST = 24
_LISTED = 12


def by_matrix(
    names: Names, cells: Sequence[Cell], free: Sequence[Cell]
) -> dict[str, tuple[list[str], list[str]]]:
    """Names of the free weights or parameters of each matrix, and of the others.

    Parameters
    ----------
    names : Names
    cells, free : sequence of cells
        All that learn, and those that are free.
    """
    found: dict[str, tuple[list[str], list[str]]] = {name: ([], []) for name, _, _ in cells}
    undetermined = set(free)
    for cell in cells:
        found[cell[0]][cell not in undetermined].append(names.cell(cell))
    return found


def by_table(names: Names, cells: Sequence[Cell], free: Sequence[Cell]) -> list[str]:
    """The free weights or parameters of each matrix, in words.

    Parameters
    ----------
    names : Names
    cells, free : sequence of cells
        All that learn, and those that are free.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> names = Names(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"neurons": ["PV", "SST"]})
    >>> by_table(names, [("W", 0, 0), ("W", 0, 1), ("B", 0, 0)], [("W", 0, 1)])
    ['1 of 2 in W: W[PV,SST]']
    """
    return [
        f"{len(own)} of {len(own) + len(others)} in {name}: {some(own, _LISTED)}"
        for name, (own, others) in by_matrix(names, cells, free).items()
        if own
    ]


@dataclass(frozen=True)
class TargetState:
    """What data leave free of an element of the target.

    Attributes
    ----------
    name : str
        With indices, as in files.
    title : str
        With the names of units.
    free : int
        Number of directions in which its numbers can change while the data do not.
    """

    name: str
    title: str
    free: int

    @property
    def is_determined(self) -> bool:
        """Whether it is determined locally."""
        return not self.free


@dataclass(frozen=True)
class TargetStates:
    """What data leave free of a target.

    Attributes
    ----------
    states : tuple of TargetState
        One for each element.
    free : int
        Of all elements together.
    error : Fraction
        Bound on the probability that one of these numbers is wrong; 0 if it is proved.
    new : int
        Number of new samples that the target is about.
    """

    states: tuple[TargetState, ...]
    free: int
    error: Fraction
    new: int = 0

    @property
    def determined(self) -> int:
        """Number of elements that are determined."""
        return sum(state.is_determined for state in self.states)

    def to_dict(self) -> dict[str, Any]:
        """The keys of results with a target."""
        return {
            "target": [
                {"name": state.name, "determined": state.is_determined, "free": state.free}
                for state in self.states
            ],
            "target_free": self.free,
        }

    def lines(self) -> list[str]:
        """What is determined, and how much of the rest is free."""
        known = [state.title for state in self.states if state.is_determined]
        free = [
            f"{state.title} ({plural(state.free, f'{state.free} direction')})"
            for state in self.states
            if not state.is_determined
        ]
        lines = [f"  target: {len(known)} of {len(self.states)} determined"]
        if known and free:
            lines[0] += f": {some(known, _MOST)}"
        if free:
            lines.append(f"  free in the target: {some(free, _MOST)}; {self.free} in all")
        return lines
