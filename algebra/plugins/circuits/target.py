r"""Targets: activities that recordings are to determine, whether or not they determine the weights.

Let z_U be the recorded numbers and y those of the target, as functions of the learnable weights θ,
and J_U, T their Jacobians at generic weights and samples.

**Theorem.** Near a generic θ the numbers y are a function of z_U if and only if the rows of T lie
in the row space of J_U.  On the weights θ' nearby with z_U(θ') = z_U(θ) the numbers y take a set of
values of dimension rank(J_U, T) − rank J_U: the *free directions* of the target.

*Proof.*  The ranks of J_U and of (J_U, T) are constant near a generic θ.  The fibre of z_U is a
manifold with tangent space ker J_U, and y restricted to it has a Jacobian of constant rank
rank(J_U, T) − rank J_U; it is constant on the (connected) fibre if and only if this is 0. ∎

What all that may be recorded determines of the target is the intersection V of the row spaces of T
and of all rows; a recording determines as much if and only if its row space contains V: it leaves
the same numbers free as everything does, in each part of the target.  If V has the rank ρ of all
rows, as for the target "everything that may be recorded", the question is that of
`algebra.plugins.circuits.question`; otherwise it is that of `algebra.matroids.containing`.

**New samples.**  The rows of one new sample x are analytic in x.  If they lie in the row space of
the recorded ones for one generic x, they do for all.  With ReLU each sample has its own activation
pattern, so nothing follows for others: there the new samples are given, as many as are recorded.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from algebra.errors import InputError, Unfinished, shown
from algebra.given import given_list
from algebra.linalg.echelon import modular_kernel
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues, random_residues
from algebra.matroids.groups import Span
from algebra.memory_limits import check_memory
from algebra.networks.base import STATES, TRACES, Network, Point
from algebra.networks.protocols import jacobian_of
from algebra.plugins.circuits.blocks import direction_of, span_at
from algebra.plugins.circuits.elements import (
    Recordable,
    available_kinds,
    elements_of,
    kind_name,
    known_readings,
    numbers_of,
    title,
)
from algebra.problems.names import Names
from algebra.questions.identify.fibre import Fibre
from algebra.questions.identify.freedom import TargetState, TargetStates
from algebra.ranks.deficits import deficit_error
from algebra.time_limits import check_time

if TYPE_CHECKING:
    from algebra.plugins.circuits.question import RecordingQuestion

UNITS, OUTPUTS, NEW, WEIGHTS = "units", "outputs", "samples=new", "weights"
# The element of each number: for each kind its source, and an array for each reading.
Owners = list[tuple[str, list[np.ndarray]]]
_TIMES = re.compile(r"times=(\d+)(?::(\d+))?$")
# Entries of rows of the target that are computed at once.
_AT_ONCE = 1 << 23
# At most so many directions are passed through dual numbers, if the rows of the target are more.
_FEW_MOVES = 512
# So many at first.
_FIRST_MOVES = 4


@dataclass(frozen=True)
class RecordingTarget:
    """The activities that are to be determined.

    Attributes
    ----------
    given : tuple of str
        As the question names them.
    elements : tuple of Recordable
    owners : list
    new : int
        Number of new samples, which are not recorded.
    """

    given: tuple[str, ...]
    elements: tuple[Recordable, ...]
    owners: Owners = field(repr=False, compare=False)
    new: int = 0


def with_target(
    network: Network, names: Names, given: str | Sequence[str],
    elements: tuple[Recordable, ...], owners: Owners,
) -> tuple[Network, Owners, RecordingTarget]:  # fmt: skip
    """Read a target, and take its steps and samples out of what is recorded.

    Parameters
    ----------
    network : Network
    names : Names
    given : str or sequence of str
        "units", "outputs", "times=11:20" (steps 11 to 19), "samples=new", or names of elements.
    elements, owners
        Of the recording.

    Returns
    -------
    network : Network
        With one more sample if the target is a new one; at own parameters with its new samples.
    owners : list
        Of the recording.
    target : RecordingTarget

    Raises
    ------
    InputError
    """
    listed = (given,) if isinstance(given, str) else given_list(given, "target", '["units"]')
    words = tuple(map(kind_name, listed))
    if not words or len(set(words)) < len(words):
        raise InputError(f"`target` ({shown(given)}) must name what is to be determined, each once")
    if NEW in words or any(str(word).startswith("times") for word in words):
        if len(words) > 1:
            raise InputError(f"`target` ({shown(given)}): times or new samples are one target")
        if words[0] == NEW:
            # At own parameters each sample has its own activation pattern.
            own = network.own_point
            new = 1 if own is None else own.X.shape[1] - network.m
            network = network.with_samples(network.m + new)
            return network, _kept(owners, len(elements), new), _new_samples(network, new)
        steps = _steps(network, str(words[0]))
        return (
            network, _without_steps(network, owners, len(elements), steps, words[0]),
            _of_steps(network, words[0], steps, any(source == STATES for source, _ in owners)),
        )  # fmt: skip
    target, named = _of_elements(network, names, words)
    return network, _without(owners, len(elements), named, str(words[0])), target


def _of_elements(
    network: Network, names: Names, words: tuple[str, ...]
) -> tuple[RecordingTarget, Owners]:  # fmt: skip
    """Whole kinds, and elements by name; and which numbers the latter have."""
    kinds = available_kinds(network)
    whole = [word for word in words if word in (UNITS, OUTPUTS)]
    if UNITS in whole:
        # Refused with the reason if there are none.
        known_readings(network, STATES)
    for word in words:
        if word in whole:
            continue
        having = [k for k in kinds if word in numbers_of(elements_of(network, [k])[0], names)]
        if not having:
            raise InputError(
                f"`target` ({shown(word)}) is neither units, outputs, times=A:B (steps A to B - 1) "
                "nor samples=new, and no element that can be recorded has this name"
            )
        whole.append(having[0])
    elements: list[Recordable] = []
    owners: Owners = []
    named: Owners = []
    for kind in dict.fromkeys(whole):
        own, [(source, inside)] = elements_of(network, [kind])
        known = numbers_of(own, names)
        by_name = {known[word] for word in words if word in known}
        wanted = list(range(len(own))) if kind in words else sorted(by_name)
        place = {k: len(elements) + i for i, k in enumerate(wanted)}
        elements += [own[k] for k in wanted]
        moved = np.array([place.get(k, -1) for k in range(len(own))])
        owners.append((source, [moved[of] for of in inside]))
        if by_name:
            named.append((source, [np.isin(of, sorted(by_name)) for of in inside]))
    return RecordingTarget(words, tuple(elements), _closed(owners, len(elements))), named


def _without(owners: Owners, count: int, masks: Owners, word: str) -> Owners:
    """The owners of a recording without the numbers of some masks."""
    found: Owners = []
    for source, inside in owners:
        kept = list(inside)
        for other, removed in masks:
            if other == source:
                pairs = zip(kept, removed, strict=True)
                kept = [np.where(mask, count, of) for of, mask in pairs]
        found.append((source, kept))
    if all((of == count).all() for _, inside in found for of in inside):
        raise InputError(
            f"`target` ({shown(word)}): all that may be recorded belongs to it; record something "
            "else as well (`what`)"
        )
    return found


def _closed(owners: Owners, count: int) -> Owners:
    """Numbers of no element, marked -1, belong to one behind the last."""
    return [
        (source, [np.where(of < 0, count, of) for of in inside]) for source, inside in owners
    ]  # fmt: skip


def _kept(owners: Owners, count: int, more: int) -> Owners:
    """The same owners with further samples, which are not recorded."""
    return [
        (source, [np.pad(of, ((0, 0), (0, more)), constant_values=count) for of in inside])
        for source, inside in owners
    ]


def _new_samples(network: Network, new: int) -> RecordingTarget:
    """The outputs for the last samples."""
    elements, [(source, inside)] = elements_of(network, ["outputs"])
    owners = [np.where(np.arange(network.m) >= network.m - new, of, -1) for of in inside]
    return RecordingTarget((NEW,), elements, _closed([(source, owners)], len(elements)), new)


def _steps(network: Network, word: str) -> range:
    """The steps that ``times=A:B`` names."""
    match = _TIMES.match(word)
    count = len(network.readings(TRACES))
    if not count:
        raise InputError(f"`target` ({shown(word)}): a {network.title} network has no steps")
    if match is not None:
        start = int(match[1])
        stop = start + 1 if match[2] is None else int(match[2])
        if start < stop <= count:
            return range(start, stop)
    raise InputError(
        f"`target` ({shown(word)}) must be times=A:B with 0 ≤ A < B ≤ {count}: the steps A to B - 1"
    )


def _without_steps(network: Network, owners: Owners, count: int, steps: range, word: str) -> Owners:
    """The owners of the numbers at other steps."""
    masks = [
        (
            source,
            [
                np.full(of.shape, reading.step in steps)
                for reading, of in zip(network.readings(source), inside, strict=True)
            ],
        )
        for source, inside in owners
    ]
    return _without(owners, count, masks, word)


def _of_steps(network: Network, word: str, steps: range, of_units: bool) -> RecordingTarget:
    """The states (or outputs) at some steps."""
    source = STATES if of_units else TRACES
    elements = tuple(Recordable("times", "", step=step) for step in steps)
    place = {step: k for k, step in enumerate(steps)}
    owners = [
        np.full((reading.size, network.m), place.get(reading.step or 0, -1))
        for reading in network.readings(source)
    ]
    return RecordingTarget((word,), elements, _closed([(source, owners)], len(elements)))


def check_target(target: RecordingTarget, owners: Owners, must: frozenset[int]) -> None:
    """Refuse a target that is recorded in any case.

    Parameters
    ----------
    target : RecordingTarget
    owners : list
        Of the recording.
    must : frozenset of int
        Numbers of its elements that are recorded in any case.

    Raises
    ------
    InputError
    """
    open_ = set[int]()
    for source, inside in target.owners:
        known = [np.zeros(of.shape, bool) for of in inside]
        for other, recorded in owners:
            if other == source:
                for mask, of in zip(known, recorded, strict=True):
                    mask |= np.isin(of, sorted(must))
        for mask, of in zip(known, inside, strict=True):
            open_ |= set(of[~mask].tolist())
    if len(target.elements) and not open_ - {len(target.elements)}:
        raise InputError(
            f"`target` ({target.elements[0].name}) is recorded in any case; name an activity that "
            "is not"
        )


# -- linear algebra at a point ---------------------------------------------------------------------


def determined_part(question: RecordingQuestion, point: Point, whole: Span) -> Residues:
    """A basis of V, the part of the target that all that may be recorded determines.

    Parameters
    ----------
    question : RecordingQuestion
    point : Point
    whole : Span
        Of the rows of all that may be recorded.
    """
    p, size = point.p, question.allocation.size
    about = question.about_target
    aim = span_at(about, point, min(size, about.count))
    if aim.rank == size:
        return whole.rows
    rows = aim.rows
    if not len(rows) or whole.rank == size:
        return rows
    kept = modular_kernel(np.ascontiguousarray(whole.left(rows, p).T), p)
    return matmul(kept, rows, p)


def determined_dimension(question: RecordingQuestion, point: Point, whole: Span) -> int:
    """dim V: the dimensions of both spaces without that of their sum.

    Parameters
    ----------
    question, point, whole
        As for `determined_part`.
    """
    about, size = question.about_target, question.allocation.size
    aim = span_at(about, point, min(size, about.count))
    if size in (aim.rank, whole.rank):
        return min(aim.rank, whole.rank)
    return aim.rank + whole.rank - aim.extended(whole.rows, point.p).rank


def asks_weights(given: str | Sequence[str]) -> bool:
    """Whether the target is the learnable weights: a recording without another target."""
    return given == WEIGHTS or list(given) == [WEIGHTS]


def weights_states(question: RecordingQuestion, fibre: Fibre) -> TargetStates:
    """The learnable weights (or parameters) as a target: free ones move in one direction each.

    Parameters
    ----------
    question : RecordingQuestion
    fibre : Fibre
        Of what is recorded.
    """
    free, names = set(fibre.free), question.parametrized.names
    states = (
        TargetState(f"{cell[0]}[{cell[1]},{cell[2]}]", names.cell(cell), int(cell in free))
        for cell in question.allocation.cells
    )
    return TargetStates(tuple(states), fibre.dimension, fibre.error)


def target_states(
    question: RecordingQuestion, chosen: frozenset[int], stop_below: Fraction
) -> TargetStates:
    """The free directions of a target, and of each of its elements.

    Parameters
    ----------
    question : RecordingQuestion
    chosen : frozenset of int
        Numbers of the recorded elements.
    stop_below : Fraction
        Points are added until the bound of the error is below this.
    """
    about, size = question.about_target, question.allocation.size
    part = question.restricted(chosen)
    bound = min(size, part.count)
    if part.effective is not None:
        bound = min(bound, int(part.effective.sum()))
    once = deficit_error(jacobian_of(question.bounding), max(1, size), bits=question.bits)
    # Random directions miss a rank with a probability of at most their number by the prime; they
    # are doubled until they are enough.
    once += Fraction(2 * _FEW_MOVES, 1 << (question.bits - 1))
    once *= len(about.elements) + 2
    best, free, error = -1, np.zeros(len(about.elements) + 1, np.int64), Fraction(1)
    known: Span | None = None
    if question.spanning <= chosen:
        if question.rank.rank == size:
            # No direction is left: proved.
            error = Fraction(0)
        elif part.effective is not None and question.rank.rank == part.effective.sum():
            # The rows span the unit vectors of the weights with an effect: proved.
            idle = np.flatnonzero(~part.effective)
            table = np.zeros((question.rank.rank, len(idle)), np.int64)
            known = Span(table, np.flatnonzero(part.effective), idle)
    for p, number in part.points() if error >= stop_below else ():
        if error < stop_below:
            break
        point = part.point(p, number)
        span = known or part.span(p, number, bound)
        if span.rank == size:
            # No direction is left: proved.
            free[:], error = 0, Fraction(0)
            break
        if span.rank < best:
            continue
        together = span_at(about, point, size, start=span).rank - span.rank
        found = np.append(_free_at(question, point, span), together)
        if span.rank > best or (found > free).any():
            # The points so far were unlucky.
            free = found if span.rank > best else np.maximum(free, found)
            best, error = span.rank, Fraction(1)
        error *= once
        if once >= 1:
            raise Unfinished(
                "what is free in the target cannot be bounded modulo primes below 2^61: fewer "
                "steps, fewer learnable weights, or a smaller target"
            )
    states = zip(about.elements, free[:-1].tolist(), strict=True)
    return TargetStates(
        tuple(
            TargetState(element.name, title(element, part.parametrized.names), count)
            for element, count in states
        ),
        int(free[-1]),
        error,
        0 if question.target is None else question.target.new,
    )


def _free_at(question: RecordingQuestion, point: Point, span: Span) -> np.ndarray:
    """Free directions of each element of the target at a point.

    The rank of an element's derivatives along the kernel of what is recorded is that along as many
    random vectors of the kernel as the element has numbers.
    """
    about, p, size = question.about_target, point.p, question.allocation.size
    free = np.zeros(len(about.elements), np.int64)
    moves = size - span.rank
    if not moves:
        return free
    count = min(moves, max(about.sizes))
    if count <= _FEW_MOVES and about.count * size > _AT_ONCE:
        return _free_along(about, point, span, count)
    step = max(1, _AT_ONCE * len(free) // max(1, about.count * size))
    for start in range(0, len(free), step):
        check_time()
        some = range(start, min(start + step, len(free)))
        rows, owner = about.rows(point, list(some))
        left = span.left(rows, p)
        for k in some:
            part = left[owner == k]
            free[k] = modular_rank(part, p) if part.any() else 0
    return free


def _free_along(about: RecordingQuestion, point: Point, span: Span, count: int) -> np.ndarray:
    """Free directions of each element, from the derivatives along random vectors of the kernel.

    An element with fewer free directions than there are vectors has as many as the rank of its
    derivatives along these: the vectors are doubled for all others, up to `count`.
    """
    p, free = point.p, np.zeros(len(about.elements), np.int64)
    rng = random.Random(f"free/{p}/{point.seed}")
    kernel, moves = span.kernel(p), about.allocation.size - span.rank
    owner = direction_of(about, point, kernel[0])[1]
    # The numbers of elements that are still open, those of one element side by side.
    kept = np.argsort(owner, kind="stable")
    kept = kept[owner[kept] < len(free)]
    along = np.zeros((0, len(kept)), np.int64)
    while len(kept):
        more = min(max(_FIRST_MOVES, len(along)), count - len(along))
        check_memory(2 * (len(along) + more) * along.shape[1] * 8, "what is free in the target")
        steps = matmul(random_residues((more, moves), p, rng), kernel, p)
        new = []
        for step in steps:
            check_time()
            new.append(direction_of(about, point, step)[0][kept])
        along = np.concatenate([along, new])
        elements, starts = np.unique(owner[kept], return_index=True)
        is_open = np.zeros(len(free), bool)
        for k, start, end in zip(elements, starts, [*starts[1:], len(kept)], strict=True):
            part = along[:, start:end]
            free[k] = modular_rank(part, p) if part.any() else 0
            is_open[k] = free[k] == len(along) < min(count, end - start)
        some = is_open[owner[kept]]
        kept, along = kept[some], along[:, some]
    return free
