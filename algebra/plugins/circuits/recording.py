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
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from algebra.checker.records import Record
from algebra.errors import DualError, InputError, Unfinished
from algebra.linalg.residues import Residues
from algebra.matroids.containing import cheapest_containing, containing_bound
from algebra.matroids.groups import GroupLeaf, Groups
from algebra.matroids.optimum import TARGET, RelaxationMaker, optimum_over_points
from algebra.matroids.spanning import (
    SpanningProblem,
    cheapest_groups,
    greedy_groups,
    ranked,
    spanning_bound,
)
from algebra.plugins.circuits.elements import title
from algebra.plugins.circuits.proof import EntryEvidence, GroupEvidence, TargetEvidence
from algebra.plugins.circuits.question import RecordingQuestion, recording_question
from algebra.plugins.circuits.result import FirstChoice, Recording
from algebra.plugins.circuits.target import target_states
from algebra.problems.problem import Problem
from algebra.questions.identify.fibre import Fibre, fibre_of_rows
from algebra.questions.identify.freedom import TargetStates
from algebra.ranks.generic_rank import GenericRank
from algebra.time_limits import OutOfTime, phase, time_left, within
from algebra.words import plural, some
from algebra.work import end_of_part, has_passed

# Names in a message.
_MOST_NAMES = 12
# Least number of seconds for the ranks, for a greedy choice, and for the ranking of a result.
_FOR_RANKS = 300.0
_FOR_CHOICE = 2.0
_FOR_ORDER = 10.0
# One leaf, of all sets of groups.
_ALL = (GroupLeaf((), ()),)


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
        For a greedy choice, which always has two seconds, and the search that follows it; the
        result has the bound that was reached.  If the greedy choice is not finished, the result
        consists of the elements by which ρ was found.  Without a limit around the call
        (`algebra.time_limits.within`) the ranks may take as long, and at least five minutes.
    first : callable, optional
        Called with the greedy choice and its bound before the search, if elements are not single
        entries.
    relaxation : callable, optional
        As for `algebra.matroids.optimum.optimum`.
    seed : int, optional
    **options
        Of `algebra.plugins.circuits.question.recording_question`: costs, must, forbidden, caps,
        target, stimulate.

    Raises
    ------
    NoRecording
        If the caps allow too few elements.
    Unfinished
        If the ranks were not found in time, or no elements that keep the caps, and it was not
        proved that none exist.

    Examples
    --------
    >>> from algebra.networks.feedforward import LinearFeedForward
    >>> net = LinearFeedForward(q=2, widths=(3,), d=3, m=2)
    >>> print(record(Problem(net, {"W1": [[1, 1], [1, 0], [0, 0]]})).document().title)
    record 2 of 3 at cost 2: output 0, output 1
    """
    question = recording_question(problem, what, seed=seed, **options)
    before = max(seconds, _FOR_RANKS) if math.isinf(time_left()) else math.inf
    try:
        with phase("generic rank of all that may be recorded"), within(before):
            fibre = fibre_of(question, question.rank)
    except (KeyboardInterrupt, OutOfTime) as end:
        raise Unfinished(_without_rank(question, end)) from None
    try:
        with phase("what is free in the target"):
            is_cover = not question.drives and question.is_whole
            aim = None if is_cover else _free_with_everything(question)
    except (KeyboardInterrupt, OutOfTime) as end:
        raise Unfinished(_without_aim(question, end)) from None
    if not is_cover:
        return _for_target(question, fibre, aim, seconds, first)
    if question.is_plain:
        return _entries(question, fibre, seconds, relaxation)
    return _groups(question, fibre, seconds, first)


def labels_question(
    problem: Problem, target: str | Sequence[str], seed: int = 0
) -> RecordingQuestion:
    """The question in which the labels, and nothing else, are recorded.

    Parameters
    ----------
    problem, target, seed
        As in `states_of_target`.
    """
    outputs = [f"output {k}" for k in range(problem.network.d)]
    return recording_question(problem, must=outputs, target=target, seed=seed)


def states_of_target(problem: Problem, target: str | Sequence[str], seed: int = 0) -> TargetStates:
    """What the labels leave free of a target.

    Parameters
    ----------
    problem : Problem
    target : str or sequence of str
        See `algebra.plugins.circuits.target.with_target`.
    seed : int, optional
    """
    question = labels_question(problem, target, seed)
    return target_states(question, frozenset(question.allowed), TARGET)


def fibre_of(question: RecordingQuestion, rank: GenericRank) -> Fibre:
    """The fibre of all elements, or of elements of the same rank."""

    def rows_at(p: int, number: int) -> Residues:
        return question.span(p, number, rank.rank).rows

    network, cells = question.bounding, question.allocation.cells
    stream = f"fibre/{question.stream}"
    return fibre_of_rows(network, cells, rank, rows_at, stream, question.effective)


def _entries(
    question: RecordingQuestion,
    fibre: Fibre,
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
    return _result(question, fibre, chosen, bound, error, points, proof, EntryEvidence(best.dual))


def _groups(
    question: RecordingQuestion, fibre: Fibre, seconds: float,
    first: Callable[[FirstChoice], object] | None,
) -> Recording:  # fmt: skip
    """Elements that are groups of rows: a greedy choice, and a search."""
    ends = end_of_part(seconds)
    chosen: frozenset[int] | None = None
    leaves: tuple[GroupLeaf, ...] = ()
    proved: int | None = None
    points: list[tuple[int, int]] = []
    error, problem = Fraction(1), None
    interrupt: BaseException | None = None

    def at_rank() -> SpanningProblem:
        """The problem at the point that shows the rank."""
        return question.groups(question.rank.p, question.rank.seed, sizes_only=True)

    try:
        for p, number in question.points():
            if error < TARGET or interrupt or (points and has_passed(ends)):
                break
            with (
                phase(f"search at random point {len(points) + 1}"),
                within(max(ends - time.monotonic(), _FOR_CHOICE)),
            ):
                is_first = not points
                if is_first:
                    # The result if the choice is interrupted; its bound is that of the sizes.
                    problem = question.groups(p, number, sizes_only=True)
                    points, error = [(p, number)], question.point_error
                    leaves = (problem.whole,)
                    chosen, proved = _known_choice(question), problem.known_bound()
                    if chosen is not None and proved == problem.cost(chosen):
                        # Fewer elements have too few numbers: no point is needed for this bound.
                        problem = at_rank()
                        points, error = [(question.rank.p, question.rank.seed)], question.rank.error
                        break
                known, problem = chosen, question.groups(p, number)
                if is_first:
                    chosen = _reduced(problem, chosen)
                    proved = problem.known_bound()
                    if chosen is None or proved is None or problem.cost(chosen) > proved:
                        greedy = greedy_groups(problem)
                        if chosen is None or problem.groups.is_small or greedy is None:
                            chosen = greedy
                        else:
                            chosen = min(chosen, greedy, key=problem.cost)
                else:
                    now = spanning_bound(problem, leaves, proved)
                    if now is None or (proved is not None and now >= proved):
                        points.append((p, number))
                        error *= question.point_error
                        continue
                if is_first and chosen is not None:
                    # The result if the search is interrupted.
                    proved = problem.known_bound()
                    if first is not None:
                        first(_first_choice(question, chosen, proved))
                    if chosen == known and proved == problem.cost(chosen):
                        # Its rank is known from another point.
                        problem = at_rank()
                        continue
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
        interrupt = end
    if interrupt is not None and proved is None:
        proved = problem.known_bound() if problem is not None else None
        chosen = chosen or _known_choice(question)
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
        question, fibre, elements, bound, error, points, proof, GroupEvidence(leaves),
        isinstance(interrupt, KeyboardInterrupt),
    )  # fmt: skip
    if interrupt is not None or problem is None:
        return best
    return replace(best, **_ranking(question, problem.groups, chosen))


def _free_with_everything(question: RecordingQuestion) -> TargetStates | None:
    """What stays free in the target with everything recorded, by the elements that show the rank.

    Elements U that leave as many directions of the target free as all elements leave the same ones:
    the target's motions with what U records unchanged contain those with everything unchanged, and
    have the same dimension.  So this is known before the search, which then may end at any time.
    """
    if question.target is None:
        return None
    return target_states(question, frozenset(question.spanning), TARGET)


def _for_target(
    question: RecordingQuestion, fibre: Fibre, aim: TargetStates | None, seconds: float,
    first: Callable[[FirstChoice], object] | None,
) -> Recording:  # fmt: skip
    """Elements that determine a target which less than all that may be recorded determines."""
    ends = end_of_part(seconds)
    points: list[tuple[int, int]] = []
    chosen, proved, leaves = _known_choice(question), 0, tuple[GroupLeaf, ...]()
    cuts: tuple[frozenset[int], ...] = ()
    error, interrupt = Fraction(1), None
    known = question.rank.p, question.rank.seed
    try:
        proved, known = question.least_by_numbers()
        for p, number in question.points():
            if error < TARGET or interrupt is not None or (points and has_passed(ends)):
                break
            with phase(f"search at random point {len(points) + 1}"):
                problem = question.containing(p, number)
                is_known = False
                if points:
                    try:
                        now = containing_bound(problem, leaves, cuts, proved)
                        is_known = now is not None and now >= proved
                    except DualError:
                        # The point shows that one of the points so far was unlucky.
                        problem = question.containing(p, number)
                if not is_known:
                    before = math.inf if points else max(ends, time.monotonic() + _FOR_CHOICE)
                    found = cheapest_containing(
                        problem, chosen, min(before, ends) if points else before
                    )
                    interrupt = found.interrupt
                    if found.chosen is None and (chosen is None or interrupt is None):
                        if interrupt or found.bound is not None:
                            raise Unfinished(_not_found(question))
                        raise NoRecording(_impossible(question))
                    assert found.bound is not None
                    if not points or found.bound < proved:
                        proved, leaves, cuts = found.bound, found.leaves, tuple(problem.cuts)
                    if found.chosen is not None:
                        chosen = frozenset(found.chosen)
                    if first is not None and not points and chosen is not None:
                        first(_first_choice(question, chosen, proved))
            points.append((p, number))
            error *= question.point_error
    except (KeyboardInterrupt, OutOfTime) as end:
        # The result of the points so far remains valid; without one, what is known with the rank.
        interrupt = end
        if not points:
            error = question.point_error if proved else question.rank.error
            points, leaves = [known], _ALL
    if chosen is None:
        raise Unfinished(_not_found(question))
    elements = frozenset(question.allowed[k] for k in chosen)
    where = plural(len(points), f"{len(points)} random point")
    proof = f"a search of {plural(len(leaves), f'{len(leaves)} part')} with {len(cuts)} cuts, "
    proof += f"checked at {where}"
    bound = Fraction(proved, question.unit)
    if bound < question.cost(elements):
        proof = f"the search was stopped with {len(leaves)} parts left"
    evidence = TargetEvidence(tuple(tuple(sorted(cut)) for cut in cuts), leaves)
    return _result(
        question, fibre, elements, bound, error, points, proof, evidence,
        isinstance(interrupt, KeyboardInterrupt), aim,
    )  # fmt: skip


def _reduced(problem: SpanningProblem, chosen: frozenset[int] | None) -> frozenset[int] | None:
    """Elements by which ρ was found, without those that are not needed, if all rows are many.

    It takes the rows of these elements alone; a greedy choice takes those of more.
    """
    if chosen is None or problem.groups.is_small or not problem.spans(chosen):
        return chosen
    order = sorted(chosen - problem.start, key=lambda k: (-problem.costs[k], k))
    return problem.without_unneeded(chosen, order)


def _known_choice(question: RecordingQuestion) -> frozenset[int] | None:
    """The elements by which ρ was found, numbered as `allowed`; None if they violate a cap."""
    for kind, most in question.caps:
        of = question.classes(kind)
        if max(Counter(of[k] for k in question.spanning).values(), default=0) > most:
            return None
    place = {k: i for i, k in enumerate(question.allowed)}
    return frozenset(place[k] for k in question.spanning)


def _without_rank(question: RecordingQuestion, end: BaseException) -> str:
    count = len(question.allowed)
    what = "interrupted" if isinstance(end, KeyboardInterrupt) else "out of time"
    return (
        f"{what} before the rank of all that may be recorded was known; all {count} elements "
        f"together, at cost {question.cost(question.allowed)}, determine what can be determined: "
        "allow more time, or use fewer samples or fewer learnable weights"
    )


def _without_aim(question: RecordingQuestion, end: BaseException) -> str:
    known = sorted(question.spanning)
    names = [title(question.elements[k], question.parametrized.names) for k in known]
    what = "interrupted" if isinstance(end, KeyboardInterrupt) else "out of time"
    return (
        f"{what} before it was known what is free in the target; {some(names, _MOST_NAMES)}, at "
        f"cost {question.cost(known)}, determine as much as all elements do: allow more time, or "
        "take a smaller target"
    )


def _first_choice(
    question: RecordingQuestion, chosen: frozenset[int], proved: int | None
) -> FirstChoice:
    elements = [question.allowed[k] for k in sorted(chosen)]
    names = tuple(title(question.elements[k], question.parametrized.names) for k in elements)
    return FirstChoice(names, question.cost(elements), Fraction(proved or 0, question.unit))


def _ranking(question: RecordingQuestion, groups: Groups, chosen: frozenset[int]) -> dict[str, Any]:
    """The increase of the rank by each chosen element, and the rank of each other one alone."""
    every = list(range(len(groups)))
    with phase("what each adds"), within(_FOR_ORDER):
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
    fibre: Fibre,
    chosen: frozenset[int],
    bound: Fraction,
    error: Fraction,
    points: Sequence[tuple[int, int]],
    proof: str,
    evidence: Record,
    interrupted: bool = False,
    aim: TargetStates | None = None,
) -> Recording:
    if question.target is not None:
        aim = aim or target_states(question, chosen, TARGET)
        error += aim.error
    driven = chosen.intersection(question.drives)
    return Recording(
        question, tuple(question.elements[k] for k in sorted(chosen - driven)),
        question.cost(chosen), bound, question.rank, fibre, min(error, Fraction(1)), tuple(points),
        proof, evidence, interrupted, aim=aim,
        stimulated=tuple(question.elements[k] for k in sorted(driven)),
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
