"""Results on an allocation before any instance is solved: ranks and the root count.

The rank is cheap and settles every minimal allocation; the generic root count N requires a
Gröbner basis.  With more weights than equations an instance has infinitely many solutions:
then a sub-allocation of full rank is solved, with the surplus weights fixed at their random
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from algebra.checker.premises import (
    ALMOST_ALL,
    AT_THE_NUMBERS,
    CONSTRAINED,
    NONLINEAR,
    RESTING,
    UPDATES,
)
from algebra.errors import InputError
from algebra.families.other_teacher import teacher_rank
from algebra.polynomials.msolve.process import find_msolve
from algebra.problems.allocation import Allocation
from algebra.problems.laws.pinned import pins
from algebra.problems.premises import OTHER_LABELS, UNTAUGHT, Feature, Premises
from algebra.problems.problem import Problem
from algebra.problems.reduction import KeptFixed, Reduction
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.matroid import candidate_bases
from algebra.ranks.root_count_error import CountCertainty, by_rank
from algebra.systems.equivalent_cells import WithinReach, reached_cells
from algebra.systems.root_count import (
    RootCount,
    RootCountError,
    RootCountLost,
    generic_root_count,
    linear_root_count,
)
from algebra.time_limits import phase

# A verdict "minimal", or an odd N, settles every trial of an allocation with probability 1; of a
# discrete law single instances may be exceptions, and these have a positive probability.
_WITH_PROBABILITY_1 = "exceptions are null sets of a law with a density"
SETTLED = Premises(
    "certified allocations",
    "every trial is settled",
    {
        **dict.fromkeys(ALMOST_ALL.keys() - {Feature.DISCRETE}, _WITH_PROBABILITY_1),
        **dict.fromkeys((*NONLINEAR, *OTHER_LABELS), _WITH_PROBABILITY_1),
        **dict.fromkeys(
            (Feature.NOT_CONTAINED, Feature.TEACHER_ON_PIECES),
            "a rank below the dimension of the labels settles trials, or nothing does",
        ),
        **dict.fromkeys(CONSTRAINED, "only that there is no match is used with constraints"),
        **dict.fromkeys(UPDATES, "ranks and N are those in the parameters"),
        Feature.EXACT: AT_THE_NUMBERS,
        Feature.RANDOM_CELLS: "each trial's own allocation is certified",
        Feature.PIECES: "the verdicts of these networks hold for all patterns",
        Feature.DENSE_TARGET: "ranks are compared with the dimension of the target's labels",
        Feature.OWN_WEIGHTS: "ranks are those at the weights of the file",
        Feature.RESTING_TEACHER: RESTING,
    },
)


@dataclass(frozen=True)
class Plan:
    """Results on an allocation before any instance is solved.

    Attributes
    ----------
    allocation : Allocation
        The allocation to solve: the given one, or a sub-allocation of full rank.
    equations, rank : int
        Generic ranks of the network's and the allocation's Jacobian.
    root_count : int or None
        Generic root count; 0 for a minimal allocation, None if it is out of reach.
    source : str
        The source of the root count.
    reduction : Reduction or None
        The map to what is solved, if surplus weights are kept fixed: `KeptFixed`, or cells within
        reach of updates.
    certainty : CountCertainty or None
        Certainty of the root count.
    is_numerical : bool
        Whether the root count comes from a trace test (msolve missing or too slow).
    is_special : bool
        Whether another network gives labels in a set of lower dimension, so that generic numbers
        of solutions do not apply.
    is_lost : bool
        Whether the root count is missing only because a child process ended unexpectedly.
    """

    allocation: Allocation
    equations: int
    rank: int
    root_count: int | None
    source: str
    reduction: Reduction | None = None
    certainty: CountCertainty | None = None
    is_numerical: bool = False
    is_lost: bool = False
    is_special: bool = False

    @property
    def is_minimal(self) -> bool:
        """Whether generic instances have no solution."""
        return self.rank < self.equations

    def problem_of(self, problem: Problem) -> Problem:
        """The problem that is solved in place of a problem with this plan."""
        if self.reduction is not None:
            return self.reduction.problem
        return problem.with_allocation(self.allocation)

    @property
    def is_maximal(self) -> bool:
        """Whether every generic instance has a real solution: N, counted exactly, is odd."""
        return self.root_count is not None and self.root_count % 2 == 1 and not self.is_numerical


def rank_plan(
    problem: Problem,
    allocation: Allocation,
    labels: int | None = None,
    *,
    within_reach: bool = True,
) -> Plan:
    """Ranks of an allocation, and the part of it to solve; N is 0 or not yet known.

    Parameters
    ----------
    problem : Problem
    allocation : Allocation
    labels : int, optional
        Dimension of the labels' variety, if the teacher is not a network of the student's kind.
    within_reach : bool, optional
        Whether the part may consist of cells within reach of updates, instead of parameters.
    """
    network, support = problem.network, problem.student(allocation)
    if not problem.features.isdisjoint(UNTAUGHT):
        return _arbitrary_plan(problem, allocation, within_reach)
    student = network_rank(network, support)
    whole = student.rank
    if labels is not None and whole < labels:
        # For every allocation: the student's labels are a subset of measure 0 of the teacher's.
        why = f"minimal: the student's labels have dimension {whole}, the teacher's {labels}"
        return Plan(allocation, labels, whole, 0, why, certainty=by_rank(student.error))
    found = allocation_rank(allocation, support, whole)
    own = found.rank
    if own < whole:
        return _minimal_plan(allocation, whole, own, found.error)
    return _full_plan(problem, allocation, whole, within_reach)


def _arbitrary_plan(problem: Problem, allocation: Allocation, within_reach: bool) -> Plan:
    """The plan for labels that are arbitrary, or another network's: each is an equation."""
    labels = dimension = problem.network.outputs
    found = allocation_rank(allocation, problem.student(allocation), labels)
    if problem.teacher is not None:
        known = teacher_rank(problem, 0)
        dimension = 0 if known is None else known.rank
    if dimension < labels and dimension <= found.rank:
        source = "labels of another network: each trial is decided by itself"
        return Plan(allocation, found.rank, found.rank, None, source, is_special=True)
    if found.rank < dimension:
        return _minimal_plan(allocation, labels, found.rank, found.error)
    return _full_plan(problem, allocation, labels, within_reach)


