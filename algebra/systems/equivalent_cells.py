r"""Updates that reach the same labels as a set of cells, and cells whose values an update takes.

**Equivalent to cells.**  A low-rank update of rank k reaches all labels that the whole matrix
reaches if k is enough (`HasJacobian.enough_rank`, with the proof); gains of lines with one weight
each, and ties without equal numbers, *are* single cells.  A problem in which all updates are of
these types is a problem of cells, with the same match probability, verdict and evidence.

**Within reach.**  W + U Vᵀ takes all values of the cells in any a rows and k − a columns, since
these change by a matrix of rank at most k.  Ties take all values of cells whose number occurs once,
gains those of weights that are alone in their line.  If such cells have MP = 1, so has the problem.

**Instances.**  Verbs that solve instances take the problem of `in_parameters`: that of equivalent
cells, or the parameters as weights.  With more parameters than equations an instance has infinitely
many solutions; one in cells within reach is one of them (`WithinReach`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from algebra.networks.protocols import HasJacobian, jacobian_of, not_known
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.problems.reduction import (
    CONSTRAINED,
    OF_INSTANCES,
    SOME,
    UPDATED,
    Matrices,
    Reduction,
    covering,
    solved,
)
from algebra.problems.updates import LowRank, Update
from algebra.ranks.parametrized import by_parameters, by_updates
from algebra.systems.incidence import maximum_matching

# For this many low-rank updates rows and columns are tried in all combinations.
_COMBINED = 3


@dataclass(frozen=True)
class AsCells(Reduction):
    """A problem with the updates that are equivalent to cells as these cells.

    Other updates are left.  `problem` has the same verdict, and instances are drawn for it.
    """

    premises = covering(
        "updates as cells",
        (OF_INSTANCES | UPDATED) - CONSTRAINED - {Feature.OWN_WEIGHTS},
        "the students with updates have the labels of the students with the cells",
    )

    @cached_property
    def masks(self) -> dict[str, np.ndarray]:
        """The cells, by the matrices whose updates are equivalent to some."""
        network, support = self.original.network, self.original.support
        found = {}
        for name, update in self.original.updates.items():
            enough = jacobian_of(network).enough_rank(name)
            mask = update.as_cells(network.shapes[name], support.get(name), enough)
            if mask is not None:
                found[name] = mask
        return found

    @cached_property
    def problem(self) -> Problem:
        return replace(self.original, learnable={**self.original.learnable, **self.masks})

    @property
    def moving(self) -> Problem:
        """That of all cells that updates can change: the same labels where all of them are 0."""
        return self.original.with_allocation(self.original.learning.moving)


def as_cells(problem: Problem) -> AsCells:
    """The reduction of a problem with updates to cells, that of the linear network if it is one.

    Raises
    ------
    InputError
        If the labels are not one analytic function of the weights.
    """
    network = problem.network
    analytic = network.rank_decides and not (network.untaught or network.has_given_weights)
    # A network of augmented matrices has a Jacobian only as the linear one.
    if not (analytic and isinstance(network, HasJacobian)):
        instead = "masks of cells are, and updates of linear networks, rnn and ffn"
        raise not_known(network, "updates", instead)
    return AsCells(solved(problem))


def problems_of_cells(problem: Problem) -> Iterator[Problem]:
    """Problems of cells whose values the updates take: see the module."""
    network, support = problem.network, problem.support
    low = [name for name, update in problem.updates.items() if isinstance(update, LowRank)]
    orders = list(product((0, 1), repeat=min(len(low), _COMBINED)))
    for order in orders:
        axes = dict(zip(low, (*order, *(0 for _ in low[_COMBINED:])), strict=True))
        masks = {}
        for name, update in problem.updates.items():
            shape = network.shapes[name]
            if isinstance(update, LowRank):
                mask = np.zeros(shape, np.int8)
                lines = slice(0, update.rank)
                mask[(lines, slice(None)) if axes[name] == 0 else (slice(None), lines)] = 1
            else:
                mask = update.alone(shape, support.get(name))
            masks[name] = mask
        yield replace(problem, learnable={**problem.learnable, **masks})


@lru_cache(maxsize=16)
def in_parameters(problem: Problem) -> Problem:
    """The problem whose instances are solved: cells instead of updates, or their parameters.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    >>> in_parameters(Problem(net, {"W": {"gain": "rows"}})).allocation
    Allocation(g_W[0,0] g_W[1,0] g_W[2,0])
    """
    if not problem.updates:
        return problem
    cells = as_cells(problem).problem
    if not problem.network.has_instances or problem.network.has_kinks:
        raise not_known(problem.network, "updates of instances")
    return by_parameters(cells)


@dataclass(frozen=True)
class WithinReach(Reduction):
    """A problem of cells whose values the parameters of updates take, without surplus weights.

    Its solutions are solutions of the original problem; if it has none nothing follows.

    Attributes
    ----------
    cells : Problem
    """

    premises = covering(
        "cells within reach", OF_INSTANCES, "some of the students are its students", SOME
    )

    cells: Problem

    @property
    def problem(self) -> Problem:
        return self.cells

    def allocation(self, allocation: Allocation) -> Allocation:
        return self.cells.allocation

    def weights(self, weights: Matrices, one: Any) -> Matrices:
        """Without the arrays of parameters: no update has changed the matrices."""
        return {name: weights[name] for name in self.cells.network.shapes}

    def restore(
        self, allocation: Allocation, weights: Matrices, solution: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Empty: the parameters of the solution are not computed."""
        return ()


def reached_cells(problem: Problem) -> Iterator[Problem]:
    """The problems of cells within reach of a problem of `in_parameters`; none without updates."""
    updated = by_updates(problem)
    if updated.updates:
        yield from problems_of_cells(updated)


def within_reach(update: Update, mask: np.ndarray, support: np.ndarray | None) -> bool:
    """Whether an update takes all values of these cells while the other cells do not change.

    For a low rank: whether k rows and columns cover the cells; by König's theorem the smallest
    number is the size of a largest matching of rows to columns.

    Examples
    --------
    >>> within_reach(LowRank(1), np.array([[1, 1], [1, 0]]), None)
    False
    >>> within_reach(LowRank(2), np.array([[1, 1, 1], [1, 0, 0], [1, 0, 0]]), None)
    True
    """
    if not isinstance(update, LowRank):
        return bool((mask <= update.alone((mask.shape[0], mask.shape[1]), support)).all())
    return int((maximum_matching(mask != 0) >= 0).sum()) <= update.rank
