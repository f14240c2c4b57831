r"""Verdicts on an allocation, with evidence that somebody else can check.

* **minimal** (MP = 0): the generic rank of the allocation's Jacobian is smaller than the
  whole network's (`algebra.ranks.jacobian`, with the proof).
* **maximal** (MP = 1): the allocation is not minimal and the generic root count N is odd,
  in particular 1: non-real solutions come in conjugate pairs, so every generic instance
  has a real one.  Or a sub-allocation is maximal: what fewer weights can do, more can.
* **intermediate** (0 < MP < 1): not minimal, and one rational instance has N distinct
  complex solutions, none of them real.  Solutions move continuously and none is missing
  (N is the largest number of isolated solutions any instance can have), so the instances
  around it have no real solution either, and they have positive probability.
* **undecided**: what was tried is listed.

Where structural zeros leave no path from inputs to outputs, every label is 0 and every
student matches: maximal, whatever learns.

N is counted modulo primes (`algebra.systems.root_count`).  Where msolve is missing or too slow, a
numerical counter may be handed in; a verdict that rests on it says so in its rule.

Verdicts are about continuous laws with full support.  For discrete weights or inputs they
are statements about generic instances, not about MP.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.certificates.evidence import circuit_reason, rank_evidence, root_evidence
from algebra.linear.witness import find_witness
from algebra.networks.base import LinearFeedForward, ShallowReLU
from algebra.networks.normalization import NormNet
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from algebra.problems.reachability import labels_vanish
from algebra.ranks.budgets.cover import budget_violations, rank_bound
from algebra.ranks.jacobian import (
    GenericRank,
    allocation_rank,
    network_rank,
)
from algebra.ranks.matroid import candidate_bases
from algebra.relu.patterns import sample_pattern_ranks
from algebra.systems.root_count import (
    LINEAR,
    NUMERICAL,
    RootCounter,
    RootCountError,
    generic_root_count,
)
from algebra.theorems.statements import what_theorems_say

FORMAT, VERSION = "matchprob-certificate", 1

Candidates = Callable[[int], Iterable[int]]

MINIMAL, MAXIMAL = "minimal", "maximal"
INTERMEDIATE, UNDECIDED = "intermediate", "undecided"

# Weights among which a dependent set is looked for.
_LARGEST_CIRCUIT = 1_000


@dataclass(frozen=True)
class Certificate:
    """A verdict and its evidence.

    Attributes
    ----------
    problem : Problem
    verdict : str
        "minimal", "maximal", "intermediate" or "undecided".
    rule : str
        The argument, in a few words.
    equations : int
        Generic rank ρ of the whole network's Jacobian.
    rank : int
        That of the allocation's.
    prime : int
        Prime of the point at which `rank` was found; 0 where none was needed.
    error_bound : Fraction
        Bound on the probability that the verdict rests on an unlucky point; 0 where it
        is proved.
    generic_root_count : int or None
    theorems : mapping of str to str
        What the papers' theorems, as stated, say: "maximal", "minimal" or "silent".
    reasons : tuple of str
        For a minimal allocation the violated budgets, in words.
    notes : tuple of str
    tried : tuple of str
        For an undecided one, what was tried.
    evidence : mapping
        Plain data, see `Certificate.to_dict`.
    """

    problem: Problem
    verdict: str
    rule: str
    equations: int
    rank: int
    prime: int
    error_bound: Fraction
    generic_root_count: int | None = None
    theorems: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seed: int = 0
    seconds: float = 0.0

    def __hash__(self) -> int:
        return hash((self.problem, self.verdict, self.rule))

    @property
    def learnable(self) -> int:
        """Number r of learnable weights."""
        return self.problem.allocation.size

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data (the content of ``cert.json``)."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "problem": self.problem.to_dict(),
            "verdict": self.verdict,
            "rule": self.rule,
            "equations": self.equations,
            "rank": self.rank,
            "learnable": self.learnable,
            "prime": self.prime,
            # The only number here that is not exact: the bound, rounded for other programs.
            "error_bound": self.error_bound.numerator / self.error_bound.denominator,
            "generic_root_count": self.generic_root_count,
            "theorems": dict(self.theorems),
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "tried": list(self.tried),
            "seed": self.seed,
            "evidence": dict(self.evidence),
        }

    def to_json(self) -> str:
        """The text of ``cert.json``."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.rule}"]
        lines += [f"  {text}" for text in (*self.reasons, *self.notes, *self.tried)]
        return "\n".join(lines)


