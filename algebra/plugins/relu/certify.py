"""Verdicts on networks of ReLU layers, by counting or by one refuted instance.

MP > 0 for every allocation, even an empty one: with positive probability all units of the last
hidden layer are inactive in teacher and student, and both outputs are 0.  (In a shallow net all
samples then lie in a half-space; behind a hidden layer weights below 0 are enough.)  With biases
outputs are then those of the last layer, so all of them that exist must learn; otherwise nothing is
said here.  So nothing is minimal.  If every weight that exists learns the teacher is a student, and
MP = 1.  Otherwise MP < 1 if for every activation pattern the student has fewer
dimensions than the teacher's labels have when all its units are active, which has positive
probability too (the budgets bound all patterns at once).  And MP < 1 if one instance has no match,
nor any nearby instance (`algebra.plugins.relu.verify`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.arguments.everything_learns import RULE
from algebra.certificates.certificate import Certificate
from algebra.certificates.explanation import longer_search
from algebra.certificates.on_ranks import certified
from algebra.certificates.sentences import OPEN_PATTERNS, OPEN_VALUE, SILENT, too_few
from algebra.certificates.tools import Effort
from algebra.certificates.trial_costs import estimate_steps, too_costly
from algebra.checker.premises import EVERYTHING_LEARNS, NEARBY
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, UNDECIDED
from algebra.documents import Explanation, step
from algebra.networks.rectified import HasRectifiedLayers
from algebra.plugins.relu.network import ShallowReLU
from algebra.plugins.relu.patterns import sample_pattern_ranks
from algebra.problems.premises import Covers, Feature, Premises
from algebra.problems.problem import Problem
from algebra.ranks.budgets.cover import budget_violations, rank_bound
from algebra.ranks.budgets.lines import budget_sentences
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import everything_learns
from algebra.time_limits import OutOfTime, phase

# Exact numbers cannot be perturbed, and with signs units may be unable to be inactive at once.
_LAWS: Covers = {
    Feature.BOUNDED: "W1, W2 and X may be multiplied by positive numbers: an instance is scaled "
    "into the support; units are inactive, or all active, for weights of any size",
    Feature.DISCRETE: NEARBY[Feature.DISCRETE],
    Feature.SCALES: NEARBY[Feature.SCALES],
    Feature.ZEROS: NEARBY[Feature.ZEROS],
}
FEW_DIMENSIONS = Premises(
    "few_dimensions",
    INTERMEDIATE,
    {**_LAWS, Feature.PIECES: "budgets bound the ranks of all activation patterns at once"},
)
NO_MATCH_NEARBY = Premises(
    "no_match",
    INTERMEDIATE,
    {**_LAWS, Feature.PIECES: "the leaves cover all activation patterns"},
)

_NONE = "none is exceeded"
THEOREMS = (FEW_DIMENSIONS, NO_MATCH_NEARBY)


def certify_relu(problem: Problem, effort: Effort) -> Certificate:
    """Decide an allocation of a network of ReLU layers if possible."""
    found = certified(
        problem, effort, lambda: _decided(problem, effort), can_vanish=not has_biases(problem)
    )
    return replace(found, explained=_explained(found, effort)) if found.equations else found


def has_biases(problem: Problem) -> bool:
    """Whether labels may differ from 0 without a path from an input."""
    network = problem.network
    assert isinstance(network, HasRectifiedLayers)
    return any(bias is not None for _, bias in network.rectified_layers)


def matches_in_silence(problem: Problem) -> bool:
    """Whether a student with inactive units matches a teacher with inactive units.

    The last layer has no biases, or all that exist learn.
    """
    network = problem.network
    assert isinstance(network, HasRectifiedLayers)
    bias = network.rectified_layers[-1][1]
    if bias is None:
        return True
    learns = np.asarray(problem.allocation.masks[bias]) != 0
    exists = np.asarray(problem.support.get(bias, np.ones_like(learns))) != 0
    return bool((learns | ~exists).all())


def _explained(found: Certificate, effort: Effort) -> Explanation:
    """Why MP is between 0 and 1, or what is open."""
    estimate, costly = estimate_steps(found.problem), too_costly(found.problem)
    if found.verdict == UNDECIDED:
        shallow = isinstance(found.problem.network, ShallowReLU)
        longer = (longer_search(effort.limits),) if shallow else ()
        return Explanation(
            (*found.notes, *costly),
            OPEN_PATTERNS,
            "one instance without a match that persists nearby (then MP < 1)",
            (*longer, *estimate, step("decide", "one instance, with a proof for it")),
        )
    if found.verdict == MAXIMAL:
        return Explanation((f"MP = 1: {found.rule}.",))
    if "no_match" in found.evidence:
        known = [
            "MP < 1: the certificate contains an instance for which no weights match; the same "
            "holds for all instances near it."
        ]
    else:
        known = [too_few(found), *(f"  {reason}" for reason in found.reasons)]
    return Explanation((SILENT, *known, *costly), OPEN_VALUE, "", estimate)


def _decided(problem: Problem, effort: Effort) -> Certificate:
    seed, network = effort.seed, problem.network
    assert isinstance(network, HasRectifiedLayers)
    # Only leaves of shallow nets are refuted with slack.
    shallow = isinstance(network, ShallowReLU)
    refuted = effort.tools.refuted if shallow else None
    notes, silent = [], matches_in_silence(problem)
    allocation, active = problem.allocation, network.all_active()
    with phase("generic ranks"):
        whole = network_rank(active, problem.support, seed)
    bound = min(rank_bound(allocation), allocation.size, whole.rank)
    whole_learns = everything_learns(allocation, problem.support)
    certain = bound < whole.rank and silent and not whole_learns
    if allocation.size and shallow:
        # Only for the report: omitted if there is no time.
        with suppress(OutOfTime):
            sampled = sample_pattern_ranks(allocation, seed=seed)
            text = f"rank {sampled.ranks[0]} of {whole.rank} with all units active, full for "
            text += f"{sampled.full} of {len(sampled.ranks)} random activation patterns"
            notes.append(text)
    evidence: dict[str, Any] = {
        "active_rank": {"rank": whole.rank, "witness": [whole.p, whole.seed]}
    }
    instance, in_time = None, True
    if refuted is not None and not (certain or whole_learns):
        try:
            instance = refuted(problem)
        except OutOfTime:
            in_time = False
    theorem = FEW_DIMENSIONS if certain else NO_MATCH_NEARBY
    if whole_learns:
        evidence[EVERYTHING_LEARNS.name], theorem = True, EVERYTHING_LEARNS
        rule = RULE
    elif certain:
        rule = f"no activation pattern has a rank above {bound}, and labels have rank {whole.rank}"
    elif instance is not None:
        evidence["no_match"] = instance
        rule = "an instance without a match, which has none nearby either"
    else:
        rule = "decided per instance, not in general, for a ReLU network"
    is_open = not (whole_learns or certain) and instance is None
    exceeded = "some are exceeded, but MP > 0 is not known" if bound < whole.rank else _NONE
    tried = [f"budgets of rows, columns and layers: {exceeded}"]
    if refuted is not None:
        what = "none found" if in_time else "the time limit was reached"
        tried.append(f"a search for an instance without a match that persists: {what}")
    everywhere = (
        "never minimal: teacher and student are both silent with positive probability"
        if silent
        else "where all units are silent, labels are the last layer's biases: some do not learn"
    )
    return Certificate(
        problem=problem,
        verdict=UNDECIDED if is_open else theorem.claim,
        rule=rule,
        equations=whole.rank,
        rank=bound,
        prime=whole.p,
        error_bound=Fraction(0),
        reasons=budget_sentences(budget_violations(allocation)) if certain else (),
        notes=(*notes, everywhere),
        tried=tuple(tried) if is_open else (),
        evidence=evidence,
        seed=seed,
        theorem=theorem,
    )
