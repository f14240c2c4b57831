"""Ranks that a file gives with a prime and a point, computed again at that point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from flint import fmpq

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import RefusedAt, whole
from algebra.checker.records import (
    Context,
    Converted,
    Counts,
    PrimeAndPoint,
    Record,
    matrices,
    matrix,
)
from algebra.declarations import Count, named_key
from algebra.networks.base import Point
from algebra.problems.allocation import Cell
from algebra.problems.laws.pinned import pins, residue
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import random_point

Matrices = Mapping[str, np.ndarray]


def _read_residue(value: Any, place: str, context: Context) -> int:
    return whole(value, place, 0, context["witness"][0] - 1)


_Residue = Annotated[int, Converted(Count, _read_residue, int)]


@dataclass(frozen=True)
class WitnessPoint(Record):
    """The weights and samples of a point modulo the prime of the table around it."""

    weights: Annotated[Matrices, matrices(_Residue)]
    X: Annotated[np.ndarray, matrix(lambda context: context["network"].input_shape, _Residue)]


@dataclass(frozen=True)
class RankClaim(Record):
    """A claimed generic rank and the point at which it is attained.

    Attributes
    ----------
    rank, upper_bound : int
    proved : bool
        Whether the rank is claimed to equal its upper bound.
    witness : (int, int)
        Prime and number of the point.
    points : tuple of tuples of int
        The points that were tried.
    witness_point : WitnessPoint or None
        None if the point is the random one of its number.
    place : str
        Place of the claim in the file.
    network : Network
    support : mapping of str to mask
        With which the random point is drawn.
    """

    rank: Count
    upper_bound: Count
    proved: bool
    witness: PrimeAndPoint
    points: tuple[Counts, ...]
    witness_point: WitnessPoint | None = None
    place: str = field(default="", metadata=named_key(None))
    network: Any = field(default=None, metadata=named_key(None))
    support: Any = field(default=None, metadata=named_key(None))

    @cached_property
    def point(self) -> Point:
        """The witness."""
        (p, number), given = self.witness, self.witness_point
        if given is None:
            return random_point(self.network, p, number, self.support)
        weights = {name: value.astype(np.int64) for name, value in given.weights.items()}
        return Point(p, number, weights, given.X.astype(np.int64))

    def check(self, place: str, context: Context) -> None:
        """The point must have the structural zeros and the exact numbers of the problem."""
        p = self.witness[0]
        with RefusedAt(f"{place}.witness"):
            numbers = {
                cell: residue(p)(rational(value)) for cell, value in pins(self.support).items()
            }
        if self.witness_point is not None:
            weights, at = self.witness_point.weights, f"{place}.witness_point.weights"
            need_support(weights, context["problem"], at)
            need_numbers(weights, numbers, at)


def need_numbers(matrices: Matrices, numbers: Mapping[Cell, Any], place: str) -> None:
    """Weights with exact numbers must have these.

    Raises
    ------
    CheckFailed
    """
    for (name, i, j), value in numbers.items():
        if matrices[name][i, j] != value:
            raise CheckFailed(f"{place}.{name}[{i}][{j}]", f"is not {value}, as in [values]")


def need_support(matrices: Matrices, problem: Problem, place: str) -> None:
    """Weights that do not exist must be 0.

    Raises
    ------
    CheckFailed
    """
    for name, mask in problem.support.items():
        if any(v != 0 for v in matrices[name][np.asarray(mask) == 0]):
            raise CheckFailed(f"{place}.{name}", f"is not 0 outside support.{name}")


def rational(value: Fraction) -> fmpq:
    """The same number for FLINT."""
    return fmpq(value.numerator, value.denominator)
