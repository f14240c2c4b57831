"""The nearest allocation that meets a goal, and how much may be lost: repair and robust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.design import repair as repairs
from algebra.design import robustness as losses
from algebra.design.repair import MAXIMAL, NOT_MINIMAL, Repair
from algebra.design.robustness import Robustness
from algebra.errors import InputError
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import all_cells
from algebra.results import Result
from matchprob.api.certify import certify
from matchprob.api.design import DemandOptions
from matchprob.api.question import Question, as_problem
from numeric.cap_relaxation import linear_relaxation
from numeric.tracking.root_count import monodromy_root_count

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
        before = set(self.before.problem.allocation.cells)
        after = set(self.problem.allocation.cells)
        cells = sorted(before | after)
        return {
            "matrix": [name for name, _, _ in cells],
            "row": [i for _, i, _ in cells],
            "column": [j for _, _, j in cells],
            "before": [cell in before for cell in cells],
            "after": [cell in after for cell in cells],
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob repair``."""
        found = self.repair.to_dict() if self.repair else {"moves": 0, "bound": 0, "optimal": True}
        verdicts = {
            when: {
                "verdict": c.verdict,
                "rule": c.rule,
                "rank": c.rank,
                "generic_root_count": c.generic_root_count,
                "reasons": list(c.reasons),
            }
            for when, c in (("before", self.before), ("after", self.after))
        }
        return {**found, **verdicts, "equations": self.before.equations}


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
    timeout: float = 3.0,
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
    seconds, timeout : float, optional
        For the search of a maximal allocation, and for one root count.
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
    problem = as_problem(question)
    if goal is not None and goal not in _GOALS:
        raise InputError(f"`goal` ({goal!r}) must be positive or maximal")
    allocation, network = problem.allocation, problem.network
    if not network.rank_decides:
        raise InputError(f"a {network.title} network has no minimal allocations to repair")
    before = certify(problem, seed=seed, timeout=max(timeout, _PATIENCE))
    is_restricted = bool(must or forbidden or caps)
    if goal is None:
        goal = "positive" if before.verdict == "minimal" else "maximal"
    fine = before.verdict == "maximal" or (goal == "positive" and before.verdict != "minimal")
    if fine and not is_restricted:
        return RepairResult(None, before, before)
    names = list(matrices or allocation.matrices or network.shapes)
    allowed = [c for c in all_cells(network, problem.support) if c[0] in names]
    allowed += [c for c in allocation.cells if c[0] not in names]
    whole = network_rank(network, problem.support, seed).rank
    size = max(whole, allocation.size)
    options = DemandOptions(costs or {}, must, forbidden, (), caps, size)
    asked = options.demand(problem, allowed, seed)
    found = repairs.repair(
        allocation, asked, _GOALS[goal], relaxation=linear_relaxation, seconds=seconds,
        timeout=timeout, fallback=partial(monodromy_root_count, timeout=timeout),
    )  # fmt: skip
    after = certify(
        problem.with_allocation(found.after), seed=seed, timeout=max(timeout, _PATIENCE)
    )
    return RepairResult(found, before, after)


def robust(question: Question, *, seconds: float = 30.0, seed: int = 0) -> Robustness:
    """How many learnable weights may be lost before MP drops to 0.

    Parameters
    ----------
    question : Problem, str or Path
    seconds : float, optional
        Time for the search; bounds are given where it is not enough.
    seed : int, optional

    Returns
    -------
    Robustness

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> net = LinearEstimator(q=3, d=1, m=2)
    >>> print(robust(Problem(net, {"W": [[1, 1, 1]]})))
    any 1 of 3 weights may be lost, not more
    """
    problem = as_problem(question)
    return losses.robustness(problem.allocation, problem.support, seconds=seconds, seed=seed)
