"""The problem: a least-cost basis of a linear matroid under caps; bounds and their proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from algebra.matroids.linear import LinearMatroid

# For one kind of cap: the line of each element, and the cap of each line.
System = tuple[Sequence[int], Sequence[int]]


class CappedProblem(NamedTuple):
    """A least-cost set of `size` independent columns that keeps every kind of cap.

    Attributes
    ----------
    columns : ndarray of int64, shape (·, E)
        Residues modulo p.
    p : int
        A prime below 2^31.
    systems : sequence of (groups, caps)
    costs : sequence of int, length E
        Integers of any size.
    size : int
    """

    columns: np.ndarray
    p: int
    systems: Sequence[System]
    costs: Sequence[int]
    size: int

    @property
    def matroid(self) -> LinearMatroid:
        """The matroid of the columns."""
        return LinearMatroid(self.columns, self.p)

    @property
    def floor(self) -> int:
        """A lower bound of the cost of any `size` elements."""
        return sum(sorted(map(int, self.costs))[: self.size])

    def inside(self, elements: Sequence[int] | np.ndarray) -> CappedProblem:
        """The problem restricted to some of the elements, which are renumbered."""
        chosen = [int(e) for e in elements]
        systems = [([group[e] for e in chosen], caps) for group, caps in self.systems]
        costs = [self.costs[e] for e in chosen]
        return CappedProblem(self.columns[:, chosen], self.p, systems, costs, self.size)

    def keeps_caps(self, elements: Sequence[int]) -> bool:
        """Whether no line holds more of a set than its cap."""
        for group, caps in self.systems:
            used = [0] * len(caps)
            for e in elements:
                used[group[e]] += 1
            if any(u > cap for u, cap in zip(used, caps, strict=True)):
                return False
        return True


class Dual(Protocol):
    """A proof of a lower bound by greedy runs: a splitting, a tree, a shortage."""

    def bound(self, problem: CappedProblem) -> int | None:
        """A lower bound of the cost of bases under the caps; None if there is no such basis.

        Raises
        ------
        DualError
            If the dual solution does not fit the problem.
        """
        ...


@dataclass(frozen=True)
class Optimum:
    """A least-cost basis, or a proof that there is none.

    Attributes
    ----------
    elements : tuple of int or None
        None if none was found.
    cost : int or None
    bound : int or None
        A lower bound of the cost of bases under the caps; None if there is no such basis.
    dual : Splitting, Tree or Shortage
        It proves the bound.
    nodes : int
        Number of branches of the search.
    """

    elements: tuple[int, ...] | None
    cost: int | None
    bound: int | None
    dual: Dual = field(repr=False)
    nodes: int = 1

    @property
    def is_optimal(self) -> bool:
        """Whether cost and bound are equal."""
        return self.cost is not None and self.cost == self.bound

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proved that no basis keeps the caps."""
        return self.elements is None and self.bound is None
