"""Verdicts on linear networks, with evidence that somebody else can check.

* **minimal** (MP = 0): the generic rank of the allocation's Jacobian is smaller than the
  whole network's (`algebra.ranks.jacobian`, with the proof).
* **maximal** (MP = 1): the allocation is not minimal and the generic root count N is odd,
  in particular 1: non-real solutions come in conjugate pairs, so every generic instance
  has a real one.  Or a sub-allocation is maximal: what fewer weights can do, more can.
  Or the teacher itself is a student, in another basis (`algebra.linear.reachable`).
* **intermediate** (0 < MP < 1): not minimal, and one rational instance has N distinct
  simple complex solutions, none of them real.  They move continuously and a generic instance has
  no more, so the instances around it have no real solution either, and they have positive
  probability (theorem and proof: `algebra.linear.verify_witness`).
* **undecided**: what was tried is listed.

Where structural zeros leave no path from inputs to outputs, every label is 0 and every
student matches: maximal, whatever learns.

N is counted modulo primes (`algebra.systems.root_count`).  Where msolve is missing or too slow, a
numerical counter may be handed in; a verdict that rests on it says so in its rule.

Verdicts are about continuous laws with full support.  For discrete weights or inputs they
are statements about generic instances, not about MP.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from algebra.certificates.certificate import (
    DISCRETE,
    INTERMEDIATE,
    MAXIMAL,
    MINIMAL,
    UNDECIDED,
    Certificate,
)
from algebra.certificates.family import Effort
from algebra.certificates.vanishing import vanishing_certificate
from algebra.linear.evidence import circuit_reason, rank_evidence, reached_evidence, root_evidence
from algebra.linear.reachable import reachable_blocks
from algebra.linear.witness import find_witness
from algebra.networks.limits import plural
from algebra.phases import phase
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.problems.reachability import labels_vanish
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.matroid import candidate_bases
from algebra.systems.root_count import LINEAR, NUMERICAL, RootCountError, generic_root_count
from algebra.theorems.statements import what_theorems_say
from algebra.time_limits import OutOfTime, is_over

# Weights among which a dependent set is looked for.
_LARGEST_CIRCUIT = 1_000


def certify_linear(
    problem: Problem,
    effort: Effort,
    *,
    peers: bool = True,
    ranks: tuple[GenericRank, GenericRank] | None = None,
) -> Certificate:
    """Decide whether an allocation of a linear network is maximal, minimal or in between.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.
    effort : Effort
    peers : bool, optional
        Whether the teacher is a network of the same kind; of lowered problems it is not, and
        whether it is among the students is not asked.
    ranks : (GenericRank, GenericRank), optional
        The network's and the allocation's, where they are known already.

    Returns
    -------
    Certificate
    """
    seed, limits, tools = effort.seed, effort.limits, effort.tools
    start = time.monotonic()
    allocation, support = problem.allocation, problem.support
    network = allocation.network
    notes = [] if problem.distribution.is_continuous else [DISCRETE]
    theorems = what_theorems_say(network, allocation)
    if labels_vanish(network, support):
        return vanishing_certificate(
            problem, theorems, tuple(notes), seed, time.monotonic() - start
        )
    whole, own = ranks or generic_ranks(problem, seed)
    evidence: dict[str, Any] = {
        "network_rank": rank_evidence(problem, whole),
        "allocation_rank": rank_evidence(problem, own),
    }

    def conclude(verdict: str, rule: str, error: Fraction, **more: Any) -> Certificate:
        return Certificate(
            problem=problem,
            verdict=verdict,
            rule=rule,
            equations=whole.rank,
            rank=own.rank,
            prime=own.p,
            error_bound=error,
            theorems=theorems,
            notes=tuple(notes) + tuple(more.pop("notes", ())),
            evidence=evidence,
            seed=seed,
            seconds=time.monotonic() - start,
            **more,
        )

    if own.rank < whole.rank:
        rule, bound, reasons = why_minimal(problem, whole, own, seed)
        return conclude(MINIMAL, rule, bound, reasons=reasons)

    # Not minimal: proved, unless the whole network's rank is only probably not larger.
    error = whole.error

    def if_reached(**more: Any) -> Certificate | None:
        blocks = reachable_blocks(problem, seed) if peers else None
        if blocks is None:
            return None
        evidence["teacher_reached"] = reached_evidence(blocks)
        rule = "the teacher itself is reachable: a change of basis makes it a student"
        return conclude(MAXIMAL, rule, error, **more)

    if allocation.size > whole.rank:
        reached = if_reached()
        if reached is not None:
            return reached
        return _over_complete(problem, whole, effort, conclude, evidence, error)
    try:
        roots = generic_root_count(
            allocation, support, seed=seed, timeout=limits.basis, fallback=tools.root_counter
        )
    except (RootCountError, OutOfTime) as problem_met:
        with suppress(OutOfTime):
            reached = if_reached()
            if reached is not None:
                return reached
        tried = (f"generic root count: {problem_met}",)
        least = problem_met.at_least if isinstance(problem_met, RootCountError) else None
        return conclude(
            UNDECIDED, "not minimal, root count out of reach", error, tried=tried,
            root_count_at_least=least,
        )  # fmt: skip
    evidence["root_count"] = root_evidence(roots)
    how = f" ({NUMERICAL})" if roots.is_numerical else ""
    if roots.is_numerical:
        notes.append(f"N = {roots.value}: {roots.how} ({roots.because})")
    if roots.value % 2:
        rule = "linear after elimination" if roots.value == 1 else f"odd generic root count{how}"
        if roots.value == 1 and roots.rule != LINEAR:
            rule = f"one solution, rational in the data{how}"
        return conclude(MAXIMAL, rule, error, generic_root_count=roots.value)
    reached = if_reached(generic_root_count=roots.value)
    if reached is not None:
        return reached
    guesses = tools.candidates(problem, roots.value) if tools.candidates is not None else ()
    try:
        with phase("looking for an instance without real solutions"):
            witness, text = find_witness(problem, roots, seed, limits.search, guesses, limits.basis)
    except OutOfTime as over:
        witness, text = None, f"instances without real solutions were looked for: {over}"
    if witness is None:
        rule = f"not minimal, {roots.value} complex solutions{how}"
        return conclude(UNDECIDED, rule, error, generic_root_count=roots.value, tried=(text,))
    evidence["no_real_root"] = witness
    rule = f"an instance with {roots.value} complex solutions, none real{how}"
    return conclude(INTERMEDIATE, rule, error, generic_root_count=roots.value)


def generic_ranks(problem: Problem, seed: int) -> tuple[GenericRank, GenericRank]:
    """Of the network's Jacobian and of the allocation's."""
    allocation, support = problem.allocation, problem.support
    with phase("generic ranks"):
        whole = network_rank(allocation.network, support, seed)
        return whole, allocation_rank(allocation, support, whole.rank, seed)


def why_minimal(
    problem: Problem, whole: GenericRank, own: GenericRank, seed: int
) -> tuple[str, Fraction, tuple[str, ...]]:
    """Rule, error bound and reasons of a verdict "minimal", of every kind that ranks decide.

    Parameters
    ----------
    problem : Problem
    whole, own : GenericRank
        The network's and the allocation's, which is smaller.
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
            reasons = (circuit_reason(allocation, problem.support, seed),)
    return f"generic rank {own.rank} of {whole.rank}", own.error, reasons


