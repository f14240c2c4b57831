r"""The proof of a design as plain data, for a file that can be checked independently.

It holds the demand, the chosen weights, the claims on them, and the evidence from which
`algebra.design.verify` proves the claims:

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
from fractions import Fraction
from typing import Any

from algebra.certificates.checks import CheckFailed
from algebra.certificates.duals import DualInFile
from algebra.certificates.fields import RefusedAt, cells
from algebra.certificates.parts import (
    fixed_problem,
    proof_fields,
    read_caps,
    read_price,
    read_prices,
    read_version,
)
from algebra.certificates.records import Record, read_form
from algebra.certificates.sparse import compact
from algebra.design.demand import LINES, Demand, checked_demand
from algebra.design.evidence import CostEvidence, SpreadEvidence
from algebra.design.goals import GOALS
from algebra.design.result import Design
from algebra.errors import InputError, shown
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.ranks.parametrized import by_parameters, by_updates, parameter_allocation
from algebra.results import named

FORMAT, VERSION = "matchprob-design", 2


@dataclass(frozen=True)
class DesignProof:
    """A claim about a design, and its evidence.

    Attributes
    ----------
    problem : Problem
        Its learnable weights are all that may learn: cells, and parameters of updates, which are
        the cells of `algebra.ranks.parametrized.parameter_allocation`.
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
    searched_anew : bool
        For version 1: the optimal spread must be proved without evidence.
    """

    problem: Problem
    must: tuple[Cell, ...]
    prices: tuple[Fraction, ...]
    caps: tuple[tuple[str, int], ...]
    size: int
    goal: str
    line: str
    design: tuple[Cell, ...]
    cost: Fraction
    value: Fraction
    cost_bound: Fraction
    evidence: Record
    cost_budget: Fraction | None = None
    searched_anew: bool = False

    def demand(self, seed: int) -> Demand:
        """The demand, its caps in the order of the file (which is that of the evidence)."""
        choice = parameter_allocation(self.problem)
        names = choice.cells
        demand = checked_demand(
            choice.network, allowed=names, must=self.must,
            costs=dict(zip(names, self.prices, strict=True)), caps=dict(self.caps),
            budget=None if self.cost_budget is not None else self.size,
            cost_budget=self.cost_budget, support=self.problem.support, seed=seed,
        )  # fmt: skip
        return replace(demand, caps=self.caps)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("size", "goal", "line", "design", "cost", "value", "cost_bound", "evidence")
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": compact(self.problem.to_dict()),
            **named(self, "must", "prices"),
            "caps": dict(self.caps),
            **named(self, *names),
            **({} if self.cost_budget is None else named(self, "cost_budget")),
        }


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
    with_proof = [name for name, goal in GOALS.items() if goal.proof]
    if found.evidence is None or found.goal not in with_proof:
        raise InputError(
            f"a design of goal {found.goal!r} has no proof; the goals that have one: "
            + ", ".join(with_proof)
        )
    if not found.is_optimal:
        raise InputError(
            f"the design is not proved to be the best (value {found.value}, bound "
            f"{found.bound}): allow the search more time"
        )
    everything = Allocation.from_cells(demand.network, demand.cells)
    return DesignProof(
        by_updates(Problem.of(everything, support=demand.support)), tuple(sorted(demand.must)),
        tuple(demand.prices[cell] for cell in demand.cells), found.caps, found.allocation.size,
        found.goal, found.line, found.allocation.cells, found.cost, found.value, found.cost_bound,
        found.evidence, demand.cost_budget,
    )  # fmt: skip


def read_design_proof(data: object) -> DesignProof:
    """Read a proof.

    Parameters
    ----------
    data : mapping
        A result of `DesignProof.to_dict`, of version 1 or 2.

    Raises
    ------
    InputError
        If it is not a proof of this format.
    CheckFailed
        If a field does not have its form; the message gives its place.
    """
    cost_budget = None
    version = read_version(data, FORMAT, (1, VERSION), "the proof of a design")
    fields = proof_fields(data)
    problem = fixed_problem(fields.raw("problem"))
    with RefusedAt("problem.learnable"):
        choice = by_parameters(problem, singly="a design").allocation
    must = cells(fields.raw("must"), "must")
    if outside := set(must) - set(choice.cells):
        raise CheckFailed("must", f"{min(outside)} may not learn")
    prices = read_prices(fields)
    if len(prices) != choice.size:
        raise CheckFailed("prices", f"are {len(prices)}, {choice.size} weights may learn")
    caps = read_caps(fields.table("caps"), LINES)
    size, goal = fields.whole("size", 0), fields.text("goal")
    design = cells(fields.raw("design"), "design")
    cost = read_price(fields.raw("cost"), "cost")
    if version == 1:
        if goal not in ("cheapest", "spread"):
            raise CheckFailed("goal", f"is {shown(goal)}; version 1 has cheapest and spread")
        line = fields.raw("spread")
        if line not in (LINES if goal == "spread" else (None,)):
            raise CheckFailed("spread", f"is {shown(line)}, for goal {goal!r}")
        dual = read_form(DualInFile, fields.raw("evidence"), "evidence")
        evidence: Record = CostEvidence(dual)
        line, value, cost_bound = line or "", cost, cost
        if goal == "spread":
            evidence, value = SpreadEvidence(dual, None), Fraction(dict(caps).get(line, 0))
    else:
        known = GOALS.get(goal)
        if known is None or known.read_evidence is None:
            raise CheckFailed("goal", f"is {shown(goal)}, which has no proof")
        line = fields.text("line")
        if line not in (known.lines or ("",)):
            raise CheckFailed("line", f"is {shown(line)}, for goal {goal!r}")
        value = read_price(fields.raw("value"), "value")
        cost_bound = read_price(fields.raw("cost_bound"), "cost_bound")
        if known.needs_cost_budget:
            cost_budget = read_price(fields.raw("cost_budget"), "cost_budget")
        evidence = known.read_evidence(fields.raw("evidence"))
    fields.finish()
    if goal == "spread" and line not in dict(caps):
        raise CheckFailed("caps", f"has no cap of a {line}, the value of goal 'spread'")
    return DesignProof(
        problem, must, prices, caps, size, goal, line, design, cost, value, cost_bound, evidence,
        cost_budget, searched_anew=version == 1,
    )  # fmt: skip
