"""Verification of certificates of linear networks, as far as possible by other methods.

* Jacobians are compared with forward-mode derivatives (dual numbers) in random directions; ranks
  are computed by the verifier's own elimination instead of FLINT.
* A rank deficit is tested at new random primes and points.
* The generic root count is computed again modulo another prime in another form (or without deferred
  blocks), small ones by SymPy's Gröbner bases.  If msolve is missing or too slow, a numerical
  counter may be passed as an argument; it starts from another seed.
* A witness without real solutions is recomputed from its rationals
  (`algebra.families.linear.verification.witness`, with the theorem).
* The claim that the teacher itself is a student is verified at a new point
  (`algebra.families.linear.verification.reachable`,
  `algebra.families.linear.verification.dual_bases`).

The premises of each verdict, J_A and J the Jacobians of the theorem in `algebra.ranks.jacobian`:

minimal       (a) rank J ≥ ρ at a point, (b) rank J_A < ρ generically: always if fewer than ρ
              weights learn.
maximal       (a) rank J ≤ ρ generically, (b) rank J_A = ρ at a point, so that a generic instance
              has finitely many solutions, at least one; (c) their number N is odd.  Or (c) holds
              for a part of the allocation that has ρ weights and rank ρ, or for ρ groups of its
              weights that move together, of rank ρ, or for solutions at infinity, where more than
              ρ weights learn.  Or, without any of these, a whole column of W is mapped onto all
              labels, or the teacher is a student.  Or no path leads from inputs to outputs.
intermediate  (a), (b) as before, so MP > 0; r = ρ; (c) N is the generic root count, (d) an
              instance with N simple solutions, none real, persists: MP < 1.  Or, instead of r = ρ,
              (c) and (d), some labels contradict a positive definite form, or the problem in a
              basis in which B and D are diagonal is intermediate.
undecided     none; the file's ranks and N are verified in this case too.

The verdict's status is that of the weakest premise.  N is counted last, after all that is fast to
refute; if the count does not finish, the check is unfinished.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from algebra.certificates.certificate import INTERMEDIATE, MAXIMAL, MINIMAL
from algebra.certificates.checks import (
    PROBABLE,
    PROVED,
    UNCHECKED,
    UNFINISHED,
    CheckFailed,
    Checklist,
    Verification,
    weakest,
)
from algebra.certificates.claim import Claim, verified
from algebra.certificates.family import Effort
from algebra.certificates.on_ranks import RootEvidence
from algebra.certificates.points import RankClaim
from algebra.certificates.vanishing import check_vanishing
from algebra.families.linear.columns import check_column
from algebra.families.linear.derivatives import dual_derivative
from algebra.families.linear.evidence import (
    LinearEvidence,
    Witness,
    context_of,
    read_evidence,
)
from algebra.families.linear.recount import counted_modulo, recount_again
from algebra.families.linear.surplus.apart import APART
from algebra.families.linear.surplus.tied import check_tied
from algebra.families.linear.verification.definite import check_definite
from algebra.families.linear.verification.dual_bases import check_dual_bases
from algebra.families.linear.verification.enclosed import check_enclosed
from algebra.families.linear.verification.normal_form import check_normal_form, normal_problem
from algebra.families.linear.verification.reachable import check_reached
from algebra.families.linear.verification.witness import check_no_real_root
from algebra.families.linear.witness import find_witness
from algebra.linalg.modular import batched_rank, matmul, modular_rank, random_residues
from algebra.networks.base import Network, Point
from algebra.phases import phase
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.problem import Problem
from algebra.questions.theorems.statements import what_theorems_say
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells, at_enough_samples, jacobian, tangent_factors
from algebra.systems.forms import forms
from algebra.systems.root_count import DEGREE, TRACE, RootCount
from algebra.systems.update_roots import FORM, LAST, count_at
from algebra.time_limits import time_left

# Matrices with at most this many label entries are ranked by the verifier's own elimination.
_OWN_RANK = 128


def verify_linear(data: object, effort: Effort) -> Verification:
    """Verify the certificate of a linear network at points of the effort's seed."""

    def check(claim: Claim, checklist: Checklist) -> Mapping[str, str]:
        check_claim(claim, checklist, effort)
        return what_theorems_say(claim.problem.network, claim.problem.allocation)

    return verified(data, check)