def certify(
    problem: Problem,
    *,
    seed: int = 0,
    timeout: float = 60.0,
    search: float = 2.0,
    subsets: int = 40,
    candidates: Candidates | None = None,
    fallback: RootCounter | None = None,
    refuted: Callable[[], Mapping[str, Any] | None] | None = None,
) -> Certificate:
    """Decide whether an allocation is maximal, minimal or in between.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.
    seed : int, optional
        Random points and instances follow from it.
    timeout : float, optional
        Seconds for one Gröbner basis.
    search : float, optional
        Seconds for the search of an instance without real solutions.
    subsets : int, optional
        Where more weights learn than needed, sub-allocations searched for a maximal one.
    candidates : callable, optional
        Given N, yields numbers of rational instances that are worth solving exactly
        first (a numerical guess; see `algebra.linear.witness.rational_instance`).
    fallback : callable, optional
        Counts solutions where msolve is missing or does not finish, as
        `numeric.tracking.root_count.monodromy_root_count` does.
    refuted : callable, optional
        For ReLU nets: looks for an instance without a match that persists, as
        `numeric.relu.evidence.refuted_instance` does.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from algebra.networks.base import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> certify(Problem(net, {"W": [[1, 1], [0, 0]]})).verdict
    'maximal'
    """
    if isinstance(problem.network, NormNet):
        # Imported here: it certifies lowered problems with this function.
        from algebra.normalization.certify import certify_normnet

        return certify_normnet(
            problem, seed=seed, timeout=timeout, search=search, subsets=subsets,
            candidates=candidates, fallback=fallback,
        )  # fmt: skip
    start = time.monotonic()
    allocation, support = problem.allocation, problem.support
    network = allocation.network
    notes = []
    if not problem.distribution.is_continuous:
        notes.append(
            "the law is discrete: this is a statement about generic instances, not about MP"
        )
    theorems = what_theorems_say(network, allocation)
    if labels_vanish(network, support):
        return Certificate(
            problem=problem,
            verdict=MAXIMAL,
            rule="structural zeros make every label 0: each student matches",
            equations=0,
            rank=0,
            prime=0,
            error_bound=Fraction(0),
            theorems=theorems,
            notes=tuple(notes),
            evidence={"labels_vanish": True},
            seed=seed,
            seconds=time.monotonic() - start,
        )
    if isinstance(network, ShallowReLU):
        return _certify_relu(problem, network, theorems, notes, seed, start, refuted)
    whole = network_rank(network, support, seed)
    own = allocation_rank(allocation, support, whole.rank, seed)
    evidence: dict[str, Any] = {
        "network_rank": rank_evidence(problem, whole),
        "allocation_rank": rank_evidence(problem, own),
    }

    def conclude(verdict: str, rule: str, error: Fraction, **more: Any) -> Certificate:
        return Certificate(
            problem=problem,
            verdict=verdict,
            rule=rule,
            equations=whole.rank,
            rank=own.rank,
            prime=own.p,
            error_bound=error,
            theorems=theorems,
            notes=tuple(notes) + tuple(more.pop("notes", ())),
            evidence=evidence,
            seed=seed,
            seconds=time.monotonic() - start,
            **more,
        )

    if own.rank < whole.rank:
        reasons = tuple(str(v) for v in budget_violations(allocation))
        if allocation.size < whole.rank:
            rule = f"{allocation.size} learnable weights, {whole.rank} independent equations"
            return conclude(MINIMAL, rule, Fraction(0), reasons=reasons)
        rule = f"generic rank {own.rank} of {whole.rank}"
        if not reasons and allocation.size <= _LARGEST_CIRCUIT:
            reasons = (circuit_reason(allocation, support, seed),)
        return conclude(MINIMAL, rule, own.error, reasons=reasons)

    # Not minimal: proved, unless the whole network's rank is only probably not larger.
    error = whole.error
    if allocation.size > whole.rank:
        return _over_complete(
            problem, whole, seed, timeout, subsets, conclude, evidence, error, fallback
        )
    try:
        roots = generic_root_count(
            allocation, support, seed=seed, timeout=timeout, fallback=fallback
        )
    except RootCountError as problem_met:
        tried = (f"generic root count: {problem_met}",)
        return conclude(UNDECIDED, "not minimal, root count out of reach", error, tried=tried)
    evidence["root_count"] = root_evidence(roots)
    how = f" ({NUMERICAL})" if roots.is_numerical else ""
    if roots.is_numerical:
        notes.append(f"N = {roots.value}: {roots.how} ({roots.because})")
    if roots.value % 2:
        rule = "linear after elimination" if roots.value == 1 else f"odd generic root count{how}"
        if roots.value == 1 and roots.rule != LINEAR:
            rule = f"one solution, rational in the data{how}"
        return conclude(MAXIMAL, rule, error, generic_root_count=roots.value)
    guesses = candidates(roots.value) if candidates is not None else ()
    witness, text = find_witness(problem, roots, seed, search, guesses, timeout)
    if witness is None:
        rule = f"not minimal, {roots.value} complex solutions{how}"
        return conclude(UNDECIDED, rule, error, generic_root_count=roots.value, tried=(text,))
    evidence["no_real_root"] = witness
    rule = f"an instance with {roots.value} complex solutions, none real{how}"
    return conclude(INTERMEDIATE, rule, error, generic_root_count=roots.value)


