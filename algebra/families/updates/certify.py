"""Verdicts where matrices learn by updates: low rank, gains, ties.

* If all updates are equivalent to cells (`algebra.systems.equivalent_cells`) the verdict is that
on the
  cells.
* **minimal**: the generic rank of the learnable parameters is smaller than the network's
  (`algebra.ranks.updates`, with the theorem).
* **maximal**: the labels are affine in all learnable parameters, of full rank: the students' labels
  are then an affine space that, near a generic point, contains the labels of all networks, and
  "lies in it" is a system of equations analytic in the teacher's weights, so it holds for all
  teachers (`algebra.arguments.affine_part`, whose proof uses no
  more).  Or some cells within the reach of the updates are maximal.  Or the number N of complex
  solutions is odd (`algebra.ranks.updates`).
* **intermediate**: not minimal, and an output cannot reach some labels
  (`algebra.arguments.stuck_output`; that argument does not depend on how hidden weights learn).
* **undecided** otherwise, with a list of what was tried.

If ranks with formal values are only upper bounds, a regular minor of J_θ in ball arithmetic (or of
J, if the verdict is minimal) proves that they are attained (`algebra.ranks.minors`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from algebra.arguments.argument import solutions
from algebra.arguments.stuck_output import ARGUMENT as STUCK
from algebra.arguments.stuck_output import STUCK_OUTPUT, limit, stuck_output
from algebra.certificates.certificate import Certificate
from algebra.certificates.family import Effort
from algebra.certificates.on_ranks import OnRanks, certified
from algebra.certificates.premises import ALMOST_ALL, NONLINEAR, RANK_DEFICIT, UPDATES
from algebra.certificates.vanishing import labels_vanish
from algebra.certificates.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, NEAR, UNDECIDED
from algebra.documents import Explanation, step
from algebra.networks.limits import plural
from algebra.polynomials.msolve.process import MsolveMissing
from algebra.problems.features import Feature, Premises
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.parametrized import by_parameters, learning_rank
from algebra.systems.equivalent_cells import (
    as_plain,
    cells_instead,
    need_jacobian,
    problems_of_cells,
    with_cells,
)
from algebra.systems.root_count import RootCountError, generic_root_count
from algebra.time_limits import SHARES, Limits, OutOfTime, phase, within

CellVerdict = Callable[[Problem, Effort], Certificate]

# The verdict on the cells has its own theorem and premises.
CELLS_WITHIN_REACH = Premises(
    "cells_within_reach",
    MAXIMAL,
    dict.fromkeys(
        (*ALMOST_ALL, *UPDATES, *NONLINEAR),
        "some of the students with updates are the students with these cells",
    ),
)


def same_labels(verdict: str) -> Premises:
    """The theorem that updates equivalent to cells have their verdict: see the module."""
    same = "the students with updates have the labels of the students with the cells"
    covers = dict.fromkeys((*ALMOST_ALL, *UPDATES, *NONLINEAR), same)
    return Premises("same_labels", verdict, covers)


# An odd number of complex solutions in the parameters: `algebra.ranks.updates`.
_PARAMETERS = "N counts the solutions in the parameters of the updates"
ODD_PARAMETER_COUNT = Premises(
    "root_count",
    MAXIMAL,
    {
        **ALMOST_ALL,
        **dict.fromkeys(UPDATES, _PARAMETERS),
        Feature.POLYNOMIAL: _PARAMETERS,
        Feature.BOUNDED_NONLINEAR: "a generic instance has a match, whatever its size",
    },
)

# Of each part of cells this share of the sub-allocations is tried.
_FEWER_SUBSETS = 4


def certify_updates(problem: Problem, effort: Effort, certify_cells: CellVerdict) -> Certificate:
    """Decide a problem with updates if possible; `certify_cells` certifies problems of cells."""
    need_jacobian(problem.network)
    plain = as_plain(problem)
    if labels_vanish(plain.network, plain.support):
        cells = Problem.of(
            plain.learning.moving, support=plain.support, distribution=plain.distribution
        )
        found = replace(certify_cells(cells, effort), problem=problem)
        return replace(found, explained=_explained(found))
    masks = cells_instead(plain)
    simpler = with_cells(plain, masks)
    if simpler.updates:
        found = certified(problem, effort, _UpdateCertifier(simpler, effort, certify_cells).run)
    else:
        found = certify_cells(simpler, effort)
    found = replace(found, problem=problem, notes=(*found.notes, *_equivalences(plain, masks)))
    return replace(found, explained=_explained(found))


def _equivalences(problem: Problem, masks: dict[str, Any]) -> tuple[str, ...]:
    """The updates that are equivalent to cells, in words."""
    out = []
    for name, update in problem.updates.items():
        if name in masks:
            what = update.words(name, problem.network.shapes[name])
            whole = isinstance(update, LowRank)
            out.append(f"{what} reaches all that " + (f"the whole {name} does" if whole else
                       f"its {int(masks[name].sum())} cells do"))  # fmt: skip
    return tuple(out)


class _UpdateCertifier(OnRanks):
    """Certifies one problem, given its ranks."""

    def __init__(self, problem: Problem, effort: Effort, certify_cells: CellVerdict) -> None:
        self.certify_cells, self.learning = certify_cells, problem.learning
        self.network = problem.network
        with phase("generic ranks"):
            whole = network_rank(self.network, problem.support, effort.seed)
            own = learning_rank(self.learning, whole.rank, effort.seed)
        super().__init__(problem, effort, whole, own)
        self.moved = by_parameters(problem)

    def run(self) -> Certificate:
        whole, own, learning = self.whole, self.own, self.learning
        if not self._ranks_proved():
            return self.unproved()
        if own.rank < whole.rank:
            return self._minimal(whole, own)
        if learning.is_affine:
            return self.affine("what learns")
        row = stuck_output(self.problem, self.learning.moving, self.effort.seed)
        if row is not None:
            self.evidence[STUCK_OUTPUT.name] = row
            why = STUCK.why[INTERMEDIATE]
            return self.conclude(INTERMEDIATE, limit(row), why=why, theorem=STUCK_OUTPUT)
        part, looked = self._part()
        if part is not None:
            self.evidence["part"] = part.to_dict()
            self.certainty = part.root_count_certainty
            count = part.learnable
            rule = f"{plural(count, f'{count} cell')} within its reach are maximal: {part.rule}"
            error = whole.error + part.error_bound
            return self.conclude(MAXIMAL, rule, error, theorem=CELLS_WITHIN_REACH)
        if learning.dimension > whole.rank:
            rule = "not minimal, more dimensions than equations"
            return self.conclude(UNDECIDED, rule, tried=looked)
        if self.network.equations_are == "analytic":
            looked = (*looked, "a number of complex solutions: it is infinite for analytic labels")
            return self.conclude(UNDECIDED, "not minimal, analytic", tried=looked)
        try:
            roots = generic_root_count(
                self.moved.allocation,
                self.problem.support,
                seed=self.effort.seed,
                timeout=self.effort.limits.part(SHARES.updated_root_count),
                has_full_rank=True,
            )
        except (RootCountError, MsolveMissing, OutOfTime) as met:
            looked = (*looked, f"generic root count: {met}")
            return self.conclude(UNDECIDED, "not minimal, root count out of reach", tried=looked)
        self.counted(roots)
        if roots.value % 2:
            rule = "odd generic root count" if roots.value > 1 else "one solution"
            return self.conclude(
                MAXIMAL, rule, generic_root_count=roots.value, theorem=ODD_PARAMETER_COUNT
            )
        rule = f"not minimal, {roots.value} complex solutions"
        looked = (*looked, "instances without real solutions are not searched for with updates")
        return self.conclude(UNDECIDED, rule, generic_root_count=roots.value, tried=looked)

    def _ranks_proved(self) -> bool:
        """Whether the ranks are the generic ones; puts a regular minor into the evidence.

        It is one of J_θ, or of the network's Jacobian where what learns has a smaller rank.
        """
        if self.network.ranks_are_exact(self.problem.support):
            return True
        moved = self.moved
        return self.regular_minor(moved.network, moved.allocation.cells, self.problem.support)

    def _minimal(self, whole: GenericRank, own: GenericRank) -> Certificate:
        size = self.learning.dimension
        if size < whole.rank:
            gauge = self.learning.size - size
            rule = plural(size, f"{size} learnable parameter")
            rule += f" ({gauge} more of gauge)" * bool(gauge)
            rule += plural(whole.rank, f", {whole.rank} independent equation")
            return self.conclude(MINIMAL, rule, Fraction(0), theorem=RANK_DEFICIT)
        rule = f"generic rank {own.rank} of {whole.rank}"
        return self.conclude(MINIMAL, rule, own.error, theorem=RANK_DEFICIT)

    def _part(self) -> tuple[Certificate | None, tuple[str, ...]]:
        """Maximal cells within reach, and a list of what was tried."""
        limits = self.effort.limits
        count = reached = 0
        for part in problems_of_cells(self.problem):
            count += 1
            support, rank = part.support, self.whole.rank
            with suppress(OutOfTime):
                if allocation_rank(part.allocation, support, rank, self.effort.seed).rank < rank:
                    continue
                reached += 1
                seconds = limits.part(SHARES.cells)
                fewer = Limits(seconds, 0, max(1, limits.subsets // _FEWER_SUBSETS))
                effort = replace(self.effort, limits=fewer)
                with within(seconds):
                    found = self.certify_cells(part, effort)
                if found.verdict == MAXIMAL:
                    return found, ()
        text = plural(count, f"{count} part") + " of single cells within reach of the updates: "
        text += f"{reached} of full rank, none shown to be maximal"
        return None, (text,)


def _explained(found: Certificate) -> Explanation:
    """The explanation of a verdict on a problem in which matrices learn by updates."""
    learning = found.problem.learning
    size, gauge = learning.size, learning.size - learning.dimension
    what = plural(size, f"{size} learnable parameter")
    if gauge:
        what += f" ({gauge} of them gauge: they change no weight)"
    inspect = step("inspect", "sizes, dimensions and ranks of the updates")
    identify = step("identify", "which weights the data determine")
    if found.verdict == MINIMAL:
        lacking = found.equations - found.rank
        text = (
            f"MP = 0: a match has to satisfy "
            f"{plural(found.equations, f'{found.equations} independent equation')}, and the {what} "
            f"{'changes' if size == 1 else 'change'} the outputs in "
            f"{plural(found.rank, f'{found.rank} independent direction')} only, {lacking} too few."
        )
        return Explanation((text,), steps=(inspect,))
    reach = f"Not minimal: the {what} reach all {found.equations} independent equations."
    if found.verdict == MAXIMAL:
        if "labels_vanish" in found.evidence:
            text = "MP = 1. No path leads from an input to an output: each student matches."
            return Explanation((text,))
        if "part" in found.evidence:
            part = found.evidence["part"]["learnable"]
            why = f"MP = 1: the updates reach all that {part} single cells reach, for which MP = 1."
        elif "root_count" in found.evidence and learning.dimension == found.equations:
            why = (
                f"MP = 1: almost every instance has {solutions(found.generic_root_count)}, an odd "
                "number: non-real ones come in pairs, so at least one is real."
            )
        elif learning.is_affine:
            why = found.why
        else:
            why = "MP = 1: the updates reach all that certain single cells reach, for which MP = 1."
        return Explanation((reach, why), steps=(identify,))
    known = [reach, f"So {NEAR}"]
    open_ = "whether MP = 1: the number of complex solutions is unknown or infinite"
    if found.generic_root_count is not None:
        open_ = (
            f"whether MP = 1: almost every instance has N = {found.generic_root_count} complex "
            "solutions, and N is even, so all of them may be non-real"
        )
    decided = (
        "a maximal allocation of cells that the updates can change freely (a larger rank may have "
        "one)"
    )
    if found.verdict == INTERMEDIATE:
        known.append("MP < 1: some teachers, of positive probability, are out of reach.")
        open_, decided = "the value of MP: no formula is known", ""
    return Explanation(tuple(known), open_, decided, (inspect, identify))
