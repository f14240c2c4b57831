r"""Verdicts on normalization networks.

The verdicts and their arguments:

* **maximal**, linear or ReLU: every block realizes its layer of the target
  (`algebra.plugins.normalization.blocks`, proved by a point modulo a prime for each block).
* **linear nets**: every verdict of `algebra.arguments.certify` on the lowered problem
  (`algebra.plugins.normalization.network`).  If the student's labels have a smaller dimension than
  the target's (a hidden width below what the target needs), MP = 0 for every allocation.
* **ReLU nets, minimal**: a target of depth 1 is affine; its labels fill a variety of dimension ρ.
  For each activation pattern the student's labels are a polynomial image of the r learnable
  weights.  If r < ρ these are finitely many images of measure 0, and MP = 0.  A common factor can
  be moved between a hidden layer's scales and shifts and the next layer's scales if all of these
  learn; each hidden layer within a block for which this holds counts as one weight less.
* **ReLU nets, intermediate**: depth 2 or more and r < ρ, ρ for the targets with all hidden units
  active on all samples, an event of positive probability: MP < 1.  Also with positive probability
  the target's last hidden units and the student's are inactive on all samples; then labels are
  constant and the learnable shifts b_2l match them: MP > 0.
* **other ReLU nets**: undecided.  Nothing is claimed of patterns with both active and inactive
  units.

The teacher is the target, not a network like the student; see
`algebra.plugins.normalization.network`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from algebra.arguments.certify import certify_by_arguments
from algebra.certificates.certificate import Certificate
from algebra.certificates.explanation import longer_search
from algebra.certificates.on_ranks import certified
from algebra.certificates.sentences import OPEN_PATTERNS, OPEN_VALUE, SILENT, too_few
from algebra.certificates.tools import Effort
from algebra.certificates.trial_costs import estimate_steps, too_costly
from algebra.checker.premises import ALMOST_ALL
from algebra.checker.rank_data import RankData
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.documents import Explanation
from algebra.plugins.normalization.blocks import realizes_all
from algebra.plugins.normalization.network import NormNet
from algebra.problems.premises import Covers, Feature, Premises
from algebra.problems.problem import Problem
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import GenericRank, allocation_rank, network_rank

# Signs and measured weights are refused for these networks.
_PROVED: Covers = {
    Feature.BOUNDED: ALMOST_ALL[Feature.BOUNDED],
    Feature.DISCRETE: ALMOST_ALL[Feature.DISCRETE],
    Feature.SCALES: ALMOST_ALL[Feature.SCALES],
    Feature.ZEROS: ALMOST_ALL[Feature.ZEROS],
    Feature.DENSE_TARGET: "the labels of the theorem are those of the dense target",
}
_SILENT = "that units are inactive on all samples is an open condition, near 0 too"
CONSTRUCTION = Premises(
    "construction", MAXIMAL, {**_PROVED, Feature.PIECES: "each layer of the target is realized"}
)
NARROW_STUDENT = Premises("narrow_student", MINIMAL, _PROVED)
FEWER_SCALES = {
    verdict: Premises("fewer_scales", verdict, {**_PROVED, Feature.PIECES: _SILENT})
    for verdict in (MINIMAL, INTERMEDIATE)
}
THEOREMS = (CONSTRUCTION, NARROW_STUDENT, *FEWER_SCALES.values())

NARROW = "the frozen net's labels have dimension {0}, the target's {1}"


def theorem_1(problem: Problem) -> str:
    """The conclusion of Theorem 1 of the second paper, as stated: "maximal" or "silent"."""
    network, masks = problem.network, problem.allocation.masks
    assert isinstance(network, NormNet)
    odd = range(1, network.layers, 2)
    wide = all(
        len(inner) == 1 and inner[0] >= a * b
        for inner, a, b in zip(network.inner, network.widths, network.widths[1:], strict=False)
    )
    tuned = (
        wide
        and all(masks[f"g{j}"].all() and masks[f"b{j}"].all() for j in odd)
        and all(masks[f"b{j + 1}"].all() for j in odd)
    )
    dense = all(mask.all() for mask in problem.support.values())
    return MAXIMAL if tuned and dense else "silent"


def effective_learnable(problem: Problem) -> int:
    """Learnable weights minus one for each hidden layer of a block whose factor can be moved."""
    network, masks = problem.network, problem.allocation.masks
    assert isinstance(network, NormNet)
    free = 0
    for block in network.blocks:
        for j in block[:-1]:
            free += all(masks[name].all() for name in (f"g{j}", f"b{j}", f"g{j + 1}"))
    return problem.allocation.size - free


@lru_cache(maxsize=64)
def target_rank(network: NormNet, seed: int = 0) -> GenericRank:
    """Dimension of the variety of the teacher's labels, all its hidden units active.

    For a linear net the labels themselves; with ReLU those of the linear piece on which all units
    are active, which has positive probability.

    Examples
    --------
    >>> target_rank(NormNet.square(2, 1, 4, 5)).rank
    6
    """
    return network_rank(*network.target(), seed)


def certify_normnet(problem: Problem, effort: Effort) -> Certificate:
    """Verdict on an allocation; limits and tools are used for linear nets."""
    found = certified(problem, effort, lambda: _decided(problem, effort))
    reduced = "lowered" in found.evidence or found.verdict in (MAXIMAL, MINIMAL)
    return found if reduced else replace(found, explained=_explained(found, effort))


def _explained(found: Certificate, effort: Effort) -> Explanation:
    """Why MP is between 0 and 1, or what is open, if units may be inactive."""
    estimate, costly = estimate_steps(found.problem), too_costly(found.problem)
    if found.verdict == UNDECIDED:
        decided = "one instance without a match that persists nearby (then MP < 1)"
        return Explanation(
            (*found.notes, *costly),
            OPEN_PATTERNS,
            decided,
            (longer_search(effort.limits), *estimate),
        )
    return Explanation((SILENT, too_few(found), *costly), OPEN_VALUE, "", estimate)


def _decided(problem: Problem, effort: Effort) -> Certificate:
    network, seed = problem.network, effort.seed
    assert isinstance(network, NormNet)
    target = target_rank(network, seed)

    def conclude(verdict: str, rule: str, rank: int, **more: Any) -> Certificate:
        values: dict[str, Any] = {"prime": 0, "error_bound": Fraction(0), "evidence": {}}
        values |= more
        values["evidence"] = {**values["evidence"], "target_rank": RankData.of(target).to_dict()}
        return Certificate(
            problem=problem, verdict=verdict, rule=rule, equations=target.rank, rank=rank,
            seed=seed, **values,
        )  # fmt: skip

    blocks = realizes_all(problem, seed)
    if not isinstance(blocks, str):
        sizes = ", ".join(f"{b.unknowns} scales for {b.equations} equations" for b in blocks)
        return conclude(
            MAXIMAL, f"each layer of the target is realized: {sizes}", target.rank,
            theorem=CONSTRUCTION,
            prime=blocks[0].p, evidence={"construction": [b.to_dict() for b in blocks]},
            why="MP = 1. The learnable weights of each layer solve the linear equations of the "
            "target's layer.",
        )  # fmt: skip
    reduction = lowered(problem)
    if reduction is not None:
        inner = reduction.problem
        whole = network_rank(inner.network, inner.support, seed)
        if whole.rank < target.rank:
            own = allocation_rank(inner.allocation, inner.support, whole.rank, seed)
            evidence = {
                "student_rank": RankData.of(whole).to_dict(),
                "allocation_rank": RankData.of(own).to_dict(),
            }
            return conclude(
                MINIMAL, NARROW.format(whole.rank, target.rank), own.rank, prime=own.p,
                error_bound=whole.error, evidence=evidence, theorem=NARROW_STUDENT,
            )  # fmt: skip
        found = certify_by_arguments(inner, effort, more=problem.features)
        return replace(
            found,
            evidence={"lowered": found.to_dict()},
            is_plain=False,
            # They refer to matrices of the lowered network.
            reasons=(),
        )
    r = effective_learnable(problem)
    rank = min(r, target.rank)
    tried: tuple[str, ...] = (f"construction: {blocks}",)
    if r < target.rank:
        text = f"{r} learnable weights in effect, labels of dimension {target.rank}"
        if network.depth == 1:
            return conclude(MINIMAL, text, rank, theorem=FEWER_SCALES[MINIMAL])
        if problem.allocation.masks[f"b{network.layers}"].all():
            note = "never minimal: target and student are both silent with positive probability"
            return conclude(
                INTERMEDIATE, text, rank, notes=(note,), theorem=FEWER_SCALES[INTERMEDIATE]
            )
        tried += (f"MP < 1: {text}; whether MP > 0 is open",)
    else:
        tried += (f"counting: {r} learnable weights in effect, {target.rank} equations",)
    rule = "decided per instance, not in general, since units may be active for some samples only"
    return conclude(UNDECIDED, rule, rank, tried=tried)
