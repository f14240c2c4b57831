"""Verification of verdicts on shallow ReLU nets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from algebra.arguments.everything_learns import check_everything_learns
from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNCHECKED,
    Checked,
    CheckEffort,
    CheckFailed,
    Checklist,
    Say,
)
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.premises import EVERYTHING_LEARNS, LABELS_VANISH, common
from algebra.checker.rank_data import RankData
from algebra.checker.records import Record
from algebra.checker.vanishing import VanishingEvidence, check_vanishing, says_vanishing
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL
from algebra.networks.rectified import HasRectifiedLayers
from algebra.plugins.relu.arrangement import Refuter
from algebra.plugins.relu.certify import (
    FEW_DIMENSIONS,
    NO_MATCH_NEARBY,
    THEOREMS,
    has_biases,
    matches_in_silence,
)
from algebra.plugins.relu.decision import NO_MATCH, Decision, read_decision
from algebra.problems.problem import Problem
from algebra.ranks.budgets.cover import rank_bound
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import all_cells


@dataclass(frozen=True)
class ReluEvidence(Record):
    """The evidence that a certificate of a shallow ReLU net can contain."""

    active_rank: RankData
    no_match: Mapping[str, Any] | None = None
    everything_learns: Literal[True] | None = None


def verify_relu(data: object, effort: CheckEffort) -> Checked:
    """Verify the certificate of a shallow ReLU net at points of the effort's seed."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        assert isinstance(data, Mapping)
        if says_vanishing(claim.evidence):
            if has_biases(claim.problem):
                raise CheckFailed("evidence.labels_vanish", "labels may be those of biases")
            check_vanishing(
                claim.problem, claim.verdict, claim.equations, claim.rank, checklist.say
            )
            VanishingEvidence.from_dict(claim.evidence)
            _check_numbers(claim, claim.rank, 0)
            return Conclusion(PROVED, LABELS_VANISH)
        evidence = ReluEvidence.from_dict(claim.evidence)
        if claim.verdict != INTERMEDIATE and evidence.no_match is not None:
            raise CheckFailed("evidence.no_match", "does not belong to this verdict")
        if (claim.verdict == MAXIMAL) != (evidence.everything_learns is not None):
            raise CheckFailed("evidence.everything_learns", "does not belong to this verdict")
        prime = _check_active_rank(claim, evidence.active_rank, effort.seed, checklist.say)
        allocation = claim.problem.allocation
        bound = min(rank_bound(allocation), allocation.size, claim.equations)
        _check_numbers(claim, bound, prime)
        return check_relu(claim.problem, data, bound, checklist.say)

    return verified(data, check, common(THEOREMS))


def _check_numbers(claim: Claim, rank: int, prime: int) -> None:
    """Fields that follow from the problem."""
    claim.check_numbers(rank=rank, prime=prime, error_bound=0)
    if claim.generic_root_count is not None:
        raise CheckFailed("generic_root_count", "a ReLU net has no such count")


def _check_active_rank(claim: Claim, given: RankData, seed: int, say: Say) -> int:
    """The claimed rank is that with all units active; returns the prime of its witness."""
    network, support = claim.problem.network, claim.problem.support
    assert isinstance(network, HasRectifiedLayers)
    active = network.all_active()
    again = network_rank(active, support, seed)
    if again.rank != claim.equations:
        raise CheckFailed("equations", f"the all-active rank is {again.rank}")
    prime = given.checked(active, support, all_cells(active, support), again)
    status = PROVED if again.is_proved else PROBABLE
    say("equations", status, f"rank {again.rank} with all units active")
    return prime


