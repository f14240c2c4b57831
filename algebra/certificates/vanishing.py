"""Structural zeros that leave no path from inputs to outputs: every student matches.

For every network whose labels are 0 without paths: linear, or ReLU without shifts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from algebra.certificates.certificate import MAXIMAL, Certificate
from algebra.certificates.checks import PROVED, CheckFailed, Say
from algebra.certificates.records import Record, read_form
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
        why="MP = 1. No path leads from an input to an output: every label is 0, and each student "
        "matches.",
    )


@dataclass(frozen=True)
class VanishingEvidence(Record):
    """The whole evidence that all labels are 0."""

    labels_vanish: Literal[True]


def says_vanishing(evidence: Mapping[str, Any]) -> bool:
    """Whether the evidence of a file says that all labels are 0.

    Raises
    ------
    CheckFailed
        If it says that they are not, which is no evidence.
    """
    found = "labels_vanish" in evidence
    if found:
        read_form(Literal[True], evidence["labels_vanish"], "evidence.labels_vanish")
    return found


def check_vanishing(problem: Problem, verdict: str, equations: int, rank: int, say: Say) -> None:
    """Check that no path leads from inputs to outputs through the weights that exist.

    Without a path every label is 0 for teacher and student, for all weights: MP = 1.

    Raises
    ------
    CheckFailed
    """
    if not problem.has_plain_labels:
        raise CheckFailed("evidence.labels_vanish", "the labels are no teacher's: they are not 0")
    if verdict != MAXIMAL or equations != 0 or rank != 0:
        raise CheckFailed("verdict", "labels that are always 0 make every student match")
    place = "evidence.labels_vanish"
    reached = inputs_that_reach(problem.network, problem.support)
    if reached.any():
        raise CheckFailed(place, f"{int(reached.sum())} inputs reach the outputs")
    say(place, PROVED, "no path leads from an input to an output: every label is 0")
    say("verdict", PROVED, "each student matches")
