"""The nearest allocation with a goal, and the weights that may be lost: repair and robust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from algebra.documents import Document
from algebra.errors import InputError
from algebra.results import Result, named
from algebra.time_limits import OutOfTime, limited, positive_seconds
from matchprob.api.designs.design import WRITES_PROBLEM
from matchprob.api.question import as_generic
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import ResultFile, verb

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate
    from algebra.problems.names import Names
    from algebra.problems.problem import Problem
    from algebra.questions.design.demand import Demand
    from algebra.questions.design.repair import Repair
    from algebra.questions.design.robustness import Robustness
    from matchprob.api.designs.demands import DemandOptions

# Least number of seconds for the certificate of each of the two allocations.
_PATIENCE = 10.0


@dataclass(frozen=True, repr=False)
class RepairResult(Result):
    """A repair with the certificates of both allocations.

    Attributes
    ----------
    repair : Repair or None
        None if no weight has to move.
    before, after : Certificate
    """

    repair: Repair | None
    before: Certificate
    after: Certificate

    @property
    def problem(self) -> Problem:
        """The problem with the allocation afterwards."""
        return self.after.problem

    @property
    def names(self) -> Names:
        """Names of the units, and of the parameters of updates."""
        return common.parameter_names(self.problem)

    def document(self) -> Document:
        """How many weights move, and the verdicts before and after."""
        from matchprob.api.designs.document import repair_document

        return repair_document(self)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each weight that learns before or afterwards."""
        from algebra.ranks.parametrized import by_parameters

        problem = by_parameters(self.problem)
        before = set(by_parameters(self.before.problem).allocation.cells)
        after = set(problem.allocation.cells)
        cells = sorted(before | after)
        return {
            "matrix": [name for name, _, _ in cells],
            "row": [i for _, i, _ in cells],
            "column": [j for _, _, j in cells],
            "weight": [problem.names.cell(cell) for cell in cells],
            "before": [cell in before for cell in cells],
            "after": [cell in after for cell in cells],
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob repair``."""
        from algebra.ranks.parametrized import by_parameters

        found = self.repair.to_dict() if self.repair else {"moves": 0, "bound": 0, "optimal": True}
        verdicts = {
            when: {
                **named(c, "verdict", "rule", "rank", "generic_root_count"),
                "reasons": list(c.reasons),
            }
            for when, c in (("before", self.before), ("after", self.after))
        }
        problem = by_parameters(self.problem)
        weights = [problem.names.cell(cell) for cell in problem.allocation.cells]
        return {**found, **verdicts, "equations": self.before.equations, "weights": weights}

    def edges(self) -> str:
        """The weights that learn afterwards as an edge list: pre, post (CSV)."""
        from algebra.problems.tables import edge_list
        from algebra.ranks.parametrized import by_parameters

        cells = dict.fromkeys(by_parameters(self.problem).allocation.cells, "")
        return edge_list(by_parameters(self.problem).names, cells, "")


@verb(
    files=(
        WRITES_PROBLEM,
        ResultFile(
            "--out", "Write the certificate of the result (JSON).",
            lambda found, *_: (
                found.after.to_dict(),
                f": {found.after.verdict}, {found.after.rule}",
            ),
            indent=1,
        ),
    ),
    is_drawn=True,
)  # fmt: skip
def repair(
    question: common.Question,
    *,
    goal: Literal["positive", "maximal"] | None = None,
    costs: common.CellCosts = None,
    must: common.MustCells = (),
    forbidden: common.ForbiddenCells = (),
    matrices: common.Matrices = (),
    caps: common.Caps = None,
    seconds: common.SearchSeconds = 60.0,
    count_timeout: common.CountTimeout = 3.0,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
) -> RepairResult:
    """Move the fewest weights so that MP > 0, or so that MP = 1.

    The result is the cheapest repair with the fewest moves; both allocations are certified.

    Parameters
    ----------
    goal : {"positive", "maximal"}, optional
        positive (MP > 0) or maximal; by default positive if MP = 0, else maximal.  Maximal is
        certified.
    matrices : sequence of str, optional
        Only weights of this matrix learn; may be repeated.  By default the matrices that have
        learnable weights already.

    Returns
    -------
    RepairResult

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> from algebra.problems.problem import Problem
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> done = repair(Problem(net, {"W": [[1, 0], [0, 1]]}))
    >>> done.before.verdict, done.repair.moves, done.after.verdict
    ('intermediate', 1, 'maximal')
    """
    from algebra.questions.design import repair as repairs
    from algebra.questions.design.demand import SearchUnfinished
    from algebra.questions.design.goals import SearchOptions
    from algebra.ranks.parametrized import by_parameters, by_updates
    from matchprob.api.certify import certify, relaxation, root_counter
    from matchprob.api.designs.demands import DemandOptions

    goals = {"positive": repairs.NOT_MINIMAL, "maximal": repairs.MAXIMAL}
    problem = by_parameters(as_generic(question, "repair"), singly="repair")
    if goal is not None and goal not in goals:
        raise InputError(f"`goal` ({goal!r}) must be positive or maximal")
    if goal == "maximal" and problem.network.parameters_of:
        raise InputError(
            "`goal` ('maximal') counts solutions, which needs single cells; where updates learn, "
            "`goal` must be 'positive'"
        )
    allocation, network = problem.allocation, problem.network
    if goal == "maximal" and network.equations_are == "analytic":
        raise InputError(
            "`goal` ('maximal') counts solutions, and equations with this activation have no "
            "finite number of them; `goal` must be 'positive'"
        )
    if not network.rank_decides:
        raise InputError(f"a {network.title} network has no minimal allocations to repair")
    network.need_ranks("repair", problem.support)
    patience = max(count_timeout, _PATIENCE)
    positive_seconds(seconds, "seconds", zero=True)
    positive_seconds(count_timeout, "count_timeout", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        before = certify(by_updates(problem), seed=seed, timeout=patience)
        if goal is None:
            # MP = 1 is shown by an odd count of solutions, which only polynomial equations have.
            counted = not network.parameters_of and network.equations_are != "analytic"
            goal = "maximal" if counted and before.verdict != "minimal" else "positive"
        fine = before.verdict == "maximal" or (goal == "positive" and before.verdict != "minimal")
        if fine and not (must or forbidden or caps):
            return RepairResult(None, before, before)
        options = DemandOptions({} if costs is None else costs, must, forbidden, (), caps)
        search = SearchOptions(
            seconds=seconds, timeout=count_timeout, relaxation=relaxation,
            fallback=root_counter(count_timeout),
        )  # fmt: skip
        try:
            demand = _demand(problem, options, matrices, seed)
            found = repairs.repair(allocation, demand, goals[goal], search)
        except OutOfTime as over:
            raise SearchUnfinished(
                f"{over}: the allocation is {before.verdict} ({before.rule}), and no repair was "
                "found by then"
            ) from None
        moved = by_updates(problem.with_allocation(found.after))
        after = certify(moved, seed=seed, timeout=patience)
    return RepairResult(found, before, after)


def _demand(problem: Problem, options: DemandOptions, matrices: Sequence[str], seed: int) -> Demand:
    """The places that weights may move to, and their number afterwards."""
    from matchprob.api.designs.demands import choosable

    allocation, network = problem.allocation, problem.network
    names = list(matrices or allocation.matrices or network.shapes)
    allowed = [c for c in choosable(problem) if c[0] in names]
    allowed += [c for c in allocation.cells if c[0] not in names]
    return options.demand(problem, allowed, seed, least=allocation.size)


@verb(is_drawn=True)
def robust(
    question: common.Question,
    *,
    seconds: common.SearchSeconds = 30.0,
    timeout: common.Timeout = math.inf,
    seed: common.Seed = 0,
) -> Robustness:
    """Compute how many learnable weights may be lost before MP drops to 0.

    Returns
    -------
    Robustness

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearEstimator
    >>> from algebra.problems.problem import Problem
    >>> net = LinearEstimator(q=3, d=1, m=2)
    >>> print(robust(Problem(net, {"W": [[1, 1, 1]]})))
    any 1 of 3 weights may be lost, some 2 may not
    """
    from algebra.questions.design import robustness as losses
    from algebra.ranks.parametrized import by_parameters

    problem = by_parameters(as_generic(question, "robust"), singly="robust")
    positive_seconds(seconds, "seconds", zero=True)
    with limited(positive_seconds(timeout, "timeout")):
        return losses.robustness(problem.allocation, problem.support, seconds=seconds, seed=seed)
