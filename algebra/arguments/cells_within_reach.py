"""Updates that take all values of some cells, which are maximal.

**Theorem.** If what learns takes all values of some cells while the others keep theirs, and these
cells have MP = 1, then MP = 1.

*Proof.* The students whose cells are single weights are some of the students with updates. ∎

Which cells these are is in `algebra.systems.equivalent_cells`.  The verdict on the cells is a
certificate of its own, for the same laws, labels and structural zeros.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py`, in which no update learns, it
decides none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed, nested
from algebra.checker.claim import Claim
from algebra.checker.premises import ALMOST_ALL, NONLINEAR, UPDATES
from algebra.checker.verdicts import MAXIMAL
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.parametrized import by_updates
from algebra.systems.equivalent_cells import reached_cells, within_reach
from algebra.time_limits import OutOfTime, within
from algebra.words import plural
from algebra.work import Limits

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.part"
# Of each part of cells this share of the sub-allocations is tried.
_FEWER_SUBSETS = 4


def search(case: Case) -> FoundEvidence | None:
    """The parts of full rank, with a share of the work each."""
    from algebra.arguments.certify import certify_by_arguments

    limits, seconds, seed = case.effort.limits, case.seconds, case.effort.seed
    fewer = Limits(seconds, 0, max(1, limits.subsets // _FEWER_SUBSETS))
    count = reached = 0
    for part in reached_cells(case.problem):
        count += 1
        with suppress(OutOfTime):
            rank = case.equations
            if allocation_rank(part.allocation, part.support, rank, seed).rank < rank:
                continue
            reached += 1
            with within(seconds):
                found = certify_by_arguments(part, replace(case.effort, limits=fewer))
            if found.verdict == MAXIMAL:
                case.certainty = found.root_count_certainty
                cells = plural(found.learnable, f"{found.learnable} cell")
                rule = f"{cells} within its reach are maximal: {found.rule}"
                error = case.whole.error + found.error_bound
                return FoundEvidence(MAXIMAL, rule, found.to_dict(), error=error)
    if count:
        text = plural(count, f"{count} part") + " of single cells within reach of the updates: "
        case.tried[ARGUMENT.name] = text + f"{reached} of full rank, none shown to be maximal"
    return None


def check(problem: Problem, data: Mapping[str, Any], claimed: Claimed) -> str:
    """The cells are within reach, and their certificate holds."""
    from algebra.arguments.verify import verify_by_arguments

    part = Claim.from_dict(data, PLACE)
    whole, own = by_updates(problem), part.problem
    if not whole.updates:
        raise CheckFailed(PLACE, "has no place here: nothing learns by updates")
    if own.updates or part.verdict != MAXIMAL:
        raise CheckFailed(PLACE, "is no certificate of maximal cells")
    # Everything but the cells is that of this problem: laws, values, structural zeros.
    if own != replace(whole, learnable=own.learnable):
        raise CheckFailed(f"{PLACE}.problem", "is not this problem with cells that learn")
    free = set(whole.learning.cells)
    for name, mask in own.allocation.masks.items():
        update = whole.updates.get(name)
        if update is not None:
            inside = within_reach(update, mask, whole.support.get(name))
        else:
            inside = all((name, int(i), int(j)) in free for i, j in np.argwhere(mask))
        if not inside:
            raise CheckFailed(f"{PLACE}.problem.learnable.{name}", "is not within reach")
    claimed.say(f"{PLACE}.problem", PROVED, "what learns takes all values of these cells")
    return nested(verify_by_arguments(data, claimed.effort), claimed.say, PLACE)


ARGUMENT = Argument(
    name="cells_within_reach",
    form=Mapping[str, Any],
    why={MAXIMAL: "MP = 1: the updates reach all that some single cells reach, for which MP = 1."},
    search=search,
    check=check,
    covers={
        MAXIMAL: dict.fromkeys(
            (*ALMOST_ALL, *UPDATES, *NONLINEAR),
            "some of the students with updates are the students with these cells",
        )
    },
)
