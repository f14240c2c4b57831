"""Claims that are based on generic ranks: their evidence, and its checks, for every family.

* Jacobians are compared with forward-mode derivatives (dual numbers) in random directions; ranks
  are computed by the verifier's own elimination (`algebra.checker.new_points`).
* A rank deficit is tested at new random primes and points.

J_A and J are the Jacobians of the theorem in `algebra.ranks.jacobian`.  For every verdict that is
not "minimal": (a) rank J ≤ ρ generically, (b) rank J_A = ρ at a point, so that MP > 0.  Minimal:
(a) rank J ≥ ρ at a point, (b) rank J_A < ρ generically, always if fewer than ρ weights learn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNCHECKED,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.claim import Claim
from algebra.checker.new_points import own_rank, rank_again
from algebra.checker.points import RankClaim
from algebra.checker.records import Context, Converted, Record
from algebra.checker.root_evidence import RootEvidence
from algebra.checker.statements import RankAtMost
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import random_residues
from algebra.networks.base import Network
from algebra.networks.protocols import jacobian_of
from algebra.problems.allocation import Cell
from algebra.problems.features import Feature
from algebra.problems.laws.pinned import pins
from algebra.problems.problem import Problem
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import all_cells, at_enough_samples, base_of, jacobian, tangent_factors

if TYPE_CHECKING:
    from algebra.ranks.minors import Minor


def _rank(student: bool) -> Converted:
    """A claimed rank at points of the network, or of the student with its exact numbers."""

    def read(value: Any, place: str, context: Context) -> RankClaim:
        problem: Problem = context["problem"]
        support = problem.student() if student else problem.support
        return RankClaim.from_dict(value, place, {**context, "support": support})

    return Converted(RankClaim, read, RankClaim.to_dict)


@dataclass(frozen=True)
class EvidenceOnRanks(Record):
    """The evidence that a certificate based on ranks can contain, besides an argument's."""

    labels_vanish: Literal[True] | None = None
    network_rank: Annotated[RankClaim, _rank(student=False)] | None = None
    allocation_rank: Annotated[RankClaim, _rank(student=True)] | None = None
    root_count: RootEvidence | None = None

    def check(self, place: str, context: Context) -> None:
        """There are ranks unless all labels are 0; the network's only if its labels are meant."""
        problem: Problem = context["problem"]
        why_none = {"network_rank": "", "allocation_rank": ""}
        if Feature.ARBITRARY_LABELS in problem.features:
            why_none["network_rank"] = "labels are arbitrary"
        if self.labels_vanish:
            why_none = dict.fromkeys(why_none, "all labels are 0")
        for name, why in why_none.items():
            if (getattr(self, name) is None) != bool(why):
                text = f"does not belong here: {why}" if why else "is missing"
                raise CheckFailed(f"{place}.{name}", text)


@dataclass(frozen=True)
class ArguedEvidence:
    """The evidence of a certificate.

    Attributes
    ----------
    ranks : EvidenceOnRanks
        With N, if the file has it.
    minor : Minor or None
        A regular minor.
    pattern : int or None
        The number of the point whose piece the ranks are of.
    upper_bounds : bool
        Whether the file says that the ranks are only upper bounds.
    argument : Argument or None
        Besides N.
    value : object
        The evidence of the argument.
    """

    ranks: EvidenceOnRanks
    minor: Minor | None = None
    pattern: int | None = None
    upper_bounds: bool = False
    argument: Any = None
    value: Any = None


def context_of(problem: Problem) -> dict[str, Any]:
    """The context in which evidence on a problem is read.

    No point of a file has the parameters of updates, which are 0 there; a minor may be one of them.
    """
    return {"problem": problem, "network": base_of(problem.network), "moved": problem}


def why_generic(problem: Problem, is_minimal: bool, seed: object) -> str:
    """Why ranks at random points are the generic ones; "" if they may be upper bounds only.

    Parameters
    ----------
    problem : Problem
    is_minimal : bool
        Whether it is the network's rank that is to be attained; otherwise the student's, and if its
        pre-activations contain given numbers, the values at them need not be independent.
    seed : object
        As for `Network.why_exact`.
    """
    why = problem.network.why_exact(problem.support, seed)
    is_analytic = problem.network.equations_are == "analytic"
    return "" if is_analytic and not is_minimal and pins(problem.student()) else why


