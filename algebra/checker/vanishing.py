"""Structural zeros that leave no path from inputs to outputs: every student matches.

A path leads through the values of the program; a function that is not 0 at 0 begins one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.records import Record, read_form
from algebra.checker.verdicts import MAXIMAL
from algebra.networks.base import Network, Support
from algebra.networks.masks import held
from algebra.problems.problem import Problem
from algebra.programs.evaluate import evaluate
from algebra.programs.paths import Paths, existing


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
    if verdict != MAXIMAL or equations != 0 or rank != 0:
        raise CheckFailed("verdict", "labels that are always 0 make every student match")
    place = "evidence.labels_vanish"
    reached = outputs_reached(problem.network, problem.support)
    if reached.any():
        outputs = np.flatnonzero(reached).tolist()
        raise CheckFailed(place, f"outputs {outputs} are reached: they are not always 0")
    say(place, PROVED, "no path leads to an output from a value that is not 0: every label is 0")
    say("verdict", PROVED, "each student matches")


def outputs_reached(network: Network, support: Support) -> np.ndarray:
    """The outputs to which a path leads from a value that is not 0.

    Returns
    -------
    ndarray of bool, shape (d,)
    """
    program = network.program()
    masks = {name: held(support, name) for name in network.shapes}
    arithmetic, blocks = Paths(network.vanishes_at_zero), existing(program, masks)
    found = evaluate(program, arithmetic, blocks)[program.output]
    return np.asarray(found.reshape(network.d, -1).any(axis=1))
