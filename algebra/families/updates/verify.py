"""Verification of certificates of problems with updates.

* The equivalence of updates to cells is proved again by the counts of `Network.enough_rank` and, if
  a low rank is smaller than the whole matrix, by the ranks of the matrix's inputs and of the maps
  after it, at a new point.  The certificate is then that of the cells, and is verified as such.
* J_θ is compared with forward-mode derivatives: the updates' own maps and the network's, evaluated
  with dual numbers in random directions of θ.  Ranks are computed by the verifier's own
  elimination; for deficits new primes and points are used.
* N is counted again as that of the parameters, modulo another prime at another instance.
* A regular minor of J_θ is computed again in balls of other precisions.
* Cells within reach: the updates must take all their values; their certificate is verified too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from algebra.arguments.argument import Claimed
from algebra.arguments.recount import check_root_count
from algebra.arguments.stuck_output import ARGUMENT as STUCK
from algebra.arguments.stuck_output import refute_maximal
from algebra.certificates.checks import (
    FAILED,
    PROVED,
    UNCHECKED,
    UNFINISHED,
    Checked,
    CheckFailed,
    Checklist,
    weakest,
)
from algebra.certificates.claim import Claim, Conclusion, verified
from algebra.certificates.family import Effort
from algebra.certificates.minors import MinorInFile
from algebra.certificates.premises import AFFINE_PART, RANK_DEFICIT
from algebra.certificates.rank_claims import EvidenceOnRanks, RankChecker, argues, read_evidence
from algebra.certificates.root_evidence import RootEvidence
from algebra.certificates.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.declarations import Count
from algebra.families.updates.certify import CELLS_WITHIN_REACH, ODD_PARAMETER_COUNT, same_labels
from algebra.linalg.modular import modular_rank, random_points
from algebra.networks.base import POLYNOMIAL_LABELS, Point
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import random_point, tangent_factors
from algebra.ranks.parametrized import by_parameters
from algebra.systems.equivalent_cells import (
    as_plain,
    cells_instead,
    need_jacobian,
    with_cells,
    within_reach,
)

# Verifies the certificate of a problem of cells.
CellCheck = Callable[[Mapping[str, Any], Effort], Checked]


def verify_updates(data: Mapping[str, Any], effort: Effort, verify_cells: CellCheck) -> Checked:
    """Verify the certificate of a problem with updates; `verify_cells` verifies those of cells."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        need_jacobian(claim.problem.network)
        plain = as_plain(claim.problem)
        silent = "labels_vanish" in claim.evidence
        masks = cells_instead(plain)
        simpler = with_cells(plain, masks)
        if silent or not simpler.updates:
            if silent:
                simpler = Problem.of(
                    plain.learning.moving, support=plain.support, distribution=plain.distribution
                )
            else:
                _check_equivalences(plain, masks, effort.seed, checklist)
            inner = {**data, "problem": simpler.to_dict(), "learnable": simpler.allocation.size}
            status = nested(inner, effort, verify_cells, checklist, "")
            return Conclusion(status, same_labels(claim.verdict))
        _check_equivalences(plain, masks, effort.seed, checklist)
        return _UpdateChecker(claim, simpler, checklist, effort, verify_cells).run()

    return verified(data, check)


def nested(
    data: Mapping[str, Any],
    effort: Effort,
    verify_cells: CellCheck,
    checklist: Checklist,
    place: str,
) -> str:
    """Add the checks of another certificate under its place; return the status of its verdict."""
    found = verify_cells(data, effort)
    status = UNFINISHED
    for check in found.checks:
        at = f"{place}.{check.place}" if place else check.place
        if check.status == FAILED:
            raise CheckFailed(at, check.text)
        if check.status != UNCHECKED:
            checklist.say(at, check.status, check.text)
        if check.place == "verdict":
            status = check.status
    return status


