r"""Capacities of programs that choose by signs: the largest over several activation patterns.

The labels of a network with ReLU, maxima or absolute values are one function on each set of weights
and samples with a given activation pattern, and ranks differ between these sets.  A rank on one of
them is a lower bound: near some weights, for some samples, so many parameters count.  It is *exact*
if it meets a bound for all patterns:

* the number of parameters that learn, minus the scales that only change these
  (`algebra.programs.scales`), minus k² for each update W + U Vᵀ of rank k (U G and V G⁻ᵀ give the
  same update for each invertible G).

A capacity is exact if it is the largest for which the labels are not more than that bound.  If the
number of samples is given, ranks may be limited by it: then they are lower bounds.
Probabilities of unlucky points are about one pattern.

Ranks at the model's own weights, or at given samples, are those of the Jacobian there if labels are
rational functions, and otherwise upper bounds of these that may be shown to be attained
(`algebra.questions.capacity.own_weights`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from algebra.errors import Unfinished
from algebra.programs.generic import Model, NoPattern
from algebra.questions.capacity.own_weights import is_attained
from algebra.questions.capacity.ranks import capacities, is_costly, largest_rank
from algebra.questions.capacity.result import Capacity, PointRank, Subset, SubsetCapacity
from algebra.time_limits import OutOfTime

# Where a rank was found: at generic weights, at those of the model, at given samples.
GENERIC, FILE, DATA = "generic", "file", "data"
NEVER = Fraction(0)


@dataclass(frozen=True)
class Piece:
    """Weights and samples at which ranks are found.

    Attributes
    ----------
    at : str
        "generic", "file" or "data".
    model : Model
    samples : int or None
        The number of samples, if they are given.
    """

    at: str
    model: Model
    samples: int | None = None


def capacities_on(
    pieces: Iterable[Piece],
    subsets: Sequence[Subset],
    *,
    name: str = "",
    learnable: Sequence[str] = (),
    m: int | None = None,
    needed: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Capacity:
    """Capacities of subsets, the largest on several pieces; parameters as for `capacities`.

    When the time or the memory limit is reached, or after an interrupt, what is known by then is
    returned.

    Later pieces are left out for subsets whose rank and capacity cannot be larger.

    Raises
    ------
    NoPattern
        If no piece has an activation pattern.
    """
    found: list[list[tuple[Piece, SubsetCapacity]]] = [[] for _ in subsets]
    whole: Capacity | None = None
    failure: NoPattern | None = None
    bounds: dict[int, int] = {}
    cut: list[int] = []
    others = iter(pieces)
    first = next(others)
    tried: set[str] = set()
    for number, piece in enumerate(_in_order(first, others, subsets)):
        open_ones = [k for k in range(len(subsets)) if not _settled(found[k], bounds.get(k), m)]
        if not open_ones:
            break
        count = piece.samples if m is None or piece.samples is None else min(m, piece.samples)
        try:
            part = capacities(
                piece.model, [subsets[k] for k in open_ones], name=name, learnable=learnable,
                m=m if count is None else count, needed=needed, seed=seed + number,
                progress=progress,
            )  # fmt: skip
        except NoPattern as error:
            failure = error
            continue
        except (OutOfTime, Unfinished, KeyboardInterrupt):
            if whole is None:
                raise
            cut = open_ones
            break
        whole = whole or replace(part, seed=seed)
        if not part.exactness.is_exact:
            whole = replace(whole, exactness=part.exactness)
        rows = list(part.subsets)
        for k in open_ones:
            if not rows or rows[0].name != subsets[k].name:
                cut.append(k)
                continue
            own = rows.pop(0)
            if own.name in part.unfinished:
                cut.append(k)
            found[k].append((piece, own))
            if ("choose" in piece.model.functions or own.of_samples) and k not in bounds:
                # All parameters count: then no scale leaves the labels as they are.
                bounds[k] = own.learnable
        try:
            for k in open_ones:
                if found[k] and found[k][-1][0] is piece:
                    own = found[k][-1][1]
                    exact = part.exactness.is_exact
                    if piece.model.is_given:
                        exact = _is_attained(piece, subsets[k], own, seed + number)
                    found[k][-1] = piece, replace(own, exact=exact)
                    if len(found[k]) == 1 and k in bounds:
                        bounds[k] = _bound(piece.model, subsets[k], own, m)
        except KeyboardInterrupt:
            cut = open_ones
        costly = any(is_costly(piece.model, own.samples) for own in part.subsets)
        tried.add(piece.at)
        # As many samples as the work permits, of which all labels are independent: no other piece
        # has more.
        full = all(own.rank == piece.model.outputs * own.samples for own in part.subsets)
        if cut or (costly and (full or tried >= {GENERIC, first.at})):
            break
    if whole is None:
        assert failure is not None
        raise failure
    valid = whole.exactness.is_exact
    kept = [k for k, own in enumerate(found) if own]
    joined = [_joined(found[k], bounds.get(k), m, valid) for k in kept]
    if valid:
        joined = _by_inclusion([subsets[k] for k in kept], joined)
    left = tuple(subsets[k].name for k in cut)
    return replace(whole, subsets=tuple(joined), unfinished=left)


def _bound(model: Model, subset: Subset, own: SubsetCapacity, m: int | None) -> int:
    """A bound of the rank of a subset on all patterns; its parameters if the time is over."""
    asked = m is not None or is_costly(model, own.samples)
    all_labels = own.rank == model.outputs * own.samples
    # Where the labels are all independent, and no more are asked, no scale lowers it.
    if own.rank < own.learnable and not (asked and all_labels):
        with suppress(OutOfTime):
            return largest_rank(model, subset)
    return own.learnable


def _is_attained(piece: Piece, subset: Subset, own: SubsetCapacity, seed: int) -> bool:
    """Whether a rank at given weights, and perhaps samples, is shown to be no upper bound."""
    if not piece.model.functions - {"choose"}:
        return True
    with suppress(OutOfTime):
        return is_attained(piece.model, subset, own.samples, own.rank, seed)
    return False


def _in_order(first: Piece, others: Iterator[Piece], subsets: Sequence[Subset]) -> Iterator[Piece]:
    """The pieces; of costly models a drawn one before that at the model's own weights.

    A rank there that meets the bound for all patterns needs no other piece.  At their own weights
    trained models have units that switch for no sample, which prevent it.
    """
    least = min(subset.learnable(first.model.program) for subset in subsets)
    if first.at == FILE and is_costly(first.model, least // first.model.outputs + 2):
        yield from itertools.islice(others, 1)
    yield first
    yield from others


def _by_inclusion(
    subsets: Sequence[Subset], found: Sequence[SubsetCapacity]
) -> list[SubsetCapacity]:
    """Lower bounds are at least those of the subsets that a subset contains."""
    out = []
    for subset, own in zip(subsets, found, strict=True):
        inside = [
            other
            for part, other in zip(subsets, found, strict=True)
            if set(part.names) <= set(subset.weights)
        ]
        if not own.exact and inside:
            rank, fits = (max(getattr(s, key) for s in inside) for key in ("rank", "capacity"))
            own = replace(own, rank=max(own.rank, rank), capacity=max(own.capacity, fits))
        out.append(own)
    return out


def _settled(
    found: Sequence[tuple[Piece, SubsetCapacity]], bound: int | None, m: int | None
) -> bool:
    """Whether ranks and capacities cannot be larger on other pieces, with m samples if given."""
    if bound is None or not found:
        return False
    rank, fits = (max(getattr(own, key) for _, own in found) for key in ("rank", "capacity"))
    d = found[0][0].model.outputs
    most, samples = bound, bound // d
    if m is not None:
        most, samples = min(bound, m * d), min(bound // d, m)
    return bool(rank == most and fits == samples)


def _not_above_generic(
    found: Sequence[tuple[Piece, SubsetCapacity]],
) -> Sequence[tuple[Piece, SubsetCapacity]]:
    """Upper bounds at given samples, no larger than those at generic ones.

    Where no sign chooses the labels are one analytic function, and no point has a larger rank than
    almost all have.
    """
    own = [one for piece, one in found if piece.at == GENERIC]
    smooth = not any("choose" in piece.model.functions for piece, _ in found)
    if not smooth or not own or not own[0].is_whole or any(one.of_samples for _, one in found):
        return found
    rank, fits = own[0].rank, own[0].capacity
    return [
        (piece, replace(
            one, rank=min(one.rank, rank), capacity=min(one.capacity, fits),
            reasons=one.reasons if one.rank <= rank else (),
        ))
        for piece, one in found
    ]  # fmt: skip


def _joined(
    found: Sequence[tuple[Piece, SubsetCapacity]], bound: int | None, m: int | None, valid: bool
) -> SubsetCapacity:
    """The largest rank and capacity of a subset; `valid` if ranks are no upper bounds."""
    found = _not_above_generic(found)
    # Of equal ranks one with a bound on the probability of an unlucky point.
    piece, best = max(found, key=lambda one: (one[1].rank, one[1].error_bound is not None))
    fits = max(one.capacity for _, one in found)
    teachers = [one.teacher_capacity for _, one in found]
    known = [value for value in teachers if value is not None]
    best = replace(
        best, capacity=fits, at=piece.at, on_patterns="choose" in piece.model.functions,
        points=tuple(PointRank(own.at, one.rank, one.capacity, one.exact) for own, one in found),
        # Where arbitrary labels can be fitted a teacher's can.
        teacher_capacity=max(*known, fits) if len(known) == len(teachers) else None,
    )  # fmt: skip
    if bound is None:
        drawn = [one for own, one in found if own.at == GENERIC and one.rank == best.rank]
        return replace(best, exact=valid and any(one.is_whole for one in drawn))
    if not valid or best.rank < bound or fits < bound // piece.model.outputs:
        least = bound if m is None else min(bound, m * piece.model.outputs)
        sure = valid and best.rank == least
        return replace(best, exact=False, error_bound=NEVER if sure else best.error_bound)
    # No pattern has a larger rank, and no point was unlucky.
    return replace(best, exact=True, of_samples=False, is_whole=True, error_bound=NEVER)
