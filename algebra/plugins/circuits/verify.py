"""Verification of the proof of a recording, from the file alone.

`algebra.plugins.circuits.result` describes the claim.  The checks, in this order:

*question*
    The question is valid: elements, prices, caps; the recorded elements include the required ones
    and no forbidden one, keep the caps, and cost what the file says.
*parameters*
    With ReLU, ranks are those at the parameters and samples of the file.  The activation pattern
    follows from these: it is computed in rationals, and compared with the signs of the network's
    own forward pass in ball arithmetic.
*derivatives*
    At points that the check draws, the rows are the derivatives of the recorded numbers: the
    derivative along a random direction is compared with dual numbers, which the network's own
    forward pass computes.  A wrong row is found at each point with probability 1 - 1/p.
*rank*
    The rows of the recorded elements have the claimed rank at one of these points (proved), and the
    rows of all elements have no larger rank (proved if it is the number of weights, or of rows).
*target*
    The free directions of each element of the target are those that the file says, and as few as
    with all elements recorded.
*evidence*
    At points that the check draws, the dual solution, or the leaves of the search, give a bound
    that is not below the claimed bound.  Any numbers in the evidence give a true bound at that
    point, so forged evidence can only prove less.

Examples
--------
>>> from algebra.networks.feedforward import LinearEstimator
>>> from algebra.problems.problem import Problem
>>> from algebra.plugins.circuits.recording import record
>>> problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 0], [0, 0, 0]]})
>>> RECORDING.verify(record(problem, "entries").proof_file()).holds
True
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from algebra.checker.checks import (
    PROBABLE,
    PROVED,
    UNFINISHED,
    CheckEffort,
    CheckFailed,
    Checklist,
)
from algebra.checker.fields import RefusedAt
from algebra.checker.formats import ProofFormat
from algebra.checker.statements import AtNewPoints, error_words
from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, random_residues
from algebra.matroids.containing import containing_bound
from algebra.matroids.optimum import TARGET
from algebra.matroids.spanning import spanning_bound
from algebra.networks.activated import ActivatedNetwork
from algebra.networks.base import Point
from algebra.plugins.circuits.blocks import are_few, direction_of
from algebra.plugins.circuits.proof import (
    FORMAT,
    VERSION,
    EntryEvidence,
    GroupEvidence,
    RecordingProof,
    TargetEvidence,
)
from algebra.plugins.circuits.question import RecordingQuestion
from algebra.plugins.circuits.target import target_states
from algebra.ranks.jacobian import base_of
from algebra.time_limits import check_time


def _check(data: Mapping[str, Any], checklist: Checklist, effort: CheckEffort) -> None:
    proof: RecordingProof = RECORDING.read(data)
    with RefusedAt("question"):
        question = proof.question(effort.seed)
    _meets(proof, question)
    if question.parametrized.network.own_point is not None:
        count = sum(map(_check_pattern, question.experiments.values()))
        checklist.say(
            "parameters", PROVED,
            f"all signs of the activity of {count} samples follow from the file's parameters",
        )  # fmt: skip
    p, number = next(question.points())
    few: Sequence[int] = proof.recorded
    if not question.drives and are_few(question, question.point(p, number)):
        few = question.allowed
    count = 0
    for own in question.restricted(frozenset(few)).experiments.values():
        point = own.point(p, number)
        rows, owner = own.rows(point)
        _check_derivatives(own, point, rows, owner)
        count += len(rows)
    checklist.say(
        "derivatives", PROBABLE,
        f"the {count} numbers' derivatives agree with dual numbers along a random direction"
        + ("" if tuple(few) == question.allowed else ", and so do all that the evidence needs"),
    )  # fmt: skip
    checklist = _About(checklist, question.about)
    _ranks(proof, question, checklist)
    _bound(proof, question, checklist)


class _About(Checklist):
    """A checklist whose texts say what they are about."""

    def __init__(self, checklist: Checklist, about: str) -> None:
        self.checks, self._about = checklist.checks, f"{about}: " if about else ""

    def say(self, place: str, status: str, text: str) -> None:
        super().say(place, status, self._about + text)


def _meets(proof: RecordingProof, question: RecordingQuestion) -> None:
    """The recorded elements answer the question, and cost what the file says."""
    chosen = frozenset(proof.recorded)
    for k in sorted(question.must - chosen):
        raise CheckFailed("recorded", f"{question.elements[k].name} must be recorded and is not")
    for k in sorted(question.forbidden & chosen):
        raise CheckFailed("recorded", f"{question.elements[k].name} must not be recorded")
    everything = tuple(range(len(question.elements)))
    for (kind, number), (of, caps) in zip(
        question.caps, question.systems(everything, frozenset()), strict=True
    ):
        used = np.bincount([of[k] for k in chosen], minlength=len(caps))
        if used.max() > number:
            raise CheckFailed("caps", f"{used.max()} elements under one cap ({kind}: {number})")
    cost = question.cost(chosen)
    if cost != proof.cost:
        raise CheckFailed("cost", f"says {proof.cost}, the prices add up to {cost}")
    if proof.bound > cost:
        raise CheckFailed("bound", f"says {proof.bound}, what is recorded costs {cost}")


def _check_pattern(question: RecordingQuestion) -> int:
    """Compare the activation pattern with signs in ball arithmetic, from the network's program.

    Returns
    -------
    int
        Number of samples.
    """
    network = base_of(question.parametrized.network)
    assert isinstance(network, ActivatedNetwork)
    own = network.own_point.first(network.m)
    program = network.program()
    found = network.signs_at(own.weights, own.X, 0)
    place = network.on_pattern(own.signs)
    for number, signs in found.items():
        if not np.array_equal(place(program.nodes[number], None), signs):
            raise ArithmeticError("two activation patterns of the same parameters: a bug")
    return int(own.X.shape[1])


def _check_derivatives(
    question: RecordingQuestion, point: Point, table: Residues, owner: np.ndarray
) -> None:
    """Compare rows at a point with dual numbers along a random direction."""
    p, size = point.p, question.allocation.size
    step = random_residues((size, 1), p, random.Random(f"direction/{p}/{point.seed}"))
    along, owners = direction_of(question, point, step[:, 0])
    if not np.array_equal(along[np.isin(owners, owner)], matmul(table, step, p)[:, 0]):
        title = question.parametrized.network.title
        raise ArithmeticError(f"the derivatives of a {title} are wrong: a bug")


def _ranks(proof: RecordingProof, question: RecordingQuestion, checklist: Checklist) -> None:
    """The recorded elements have the rank of all elements."""
    chosen, everything = frozenset(proof.recorded), question.rank
    if proof.rank != everything.rank:
        text = f"says {proof.rank}; all that may be recorded has {everything.rank}"
        raise CheckFailed("rank", text)
    if question.target is not None:
        _target(proof, question, checklist)
        return
    if proof.free:
        raise CheckFailed("free", "is about a target, and the file has none")
    own = question.rank_of(chosen).rank
    if own < proof.rank:
        raise CheckFailed("recorded", f"has rank {own}, not {proof.rank}")
    size = question.allocation.size
    what = (
        "the match is locally unique"
        if proof.rank == size
        else f"of {size} weights: no more is determined by everything"
    )
    status = PROVED if everything.is_proved else PROBABLE
    if not question.parametrized.network.ranks_are_exact(question.parametrized.support):
        status = UNFINISHED
        what = f"{what}, if no theorem is needed: with this activation ranks are upper bounds"
    checklist.say(
        "rank",
        status,
        f"what is recorded has rank {proof.rank}, as all that may be; {what}"
        + ("" if everything.is_proved else f" ({error_words(everything.error)})"),
    )


def _target(proof: RecordingProof, question: RecordingQuestion, checklist: Checklist) -> None:
    """The recorded elements determine the target as far as all elements do."""
    own = target_states(question, frozenset(proof.recorded), TARGET)
    states = own.states
    if tuple(state.free for state in states) != proof.free:
        wrong = [s for s, n in zip(states, proof.free, strict=False) if s.free != n]
        text = f"{wrong[0].name} has {wrong[0].free}" if wrong else f"are {len(states)}"
        raise CheckFailed("free", f"does not say the free directions: {text}")
    whole = target_states(question, frozenset(question.allowed), TARGET)
    if own.free != whole.free:
        text = f"leaves {own.free} directions of the target free; with all recorded {whole.free}"
        raise CheckFailed("recorded", text)
    error = own.error + whole.error
    checklist.say(
        "target", PROBABLE if error else PROVED,
        f"what is recorded determines {own.determined} of the {len(states)} activities of the "
        "target, as all that may be recorded does"
        + (f" ({error_words(error)})" if error else ""),
    )  # fmt: skip


def _bound(proof: RecordingProof, question: RecordingQuestion, checklist: Checklist) -> None:
    """No elements of this rank cost less than the claimed bound."""

    def check(p: int, number: int) -> Fraction:
        check_time()
        with RefusedAt("evidence"):
            bound = _bound_at(proof, question, p, number)
        if bound is None or bound < proof.bound:
            raise CheckFailed("evidence", f"does not bound the cost by {proof.bound}")
        return question.point_error

    best = "nothing costs less" + ("" if proof.bound == proof.cost else f" than {proof.bound}")
    AtNewPoints("evidence", best, question.points(), check, TARGET).stated(0, checklist.say)


def _bound_at(
    proof: RecordingProof, question: RecordingQuestion, p: int, number: int
) -> Fraction | None:
    if isinstance(proof.evidence, TargetEvidence):
        return _target_bound(proof, proof.evidence, question, p, number)
    if question.drives:
        raise CheckFailed("evidence", "has no cuts, and units may be driven")
    if isinstance(proof.evidence, GroupEvidence) and question.is_whole:
        enough, leaves = ceil(proof.bound * question.unit), proof.evidence.leaves
        found = None
        # The bound of the numbers of rows needs less: of large questions it is often enough.
        for sizes_only in (True, False) if len(leaves) == 1 else (False,):
            problem = question.groups(p, number, _check_derivatives, sizes_only)
            if sizes_only:
                # Without a rank: where this is not enough, the reach of units is tried first.
                found = problem.quick_bound(problem.whole)
            else:
                found = spanning_bound(problem, leaves, enough)
            if found is not None and found >= enough:
                break
        return None if found is None else Fraction(found, question.unit)
    if not question.is_whole:
        raise CheckFailed("evidence", "is about all that may be recorded, and the target is less")
    assert isinstance(proof.evidence, EntryEvidence)
    units = proof.evidence.dual.bound(question.problem_at(p, number))
    return None if units is None else Fraction(units, question.unit) + question.cost(question.must)


def _target_bound(
    proof: RecordingProof,
    evidence: TargetEvidence,
    question: RecordingQuestion,
    p: int,
    number: int,
) -> Fraction | None:
    """The bound of leaves and cuts at a point."""
    if question.target is None and not question.drives:
        raise CheckFailed("evidence", "has cuts, and there is no target")
    problem = question.containing(p, number, _check_derivatives)
    enough = ceil(proof.bound * question.unit)
    found = containing_bound(problem, evidence.leaves, evidence.cuts, enough)
    return None if found is None else Fraction(found, question.unit)


RECORDING = ProofFormat(
    FORMAT, (VERSION,), "the proof of a recording", RecordingProof, _check, lambda data: "recording"
)
