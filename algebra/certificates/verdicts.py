"""Verdicts: their names, and the laws of weights and samples for which they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algebra.problems.problem import Problem

FORMAT, VERSION = "matchprob-certificate", 1

# Verdicts on allocations: minimal means MP = 0, maximal MP = 1, intermediate strictly between.
VERDICTS = MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED = (
    "minimal",
    "maximal",
    "intermediate",
    "undecided",
)

# For discrete weights or inputs.
DISCRETE = "the law is discrete: this is a statement about generic instances, not about MP"


def why_refused(problem: Problem) -> str:
    """Why there is no verdict for laws like these, on one line; "" if there is one.

    Verdicts on ReLU networks use that teacher and student may both be inactive, and that instances
    may be perturbed: with signs of synapses units may be unable to be inactive at once, and exact
    numbers cannot be perturbed.
    """
    known = problem.network.rank_decides or not (problem.values or problem.distribution.signs)
    if not known:
        return (
            "verdicts on ReLU networks are not implemented with [values] or signs: use estimate, "
            "count or decide, which treat single trials"
        )
    return ""


def is_beyond(problem: Problem) -> bool:
    """Whether "intermediate" is not known: with measured weights and bounded laws.

    A teacher near the students' labels, and one far from them, must be possible, which needs
    unbounded weights; and a witness cannot be scaled into the support of bounded laws.
    """
    return bool(problem.values) and not problem.distribution.has_full_support
