"""Verification of certificates of normalization networks.

The proof of each verdict is in `algebra.plugins.normalization.certify`; that of a lowered
problem's verdict in `algebra.arguments.verify`.  The teacher of a lowered problem is the
dense target, not a network of the lowered kind, so the rule that such a teacher is a student does
not apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from algebra.arguments.verify import check_claim
from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNCHECKED,
    Checked,
    CheckEffort,
    CheckFailed,
    Checklist,
    weakest,
)
from algebra.checker.claim import Claim, Conclusion, verified
from algebra.checker.premises import common, need_covered
from algebra.checker.rank_data import RankData
from algebra.checker.records import PrimeAndPoint, Record
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.declarations import Count, Size, named_key
from algebra.plugins.normalization.blocks import block_solvable, shifts_fit
from algebra.plugins.normalization.certify import (
    CONSTRUCTION,
    FEWER_SCALES,
    NARROW,
    NARROW_STUDENT,
    THEOREMS,
    effective_learnable,
    target_rank,
)
from algebra.plugins.normalization.network import NormNet
from algebra.problems.premises import Premises
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells


@dataclass(frozen=True)
class BlockClaim(Record):
    """A layer of the target that is realized at a point: see
    `algebra.plugins.normalization.blocks`."""

    layer: Size
    equations: Count
    unknowns: Count
    witness: PrimeAndPoint
    place: str = field(default="", metadata=named_key(None))


@dataclass(frozen=True)
class NormalizationEvidence(Record):
    """The evidence that a certificate of a normalization network can contain."""

    lowered: Mapping[str, Any] | None = None
    target_rank: RankData | None = None
    construction: tuple[BlockClaim, ...] | None = None
    student_rank: RankData | None = None
    allocation_rank: RankData | None = None

    def of(self, name: str) -> Any:
        """A field that must be there."""
        if getattr(self, name) is None:
            raise CheckFailed(f"evidence.{name}", "is missing")
        return getattr(self, name)

    def only(self, *names: str) -> None:
        """Refuse other fields than these."""
        for name, value in vars(self).items():
            if value is not None and name not in names:
                raise CheckFailed(f"evidence.{name}", "does not belong to this evidence")


def verify_normnet(data: object, effort: CheckEffort) -> Checked:
    """Verify the certificate of a normalization network at points of the effort's seed."""

    def check(claim: Claim, checklist: Checklist) -> Conclusion:
        return _check(claim, checklist, effort)

    return verified(data, check, common(THEOREMS))


def _check(claim: Claim, checklist: Checklist, effort: CheckEffort) -> Conclusion:
    """The verdict must follow by one of the arguments in the docstring of `certify`."""
    problem, verdict, say = claim.problem, claim.verdict, checklist.say
    network, reduction = problem.network, lowered(problem)
    assert isinstance(network, NormNet)
    again = target_rank(network, effort.seed)
    if again.rank != claim.equations:
        raise CheckFailed("equations", f"a new point shows rank {again.rank}")
    status = PROVED if again.is_proved else PROBABLE
    say("equations", status, f"the target's labels have dimension {again.rank}")
    evidence = NormalizationEvidence.from_dict(claim.evidence)
    if reduction is not None and evidence.lowered is not None:
        evidence.only("lowered")
        return _check_lowered(claim, evidence.lowered, reduction.problem, checklist, effort)
    if claim.generic_root_count is not None:
        raise CheckFailed("generic_root_count", "nothing here gives it")
    target, support = network.target()
    evidence.of("target_rank").checked(target, support, all_cells(target, support), again)
    allowed = {MAXIMAL: ("construction",), MINIMAL: ("student_rank", "allocation_rank")}
    evidence.only("target_rank", *allowed.get(verdict, ()))
    r = effective_learnable(problem)
    certain, prime, rank = True, 0, min(r, again.rank)
    theorem: Premises | None = None
    if verdict == MAXIMAL:
        prime, rank = (
            _check_construction(problem, evidence.of("construction"), checklist),
            again.rank,
        )
        theorem = CONSTRUCTION
    elif verdict == MINIMAL and reduction is not None:
        inner = reduction.problem
        net, support = inner.network, inner.support
        whole = network_rank(net, support, effort.seed)
        own = allocation_rank(inner.allocation, support, whole.rank, effort.seed)
        evidence.of("student_rank").checked(net, support, all_cells(net, support), whole)
        prime = evidence.of("allocation_rank").checked(net, support, inner.allocation.cells, own)
        if whole.rank >= again.rank:
            text = f"the frozen net's labels have dimension {whole.rank}: not below the target's"
            raise CheckFailed("verdict", text)
        certain, rank = whole.is_proved, own.rank
        say("rank", PROVED if own.is_proved else PROBABLE, f"rank {rank} of what learns")
        status = PROVED if certain else PROBABLE
        text = NARROW.format(whole.rank, again.rank)
        say("verdict", status, f"{text}: MP = 0")
        theorem = NARROW_STUDENT
    elif verdict == UNDECIDED:
        if reduction is not None:
            raise CheckFailed("evidence.lowered", "is missing")
        say("verdict", UNCHECKED, "undecided: only the numbers above are claimed")
    else:
        theorem = _check_counting(claim, r, again, checklist)
    claim.check_numbers(rank=rank, prime=prime)
    if (claim.error_bound == 0) != certain:
        raise CheckFailed("error_bound", "does not fit what the verdict rests on")
    return Conclusion(status, theorem)


