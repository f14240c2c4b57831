"""The labels are affine in some weights that learn, of full rank: a linear system.

Let ρ be the generic rank of the whole network.

**Theorem.** If the labels are affine in some of the learnable weights, and these have rank ρ, then
MP = 1, whatever else learns.

*Proof.* For fixed other weights the students' labels are an affine space L of dimension ρ.  Near a
generic point the labels of all networks are a manifold of dimension ρ that contains an open part of
L; so labels of teachers nearby lie in L.  "Lies in L" is a system of linear equations in the
teacher's labels.  These are single-valued analytic functions of its weights on a connected set, so
the equations hold for all teachers.  The other learnable weights may keep their values. ∎

Polynomials and analytic activations are analytic for all weights; rational functions and
exponentials of such on the complex numbers minus a hypersurface, which is connected; with square
roots labels are analytic functions of all real weights where `algebra.programs.ranges` shows it.

Arbitrary labels are ρ independent linear equations.  In a layered network the part is usually the
read-out.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides those whose parts with
an odd number of solutions are linear.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import AFFINE_PART, AFFINE_WHY
from algebra.checker.verdicts import MAXIMAL
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.affine_part"


def search(case: Case) -> FoundEvidence | None:
    """The last matrices first: they are nearest to the labels."""
    if case.is_counted_first:
        return None
    problem, names = case.problem, list[str]()
    for name in reversed(problem.allocation.matrices):
        if problem.network.affine_in([*names, name]):
            names.append(name)
    part = _part_of(problem, names)
    if part.size < case.equations:
        return None
    own = allocation_rank(part, problem.student(), case.equations, case.effort.seed)
    if own.rank < case.equations:
        return None
    rule = f"the labels are affine in {', '.join(sorted(names))}, of full rank: a linear system"
    return FoundEvidence(MAXIMAL, rule, tuple(sorted(names)), cells=part.cells)


def _part_of(problem: Problem, names: Collection[str]) -> Allocation:
    cells = [cell for cell in problem.allocation.cells if cell[0] in names]
    return Allocation.from_cells(problem.network, cells)


def check(problem: Problem, names: tuple[str, ...], claimed: Claimed) -> str:
    """The labels are affine in these matrices, whose weights have rank ρ."""
    network, equations = problem.network, claimed.equations
    if not names or not set(names) <= set(problem.allocation.matrices):
        raise CheckFailed(PLACE, "is no part of what learns")
    if not network.affine_in(names):
        raise CheckFailed(PLACE, "the labels are not affine in it")
    part = [cell for cell in problem.allocation.cells if cell[0] in names]
    if not claimed.why_exact and claimed.minor is not None:
        # Formal ranks are upper bounds: the minor must be one of these weights.
        outside = set(claimed.minor.columns) - set(part)
        if outside:
            raise CheckFailed(PLACE, f"the regular minor has {min(outside)}, which is not in it")
    own = Allocation.from_cells(network, part)
    rank = allocation_rank(own, problem.student(), equations, claimed.seed).rank
    if rank < equations:
        raise CheckFailed(PLACE, f"has rank {rank}, not {equations}")
    claimed.say(PLACE, PROVED, f"the labels are affine in {', '.join(names)}, of full rank")
    return PROVED


ARGUMENT = Argument(
    name=AFFINE_PART.name,
    form=tuple[str, ...],
    why={MAXIMAL: AFFINE_WHY},
    search=search,
    check=check,
    covers={MAXIMAL: AFFINE_PART.covers},
    what=", ".join,
)
