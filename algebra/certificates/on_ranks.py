"""Certification of verdicts that are based on generic ranks, for every family of networks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.certificates.tools import Effort
from algebra.certificates.vanishing import labels_vanish, vanishing_certificate
from algebra.checker.points import RankClaim, WitnessPoint
from algebra.checker.premises import LABELS_VANISH
from algebra.checker.verdicts import DISCRETE, UNDECIDED
from algebra.networks.base import Support
from algebra.problems.premises import Feature, Features
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.jacobian import base_of, random_point

# Larger witness points are given only by their seed.
_LARGEST_POINT = 20_000


def certified(
    problem: Problem,
    effort: Effort,
    decide: Callable[[], Certificate],
    *,
    can_vanish: bool = False,
    more: Features = frozenset(),
) -> Certificate:
    """The frame of every certificate: the premises of its verdict, the note on the law, the time.

    Parameters
    ----------
    problem : Problem
    effort : Effort
    decide : callable
        Returns a certificate of the problem, or of one with the same verdict.
    can_vanish : bool, optional
        Whether structural zeros without a path make every label 0; then nothing else is decided.
    more : frozenset of Feature, optional
        The features of a problem that is reduced to this one.

    Raises
    ------
    AssertionError
        If a verdict follows from a theorem that does not cover the problem: a search has a fault.
    """
    start, features = time.monotonic(), problem.features | more
    zeros = problem.support if can_vanish and LABELS_VANISH.applies(features) else {}
    if zeros and labels_vanish(problem.network, zeros):
        found = vanishing_certificate(problem, effort.seed)
    else:
        found = decide()
    if found.verdict != UNDECIDED:
        theorem = found.theorem
        assert theorem is not None, found.rule
        assert theorem.claim == found.verdict, found.rule
        assert theorem.applies(features), (theorem.name, theorem.missing(features))
    law = (DISCRETE,) if Feature.DISCRETE in features else ()
    notes = tuple(dict.fromkeys((*law, *found.notes)))
    seconds = time.monotonic() - start
    return replace(found, problem=problem, notes=notes, seconds=seconds)


def rank_evidence(
    problem: Problem, found: GenericRank, student: Support | None = None
) -> dict[str, Any]:
    """A generic rank with its witness, which contains the point itself if it is not too long.

    Parameters
    ----------
    problem : Problem
    found : GenericRank
    student : mapping of str to mask, optional
        The structural zeros with which the student's points were drawn (`Problem.student`).
    """
    # Parameters of updates are 0 at every point, and no file has them.
    network = base_of(problem.network)
    support = problem.support if student is None else student
    given = None
    if network.parameters + network.input_shape[0] * network.m <= _LARGEST_POINT:
        point = random_point(network, found.p, found.seed, support)
        weights = {name: weight.tolist() for name, weight in point.weights.items()}
        given = WitnessPoint(weights, point.X.tolist())
    claim = RankClaim(
        found.rank, found.upper, found.is_proved, (found.p, found.seed), found.points, given
    )
    return claim.to_dict()
