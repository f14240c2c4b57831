"""Ranks that a file gives with a prime and a point, computed again at that point."""

from __future__ import annotations

from collections.abc import Sequence

from algebra.certificates.checks import CheckFailed
from algebra.certificates.fields import Fields, prime_and_point
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Cell
from algebra.ranks.generic_rank import GenericRank, rank_at
from algebra.ranks.jacobian import random_point


def rank_data(found: GenericRank) -> dict[str, object]:
    """A rank as plain data: with its upper bound, and the prime and the point of its witness."""
    return {"rank": found.rank, "upper": found.upper, "witness": [found.p, found.seed]}


def check_rank_data(
    fields: Fields, network: Network, support: Support, cells: Sequence[Cell], again: GenericRank
) -> int:
    """Check a rank against a recomputed one and at its own point; return the prime.

    Parameters
    ----------
    fields : Fields
        As written by `rank_data`; the upper bound may be missing if the format has none.
    network : Network
    support : mapping of str to mask
    cells : sequence of cells
    again : GenericRank
        The rank of these cells, computed at other points.

    Raises
    ------
    CheckFailed
    """
    rank = fields.whole("rank", 0)
    upper = fields.whole("upper", 0) if fields.has("upper") else again.upper
    p, number = prime_and_point(fields)
    fields.finish()
    if rank != again.rank:
        raise CheckFailed(fields.at("rank"), f"says {rank}; a new point shows {again.rank}")
    if upper != again.upper:
        raise CheckFailed(fields.at("upper"), f"says {upper}; the bound is {again.upper}")
    names = sorted({cell[0] for cell in cells})
    there = rank_at(network, random_point(network, p, number, support), cells, names, again.upper)
    if there != rank:
        raise CheckFailed(fields.at("witness"), f"the rank at this point is {there}, not {rank}")
    return p
