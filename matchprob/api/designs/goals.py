"""The goals of the verb design: those of `algebra.questions.design.goals`, and the one that needs
trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from algebra.errors import InputError, shown
from algebra.given import known_name
from algebra.questions.design import goals
from algebra.questions.design.goals import Goal, SearchOptions

if TYPE_CHECKING:
    from algebra.problems.problem import Problem
    from algebra.questions.design.demand import Demand
    from algebra.questions.design.result import Design

# The weights to choose among: those of [learnable], or all that exist.
LEARNABLE, ALL = "learnable", "all"
GoalName = Literal["cheapest", "rank", "spread", "neurons", "maximal", "probable"]
# Goals that depend on numbers of solutions, not on ranks alone.
COUNTED = ("maximal", "probable")


@dataclass(frozen=True)
class RaceOptions(SearchOptions):
    """Limits and tools of a search, including trials.

    Attributes
    ----------
    problem : Problem
        Its laws are those of the random instances.
    candidates, trials, workers : int
        Number of designs raced, largest number of trials of each, processes.
    """

    problem: Problem | None = None
    candidates: int = 16
    trials: int = 1024
    workers: int = 1


def _probable(demand: Demand, options: RaceOptions) -> Design:
    from matchprob.api.designs.probable import search

    return search(demand, options)


GOALS: dict[str, Goal] = {
    **goals.GOALS,
    "probable": Goal("the highest match probability, certified or estimated", _probable),
}


def chosen_goal(goal: str | None, budget: object = None, cost_budget: object = None) -> str:
    """The goal, by default the one that fits the budget.

    Examples
    --------
    >>> chosen_goal(None), chosen_goal(None, cost_budget=3)
    ('cheapest', 'rank')
    """
    if goal is None:
        goal = "cheapest" if cost_budget is None else "rank"
    # The same units have both names.
    goal = "neurons" if goal == "units" else goal
    known_name(goal, "goal", GOALS)
    if GOALS[goal].needs_cost_budget == (cost_budget is None):
        if cost_budget is None:
            raise InputError(f"goal {goal!r} needs a cost budget: give `cost_budget`")
        raise InputError(
            f"`cost_budget` ({shown(cost_budget)}) is for goal 'rank', the largest rank within it; "
            f"goal {goal!r} finds the least cost itself"
        )
    if cost_budget is not None and budget is not None:
        raise InputError(
            f"`budget` ({shown(budget)}) and `cost_budget` exclude each other: within a cost "
            "budget the number of weights is a result"
        )
    return goal
