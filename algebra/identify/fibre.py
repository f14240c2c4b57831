r"""The weights that data determine locally: the kernel of the allocation's Jacobian.

Let f be the map from the learnable weights θ to the labels, at generic fixed weights and
samples, J_A its Jacobian and ρ_A its generic rank.

**Theorem.** Near a generic solution θ the solutions form a manifold, the *fibre*, of
dimension r − ρ_A.  The weight θ_c has one and the same value on it if and only if the kernel
of J_A vanishes at c, that is if c is a *coloop* of the matroid of J_A's columns: it lies in
every basis, and leaving it out lowers the rank.

*Proof.* The rank of J_A is ρ_A on an open dense set of (weights, samples), so by the constant
rank theorem the fibre through a generic point is a manifold whose tangent space at each of
its points nearby is the kernel of J_A there.  "Some kernel vector has c-th entry ≠ 0" holds
on an open dense set or nowhere.  Where it holds the fibre moves in direction c; where it
does not, θ_c has derivative 0 along the fibre everywhere nearby, so it is constant.  The
entry c of the kernel vanishes iff e_c is in the row space, iff column c is no combination
of the others. ∎

Free weights fall into *groups* that can be traded against each other: the connected
components of the matroid (two cells are in one if some circuit holds both).  Changing one
weight of a group, the others of its group can make up for it; no other group moves.

**What is proved.** Modulo p at a random point.  A cell that some dependence holds there, where
the rank is ρ_A (a proved lower bound that meets its upper bound), is free: leaving it out keeps
the rank.  That a cell is *not* free can be bad luck of the point, with probability at most that
of a rank deficit (`algebra.ranks.generic_rank.deficit_error`), so points are repeated; where
r = ρ_A there is no kernel at all, and every cell is determined, proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.modular import Residues, kernel, random_points
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell
from algebra.ranks.generic_rank import (
    RARE,
    TARGET_ERROR,
    GenericRank,
    allocation_rank,
    deficit_error,
    prime_bits,
)
from algebra.ranks.jacobian import columns_at, random_point


@dataclass(frozen=True)
class Fibre:
    """The solutions near a generic one.

    Attributes
    ----------
    rank : GenericRank
        ρ_A.
    size : int
        r, the number of learnable weights.
    determined : tuple of cells
        Weights with the same value at all solutions nearby.
    groups : tuple of tuples of cells
        Free weights, those that can make up for each other together.
    error : Fraction
        Bound on the probability that a weight called determined is free.
    """

    rank: GenericRank
    size: int
    determined: tuple[Cell, ...]
    groups: tuple[tuple[Cell, ...], ...]
    error: Fraction

    @property
    def dimension(self) -> int:
        """Dimension r − ρ_A of the fibre; 0 where matches are isolated."""
        return self.size - self.rank.rank

    @property
    def free(self) -> tuple[Cell, ...]:
        """Weights that can change while the labels stay."""
        return tuple(sorted(cell for group in self.groups for cell in group))


def fibre(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
) -> Fibre:
    """The fibre of an allocation: which weights are determined locally.

    Parameters
    ----------
    allocation : Allocation
        Of a linear network.
    support : mapping of str to mask, optional
    seed : int, optional

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> found = fibre(Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]]))
    >>> found.dimension, found.determined, found.free
    (1, (('W', 1, 0),), (('W', 0, 0), ('W', 0, 1), ('W', 0, 2)))
    """
    cells = list(allocation.cells)
    own = allocation_rank(allocation, support, seed=seed)

    def rows_at(p: int, number: int) -> Residues:
        point = random_point(allocation.network, p, number, support)
        return columns_at(allocation.network, point, cells)

    return fibre_of_rows(allocation.network, cells, own, rows_at, f"fibre/{seed}")


def fibre_of_rows(
    network: Network,
    cells: Sequence[Cell],
    own: GenericRank,
    rows_at: Callable[[int, int], Residues],
    stream: str,
) -> Fibre:
    """The fibre of any numbers that depend on some weights.

    Parameters
    ----------
    network : Network
        Whose derivatives the rows are.
    cells : sequence of cells
        The weights.
    own : GenericRank
        Of the rows.
    rows_at : callable
        The derivatives at a point, of a prime and the point's number: one row a number, one
        column a weight.
    stream : str
        Random points follow from it.
    """
    bound = max(own.rank, 1)
    bits = prime_bits(network, bound, below=RARE / max(1, len(cells)))
    missed = deficit_error(network, bound, bits=bits)

    def moves_at(p: int, number: int) -> tuple[int, Residues]:
        moves = kernel(rows_at(p, number), p)
        return len(cells) - len(moves), moves

    return fibre_of_moves(tuple(cells), own, len(cells), moves_at, missed, stream, bits)


def fibre_of_moves(
    cells: tuple[Cell, ...],
    own: GenericRank,
    size: int,
    moves_at: Callable[[int, int], tuple[int, Residues]],
    missed: Fraction,
    stream: str,
    bits: int = 31,
) -> Fibre:
    """The fibre from the moves of weights along it, at as many random points as it needs.

    Parameters
    ----------
    cells : tuple of cells
        The weights.
    own : GenericRank
    size : int
        Number of learnable parameters.
    moves_at : callable
        Of a prime and a point's number: the rank there, and a basis of the moves in reduced
        echelon form (up to the order of columns), one per row.
    missed : Fraction
        Bound on the probability that one move is missed at a point.
    stream : str
        Random points follow from it.
    bits : int, optional
        Of the primes: `algebra.ranks.generic_rank.prime_bits`.
    """
    if own.rank == size:
        return Fibre(own, size, cells, (), Fraction(0))
    # The component that each cell is known to be in, by its smallest number.
    part = np.arange(len(cells))
    moved = np.zeros(len(cells), bool)
    missed, error = missed * len(cells), Fraction(1)
    if missed >= 1:
        raise Unfinished(
            f"which of {len(cells)} weights are free cannot be bounded modulo primes below 2^61: "
            "fewer steps, fewer learnable weights, or an activation of lower degree"
        )
    points = random_points(stream, bits)
    while error >= TARGET_ERROR:
        found, moves = moves_at(*next(points))
        if found < own.rank:
            continue
        before = part.copy(), moved.copy()
        for row in moves != 0:
            moved |= row
            joined = np.unique(part[row])
            part[np.isin(part, joined)] = joined[0]
        # A new dependence shows that the points so far were unlucky ones: they do not count.
        grown = (before[0] != part).any() or (before[1] != moved).any()
        error = missed if grown else error * missed
    groups: dict[int, list[Cell]] = {}
    for k in np.flatnonzero(moved):
        groups.setdefault(int(part[k]), []).append(cells[k])
    determined = tuple(cells[k] for k in np.flatnonzero(~moved))
    free = tuple(tuple(group) for group in groups.values())
    return Fibre(own, size, determined, free, min(error, Fraction(1)) + own.error)
