r"""The proof of a design as plain data: a file that somebody else can check.

It holds the demand, the weights chosen, what is claimed of them, and the evidence from which
`algebra.design.verify` proves the claim.  What is claimed:

========  =======================================================================================
cheapest  no allocation that is not minimal costs less than `cost`
spread    none has a smaller fullest line than `value`; of those of this value none costs less
          than `cost_bound`
neurons   none touches fewer neurons than `value`; of those of this value none costs less than
          `cost_bound`
maximal   the design has an odd root count, so that its MP = 1; none that costs less than `cost`
          has an odd root count
========  =======================================================================================

Each among the allocations of `size` weights of `problem` that contain `must` and keep `caps`.

Version 1 had the goals "cheapest" and "spread" alone, and no evidence that nothing is more
spread, which is then searched anew.  It is still read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from algebra.design.demand import LINES, Demand, demand, exact_price
from algebra.design.evidence import (
    BadField,
    CostEvidence,
    Evidence,
    MaximalEvidence,
    NeuronEvidence,
    SpreadEvidence,
    cells,
    dual_from_dict,
    listed,
    record,
    text,
    whole,
    wholes,
)
from algebra.design.result import Design
from algebra.errors import InputError
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem, problem_from_dict

FORMAT, VERSION = "matchprob-design", 2
_FIELDS = ("format", "version", "problem", "must", "prices", "caps", "size", "goal")
_FIRST = (*_FIELDS, "spread", "design", "cost", "evidence")
_SECOND = (*_FIELDS, "line", "design", "cost", "value", "cost_bound", "evidence")
# What the evidence of a goal is; the lines it may speak of.
_EVIDENCE: dict[str, tuple[type[Evidence], tuple[str, ...]]] = {
    "cheapest": (CostEvidence, ("",)),
    "spread": (SpreadEvidence, LINES),
    "neurons": (NeuronEvidence, ("row", "column")),
    "maximal": (MaximalEvidence, ("",)),
}


@dataclass(frozen=True)
class DesignProof:
    """A claim about a design, and its evidence.

    Attributes
    ----------
    problem : Problem
        Its allocation is everything that may learn.
    must : tuple of cells
    prices : tuple of Fraction
        Of the problem's cells, in their order.
    caps : tuple of (str, int)
    size : int
    goal : str
    line : str
        Of goals "spread" and "neurons".
    design : tuple of cells
    cost, value, cost_bound : Fraction
    evidence : Evidence
    searched_anew : bool
        Of version 1: that nothing is more spread has to be found without evidence.
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
    evidence: Evidence
    searched_anew: bool = False

    def demand(self, seed: int) -> Demand:
        """The demand, its caps in the order of the file (that of the evidence)."""
        names = self.problem.allocation.cells
        asked = demand(
            self.problem.network, allowed=names, must=self.must,
            costs=dict(zip(names, self.prices, strict=True)), caps=dict(self.caps),
            budget=self.size, support=self.problem.support, seed=seed,
        )  # fmt: skip
        return replace(asked, caps=self.caps)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": self.problem.to_dict(),
            "must": [list(cell) for cell in self.must],
            "prices": [str(price) for price in self.prices],
            "caps": dict(self.caps),
            "size": self.size,
            "goal": self.goal,
            "line": self.line,
            "design": [list(cell) for cell in self.design],
            "cost": str(self.cost),
            "value": str(self.value),
            "cost_bound": str(self.cost_bound),
            "evidence": self.evidence.to_dict(),
        }


def proof_of(asked: Demand, found: Design) -> DesignProof:
    """The proof of a design.

    Parameters
    ----------
    asked : Demand
        Without the cap that goal "spread" found itself.
    found : Design
        Of a goal whose optimum can be proved, and optimal.

    Raises
    ------
    InputError
        Where there is nothing to prove.
    """
    if found.evidence is None or found.goal not in _EVIDENCE:
        raise InputError(
            f"a design of goal {found.goal!r} has no proof; the goals that have one: "
            + ", ".join(_EVIDENCE)
        )
    if not found.is_optimal:
        raise InputError(
            f"the design is not proved to be the best (value {found.value}, bound "
            f"{found.bound}): allow the search more time"
        )
    everything = Allocation.from_cells(asked.network, asked.cells)
    return DesignProof(
        Problem.of(everything, support=asked.support), tuple(sorted(asked.must)),
        tuple(asked.prices[cell] for cell in asked.cells), found.caps, asked.size, found.goal,
        found.line, found.allocation.cells, found.cost, found.value, found.cost_bound,
        found.evidence,
    )  # fmt: skip