def _violated(allocation: Allocation) -> tuple[str, ...]:
    """Budgets that are exceeded, in words; the verdict does without them where time is up."""
    try:
        return tuple(str(v) for v in budget_violations(allocation))
    except OutOfTime:
        return ()


def _in_time(bases: Iterator[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    """Bases as long as there is time."""
    while not is_over():
        try:
            cells = next(bases)
        except (StopIteration, OutOfTime):
            return
        yield cells


def _over_complete(
    problem: Problem,
    whole: GenericRank,
    effort: Effort,
    conclude: Callable[..., Certificate],
    evidence: dict[str, Any],
    error: Fraction,
) -> Certificate:
    """More weights than equations: maximal if some sub-allocation is."""
    allocation, support = problem.allocation, problem.support
    seed, timeout, subsets = effort.seed, effort.limits.basis, effort.limits.subsets
    tried, out_of_reach = 0, 0
    for cells in _in_time(candidate_bases(allocation, whole.rank, support, seed, subsets)):
        tried += 1
        part = Allocation.from_cells(allocation.network, cells)
        try:
            roots = generic_root_count(
                part, support, seed=seed, timeout=timeout / 4, fallback=effort.tools.root_counter
            )
        except (RootCountError, OutOfTime):
            out_of_reach += 1
            continue
        if roots.value % 2:
            evidence["sub_allocation"] = [list(cell) for cell in part.cells]
            evidence["root_count"] = root_evidence(roots)
            how = f", {NUMERICAL}" if roots.is_numerical else ""
            rule = f"a sub-allocation of {whole.rank} weights is maximal (N = {roots.value}{how})"
            return conclude(MAXIMAL, rule, error)
    text = f"{tried} sub-allocations of {whole.rank} weights: none with an odd root count"
    if out_of_reach:
        text += f" ({out_of_reach} out of reach)"
    if is_over():
        text += "; the time limit was met"
    return conclude(UNDECIDED, "not minimal, more weights than equations", error, tried=(text,))
