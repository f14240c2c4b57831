"""The goals of a design: the search, the proof and the help text of each.

The command line's help, the table in ``docs/designs.md`` and the verb itself use `GOALS`.  The code
of a goal is imported when it is used, so that help is fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from algebra.certificates.duals import Evidence
    from algebra.design.demand import Demand
    from algebra.design.result import Design
    from algebra.matroids.optimum import RelaxationMaker
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
        See `algebra.design.cheapest.cheapest`, `algebra.systems.root_count.generic_root_count`.
    """

    line: str = "row"
    seconds: float = 60.0
    timeout: float = 3.0
    relaxation: RelaxationMaker | None = None
    fallback: RootCounter | None = None


@dataclass(frozen=True)
class Goal:
    """The goal of a design.

    Attributes
    ----------
    help : str
        The optimized quantity, in a few words.
    module : str
        Its function ``search(demand, options)`` returns the `Design`.
    proof : str
        The statement that its proof file proves, which `algebra.design.verify` checks; or empty.
    evidence : str
        The class of the proof's evidence in `algebra.design.evidence`.
    lines : tuple of str
        Kinds of lines to which the goal may refer; empty if it refers to none.
    needs_cost_budget : bool
        Whether it needs a cost budget; other goals refuse one.
    """

    help: str
    module: str
    proof: str = ""
    evidence: str = ""
    lines: tuple[str, ...] = ()
    needs_cost_budget: bool = False

    def search(self, demand: Demand, options: Any) -> Design:
        """The best design."""
        found: Design = import_module(self.module).search(demand, options)
        return found

    def read_evidence(self, data: object) -> Evidence:
        """The evidence of a proof file."""
        form = getattr(import_module("algebra.design.evidence"), self.evidence)
        found: Evidence = form.from_dict(data)
        return found


GOALS: dict[str, Goal] = {
    "cheapest": Goal(
        "least cost",
        "algebra.design.cheapest",
        "nothing costs less",
        "CostEvidence",
    ),
    "rank": Goal(
        "the largest rank within the cost budget, then least cost",
        "algebra.design.cheapest",
        "no larger rank is within the budget, and nothing of this rank costs less",
        "RankEvidence",
        needs_cost_budget=True,
    ),
    "spread": Goal(
        "the fullest line as empty as can be, then least cost",
        "algebra.design.spread",
        "nothing has a smaller fullest line, and nothing as spread costs less",
        "SpreadEvidence",
        lines=("row", "column", "matrix"),
    ),
    "neurons": Goal(
        "the fewest neurons that learn, then least cost",
        "algebra.design.neurons",
        "nothing touches fewer neurons, nor as many at less cost",
        "NeuronEvidence",
        lines=("row", "column"),
    ),
    "maximal": Goal(
        "certified MP = 1 by an odd root count, at least cost",
        "algebra.design.maximal",
        "its root count is odd, that of everything cheaper even",
        "MaximalEvidence",
    ),
}


def goals_text(goals: Mapping[str, Goal] = GOALS) -> str:
    """All goals in one line, for the command line's help."""
    return "; ".join(f"{name}: {goal.help}" for name, goal in goals.items()) + "."


def goals_table(goals: Mapping[str, Goal] = GOALS) -> str:
    """All goals as a Markdown table, for the documentation."""
    rows = [
        f"| `{name}` | {goal.help} | {'yes' if goal.lines else ''} | {goal.proof or 'no file'} |"
        for name, goal in goals.items()
    ]
    head = "| `--goal` | the design has | `--by` | its proof file shows |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"
