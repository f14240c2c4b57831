"""Structural zeros that leave no path from inputs to outputs: every student matches.

A path leads through the values of the program; a function that is not 0 at 0 begins one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from algebra.checker.checks import PROVED, CheckFailed, Say
from algebra.checker.records import Record, read_form
from algebra.checker.verdicts import MAXIMAL
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Network, Support
from algebra.networks.masks import held
from algebra.problems.problem import Problem
from algebra.programs.arrays import Array, EntryArithmetic, placed
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node


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


class Paths(EntryArithmetic):
    """Whether paths lead to entries: 1, or 0 for none, so that the numbers of terms are not."""

    def __init__(self, vanishes: Callable[[Node], bool]) -> None:
        super().__init__(number=lambda numerator, _: int(numerator != 0))
        self.vanishes = vanishes

    def reduced(self, a: Array) -> Array:
        return np.minimum(a, 1)

    def sum_of_products(self, factors: list[tuple[str, Any]], result: str) -> Array:
        return np.minimum(super().sum_of_products(factors, result), 1)

    def scale(self, node: Node, a: Array, factor: Fraction) -> Array:
        return a if factor else a * 0

    def apply(self, node: Node, name: str, a: Array) -> Array:
        return a if self.vanishes(node) else a * 0 + 1

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        return np.maximum(positive, other)

    def reciprocals(self, node: Node, a: Array) -> Array:
        return a * 0 + 1

    def root(self, node: Node, a: Array) -> Array:
        return a


def outputs_reached(network: Network, support: Support) -> np.ndarray:
    """The outputs to which a path leads from a value that is not 0.

    Terms are counted as if none cancelled another one: of the program, in which every weight that
    exists and every input is 1.

    Returns
    -------
    ndarray of bool, shape (d,)
    """
    program = network.program()
    weights: dict[str, Any] = {}
    for name, shape in program.weights.items():
        mask = held(support, name)
        if isinstance(mask, SparseMatrix):
            weights[name] = mask.with_values((mask.values != 0).astype(np.int64))
        else:
            exists = np.ones(shape) if mask is None else np.asarray(mask) != 0
            weights[name] = exists.astype(np.int64).reshape(shape)
    ones = {name: np.ones((*shape, 1), np.int64) for name, shape in program.samples.items()}
    found = evaluate(program, Paths(network.vanishes_at_zero), placed(program, weights, ones))
    return np.asarray(found[program.output].reshape(network.d, -1).any(axis=1))
