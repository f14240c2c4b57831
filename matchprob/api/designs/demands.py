"""What may learn, its costs, and the demands of the verbs design and repair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from algebra.errors import InputError, whole_number
from algebra.given import given_list, given_mapping
from algebra.problems.allocation import Cell
from algebra.problems.cells import check_cell
from algebra.problems.problem import Problem
from algebra.questions.design.demand import Demand, checked_demand
from algebra.ranks.jacobian import all_cells
from matchprob.api.designs.goals import ALL, LEARNABLE


def _cells(given: Any, name: str) -> list[Cell]:
    cells = given_list(given, name, '[("W", 0, 1)]')
    for cell in cells:
        check_cell(cell, name)
    return cells


def allowed_cells(problem: Problem, among: str = LEARNABLE) -> list[Cell]:
    """The weights that may learn: those of [learnable], or all that exist if it is empty."""
    if among not in (LEARNABLE, ALL):
        raise InputError(f"`among` ({among!r}) must be {LEARNABLE} or {ALL}")
    if problem.is_random:
        raise InputError("a design chooses among weights: [learnable] must not be random")
    if not problem.learnable or among == ALL:
        return choosable(problem)
    return list(problem.allocation.cells)


def choosable(problem: Problem) -> list[Cell]:
    """All existing weights; for a matrix with an update its parameters in place of its cells.

    The input weights of relays are none: each is a factor of a column of W, and nobody's synapse.
    """
    network = problem.network
    updated = {matrix for matrix, *_ in network.parameters_of.values()}
    passed_on = {("B", unit) for unit in network.relays(problem.support)}
    return [
        cell
        for cell in all_cells(network, problem.support)
        if cell[0] not in updated and cell[:2] not in passed_on
    ]


@dataclass(frozen=True)
class DemandOptions:
    """The demands on a design, as options of the verbs.

    Attributes
    ----------
    costs : mapping of cell to number
        Exact: see `algebra.questions.design.demand.exact_price`.
    must, forbidden : sequence of cells
    matrices : sequence of str
        Only these may learn; all matrices if it is empty.  One that learns by an update means the
        parameters of the update.
    caps : mapping of str to int
    budget : int or None
    cost_budget : number or None
    """

    costs: Mapping[Cell, Fraction | float | str]
    must: Sequence[Cell] = ()
    forbidden: Sequence[Cell] = ()
    matrices: Sequence[str] = ()
    caps: Mapping[str, int] | None = None
    budget: int | None = None
    cost_budget: Fraction | float | str | None = None

    def demand(
        self, problem: Problem, allowed: Sequence[Cell], seed: int, *,
        attained: Callable[[], bool] | None = None, **more: Any,
    ) -> Demand:  # fmt: skip
        """The checked demand on a problem's network; for `attained` see `Network.need_ranks`."""
        network = problem.network
        network.check_verb("design")
        network.need_ranks("design", problem.support, attained)
        if not network.rank_decides:
            raise InputError(
                f"a {network.title} network has no minimal allocations: every allocation has MP > 0"
            )
        given = self.matrices
        matrices = given_list([given] if isinstance(given, str) else given, "matrices", '["W"]')
        for name in matrices:
            network.shape_of(name)
        if matrices:
            parameters = network.parameters_of
            # A matrix that learns by an update stands for the parameters of the update.
            of = {name: matrix for name, (matrix, *_) in parameters.items()}
            allowed = [c for c in allowed if c[0] in matrices or of.get(c[0]) in matrices]
        costs = given_mapping(self.costs, "costs", '{("W", 0, 1): 2}')
        for cell in costs:
            check_cell(cell, "costs")
        budget = None if self.budget is None else whole_number(self.budget, "budget", 0)
        options: dict[str, Any] = {
            "allowed": allowed,
            "forbidden": _cells(self.forbidden, "forbidden"),
            "must": _cells(self.must, "must"),
            "costs": costs,
            "caps": given_mapping(self.caps, "caps", '{"row": 3}'),
            "budget": budget,
            "cost_budget": self.cost_budget,
            "support": problem.support,
            "seed": seed,
        }
        return checked_demand(network, **{**options, **more})
