r"""Proof by a regular minor in balls that a fibre found with formal values is the generic one.

For erf, and for leaks that are dependent over Q, the formal rank of a set of weights is only an
upper bound of its generic rank (`algebra.arguments.formal_ranks`).

**Theorem.** Let ρ be the formal rank of all weights, M a ρ×ρ minor with columns B that is not 0 at
some point, and G a graph of pairs (c, e), c in B and e outside, with (M⁻¹ J)[c, e] ≠ 0 there.  Then
the generic rank is ρ.  If the components of G that hold a weight outside B are the formal groups of
free weights, then these are the generic groups, and all other weights are determined.

*Proof.*  A minor that is not 0 at a point is not 0 generically, and ρ is an upper bound.  With
(c, e) in G, B − c + e is a basis as well (Cramer's rule), so c and e lie in one circuit: components
of G lie within groups.  Let S be a formal group, or one weight that is formally determined, and S'
the rest.  The formal matroid is the direct sum of both: their formal ranks add up to ρ.  So their
generic ranks add up to ρ at most, and to no less because all weights have rank ρ.  So each generic
rank equals the formal one, and generic groups lie within formal groups.  A weight outside B is
free, because B is a basis without it.  A weight that is formally determined has formal rank 1,
hence generic rank 1, and is a group of its own: it is determined. ∎
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.questions.identify.fibre import Fibre
from algebra.ranks.minors import exchanges, minor_in_time


def proves_fibre(
    network: Network,
    cells: Sequence[Cell],
    support: Mapping[str, np.ndarray],
    found: Fibre,
    seed: int,
) -> bool:
    """Whether balls prove that the fibre of these weights is the generic one.

    Parameters
    ----------
    network : Network
    cells : sequence of cells
        The learnable weights.
    support : mapping of str to mask
    found : Fibre
        The fibre with formal values.
    seed : int
    """
    rank = found.rank.rank
    if not rank:
        return True
    minor = minor_in_time(network, cells, rank, support, seed)
    if minor is None or not found.groups:
        return minor is not None
    basis = set(minor.columns)
    others = [cell for cell in cells if cell not in basis]
    edges = exchanges(network, minor, others, support)
    if edges is None:
        return False
    group = {cell: {cell} for cell in cells}
    for k, e in np.argwhere(edges).tolist():
        joined = group[minor.columns[k]] | group[others[e]]
        for cell in joined:
            group[cell] = joined
    free = {frozenset(group[e]) for e in others}
    return free == set(map(frozenset, found.groups))
