"""Checks of claims whose ranks are computed with formal values.

These claims are about networks with activations, about programs, and about updates of both.  A rank
with formal values is an upper bound; that it is attained is proved by a theorem, or by a regular
minor of the Jacobian, which is computed again in balls of other precisions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

import numpy as np

from algebra.certificates.checks import PROBABLE, PROVED, CheckFailed, Checklist
from algebra.certificates.claim import Claim
from algebra.certificates.family import Effort
from algebra.certificates.minors import MinorInFile, check_minor
from algebra.families.linear.evidence import LinearEvidence
from algebra.families.linear.verify import ClaimChecker
from algebra.networks.base import Network
from algebra.problems.allocation import Cell
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import everything_learns

EVERYTHING = "everything_learns"


@dataclass(frozen=True)
class FormalEvidence(LinearEvidence):
    """Evidence on ranks that are computed with formal values.

    Attributes
    ----------
    regular_minor : Minor or None
    """

    regular_minor: MinorInFile | None = None


class FormalClaimChecker(ClaimChecker):
    """The checks of one claim whose ranks are computed with formal values.

    Parameters
    ----------
    claim, checklist, effort
        As for `ClaimChecker`.
    evidence : FormalEvidence
    problem : Problem, optional
        The problem that the evidence is about; by default the claim's.
    """

    # Whether the evidence may have a root count, if the labels are polynomials.
    counted = False

    def __init__(
        self,
        claim: Claim,
        checklist: Checklist,
        effort: Effort,
        evidence: FormalEvidence,
        problem: Problem | None = None,
    ) -> None:
        super().__init__(claim, evidence, checklist, effort, peers=False)
        self.minor = evidence.regular_minor
        self.problem = problem or claim.problem

    def _allowed(self) -> set[str]:
        """Of the arguments about linear networks only a root count."""
        own = super()._allowed() - {f.name for f in fields(LinearEvidence)}
        return own | ({"root_count"} if self.counted else set())

    def _only_what_belongs(self) -> None:
        super()._only_what_belongs()
        if self.evidence.labels_vanish:
            raise CheckFailed("evidence.labels_vanish", "does not belong to this evidence")
        given = self.evidence.arguments()
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