def _minimal_plan(allocation: Allocation, whole: int, own: int, error: Fraction) -> Plan:
    source = f"minimal: rank {own} of {whole}"
    return Plan(allocation, whole, own, 0, source, certainty=by_rank(error))


def _full_plan(
    problem: Problem, allocation: Allocation, whole: int, within_reach: bool = False
) -> Plan:
    """The plan of an allocation of full rank: itself, or a part of it with as many weights."""
    own = whole
    if allocation.size == whole:
        return Plan(allocation, whole, own, None, "not counted")
    network, support = problem.network, problem.student(allocation)
    given = problem.with_allocation(allocation)
    for cells_of in reached_cells(given) if within_reach else ():
        if allocation_rank(cells_of.allocation, cells_of.student(), whole).rank == whole:
            # Of a linear network their equations are those of a chain, with few unknowns.
            plan = _full_plan(cells_of, cells_of.allocation, whole)
            return replace(plan, reduction=WithinReach(given, plan.problem_of(cells_of)))
    cells = next(candidate_bases(allocation, whole, support, 0, 1), None)
    if cells is None:
        return Plan(allocation, whole, own, None, "no sub-allocation of full rank found")
    part = KeptFixed(given, Allocation.from_cells(network, cells))
    return Plan(part.part, whole, own, None, "not counted", reduction=part)


def linear_plan(problem: Problem, plan: Plan) -> Plan:
    """The same plan with N = 1 if elimination leaves a linear system, which is a quick test."""
    if plan.is_minimal or plan.allocation.size > plan.equations or _is_bound(problem, plan):
        return plan
    roots = linear_root_count(plan.allocation, problem.student(plan.allocation))
    if roots is None:
        return plan
    return replace(plan, root_count=roots.value, source=roots.how, certainty=roots.certainty)


def _is_bound(problem: Problem, plan: Plan) -> bool:
    """Whether a rank is only an upper bound: formal values at exact numbers."""
    analytic = problem.network.equations_are == "analytic"
    return analytic and bool(pins(problem.student(plan.allocation)))


def root_plan(
    problem: Problem, plan: Plan, *, timeout: float = 60.0, needs_msolve: bool = False
) -> Plan:
    """The same plan with the generic root count.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    timeout : float, optional
        Seconds for each method of counting.
    needs_msolve : bool, optional
        Whether instances are solved by msolve: if it is missing, no other method is tried.
    """

    def without_bases(
        allocation: Allocation, support: Mapping[str, np.ndarray], seed: int
    ) -> RootCount:
        if needs_msolve:
            find_msolve()
        # Loaded here: path tracking imports compiled kernels, counting by bases does not need them.
        from numeric.tracking.root_count import monodromy_root_count

        return monodromy_root_count(allocation, support, seed, timeout=timeout)

    if plan.is_minimal or plan.allocation.size > plan.equations:
        return plan
    if _is_bound(problem, plan):
        return replace(plan, source="not counted: at measured weights the rank is an upper bound")
    try:
        with phase("generic root count"):
            roots = generic_root_count(
                plan.allocation,
                problem.student(plan.allocation),
                timeout=timeout,
                fallback=without_bases,
            )
    except RootCountLost as error:
        return replace(plan, source=str(error), is_lost=True)
    except (RootCountError, InputError) as error:
        return replace(plan, source=str(error))
    source = f"{roots.how}: {roots.because}" if roots.is_numerical else roots.how
    return replace(
        plan, root_count=roots.value, source=source, certainty=roots.certainty,
        is_numerical=roots.is_numerical,
    )  # fmt: skip