def check_claim(claim: Claim, checklist: Checklist, effort: Effort, *, peers: bool = True) -> str:
    """Verify the claims of a certificate of a linear network, except its words.

    Parameters
    ----------
    claim : Claim
    checklist : Checklist
        It collects the results.
    effort : Effort
    peers : bool, optional
        Whether the teacher is a network of the same kind; for lowered problems it is not, and "the
        teacher is a student" proves nothing.

    Returns
    -------
    str
        Status of the verdict.

    Raises
    ------
    CheckFailed
    """
    evidence = read_evidence(LinearEvidence, claim)
    return ClaimChecker(claim, evidence, checklist, effort, peers).run()


class ClaimChecker:
    """The checks of one claim; each method proves the statement in its docstring, or raises."""

    def __init__(
        self,
        claim: Claim,
        evidence: LinearEvidence,
        checklist: Checklist,
        effort: Effort,
        peers: bool,
    ) -> None:
        self.claim, self.evidence, self.effort, self.peers = claim, evidence, effort, peers
        self.problem: Problem = claim.problem
        self.seed = effort.seed
        self.say = checklist.say

    def run(self) -> str:
        claim, evidence = self.claim, self.evidence
        self._only_what_belongs()
        if evidence.labels_vanish:
            check_vanishing(self.problem, claim.verdict, claim.equations, claim.rank, self.say)
            self._error_bound(True)
            return PROVED
        known = self._network_rank()
        attained = self._allocation_rank()
        if claim.verdict == MINIMAL:
            return self._minimal(attained, claim.learnable, f"{claim.learnable} weights")
        self._full_rank(known)
        if claim.verdict == MAXIMAL:
            return self._maximal(known)
        if claim.verdict == INTERMEDIATE:
            return self._intermediate(known)
        return self._undecided(evidence.root_count)

    def _undecided(self, roots: RootEvidence | None) -> str:
        """Only ranks and, if it was counted, N are claimed."""
        if roots is not None:
            self._root_count(self.problem.allocation, roots)
        self.say("verdict", UNCHECKED, "undecided: only the numbers above are claimed")
        return UNCHECKED

    def _full_rank(self, known: str, what: str = "the allocation's rank") -> None:
        """The ranks are equal, as for every verdict except "minimal"."""
        claim = self.claim
        if claim.rank != claim.equations:
            text = f"rank {claim.rank} ≠ equations {claim.equations}: minimal, not this"
            raise CheckFailed("verdict", text)
        self.say("rank", known, f"not minimal: {what} is the whole network's")
        self._error_bound(known == PROVED)

    @property
    def _no_place(self) -> str:
        return f"has no place in the certificate of a {self.claim.verdict} allocation"

    def _only_what_belongs(self) -> None:
        """No evidence that the verdict does not use, and no count without evidence."""
        claim, evidence = self.claim, self.evidence
        given = evidence.arguments()
        allowed = set() if evidence.labels_vanish else self._allowed()
        for name in given:
            if name not in allowed:
                raise CheckFailed(f"evidence.{name}", self._no_place)
        alone = [name for name, argument in given.items() if argument.alone]
        if len(alone) > 1:
            raise CheckFailed(f"evidence.{alone[1]}", f"does not belong beside {alone[0]}")
        roots, count = evidence.root_count, claim.generic_root_count
        if roots is None and any(argument.counted for argument in given.values()):
            raise CheckFailed("evidence.root_count", "is missing")
        whole = roots if evidence.sub_allocation is None and evidence.tied is None else None
        if count != (None if whole is None else whole.value):
            text = f"says {count}, the evidence " + (
                "nothing" if whole is None else f"{whole.value}"
            )
            raise CheckFailed("generic_root_count", text)
        point = evidence.allocation_rank
        if claim.prime != (0 if point is None else point.point.p):
            raise CheckFailed("prime", f"{claim.prime} is not the prime of allocation_rank")

    def _allowed(self) -> set[str]:
        """The arguments of the evidence that are for this verdict."""
        given = self.evidence.arguments()
        return {name for name, own in given.items() if self.claim.verdict in own.verdicts}

    def _error_bound(self, certain: bool) -> None:
        """A bound of 0 is claimed only if the verdict depends on no random point."""
        if self.claim.error_bound == 0 and not certain:
            text = "is 0, but the verdict rests on ranks at random points"
            raise CheckFailed("error_bound", text)
        if self.claim.error_bound != 0:
            text = "about the points that the certifying program drew; not used here"
            self.say("error_bound", UNCHECKED, text)

    # -- ranks ---------------------------------------------------------------------

    def _network_rank(self) -> str:
        """ρ is the generic rank of J: at least ρ at a point; at most by counting or by odds."""
        network, claimed = self.problem.network, self.claim.equations
        evidence = self.evidence.network_rank
        assert evidence is not None
        cells = all_cells(network, self.problem.support)
        self._attained(evidence, cells, claimed, network)
        bound = min(len(cells), network.label_dimension_bound)
        if claimed > bound:
            raise CheckFailed("equations", f"{claimed} exceeds the bound {bound} from counting")
        self._upper_bound(evidence, claimed == bound)
        if claimed == bound:
            text = f"generic rank {claimed}: attained, and a bound by counting"
            self.say("equations", PROVED, text)
            return PROVED
        again = network_rank(network, self.problem.support, self.seed)
        if again.rank > claimed:
            raise CheckFailed("equations", f"a new point shows rank {again.rank} > {claimed}")
        self.say("equations", PROBABLE, f"generic rank {claimed}; new points: {odds(again.error)}")
        return PROBABLE

    def _allocation_rank(self) -> str:
        """The claimed rank is the generic rank of J_A; "probable" if it is below its bounds."""
        claim, evidence = self.claim, self.evidence.allocation_rank
        assert evidence is not None
        allocation = self.problem.allocation
        self._attained(evidence, list(allocation.cells), claim.rank, self.problem.network)
        return self._at_most(
            evidence, allocation.size,
            lambda seed: allocation_rank(allocation, self.problem.student(), claim.equations, seed),
        )  # fmt: skip

    def _at_most(self, evidence: RankClaim, size: int, again: Callable[[int], GenericRank]) -> str:
        """The rank is at most the claimed one: by size, by ρ, or by odds at new points."""
        claim = self.claim
        if claim.rank > claim.equations:
            text = f"{claim.rank} is more than the whole network's rank {claim.equations}"
            raise CheckFailed("rank", text)
        met = claim.rank == min(size, claim.equations)
        self._upper_bound(evidence, met)
        if met:
            return PROVED
        found = again(self.seed + 7_777_777)
        if found.rank > claim.rank:
            raise CheckFailed("rank", f"a new point shows rank {found.rank} > {claim.rank}")
        self.say("rank", PROBABLE, f"rank {claim.rank} at new points too: {odds(found.error)}")
        return PROBABLE

    def _upper_bound(self, evidence: RankClaim, met: bool) -> None:
        if evidence.proved != (evidence.rank == evidence.upper_bound) or (
            evidence.proved and not met
        ):
            text = (
                f"rank {evidence.rank}, upper bound {evidence.upper_bound}: no such bound is known"
            )
            raise CheckFailed(f"{evidence.place}.upper_bound", text)

    def _attained(
        self,
        evidence: RankClaim,
        cells: list[Cell],
        claimed: int,
        network: Network,
        point: Point | None = None,
    ) -> None:
        """The claimed rank is the rank at the witness point, hence at most the generic rank."""
        place, point = evidence.place, point or evidence.point
        if evidence.rank != claimed:
            raise CheckFailed(place, f"rank {evidence.rank} does not fit {claimed}")
        found = 0
        if cells:
            network, point = at_enough_samples(network, point, len(cells))
            p = point.p
            names = sorted({cell[0] for cell in cells})
            chosen = cells
            if len(cells) > 2 * claimed + 64:
                # Enough random columns have the rank of all.
                rng = random.Random(f"columns/{self.seed}")
                chosen = rng.sample(cells, claimed + claimed // 4 + 16)
            matrix = jacobian(tangent_factors(network, point, names), chosen, p)
            self._compare_derivatives(
                matrix, p, place, lambda step: dual_derivative(network, point, chosen, step)
            )
            found = own_rank(matrix, p)
            if found < claimed and len(chosen) < len(cells):
                found = modular_rank(jacobian(tangent_factors(network, point, names), cells, p), p)
        if found != claimed:
            raise CheckFailed(place, f"the rank at the witness point is {found}, not {claimed}")
        self.say(place, PROVED, f"rank {claimed} at the witness point modulo {point.p}")

    def _compare_derivatives(
        self, matrix: np.ndarray, p: int, place: str, along: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Compare the Jacobian times random directions with forward-mode derivatives."""
        rng = random.Random(f"directions/{self.seed}")
        for _ in range(3):
            step = random_residues((matrix.shape[1],), p, rng)
            if not np.array_equal(matmul(matrix, step[:, None], p)[:, 0], along(step).ravel()):
                raise CheckFailed(place, "the Jacobian differs from forward-mode derivatives")

    # -- verdicts ------------------------------------------------------------------

    def _minimal(self, attained: str, size: int, what: str) -> str:
        """Rank J ≥ ρ at a point and rank J_A < ρ generically imply MP = 0.

        Parameters
        ----------
        attained : str
            Status of rank J_A.
        size : int
            Dimension of the set of students: a bound on that rank.
        what : str
            `size` in words.
        """
        claim = self.claim
        if not claim.rank < claim.equations:
            text = f"minimal needs rank {claim.rank} < equations {claim.equations}"
            raise CheckFailed("verdict", text)
        status, text = attained, f"rank {claim.rank} < {claim.equations}: MP = 0"
        if size < claim.equations:
            status, text = PROVED, f"{what}, {claim.equations} independent equations: MP = 0"
        self.say("verdict", status, text)
        self._error_bound(size < claim.equations)
        return status

    def _maximal(self, known: str) -> str:
        """MP = 1 by one of the arguments in the module's docstring."""
        evidence = self.evidence
        reached, order = evidence.teacher_reached, evidence.dual_bases
        if reached is not None or order is not None:
            if not self.peers:
                text = "the teacher is not a network of this kind, so this proves nothing"
                name = "teacher_reached" if reached is not None else "dual_bases"
                raise CheckFailed(f"evidence.{name}", text)
            if reached is not None:
                check_reached(self.problem, reached, self.seed, self.say)
            elif order is not None:
                check_dual_bases(self.problem, order, self.seed, self.say)
            self.say("verdict", PROVED, "the teacher itself is a student: MP = 1")
        elif evidence.whole_column is not None:
            check_column(self.problem, evidence.whole_column, self.seed, self.say)
            self.say("verdict", PROVED, "a proper map of degree ≠ 0 is onto: MP = 1")
        if not (reached is None and order is None and evidence.whole_column is None):
            if evidence.root_count is not None:
                self._root_count(self.problem.allocation, evidence.root_count)
            return PROVED
        for name in APART:
            if getattr(evidence, name) is not None:
                return self._apart(name, known)
        if evidence.root_count is None:
            raise CheckFailed("evidence.root_count", "is missing")
        tied = evidence.tied
        if tied is not None:
            check_tied(self.problem, tied, self.claim.equations, self.seed, self.say)
            return self._odd(
                known, evidence.root_count, lambda roots: self._parameter_count(tied, roots)
            )
        return self._odd(
            known, evidence.root_count, lambda roots: self._root_count(self._target(), roots)
        )

    def _odd(self, known: str, roots: RootEvidence, recount: Callable[[RootEvidence], str]) -> str:
        """An odd number of complex solutions of a generic instance implies MP = 1."""
        if roots.value % 2 == 0:
            text = f"{roots.value} is even: it does not prove MP = 1"
            raise CheckFailed("evidence.root_count", text)
        status = weakest(known, recount(roots))
        text = f"N = {roots.value} is odd, so a real solution always exists: MP = 1"
        self.say("verdict", status, text + self._given(roots, status))
        return status

    def _intermediate(self, known: str) -> str:
        """r = ρ, N, and an instance with N simple solutions, none real, imply MP < 1; so does a
        definite form."""
        evidence, claim = self.evidence, self.claim
        if evidence.definite_form is not None:
            return self._definite(known)
        if evidence.normal_form is not None:
            return self._normal_form(known, evidence.normal_form)
        if evidence.critical_points is not None:
            return self._apart("critical_points", known)
        if claim.learnable != claim.equations:
            text = f"{claim.learnable} weights for {claim.equations} equations: a generic instance "
            raise CheckFailed("learnable", text + "has infinitely many solutions")
        roots, witness = evidence.root_count, evidence.no_real_root
        enclosed = evidence.enclosed_solutions
        if roots is None:
            raise CheckFailed("evidence.root_count", "is missing")
        if (witness is None) == (enclosed is None):
            text = "there must be either this or enclosed_solutions"
            raise CheckFailed("evidence.no_real_root", text)
        if enclosed is not None:
            check_enclosed(self.problem, enclosed, roots.value, claim.equations, self.say)
            found = PROVED
        else:
            assert witness is not None
            found = check_no_real_root(
                self.problem, witness, roots.value, claim.equations, self.seed, self.say
            )
        if found == UNFINISHED:
            found = self._own_witness(roots)
        status = weakest(known, found, self._root_count(self.problem.allocation, roots))
        text = "not minimal, so MP > 0; instances near the witness have no real solution: MP < 1"
        self.say("verdict", status, text + self._given(roots, status))
        return status

    def _apart(self, name: str, known: str) -> str:
        """MP = 1 or MP < 1 by an argument with a count of its own."""
        claimed, verdict = getattr(self.evidence, name), self.claim.verdict
        place = f"evidence.{name}"
        self._nothing_beside(name)
        if verdict != getattr(claimed, "verdict", verdict):
            raise CheckFailed(place, f"is an argument for {claimed.verdict}, not {verdict}")
        check, *texts = APART[name]
        if verdict == INTERMEDIATE and not self.peers:
            text = "the teacher is not a network of this kind, so this proves nothing"
            raise CheckFailed(place, text)
        counted = check(
            self.problem, claimed, self.claim.equations, self.seed, self.effort.limits.basis,
            self.say,
        )  # fmt: skip
        status = weakest(known, counted)
        self.say("verdict", status, texts[verdict == INTERMEDIATE])
        return status

    def _nothing_beside(self, own: str, *checked: str) -> None:
        """No other argument and no count of solutions, except those that are checked too."""
        for other in self.evidence.arguments():
            if other not in (own, *checked):
                raise CheckFailed(f"evidence.{other}", f"does not belong beside {own}")

    def _definite(self, known: str) -> str:
        """A positive definite form that some labels contradict implies MP < 1, without N."""
        evidence, place = self.evidence, "evidence.definite_form"
        assert evidence.definite_form is not None
        self._nothing_beside("definite_form", "root_count")
        if not self.peers:
            text = "the teacher is not a network of this kind, so this proves nothing"
            raise CheckFailed(place, text)
        check_definite(self.problem, evidence.definite_form, self.say)
        text = "not minimal, so MP > 0; some labels contradict a definite form: MP < 1"
        self.say("verdict", known, text)
        if evidence.root_count is not None:
            self._root_count(self.problem.allocation, evidence.root_count)
        return known

    def _normal_form(self, known: str, data: object) -> str:
        """MP < 1 for the problem in a basis in which B and D are diagonal implies it for this."""
        place, problem = "evidence.normal_form", normal_problem(self.problem)
        self._nothing_beside("normal_form")
        if problem is None or not self.peers:
            raise CheckFailed(place, "the theorem does not apply to this problem")
        status = weakest(known, check_normal_form(
            problem, self.claim.equations, data, place, self.say,
            lambda inner, within: check_claim(inner, within, self.effort, peers=False),
        ))  # fmt: skip
        self.say("verdict", status, "not minimal, so MP > 0; MP < 1 with diagonal B and D")
        return status

    def _own_witness(self, roots: RootEvidence) -> str:
        """A witness at an instance drawn by the verifier, since that of the file may be singular.

        The singular points of the variety of instances are a smaller variety, and a random instance
        lies on it with probability 0.
        """
        place, limits = "evidence.no_real_root", self.effort.limits
        seconds = min(limits.basis / 2, time_left() / 2)
        count = RootCount(roots.value, roots.rule, roots.form, (), (), self.seed)
        text = "that all solutions persist near the witness is not known"
        with phase("another instance without real solutions"):
            data, tried = find_witness(self.problem, count, self.seed + 7_777_777, seconds)
        if data is None:
            self.say(place, UNFINISHED, f"{text}, and no other instance was found: {tried}")
            return UNFINISHED
        own = Witness.from_dict(data, place, context_of(self.problem))
        check_no_real_root(
            self.problem, own, roots.value, self.claim.equations, self.seed, lambda *_: None
        )
        self.say(place, PROBABLE, f"{text}; another random instance has no real solution either")
        return PROBABLE

    def _given(self, roots: RootEvidence, status: str) -> str:
        if status == PROVED:
            return ""
        numerical = ", from a trace test of the certifying program: numerical, not a proof"
        return " (given N" + numerical * (roots.rule == TRACE) + ")"

    def _target(self) -> Allocation:
        """The allocation whose roots are counted: ρ weights of rank ρ, all or a given part.

        Further learnable weights cannot lower MP: if the part has MP = 1, so has the whole.
        """
        allocation, part = self.problem.allocation, self.evidence.sub_allocation
        equations = self.claim.equations
        if part is None:
            if allocation.size != equations:
                text = f"{allocation.size} weights for {equations} equations: N is not finite"
                raise CheckFailed("evidence.root_count", text)
            return allocation
        place = "evidence.sub_allocation"
        found = allocation_rank(part, self.problem.student(), equations, self.seed)
        if found.rank != equations or part.size != found.rank:
            raise CheckFailed(place, f"{part.size} weights of rank {found.rank}: no basis")
        self.say(place, PROVED, f"{part.size} weights of full rank")
        return part

    def _parameter_count(self, problem: Problem, claimed: RootEvidence) -> str:
        """Count N of a problem with updates again: another prime, other chart of low ranks."""
        place, size = "evidence.root_count", problem.learning.dimension
        if not size == self.claim.equations == self.claim.rank:
            text = f"dimension {size}, {self.claim.equations} equations: N is not finite"
            raise CheckFailed(place, text)
        if claimed.form != FORM or claimed.rule != DEGREE:
            raise CheckFailed(place, "is not made of equations in the parameters")
        seconds = self.effort.limits.basis
        return counted_modulo(
            claimed.value, claimed.primes, "solutions",
            lambda p, rng: count_at(problem, p, rng, LAST, seconds), self.seed, place, self.say,
        )  # fmt: skip

    def _root_count(self, target: Allocation, claimed: RootEvidence) -> str:
        """N is the number of complex solutions of a generic instance."""
        place = "evidence.root_count"
        if target.size != self.claim.equations:
            text = f"{target.size} weights for {self.claim.equations} equations: N is not finite"
            raise CheckFailed(place, text)
        if claimed.form not in (*forms(target.network, target), "direct"):
            raise CheckFailed(f"{place}.form", f"{claimed.form!r} does not fit the network")
        found = recount_again(
            target,
            self.problem.student(),
            claimed.primes,
            seed=self.seed,
            timeout=self.effort.limits.basis,
            fallback=self.effort.tools.root_counter,
        )
        value = claimed.value
        if found.at_least is not None and found.at_least > value:
            text = f"at least {found.at_least} solutions were found ({found.how}), not {value}"
            raise CheckFailed(place, text)
        if found.value is None:
            text = f"N = {value} by {claimed.source}; not counted again: {found.how}"
            self.say(place, UNFINISHED, text)
            return UNFINISHED
        if found.value != value:
            raise CheckFailed(place, f"counted again, {found.how}: {found.value}, not {value}")
        status = PROVED if found.is_proved else PROBABLE
        self.say(place, status, f"N = {value} again, {found.how}")
        return status


def own_rank(matrix: np.ndarray, p: int) -> int:
    """Rank modulo p, for matrices that are not too large by the verifier's own elimination."""
    if matrix.shape[0] <= _OWN_RANK:
        return int(batched_rank(matrix[None], p)[0])
    return modular_rank(matrix, p)


def odds(error: Fraction) -> str:
    """An error bound in words."""
    if error == 0:
        return "proved"
    return f"error at most 2^-{(error.denominator // error.numerator).bit_length() - 1}"
