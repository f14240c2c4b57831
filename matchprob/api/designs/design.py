"""The verb design: the best allocation of the weights that may learn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from algebra.documents import Document
from algebra.errors import InputError
from algebra.questions.design.goals import goals_text
from algebra.results import Result, named
from algebra.time_limits import limited, positive_seconds
from matchprob.api.designs.goals import COUNTED, GOALS, GoalName, RaceOptions, chosen_goal
from matchprob.api.question import network_of
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineOption, ResultFile, verb

if TYPE_CHECKING:
    from algebra.problems.allocation import Allocation
    from algebra.problems.names import Names
    from algebra.problems.problem import Problem
    from algebra.questions.design.demand import Demand
    from algebra.questions.design.result import Design
    from algebra.questions.design.ties import Ties


@dataclass(frozen=True, repr=False)
class DesignResult(Result):
    """The result of the verb design.

    Attributes
    ----------
    design : Design
        The chosen allocation, its value, and the proof or bound of it.
    problem : Problem
        The problem with this allocation.
    demand : Demand
        The checked demand.
    """

    design: Design
    problem: Problem
    demand: Demand = field(compare=False)

    @property
    def goal(self) -> str:
        """The goal of the design."""
        return self.design.goal

    @property
    def allocation(self) -> Allocation:
        """The chosen weights."""
        return self.design.allocation

    @property
    def cost(self) -> Fraction:
        """The cost of all its weights."""
        return self.design.cost

    @property
    def value(self) -> Fraction:
        """What the goal minimizes (of "probable": maximizes)."""
        return self.design.value

    @property
    def bound(self) -> Fraction:
        """A bound of the value of every allocation."""
        return self.design.bound

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound are equal."""
        return self.design.is_optimal

    @cached_property
    def ties(self) -> Ties | None:
        """The other designs of the same cost, for goal "cheapest" without caps."""
        from algebra.questions.design.ties import ties_of

        return ties_of(self.demand, self.design)

    @property
    def network_rank(self) -> int:
        """Number of independent equations: designs of this rank are not minimal."""
        return self.demand.equations

    @property
    def names(self) -> Names:
        """Names of the units, and of the parameters of updates among the chosen weights."""
        from algebra.problems.names import Names

        return Names(self.allocation.network, self.problem.names.given)

    def proof(self) -> dict[str, Any]:
        """The content of a proof file, which `matchprob.verify` checks.

        Raises
        ------
        InputError
            If the goal has no proof, or the search did not find one.
        """
        from algebra.questions.design.proof import proof_of

        return proof_of(self.demand, self.design).to_dict()

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob design``; `weights` are the chosen ones by name."""
        data = {**self.design.to_dict(), "weights": self.columns()["weight"]}
        if self.ties is not None:
            data |= named(self.ties, "in_every", "in_none")
            data["designs_at_least"] = str(self.ties.at_least)
        return data

    def edges(self) -> str:
        """The chosen weights as an edge list: pre, post, cost (CSV)."""
        from algebra.problems.tables import edge_list

        cells = self.allocation.cells
        costs = {cell: str(self.demand.cost([cell])) for cell in cells}
        return edge_list(self.names, costs)

    def document(self) -> Document:
        """Its goal, the proof of its value, and its masks."""
        from matchprob.api.designs.document import design_document

        return design_document(self)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each weight that learns."""
        cells = self.allocation.cells
        return {
            "matrix": [name for name, _, _ in cells],
            "row": [i for _, i, _ in cells],
            "column": [j for _, _, j in cells],
            "weight": [self.names.cell(cell) for cell in cells],
            "cost": [str(self.demand.cost([cell])) for cell in cells],
        }


def chosen_weights(found: Any, path: Path, _: Arguments) -> str:
    """The allocation of a design or a repair: a problem file, or (.csv) its weights as edges."""
    text: str = found.edges() if path.name.endswith(".csv") else found.problem.to_toml()
    return text


WRITES_PROBLEM = ResultFile(
    "--write", "Write the result: a problem file, or (.csv) the weights as edges.", chosen_weights
)


def _refuse_proof(_: Path, arguments: Arguments) -> None:
    goal = chosen_goal(arguments.get("goal"), arguments.get("budget"), arguments.get("cost_budget"))
    if not GOALS[goal].proof:
        raise InputError(f"--proof: goal {goal!r} has none; --out certifies the result")


