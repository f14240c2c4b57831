"""Hidden units renamed: one allocation stands for all that differ by the order of hidden units.

A permutation of the hidden units (of a hidden layer; for a recurrent net in rows and columns alike)
permutes rows and columns of the weights and changes no label: the labels of renamed weights are
those of the weights.  So an instance and its image under a renaming have the same solutions but for
their order, whatever the laws are, and the same ranks and root count N.  Here each allocation is
mapped to the *first* one that renamings reach, so that what is computed for an allocation before
any instance (plans, start systems) is computed once for its orbit.

Only units that index a learnable cell are moved, to the first places.  They are sorted by the
numbers of their learnable cells; only ties are tried in every order.  If there are too many of
these, two allocations of one orbit may have different images, which costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, permutations, product
from math import factorial, prod
from typing import Any

import numpy as np

from algebra.networks.base import Axis
from algebra.networks.protocols import HasUnits
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.problems.reduction import DRAWN, Matrices, Reduction, covering

# Orders that are tried.
_MOST_ORDERS = 5_000
_HIDDEN = "hidden"


@dataclass(frozen=True)
class Renamed(Reduction):
    """A problem whose hidden units are renamed.

    Attributes
    ----------
    original : Problem
    orders : tuple of (Axis, tuple of int)
        For hidden units of an axis the old name of each new one.
    """

    premises = covering(
        "renamed hidden units",
        DRAWN | {Feature.SIGNS},
        "renamed weights have the same labels",
    )

    orders: tuple[tuple[Axis, tuple[int, ...]], ...]

    @classmethod
    def accepts(cls, problem: Problem) -> bool:
        """Whether allocations of a chain are drawn, with the same law for all units."""
        is_chain = problem.network.chain() is not None
        return problem.is_random and is_chain and super().accepts(problem)

    @property
    def problem(self) -> Problem:
        """The original problem, which draws its allocations."""
        return self.original

    def _places(self, name: str) -> list[np.ndarray]:
        """Old rows and columns of the new ones of a matrix."""
        found = [np.arange(size) for size in self.original.network.shapes[name]]
        for axis, order in self.orders:
            for matrix, side in axis.places:
                if matrix == name:
                    found[side] = np.array(order)
        return found

    def cell(self, cell: Cell) -> Cell:
        """The new row and column of a weight."""
        name, i, j = cell
        rows, columns = (own.tolist() for own in self._places(name))
        return name, rows.index(i), columns.index(j)

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        return {name: value[np.ix_(*self._places(name))] for name, value in weights.items()}


def renamed(problem: Problem, allocation: Allocation) -> Renamed:
    """The renaming that maps an allocation to the first one of its orbit.

    Parameters
    ----------
    problem : Problem
    allocation : Allocation

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=4, T=2, b=1, d=1, m=2)
    >>> for cells in ([("W", 3, 1), ("W", 3, 3)], [("W", 0, 2), ("W", 0, 0)]):
    ...     own = Allocation.from_cells(net, cells)
    ...     renamed(Problem.of(own), own).allocation(own)
    Allocation(W[0,0] W[0,1])
    Allocation(W[0,0] W[0,1])
    """
    network = allocation.network
    assert isinstance(network, HasUnits)
    axes = [axis for axis in network.axes() if axis.name.startswith(_HIDDEN)]
    choices = [_orders(axis, allocation.masks) for axis in axes]
    if prod(len(some) for some in choices) > _MOST_ORDERS:
        choices = [some[:1] for some in choices]
    candidates = [
        Renamed(problem, tuple(zip(axes, chosen, strict=True))) for chosen in product(*choices)
    ]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda one: one.allocation(allocation).cells)


def _orders(axis: Axis, masks: Mapping[str, np.ndarray]) -> list[tuple[int, ...]]:
    """Orders of the units of an axis that may give the first allocation."""
    counts = {
        unit: tuple(-int(np.take(masks[name], unit, axis=side).sum()) for name, side in axis.places
                    if name in masks)
        + tuple(-int(masks[name][unit, unit]) for name, side in axis.places
                if side and name in masks and (name, 0) in axis.places)
        for unit in range(axis.size)
    }  # fmt: skip
    used = sorted((u for u in counts if any(counts[u])), key=lambda u: counts[u])
    rest = [u for u in counts if not any(counts[u])]
    ties = [list(group) for _, group in groupby(used, key=lambda u: counts[u])]
    if prod(factorial(len(tie)) for tie in ties) > _MOST_ORDERS:
        return [(*used, *rest)]
    return [
        (*(u for part in parts for u in part), *rest)
        for parts in product(*(permutations(tie) for tie in ties))
    ]