def read_proof(data: object) -> DesignProof:
    """Read a proof.

    Parameters
    ----------
    data : mapping
        What `DesignProof.to_dict` makes, of version 1 or 2.

    Raises
    ------
    InputError
        Where it is no proof of this format at all.
    BadField
        Where a field is not of its form.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InputError(f"this is not the proof of a design: `format` is not {FORMAT!r}")
    version = data.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version not in (1, 2):
        raise InputError(
            f"design proof version {version!r}; this program reads versions 1 and {VERSION}"
        )
    record(data, "proof", _FIRST if version == 1 else _SECOND)
    problem = _problem(data["problem"])
    allocation = problem.allocation
    must = cells(data["must"], "must")
    prices = tuple(
        _price(v, f"prices[{k}]") for k, v in enumerate(listed(data["prices"], "prices"))
    )
    if len(prices) != allocation.size:
        raise BadField(
            "prices", f"are {len(prices)}, for the {allocation.size} weights that may learn"
        )
    found = record_of(data["caps"], "caps")
    for kind in found:
        if kind not in LINES:
            raise BadField("caps", f"has {kind!r}, which is none of " + ", ".join(LINES))
    caps = tuple((kind, whole(number, f"caps.{kind}", 0)) for kind, number in found.items())
    size = whole(data["size"], "size", 0)
    goal = text(data["goal"], "goal")
    design = cells(data["design"], "design")
    cost = _price(data["cost"], "cost")
    if version == 1:
        if goal not in ("cheapest", "spread"):
            raise BadField("goal", f"is {goal!r}; version 1 has cheapest and spread")
        spread = data["spread"]
        if (spread is None) != (goal == "cheapest") or spread not in (None, *LINES):
            raise BadField("spread", f"is {spread!r}, for goal {goal!r}")
        dual = dual_from_dict(data["evidence"], "evidence")
        value = cost if spread is None else Fraction(dict(caps).get(spread, 0))
        evidence: Evidence = CostEvidence(dual) if spread is None else SpreadEvidence(dual, None)
        line, cost_bound = spread or "", cost
    else:
        if goal not in _EVIDENCE:
            raise BadField("goal", f"is {goal!r}, none of " + ", ".join(_EVIDENCE))
        form, lines = _EVIDENCE[goal]
        line = text(data["line"], "line")
        if line not in lines:
            raise BadField("line", f"is {line!r}, for goal {goal!r}")
        value = _price(data["value"], "value")
        cost_bound = _price(data["cost_bound"], "cost_bound")
        evidence = form.from_dict(data["evidence"])
    if goal == "spread" and line not in dict(caps):
        raise BadField("caps", f"has no cap of a {line}, the value of goal 'spread'")
    return DesignProof(
        problem, must, prices, caps, size, goal, line, design, cost, value, cost_bound, evidence,
        searched_anew=version == 1,
    )  # fmt: skip


def _problem(data: object) -> Problem:
    """The problem, whole in itself: no file names, and no laws (nothing rests on them)."""
    tables = record_of(data, "problem")
    for name in tables:
        if name not in ("network", "learnable", "support"):
            raise BadField("problem", f"has a table {name!r}; a proof speaks of no other")
    for table in ("learnable", "support"):
        masks = record_of(tables.get(table, {}), f"problem.{table}")
        for name, mask in masks.items():
            place = f"problem.{table}.{name}"
            for i, row in enumerate(listed(mask, place)):
                for entry in wholes(row, f"{place}[{i}]", 0):
                    if entry > 1:
                        raise BadField(f"{place}[{i}]", f"has {entry}, neither 0 nor 1")
    try:
        return problem_from_dict(tables)
    except InputError as error:
        raise BadField("problem", f"is none: {error}") from None


def record_of(value: object, place: str) -> Mapping[str, Any]:
    """An object whose fields are checked elsewhere."""
    if not isinstance(value, Mapping):
        raise BadField(place, f"is a {type(value).__name__}, not an object")
    return value


def _price(value: object, place: str) -> Fraction:
    try:
        return exact_price(text(value, place))
    except BadField:
        raise
    except InputError as error:
        raise BadField(place, f"is no exact number: {error}") from None
