"""The verb design: what may learn, what it costs, and the best allocation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from algebra.design.demand import Demand, checked_demand
from algebra.design.proof import proof_of
from algebra.design.result import Design
from algebra.errors import InputError, given_list, given_mapping, shown, whole_number
from algebra.problems.allocation import Allocation, Cell, check_cell
from algebra.problems.names import Names
from algebra.problems.problem import Problem
from algebra.problems.tables import edge_list
from algebra.ranks.jacobian import all_cells
from algebra.ranks.parametrized import Parametrized, by_parameters, by_updates
from algebra.results import Result
from algebra.time_limits import limited, positive_seconds
from matchprob.api.designs.goals import COUNTED, GOALS, RaceOptions
from matchprob.api.question import network_of
from matchprob.api.tools import relaxation, root_counter


@dataclass(frozen=True, repr=False)
class DesignResult(Result):
    """What the verb design found.

    Attributes
    ----------
    design : Design
        The chosen allocation, how good it is and how far that is proved.
    problem : Problem
        The problem with this allocation.
    asked : Demand
        What was asked.
    """

    design: Design
    problem: Problem
    asked: Demand = field(compare=False)

    @property
    def goal(self) -> str:
        """What it is best at."""
        return self.design.goal

    @property
    def allocation(self) -> Allocation:
        """The chosen weights."""
        return self.design.allocation

    @property
    def cost(self) -> Fraction:
        """Of all its weights."""
        return self.design.cost

    @property
    def value(self) -> Fraction:
        """What the goal minimizes (of "probable": maximizes)."""
        return self.design.value

    @property
    def bound(self) -> Fraction:
        """The value that nothing betters."""
        return self.design.bound

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound meet."""
        return self.design.is_optimal

    @property
    def network_rank(self) -> int:
        """Number of independent equations: designs of this rank are not minimal."""
        return self.asked.equations

    @property
    def names(self) -> Names:
        """Of the units, and of the parameters of updates among the chosen weights."""
        return Names(self.allocation.network, self.problem.names.given)

    def proof(self) -> dict[str, Any]:
        """The content of a proof file, which `matchprob.verify` checks.

        Raises
        ------
        InputError
            Where the goal has no proof, or the search did not find one.
        """
        return proof_of(self.asked, self.design).to_dict()

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob design``; `weights` are the chosen ones by name."""
        return {**self.design.to_dict(), "weights": self.columns()["weight"]}

    def edges(self) -> str:
        """The chosen weights as an edge list: pre, post, cost (CSV)."""
        cells = self.allocation.cells
        costs = {cell: str(self.asked.cost([cell])) for cell in cells}
        return edge_list(self.names, costs)

    picture = "design"

    def facts(self) -> dict[str, Any]:
        """What it is best at, and how sure that is; no number twice."""
        out: dict[str, Any] = {"goal": self.goal}
        if self.value != self.cost:
            out["value"] = self.value
        if not self.is_optimal:
            out["bound"] = self.bound
        return {
            **out, "cost": self.cost, "optimal": self.is_optimal, "learnable": self.allocation.size
        }  # fmt: skip

    def columns(self) -> dict[str, list[Any]]:
        """One row for each weight that learns."""
        cells = self.allocation.cells
        return {
            "matrix": [name for name, _, _ in cells],
            "row": [i for _, i, _ in cells],
            "column": [j for _, _, j in cells],
            "weight": [self.names.cell(cell) for cell in cells],
            "cost": [str(self.asked.cost([cell])) for cell in cells],
        }


def _cells(given: Any, name: str) -> list[Cell]:
    cells = given_list(given, name, '[("W", 0, 1)]')
    for cell in cells:
        check_cell(cell, name)
    return cells


# The weights to choose among: those of [learnable], or all that exist.
LEARNABLE, ALL = "learnable", "all"


def allowed_cells(problem: Problem, among: str = LEARNABLE) -> list[Cell]:
    """The weights that may learn: those of [learnable], all that exist where it is empty."""
    if among not in (LEARNABLE, ALL):
        raise InputError(f"`among` ({among!r}) must be {LEARNABLE} or {ALL}")
    if problem.is_random:
        raise InputError("a design chooses among weights: [learnable] must not be random")
    if not problem.learnable or among == ALL:
        return choosable(problem)
    return list(problem.allocation.cells)


def choosable(problem: Problem) -> list[Cell]:
    """All that exists; of a matrix with an update its parameters in place of its cells."""
    network = problem.network
    updated = dict(network.updates) if isinstance(network, Parametrized) else {}
    return [cell for cell in all_cells(network, problem.support) if cell[0] not in updated]


@dataclass(frozen=True)
class DemandOptions:
    """What is asked of a design, as the options of the verbs say it.

    Attributes
    ----------
    costs : mapping of cell to number
        Exact: see `algebra.design.demand.exact_price`.
    must, forbidden : sequence of cells
    matrices : sequence of str
        Only these may learn; all where empty.
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

    def demand(self, problem: Problem, allowed: Sequence[Cell], seed: int, **more: Any) -> Demand:
        """The checked demand on a problem's network."""
        network = problem.network
        network.check_verb("design")
        network.need_ranks("design", problem.support)
        if not network.rank_decides:
            raise InputError(
                f"a {network.title} network has no minimal allocations: every one is free of MP = 0"
            )
        given = self.matrices
        matrices = given_list([given] if isinstance(given, str) else given, "matrices", '["W"]')
        for name in matrices:
            network.shape_of(name)
        if matrices:
            allowed = [cell for cell in allowed if cell[0] in matrices]
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


