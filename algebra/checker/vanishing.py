"""Structural zeros that leave no path from inputs to outputs: every student matches.

For every network whose labels are 0 without paths: linear, or ReLU without shifts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.records import Record, read_form
from algebra.checker.verdicts import MAXIMAL
from algebra.networks.base import Network
from algebra.problems.problem import Problem


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
    place, network = "evidence.labels_vanish", problem.network
    alive = network.alive_outputs(problem.support)
    if alive is None:
        reached = inputs_that_reach(network, problem.support)
        if reached.any():
            raise CheckFailed(place, f"{int(reached.sum())} inputs reach the outputs")
    elif alive:
        raise CheckFailed(place, f"outputs {sorted(alive)} are not always 0")
    say(place, PROVED, "no path leads to an output from a value that is not 0: every label is 0")
    say("verdict", PROVED, "each student matches")


def inputs_that_reach(network: Network, support: Mapping[str, np.ndarray]) -> np.ndarray:
    """The inputs from which a path leads to some output, found by backward search.

    Returns
    -------
    ndarray of bool
        One for each column of the first matrix.
    """
    last, *others = network.shapes
    chain = network.chain()
    reached = mask_of(network, support, last).any(axis=0)
    for name in others:
        mask, step = mask_of(network, support, name), reached
        reached = step = mask[step].any(axis=0)
        # The recurrent matrix acts between 1 and T times.
        for _ in range(len(chain.steps) - 1 if chain and name == chain.recurrent else 0):
            step = mask[step].any(axis=0)
            reached = reached | step
    return np.asarray(reached)


def mask_of(network: Network, support: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Which weights of a matrix exist."""
    return np.asarray(support.get(name, np.ones(network.shapes[name]))) != 0
