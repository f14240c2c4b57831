"""The cheapest elements that determine the weights as far as all elements do.

Single entries are elements of a matroid: a least-cost basis is found by matroid intersection (by a
greedy choice if there are no caps), and proved by a weight splitting (`algebra.matroids.optimum`).
Whole outputs, samples, steps or units are groups of rows: the search is a branch and bound
(`algebra.matroids.spanning`), and its leaves prove the bound.

Proof.  One point proves that the recorded elements have the rank ρ: a rank at a point is a lower
bound.  For the lower bound of the cost, let B be a cheapest set of elements for generic weights; B
does not depend on the random point.  If B has its generic rank at the point, the bound found there
is at most the cost of B.  B misses its generic rank with a probability below
`RecordingQuestion.point_error`; independent points multiply these probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from algebra.certificates.records import Record
from algebra.errors import InputError, Unfinished
from algebra.linalg.modular import Residues
from algebra.matroids.groups import GroupLeaf, Groups
from algebra.matroids.optimum import TARGET, RelaxationMaker, optimum_over_points
from algebra.matroids.spanning import (
    cheapest_groups,
    greedy_groups,
    ranked,
    spanning_bound,
)
from algebra.networks.limits import plural
from algebra.phases import phase
from algebra.problems.problem import Problem
from algebra.questions.identify.fibre import Fibre, fibre_of_rows
from algebra.questions.record.blocks import span_at
from algebra.questions.record.elements import title
from algebra.questions.record.proof import EntryEvidence, GroupEvidence
from algebra.questions.record.question import RecordingQuestion, recording_question
from algebra.questions.record.result import FirstChoice, Recording
from algebra.ranks.generic_rank import GenericRank
from algebra.time_limits import OutOfTime, end_of_part, has_passed, time_left, within

# Least number of seconds for ranks, and for a greedy choice, if the search has fewer.
_LEAST = 120.0


class NoRecording(InputError):
    """No elements that keep the caps determine as much as all elements do."""


def record(
    problem: Problem,
    what: str | Sequence[str] = "outputs",
    *,
    seconds: float = 60.0,
    relaxation: RelaxationMaker | None = None,
    first: Callable[[FirstChoice], object] | None = None,
    seed: int = 0,
    **options: Any,
) -> Recording:
    """The cheapest elements that determine as much as all elements.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.
    what : str or sequence of str
        Kinds of elements.
    seconds : float, optional
        For the search that follows a greedy choice; the result has the bound that was reached.
        Without a limit around the call (`algebra.time_limits.within`) the ranks, and then the
        greedy choice, may take as long, and at least two minutes.
    first : callable, optional
        Called with the greedy choice and its bound before the search, if elements are not single
        entries.
    relaxation : callable, optional
        As for `algebra.matroids.optimum.optimum`.
    seed : int, optional
    **options
        Of `algebra.questions.record.question.recording_question`: costs, must, forbidden, caps.

    Raises
    ------
    NoRecording
        If the caps allow too few elements.
    Unfinished
        If no elements that keep the caps were found in time, and it was not proved that none exist.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearFeedForward
    >>> net = LinearFeedForward(q=2, widths=(3,), d=3, m=2)
    >>> print(record(Problem(net, {"W1": [[1, 1], [1, 0], [0, 0]]})).document().title)
    record 2 of 3 at cost 2: output 0, output 1
    """
    question = recording_question(problem, what, seed=seed, **options)
    before = max(seconds, _LEAST) if math.isinf(time_left()) else math.inf
    with phase("generic rank of all that may be recorded"), within(before):
        rank = question.rank
    if question.is_plain:
        return _entries(question, rank, seconds, relaxation)
    return _groups(question, rank, seconds, before, first)


def fibre_of(question: RecordingQuestion, rank: GenericRank) -> Fibre:
    """The fibre of all elements, or of elements of the same rank."""

    def rows_at(p: int, number: int) -> Residues:
        return span_at(question, question.point(p, number), rank.rank).rows

    network, cells = question.parametrized.network, question.allocation.cells
    return fibre_of_rows(network, cells, rank, rows_at, f"fibre/{question.stream}")


def _entries(
    question: RecordingQuestion,
    rank: GenericRank,
    seconds: float,
    relaxation: RelaxationMaker | None,
) -> Recording:
    """Elements that are single rows: a least-cost basis."""
    best, points, error = optimum_over_points(question, TARGET, relaxation, seconds)
    if best.elements is None:
        if best.bound is not None:
            raise Unfinished(_not_found(question))
        raise NoRecording(_impossible(question))
    assert best.bound is not None
    chosen = frozenset(question.free[e] for e in best.elements) | question.must
    bound = Fraction(best.bound, question.unit) + question.cost(question.must)
    cost = question.cost(chosen)
    splits = len(question.caps) < 2
    what = "a weight splitting" if splits else "a tree with multipliers at its leaves"
    proof = f"{what} checks at {len(points)} random points"
    if bound < cost:
        proof = "the search was stopped by its time limit"
    return _result(question, rank, chosen, bound, error, points, proof, EntryEvidence(best.dual))


def _groups(
    question: RecordingQuestion, rank: GenericRank, seconds: float, before: float,
    first: Callable[[FirstChoice], object] | None,
) -> Recording:  # fmt: skip
    """Elements that are groups of rows: a greedy choice, and a search."""
    ends = math.inf
    chosen: frozenset[int] | None = None
    leaves: tuple[GroupLeaf, ...] = ()
    proved: int | None = None
    points: list[tuple[int, int]] = []
    error, interrupt, problem = Fraction(1), None, None
    try:
        for p, number in question.points():
            if error < TARGET or interrupt or (points and has_passed(ends)):
                break
            with (
                phase(f"search at random point {len(points) + 1}"),
                within(before + 2 * seconds),
            ):
                problem = question.groups(p, number)
                is_first = not points
                if is_first:
                    chosen = greedy_groups(problem)
                    ends = end_of_part(seconds)
                else:
                    now = spanning_bound(problem, leaves, proved)
                    if now is None or (proved is not None and now >= proved):
                        points.append((p, number))
                        error *= question.point_error
                        continue
                if is_first and chosen is not None:
                    # The result if the search is interrupted.
                    points, error = [(p, number)], question.point_error
                    proved, leaves = problem.known_bound(), (problem.whole,)
                    if first is not None:
                        first(_first_choice(question, chosen, proved))
                found = cheapest_groups(problem, chosen, ends)
            if (p, number) not in points:
                points.append((p, number))
                error *= question.point_error
            interrupt = found.interrupt
            if found.chosen is not None:
                chosen = frozenset(found.chosen)
            lower = found.bound is not None and (proved is None or found.bound < proved)
            if lower or is_first:
                proved, leaves = found.bound, found.leaves
    except (KeyboardInterrupt, OutOfTime) as end:
        # The result of the points so far remains valid.
        if not points and isinstance(end, OutOfTime):
            count = len(question.allowed)
            raise Unfinished(
                f"no first choice was found in the time given; all {count} elements together, at "
                f"cost {question.cost(question.allowed)}, determine what can be determined: allow "
                "more `seconds`, or use fewer samples or fewer learnable weights"
            ) from None
        if not points:
            raise
        interrupt = end
    if chosen is None:
        if interrupt or proved is not None:
            raise Unfinished(_not_found(question))
        raise NoRecording(_impossible(question))
    assert proved is not None
    elements = frozenset(question.allowed[k] for k in chosen)
    bound = Fraction(proved, question.unit)
    count, where = len(leaves), plural(len(points), f"{len(points)} random point")
    proof = f"a search of {plural(count, f'{count} part')}, checked at {where}"
    if bound < question.cost(elements):
        stopped = "interrupted" if isinstance(interrupt, KeyboardInterrupt) else "out of time"
        proof = f"the search was {stopped} with {len(leaves)} parts left"
    best = _result(
        question, rank, elements, bound, error, points, proof, GroupEvidence(leaves),
        isinstance(interrupt, KeyboardInterrupt),
    )  # fmt: skip
    assert problem is not None
    return best if interrupt else replace(best, **_ranking(question, problem.groups, chosen))


def _first_choice(
    question: RecordingQuestion, chosen: frozenset[int], proved: int | None
) -> FirstChoice:
    elements = [question.allowed[k] for k in sorted(chosen)]
    names = tuple(title(question.elements[k], question.parametrized.names) for k in elements)
    return FirstChoice(names, question.cost(elements), Fraction(proved or 0, question.unit))


def _ranking(question: RecordingQuestion, groups: Groups, chosen: frozenset[int]) -> dict[str, Any]:
    """The increase of the rank by each chosen element, and the rank of each other one alone."""
    every = list(range(len(groups)))
    with phase("what each adds"), within(_LEAST):
        try:
            order = ranked(groups, chosen)
        except OutOfTime:
            return {}
    alone = [
        len(groups.part(k)) if groups.is_small and groups.reach is None else most
        for k, most in zip(every, groups.most([], every).tolist(), strict=True)
    ]
    return {
        "order": tuple((question.elements[question.allowed[k]], gain) for k, gain in order),
        "alone": tuple(alone),
    }


def _result(
    question: RecordingQuestion,
    rank: GenericRank,
    chosen: frozenset[int],
    bound: Fraction,
    error: Fraction,
    points: Sequence[tuple[int, int]],
    proof: str,
    evidence: Record,
    interrupted: bool = False,
) -> Recording:
    return Recording(
        question, tuple(question.elements[k] for k in sorted(chosen)), question.cost(chosen),
        bound, rank, fibre_of(question, rank), min(error, Fraction(1)), tuple(points), proof,
        evidence, interrupted,
    )  # fmt: skip


def _caps_text(question: RecordingQuestion) -> str:
    one = {"row": "each output", "column": "each sample", "matrix": "each population"}
    return " and ".join(f"at most {number} of {one[kind]}" for kind, number in question.caps)


def _not_found(question: RecordingQuestion) -> str:
    return (
        f"no recording with {_caps_text(question) or 'these elements'} was found in the time "
        "given, nor was it shown that there is none: allow more time, or raise a cap"
    )


def _impossible(question: RecordingQuestion) -> str:
    return (
        f"no recording with {_caps_text(question)} determines as much as everything that may be "
        f"recorded (rank {question.rank.rank}): raise a cap"
    )