def check_relu(problem: Problem, data: Mapping[str, Any], bound: int, say: Say) -> Conclusion:
    """Check a verdict on a ReLU net whose ranks have been checked.

    Parameters
    ----------
    problem : Problem
    data : mapping
        The certificate.
    bound : int
        Upper bound of the rank, for all patterns.
    say : callable
        Takes place, status and text of each result.

    Raises
    ------
    CheckFailed
    """
    verdict, equations = data["verdict"], data["equations"]
    if verdict == "undecided":
        say("verdict", UNCHECKED, "undecided: only the numbers above are claimed")
        return Conclusion(UNCHECKED)
    if verdict == MAXIMAL:
        check_everything_learns(problem, say)
        say("verdict", PROVED, "the teacher is a student: MP = 1")
        return Conclusion(PROVED, EVERYTHING_LEARNS)
    if verdict != INTERMEDIATE:
        raise CheckFailed("verdict", "no ReLU allocation is minimal")
    if not matches_in_silence(problem):
        raise CheckFailed("verdict", "MP > 0 is not known: some biases of the last layer are fixed")
    if "no_match" in data["evidence"]:
        leaves = _check_instance(problem, data["evidence"]["no_match"])
        say(
            "evidence.no_match",
            PROVED,
            "an instance without a match, which has none nearby either; leaves refuted with "
            f"slack: {leaves}",
        )
        say("verdict", PROVED, "MP < 1; both nets are silent with positive probability, so MP > 0")
        return Conclusion(PROVED, NO_MATCH_NEARBY)
    if bound >= equations:
        raise CheckFailed("verdict", f"rank {bound} is not below {equations}")
    say(
        "verdict",
        PROVED,
        f"every pattern has rank at most {bound} < {equations}; both nets are "
        "silent with positive probability",
    )
    return Conclusion(PROVED, FEW_DIMENSIONS)


def _check_instance(problem: Problem, evidence: Mapping[str, Any]) -> int:
    place = "evidence.no_match"
    decision = read_decision(evidence, place)
    if decision.verdict != NO_MATCH:
        raise CheckFailed(f"{place}.verdict", "this is not a refuted instance")
    if decision.system.box:
        raise CheckFailed(f"{place}.box", "an instance without a match in a box may have others")
    if decision.teacher is None:
        raise CheckFailed(f"{place}.teacher", "is missing: labels must come from a teacher")
    system = decision.system
    if system.allocation != problem.allocation:
        raise CheckFailed(f"{place}.cells", "the instance belongs to another allocation")
    if not decision.labels_are_the_teachers:
        raise CheckFailed(f"{place}.Y", "the labels are not the teacher's")
    for name, mask in problem.support.items():
        outside = np.asarray(mask) == 0
        for net in (system.weights, decision.teacher):
            if any(value != 0 for value in np.asarray(net[name], dtype=object)[outside]):
                raise CheckFailed(place, f"a weight of {name} outside the support is not 0")
    if not persists(problem, decision):
        text = "the leaves do not refute all instances near this one"
        raise CheckFailed(f"{place}.leaves", text)
    return len(decision.leaves)


def persists(problem: Problem, decision: Decision) -> bool:
    """Whether a refuted instance has a neighbourhood of refuted instances.

    Parameters
    ----------
    problem : Problem
    decision : Decision
        With verdict "no match".

    Notes
    -----
    The cover by leaves is the same for all instances.  Every leaf must be refuted by μ with slack
    (see `algebra.plugins.relu.arrangement.Refuter.refutes`); hyperplanes may all meet in one point
    only if a whole row learns, for then they always do.  Weights of units that reach no output are
    omitted from the equations, which is correct nearby only if structural zeros, not the drawn
    weights, separate them from the outputs.

    The neighbourhood lies within the support.  It may lie outside the cube of a uniform law; but
    W1, W2 (student's and teacher's) and X may each be multiplied by a positive number without
    changing whether there is a match, so there is also one inside the cube.
    """
    if not decision.is_covered:
        return False
    system = decision.system
    if not system.is_shallow or has_biases(problem):
        # Only leaves of shallow nets without biases are refuted with slack.
        return False
    shape = problem.network.shapes["W2"]
    reaches = np.any(problem.support.get("W2", np.ones(shape, dtype=int)), axis=0).tolist()
    if any(reaches[i] for _, i, _ in system.idle):
        return False
    refuter = Refuter(system)
    support = np.asarray(
        problem.support.get("W1", np.ones(problem.network.shapes["W1"], dtype=int))
    )
    for t, (_, i) in enumerate(system.units):
        whole = set(np.flatnonzero(support[i]).tolist()) <= {j for (_, _, j), _ in system.terms[t]}
        if refuter.arrangement(t).is_central and not whole:
            return False
    return all(
        leaf.mu is not None
        and leaf.lam is None
        and refuter.refutes(leaf.fixed, leaf.mu, strict=True)
        for leaf in decision.leaves
    )