def _check_equivalences(
    problem: Problem, masks: Mapping[str, np.ndarray], seed: int, checklist: Checklist
) -> None:
    """Updates equivalent to cells: ranks at a point must not exceed the counting bounds."""
    network, updates = problem.network, problem.updates
    point = random_point(network, *next(random_points(f"equivalent/{seed}")), problem.support)
    for name in masks:
        update, shape = updates[name], network.shapes[name]
        text = f"{update.words(name, shape)} reaches what {int(masks[name].sum())} cells do"
        if isinstance(update, LowRank) and update.rank < min(shape):
            received, sent = _ranks_around(problem, point, name)
            if min(received, sent) > update.rank:
                raise CheckFailed(
                    f"problem.learnable.{name}",
                    f"{name} receives rank {received} and sends through rank {sent}: changes of "
                    f"rank {update.rank} do not reach all",
                )
            text += f": it receives rank {received}, what follows has rank {sent}"
        checklist.say(f"problem.learnable.{name}", PROVED, text)


def _ranks_around(problem: Problem, point: Point, name: str) -> tuple[int, int]:
    """Ranks of a matrix's inputs and of the maps after it, at a point."""
    L, R = tangent_factors(problem.network, point, [name])[name]
    received = np.hstack(list(R))
    followed = L.reshape(-1, L.shape[-1])
    return modular_rank(received, point.p), modular_rank(followed, point.p)


@dataclass(frozen=True)
class UpdateEvidence(EvidenceOnRanks):
    """Evidence on problems with updates.

    Attributes
    ----------
    regular_minor : Minor or None
    stuck_output : int or None
        The number of an output that cannot match every teacher.
    part : mapping or None
        The certificate of cells within reach.
    """

    regular_minor: MinorInFile | None = None
    stuck_output: Count | None = field(default=None, metadata=argues(INTERMEDIATE))
    part: Mapping[str, Any] | None = field(default=None, metadata=argues(MAXIMAL))


