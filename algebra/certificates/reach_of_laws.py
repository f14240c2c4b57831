"""The verdicts that are statements on the match probability if weights have signs or are measured.

The arguments are in `algebra.problems.laws` and `algebra.problems.laws.values`.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.certificates.certificate import INTERMEDIATE, UNDECIDED, Certificate
from algebra.problems.problem import Problem

# Evidence that some labels are not reached.
_OF_MISSES = ("no_real_root", "enclosed_solutions", "stuck_output")


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


def beyond(found: Certificate) -> Certificate:
    """The same ranks and counts, undecided: the witness is outside the support of bounded laws."""
    evidence = {k: v for k, v in found.evidence.items() if k not in _OF_MISSES}
    tried = "instances without real solutions: one beyond the reach of bounded laws"
    rule = "not minimal"
    if found.generic_root_count is not None:
        rule += f", {found.generic_root_count} complex solutions"
    return replace(found, verdict=UNDECIDED, rule=rule, evidence=evidence, tried=(tried,))


def settled(found: Certificate) -> Certificate:
    """A verdict restricted to what holds for the problem's laws."""
    if found.verdict == INTERMEDIATE and is_beyond(found.problem):
        return beyond(found)
    return found