def chosen_goal(goal: str | None, budget: object = None, cost_budget: object = None) -> str:
    """The goal, by default the one that fits the budget.

    Examples
    --------
    >>> chosen_goal(None), chosen_goal(None, cost_budget=3)
    ('cheapest', 'rank')
    """
    if goal is None:
        goal = "cheapest" if cost_budget is None else "rank"
    if goal not in GOALS:
        raise InputError(f"`goal` ({shown(goal)}) must be one of " + ", ".join(GOALS))
    if GOALS[goal].needs_cost_budget == (cost_budget is None):
        if cost_budget is None:
            raise InputError(f"goal {goal!r} needs a cost budget: give `cost_budget`")
        raise InputError(
            f"`cost_budget` ({shown(cost_budget)}) is for goal 'rank', the largest rank within it; "
            f"goal {goal!r} finds the least cost itself"
        )
    if cost_budget is not None and budget is not None:
        raise InputError(
            f"`budget` ({shown(budget)}) and `cost_budget` do not go together: within a cost "
            "budget the number of weights is found"
        )
    return goal


def design(
    question: Problem | str | Path,
    *,
    among: str = "learnable",
    goal: str | None = None,
    budget: int | None = None,
    cost_budget: Fraction | float | str | None = None,
    costs: Mapping[Cell, Fraction | float | str] | None = None,
    must: Sequence[Cell] = (),
    forbidden: Sequence[Cell] = (),
    matrices: Sequence[str] = (),
    caps: Mapping[str, int] | None = None,
    line: str = "row",
    seconds: float = 60.0,
    count_timeout: float = 3.0,
    timeout: float = math.inf,
    candidates: int = 16,
    trials: int = 1024,
    workers: int = 1,
    seed: int = 0,
) -> DesignResult:
    """Choose an allocation that is not minimal.

    Parameters
    ----------
    question : Problem, str or Path
        Its [learnable] weights are the ones to choose among; all of them where it is empty.  Of
        matrices that learn by gains or ties it is their parameters, the weights ``("g_W", i, 0)``
        and ``("t_W", k, 0)``.
    among : {"learnable", "all"}, optional
        "all": every weight that exists, whatever [learnable] says.
    goal : str, optional
        One of `matchprob.api.designs.goals.GOALS`, which says what each is; "cheapest" by default,
        "rank" where there is a cost budget.
    budget : int, optional
        Number of weights; that of the independent equations by default.
    cost_budget : number, optional
        What all weights may cost together: goal "rank" finds the largest rank that it allows.
    costs : mapping of cell to number, optional
        Exact: a Fraction, int, float or text such as "5/2"; 1 for each weight not named.
    must, forbidden : sequence of cells, optional
        Weights that learn in any case, or in none.
    matrices : sequence of str, optional
        Only weights of these matrices learn; of all by default.
    caps : mapping, optional
        At most so many in each "row", "column", "matrix"; any of the three at once.
    line : {"row", "column"}, optional
        What 'spread' spreads over, and what 'neurons' counts: those that receive (rows) or
        send (columns).
    seconds : float, optional
        Time for a search; the result says how far it got.
    count_timeout : float, optional
        Seconds for one root count ('maximal', 'probable').
    timeout : float, optional
        Seconds for the whole call; `seconds` of them at most are the search's.
    candidates, trials, workers : int, optional
        For 'probable': designs raced, trials of each at most, processes.
    seed : int, optional

    Returns
    -------
    DesignResult

    Examples
    --------
    >>> from algebra.networks.linear import LinearEstimator
    >>> design(Problem(LinearEstimator(q=3, d=2, m=2), {}))
    DesignResult(goal='cheapest', cost=4, optimal=True, learnable=4)
    """
    problem = by_parameters(network_of(question), singly="design")
    problem.need_generic("design")
    goal = chosen_goal(goal, budget, cost_budget)
    if goal in COUNTED and isinstance(problem.network, Parametrized):
        raise InputError(
            f"goal {goal!r} counts solutions or draws instances, which single cells are needed "
            "for; where updates learn choose one of "
            + ", ".join(name for name in GOALS if name not in COUNTED)
        )
    if line not in ("row", "column"):
        raise InputError(f"`line` ({line!r}) must be row or column")
    options = DemandOptions(
        {} if costs is None else costs, must, forbidden, matrices, caps, budget, cost_budget
    )
    search = RaceOptions(
        line, seconds, count_timeout, relaxation,
        root_counter(count_timeout), problem=problem,
        candidates=candidates, trials=trials, workers=workers,
    )  # fmt: skip
    positive_seconds(seconds, "seconds", zero=True)
    positive_seconds(count_timeout, "count_timeout", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        asked = options.demand(problem, allowed_cells(problem, among), seed)
        found = GOALS[goal].search(asked, search)
    chosen = by_updates(problem.with_allocation(found.allocation))
    return DesignResult(found, chosen, asked)
