r"""The weights that data determine locally: the kernel of the allocation's Jacobian.

Let f be the map from the learnable weights θ to the labels, at generic fixed weights and
samples, J_A its Jacobian and ρ_A its generic rank.

**Theorem.** Near a generic solution θ the solutions form a manifold, the *fibre*, of dimension r −
ρ_A.  The weight θ_c is constant on it if and only if the kernel of J_A vanishes at c, that is if c
is a *coloop* of the matroid of J_A's columns: it lies in every basis, and deleting it lowers the
rank.

*Proof.* The rank of J_A is ρ_A on an open dense set of (weights, samples), so by the constant
rank theorem the fibre through a generic point is a manifold whose tangent space at each of
its points nearby is the kernel of J_A there.  "Some kernel vector has c-th entry ≠ 0" holds
on an open dense set or nowhere.  Where it holds the fibre moves in direction c; where it
does not, θ_c has derivative 0 along the fibre everywhere nearby, so it is constant.  The
entry c of the kernel vanishes iff e_c is in the row space, iff column c is no combination
of the others. ∎

Free weights fall into *groups* that can compensate for each other: the connected components of the
matroid (two cells are in one if some circuit contains both).  A change of one weight of a group can
be compensated by the others of its group; no other group changes.

**Proof modulo p** at a random point.  A cell that some dependence contains there, if the rank is
ρ_A (a proved lower bound that equals its upper bound), is free: deleting it preserves the rank.
That a cell is *not* free may be due to an unlucky point, with probability at most that of a rank
deficit (`algebra.ranks.deficits.deficit_error`), so points are repeated; if r = ρ_A there is no
kernel at all, and every cell is determined, proved; if all cells are free and in one
group, one point proves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.echelon import modular_kernel
from algebra.linalg.primes import random_points
from algebra.linalg.residues import Residues
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Allocation, Cell
from algebra.questions.identify.effects import have_effect
from algebra.ranks.deficits import RARE, TARGET_ERROR, deficit_error, prime_bits
from algebra.ranks.few_samples import span_of_labels
from algebra.ranks.generic_rank import GenericRank, allocation_rank
from algebra.ranks.jacobian import columns_at, is_in_parts, random_point
from algebra.time_limits import OutOfTime


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
        Groups of free weights that can compensate for each other.
    error : Fraction
        Bound on the probability that a weight called determined is free.
    parameters : Fibre or None
        The same of the parameters of updates, if each weight is moved by one of them.
    """

    rank: GenericRank
    size: int
    determined: tuple[Cell, ...]
    groups: tuple[tuple[Cell, ...], ...]
    error: Fraction
    parameters: Fibre | None = None

    @property
    def dimension(self) -> int:
        """Dimension r − ρ_A of the fibre; 0 if matches are isolated."""
        return self.size - self.rank.rank

    @property
    def free(self) -> tuple[Cell, ...]:
        """Weights that can change while the labels do not."""
        return tuple(sorted(cell for group in self.groups for cell in group))


def fibre(
    allocation: Allocation,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    seed: int = 0,
) -> Fibre:
    """The fibre of an allocation: the weights that are determined locally.

    Parameters
    ----------
    allocation : Allocation
        An allocation of a linear network.
    support : mapping of str to mask, optional
    seed : int, optional

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> net = LinearEstimator(q=3, d=2, m=2)
    >>> found = fibre(Allocation.from_masks(net, W=[[1, 1, 1], [1, 0, 0]]))
    >>> found.dimension, found.determined, found.free
    (1, (('W', 1, 0),), (('W', 0, 0), ('W', 0, 1), ('W', 0, 2)))
    """
    cells = list(allocation.cells)
    effective = have_effect(allocation.network, cells, support)
    own = allocation_rank(allocation, support, int(effective.sum()), seed)

    def rows_at(p: int, number: int) -> Residues:
        point = random_point(allocation.network, p, number, support)
        if is_in_parts(allocation.network):
            return span_of_labels(allocation.network, point, cells, own.rank).rows
        return columns_at(allocation.network, point, cells)

    return fibre_of_rows(allocation.network, cells, own, rows_at, f"fibre/{seed}", effective)


