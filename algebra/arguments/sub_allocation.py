"""More weights than equations: maximal because a part of them is.

**Theorem.** Let ρ of the learnable weights have a Jacobian of rank ρ, and let the number N of
complex solutions in these weights be odd.  Then MP = 1.

*Proof.* The other weights may have any values: for generic ones, a real solution of the part exists
(`algebra.arguments.root_count`), and it is one of the whole. ∎

Parts are bases of the allocation's matroid (`algebra.ranks.matroid`).  First those are counted that
take little time, then others, at last by a numerical counter too.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 88.  Of 66 that were
tried again without it two stay undecided; the others are decided at infinity or by fixed products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from algebra.arguments.argument import OF_PART, Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.fields import RefusedAt
from algebra.checker.premises import ODD_NUMBER
from algebra.checker.records import Cells, Context, Converted, read_form, write_form
from algebra.checker.verdicts import MAXIMAL
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank
from algebra.time_limits import OutOfTime, is_over
from algebra.work import end_of_part, has_passed

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.sub_allocation"


def _read(value: Any, place: str, context: Context) -> Allocation:
    problem: Problem = context["problem"]
    chosen = read_form(Cells, value, place)
    if set(chosen) - set(problem.allocation.cells):
        raise CheckFailed(place, "is not a set of cells of the allocation")
    with RefusedAt(place):
        return Allocation.from_cells(problem.network, chosen)


@dataclass
class Parts:
    """The parts of an allocation: those that were counted, and those that wait.

    Attributes
    ----------
    waiting : iterator of Allocation
    even : int
        The number of those with even N.
    left : list of Allocation
        Those that were not counted in time.
    quick : int
        The number of those that the first search counted.
    """

    waiting: Iterator[Allocation]
    even: int = 0
    left: list[Allocation] = field(default_factory=list)
    quick: int = 0


def parts_of(case: Case) -> Parts:
    """The parts of a case, and how far they were counted."""
    from algebra.ranks.matroid import candidate_bases

    def made() -> Parts:
        problem, effort = case.problem, case.effort
        bases = candidate_bases(
            problem.allocation, case.equations, problem.student(), effort.seed,
            effort.limits.subsets,
        )  # fmt: skip
        network = problem.network
        return Parts(Allocation.from_cells(network, cells) for cells in _in_time(bases))

    return case.state(ARGUMENT.name, made)


def search(case: Case) -> FoundEvidence | None:
    """A part with odd N: in half of the time for each, then in twice, then numerically too."""
    if not case.has_surplus:
        return None
    share, parts, is_last = case.seconds, parts_of(case), case.attempt == 2
    limit = (share / 2, 2 * share, share)[case.attempt]
    end = end_of_part(math.inf if is_last else share)
    parts.waiting, parts.left = chain(parts.left, parts.waiting), []
    found = _counted(case, parts, limit, end, is_last)
    if case.attempt == 0:
        parts.quick = parts.even
    tried = parts.even + len(parts.left)
    text = f"{tried} sub-allocations of {case.equations} weights: none with an odd root count"
    if parts.left:
        text += f" ({len(parts.left)} out of reach)"
    case.tried[ARGUMENT.name], case.left_out = text, bool(parts.left)
    return found


def _counted(
    case: Case, parts: Parts, seconds: float, end: float, is_last: bool
) -> FoundEvidence | None:
    """The first part with odd N, as long as `end` has not passed."""
    from algebra.polynomials.msolve.process import MsolveMissing
    from algebra.systems.root_count import NUMERICAL, RootCountError, generic_root_count

    counter = case.effort.tools.root_counter if is_last else None
    for part in parts.waiting:
        if has_passed(end):
            parts.left.append(part)
            break
        try:
            roots = generic_root_count(
                part, case.problem.student(), seed=case.effort.seed, timeout=seconds,
                fallback=counter, has_full_rank=True, only_odd=True,
            )  # fmt: skip
        except (RootCountError, OutOfTime):
            parts.left.append(part)
        except MsolveMissing:
            if is_last:
                raise
            parts.left.append(part)
            break
        else:
            parts.even += 1
            if roots.value % 2:
                how = f", {NUMERICAL}" if roots.is_numerical else ""
                rule = f"a sub-allocation of {case.equations} weights is maximal"
                return FoundEvidence(MAXIMAL, f"{rule} (N = {roots.value}{how})", part, roots)
    return None


def _in_time(bases: Iterator[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    """The bases that come within the time limit."""
    while not is_over():
        try:
            cells = next(bases)
        except (StopIteration, OutOfTime):
            return
        yield cells


def check(problem: Problem, part: Allocation, claimed: Claimed) -> str:
    """The part has ρ weights of rank ρ, and its N is odd, counted again."""
    from algebra.arguments.recount import check_root_count

    roots, equations = claimed.roots, claimed.equations
    assert roots is not None
    if roots.value % 2 == 0:
        text = f"{roots.value} is even: it does not prove MP = 1"
        raise CheckFailed("evidence.root_count", text)
    found = allocation_rank(part, problem.student(), equations, claimed.seed)
    if found.rank != equations or part.size != found.rank:
        raise CheckFailed(PLACE, f"{part.size} weights of rank {found.rank}: no basis")
    claimed.say(PLACE, PROVED, f"{part.size} weights of full rank")
    return check_root_count(problem, part, roots, claimed)


ARGUMENT = Argument(
    name="sub_allocation",
    form=Annotated[Allocation, Converted(Cells, _read, lambda part: write_form(Cells, part.cells))],
    why={
        MAXIMAL: "MP = 1: for {equations} of the weights alone the number of complex solutions is "
        "odd, and a match of these weights is a match of all learnable weights."
    },
    search=search,
    check=check,
    covers={MAXIMAL: ODD_NUMBER},
    counts=OF_PART,
)
