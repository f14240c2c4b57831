"""The nearest allocation that meets a goal, and how much may be lost: repair and robust."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.design import repair as repairs
from algebra.design import robustness as losses
from algebra.design.demand import Demand, SearchUnfinished
from algebra.design.goals import SearchOptions
from algebra.design.repair import MAXIMAL, NOT_MINIMAL, Repair
from algebra.design.robustness import Robustness
from algebra.errors import InputError
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.problems.tables import edge_list
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.parametrized import Parametrized, by_parameters, by_updates
from algebra.results import Result, named
from algebra.time_limits import OutOfTime, limited, positive_seconds
from matchprob.api.certify import certify
from matchprob.api.designs.design import DemandOptions, choosable
from matchprob.api.question import Question, as_generic
from matchprob.api.tools import relaxation, root_counter

# Seconds for a root count of the two allocations that are certified, at least.
_PATIENCE = 10.0
_GOALS = {"positive": NOT_MINIMAL, "maximal": MAXIMAL}


@dataclass(frozen=True, repr=False)
class RepairResult(Result):
    """A repair with the certificates of both allocations.

    Attributes
    ----------
    repair : Repair or None
        None where nothing is to be done.
    before, after : Certificate
    """

    repair: Repair | None
    before: Certificate
    after: Certificate

    @property
    def problem(self) -> Problem:
        """The problem with the allocation afterwards."""
        return self.after.problem

    picture = "repair"

    def facts(self) -> dict[str, Any]:
        """How many weights move, and the verdicts before and after."""
        return {
            "moves": self.repair.moves if self.repair else 0,
            "bound": self.repair.bound if self.repair else 0,
            "before": self.before.verdict,
            "after": self.after.verdict,
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each weight that learns before or afterwards."""
        problem = by_parameters(self.problem)
        before = set(by_parameters(self.before.problem).allocation.cells)
        after = set(problem.allocation.cells)
        cells = sorted(before | after)
        return {
            "matrix": [name for name, _, _ in cells],
            "row": [i for _, i, _ in cells],
            "column": [j for _, _, j in cells],
            "weight": [problem.names.cell(cell) for cell in cells],
            "before": [cell in before for cell in cells],
            "after": [cell in after for cell in cells],
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob repair``."""
        found = self.repair.to_dict() if self.repair else {"moves": 0, "bound": 0, "optimal": True}
        verdicts = {
            when: {
                **named(c, "verdict", "rule", "rank", "generic_root_count"),
                "reasons": list(c.reasons),
            }
            for when, c in (("before", self.before), ("after", self.after))
        }
        problem = by_parameters(self.problem)
        weights = [problem.names.cell(cell) for cell in problem.allocation.cells]
        return {**found, **verdicts, "equations": self.before.equations, "weights": weights}

    def edges(self) -> str:
        """The weights that learn afterwards as an edge list: pre, post (CSV)."""
        cells = dict.fromkeys(by_parameters(self.problem).allocation.cells, "")
        return edge_list(by_parameters(self.problem).names, cells, "")


def repair(
    question: Question,
    *,
    goal: str | None = None,
    costs: Mapping[Cell, Fraction | float | str] | None = None,
    must: Sequence[Cell] = (),
    forbidden: Sequence[Cell] = (),
    matrices: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    seconds: float = 60.0,
    count_timeout: float = 3.0,
    timeout: float = math.inf,
    seed: int = 0,
) -> RepairResult:
    """Move as few weights as possible; certify before and after.

    Parameters
    ----------
    question : Problem, str or Path
    goal : {"positive", "maximal"}, optional
        MP > 0, or certified MP = 1.  By default "positive" for a minimal allocation, "maximal"
        for any other.
    costs : mapping of cell to Fraction, optional
        Among as few moves the cheapest; 1 for each weight not named.
    must, forbidden : sequence of cells, optional
        Weights that learn afterwards in any case, or in none.
    matrices : sequence of str, optional
        Where weights may move to; the matrices that learn already by default.
    caps : mapping, optional
        At most so many in each "row", "column", "matrix" afterwards.
    seconds, count_timeout : float, optional
        For the search of a maximal allocation, and for one root count.
    timeout : float, optional
        Seconds for the whole call.
    seed : int, optional

    Returns
    -------
    RepairResult

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> done = repair(Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> done.before.verdict, done.repair.moves, done.after.verdict
    ('intermediate', 1, 'maximal')
    """
    problem = by_parameters(as_generic(question, "repair"), singly="repair")
    if goal is not None and goal not in _GOALS:
        raise InputError(f"`goal` ({goal!r}) must be positive or maximal")
    if goal == "maximal" and isinstance(problem.network, Parametrized):
        raise InputError(
            "`goal` ('maximal') counts solutions, which single cells are needed for; where updates "
            "learn the goal is positive"
        )
    allocation, network = problem.allocation, problem.network
    if not network.rank_decides:
        raise InputError(f"a {network.title} network has no minimal allocations to repair")
    network.need_ranks("repair", problem.support)
    patience = max(count_timeout, _PATIENCE)
    positive_seconds(seconds, "seconds", zero=True)
    positive_seconds(count_timeout, "count_timeout", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        before = certify(by_updates(problem), seed=seed, timeout=patience)
        if goal is None:
            counted = not isinstance(network, Parametrized)
            goal = "maximal" if counted and before.verdict != "minimal" else "positive"
        fine = before.verdict == "maximal" or (goal == "positive" and before.verdict != "minimal")
        if fine and not (must or forbidden or caps):
            return RepairResult(None, before, before)
        options = DemandOptions({} if costs is None else costs, must, forbidden, (), caps)
        search = SearchOptions(
            seconds=seconds, timeout=count_timeout, relaxation=relaxation,
            fallback=root_counter(count_timeout),
        )  # fmt: skip
        try:
            asked = _demand(problem, options, matrices, seed)
            found = repairs.repair(allocation, asked, _GOALS[goal], search)
        except OutOfTime as over:
            raise SearchUnfinished(
                f"{over}: the allocation is {before.verdict} ({before.rule}), and no repair was "
                "found by then"
            ) from None
        moved = by_updates(problem.with_allocation(found.after))
        after = certify(moved, seed=seed, timeout=patience)
    return RepairResult(found, before, after)


def _demand(problem: Problem, options: DemandOptions, matrices: Sequence[str], seed: int) -> Demand:
    """Where weights may move to, and how many there are afterwards."""
    allocation, network = problem.allocation, problem.network
    names = list(matrices or allocation.matrices or network.shapes)
    allowed = [c for c in choosable(problem) if c[0] in names]
    allowed += [c for c in allocation.cells if c[0] not in names]
    whole = network_rank(network, problem.support, seed).rank
    size = max(whole, allocation.size)
    return replace(options, budget=size).demand(problem, allowed, seed)


def robust(
    question: Question, *, seconds: float = 30.0, timeout: float = math.inf, seed: int = 0
) -> Robustness:
    """How many learnable weights may be lost before MP drops to 0.

    Parameters
    ----------
    question : Problem, str or Path
    seconds : float, optional
        Time for the search; bounds are given where it is not enough.
    timeout : float, optional
        Seconds for the whole call.
    seed : int, optional

    Returns
    -------
    Robustness

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> net = LinearEstimator(q=3, d=1, m=2)
    >>> print(robust(Problem(net, {"W": [[1, 1, 1]]})))
    any 1 of 3 weights may be lost, some 2 may not
    """
    problem = by_parameters(as_generic(question, "robust"), singly="robust")
    positive_seconds(seconds, "seconds", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        return losses.robustness(problem.allocation, problem.support, seconds=seconds, seed=seed)
