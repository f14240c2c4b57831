"""Verdicts under arbitrary labels on networks that are not one analytic function: by counting.

Networks whose labels are one analytic function of what learns are certified by arguments that hold
for generic labels (`algebra.problems.laws.distribution` has the theorem).  ReLU networks,
normalization networks, programs and activations with pieces, and updates are here.

**Theorem.** If r parameters learn and r < dm, arbitrary labels have MP = 0.

*Proof.* For given fixed weights and samples the students' labels are the image of R^r under a map
that is smooth on each of finitely many pieces: a set of measure 0 in R^dm.  Labels with a density
are in it with probability 0. ∎

With r ≥ dm nothing is claimed.  In particular a ReLU network may be minimal here, although it never
is with a teacher: that student and teacher are both silent has probability 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.certificates.on_ranks import certified
from algebra.certificates.tools import Effort
from algebra.certificates.trial_costs import SUGGESTED
from algebra.checker.checks import PROVED, UNCHECKED, Checked, CheckFailed, Checklist
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.premises import ALMOST_ALL, CONSTRAINED, NONLINEAR, UPDATES
from algebra.checker.records import Record
from algebra.checker.verdicts import MINIMAL, UNDECIDED
from algebra.documents import Explanation, step
from algebra.problems.premises import Feature, Premises
from algebra.problems.problem import Problem
from algebra.words import plural

# Labels with a density avoid a set of measure 0, whatever the other weights are.
FEWER_THAN_LABELS = Premises(
    "fewer_than_labels",
    MINIMAL,
    dict.fromkeys(
        (
            *ALMOST_ALL,
            *CONSTRAINED,
            *UPDATES,
            *NONLINEAR,
            Feature.ARBITRARY_LABELS,
            Feature.NOISE,
            Feature.EXACT,
            Feature.PIECES,
            Feature.DENSE_TARGET,
            Feature.OWN_WEIGHTS,
        ),
        "for any fixed weights and samples the students' labels have measure 0",
    ),
)

_NO_COUNT = "numbers of weights and labels: there are enough weights"


@dataclass(frozen=True)
class NoEvidence(Record):
    """Nothing: the verdict follows from the sizes in the problem."""


def certify_by_number(problem: Problem, effort: Effort) -> Certificate:
    """Minimal if fewer parameters learn than there are labels, otherwise undecided.

    Parameters
    ----------
    problem : Problem
        With arbitrary labels.
    effort : Effort

    Examples
    --------
    >>> from algebra.plugins.relu.network import ShallowReLU
    >>> from algebra.problems.laws.distribution import Distribution
    >>> net = ShallowReLU(q=2, n=2, d=1, m=3)
    >>> law = Distribution(labels="normal")
    >>> problem = Problem(net, {"W2": [[1, 1]]}, distribution=law)
    >>> certify_by_number(problem, Effort()).verdict
    'minimal'
    """
    size, labels = problem.learning.size, problem.network.outputs
    few = size < labels
    weights = plural(size, f"{size} learnable parameter")
    text = f"{weights}, {plural(labels, f'{labels} arbitrary label')}"

    def decide() -> Certificate:
        return Certificate(
            problem=problem,
            verdict=MINIMAL if few else UNDECIDED,
            rule=text,
            equations=labels,
            rank=min(size, labels),
            prime=0,
            error_bound=Fraction(0),
            tried=() if few else (_NO_COUNT,),
            evidence={},
            seed=effort.seed,
            theorem=FEWER_THAN_LABELS,
            explained=_explained(text, few),
        )

    return certified(problem, effort, decide)


def _explained(text: str, few: bool) -> Explanation:
    if few:
        return Explanation((f"MP = 0: {text}. Almost all labels are out of reach.",))
    return Explanation(
        (f"{text}: their number excludes nothing.",),
        "whether MP > 0, and whether MP = 1: no theorem is known for arbitrary labels of this kind",
        "trials, one by one",
        (step("estimate", "the match probability, with bounds", trials=SUGGESTED.most),),
    )


def verify_by_number(data: Mapping[str, Any]) -> Checked:
    """Verify a certificate of `certify_by_number`: the numbers follow from the problem."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        NoEvidence.from_dict(claim.evidence, "evidence")
        size, labels = claim.problem.learning.size, claim.problem.network.outputs
        claim.check_numbers(equations=labels, rank=min(size, labels), prime=0, error_bound=0)
        if claim.generic_root_count is not None:
            raise CheckFailed("generic_root_count", "is no evidence on arbitrary labels here")
        if claim.verdict == UNDECIDED:
            checklist.say("verdict", UNCHECKED, "undecided: only the numbers above are claimed")
            return Conclusion(UNCHECKED)
        if Feature.ARBITRARY_LABELS not in claim.problem.features:
            raise CheckFailed("problem.distribution", "the labels are a teacher's, without noise")
        if claim.verdict != MINIMAL:
            raise CheckFailed("verdict", "sizes alone prove at most MP = 0")
        if size >= labels:
            raise CheckFailed("verdict", f"{size} parameters are not fewer than {labels} labels")
        checklist.say("verdict", PROVED, f"{size} parameters, {labels} arbitrary labels: MP = 0")
        return Conclusion(PROVED, FEWER_THAN_LABELS)

    return verified(data, check)
