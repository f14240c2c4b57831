"""Verdicts if another network gives the labels: a teacher of another size, activation or kind.

Let the teacher's labels g(t, X) be one analytic function of its weights t, of generic rank τ, and
let ρ_A be the generic rank of the student's allocation (or the number of its parameters).

**Theorem.**

(a) If ρ_A < τ, then MP = 0.
(b) If τ = dm and MP = 1 under arbitrary labels, then MP = 1.
(c) If τ = dm, the student's network is contained in the teacher's, which has normal weights, and
    0 < MP < 1 under arbitrary labels, then 0 < MP < 1.

*Proof.* (a) For given fixed weights and samples the students' labels are a countable union of
smooth images of dimension at most ρ_A.  For almost all t the map g has rank τ near t, and there it
is a submersion onto a piece of dimension τ: the t whose labels are a student's have measure 0.

(b) For almost all X the map g is a submersion at almost all t, so that its labels have a density,
and a set of labels of probability 0 under one density has it under all.

(c) In the proof of 0 < MP under arbitrary labels the matched labels contain a neighbourhood of a
student's labels, and in that of MP < 1 labels without a match contain a neighbourhood of those of
some weights of the student's network, for fixed weights and samples in an open set.  Teachers with
these labels exist by containment, and all teachers near them have labels in the neighbourhood. ∎

A network is contained in another of its kind that differs only in having as many or more units in
each layer: more units may have outgoing weights 0.

The evidence is a certificate of the same problem with arbitrary labels
(`algebra.problems.laws.distribution`).  In all other cases nothing is known in general, and trials
are decided one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.certificates.on_ranks import certified
from algebra.certificates.tools import Effort
from algebra.certificates.trial_costs import SUGGESTED
from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNCHECKED,
    Checked,
    CheckEffort,
    CheckFailed,
    Checklist,
    weakest,
)
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.new_points import rank_again
from algebra.checker.premises import ALMOST_ALL, CONSTRAINED, NONLINEAR, UPDATES
from algebra.checker.problem_tables import read_problem
from algebra.checker.records import Record
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.documents import Explanation, step
from algebra.problems.premises import Covers, Feature, Premises
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank, network_rank
from algebra.ranks.jacobian import all_cells

_PLACE = "evidence.arbitrary"
# The student's side of the theorem: ranks and verdicts under arbitrary labels, with their own
# theorems and premises.
_STUDENT: Covers = dict.fromkeys(
    (
        *ALMOST_ALL,
        *UPDATES,
        *NONLINEAR,
        Feature.EXACT,
        Feature.PIECES,
        Feature.DENSE_TARGET,
        Feature.OWN_WEIGHTS,
        Feature.RESTING_TEACHER,
    ),
    "the certificate on arbitrary labels covers it, or does not hold",
)
_IMAGES = "only τ and the dimension of the students' labels are used"
FROM_ARBITRARY_LABELS = {
    MINIMAL: Premises(
        "labels_of_another_network",
        MINIMAL,
        {
            **_STUDENT,
            **CONSTRAINED,
            Feature.OTHER_TEACHER: _IMAGES,
            Feature.NOT_CONTAINED: _IMAGES,
        },
    ),
    MAXIMAL: Premises(
        "labels_of_another_network",
        MAXIMAL,
        {
            **_STUDENT,
            Feature.OTHER_TEACHER: "its labels have a density where τ is their number",
            Feature.NOT_CONTAINED: "its labels have a density where τ is their number",
        },
    ),
    INTERMEDIATE: Premises(
        "labels_of_another_network",
        INTERMEDIATE,
        {**_STUDENT, Feature.OTHER_TEACHER: "it contains the student's network"},
    ),
}


@dataclass(frozen=True)
class ArbitraryEvidence(Record):
    """The certificate of the problem with arbitrary labels."""

    arbitrary: Mapping[str, Any]


def teacher_rank(problem: Problem, seed: int) -> GenericRank | None:
    """τ, or None if the labels are not one analytic function or their ranks are not exact."""
    other = problem.teacher
    return network_rank(other.network, other.support, seed) if has_rank(other) else None


def has_rank(other: Problem) -> bool:
    """Whether a teacher's labels are one analytic function, whose ranks are exact."""
    network = other.network
    return network.rank_decides and network.ranks_are_exact(other.support)


def _verdict(problem: Problem, tau: int, rank: int, inner: str) -> str:
    """What the theorem says, from τ, an upper bound of ρ_A, and the verdict on arbitrary labels."""
    labels = problem.network.outputs
    if rank < tau:
        return MINIMAL
    if tau < labels or inner == MINIMAL:
        return UNDECIDED
    if inner != UNDECIDED and not FROM_ARBITRARY_LABELS[inner].applies(problem.features):
        return UNDECIDED
    return inner


