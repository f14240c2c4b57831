"""The goals of the verb design: those of `algebra.design.goals`, and the one that takes trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from algebra.design import goals
from algebra.design.goals import Goal, SearchOptions

if TYPE_CHECKING:
    from algebra.problems.problem import Problem

# Goals that rest on numbers of solutions, not on ranks alone.
COUNTED = ("maximal", "probable")

GOALS: dict[str, Goal] = {
    **goals.GOALS,
    "probable": Goal(
        "the highest match probability, certified or estimated", "matchprob.api.designs.probable"
    ),
}


@dataclass(frozen=True)
class RaceOptions(SearchOptions):
    """What a search may use, trials included.

    Attributes
    ----------
    problem : Problem
        Its laws are those of the random instances.
    candidates, trials, workers : int
        Designs raced, trials of each at most, processes.
    """

    problem: Problem | None = None
    candidates: int = 16
    trials: int = 1024
    workers: int = 1
