"""Verification of certificates of networks that are programs.

The program is read from the model in the certificate, whose digest is recomputed.

* Ranks as for linear networks: attained at the given point, by the verifier's own elimination, the
  Jacobian (reverse mode) compared with dual numbers (forward mode); deficits are tested at new
  points, primes and formal values.  The argument that they are the generic ranks is repeated with
  other points.
* A regular minor is recomputed in ball arithmetic with other precisions.
* An activation pattern is recomputed at its rational point.
* "All weights learn" is read from the masks; "affine in a part" from the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from algebra.arguments.stuck_output import check_stuck
from algebra.certificates.checks import PROVED, UNCHECKED, Checked, CheckFailed, Checklist
from algebra.certificates.claim import Claim, Conclusion, verified
from algebra.certificates.family import Effort
from algebra.certificates.premises import AFFINE_PART, RANK_DEFICIT
from algebra.certificates.rank_claims import argues, read_evidence
from algebra.certificates.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.declarations import Count, Keyword
from algebra.families.activations.formal import (
    EVERYTHING,
    FormalClaimChecker,
    FormalEvidence,
)
from algebra.networks.program import ProgramNetwork
from algebra.problems.allocation import Allocation
from algebra.programs.balls import SignUnknown
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.pieces import MOST_PATTERNS, on_pattern


def verify_program(data: object, effort: Effort) -> Checked:
    """Verify the certificate of a program at points of the effort's seed."""

    return verified(data, lambda claim, checklist: _ModelChecker(claim, checklist, effort).run())


@dataclass(frozen=True)
class ModelEvidence(FormalEvidence):
    """Evidence on programs.

    Attributes
    ----------
    everything_learns : bool or None
    pattern : int or None
        Number of a rational point, whose activation pattern the ranks are of.
    upper_bounds : bool or None
        Whether the ranks are only upper bounds.
    affine_part : tuple of str or None
        Matrices in which the labels are affine.
    stuck_output : int or None
        The number of an output that cannot match every teacher.
    """

    everything_learns: bool | None = field(default=None, metadata=argues(MAXIMAL))
    pattern: Annotated[int, Keyword("minimum", 0), Keyword("maximum", MOST_PATTERNS - 1)] | None = (
        None
    )
    upper_bounds: bool | None = None
    affine_part: tuple[str, ...] | None = field(default=None, metadata=argues(MAXIMAL))
    stuck_output: Count | None = field(default=None, metadata=argues(INTERMEDIATE))


class _ModelChecker(FormalClaimChecker):
    """The checks of one claim about a program."""

    def __init__(self, claim: Claim, checklist: Checklist, effort: Effort) -> None:
        evidence = read_evidence(ModelEvidence, claim)
        super().__init__(claim, checklist, effort, evidence)
        self.piece, self.bounds = evidence.pattern, evidence.upper_bounds
        self.part, self.stuck = evidence.affine_part, evidence.stuck_output
        assert isinstance(claim.problem.network, ProgramNetwork)
        self.network = claim.problem.network

    def run(self) -> Conclusion:
        claim, network = self.claim, self.network
        self.say("problem.network.digest", PROVED, f"the model in the file: {network.digest}")
        if (self.piece is not None) != network.is_piecewise:
            raise CheckFailed("evidence.pattern", "belongs only to labels that are piecewise")
        allocation = claim.problem.allocation
        at_file = network.at_file(allocation.masks, claim.problem.support)
        self.problem = replace(claim.problem, network=at_file)
        self.network = at_file
        if self.piece is not None:
            try:
                self.problem = on_pattern(self.problem, self.piece)
            except SignUnknown as error:
                raise CheckFailed("evidence.pattern", str(error)) from None
            assert isinstance(self.problem.network, ProgramNetwork)
            self.network = self.problem.network
            self.say("evidence.pattern", PROVED, "the point decides all signs")
        self._only_what_belongs()
        known, attained = self._whole_rank(), self._allocation_rank()
        if EVERYTHING in self.evidence.arguments():
            return self._everything()
        exact = self._exact()
        if self.bounds and claim.verdict != UNDECIDED:
            raise CheckFailed("evidence.upper_bounds", "upper bounds decide nothing")
        if claim.verdict == UNDECIDED:
            self._error_bound(known == PROVED)
            return Conclusion(self._only_numbers())
        if not exact:
            raise CheckFailed("evidence.regular_minor", "is missing: formal ranks are upper bounds")
        if claim.verdict == MINIMAL:
            if self.piece is not None:
                raise CheckFailed(
                    "verdict", "minimal on one activation pattern does not mean minimal"
                )
            status = self._minimal(attained, claim.learnable, f"{claim.learnable} weights")
            return Conclusion(status, RANK_DEFICIT)
        if claim.verdict == INTERMEDIATE:
            known = self._known_by_minor(known)
            self._full_rank(known)
            return check_stuck(self, self.problem.allocation, self.stuck, known)
        known = self._known_by_minor(known)
        self._full_rank(known)
        return self._affine(known)

    def _whole_rank(self) -> str:
        """The network's rank is at arbitrary weights, whatever those of the file are."""
        own, network = self.problem, self.problem.network
        assert isinstance(network, ProgramNetwork)
        self.problem = replace(own, network=network.anywhere())
        known = self._network_rank()
        self.problem = own
        return known

    def _exact(self) -> bool:
        """Whether formal ranks are attained: by the argument, or by the minor."""
        why = self.network.argued(f"verify/{self.seed}", self.problem.support)
        if why:
            self.say("rank", PROVED, f"{why}: ranks with formal values are the generic ranks")
        minor = self.minor
        if minor is None:
            if not why:
                self.say("rank", UNCHECKED, "formal values: these ranks are upper bounds")
            return bool(why) or not self.claim.equations
        if self.piece is not None and minor.number != self.piece:
            text = "is not at the point of the pattern"
            raise CheckFailed("evidence.regular_minor", text)
        self._regular(self.network, self.problem.allocation.cells, self.problem.support)
        return True

    def _affine(self, known: str) -> Conclusion:
        """An affine part of full rank implies MP = 1."""
        place, problem = "evidence.affine_part", self.problem
        allocation, part = problem.allocation, self.part
        if not part or not set(part) <= set(allocation.matrices):
            raise CheckFailed(place, "is missing, or is not a part of what learns")
        if not self.network.affine_in(part):
            raise CheckFailed(place, "the labels are not affine in it")
        cells = [cell for cell in allocation.cells if cell[0] in part]
        own = Allocation.from_cells(self.network, cells)
        found = allocation_rank(own, problem.support, self.claim.equations, self.seed)
        if found.rank < self.claim.equations:
            raise CheckFailed(place, f"has rank {found.rank}, not {self.claim.equations}")
        self.say(place, known, "the labels are affine in it, of full rank")
        self.say("verdict", known, "a linear system always has a solution: MP = 1")
        return Conclusion(known, AFFINE_PART)
