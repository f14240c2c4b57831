"""A generic rank at new points, by a check's own code where matrices are small.

The whole Jacobian is computed at each point and eliminated here; nothing is projected or left out,
as `algebra.ranks.generic_rank` does, which serves for large matrices.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from algebra.linalg.ranks import batched_rank, modular_rank
from algebra.networks.base import Network, Point, Support
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell
from algebra.problems.laws.pinned import pinned_bits, prime_for
from algebra.ranks.deficits import rank_by_odds
from algebra.ranks.jacobian import (
    at_enough_samples,
    enough_samples,
    is_in_parts,
    jacobian,
    random_point,
    tangent_factors,
)

# Matrices with at most this many rows are ranked by the check's own elimination.
_OWN_ROWS = 128
# Entries of a Jacobian up to which it is ranked here.
_SMALL = 20_000


def rank_again(
    network: Network, cells: Sequence[Cell], support: Support, upper: int | None, seed: int
) -> tuple[int, Fraction]:
    """The largest rank of some columns at new points, and the bound of its error.

    Parameters
    ----------
    network : Network
    cells : sequence of cells
    support : mapping of str to mask
        A student's with its exact numbers.
    upper : int or None
        A known upper bound.
    seed : int
        Primes and points follow from it.
    """
    known = jacobian_of(network)
    if _is_large(network, cells):
        from algebra.ranks.generic_rank import generic_rank

        found = generic_rank(network, cells, support=support, upper=upper, seed=seed)
        return found.rank, found.error
    bound = min(len(cells), known.label_dimension_bound, *([] if upper is None else [upper]))
    rng = random.Random(f"again/{seed}")
    more = known.entry_bound.degree * pinned_bits(support)

    def rank_at(bits: int) -> int:
        p, number = prime_for(support, rng, bits), rng.randrange(1 << 32)
        return _rank_at(network, random_point(network, p, number, support), cells)

    return rank_by_odds(known, bound, more, rank_at)


def rank_there(network: Network, point: Point, cells: Sequence[Cell], bound: int) -> int:
    """The rank of some columns at a point, or a lower bound of it that meets `bound` as surely."""
    if _is_large(network, cells):
        from algebra.ranks.generic_rank import rank_at

        return rank_at(network, point, cells, sorted({cell[0] for cell in cells}), bound)
    return _rank_at(network, point, cells)


def _is_large(network: Network, cells: Sequence[Cell]) -> bool:
    """Whether a Jacobian is too large to be ranked as it is."""
    fewer = enough_samples(network, len(cells))
    return is_in_parts(network) or fewer.outputs * len(cells) > _SMALL


def _rank_at(network: Network, point: Point, cells: Sequence[Cell]) -> int:
    if not cells:
        return 0
    network, point = at_enough_samples(network, point, len(cells))
    factors = tangent_factors(network, point, sorted({cell[0] for cell in cells}))
    return own_rank(jacobian(factors, cells, point.p), point.p)


def own_rank(matrix: np.ndarray, p: int) -> int:
    """Rank modulo p, for matrices that are not too large by the check's own elimination."""
    if matrix.shape[0] <= _OWN_ROWS:
        return int(batched_rank(matrix[None], p)[0])
    return modular_rank(matrix, p)
