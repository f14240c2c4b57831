"""Verdicts that follow by an argument, once the ranks of a certificate are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.arguments.argument import OF_ALL, Argument, Claimed
from algebra.arguments.order import ROOT_COUNT, argument
from algebra.checker.checks import CheckFailed, weakest
from algebra.checker.claim import Conclusion
from algebra.checker.premises import AFFINE_PART, need_covered
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL

if TYPE_CHECKING:
    from algebra.arguments.verify import ClaimChecker


def _unnamed(checker: ClaimChecker) -> Argument:
    """The argument if the evidence names none: N is odd, or some weights enter affinely."""
    if checker.evidence.root_count is not None or not checker.problem.network.equations_are:
        return argument(ROOT_COUNT)
    names = checker.problem.allocation.matrices
    checker.value = tuple(name for name in names if checker.problem.network.affine_in((name,)))
    return argument(AFFINE_PART.name)


def _not_stuck(checker: ClaimChecker) -> None:
    """No output is stuck if MP = 1 is claimed: a second look, by another theorem."""
    if checker.claim.verdict == MAXIMAL and not checker.problem.network.is_linear:
        from algebra.arguments.stuck_output import refute_maximal

        refute_maximal(checker.problem, checker.seed)


def argued(checker: ClaimChecker, known: str, why: str) -> Conclusion:
    """The verdict follows by an argument, from the ranks and perhaps N."""
    claim, roots, own = checker.claim, checker.evidence.root_count, checker.argument
    if own is None or own.needs_ranks:
        _not_stuck(checker)
    own = own or _unnamed(checker)
    if claim.verdict not in own.why:
        known_by = {MAXIMAL: "MP = 1", INTERMEDIATE: "MP < 1"}[claim.verdict]
        raise CheckFailed("evidence", f"has no argument for {known_by}")
    # No check is run on a problem for which its theorem is not proved.
    need_covered(claim.verdict, own.theorem(claim.verdict), checker.features)
    size = checker.problem.allocation.size
    if own.counts == OF_ALL and size != claim.equations:
        text = f"{size} weights for {claim.equations} equations: N is not finite"
        raise CheckFailed("learnable", text)
    if own.needs_count and roots is None:
        raise CheckFailed("evidence.root_count", "is missing")
    value = roots if own.name == ROOT_COUNT else checker.value
    status = weakest(known, own.check(checker.problem, value, _claimed(checker, why)))
    number = None if roots is None else roots.value
    text = own.sentence(claim.verdict, claim.equations, number, value)
    given = "" if roots is None or not own.needs_count else roots.given(status)
    checker.say("verdict", status, text + given)
    if not own.needs_count:
        count_beside(checker)
    return Conclusion(status, own.theorem(claim.verdict))


def count_beside(checker: ClaimChecker) -> None:
    """N is verified where no argument needs it, too."""
    roots = checker.evidence.root_count
    if roots is not None:
        from algebra.arguments.recount import check_root_count

        check_root_count(checker.problem, checker.problem.allocation, roots, _claimed(checker, ""))


def _claimed(checker: ClaimChecker, why: str) -> Claimed:
    claim, roots = checker.claim, checker.evidence.root_count
    return Claimed(
        claim.verdict, claim.equations, roots, checker.effort, checker.say, why, checker.minor
    )
