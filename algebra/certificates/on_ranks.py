"""Certification of verdicts that are based on generic ranks, for every family of networks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from algebra.certificates.certificate import Certificate
from algebra.certificates.family import Effort
from algebra.certificates.minors import MinorInFile
from algebra.certificates.points import RankClaim, WitnessPoint
from algebra.certificates.premises import LABELS_VANISH
from algebra.certificates.records import write_form
from algebra.certificates.root_evidence import RootEvidence
from algebra.certificates.vanishing import labels_vanish, vanishing_certificate
from algebra.certificates.verdicts import DISCRETE, UNDECIDED
from algebra.networks.base import Network, Support
from algebra.problems.allocation import Cell
from algebra.problems.features import Feature, Features
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.jacobian import all_cells, base_of, random_point
from algebra.ranks.minors import minor_in_time, none_found
from algebra.ranks.root_count_error import CountCertainty
from algebra.systems.root_count import RootCount

# Larger witness points are given only by their seed.
_LARGEST_POINT = 20_000
# Labels that questions about ranks are not about.
_OTHER_TARGETS = frozenset((Feature.ARBITRARY_LABELS, Feature.RESTING_TEACHER))


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


class OnRanks:
    """Makes a certificate that is based on generic ranks: collects the evidence, then concludes."""

    # The number of the rational point on whose piece the labels are.
    piece: int | None = None

    def __init__(
        self, problem: Problem, effort: Effort, whole: GenericRank, own: GenericRank
    ) -> None:
        self.problem, self.effort, self.whole, self.own = problem, effort, whole, own
        self.evidence: dict[str, Any] = {}
        if Feature.ARBITRARY_LABELS not in problem.features:
            self.evidence["network_rank"] = rank_evidence(problem, whole)
        self.evidence["allocation_rank"] = rank_evidence(problem, own, problem.student())
        self.certainty: CountCertainty | None = None
        self.notes: list[str] = []

    def counted(self, roots: RootCount) -> None:
        """Add a generic root count to the evidence."""
        self.evidence["root_count"] = RootEvidence.of(roots).to_dict()
        self.certainty = roots.certainty

    def regular_minor(
        self, network: Network, part: Sequence[Cell], student: Support, number: int | None = None
    ) -> bool:
        """Search for a regular minor, and put it into the evidence.

        It is one of the network's Jacobian if what learns has a smaller rank (the verdict is then
        "minimal"), and otherwise one of what learns.

        Parameters
        ----------
        network : Network
        part : sequence of cells
            What learns, or a part of it.
        student : mapping of str to mask
            The structural zeros of the student.
        number : int, optional
            Of the rational point; by default points are tried.

        Returns
        -------
        bool
            Whether one was found.
        """
        self.evidence.pop("regular_minor", None)
        cells, support, rank = part, student, self.whole.rank
        if self.own.rank < rank:
            support = self.problem.support
            cells = all_cells(base_of(self.problem.network), support)
        minor = minor_in_time(network, cells, rank, support, self.effort.seed, number)
        if minor is not None:
            self.evidence["regular_minor"] = write_form(MinorInFile, minor)
        return minor is not None

    def unproved(self) -> Certificate:
        """Undecided: ranks with formal values are only upper bounds, and no minor was found."""
        rule = f"rank {self.own.rank} of {self.whole.rank} with formal values, not proved"
        self.evidence["upper_bounds"] = True
        tried = (none_found(self.whole.rank),)
        return self.conclude(UNDECIDED, rule, tried=tried, bounds_only=True)

    def conclude(
        self, verdict: str, rule: str, error: Fraction | None = None, **more: Any
    ) -> Certificate:
        """The certificate.

        "Not minimal" is proved, except that the whole network's rank may be larger with some
        probability, which is the error if none is given.
        """
        return Certificate(
            problem=self.problem,
            verdict=verdict,
            rule=rule,
            equations=self.whole.rank,
            rank=self.own.rank,
            prime=self.own.p,
            error_bound=self.whole.error if error is None else error,
            notes=tuple(self.notes),
            evidence=self.evidence,
            seed=self.effort.seed,
            root_count_certainty=self.certainty,
            is_plain=not _OTHER_TARGETS & self.problem.features,
            on_piece=self.piece is not None,
            **more,
        )


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
        given = WitnessPoint(point.weights, point.X)
    claim = RankClaim(
        found.rank, found.upper, found.is_proved, (found.p, found.seed), found.points, given
    )
    return claim.to_dict()