def _check_counting(claim: Claim, r: int, target: GenericRank, checklist: Checklist) -> Premises:
    """ReLU: r < ρ effective weights imply MP = 0 at depth 1, MP < 1 at larger depth.

    At larger depth MP > 0 if the last shifts learn, by inactive units.
    """
    problem = claim.problem
    network = problem.network
    assert isinstance(network, NormNet)
    text = f"{r} learnable weights in effect, labels of dimension {target.rank}"
    if network.is_linear or r >= target.rank:
        raise CheckFailed("verdict", f"{text}: it does not follow")
    if claim.verdict != (MINIMAL if network.depth == 1 else INTERMEDIATE):
        raise CheckFailed("verdict", f"{text}: at depth {network.depth} it does not follow")
    if network.depth > 1 and not problem.allocation.masks[f"b{network.layers}"].all():
        raise CheckFailed("verdict", "the last shifts do not all learn: MP > 0 does not follow")
    checklist.say("verdict", PROVED, text)
    return FEWER_SCALES[claim.verdict]


def _check_lowered(
    claim: Claim, data: object, problem: Problem, checklist: Checklist, effort: CheckEffort
) -> Conclusion:
    """The verdict on the lowered problem is a verdict on the original."""
    place = "evidence.lowered"
    inner = Claim.from_dict(data, place)
    if inner.problem != problem:
        raise CheckFailed(f"{place}.problem", "it is another problem's")
    for name in ("verdict", "equations", "rank", "prime", "error_bound", "generic_root_count"):
        if getattr(inner, name) != getattr(claim, name):
            raise CheckFailed(f"{place}.{name}", f"differs from `{name}`")
    known = checklist.checks[-1].status
    within = Checklist()
    try:
        shown = check_claim(inner, within, effort, claim.problem.features)
        if inner.verdict != UNDECIDED:
            every = claim.problem.features | problem.features
            need_covered(inner.verdict, shown.theorem, every)
        inner.check_words(within.say)
    except CheckFailed as failure:
        raise CheckFailed(_within(place, failure.place), str(failure)) from None
    finally:
        for found in within.checks:
            checklist.say(_within(place, found.place), found.status, found.text)
    text = "a verdict on the lowered problem is one on the network"
    checklist.say("verdict", weakest(known, shown.status), text)
    return shown


def _within(outer: str, place: str) -> str:
    return place if place.startswith(outer) else f"{outer}.{place}"


def _check_construction(
    problem: Problem, blocks: Sequence[BlockClaim], checklist: Checklist
) -> int:
    """At each block's point its layer of the target is realized, hence for generic weights too.

    Returns the first prime.
    """
    network = problem.network
    assert isinstance(network, NormNet)
    missing = shifts_fit(problem)
    if missing:
        raise CheckFailed("evidence.construction", missing)
    if len(blocks) != network.depth:
        raise CheckFailed("evidence.construction", f"{len(blocks)} of {network.depth} layers")
    for k, block in enumerate(blocks, start=1):
        if block.layer != k:
            raise CheckFailed(f"{block.place}.layer", f"is {block.layer}, not {k}")
        good, equations, own = block_solvable(problem, k, *block.witness)
        if not good or (equations, own) != (block.equations, block.unknowns):
            raise CheckFailed(block.place, "the point does not show it")
        text = f"{equations} equations solved modulo {block.witness[0]}"
        checklist.say(block.place, PROVED, text)
    text = "every layer is realized for generic weights: each instance has a match"
    checklist.say("verdict", PROVED, text)
    return blocks[0].witness[0]