def fibre_of_rows(
    network: Network,
    cells: Sequence[Cell],
    own: GenericRank,
    rows_at: Callable[[int, int], Residues],
    stream: str,
    effective: np.ndarray | None = None,
) -> Fibre:
    """The fibre of given numbers that depend on some weights.

    Parameters
    ----------
    network : Network
        The network whose derivatives the rows are.
    cells : sequence of cells
        The weights.
    own : GenericRank
        Generic rank of the rows.
    rows_at : callable
        Maps a prime and a point's number to the derivatives: one row for each number, one column
        for each weight.
    stream : str
        It determines the random points.
    effective : ndarray of bool, optional
        As of `fibre_of_moves`.
    """
    bound = max(own.rank, 1)
    bits = prime_bits(jacobian_of(network), bound, below=RARE / max(1, len(cells)))
    missed = deficit_error(jacobian_of(network), bound, bits=bits)

    def moves_at(p: int, number: int) -> tuple[int, Residues]:
        moves = modular_kernel(rows_at(p, number), p)
        return len(cells) - len(moves), moves

    return fibre_of_moves(
        tuple(cells), own, len(cells), moves_at, missed, stream, bits, effective
    )  # fmt: skip


def fibre_of_moves(
    cells: tuple[Cell, ...],
    own: GenericRank,
    size: int,
    moves_at: Callable[[int, int], tuple[int, Residues]],
    missed: Fraction,
    stream: str,
    bits: int = 31,
    effective: np.ndarray | None = None,
) -> Fibre:
    """The fibre from the directions of weights along it, at as many random points as needed.

    Parameters
    ----------
    cells : tuple of cells
        The weights.
    own : GenericRank
    size : int
        Number of learnable parameters.
    moves_at : callable
        Maps a prime and a point's number to the rank there, and a basis of the directions in
        reduced echelon form (up to the order of columns), one per row.
    missed : Fraction
        Bound on the probability that a direction is missed at a point.
    stream : str
        It determines the random points.
    bits : int, optional
        Bits of the primes: `algebra.ranks.deficits.prime_bits`.
    effective : ndarray of bool, optional
        Which weights may have an effect (`algebra.questions.identify.effects`), if directions are
        those of single weights: a rank of their number leaves exactly the others free.

    Raises
    ------
    OutOfTime
        Before one point is done; later the error is that of the points so far.
    """
    if own.rank == size:
        return Fibre(own, size, cells, (), Fraction(0))
    if effective is not None and own.rank == effective.sum():
        known, idle = np.flatnonzero(effective), np.flatnonzero(~effective)
        return Fibre(
            own, size, tuple(cells[k] for k in known), tuple((cells[k],) for k in idle), own.error
        )
    # The component of each cell so far, by its smallest number.
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
        try:
            found, moves = moves_at(*next(points))
        except OutOfTime as over:
            if error < 1:
                break
            raise OutOfTime(
                f"{over}; the rank is {own.rank}: matches form a family of dimension "
                f"{size - own.rank}, and the free weights were not found in time"
            ) from None
        if found < own.rank:
            continue
        before = part.copy(), moved.copy()
        for row in moves != 0:
            moved |= row
            joined = np.unique(part[row])
            part[np.isin(part, joined)] = joined[0]
        # A new dependence shows that the points so far were unlucky: they do not count.
        grown = (before[0] != part).any() or (before[1] != moved).any()
        error = missed if grown else error * missed
        if moved.all() and not part.any():
            # All are free, in one group: no further point can change that.
            error = Fraction(0)
    groups: dict[int, list[Cell]] = {}
    for k in np.flatnonzero(moved):
        groups.setdefault(int(part[k]), []).append(cells[k])
    determined = tuple(cells[k] for k in np.flatnonzero(~moved))
    free = tuple(tuple(group) for group in groups.values())
    return Fibre(own, size, determined, free, min(error, Fraction(1)) + own.error)
