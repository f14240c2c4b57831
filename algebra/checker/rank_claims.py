"""Claims that are based on generic ranks: their evidence, and its checks, for every family.

J_A and J are the Jacobians of the theorem in `algebra.ranks.jacobian`.  For every verdict that is
not "minimal": (a) rank J ≤ ρ generically, (b) rank J_A = ρ at a point, so that MP > 0.  Minimal:
(a) rank J ≥ ρ at a point, (b) rank J_A < ρ generically, always if fewer than ρ weights learn.

Ranks are those of `JacobianColumns`: in matrices of FLINT for linear networks that are not large
(`algebra.checker.linear`), in arrays for all others (`algebra.checker.network_ranks`).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from algebra.checker.checks import (
    PROVED,
    UNCHECKED,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.claim import Claim
from algebra.checker.points import RankClaim
from algebra.checker.records import Context, Record
from algebra.checker.root_evidence import RootEvidence
from algebra.checker.statements import RankAtMost
from algebra.checker.verdicts import MAXIMAL, MINIMAL, UNDECIDED
from algebra.problems.premises import Feature


class JacobianColumns(ABC):
    """Some columns of the Jacobian of a map, as a check sees them."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Their number."""

    @property
    @abstractmethod
    def most(self) -> int:
        """A bound of the rank of all columns of the map, from counting."""

    @abstractmethod
    def rank_at(self, claim: RankClaim, seed: int) -> int:
        """The rank at the point of a claim.

        Raises
        ------
        CheckFailed
            If the point has other weights than the problem allows.
        """

    @abstractmethod
    def rank_again(self, upper: int | None, seed: int) -> tuple[int, Fraction]:
        """The largest rank at new points, and the bound of its error.

        Parameters
        ----------
        upper : int or None
            A known upper bound.
        seed : int
            Primes and points follow from it.
        """


