"""Every weight that exists learns: the teacher itself is a student.

**Theorem.** If every weight that exists learns, MP = 1.

*Proof.* The teacher is a network of the same architecture, with weights where the student has some:
the student that has all of them gives its labels. ∎

Ranks are not used, so it holds for every kind of network whose teacher is of this kind.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py`, in which few weights learn, it
decides none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.premises import EVERYTHING_LEARNS
from algebra.checker.verdicts import MAXIMAL
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells, everything_learns

if TYPE_CHECKING:
    from algebra.arguments.case import Case

RULE = "every existing weight learns: the teacher is a student"


def search(case: Case) -> FoundEvidence | None:
    """Whether the masks say so."""
    if case.is_counted_first or not everything_learns(
        case.problem.allocation, case.problem.support
    ):
        return None
    return FoundEvidence(MAXIMAL, RULE, True)


def check(problem: Problem, value: bool, claimed: Claimed) -> str:
    """No weight that exists is fixed."""
    check_everything_learns(problem, claimed.say)
    return PROVED


def check_everything_learns(problem: Problem, say: Say) -> None:
    """Say that no weight that exists is fixed.

    Raises
    ------
    CheckFailed
    """
    fixed = set(all_cells(problem.network, problem.support)) - set(problem.allocation.cells)
    if fixed:
        raise CheckFailed("evidence.everything_learns", "a weight that exists does not learn")
    say("evidence.everything_learns", PROVED, "every weight learns")


ARGUMENT = Argument(
    name=EVERYTHING_LEARNS.name,
    form=Literal[True],
    why={MAXIMAL: "MP = 1: every weight learns, so the teacher itself is a student."},
    search=search,
    check=check,
    covers={MAXIMAL: EVERYTHING_LEARNS.covers},
    needs_ranks=False,
)