class RankChecker:
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
        self.problem: Problem = claim.problem
        self.seed = effort.seed
        self.say = checklist.say
        self.minor: Minor | None = None

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
        if claim.prime != (0 if point is None else point.point.p):
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
        network, claimed = self.problem.network.anywhere(), self.claim.equations
        if Feature.ARBITRARY_LABELS in self.problem.features:
            if claimed != network.outputs:
                text = f"says {claimed}, but there are {network.outputs} arbitrary labels"
                raise CheckFailed("equations", text)
            self.say("equations", PROVED, f"{claimed} arbitrary labels")
            return PROVED
        evidence = self.evidence.network_rank
        assert evidence is not None
        cells = all_cells(network, self.problem.support)
        self._attained(evidence, cells, claimed, network)
        bound = min(len(cells), jacobian_of(network).label_dimension_bound)
        if claimed > bound:
            raise CheckFailed("equations", f"{claimed} exceeds the bound {bound} from counting")
        self._upper_bound(evidence, claimed == bound)
        if claimed == bound:
            text = f"generic rank {claimed}: attained, and a bound by counting"
            self.say("equations", PROVED, text)
            return PROVED
        most = RankAtMost(
            "equations", f"generic rank {claimed}; new points:", claimed,
            lambda seed: rank_again(network, cells, self.problem.support, None, seed),
        )  # fmt: skip
        return most.stated(self.seed, self.say)

    def _allocation_rank(self) -> str:
        """The claimed rank is the generic rank of J_A; "probable" if it is below its bounds."""
        claim, evidence = self.claim, self.evidence.allocation_rank
        assert evidence is not None
        allocation = self.problem.allocation
        self._attained(evidence, list(allocation.cells), claim.rank, self.problem.network)
        return self._at_most(
            evidence, allocation.size,
            lambda seed: rank_again(
                self.problem.network, allocation.cells, self.problem.student(), claim.equations,
                seed,
            ),
        )  # fmt: skip

    def _at_most(
        self, evidence: RankClaim, size: int, again: Callable[[int], tuple[int, Fraction]]
    ) -> str:
        """The rank is at most the claimed one: by size, by ρ, or by odds at new points."""
        claim = self.claim
        if claim.rank > claim.equations:
            text = f"{claim.rank} is more than the whole network's rank {claim.equations}"
            raise CheckFailed("rank", text)
        most = jacobian_of(self.problem.network).label_dimension_bound
        met = claim.rank == min(size, claim.equations, most)
        self._upper_bound(evidence, met)
        if met:
            return PROVED
        text = f"rank {claim.rank} at new points too:"
        own = self.seed + 7_777_777
        return RankAtMost("rank", text, claim.rank, again).stated(own, self.say)

    def _upper_bound(self, evidence: RankClaim, met: bool) -> None:
        if evidence.proved != (evidence.rank == evidence.upper_bound) or (
            evidence.proved and not met
        ):
            text = (
                f"rank {evidence.rank}, upper bound {evidence.upper_bound}: no such bound is known"
            )
            raise CheckFailed(f"{evidence.place}.upper_bound", text)

    def _attained(
        self,
        evidence: RankClaim,
        cells: list[Cell],
        claimed: int,
        network: Network,
    ) -> None:
        """The claimed rank is the rank at the witness point, hence at most the generic rank."""
        place, point = evidence.place, evidence.point
        if evidence.rank != claimed:
            raise CheckFailed(place, f"rank {evidence.rank} does not fit {claimed}")
        found = 0
        if cells:
            # Parameters of updates are those of the point itself: differences of 0.
            missing = network.shapes.keys() - point.weights.keys()
            zeros = {name: np.zeros(network.shapes[name], np.int64) for name in missing}
            point = replace(point, weights={**zeros, **point.weights})
            network, point = at_enough_samples(network, point, len(cells))
            p = point.p
            names = sorted({cell[0] for cell in cells})
            chosen = cells
            if len(cells) > 2 * claimed + 64:
                # Enough random columns have the rank of all.
                rng = random.Random(f"columns/{self.seed}")
                chosen = rng.sample(cells, claimed + claimed // 4 + 16)
            matrix = jacobian(tangent_factors(network, point, names), chosen, p)
            self._compare_derivatives(
                matrix, p, place, lambda step: dual_derivative(network, point, chosen, step)
            )
            found = own_rank(matrix, p)
            if found < claimed and len(chosen) < len(cells):
                found = modular_rank(jacobian(tangent_factors(network, point, names), cells, p), p)
        if found != claimed:
            raise CheckFailed(place, f"the rank at the witness point is {found}, not {claimed}")
        self.say(place, PROVED, f"rank {claimed} at the witness point modulo {point.p}")

    def _compare_derivatives(
        self, matrix: np.ndarray, p: int, place: str, along: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Compare the Jacobian times random directions with forward-mode derivatives."""
        rng = random.Random(f"directions/{self.seed}")
        for _ in range(3):
            step = random_residues((matrix.shape[1],), p, rng)
            if not np.array_equal(matmul(matrix, step[:, None], p)[:, 0], along(step).ravel()):
                raise CheckFailed(place, "the Jacobian differs from forward-mode derivatives")

    def _regular(
        self, network: Network, cells: Collection[Cell], support: Mapping[str, np.ndarray]
    ) -> None:
        """The regular minor proves that the rank is at least the number of equations."""
        from algebra.checker.minors import check_minor

        assert self.minor is not None
        check_minor(self.minor, network, self.claim, cells, support)
        text = f"regular in ball arithmetic: rank at least {self.claim.equations}"
        self.say("evidence.regular_minor", PROVED, text)

    def _known_by_minor(self, known: str) -> str:
        """Status of ρ: at most by new formal points or by counting, at least by the minor."""
        if self.minor is None:
            return known
        is_most = self.claim.equations == jacobian_of(self.problem.network).label_dimension_bound
        return PROVED if is_most else PROBABLE

    def _minimal(self, attained: str) -> str:
        """Rank J ≥ ρ at a point and rank J_A < ρ generically imply MP = 0.

        Parameters
        ----------
        attained : str
            Status of rank J_A.
        """
        claim, size = self.claim, self.problem.allocation.size
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
