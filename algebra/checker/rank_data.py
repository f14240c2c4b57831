"""A rank in a file with the prime and the point of its witness, checked there and at new points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from algebra.checker.checks import CheckFailed
from algebra.checker.new_points import rank_there
from algebra.checker.records import PrimeAndPoint, Record
from algebra.declarations import Count, named_key
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Cell
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.jacobian import random_point


@dataclass(frozen=True, kw_only=True)
class RankData(Record):
    """A rank with its upper bound, and the prime and the point of its witness.

    Attributes
    ----------
    rank : int
    upper : int or None
        None if the format has none.
    witness : (int, int)
    place : str
        Place of the claim in the file.
    """

    rank: Count
    upper: Count | None = None
    witness: PrimeAndPoint
    place: str = field(default="", metadata=named_key(None))

    @classmethod
    def of(cls, found: GenericRank) -> RankData:
        """A generic rank."""
        return cls(rank=found.rank, upper=found.upper, witness=(found.p, found.seed))

    def checked(
        self, network: Network, support: Support, cells: Sequence[Cell], again: GenericRank
    ) -> int:
        """Check the rank against a recomputed one and at its own point; return the prime.

        Parameters
        ----------
        network : Network
        support : mapping of str to mask
        cells : sequence of cells
        again : GenericRank
            The rank of these cells, computed at other points.

        Raises
        ------
        CheckFailed
        """
        rank, (p, number) = self.rank, self.witness
        if rank != again.rank:
            raise CheckFailed(f"{self.place}.rank", f"says {rank}; a new point shows {again.rank}")
        if self.upper not in (None, again.upper):
            text = f"says {self.upper}; the bound is {again.upper}"
            raise CheckFailed(f"{self.place}.upper", text)
        there = rank_there(network, random_point(network, p, number, support), cells, again.upper)
        if there != rank:
            text = f"the rank at this point is {there}, not {rank}"
            raise CheckFailed(f"{self.place}.witness", text)
        return p
