"""The goals of the verb design: those of `algebra.design.goals`, and the one that takes trials."""

from algebra.design import goals
from algebra.design.goals import Goal

GOALS: dict[str, Goal] = {
    **goals.GOALS,
    "probable": Goal(
        "the highest match probability, certified or estimated", "matchprob.api.probable"
    ),
}
