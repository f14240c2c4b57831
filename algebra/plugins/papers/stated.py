"""What the papers' theorems, as stated, say about one problem."""

from __future__ import annotations

from algebra.checker.premises import ALMOST_ALL, CONSTRAINED, NONLINEAR
from algebra.families.registry import family_of
from algebra.plugins.papers.theorems.statements import what_theorems_say
from algebra.problems.premises import Feature, Premises
from algebra.problems.problem import Problem
from algebra.problems.reduction import solved

AS_STATED = Premises(
    "the papers' theorems",
    "what they say",
    dict.fromkeys(
        (
            *ALMOST_ALL,
            *CONSTRAINED,
            *NONLINEAR,
            Feature.EXACT,
            Feature.PIECES,
            Feature.DENSE_TARGET,
            Feature.OWN_WEIGHTS,
        ),
        "as stated they are about sizes and learnable cells, with a teacher of the same network",
    ),
)


def papers_say(problem: Problem) -> dict[str, str]:
    """What each of the papers' theorems, as stated, says: "maximal", "minimal" or "silent".

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.  The theorems are about a teacher's labels.
    """
    if not AS_STATED.applies(problem.features):
        return {}
    own = family_of(problem.network).own_theorems(problem)
    return own or what_theorems_say(solved(problem).network, problem.allocation)
