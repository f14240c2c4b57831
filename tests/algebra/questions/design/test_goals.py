"""Each goal is one entry with its search, its evidence and its check."""

import pytest

from algebra.networks.feedforward import LinearEstimator
from algebra.questions.design.demand import checked_demand
from algebra.questions.design.goals import GOALS, SearchOptions, goals_text

NET = LinearEstimator(q=3, d=2, m=2)


@pytest.mark.parametrize("name", GOALS)
def test_an_entry_is_complete(name):
    """Each has a search, and a class of evidence if it has a proof."""
    goal = GOALS[name]
    assert callable(goal.search)
    assert (goal.read_evidence is None) == (not goal.proof)
    assert f"{name}: {goal.help}" in goals_text()


@pytest.mark.parametrize("name", GOALS)
def test_searches_and_evidence_go_together(name):
    """A found design has this goal's name and evidence, which a file stores."""
    goal = GOALS[name]
    budget = 4 if goal.needs_cost_budget else None
    found = goal.search(checked_demand(NET, cost_budget=budget), SearchOptions(line="row"))
    assert found.goal == name
    assert found.is_optimal
    data = found.evidence.to_dict()
    read = goal.read_evidence(data)
    assert type(read) is type(found.evidence)
    assert read.to_dict() == data
