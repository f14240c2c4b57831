"""Verification of certificates of linear networks, as far as possible by other methods.

Ranks are those of `algebra.certificates.rank_claims`.  The argument is looked up by the name of its
evidence; its module has the theorem, the check, and the sentence that follows
(`algebra.arguments`).

The premises of each verdict, ρ the generic rank of the whole network:

minimal       rank J_A < ρ.
maximal       rank J_A = ρ, and an argument for MP = 1; without any other, that N is odd.  Or no
              path leads from inputs to outputs.
intermediate  rank J_A = ρ, so MP > 0, and an argument for MP < 1.
undecided     none; the file's ranks and N are verified in this case too.

The verdict's status is that of the weakest premise.
"""

from __future__ import annotations

from algebra.arguments.argument import NO_COUNT, OF_ALL, OF_PART, Argument, Claimed
from algebra.arguments.evidence import read_linear
from algebra.arguments.order import ROOT_COUNT, argument
from algebra.certificates.checks import PROVED, Checked, CheckFailed, Checklist, weakest
from algebra.certificates.claim import Claim, Conclusion, verified
from algebra.certificates.family import Effort
from algebra.certificates.premises import LABELS_VANISH, RANK_DEFICIT
from algebra.certificates.rank_claims import RankChecker
from algebra.certificates.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED


def verify_linear(data: object, effort: Effort) -> Checked:
    """Verify the certificate of a linear network at points of the effort's seed."""
    return verified(data, lambda claim, checklist: check_claim(claim, checklist, effort))


def check_claim(claim: Claim, checklist: Checklist, effort: Effort) -> Conclusion:
    """Verify the claims of a certificate of a linear network, except its words.

    Parameters
    ----------
    claim : Claim
    checklist : Checklist
        It collects the results.
    effort : Effort

    Returns
    -------
    Conclusion
        The status of the verdict, and the theorem that it follows from.

    Raises
    ------
    CheckFailed
    """
    return _LinearChecker(claim, checklist, effort).run()


class _LinearChecker(RankChecker):
    """The checks of one claim on a linear network."""

    def __init__(self, claim: Claim, checklist: Checklist, effort: Effort) -> None:
        found = read_linear(claim)
        super().__init__(claim, found.ranks, checklist, effort)
        self.argument, self.value = found.argument, found.value

    def run(self) -> Conclusion:
        claim, roots = self.claim, self.evidence.root_count
        self._need_place(self.evidence.arguments())
        counts = NO_COUNT if self.argument is None else self.argument.counts
        if counts != NO_COUNT and roots is None:
            raise CheckFailed("evidence.root_count", "is missing")
        self._need_numbers(None if counts == OF_PART else roots)
        if self.evidence.labels_vanish:
            from algebra.certificates.vanishing import check_vanishing

            check_vanishing(self.problem, claim.verdict, claim.equations, claim.rank, self.say)
            self._error_bound(True)
            return Conclusion(PROVED, LABELS_VANISH)
        known = self._network_rank()
        attained = self._allocation_rank()
        if claim.verdict == MINIMAL:
            status = self._minimal(attained, claim.learnable, f"{claim.learnable} weights")
            return Conclusion(status, RANK_DEFICIT)
        self._full_rank(known)
        if claim.verdict == UNDECIDED:
            self._count_beside()
            return Conclusion(self._only_numbers())
        return self._argued(known, self.argument or argument(ROOT_COUNT))

    def _argued(self, known: str, own: Argument) -> Conclusion:
        """The verdict follows by an argument, from the ranks and perhaps N."""
        claim = self.claim
        if claim.verdict not in own.why:
            known_by = {MAXIMAL: "MP = 1", INTERMEDIATE: "MP < 1"}[claim.verdict]
            raise CheckFailed("evidence", f"has no argument for {known_by}")
        if own.counts == OF_ALL and claim.learnable != claim.equations:
            text = f"{claim.learnable} weights for {claim.equations} equations: N is not finite"
            raise CheckFailed("learnable", text)
        roots = self.evidence.root_count
        if own.counts != NO_COUNT and roots is None:
            raise CheckFailed("evidence.root_count", "is missing")
        value = roots if own.name == ROOT_COUNT else self.value
        status = weakest(known, own.check(self.problem, value, self._claimed()))
        number = None if roots is None else roots.value
        text = own.sentence(claim.verdict, claim.equations, number)
        given = "" if roots is None or own.counts == NO_COUNT else roots.given(status)
        self.say("verdict", status, text + given)
        if own.counts == NO_COUNT:
            self._count_beside()
        return Conclusion(status, own.theorem(claim.verdict))

    def _count_beside(self) -> None:
        """N is verified where no argument needs it, too."""
        roots = self.evidence.root_count
        if roots is not None:
            from algebra.arguments.recount import check_root_count

            check_root_count(self.problem, self.problem.allocation, roots, self._claimed())

    def _claimed(self) -> Claimed:
        claim = self.claim
        roots = self.evidence.root_count
        return Claimed(claim.verdict, claim.equations, roots, self.effort, self.say)
