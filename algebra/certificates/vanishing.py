"""Structural zeros that leave no path from inputs to outputs: every student matches.

For every network whose labels are 0 without paths: linear, or ReLU without shifts.
"""

from __future__ import annotations

from fractions import Fraction

from algebra.certificates.certificate import MAXIMAL, Certificate
from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.certificates.fields import Fields
from algebra.problems.problem import Problem
from algebra.problems.reachability import inputs_that_reach


def vanishing_certificate(problem: Problem, seed: int) -> Certificate:
    """The certificate of a problem whose labels are all 0."""
    return Certificate(
        problem=problem,
        verdict=MAXIMAL,
        rule="structural zeros make every label 0: every student matches",
        equations=0,
        rank=0,
        prime=0,
        error_bound=Fraction(0),
        evidence={"labels_vanish": True},
        seed=seed,
    )


def says_vanishing(evidence: Fields) -> bool:
    """Whether the evidence of a file says that all labels are 0.

    Raises
    ------
    CheckFailed
        If it says that they are not, which is no evidence.
    """
    found = evidence.has("labels_vanish")
    if found and not evidence.flag("labels_vanish"):
        raise CheckFailed(evidence.at("labels_vanish"), "can only be true")
    return found


def check_vanishing(problem: Problem, verdict: str, equations: int, rank: int, say: Say) -> None:
    """Check that no path leads from inputs to outputs through the weights that exist.

    Without a path every label is 0 for teacher and student, for all weights: MP = 1.

    Raises
    ------
    CheckFailed
    """
    if verdict != MAXIMAL or equations != 0 or rank != 0:
        raise CheckFailed("verdict", "labels that are always 0 make every student match")
    place = "evidence.labels_vanish"
    reached = inputs_that_reach(problem.network, problem.support)
    if reached.any():
        raise CheckFailed(place, f"{int(reached.sum())} inputs reach the outputs")
    say(place, PROVED, "no path leads from an input to an output: every label is 0")
    say("verdict", PROVED, "each student matches")
