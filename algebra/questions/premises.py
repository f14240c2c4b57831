"""The features of problems for which a question about generic weights has its answer.

`identify`, `record`, `design`, `repair`, `robust`, `audit`, `atlas` and the page ask for ranks, and
for verdicts that follow from them, at generic weights, with the labels of a teacher of the same
network.
"""

from __future__ import annotations

from algebra.checker.premises import ALMOST_ALL, CONSTRAINED, NONLINEAR, UPDATES
from algebra.errors import InputError
from algebra.problems.premises import UNTAUGHT, Feature, Premises
from algebra.problems.problem import Problem

_RANKS = "generic ranks are those of the theorem on MP = 0"
GENERIC_WEIGHTS = Premises(
    "questions about generic weights",
    "ranks at generic weights",
    {
        **ALMOST_ALL,
        **dict.fromkeys(CONSTRAINED, "ranks do not depend on which weights a match may have"),
        **UPDATES,
        **dict.fromkeys(NONLINEAR, _RANKS),
        Feature.RANDOM_CELLS: "each draw is a fixed allocation",
        Feature.PIECES: "ranks are those of one piece, and the answer says so",
        Feature.DENSE_TARGET: _RANKS,
        Feature.OWN_WEIGHTS: "the answer is about the weights of the file",
    },
)
_OTHER_VERBS = "use certify, count, estimate, compare, profile or train"
# What to do about a feature that is not covered.
_REMEDIES = {
    Feature.EXACT: "is about generic weights, and [values] without jitter makes weights exact "
    f"numbers: add a jitter, remove [values], or {_OTHER_VERBS}",
    **dict.fromkeys(
        UNTAUGHT,
        "is about the labels of a teacher of the same network: remove `labels` and `noise` from "
        f"[distribution] and [teacher], or {_OTHER_VERBS}",
    ),
}


def need_generic(problem: Problem, verb: str, *, chosen: bool = True) -> None:
    """Refuse a question about generic weights for problems that its answer does not cover.

    Parameters
    ----------
    problem : Problem
    verb : str
    chosen : bool, optional
        Whether the verb chooses what learns, so that measured weights may be fixed ones.

    Raises
    ------
    InputError
        It names the feature, and says what to do.
    """
    features = problem.features
    if chosen and problem.values.pinned(()):
        features |= {Feature.EXACT}
    # Labels first: with other labels the question has no meaning, whatever the weights are.
    missing = sorted(GENERIC_WEIGHTS.missing(features), key=lambda one: one not in UNTAUGHT)
    if missing:
        first = missing[0]
        remedy = _REMEDIES.get(first, f"has no answer for problems with {first}: {_OTHER_VERBS}")
        raise InputError(f"{verb} {remedy}")
