"""Verification of certificates of networks with activations.

* Ranks as for linear networks: the claimed ones are attained at the given point, by the verifier's
  own elimination, the Jacobian compared with forward-mode derivatives; deficits are tested at new
  points and primes.  For tanh, sigmoid and softplus these are the generic ranks by the theorem of
  `algebra.families.activations.formal`; for other analytic activations they are upper bounds.
* A regular minor is recomputed in ball arithmetic with other precisions: it proves a rank without
  that theorem.
* That an output is stuck, or that everything learns, is read from the masks.
* With a polynomial activation, N and witnesses as for linear networks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from algebra.arguments.argument import Claimed
from algebra.arguments.recount import check_root_count
from algebra.arguments.stuck_output import check_stuck, refute_maximal
from algebra.arguments.verify import check_claim
from algebra.certificates.checks import (
    PROVED,
    UNCHECKED,
    Checked,
    CheckFailed,
    Checklist,
    Say,
)
from algebra.certificates.claim import Claim, Conclusion, verified
from algebra.certificates.family import Effort
from algebra.certificates.premises import AFFINE_PART, LABELS_VANISH, RANK_DEFICIT
from algebra.certificates.rank_claims import argues, read_evidence
from algebra.certificates.vanishing import VanishingEvidence, says_vanishing
from algebra.certificates.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.declarations import Count
from algebra.families.activations.certify import read_out_part
from algebra.families.activations.formal import (
    EVERYTHING,
    FormalClaimChecker,
    FormalEvidence,
    why_exact,
)
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.activation import AX
from algebra.problems.features import Feature
from algebra.problems.laws.values import pins
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.programs.leaks import NO_LEAK
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells

STUCK = "stuck_output"


def verify_activated(data: object, effort: Effort) -> Checked:
    """Verify the certificate of a network with activations at points of the effort's seed."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        reduction = lowered(claim.problem)
        if reduction is not None:
            return check_claim(replace(claim, problem=reduction.problem), checklist, effort)
        return _check(claim, checklist, effort)

    return verified(data, check)


def _check(claim: Claim, checklist: Checklist, effort: Effort) -> Conclusion:
    problem = claim.problem
    network = problem.network
    assert isinstance(network, ActivatedNetwork)
    refute_maximal(claim, problem.allocation, effort.seed)
    if says_vanishing(claim.evidence):
        return _check_silence(claim, network, checklist.say)
    argued = bool(claim.evidence.keys() & {EVERYTHING, STUCK})
    counted = claim.verdict != MAXIMAL or "root_count" in claim.evidence
    if network.activation.is_polynomial and counted and not argued and claim.verdict != UNDECIDED:
        return check_claim(claim, checklist, effort)
    return _ActivationChecker(claim, checklist, effort).run()


def _check_silence(claim: Claim, network: ActivatedNetwork, say: Say) -> Conclusion:
    """No path leads to an output from a nonzero value: every label is 0, for all weights."""
    place = "evidence.labels_vanish"
    if (claim.verdict, claim.equations, claim.rank) != (MAXIMAL, 0, 0):
        raise CheckFailed("verdict", "labels that are always 0 make every student match")
    if claim.prime or claim.error_bound or claim.generic_root_count is not None:
        raise CheckFailed(place, "prime, error bound and root count do not belong here")
    VanishingEvidence.from_dict(claim.evidence)
    alive = _alive_outputs(network, claim.problem)
    if alive:
        raise CheckFailed(place, f"outputs {sorted(alive)} are not always 0")
    say(place, PROVED, "every label is 0: no path leads to it from a nonzero value")
    say("verdict", PROVED, "each student matches")
    return Conclusion(PROVED, LABELS_VANISH)


def _alive_outputs(network: ActivatedNetwork, problem: Problem) -> set[int]:
    """Outputs that are not always 0, by forward propagation of sets of units."""
    cells = all_cells(network, problem.support)
    by_name: dict[str, set[tuple[int, int]]] = {name: set() for name in network.shapes}
    for name, i, j in cells:
        by_name[name].add((i, j))
    alive: set[int] = set()
    ever: set[int] = set()
    driven: set[int] = set()
    if network.has_currents:
        # Inputs reach the currents directly, and initial currents and biases are there at once.
        driven = {i for i, _ in by_name[str(network.encoder)]}
        alive = {i for name in network.unit_columns for i, _ in by_name[name]}
    for number, stage in enumerate(network.stages()):
        if stage.drive is None:
            sending = set(range(network.input_shape[0])) if number == 0 else alive
        else:
            driven = {i for i, _ in by_name[str(network.encoder)]}
            sending = driven | (alive if number else set())
        if network.has_currents:
            biased = {i for i, _ in by_name[stage.bias]} if stage.bias is not None else set()
            every = set(range(network.shapes[stage.matrix][0]))
            sending = alive | biased if network.activation.vanishes_at_zero else every
        # Rates are functions of what the synapses carry; inputs are added to currents directly.
        direct = driven if network.has_currents else set()
        receiving = direct | {i for i, j in by_name[stage.matrix] if j in sending}
        if stage.bias is not None:
            receiving |= {i for i, _ in by_name[stage.bias]}
        if not network.activation.vanishes_at_zero:
            receiving = set(range(network.shapes[stage.matrix][0]))
        # A leaking unit keeps a share of its state.
        alive = receiving | (alive if network.leak != NO_LEAK else set())
        ever |= alive
    read = ever if network.reads_all else alive
    outputs = {i for i, j in by_name[network.output] if j in read}
    if network.output_bias is not None:
        outputs |= {i for i, _ in by_name[network.output_bias]}
    return outputs