def enough_columns(cells: Sequence[Any], rank: int, seed: int) -> Sequence[Any]:
    """All columns; of many, random ones that are enough to have a claimed rank."""
    if len(cells) <= 2 * rank + 64:
        return cells
    return random.Random(f"columns/{seed}").sample(cells, rank + rank // 4 + 16)


@dataclass(frozen=True)
class EvidenceOnRanks(Record):
    """The evidence that a certificate based on ranks can contain, besides an argument's."""

    labels_vanish: Literal[True] | None = None
    network_rank: RankClaim | None = None
    allocation_rank: RankClaim | None = None
    root_count: RootEvidence | None = None

    def check(self, place: str, context: Context) -> None:
        """There are ranks unless all labels are 0; the network's only if its labels are meant."""
        why_none = {"network_rank": "", "allocation_rank": ""}
        if Feature.ARBITRARY_LABELS in context["problem"].features:
            why_none["network_rank"] = "labels are arbitrary"
        if self.labels_vanish:
            why_none = dict.fromkeys(why_none, "all labels are 0")
        for name, why in why_none.items():
            if (getattr(self, name) is None) != bool(why):
                text = f"does not belong here: {why}" if why else "is missing"
                raise CheckFailed(f"{place}.{name}", text)


# The evidence that linear algebra checks besides ranks, by verdict.
_BY_RANKS: Mapping[str, tuple[set[str], ...]] = {
    MINIMAL: (set(),),
    UNDECIDED: (set(),),
    MAXIMAL: ({"root_count"}, {"affine_part"}),
}


def may_be_linear_algebra(data: Mapping[str, Any]) -> bool:
    """Whether all evidence of a certificate may be ranks, or an argument by linear algebra.

    Parameters
    ----------
    data : mapping
        The content of the file.
    """
    evidence, verdict = data.get("evidence"), data.get("verdict")
    if not isinstance(evidence, Mapping) or not isinstance(verdict, str):
        return False
    return evidence.keys() - {"network_rank", "allocation_rank"} in _BY_RANKS.get(verdict, ())


class RankChecker(ABC):
    """The checks of one claim; each method proves the statement in its docstring, or raises.

    Parameters
    ----------
    claim : Claim
    evidence : EvidenceOnRanks
    checklist : Checklist
        It collects the results.
    effort : CheckEffort
    """

    def __init__(
        self, claim: Claim, evidence: EvidenceOnRanks, checklist: Checklist, effort: CheckEffort
    ) -> None:
        self.claim, self.evidence, self.effort = claim, evidence, effort
        self.problem: Any = claim.problem
        self.seed = effort.seed
        self.say = checklist.say

    @property
    @abstractmethod
    def whole(self) -> JacobianColumns:
        """All columns of the network that gives the labels."""

    @property
    @abstractmethod
    def learning(self) -> JacobianColumns:
        """The columns of what learns, with the exact numbers of a student."""

    # -- the envelope --------------------------------------------------------------

    def _need_numbers(self, roots: RootEvidence | None) -> None:
        """N and the prime of the file are those of the evidence.

        Parameters
        ----------
        roots : RootEvidence or None
            The root count of the whole allocation.
        """
        claim, point = self.claim, self.evidence.allocation_rank
        if claim.generic_root_count != (None if roots is None else roots.value):
            known = "nothing" if roots is None else f"{roots.value}"
            text = f"says {claim.generic_root_count}, the evidence {known}"
            raise CheckFailed("generic_root_count", text)
        if claim.prime != (0 if point is None else point.p):
            raise CheckFailed("prime", f"{claim.prime} is not the prime of allocation_rank")

    def _full_rank(self, known: str, what: str = "the allocation's rank") -> None:
        """The ranks are equal, as for every verdict except "minimal"."""
        claim = self.claim
        if claim.rank != claim.equations:
            text = f"rank {claim.rank} ≠ equations {claim.equations}: minimal, not this"
            raise CheckFailed("verdict", text)
        self.say("rank", known, f"not minimal: {what} is the whole network's")
        self._error_bound(known == PROVED)

    def _error_bound(self, certain: bool) -> None:
        """A bound of 0 is claimed only if the verdict depends on no random point."""
        if self.claim.error_bound == 0 and not certain:
            text = "is 0, but the verdict rests on ranks at random points"
            raise CheckFailed("error_bound", text)
        if self.claim.error_bound != 0:
            text = "about the points that the certifying program drew; not used here"
            self.say("error_bound", UNCHECKED, text)

    # -- ranks ---------------------------------------------------------------------

    def _network_rank(self) -> str:
        """ρ is the generic rank of J: at least ρ at a point; at most by counting or by odds."""
        claimed = self.claim.equations
        if Feature.ARBITRARY_LABELS in self.problem.features:
            labels = self.problem.network.outputs
            if claimed != labels:
                text = f"says {claimed}, but there are {labels} arbitrary labels"
                raise CheckFailed("equations", text)
            self.say("equations", PROVED, f"{claimed} arbitrary labels")
            return PROVED
        evidence, whole = self.evidence.network_rank, self.whole
        assert evidence is not None
        self._attained(evidence, whole, claimed)
        bound = min(whole.size, whole.most)
        if claimed > bound:
            raise CheckFailed("equations", f"{claimed} exceeds the bound {bound} from counting")
        self._upper_bound(evidence, claimed == bound)
        if claimed == bound:
            text = f"generic rank {claimed}: attained, and a bound by counting"
            self.say("equations", PROVED, text)
            return PROVED
        most = RankAtMost(
            "equations", f"generic rank {claimed}; new points:", claimed,
            lambda seed: whole.rank_again(None, seed),
        )  # fmt: skip
        return most.stated(self.seed, self.say)

    def _allocation_rank(self) -> str:
        """The claimed rank is the generic rank of J_A; "probable" if it is below its bounds."""
        claim, evidence, own = self.claim, self.evidence.allocation_rank, self.learning
        assert evidence is not None
        self._attained(evidence, own, claim.rank)
        if claim.rank > claim.equations:
            text = f"{claim.rank} is more than the whole network's rank {claim.equations}"
            raise CheckFailed("rank", text)
        met = claim.rank == min(own.size, claim.equations, own.most)
        self._upper_bound(evidence, met)
        if met:
            return PROVED
        most = RankAtMost(
            "rank", f"rank {claim.rank} at new points too:", claim.rank,
            lambda seed: own.rank_again(claim.equations, seed),
        )  # fmt: skip
        return most.stated(self.seed + 7_777_777, self.say)

    def _upper_bound(self, evidence: RankClaim, met: bool) -> None:
        if evidence.proved != (evidence.rank == evidence.upper_bound) or (
            evidence.proved and not met
        ):
            text = (
                f"rank {evidence.rank}, upper bound {evidence.upper_bound}: no such bound is known"
            )
            raise CheckFailed(f"{evidence.place}.upper_bound", text)

    def _attained(self, evidence: RankClaim, columns: JacobianColumns, claimed: int) -> None:
        """The claimed rank is the rank at the witness point, hence at most the generic rank."""
        place = evidence.place
        if evidence.rank != claimed:
            raise CheckFailed(place, f"rank {evidence.rank} does not fit {claimed}")
        found = columns.rank_at(evidence, self.seed)
        if found != claimed:
            raise CheckFailed(place, f"the rank at the witness point is {found}, not {claimed}")
        self.say(place, PROVED, f"rank {claimed} at the witness point modulo {evidence.p}")

    def _minimal(self, attained: str) -> str:
        """Rank J ≥ ρ at a point and rank J_A < ρ generically imply MP = 0.

        Parameters
        ----------
        attained : str
            Status of rank J_A.
        """
        claim, size = self.claim, self.learning.size
        if not claim.rank < claim.equations:
            text = f"minimal needs rank {claim.rank} < equations {claim.equations}"
            raise CheckFailed("verdict", text)
        status, text = attained, f"rank {claim.rank} < {claim.equations}: MP = 0"
        if size < claim.equations:
            text = f"{size} weights, {claim.equations} independent equations: MP = 0"
            if size < claim.learnable:
                text = f"students of dimension {text}"
            status = PROVED
        self.say("verdict", status, text)
        self._error_bound(status == PROVED)
        return status

    def _only_numbers(self) -> str:
        """Undecided: nothing but what was checked so far is claimed."""
        self.say("verdict", UNCHECKED, "undecided: only the numbers above are claimed")
        return UNCHECKED