def _certificate(found: DesignResult, _: Path, arguments: Arguments) -> tuple[dict[str, Any], str]:
    from matchprob.api.certify import certify

    made = certify(found.problem, seed=arguments["seed"])
    return made.to_dict(), f": {made.verdict}, {made.rule}"


@verb(
    files=(
        WRITES_PROBLEM,
        ResultFile(
            "--proof", "Write the proof that no allocation is better (JSON, for verify).",
            lambda found, *_: found.proof(), _refuse_proof,
        ),
        ResultFile("--out", "Write the certificate of the result (JSON).", _certificate, indent=1),
    ),
    is_drawn=True,
)  # fmt: skip
def design(
    question: common.NetworkQuestion,
    *,
    among: Literal["learnable", "all"] = "learnable",
    goal: Annotated[GoalName | None, LineOption(help=goals_text(GOALS))] = None,
    budget: int | None = None,
    cost_budget: Annotated[Fraction | float | str | None, LineOption(metavar="C", word=str)] = None,
    costs: common.CellCosts = None,
    must: common.MustCells = (),
    forbidden: common.ForbiddenCells = (),
    matrices: common.Matrices = (),
    caps: common.Caps = None,
    line: Annotated[Literal["row", "column"], LineOption(flag="--by")] = "row",
    seconds: common.SearchSeconds = 60.0,
    count_timeout: common.CountTimeout = 3.0,
    timeout: common.Timeout = math.inf,
    candidates: Annotated[int, LineOption(least=1)] = 16,
    trials: Annotated[int, LineOption(least=1)] = 1024,
    workers: common.Workers = 1,
    seed: common.Seed = 0,
) -> DesignResult:
    """Choose the best allocation among the [learnable] weights.

    Parameters
    ----------
    question : Problem, Network, str or Path
        Problem file (TOML); [learnable] has the weights to choose among, all if it is empty. Or a
        `Problem` or a network. For matrices that learn by gains or ties the choice is among their
        parameters, the weights ``("g_W", i, 0)`` and ``("t_W", k, 0)``.
    among : {"learnable", "all"}, optional
        learnable: choose in [learnable]; all: every weight that exists.
    goal : str, optional
        One of `matchprob.api.designs.goals.GOALS`, with their descriptions; "cheapest" by default,
        "rank" if there is a cost budget.
    budget : int, optional
        Number of weights that learn; that of the equations by default.
    cost_budget : number, optional
        Bound of the cost of all weights: the largest rank within it is chosen (goal rank).
    line : {"row", "column"}, optional
        row or column: the lines of goal spread, or the neurons of goal neurons. Neurons receive
        (rows) or send (columns).
    candidates : int, optional
        Largest number of designs raced (probable).
    trials : int, optional
        Largest number of trials of each (probable).

    Returns
    -------
    DesignResult

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> found = design(Problem(LinearEstimator(q=3, d=2, m=2), {}))
    >>> found.goal, found.allocation.size, found.is_optimal
    ('cheapest', 4, True)
    """
    from algebra.questions.premises import need_generic
    from algebra.ranks.minors import is_attained
    from algebra.ranks.parametrized import by_parameters, by_updates
    from matchprob.api.certify import relaxation, root_counter
    from matchprob.api.designs.demands import DemandOptions, allowed_cells

    problem = by_parameters(network_of(question), singly="design")
    need_generic(problem, "design")
    name = chosen_goal(goal, budget, cost_budget)
    if name in COUNTED and problem.network.parameters_of:
        raise InputError(
            f"goal {name!r} counts solutions or draws instances, which needs single cells; where "
            "updates learn choose one of "
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
        # Upper bounds of ranks suffice for the search; those of the design have to be attained.
        attained = None if name in COUNTED else partial(bool, True)
        demand = options.demand(problem, allowed_cells(problem, among), seed, attained=attained)
        found = GOALS[name].search(demand, search)
        if attained is not None:
            attained = partial(
                is_attained, demand.network, found.allocation.cells, found.rank.rank,
                demand.support, seed,
            )  # fmt: skip
        problem.network.need_ranks("design", problem.support, attained)
    chosen = by_updates(problem.with_allocation(found.allocation))
    return DesignResult(found, chosen, demand)
