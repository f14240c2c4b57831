"""Verdicts on linear networks, with evidence that can be checked independently.

* **minimal** (MP = 0): the generic rank of the allocation's Jacobian is smaller than the
  whole network's (`algebra.ranks.jacobian`, with the proof).
* **maximal** (MP = 1), **intermediate** (0 < MP < 1): not minimal, and by one of the arguments of
  `algebra.arguments`, each with its theorem.  They are searched in the order of
  their cost.
* **undecided**: the attempts are listed.

If structural zeros leave no path from inputs to outputs, every label is 0 and every student
matches: every allocation is maximal.

Verdicts are about continuous laws with full support, or, for signed weights, with support in an
open orthant (`algebra.problems.laws.distribution`); weights with exact numbers have them in all
ranks, counts and instances of the student (`algebra.problems.laws.values`).  For discrete weights
or inputs they are statements about generic instances, not about MP.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from algebra.arguments.case import Case
from algebra.arguments.order import ORDER, argument
from algebra.certificates.certificate import Certificate
from algebra.certificates.family import Effort
from algebra.certificates.on_ranks import certified
from algebra.certificates.premises import RANK_DEFICIT
from algebra.certificates.verdicts import MINIMAL
from algebra.networks.limits import plural
from algebra.networks.protocols import HasLimits
from algebra.problems.allocation import Allocation
from algebra.problems.features import Feature, Features
from algebra.problems.problem import Problem
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budget_sentences
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.matroid import smallest_circuit
from algebra.time_limits import OutOfTime, phase

# Without it no verdict is known.
THEOREMS = (RANK_DEFICIT,)

# Largest number of weights among which a dependent set is searched.
_LARGEST_CIRCUIT = 1_000


def certify_linear(
    problem: Problem,
    effort: Effort,
    *,
    more: Features = frozenset(),
    ranks: tuple[GenericRank, GenericRank] | None = None,
) -> Certificate:
    """Certify an allocation of a linear network: maximal, minimal, intermediate or undecided.

    Parameters
    ----------
    problem : Problem
        Its allocation is fixed.
    effort : Effort
    more : frozenset of Feature, optional
        The features of a problem that is reduced to this one.
    ranks : (GenericRank, GenericRank), optional
        The network's and the allocation's rank, if they are known already.

    Returns
    -------
    Certificate
    """

    def decide() -> Certificate:
        case = Case(
            problem, effort, ranks or generic_ranks(problem, effort.seed), problem.features | more
        )
        whole, own = case.whole, case.own
        if own.rank < whole.rank:
            rule, bound, reasons = why_minimal(problem, whole, own, effort.seed)
            return case.conclude(MINIMAL, rule, error=bound, reasons=reasons, theorem=RANK_DEFICIT)
        for attempt in ORDER:
            present = argument(attempt.argument)
            if not case.begin(attempt, present):
                continue
            # What needs no time may still be found after the limit.
            with suppress(OutOfTime):
                found = present.search(case)
                if found is not None:
                    return case.by(present, found)
        return case.undecided()

    return certified(problem, effort, decide, can_vanish=True, more=more)


def generic_ranks(problem: Problem, seed: int) -> tuple[GenericRank, GenericRank]:
    """The dimension of the labels, and the generic rank of the allocation's Jacobian.

    The first is the generic rank of the network's Jacobian; of arbitrary labels it is their number.
    """
    allocation = problem.allocation
    with phase("generic ranks"):
        if Feature.ARBITRARY_LABELS in problem.features:
            most = problem.network.outputs
            own = allocation_rank(allocation, problem.student(), most, seed)
            return replace(own, rank=most, upper=most, error=Fraction(0)), own
        whole = network_rank(allocation.network, problem.support, seed)
        return whole, allocation_rank(allocation, problem.student(), whole.rank, seed)


def why_minimal(
    problem: Problem, whole: GenericRank, own: GenericRank, seed: int
) -> tuple[str, Fraction, tuple[str, ...]]:
    """Rule, error bound and reasons of the verdict "minimal", for every kind that ranks decide.

    Parameters
    ----------
    problem : Problem
    whole, own : GenericRank
        The network's and the allocation's rank; the latter is smaller.
    seed : int
    """
    allocation = problem.allocation
    with phase("reasons, in counts of rows and columns"):
        reasons = _violated(allocation)
    if allocation.size < whole.rank:
        rule = plural(allocation.size, f"{allocation.size} learnable weight") + plural(
            whole.rank, f", {whole.rank} independent equation"
        )
        return rule, Fraction(0), reasons
    if not reasons and allocation.size <= _LARGEST_CIRCUIT:
        with suppress(OutOfTime):
            reasons = (circuit_reason(allocation, problem.student(), seed),)
    return f"generic rank {own.rank} of {whole.rank}", own.error, reasons


def _violated(allocation: Allocation) -> tuple[str, ...]:
    """Budgets that are exceeded, in words; omitted if time is up."""
    try:
        known = isinstance(allocation.network, HasLimits)
        return budget_sentences(budget_violations(allocation)) if known else ()
    except OutOfTime:
        return ()


def circuit_reason(allocation: Allocation, support: Mapping[str, np.ndarray], seed: int) -> str:
    """The reason if no budget is violated: a dependent set of weights."""
    cells = smallest_circuit(allocation, support, seed)
    names = " ".join(f"{name}[{i},{j}]" for name, i, j in cells)
    return f"no budget is violated, but these {len(cells)} are dependent: {names}"
