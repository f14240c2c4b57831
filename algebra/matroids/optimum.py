"""Least-cost bases under any number of kinds of caps, with what proves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from algebra.matroids.branch_and_bound import capped_basis
from algebra.matroids.capped import CappedProblem, Dual
from algebra.matroids.intersection import Shortage, common_basis, is_optimal
from algebra.matroids.lagrangian import Relax

# Makes the relaxation of one problem.
RelaxationMaker = Callable[[CappedProblem], Relax]


@dataclass(frozen=True)
class Optimum:
    """A least-cost basis, or that there is none.

    Attributes
    ----------
    elements : tuple of int or None
        None where none was found.
    cost : int or None
    bound : int or None
        No basis under the caps costs less; None where there is none at all.
    dual : Splitting, Tree or Shortage
        It proves the bound.
    nodes : int
        Branches of the search.
    """

    elements: tuple[int, ...] | None
    cost: int | None
    bound: int | None
    dual: Dual = field(repr=False)
    nodes: int = 1

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proved that no basis keeps the caps."""
        return self.elements is None and self.bound is None


def optimum(
    problem: CappedProblem,
    relaxation: RelaxationMaker | None = None,
    seconds: float | None = None,
) -> Optimum:
    """By matroid intersection for one kind of cap, by branch and bound for several.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1, 0, 1], [0, 1, 1]])
    >>> caps = [([0, 0, 1], [1, 1])]
    >>> optimum(CappedProblem(columns, 101, caps, [1, 2, 5], 2))
    Optimum(elements=(0, 2), cost=6, bound=6, nodes=1)
    """
    if len(problem.systems) == 1:
        found = common_basis(problem)
        if isinstance(found, Shortage):
            return Optimum(None, None, None, found)
        if not is_optimal(problem, found):
            raise ArithmeticError("a weight splitting does not prove its own basis: a bug")
        return Optimum(found.elements, found.cost, found.cost, found.splitting)
    relax = relaxation(problem) if relaxation else None
    capped = capped_basis(problem, relax=relax, seconds=seconds)
    return Optimum(capped.elements, capped.cost, capped.bound, capped.tree, capped.nodes)