def _certify_relu(
    problem: Problem,
    network: ShallowReLU,
    theorems: Mapping[str, str],
    notes: list[str],
    seed: int,
    start: float,
    refuted: Callable[[], Mapping[str, Any] | None] | None,
) -> Certificate:
    """What counting, and one refuted instance, can say of a shallow ReLU net.

    MP > 0 for every allocation, even an empty one: with positive probability all samples
    lie in a half-space, all units of teacher and student are silent on them, and both
    put out zeros.  So nothing is minimal.  MP < 1 where every activation pattern leaves
    the student fewer dimensions than the teacher's labels have when all its units are
    active, which has positive probability too (the budgets bound all patterns at once).
    And MP < 1 where one instance has no match, nor any near it (`algebra.relu.verify`).
    """
    allocation = problem.allocation
    active = LinearFeedForward(q=network.q, widths=(network.n,), d=network.d, m=network.m)
    whole = network_rank(active, problem.support, seed)
    bound = min(rank_bound(allocation), allocation.size)
    certain = bound < whole.rank
    if allocation.size:
        sampled = sample_pattern_ranks(allocation, seed=seed)
        text = f"rank {sampled.ranks[0]} of {whole.rank} with all units active, full for "
        text += f"{sampled.full} of {len(sampled.ranks)} random activation patterns"
        notes = [*notes, text]
    evidence: dict[str, Any] = {
        "active_rank": {"rank": whole.rank, "witness": [whole.p, whole.seed]}
    }
    instance = refuted() if refuted is not None and not certain else None
    if certain:
        rule = f"no activation pattern leaves rank above {bound}, labels have {whole.rank}"
    elif instance is not None:
        evidence["no_match"] = instance
        rule = "an instance that no weights match, nor any near it"
    else:
        rule = "decided per instance, not in general, for a ReLU network"
    tried = ["budgets of rows, columns and layers: none is exceeded"]
    if refuted is not None:
        tried.append("a search for an instance without a match that persists: none found")
    everywhere = "never minimal: teacher and student are both silent with positive probability"
    return Certificate(
        problem=problem,
        verdict=UNDECIDED if not certain and instance is None else INTERMEDIATE,
        rule=rule,
        equations=whole.rank,
        rank=bound,
        prime=whole.p,
        error_bound=Fraction(0),
        theorems=theorems,
        reasons=tuple(str(v) for v in budget_violations(allocation)) if certain else (),
        notes=(*notes, everywhere),
        tried=() if certain or instance is not None else tuple(tried),
        evidence=evidence,
        seed=seed,
        seconds=time.monotonic() - start,
    )


def _over_complete(
    problem: Problem,
    whole: GenericRank,
    seed: int,
    timeout: float,
    subsets: int,
    conclude: Any,
    evidence: dict[str, Any],
    error: Fraction,
    fallback: RootCounter | None,
) -> Certificate:
    """More weights than equations: maximal if some sub-allocation is."""
    allocation, support = problem.allocation, problem.support
    tried, out_of_reach = 0, 0
    deadline = time.monotonic() + timeout
    for cells in candidate_bases(allocation, whole.rank, support, seed, subsets):
        if time.monotonic() > deadline:
            break
        tried += 1
        part = Allocation.from_cells(allocation.network, cells)
        try:
            roots = generic_root_count(
                part, support, seed=seed, timeout=timeout / 4, fallback=fallback
            )
        except RootCountError:
            out_of_reach += 1
            continue
        if roots.value % 2:
            evidence["sub_allocation"] = [list(cell) for cell in part.cells]
            evidence["root_count"] = root_evidence(roots)
            how = f", {NUMERICAL}" if roots.is_numerical else ""
            rule = f"a sub-allocation of {whole.rank} weights is maximal (N = {roots.value}{how})"
            return conclude(MAXIMAL, rule, error)
    text = f"{tried} sub-allocations of {whole.rank} weights: none with an odd root count"
    if out_of_reach:
        text += f" ({out_of_reach} out of reach)"
    return conclude(UNDECIDED, "not minimal, more weights than equations", error, tried=(text,))