def certify_other_teacher(
    problem: Problem, effort: Effort, certify: Callable[[Problem, Effort], Certificate]
) -> Certificate:
    """Decide a problem whose labels another network gives, if the theorem does.

    Parameters
    ----------
    problem : Problem
    effort : Effort
    certify : callable
        Certifies the problem with arbitrary labels.
    """

    def decide() -> Certificate:
        inner = certify(problem.with_arbitrary_labels(), effort)
        found = teacher_rank(problem, effort.seed)
        tau = 0 if found is None else found.rank
        verdict = _verdict(problem, tau, inner.rank, inner.verdict)
        known = f"the teacher's labels have dimension {tau} of {problem.network.outputs}"
        if found is None:
            known = "the dimension of the teacher's labels is not known"
        rule = f"{known}; the student's, with what learns, at most {inner.rank}"
        if verdict in (MAXIMAL, INTERMEDIATE):
            rule = f"{known}; arbitrary labels: {inner.rule}"
        open_ = verdict == UNDECIDED
        return Certificate(
            problem=problem,
            verdict=verdict,
            rule=rule,
            equations=tau,
            rank=inner.rank,
            prime=inner.prime,
            error_bound=Fraction(0) if open_ else inner.error_bound,
            reasons=inner.reasons if verdict == MINIMAL else (),
            tried=(f"arbitrary labels: {inner.verdict}",) if open_ else (),
            evidence={"arbitrary": inner.to_dict()},
            seed=effort.seed,
            explained=_explained(verdict, rule),
            theorem=None if open_ else FROM_ARBITRARY_LABELS[verdict],
        )

    return certified(problem, effort, decide)


def _explained(verdict: str, rule: str) -> Explanation:
    trials = step("estimate", "the match probability, with bounds", trials=SUGGESTED.most)
    said = {MINIMAL: "MP = 0", MAXIMAL: "MP = 1", INTERMEDIATE: "0 < MP < 1"}
    if verdict == UNDECIDED:
        return Explanation(
            (f"{rule[:1].upper()}{rule[1:]}.",),
            "the match probability with labels of another network: no theorem decides it here",
            "trials, one by one",
            (trials,),
        )
    return Explanation((f"{said[verdict]}: {rule}.",), steps=(trials,) * (verdict == INTERMEDIATE))


def verify_other_teacher(
    data: Mapping[str, Any], effort: CheckEffort, verify: Callable[[Any, CheckEffort], Checked]
) -> Checked:
    """Verify a certificate of `certify_other_teacher`.

    τ is found at points of the verifier; the certificate on arbitrary labels must be about the
    same problem, and is verified by itself.
    """

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        problem, say = claim.problem, checklist.say
        inner = ArbitraryEvidence.from_dict(claim.evidence, "evidence").arbitrary
        if read_problem(inner.get("problem"), f"{_PLACE}.problem") != (
            problem.with_arbitrary_labels()
        ):
            raise CheckFailed(f"{_PLACE}.problem", "is not this problem with arbitrary labels")
        tau = 0
        if has_rank(problem.teacher):
            # By the check's own code, at new points.
            other = problem.teacher
            cells = all_cells(other.network, other.support)
            tau, _ = rank_again(other.network, cells, other.support, None, effort.seed)
        if claim.equations != tau:
            raise CheckFailed("equations", f"the teacher's labels have dimension {tau}")
        if claim.generic_root_count is not None:
            raise CheckFailed("generic_root_count", "belongs to the labels of the same network")
        if inner.get("rank") != claim.rank or inner.get("prime") != claim.prime:
            raise CheckFailed("rank", "rank and prime are not those of the evidence")
        if claim.verdict == UNDECIDED:
            claim.check_numbers(error_bound=0)
            say("verdict", UNCHECKED, "undecided: no verdict is claimed")
            return Conclusion(UNCHECKED)
        if claim.verdict != _verdict(problem, tau, claim.rank, str(inner.get("verdict"))):
            raise CheckFailed("verdict", "does not follow from these dimensions and this evidence")
        if inner.get("error_bound") != data.get("error_bound"):
            raise CheckFailed("error_bound", "is not that of the evidence")
        exact = problem.teacher.network.equations_are != "analytic"
        known = PROVED if exact else PROBABLE
        say("equations", known, f"the teacher's labels have dimension {tau}")
        result = verify(inner, effort)
        for one in result.checks:
            say(f"{_PLACE}.{one.place}", one.status, one.text)
        if not result.holds:
            raise CheckFailed(_PLACE, "the certificate on arbitrary labels does not hold")
        status = weakest(known, *(c.status for c in result.checks if c.place == "verdict"))
        say("verdict", status, f"{claim.verdict}, from arbitrary labels and the dimension {tau}")
        return Conclusion(status, FROM_ARBITRARY_LABELS[claim.verdict])

    return verified(data, check)
