r"""The proof of a design as plain data, for a file that can be checked independently.

It holds the demand, the chosen weights, the claims on them, and the evidence from which
`algebra.questions.design.verify` proves the claims:

========  =======================================================================================
cheapest  no allocation that is not minimal costs less than `cost`
spread    none has a smaller fullest line than `value`; of those of this value none costs less
          than `cost_bound`
neurons   none touches fewer neurons than `value`; of those of this value none costs less than
          `cost_bound`
rank      no allocation within `cost_budget` has a larger rank than `value`; of those of this
          rank none costs less than `cost_bound`
maximal   the design has an odd root count, so that its MP = 1; none that costs less than `cost`
          has an odd root count
========  =======================================================================================

Each claim is about the allocations of `size` weights of `problem` that contain `must` and keep
`caps`.

Version 1 had only the goals "cheapest" and "spread", and no evidence for the optimal spread, for
which verification searches again.  It can still be read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import RefusedAt
from algebra.checker.parts import FixedProblem, Price, caps_of
from algebra.checker.records import Cells, Context, Converted, Record
from algebra.declarations import Count, Keyword
from algebra.errors import InputError, shown
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.questions.design.demand import LINES, Demand, checked_demand
from algebra.questions.design.goals import GOALS
from algebra.questions.design.result import (
    CostEvidence,
    Design,
    MaximalEvidence,
    NeuronEvidence,
    RankEvidence,
    SpreadEvidence,
)
from algebra.ranks.parametrized import by_parameters, by_updates

FORMAT: Literal["matchprob-design"] = "matchprob-design"
VERSION: Literal[2] = 2


_EVIDENCE = CostEvidence | RankEvidence | SpreadEvidence | NeuronEvidence | MaximalEvidence
_WITH_PROOF = tuple(name for name, goal in GOALS.items() if goal.proof)
_Caps = Annotated[tuple[tuple[str, int], ...], caps_of(LINES)]


def _read_evidence(value: Any, place: str, context: Context) -> Record:
    read = GOALS[context["goal"]].read_evidence
    assert read is not None
    return read(value)


@dataclass(frozen=True, kw_only=True)
class DesignProof(Record):
    """A claim about a design, and its evidence.

    Attributes
    ----------
    problem : Problem
        Its learnable weights are all that may learn: cells, and parameters of updates, which are
        the cells of `algebra.ranks.parametrized.by_parameters`.
    must : tuple of cells
    prices : tuple of Fraction
        Prices of the problem's cells, in their order.
    caps : tuple of (str, int)
    size : int
    goal : str
    line : str
        For goals "spread" and "neurons".
    design : tuple of cells
    cost, value, cost_bound : Fraction
    evidence : Record
    cost_budget : Fraction or None
        For goal "rank".
    """

    format: Literal["matchprob-design"]
    version: Literal[2]
    problem: FixedProblem
    must: Cells
    prices: tuple[Price, ...]
    caps: _Caps
    size: Count
    goal: Annotated[str, Keyword("enum", _WITH_PROOF)]
    line: str
    design: Cells
    cost: Price
    value: Price
    cost_bound: Price
    evidence: Annotated[Record, Converted(_EVIDENCE, _read_evidence, Record.to_dict)]
    cost_budget: Price | None = None

    def check(self, place: str, context: Context) -> None:
        """The fields must fit the problem and the goal."""
        with RefusedAt("problem.learnable"):
            choice = by_parameters(self.problem, singly="a design").allocation
        if outside := set(self.must) - set(choice.cells):
            raise CheckFailed("must", f"{min(outside)} may not learn")
        if len(self.prices) != choice.size:
            text = f"are {len(self.prices)}, {choice.size} weights may learn"
            raise CheckFailed("prices", text)
        goal, line = GOALS[self.goal], self.line
        if line not in (goal.lines or ("",)):
            raise CheckFailed("line", f"is {shown(line)}, for goal {self.goal!r}")
        if goal.needs_cost_budget != (self.cost_budget is not None):
            text = "is missing" if goal.needs_cost_budget else "is no field of this goal"
            raise CheckFailed("cost_budget", text)
        if self.goal == "spread" and line not in dict(self.caps):
            raise CheckFailed("caps", f"has no cap of a {line}, the value of goal 'spread'")

    def demand(self, seed: int) -> Demand:
        """The demand, its caps in the order of the file (which is that of the evidence)."""
        choice = by_parameters(self.problem).allocation
        names = choice.cells
        demand = checked_demand(
            choice.network, allowed=names, must=self.must,
            costs=dict(zip(names, self.prices, strict=True)), caps=dict(self.caps),
            budget=None if self.cost_budget is not None else self.size,
            cost_budget=self.cost_budget, support=self.problem.support, seed=seed,
        )  # fmt: skip
        return replace(demand, caps=self.caps)


def proof_of(demand: Demand, found: Design) -> DesignProof:
    """The proof of a design.

    Parameters
    ----------
    demand : Demand
        Without the cap that goal "spread" added itself.
    found : Design
        An optimal design of a goal with a proof.

    Raises
    ------
    InputError
        If there is nothing to prove.
    """
    if found.evidence is None or found.goal not in _WITH_PROOF:
        raise InputError(
            f"a design of goal {found.goal!r} has no proof; the goals that have one: "
            + ", ".join(_WITH_PROOF)
        )
    if not found.is_optimal:
        raise InputError(
            f"the design is not proved to be the best (value {found.value}, bound "
            f"{found.bound}): allow the search more time"
        )
    everything = Allocation.from_cells(demand.network, demand.cells)
    return DesignProof(
        format=FORMAT, version=VERSION,
        problem=by_updates(Problem.of(everything, support=demand.support)),
        must=tuple(sorted(demand.must)),
        prices=tuple(demand.prices[cell] for cell in demand.cells), caps=found.caps,
        size=found.allocation.size, goal=found.goal, line=found.line,
        design=found.allocation.cells, cost=found.cost, value=found.value,
        cost_bound=found.cost_bound, evidence=found.evidence, cost_budget=demand.cost_budget,
    )  # fmt: skip
