r"""Updates that reach the same labels as a set of cells, and cells whose values an update takes.

**Equivalent to cells.**  A low-rank update of rank k reaches all labels that the whole matrix
reaches if k is enough (`Network.enough_rank`, with the proof); gains of lines with one weight each,
and ties without equal numbers, *are* single cells.  A problem in which all updates are of these
types is a problem of cells, with the same match probability, verdict and evidence.

**Within reach.**  W + U Vᵀ takes all values of the cells in any a rows and k − a columns, since
these change by a matrix of rank at most k.  Ties take all values of cells whose number occurs once,
gains those of weights that are alone in their line.  If such cells have MP = 1, so has the problem.

**Instances.**  Verbs that solve instances take the problem of `in_parameters`: that of equivalent
cells, or the parameters as weights.  With more parameters than equations an instance has infinitely
many solutions; one in cells within reach is one of them (`WithinReach`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from algebra.networks.base import Network
from algebra.networks.protocols import HasJacobian, jacobian_of, not_known
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.reduction import Matrices, Reduction
from algebra.problems.updates import LowRank, Update
from algebra.ranks.parametrized import by_parameters, by_updates
from algebra.systems.incidence import maximum_matching

# For this many low-rank updates rows and columns are tried in all combinations.
_COMBINED = 3


def need_jacobian(network: Network) -> None:
    """Refuse networks whose labels are not analytic functions of the weights.

    Raises
    ------
    InputError
    """
    # A lowered network has a Jacobian only as the other kind; the theorems on updates are not
    # proved for a teacher of which a matrix rests.
    if not (network.rank_decides and isinstance(network, HasJacobian)) or network.untaught:
        raise not_known(network, "updates", "of linear networks, rnn and ffn they are")


def as_plain(problem: Problem) -> Problem:
    """For a network with linear activation the problem of the equivalent linear network."""
    lowering = problem.network.lower()
    if lowering is None or lowering.network.shapes != problem.network.shapes:
        return problem
    return replace(problem, network=lowering.network)


def with_cells(problem: Problem, masks: Mapping[str, np.ndarray]) -> Problem:
    """The problem with masks in place of some updates."""
    return replace(problem, learnable={**problem.learnable, **masks})


def cells_instead(problem: Problem) -> dict[str, np.ndarray]:
    """Masks of the updates that are equivalent to cells."""
    network, support = problem.network, problem.support
    found = {}
    for name, update in problem.updates.items():
        shape = network.shapes[name]
        mask = update.as_cells(shape, support.get(name), jacobian_of(network).enough_rank(name))
        if mask is not None:
            found[name] = mask
    return found


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
        yield with_cells(problem, masks)


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
    need_jacobian(problem.network)
    if not problem.network.has_instances or problem.network.has_kinks:
        raise not_known(problem.network, "updates of instances")
    plain = as_plain(problem)
    return by_parameters(with_cells(plain, cells_instead(plain)))


@dataclass(frozen=True)
class WithinReach(Reduction):
    """A problem of cells whose values the parameters of updates take, without surplus weights.

    Its solutions are solutions of the original problem; if it has none nothing follows.

    Attributes
    ----------
    cells : Problem
    """

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