@dataclass(frozen=True)
class ActivationEvidence(FormalEvidence):
    """Evidence on networks with activations.

    Attributes
    ----------
    everything_learns : bool or None
    stuck_output : int or None
        The number of an output that cannot match every teacher.
    """

    everything_learns: bool | None = field(default=None, metadata=argues(MAXIMAL))
    stuck_output: Count | None = field(default=None, metadata=argues(INTERMEDIATE))


class _ActivationChecker(FormalClaimChecker):
    """The checks of one claim that are not about a polynomial system."""

    def __init__(self, claim: Claim, checklist: Checklist, effort: Effort) -> None:
        evidence = read_evidence(ActivationEvidence, claim)
        super().__init__(claim, checklist, effort, evidence)
        assert isinstance(self.problem.network, ActivatedNetwork)
        self.network, self.stuck = self.problem.network, evidence.stuck_output
        self.counted = claim.verdict == UNDECIDED and self.network.activation.is_polynomial

    def run(self) -> Conclusion:
        claim = self.claim
        self._only_what_belongs()
        if EVERYTHING in self.evidence.arguments():
            self._network_rank()
            self._allocation_rank()
            return self._everything()
        known, attained = self._ranks()
        if claim.verdict == MINIMAL:
            status = self._minimal(attained, claim.learnable, f"{claim.learnable} weights")
            return Conclusion(status, RANK_DEFICIT)
        if claim.verdict == UNDECIDED:
            self._error_bound(True)
            roots = self.evidence.root_count
            if roots is not None:
                claimed = Claimed(claim.verdict, claim.equations, roots, self.effort, self.say)
                check_root_count(self.problem, self.problem.allocation, roots, claimed)
            return Conclusion(self._only_numbers())
        self._full_rank(known)
        if claim.verdict == MAXIMAL:
            return self._readout(known)
        return check_stuck(self, self.problem.allocation, self.stuck, known)

    def _ranks(self) -> tuple[str, str]:
        """Statuses of "rank J = ρ" and of "rank J_A is as claimed" (at most, if minimal)."""
        claim, activation = self.claim, self.network.activation
        known, attained = self._network_rank(), self._allocation_rank()
        support = student = self.problem.support
        exact = why_exact(activation) if self.network.ranks_are_exact(support) else ""
        if claim.rank == claim.equations:
            student = self.problem.student()
            # Given numbers inside the pre-activations: the values need not be independent.
            exact = exact if activation.is_polynomial or not pins(student) else ""
        if exact == AX:
            text = f"{exact}; so ranks with formal values are the generic ranks"
            self.say("rank", PROVED, text)
        if self.minor is None:
            if not exact and claim.verdict not in self._by_upper_bounds:
                text = f"is missing: {self._only_bounds}"
                raise CheckFailed("evidence.regular_minor", text)
            if not exact:
                self.say("rank", UNCHECKED, self._only_bounds)
            return known, attained
        self._regular(
            self.network, self.problem.allocation.cells, student, ", without a theorem on φ"
        )
        return known if exact else self._known_by_minor(known), attained

    @property
    def _by_upper_bounds(self) -> tuple[str, ...]:
        """Verdicts for which an upper bound of rank J_A is enough."""
        arbitrary = Feature.ARBITRARY_LABELS in self.problem.features
        return (UNDECIDED, MINIMAL) if arbitrary else (UNDECIDED,)

    @property
    def _only_bounds(self) -> str:
        leaks = "" if why_exact(self.network.activation) == "" else " and these leaks"
        with_what = f"with {self.network.activation}{leaks}"
        return f"{with_what} ranks with formal values are upper bounds only"

    def _readout(self, known: str) -> Conclusion:
        """A learning read-out of full rank implies MP = 1."""
        part = read_out_part(self.problem)
        if self.minor is not None:
            full = set(self.minor.columns) <= set(part.cells)
        else:
            equations, student = self.claim.equations, self.problem.student()
            full = allocation_rank(part, student, equations, self.seed).rank == equations
        if not full:
            raise CheckFailed("verdict", "maximal: neither counted nor a read-out of full rank")
        self.say("verdict", known, "the labels are affine in the read-out, of full rank: MP = 1")
        return Conclusion(known, AFFINE_PART)
