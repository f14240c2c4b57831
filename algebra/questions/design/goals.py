"""The goals of a design: the search, the proof and the help text of each.

The command line's help, the table in ``docs/designs.md`` and the verb itself use `GOALS`.  The code
of a goal is imported when it is used, so that help is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from algebra.checker.records import Record
    from algebra.matroids.optimum import RelaxationMaker
    from algebra.questions.design.demand import Demand
    from algebra.questions.design.result import Design
    from algebra.systems.root_count import RootCounter


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search.

    Attributes
    ----------
    line : {"row", "column"}
        For goals that refer to lines.
    seconds : float
        Time of the search.
    timeout : float
        Time of one root count.
    relaxation, fallback : callable, optional
        See `algebra.questions.design.cheapest.cheapest`,
        `algebra.systems.root_count.generic_root_count`.
    """

    line: str = "row"
    seconds: float = 60.0
    timeout: float = 3.0
    relaxation: RelaxationMaker | None = None
    fallback: RootCounter | None = None


Search = Callable[["Demand", Any], "Design"]


@dataclass(frozen=True)
class Goal:
    """The goal of a design.

    Attributes
    ----------
    help : str
        The optimized quantity, in a few words.
    search : callable
        Of a demand and `SearchOptions`: the best `Design`.
    proof : str
        The statement that its proof file proves, which `algebra.questions.design.verify` checks; or
        empty.
    read_evidence : callable or None
        The evidence of a proof file, from its plain data.
    lines : tuple of str
        Kinds of lines to which the goal may refer; empty if it refers to none.
    needs_cost_budget : bool
        Whether it needs a cost budget; other goals refuse one.
    """

    help: str
    search: Search
    proof: str = ""
    read_evidence: Callable[[object], Record] | None = None
    lines: tuple[str, ...] = ()
    needs_cost_budget: bool = False


def _cheapest(demand: Demand, options: SearchOptions) -> Design:
    from algebra.questions.design.cheapest import search_cheapest

    return search_cheapest(demand, options)


def _spread(demand: Demand, options: SearchOptions) -> Design:
    from algebra.questions.design.spread import search_spread

    return search_spread(demand, options)


def _neurons(demand: Demand, options: SearchOptions) -> Design:
    from algebra.questions.design.neurons import search_neurons

    return search_neurons(demand, options)


def _maximal(demand: Demand, options: SearchOptions) -> Design:
    from algebra.questions.design.maximal import search_maximal

    return search_maximal(demand, options)


def _cost_evidence(data: object) -> Record:
    from algebra.questions.design.result import CostEvidence

    return CostEvidence.from_dict(data)


def _rank_evidence(data: object) -> Record:
    from algebra.questions.design.result import RankEvidence

    return RankEvidence.from_dict(data)


def _spread_evidence(data: object) -> Record:
    from algebra.questions.design.result import SpreadEvidence

    return SpreadEvidence.from_dict(data)


def _neuron_evidence(data: object) -> Record:
    from algebra.questions.design.result import NeuronEvidence

    return NeuronEvidence.from_dict(data)


def _maximal_evidence(data: object) -> Record:
    from algebra.questions.design.result import MaximalEvidence

    return MaximalEvidence.from_dict(data)


GOALS: dict[str, Goal] = {
    "cheapest": Goal(
        "least cost",
        _cheapest,
        "no allocation costs less",
        _cost_evidence,
    ),
    "rank": Goal(
        "the largest rank within the cost budget, then least cost",
        _cheapest,
        "no larger rank is within the budget, and no design of this rank costs less",
        _rank_evidence,
        needs_cost_budget=True,
    ),
    "spread": Goal(
        "the fewest weights in the fullest line, then least cost",
        _spread,
        "no design has fewer weights in its fullest line, and none with as few costs less",
        _spread_evidence,
        lines=("row", "column", "matrix"),
    ),
    "neurons": Goal(
        "the fewest neurons that learn, then least cost",
        _neurons,
        "no design has fewer neurons that learn, and none with as few costs less",
        _neuron_evidence,
        lines=("row", "column"),
    ),
    "maximal": Goal(
        "certified MP = 1 by an odd root count, at least cost",
        _maximal,
        "its root count is odd, and those of all cheaper allocations are even",
        _maximal_evidence,
    ),
}


def goals_text(goals: Mapping[str, Goal] = GOALS) -> str:
    """All goals in one line, for the command line's help."""
    return "; ".join(f"{name}: {goal.help}" for name, goal in goals.items()) + "."
