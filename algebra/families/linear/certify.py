"""Verdicts on linear networks, with evidence that can be checked independently.

* **minimal** (MP = 0): the generic rank of the allocation's Jacobian is smaller than the
  whole network's (`algebra.ranks.jacobian`, with the proof).
* **maximal** (MP = 1): the allocation is not minimal and the generic root count N is odd, in
  particular 1: non-real solutions occur in conjugate pairs, so every generic instance has a real
  one.  Or a sub-allocation is maximal: further learnable weights cannot lower MP.  Or groups of
  weights that move together are, or an odd number of solutions lies at infinity, or an odd number
  of students has given products of matrices, or of critical points the distance from a point
  (`algebra.families.linear.surplus`).  Or the teacher itself is a student in
  another basis (`algebra.families.linear.reachable`, `algebra.families.linear.dual_bases`).  Or a
  whole column of W reaches all labels by its real degree (`algebra.families.linear.columns`).
* **intermediate** (0 < MP < 1): not minimal, and one rational instance has N distinct simple
  complex solutions, none of them real.  They move continuously and a generic instance has no
  others, so the instances in a neighbourhood have no real solution either, and the neighbourhood
  has positive probability (theorem and proof: `algebra.families.linear.verification.witness`).  Or
  a combination of the labels is a positive definite form of the weights, however many there are
  (`algebra.families.linear.verification.definite`), or no critical point of the distance is real.
* **undecided**: the attempts are listed.

If structural zeros leave no path from inputs to outputs, every label is 0 and every student
matches: every allocation is maximal.

N is counted modulo primes (`algebra.systems.root_count`).  If msolve is missing or too slow, a
numerical counter may be passed as an argument; the rule of a verdict that depends on it names it.

Verdicts are about continuous laws with full support, or, for signed weights, with support in an
open orthant (`algebra.problems.laws.distribution`); weights with exact numbers have them in all
ranks, counts and instances of the student (`algebra.problems.laws.values`).  For discrete weights
or inputs they are statements about generic instances, not about MP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

from algebra.certificates.certificate import (
    INTERMEDIATE,
    MAXIMAL,
    MINIMAL,
    UNDECIDED,
    Certificate,
)
from algebra.certificates.family import Effort
from algebra.certificates.on_ranks import OnRanks, certified
from algebra.families.linear.columns import whole_column
from algebra.families.linear.dual_bases import dual_order
from algebra.families.linear.enclosed import enclosed_evidence
from algebra.families.linear.evidence import (
    Reached,
    circuit_reason,
)
from algebra.families.linear.reachable import reachable_blocks
from algebra.families.linear.surplus.critical import (
    instance_without_real_points,
    number_of_critical_points,
)
from algebra.families.linear.surplus.infinity import AtInfinity, solution_at_infinity
from algebra.families.linear.surplus.partial_products import fixed_products
from algebra.families.linear.surplus.tied import tied_problems
from algebra.families.linear.verification.normal_form import normal_problem
from algebra.families.linear.witness import find_witness
from algebra.networks.limits import plural
from algebra.phases import phase
from algebra.polynomials.msolve.process import MsolveMissing
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.questions.theorems.statements import what_theorems_say
from algebra.ranks.budgets.cover import budget_violations
from algebra.ranks.budgets.lines import budget_sentences
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.matroid import candidate_bases
from algebra.systems.root_count import (
    LINEAR,
    NUMERICAL,
    RootCount,
    RootCounter,
    RootCountError,
    generic_root_count,
)
from algebra.systems.update_roots import update_root_count
from algebra.time_limits import OutOfTime, end_of_part, has_passed, is_over, time_left, within

# Largest number of weights among which a dependent set is searched.
_LARGEST_CIRCUIT = 1_000
# Number of instances solved exactly, one second each, before the search by descent.
_FIRST = 8


def certify_linear(
    problem: Problem,
    effort: Effort,
    *,
    peers: bool = True,
    ranks: tuple[GenericRank, GenericRank] | None = None,
) -> Certificate:
    """Certify an allocation of a linear network: maximal, minimal, intermediate or undecided.

    Parameters
    ----------
    problem : Problem
        Its allocation is fixed.
    effort : Effort
    peers : bool, optional
        Whether the teacher is a network of the same kind; for lowered problems it is not, and the
        rule that the teacher is a student is not used.
    ranks : (GenericRank, GenericRank), optional
        The network's and the allocation's rank, if they are known already.

    Returns
    -------
    Certificate
    """

    def decide() -> Certificate:
        return _Case(problem, effort, ranks or generic_ranks(problem, effort.seed), peers).run()

    theorems = what_theorems_say(problem.network, problem.allocation)
    return certified(problem, effort, theorems, decide, can_vanish=True)


class _Case(OnRanks):
    """Certifies one allocation, given its ranks.

    Parameters
    ----------
    problem, effort, ranks
        As for `OnRanks`: the ranks are the network's and the allocation's.
    peers : bool
        Whether the teacher is a network of the same kind.
    """

    def __init__(
        self,
        problem: Problem,
        effort: Effort,
        ranks: tuple[GenericRank, GenericRank],
        peers: bool,
    ) -> None:
        super().__init__(problem, effort, *ranks)
        self.peers = peers

    def run(self) -> Certificate:
        problem, whole, own = self.problem, self.whole, self.own
        if own.rank < whole.rank:
            rule, bound, reasons = why_minimal(problem, whole, own, self.effort.seed)
            return self.conclude(MINIMAL, rule, error=bound, reasons=reasons)
        if problem.allocation.size > whole.rank:
            return self._surplus()
        return self.by_root_count()

    def if_reached(self, **more: Any) -> Certificate | None:
        """Maximal, if the teacher itself is a student."""
        if not self.peers:
            return None
        blocks = reachable_blocks(self.problem, self.effort.seed)
        if blocks is not None:
            self.evidence["teacher_reached"] = Reached(blocks).to_dict()
        else:
            order = dual_order(self.problem, self.effort.seed)
            if order is None:
                return None
            self.evidence["dual_bases"] = [list(vector) for vector in order]
        rule = "the teacher itself is reachable: a change of basis makes it a student"
        return self.conclude(MAXIMAL, rule, **more)

    def if_onto(self, **more: Any) -> Certificate | None:
        """Maximal, if a whole column reaches all labels by its real degree."""
        column = whole_column(self.problem, self.effort.seed)
        if column is None:
            return None
        self.evidence["whole_column"] = column
        rule = f"column {column} of W is mapped onto all labels: a proper map of degree ≠ 0"
        return self.conclude(MAXIMAL, rule, **more)

    def by_form(self, **more: Any) -> Certificate | None:
        """Intermediate, if a positive definite form is found that some labels contradict."""
        search = self.effort.tools.definite_form
        if search is None or not self.peers:
            return None
        with phase("positive definite forms"):
            found = search(self.problem)
        if found is None:
            return None
        self.evidence["definite_form"] = dict(found)
        rule = "some labels contradict a positive definite form of the weights"
        return self.conclude(INTERMEDIATE, rule, **more)

    def _surplus(self) -> Certificate:
        """More weights than equations: what needs no parts first."""
        found = self.if_reached() or self.if_onto() or self.by_form() or self.by_normal_form()
        return found or self.over_complete()

    def by_normal_form(self) -> Certificate | None:
        """Intermediate, if the problem in a basis in which B and D are diagonal is."""
        problem = normal_problem(self.problem) if self.peers else None
        if problem is None:
            return None
        with suppress(OutOfTime):
            found = certify_linear(problem, self.effort, peers=False)
            if found.verdict == INTERMEDIATE:
                self.evidence["normal_form"] = found.to_dict()
                rule = f"in a basis in which B and D are diagonal: {found.rule}"
                return self.conclude(INTERMEDIATE, rule)
        return None

    def by_root_count(self) -> Certificate:
        """As many weights as equations: maximal if N is odd."""
        limits, tools = self.effort.limits, self.effort.tools
        try:
            roots = generic_root_count(
                self.problem.allocation, self.problem.student(), seed=self.effort.seed,
                timeout=limits.basis, fallback=tools.root_counter,
            )  # fmt: skip
        except (RootCountError, OutOfTime) as problem_met:
            with suppress(OutOfTime):
                reached = self.if_reached() or self.if_onto() or self.by_form()
                if reached is not None:
                    return reached
            tried = (f"generic root count: {problem_met}",)
            least = problem_met.at_least if isinstance(problem_met, RootCountError) else None
            return self.conclude(
                UNDECIDED, "not minimal, root count out of reach", tried=tried,
                root_count_at_least=least,
            )  # fmt: skip
        self.counted(roots)
        how = f" ({NUMERICAL})" if roots.is_numerical else ""
        if roots.is_numerical:
            self.notes.append(f"N = {roots.value}: {roots.how} ({roots.because})")
        if roots.value % 2 == 0:
            given = {"generic_root_count": roots.value}
            return self.if_reached(**given) or self.if_onto(**given) or self.by_witness(roots, how)
        rule = "linear after elimination" if roots.value == 1 else f"odd generic root count{how}"
        if roots.value == 1 and roots.rule != LINEAR:
            rule = f"one solution, rational in the data{how}"
        return self.conclude(MAXIMAL, rule, generic_root_count=roots.value)

    def by_witness(self, roots: RootCount, how: str) -> Certificate:
        """N is even: intermediate if an instance without real solutions is found."""
        problem, seed, search = self.problem, self.effort.seed, self.effort.limits.search
        candidates = self.effort.tools.candidates
        try:
            with phase("search for an instance without real solutions"):
                # If exact solving is fast, no guesses are needed, which take time to start.
                parts = (search, math.inf) if candidates is None else (search / 4, _FIRST)
                witness, text = find_witness(problem, roots, seed, *parts)
                if witness is not None:
                    self.evidence["no_real_root"] = witness
                elif (found := self.by_form(generic_root_count=roots.value)) is not None:
                    return found
                elif candidates is not None:
                    text += "; no instance without real solutions was found by descent"
                    for guess in candidates(problem, roots.value):
                        enclosed = enclosed_evidence(problem, guess, roots.value)
                        if enclosed is not None:
                            self.evidence["enclosed_solutions"] = enclosed
                            break
        except OutOfTime as over:
            text = f"instances without real solutions were searched for: {over}"
        if not self.evidence.keys() & {"no_real_root", "enclosed_solutions"}:
            rule = f"not minimal, {roots.value} complex solutions{how}"
            return self.conclude(UNDECIDED, rule, generic_root_count=roots.value, tried=(text,))
        rule = f"an instance with {roots.value} complex solutions, none real{how}"
        return self.conclude(INTERMEDIATE, rule, generic_root_count=roots.value)

    def over_complete(self) -> Certificate:
        """More weights than equations: maximal by a part of them, by ties, or at infinity."""
        allocation, support, size = self.problem.allocation, self.problem.student(), self.whole.rank
        seed, limits = self.effort.seed, self.effort.limits
        parts = (
            Allocation.from_cells(allocation.network, cells)
            for cells in _in_time(candidate_bases(allocation, size, support, seed, limits.subsets))
        )
        # First what is quickly counted; then what needs no count of a part.
        quick, share = _Parts(), limits.basis / 4
        found = self._by_parts(parts, quick, share / 2, None, end_of_part(share))
        if found is not None:
            return found
        again, slow, texts = chain(quick.left, parts), _Parts(quick.even), list[str]()

        def by_slow_parts(_: int) -> tuple[Certificate | None, str]:
            return self._by_parts(again, slow, 2 * share, None, end_of_part(share)), ""

        with suppress(OutOfTime):
            others = [self._by_infinity, by_slow_parts, self._by_ties, self._by_products]
            # Ties are no easier to count than parts.
            others = [*others, self._by_paths] if quick.even else [self._by_paths, *others]
            for other in (*others, self._by_critical_points):
                # Problems of ties do not support exact numbers.
                found, text = other(0 if pins(support) else limits.subsets)
                if found is not None:
                    return found
                if text:
                    texts.append(text)
        rest, counter = _Parts(slow.even), self.effort.tools.root_counter
        found = self._by_parts(chain(slow.left, again), rest, share, counter, math.inf)
        if found is not None:
            return found
        tried = rest.even + len(rest.left)
        text = f"{tried} sub-allocations of {size} weights: none with an odd root count"
        if rest.left:
            text += f" ({len(rest.left)} out of reach)"
        text = "; ".join([text, *texts])
        if is_over():
            text += "; the time limit was reached"
        return self.conclude(
            UNDECIDED, "not minimal, more weights than equations", tried=(text,),
            out_of_time=bool(rest.left) or is_over(),
        )  # fmt: skip

    def _by_parts(
        self, parts: Iterable[Allocation], seen: _Parts, seconds: float,
        fallback: RootCounter | None, end: float,
    ) -> Certificate | None:  # fmt: skip
        """Maximal where a part has odd N; the others are recorded, as long as `end` has not passed.

        With an end, what needs more than msolve is left for later.
        """
        for part in parts:
            try:
                roots = generic_root_count(
                    part, self.problem.student(), seed=self.effort.seed, timeout=seconds,
                    fallback=fallback,
                )  # fmt: skip
            except (RootCountError, OutOfTime):
                seen.left.append(part)
            except MsolveMissing:
                if end == math.inf:
                    raise
                seen.left.append(part)
                break
            else:
                seen.even += 1
                if roots.value % 2:
                    self.evidence["sub_allocation"] = [list(cell) for cell in part.cells]
                    self.counted(roots)
                    how = f", {NUMERICAL}" if roots.is_numerical else ""
                    rule = f"a sub-allocation of {self.whole.rank} weights is maximal"
                    return self.conclude(MAXIMAL, f"{rule} (N = {roots.value}{how})")
            if has_passed(end):
                break
        return None

    def _by_infinity(self, most: int) -> tuple[Certificate | None, str]:
        """Maximal where some weights may go to infinity; else what was tried, in words."""
        seconds = self.effort.limits.basis / 8 if most else 0
        found = solution_at_infinity(self.problem, self.whole.rank, self.effort.seed, seconds)
        return self._at_infinity(found), "no odd number of solutions at infinity was found"

    def _by_paths(self, most: int) -> tuple[Certificate | None, str]:
        """The same, for growths at the ends of paths that were followed numerically."""
        tool, rank, found = self.effort.tools.growths, self.whole.rank, None
        if tool is None or not most:
            return None, "no paths to infinity were followed"
        # Parts and ties that are out of reach would need far more time than is left.
        seconds = time_left(self.effort.limits.basis * 2) * 3 / 4
        with suppress(OutOfTime), within(seconds):
            growths = tool(self.problem, rank)
            found = solution_at_infinity(
                self.problem, rank, self.effort.seed, seconds, growths
            )  # fmt: skip
        return self._at_infinity(found), "nor at the ends of paths that were followed"

    def _at_infinity(self, found: AtInfinity | None) -> Certificate | None:
        """Maximal, if there is an odd number of solutions at infinity."""
        if found is None:
            return None
        self.evidence["at_infinity"] = found.to_dict()
        number = plural(found.solutions, f"{found.solutions} solution")
        self._note(f"{number} at infinity", found.primes)
        return self.conclude(MAXIMAL, f"real solutions near infinity: {number} there, odd")

    def _by_products(self, most: int) -> tuple[Certificate | None, str]:
        """Maximal where an odd number of students has given entries of products of matrices."""
        seconds = self.effort.limits.basis / 4 if most else 0
        found = fixed_products(self.problem, self.whole.rank, self.effort.seed, seconds)
        text = "no odd number of students with fixed products of matrices was found"
        if found is None:
            return None, text
        self.evidence["partial_products"] = found.to_dict()
        number = plural(found.solutions, f"{found.solutions} student")
        self._note(number, found.primes)
        return self.conclude(
            MAXIMAL, f"{number}, odd, with fixed entries of products of matrices"
        ), ""

    def _by_critical_points(self, most: int) -> tuple[Certificate | None, str]:
        """Decided by the number of critical points of the distance, if there are few."""
        seed, limits, other = self.effort.seed, self.effort.limits, None
        seconds = limits.basis / 8 if most else 0
        found = number_of_critical_points(self.problem, self.whole.rank, seed, seconds)
        if found is None:
            return None, "critical points of the distance were not counted"
        text = number = str(found)
        if found.number % 2:
            other, verdict, rule = found, MAXIMAL, f"{number}, odd"
        elif self.peers:
            verdict, rule = INTERMEDIATE, f"an instance with {number}, none real"
            other, text = instance_without_real_points(self.problem, found, seed, limits.search)
        if other is None:
            return None, text
        self.evidence["critical_points"] = other.to_dict()
        self._note(number, found.primes)
        return self.conclude(verdict, rule), ""

    def _note(self, number: str, primes: tuple[int, ...]) -> None:
        """What is known of a count that stands for itself."""
        self.notes.append(
            f"{number}, counted modulo {' and '.join(map(str, primes))}; no bound is known on the "
            "probability that this is wrong because of a prime or a point"
        )

    def _by_ties(self, most: int) -> tuple[Certificate | None, str]:
        """Maximal if weights that move together have odd N; otherwise a list of the attempts."""
        size, seed, seconds = self.whole.rank, self.effort.seed, self.effort.limits.basis / 4
        tried, end = 0, end_of_part(2 * seconds)
        for tied in tied_problems(self.problem, size, seed, most):
            if has_passed(end):
                break
            try:
                # An even count modulo one prime suffices to reject the groups.
                roots = update_root_count(tied, seed=seed, timeout=seconds, primes=1)
                if roots.value % 2:
                    roots = update_root_count(tied, seed=seed, timeout=seconds)
            except RootCountError:
                continue
            tried += 1
            if roots.value % 2:
                self.evidence["tied"] = tied.to_dict()["learnable"]
                self.counted(roots)
                rule = f"{size} groups of tied weights are maximal"
                return self.conclude(MAXIMAL, f"{rule} (N = {roots.value})"), ""
        return None, f"{tried} ways to tie weights: none with an odd root count"


@dataclass
class _Parts:
    """Sub-allocations that decide nothing: how many have even N, and which were not counted."""

    even: int = 0
    left: list[Allocation] = field(default_factory=list)


def generic_ranks(problem: Problem, seed: int) -> tuple[GenericRank, GenericRank]:
    """The generic ranks of the network's Jacobian and of the allocation's."""
    allocation = problem.allocation
    with phase("generic ranks"):
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
        known = allocation.network.has_limits
        return budget_sentences(budget_violations(allocation)) if known else ()
    except OutOfTime:
        return ()


def _in_time(bases: Iterator[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
    """The bases that come within the time limit."""
    while not is_over():
        try:
            cells = next(bases)
        except (StopIteration, OutOfTime):
            return
        yield cells