class _UpdateChecker(RankChecker):
    """The checks of one claim on a problem that is not equivalent to one of cells."""

    def __init__(
        self,
        claim: Claim,
        problem: Problem,
        checklist: Checklist,
        effort: Effort,
        verify_cells: CellCheck,
    ) -> None:
        self.moved = by_parameters(problem)
        evidence = read_evidence(UpdateEvidence, claim, problem, self.moved)
        super().__init__(claim, evidence, checklist, effort)
        self.problem, self.minor = problem, evidence.regular_minor
        self.part, self.stuck = evidence.part, evidence.stuck_output
        polynomial = problem.network.equations_are != "analytic"
        self.counted = polynomial and claim.verdict in (MAXIMAL, UNDECIDED)
        self.verify_cells, self.checklist = verify_cells, checklist
        self.learning = problem.learning

    def run(self) -> Conclusion:
        claim = self.claim
        self._only_what_belongs()
        refute_maximal(claim, self.problem, self.seed)
        known, attained = self._network_rank(), self._learning_rank()
        exact = self._exact()
        known = self._known_by_minor(known)
        if claim.verdict == UNDECIDED:
            self._error_bound(known == PROVED)
            if self.evidence.root_count is not None:
                self._parameter_count(self.evidence.root_count)
            return Conclusion(self._only_numbers())
        if not exact:
            text = "formal ranks are upper bounds only, with this activation"
            raise CheckFailed("evidence.allocation_rank", text)
        if claim.verdict == MINIMAL:
            size = self.learning.dimension
            status = self._minimal(attained, size, f"students of dimension {size}")
            return Conclusion(status, RANK_DEFICIT)
        self._full_rank(known, "the rank of what learns")
        if claim.verdict == INTERMEDIATE:
            if self.stuck is None:
                raise CheckFailed("evidence.stuck_output", "is missing")
            status = weakest(known, STUCK.check(self.problem, self.stuck, self._claimed(None)))
            self.say("verdict", status, STUCK.why[INTERMEDIATE])
            return Conclusion(status, STUCK.theorem(INTERMEDIATE))
        return self._covers(known)

    def _only_what_belongs(self) -> None:
        """No evidence that the verdict does not use, and no count without evidence."""
        given = self.evidence.arguments()
        if not self.counted and "root_count" in given:
            given["root_count"] = ()
        self._need_place(given)
        self._need_numbers(self.evidence.root_count)
        if self.evidence.labels_vanish:
            raise CheckFailed("evidence.labels_vanish", "does not belong to this evidence")

    def _exact(self) -> bool:
        """Whether ranks at formal points are the generic ranks, or a minor shows that they are."""
        network, support = self.problem.network, self.problem.support
        why = network.why_exact(support, f"verify/{self.seed}")
        if self.minor is not None:
            self._regular(self.moved.network, self.moved.allocation.cells, support)
            return True
        if why not in ("", POLYNOMIAL_LABELS):
            self.say("rank", PROVED, f"{why}; so these are the generic ranks")
        return bool(why)

    def _learning_rank(self) -> str:
        """The claimed rank is the generic rank of J_θ; "probable" if it is below its bounds."""
        claim, evidence, own = self.claim, self.evidence.allocation_rank, self.moved.allocation
        assert evidence is not None
        # The parameters of the witness point are those of the point itself: differences of 0.
        point, network = evidence.point, own.network
        zero = {n: np.zeros(s, np.int64) for n, s in network.shapes.items()}
        point = replace(point, weights={**zero, **point.weights})
        self._attained(evidence, list(own.cells), claim.rank, network, point)
        return self._at_most(
            evidence, own.size,
            lambda seed: allocation_rank(own, self.problem.support, claim.equations, seed),
        )  # fmt: skip

    def _covers(self, known: str) -> Conclusion:
        """An affine map of full rank, or maximal cells within reach, imply MP = 1."""
        roots = self.evidence.root_count
        if roots is not None:
            if self.part is not None:
                raise CheckFailed("evidence.root_count", "does not belong beside a part")
            return Conclusion(self._odd(known, roots), ODD_PARAMETER_COUNT)
        if self.part is None:
            if not self.learning.is_affine:
                text = "maximal: the labels are not affine in what learns, and no part is named"
                raise CheckFailed("verdict", text)
            self.say("verdict", known, "the labels are affine in what learns, full rank: MP = 1")
            return Conclusion(known, AFFINE_PART)
        place = "evidence.part"
        part = Claim.from_dict(self.part, place)
        whole, own = self.problem, part.problem
        if own.updates or part.verdict != MAXIMAL:
            raise CheckFailed(place, "is no certificate of maximal cells")
        masks = own.allocation.masks
        # Everything but the cells is that of this problem: laws, values, structural zeros.
        if own != replace(whole, learnable=own.learnable):
            raise CheckFailed(f"{place}.problem", "is not this problem with cells that learn")
        free = set(self.learning.cells)
        for name, mask in masks.items():
            update = whole.updates.get(name)
            if update is not None:
                inside = within_reach(update, mask, whole.support.get(name))
            else:
                inside = all((name, int(i), int(j)) in free for i, j in np.argwhere(mask))
            if not inside:
                raise CheckFailed(f"{place}.problem.learnable.{name}", "is not within reach")
        self.say(f"{place}.problem", PROVED, "what learns takes all values of these cells")
        status = nested(self.part, self.effort, self.verify_cells, self.checklist, place)
        self.say("verdict", status, "cells within reach have MP = 1, and so has every larger set")
        return Conclusion(weakest(status), CELLS_WITHIN_REACH)

    def _odd(self, known: str, roots: RootEvidence) -> str:
        """An odd number of complex solutions of a generic instance implies MP = 1."""
        if roots.value % 2 == 0:
            text = f"{roots.value} is even: it does not prove MP = 1"
            raise CheckFailed("evidence.root_count", text)
        status = weakest(known, self._parameter_count(roots))
        text = f"N = {roots.value} is odd, so a real solution always exists: MP = 1"
        self.say("verdict", status, text + roots.given(status))
        return status

    def _parameter_count(self, roots: RootEvidence) -> str:
        """Count N of the parameters again, as that of single weights."""
        return check_root_count(self.moved, self.moved.allocation, roots, self._claimed(roots))

    def _claimed(self, roots: RootEvidence | None) -> Claimed:
        return Claimed(self.claim.verdict, self.claim.equations, roots, self.effort, self.say)
