"""Ranks that a file gives with a prime and a point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from algebra.checker.fields import whole
from algebra.checker.records import (
    Context,
    Converted,
    Counts,
    PrimeAndPoint,
    Record,
    for_each_matrix,
    rows,
)
from algebra.declarations import Count, named_key

# Residues modulo the prime of a point.
Rows = list[list[int]]


def _read_residue(value: Any, place: str, context: Context) -> int:
    return whole(value, place, 0, context["witness"][0] - 1)


_Residue = Annotated[int, Converted(Count, _read_residue, int)]
_WEIGHTS = for_each_matrix(rows(lambda context: context["shape"], _Residue))


@dataclass(frozen=True)
class WitnessPoint(Record):
    """The weights and samples of a point modulo the prime of the table around it."""

    weights: Annotated[Mapping[str, Rows], _WEIGHTS]
    X: Annotated[Rows, rows(lambda context: context["network"].input_shape, _Residue)]


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
    """

    rank: Count
    upper_bound: Count
    proved: bool
    witness: PrimeAndPoint
    points: tuple[Counts, ...]
    witness_point: WitnessPoint | None = None
    place: str = field(default="", metadata=named_key(None))

    @property
    def p(self) -> int:
        """The prime of the point."""
        return self.witness[0]
