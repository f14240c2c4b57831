"""Verification of certificates, as far as possible by other methods.

Ranks are those of `algebra.checker.rank_claims`.  The argument is looked up by the name of its
evidence; its module has the theorem, the check, and the sentence that follows
(`algebra.arguments`); `algebra.arguments.argued` draws the conclusion.

The premises of each verdict, ρ the generic rank of the whole network:

minimal       rank J_A < ρ.
maximal       rank J_A = ρ, and an argument for MP = 1; without any other, that N is odd.  Or no
              path leads from inputs to outputs, or every weight learns.
intermediate  rank J_A = ρ, so MP > 0, and an argument for MP < 1.
undecided     none; the file's ranks and N are verified in this case too.

The verdict's status is that of the weakest premise.

* That the ranks are the generic ones is shown again, at other points; a regular minor is recomputed
  in ball arithmetic with other precisions.
* A model is read from the file, and its digest recomputed; an activation pattern is recomputed at
  its rational point.
* "Maximal" is refused where an output is stuck (`algebra.arguments.stuck_output`).
"""

from __future__ import annotations

from dataclasses import replace

from algebra.checker.checks import (
    PROVED,
    UNCHECKED,
    Checked,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.network_ranks import (
    ArguedEvidence,
    NetworkRankChecker,
    context_of,
    why_generic,
)
from algebra.checker.premises import LABELS_VANISH, RANK_DEFICIT
from algebra.checker.rank_claims import EvidenceOnRanks
from algebra.checker.verdicts import MINIMAL, UNDECIDED
from algebra.declarations import declared
from algebra.networks.base import POLYNOMIAL_LABELS
from algebra.networks.protocols import HasPieces
from algebra.problems.premises import Feature, Features
from algebra.problems.problem import Problem


def verify_by_arguments(data: object, effort: CheckEffort) -> Checked:
    """Verify a certificate at points of the effort's seed."""
    return verified(data, lambda claim, checklist: check_claim(claim, checklist, effort))


def check_claim(
    claim: Claim, checklist: Checklist, effort: CheckEffort, more: Features = frozenset()
) -> Conclusion:
    """Verify the claims of a certificate, except its words.

    Parameters
    ----------
    claim : Claim
    checklist : Checklist
        It collects the results.
    effort : CheckEffort
    more : frozenset of Feature, optional
        The features of a problem that is reduced to the claim's.

    Returns
    -------
    Conclusion
        The status of the verdict, and the theorem that it follows from.

    Raises
    ------
    CheckFailed
    """
    features = claim.problem.features | more
    if claim.problem.network.lower() is not None:
        # Loaded here: few networks are solved as others.
        from algebra.problems.reduction import solved

        claim = replace(claim, problem=solved(claim.problem))
    return ClaimChecker(claim, checklist, effort, features).run()


def _read_evidence(claim: Claim) -> ArguedEvidence:
    """The evidence of a claim; the arguments are loaded if it has more than ranks and N."""
    if claim.evidence.keys() <= declared(EvidenceOnRanks).keys():
        context = context_of(claim.problem)
        return ArguedEvidence(EvidenceOnRanks.from_dict(claim.evidence, "evidence", context))
    from algebra.arguments.evidence import read_argued

    return read_argued(claim)


class ClaimChecker(NetworkRankChecker):
    """The checks of one claim."""

    def __init__(
        self, claim: Claim, checklist: Checklist, effort: CheckEffort, features: Features
    ) -> None:
        found = _read_evidence(claim)
        super().__init__(claim, found.ranks, checklist, effort)
        self.features = features
        self.minor, self.pattern, self.upper_bounds = found.minor, found.pattern, found.upper_bounds
        self.argument, self.value = found.argument, found.value

    def run(self) -> Conclusion:
        claim, evidence = self.claim, self.evidence
        own = self.argument
        if own is not None and own.needs_count and evidence.root_count is None:
            raise CheckFailed("evidence.root_count", "is missing")
        self._only_what_belongs()
        of_part = own is not None and own.counts_part
        self._need_numbers(None if of_part else evidence.root_count)
        if evidence.labels_vanish:
            from algebra.checker.vanishing import check_vanishing

            check_vanishing(self.problem, claim.verdict, claim.equations, claim.rank, self.say)
            self._error_bound(True)
            return Conclusion(PROVED, LABELS_VANISH)
        self.problem = self._at_the_file()
        known, attained = self._network_rank(), self._allocation_rank()
        if own is not None and not own.needs_ranks:
            self._error_bound(True)
            return self._argued(PROVED, "")
        why = self._exact()
        if claim.verdict == MINIMAL:
            if self.pattern is not None:
                text = "minimal on one activation pattern does not mean minimal"
                raise CheckFailed("verdict", text)
            return Conclusion(self._minimal(attained), RANK_DEFICIT)
        known = known if why else self._known_by_minor(known)
        if claim.verdict == UNDECIDED:
            if why and self.pattern is None:
                self._full_rank(known)
                if evidence.root_count is not None:
                    from algebra.arguments.argued import count_beside

                    count_beside(self)
            else:
                self._error_bound(known == PROVED)
            return Conclusion(self._only_numbers())
        self._full_rank(known)
        return self._argued(known, why)

    def _argued(self, known: str, why: str) -> Conclusion:
        """The verdict follows by an argument."""
        # Loaded here: that a verdict is minimal or undecided needs none.
        from algebra.arguments.argued import argued

        return argued(self, known, why)

    def _only_what_belongs(self) -> None:
        """Nothing in the evidence that the verdict does not use."""
        claim, evidence, own = self.claim, self.evidence, self.argument
        network = claim.problem.network
        if evidence.root_count is not None and (evidence.labels_vanish or claim.verdict == MINIMAL):
            text = f"has no place in the certificate of a {claim.verdict} allocation"
            raise CheckFailed("evidence.root_count", text)
        if self.upper_bounds and claim.verdict != UNDECIDED:
            raise CheckFailed("evidence.upper_bounds", "upper bounds decide nothing")
        by_itself = evidence.labels_vanish or (own is not None and not own.needs_ranks)
        if by_itself and self.minor is not None:
            raise CheckFailed("evidence.regular_minor", "does not belong to this evidence")
        if evidence.labels_vanish and self.pattern is not None:
            raise CheckFailed("evidence.pattern", "does not belong to this evidence")
        is_finite = network.equations_are != "analytic" and not network.has_given_weights
        if evidence.root_count is not None and not (is_finite and self.pattern is None):
            text = "has no place here: only generic polynomials have a number of solutions"
            raise CheckFailed("evidence.root_count", text)

    def _at_the_file(self) -> Problem:
        """The problem at the weights of its file, on the piece that the evidence names."""
        problem, piece = self.problem, self.pattern
        network = problem.network
        if network.digest:
            text = f"the model in the file: {network.digest}"
            self.say("problem.network.digest", PROVED, text)
        is_piecewise = isinstance(network, HasPieces) and network.is_piecewise
        if (piece is not None) != is_piecewise:
            raise CheckFailed("evidence.pattern", "belongs only to labels that are piecewise")
        if network.has_given_weights:
            masks = problem.allocation.masks
            problem = replace(problem, network=network.at_file(masks, problem.support))
        if piece is None:
            return problem
        from algebra.programs.balls import SignUnknown
        from algebra.ranks.pieces import on_pattern

        try:
            problem = on_pattern(problem, piece)
        except SignUnknown as error:
            raise CheckFailed("evidence.pattern", str(error)) from None
        self.say("evidence.pattern", PROVED, "the point decides all signs")
        return problem

    def _exact(self) -> str:
        """Why the ranks are the generic ones: a theorem; "" if the minor shows it, or nothing."""
        claim, problem, minor = self.claim, self.problem, self.minor
        is_minimal = claim.rank < claim.equations
        why = why_generic(problem, is_minimal, f"verify/{self.seed}")
        if why not in ("", POLYNOMIAL_LABELS):
            self.say("rank", PROVED, f"{why}; so ranks with formal values are the generic ranks")
        if minor is not None:
            if self.pattern is not None and minor.number != self.pattern:
                text = "is not at the point of the pattern"
                raise CheckFailed("evidence.regular_minor", text)
            support = problem.support if is_minimal else problem.student()
            self._regular(problem.network, problem.allocation.cells, support)
        if why or minor is not None or not claim.equations:
            return why
        bounds = "ranks with formal values are upper bounds only"
        # An upper bound of the rank of what learns is enough if all labels are to be reached.
        if is_minimal and Feature.ARBITRARY_LABELS in problem.features:
            return why
        if claim.verdict != UNDECIDED:
            raise CheckFailed("evidence.regular_minor", f"is missing: {bounds}")
        self.say("rank", UNCHECKED, bounds)
        return why
