"""Checks of claims whose ranks are computed with formal values.

These claims are about networks with activations, about programs, and about updates of both.  A rank
with formal values is an upper bound; that it is attained is proved by a theorem, or by a regular
minor of the Jacobian, which is computed again in balls of other precisions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from algebra.certificates.checks import PROBABLE, PROVED, CheckFailed, Checklist
from algebra.certificates.claim import Claim
from algebra.certificates.family import Effort
from algebra.certificates.fields import Fields
from algebra.certificates.minors import check_minor, read_minor
from algebra.linear.evidence import read_evidence
from algebra.linear.verify import ClaimChecker
from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import everything_learns
from algebra.ranks.minors import Minor

EVERYTHING, STUCK = "everything_learns", "stuck_output"


def read_everything(fields: Fields) -> bool | None:
    """True where the evidence says that everything learns, else None."""
    return (fields.has(EVERYTHING) and fields.flag(EVERYTHING)) or None


def read_stuck(fields: Fields) -> int | None:
    """The number of the output that the evidence names as stuck, or None."""
    return fields.whole(STUCK, 0) if fields.has(STUCK) else None


class FormalClaimChecker(ClaimChecker):
    """The checks of one claim whose ranks are computed with formal values.

    Parameters
    ----------
    claim, checklist, effort
        As for `ClaimChecker`.
    arguments : mapping of str to (object, str)
        By key what the evidence contains for one verdict only (None if it does not contain it), and
        that verdict.
    problem : Problem, optional
        The problem that the evidence is about; by default the claim's.
    moved : Problem, optional
        The problem whose Jacobian has the regular minor; by default `problem`.
    """

    def __init__(
        self,
        claim: Claim,
        checklist: Checklist,
        effort: Effort,
        arguments: Mapping[str, tuple[Any, str]],
        problem: Problem | None = None,
        moved: Problem | None = None,
    ) -> None:
        fields, problem = claim.evidence, problem or claim.problem
        self.arguments = arguments
        self.minor: Minor | None = None
        if fields.has("regular_minor"):
            self.minor = read_minor(fields.table("regular_minor"), moved or problem)
        super().__init__(claim, read_evidence(fields, problem), checklist, effort, peers=False)
        self.problem = problem

    def _argument(self, key: str) -> Any:
        """What the evidence has under a key of `arguments`."""
        return self.arguments[key][0]

    def _only_what_belongs(self) -> None:
        super()._only_what_belongs()
        if self.evidence.labels_vanish:
            raise CheckFailed("evidence.labels_vanish", "does not belong to this evidence")
        given = {
            key: verdict for key, (found, verdict) in self.arguments.items() if found is not None
        }
        for key, verdict in given.items():
            if self.claim.verdict != verdict:
                raise CheckFailed(f"evidence.{key}", self._no_place)
        if EVERYTHING in given and (len(given) > 1 or self.minor is not None):
            raise CheckFailed(f"evidence.{EVERYTHING}", "does not belong to this evidence")

    def _regular(
        self,
        network: Network,
        cells: Collection[Cell],
        support: Mapping[str, np.ndarray],
        more: str = "",
    ) -> None:
        """The regular minor proves that the rank is at least the number of equations."""
        assert self.minor is not None
        check_minor(self.minor, network, self.claim, cells, support)
        text = f"regular in ball arithmetic: rank at least {self.claim.equations}{more}"
        self.say("evidence.regular_minor", PROVED, text)

    def _known_by_minor(self, known: str) -> str:
        """Status of ρ: at most by new formal points or by counting, at least by the minor."""
        if self.minor is None:
            return known
        is_most = self.claim.equations == self.problem.network.label_dimension_bound
        return PROVED if is_most else PROBABLE

    def _everything(self) -> str:
        """If all existing weights learn, MP = 1."""
        self._error_bound(True)
        if not everything_learns(self.problem.allocation, self.problem.support):
            text = "a weight that exists does not learn"
            raise CheckFailed(f"evidence.{EVERYTHING}", text)
        self.say("verdict", PROVED, "every weight learns, so the teacher is a student: MP = 1")
        return PROVED
