"""Verdicts with evidence that can be checked independently, for every kind of network.

* **minimal** (MP = 0): the generic rank of the allocation's Jacobian is smaller than the
  whole network's (`algebra.ranks.jacobian`, with the proof, for labels that are analytic).
* **maximal** (MP = 1), **intermediate** (0 < MP < 1): not minimal, and by one of the arguments of
  `algebra.arguments.order`, each with its theorem, for the problems that its premises cover.  They
  are searched in the order of their cost.
* **undecided**: the attempts are listed.

If structural zeros leave no path from inputs to outputs, every label is 0 and every student
matches: every allocation is maximal.

**Exact ranks.**  Ranks modulo primes are the generic ranks of polynomials, and with formal values
where `Network.why_exact` gives a theorem (`algebra.arguments.formal_ranks`).  Otherwise they are
upper bounds, and a regular minor in ball arithmetic proves that they are attained
(`algebra.ranks.minors`).

**Given weights.**  If the fixed weights are those of a file, the rank of the learnable weights is
computed there (their own values are arbitrary), and that of the network at arbitrary weights, which
are the teacher's: the theorem is proved for fixed weights, and near a student whose labels have
rank ρ the network's have rank ρ, too.

**Pieces.**  Labels that are analytic only on pieces are looked at on the pieces of a few rational
points (`algebra.ranks.pieces`): full rank on one of them shows that MP > 0; a deficit decides
nothing.

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
from algebra.certificates.on_ranks import certified
from algebra.certificates.tools import Effort, Tools
from algebra.checker.premises import EVERYTHING_LEARNS, RANK_DEFICIT
from algebra.checker.verdicts import MINIMAL, UNDECIDED
from algebra.networks.protocols import HasLimits, HasPieces
from algebra.problems.allocation import Allocation
from algebra.problems.premises import Feature, Features
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budget_sentences
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.jacobian import base_of
from algebra.ranks.matroid import smallest_circuit
from algebra.time_limits import OutOfTime, phase
from algebra.words import plural

# Without these no verdict is known: of labels that are analytic, and of any.
THEOREMS = (RANK_DEFICIT,)
ON_PIECES = (RANK_DEFICIT, EVERYTHING_LEARNS)

# Largest number of weights among which a dependent set is searched.
_LARGEST_CIRCUIT = 1_000


def certify_by_arguments(
    problem: Problem, effort: Effort, *, more: Features = frozenset()
) -> Certificate:
    """Certify an allocation: maximal, minimal, intermediate or undecided.

    Parameters
    ----------
    problem : Problem
        Its allocation is fixed.
    effort : Effort
    more : frozenset of Feature, optional
        The features of a problem that is reduced to this one.

    Returns
    -------
    Certificate
    """
    reduction = lowered(problem)
    if reduction is not None:
        found = certify_by_arguments(reduction.problem, effort, more=more | problem.features)
        return replace(found, problem=problem)
    if problem.network.chain() is None:
        # A trace test and guessed instances apply only to chains.
        effort = replace(effort, tools=Tools())
    return certified(
        problem, effort, lambda: _decided(problem, effort, problem.features | more),
        can_vanish=True, more=more,
    )  # fmt: skip


def _decided(problem: Problem, effort: Effort, features: Features) -> Certificate:
    """The certificate, on the first piece of full rank if the labels are analytic on pieces."""
    masks, network = problem.allocation.masks, problem.network
    if network.has_given_weights:
        network = network.at_file(masks, problem.support)
        problem = replace(problem, network=network)
    if not (isinstance(network, HasPieces) and network.is_piecewise):
        return _by_arguments(Case(problem, effort, generic_ranks(problem, effort.seed), features))
    # Loaded here: few networks have pieces.
    from algebra.programs.balls import SignUnknown
    from algebra.ranks.pieces import on_pattern, patterns_of

    first: Certificate | None = None
    for number in patterns_of(network):
        try:
            piece = on_pattern(problem, number)
        except SignUnknown:
            continue
        ranks = generic_ranks(piece, effort.seed)
        found = _by_arguments(Case(piece, effort, ranks, features, number))
        if found.rank == found.equations:
            return found
        first = first or found
    if first is None:
        raise SignUnknown(f"no activation pattern of {network} was found at rational points")
    return first


def _by_arguments(case: Case) -> Certificate:
    """The certificate of a case by its ranks, or by the first argument that decides it."""
    whole, own, cells = case.whole, case.own, case.problem.allocation.cells
    is_minimal = own.rank < whole.rank
    if is_minimal:
        if not case.has_rank(cells):
            return case.unproved()
        if case.piece is not None:
            rule = f"rank {own.rank} of {whole.rank} on the activation pattern that was drawn"
            tried = "other activation patterns or tokens may have other ranks"
            return case.conclude(UNDECIDED, rule, tried=(tried,))
        rule, bound, reasons = why_minimal(case.problem, whole, own, case.effort.seed)
        return case.conclude(MINIMAL, rule, error=bound, reasons=reasons, theorem=RANK_DEFICIT)
    for attempt in ORDER:
        present = argument(attempt.argument)
        if not case.begin(attempt, present):
            continue
        # What needs no time may still be found after the limit.
        with suppress(OutOfTime):
            found = present.search(case)
            if found is None:
                continue
            if not present.needs_ranks or case.has_rank(found.cells or cells):
                return case.by(present, found)
    return case.undecided() if case.has_rank(cells) else case.unproved()


def generic_ranks(problem: Problem, seed: int) -> tuple[GenericRank, GenericRank]:
    """The dimension of the labels, and the generic rank of the allocation's Jacobian.

    The first is the generic rank of the network's Jacobian at any weights; of arbitrary labels it
    is their number.
    """
    allocation = problem.allocation
    with phase("generic ranks"):
        if Feature.ARBITRARY_LABELS in problem.features:
            most = problem.network.outputs
            own = allocation_rank(allocation, problem.student(), most, seed)
            return replace(own, rank=most, upper=most, error=Fraction(0)), own
        whole = network_rank(allocation.network.anywhere(), problem.support, seed)
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
        what = "weight" if base_of(allocation.network) is allocation.network else "parameter"
        rule = plural(allocation.size, f"{allocation.size} learnable {what}") + plural(
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
    text = allocation.network.weight_text
    names = " ".join(text(name, str(i), str(j)) for name, i, j in cells)
    return f"no budget is violated, but these {len(cells)} are dependent: {names}"
