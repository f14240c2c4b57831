r"""Capacities where training goes, beside those at a model's own weights.

What is frozen has its values and what learns is generic: *where training goes*.  At the model's own
weights ranks are no larger, as those of a special case.  *Any weights* of the architecture, if they
are asked for, may have larger ranks: a frozen matrix of low rank, or a gate that is 0, is special.

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
(`algebra.plugins.models.capacity.own_weights`).  The same shows that an upper bound where training
goes is attained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from algebra.errors import Unfinished
from algebra.memory_limits import limited_memory
from algebra.plugins.models.capacity.own_weights import is_attained
from algebra.plugins.models.capacity.ranks import is_costly, largest_rank, row_of
from algebra.plugins.models.capacity.result import Capacity, PointRank, Subset, SubsetCapacity
from algebra.programs.generic import Exactness, Model, NoPattern, argued
from algebra.programs.program import Program
from algebra.time_limits import OutOfTime, phase, unlimited

# Where a rank was found: at the weights of the model, at given samples too, where training goes,
# at any weights.
FILE, DATA, TRAINING, ANY = "file", "data", "training", "any"
NEVER = Fraction(0)


@dataclass(frozen=True)
class Piece:
    """Weights and samples at which ranks are found.

    Attributes
    ----------
    at : str
        "file", "data", "training" or "any".
    model : Model
    samples : int or None
        The number of samples, if they are given.
    """

    at: str
    model: Model
    samples: int | None = None


@dataclass(frozen=True)
class Settings:
    """What is the same for all subsets: as for
    `algebra.plugins.models.capacity.ranks.capacities`."""

    learnable: Sequence[str] = ()
    m: int | None = None
    seed: int = 0


Pieces = Callable[[Subset], Iterable[Piece]]


def capacities_on(
    program: Program,
    pieces: Pieces,
    subsets: Sequence[Subset],
    *,
    name: str = "",
    learnable: Sequence[str] = (),
    m: int | None = None,
    needed: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    anywhere: Pieces | None = None,
) -> Capacity:
    """Capacities of subsets, the smallest first.

    When the time or the memory limit is reached, or after an interrupt, what is known by then is
    returned.

    Parameters
    ----------
    program : Program
    pieces : callable
        The pieces of a subset: those at the model's own weights, then those where training goes.
        Later ones are left out if rank and capacity cannot be larger.
    subsets : sequence of Subset
    name, learnable, m, needed, seed, progress
        As for `algebra.plugins.models.capacity.ranks.capacities`.
    anywhere : callable, optional
        The pieces of a subset at any weights, for ranks and capacities there.

    Raises
    ------
    NoPattern
        If no piece of a subset has an activation pattern.
    """
    settings = Settings(learnable or list(program.weights), m, seed)
    order = sorted(range(len(subsets)), key=lambda k: subsets[k].learnable(program))
    rows: dict[int, SubsetCapacity] = {}
    exact: list[Exactness] = []
    cut: list[int] = []
    try:
        for done, k in enumerate(order):
            if progress is not None:
                progress(done, len(subsets))
            with limited_memory(None), phase(f"the ranks of {subsets[k].name}"):
                search = _SubsetSearch(subsets[k], settings)
                try:
                    search.run(pieces(subsets[k]))
                    if anywhere is not None:
                        search.anywhere(anywhere(subsets[k]))
                finally:
                    if search.found:
                        rows[k] = search.row()
                        exact += search.exactness
                        cut += [k] if search.is_cut else []
            if cut:
                break
    except (OutOfTime, Unfinished, KeyboardInterrupt) as error:
        if not rows or isinstance(error, NoPattern):
            raise
    kept = sorted(rows)
    joined = _by_inclusion([subsets[k] for k in kept], [rows[k] for k in kept])
    left = sorted({*order} - {*rows} | {*cut})
    shapes = program.weights
    return Capacity(
        name, program.nodes[program.output].size,
        sum(Subset("all", (n,)).learnable(program) for n in settings.learnable if n in shapes),
        tuple(joined), _worst(exact), seed, needed, tuple(subsets[k].name for k in left),
    )  # fmt: skip


def _worst(found: Sequence[Exactness]) -> Exactness:
    """The exactness of all rows: that of one that is not exact, if there is one."""
    least = Exactness(True, "lower bounds, those at the model's own weights")
    return next((one for one in found if not one.is_exact), found[0] if found else least)


class _SubsetSearch:
    """The ranks of a subset, piece after piece."""

    def __init__(self, subset: Subset, settings: Settings) -> None:
        self.subset, self.settings = subset, settings
        self.found: list[tuple[Piece, SubsetCapacity]] = []
        self.exactness: list[Exactness] = []
        self.bound: int | None = None
        self.is_cut = True
        self.any_weights: PointRank | None = None

    def run(self, pieces: Iterable[Piece]) -> None:
        """The ranks on pieces, until none can be larger.

        Raises
        ------
        NoPattern
            If no piece where training goes has a pattern.
        """
        failure: NoPattern | None = None
        trained = False
        for number, piece in enumerate(pieces):
            if trained and self._settled():
                break
            try:
                row, is_cut = self._row(piece, number)
            except NoPattern as error:
                failure = error
                continue
            self.found.append((piece, row))
            if is_cut:
                return
            trained = trained or piece.at == TRAINING
            costly = is_costly(piece.model, row.samples)
            if trained and costly:
                break
        if not trained:
            assert failure is not None
            raise failure
        self.is_cut = False

    def anywhere(self, pieces: Iterable[Piece]) -> None:
        """The largest rank and capacity at any weights."""
        other = _SubsetSearch(self.subset, self.settings)
        self.is_cut = True
        other.run(replace(piece, at=TRAINING) for piece in pieces)
        found = other.row()
        self.any_weights = PointRank(ANY, found.rank, found.capacity, found.exact)
        self.is_cut = False

    def _row(self, piece: Piece, number: int) -> tuple[SubsetCapacity, bool]:
        m, seed = self.settings.m, self.settings.seed + number
        count = piece.samples if m is None or piece.samples is None else min(m, piece.samples)
        own = piece.at != TRAINING
        teacher = () if own else self.settings.learnable
        row, is_cut = row_of(
            piece.model, self.subset, teacher, m if count is None else count, seed,
            explains=piece.at != FILE,
        )  # fmt: skip
        smooth = piece.model.functions - {"choose"}
        if own:
            return replace(row, exact=not smooth or self._is_attained(piece, row, seed)), is_cut
        if not self.exactness:
            self.exactness.append(self._exactness(piece, row, seed, is_cut))
            if "choose" in piece.model.functions or row.of_samples:
                self.bound = _bound(piece.model, self.subset, row, m)
        return replace(row, exact=self.exactness[0].is_exact), is_cut

    def _exactness(self, piece: Piece, row: SubsetCapacity, seed: int, is_cut: bool) -> Exactness:
        """Whether a rank where training goes is exact.

        At frozen values arguments of exponentials are seldom independent, and a minor is shown
        regular sooner than that.
        """
        shown = Exactness(True, "exact (a regular minor in ball arithmetic)")
        first = bool(piece.model.values) and bool(piece.model.functions - {"choose"})
        if first and not is_cut and self._is_attained(piece, row, seed):
            return shown
        with unlimited():
            known = argued(piece.model, f"argued/{seed}")
        if first or known.is_exact or is_cut or not self._is_attained(piece, row, seed):
            return known
        return shown

    def _is_attained(self, piece: Piece, row: SubsetCapacity, seed: int) -> bool:
        """Whether a rank of formal values is shown to be no upper bound."""
        with suppress(OutOfTime):
            return is_attained(piece.model, self.subset, row.samples, row.rank, seed)
        return False

    def _settled(self) -> bool:
        """Whether ranks and capacities cannot be larger on other pieces, for m samples if given."""
        if self.bound is None:
            return False
        valid = [own for piece, own in self.found if own.exact or piece.at == TRAINING]
        rank, fits = (max(getattr(own, key) for own in valid) for key in ("rank", "capacity"))
        d, m = self.found[0][0].model.outputs, self.settings.m
        most, samples = self.bound, self.bound // d
        if m is not None:
            most, samples = min(most, m * d), min(samples, m)
        return bool(rank == most and fits == samples)

    def row(self) -> SubsetCapacity:
        """The largest rank and capacity of the subset where training goes."""
        own = [(piece, row) for piece, row in self.found if piece.at != TRAINING]
        training = [(piece, row) for piece, row in self.found if piece.at == TRAINING]
        valid = bool(self.exactness) and self.exactness[0].is_exact
        smooth = not any("choose" in piece.model.functions for piece, _ in self.found)
        if smooth and training and training[0][1].is_whole and not training[0][1].of_samples:
            own = [(piece, _not_above(row, training[0][1])) for piece, row in own]
        points = tuple(_point(piece, row) for piece, row in (*own, *training))
        # Ranks at the model's own weights are lower bounds of those where training goes.
        usable = training + [(piece, row) for piece, row in own if row.exact]
        if not training:
            first = own[0][1]
            rank, fits = (first.rank, first.capacity) if first.exact else (0, 0)
            return replace(
                first, rank=rank, capacity=fits, teacher_capacity=fits, is_whole=False,
                exact=False, reasons=(), points=points, at_weights=points[0],
                on_patterns=not smooth, error_bound=NEVER if not rank else first.error_bound,
            )  # fmt: skip
        # Of equal ranks one with a bound on the probability of an unlucky point.
        _, best = max(usable, key=lambda one: (one[1].rank, one[1].error_bound is not None))
        fits = max(one.capacity for _, one in usable)
        teachers = [one.teacher_capacity for _, one in training]
        known = [value for value in teachers if value is not None]
        # What is lost for given samples only.
        lost = [
            replace(reason, reason=f"{reason.reason}, here" if reason.reason else "here")
            for _, row in own
            for reason in row.reasons
            if reason not in best.reasons
        ]
        best = replace(
            best, capacity=fits, reasons=(*best.reasons, *lost), on_patterns=not smooth,
            points=points, at_weights=points[0] if own else None, any_weights=self.any_weights,
            # Where arbitrary labels can be fitted a teacher's can.
            teacher_capacity=max(*known, fits) if len(known) == len(teachers) else None,
        )  # fmt: skip
        if self.bound is None:
            drawn = [one for _, one in training if one.rank == best.rank]
            return replace(best, exact=valid and any(one.is_whole for one in drawn))
        outputs, m = self.found[0][0].model.outputs, self.settings.m
        if not valid or best.rank < self.bound or fits < self.bound // outputs:
            least = self.bound if m is None else min(self.bound, m * outputs)
            sure = valid and best.rank == least
            return replace(best, exact=False, error_bound=NEVER if sure else best.error_bound)
        # No pattern has a larger rank, and no point was unlucky.
        return replace(best, exact=True, of_samples=False, is_whole=True, error_bound=NEVER)


def _point(piece: Piece, row: SubsetCapacity) -> PointRank:
    least = piece.at != TRAINING and piece.samples is None and not row.is_whole
    return PointRank(piece.at, row.rank, row.capacity, row.exact, least)


def _not_above(row: SubsetCapacity, most: SubsetCapacity) -> SubsetCapacity:
    """Upper bounds at given weights, no larger than ranks where training goes.

    Where no sign chooses the labels are one analytic function, and no point has a larger rank than
    almost all have.
    """
    return replace(
        row, rank=min(row.rank, most.rank), capacity=min(row.capacity, most.capacity),
        reasons=row.reasons if row.rank <= most.rank else (),
    )  # fmt: skip


def _bound(model: Model, subset: Subset, own: SubsetCapacity, m: int | None) -> int:
    """A bound of the rank of a subset on all patterns; its parameters if the time is over."""
    asked = m is not None or is_costly(model, own.samples)
    all_labels = own.rank == model.outputs * own.samples
    # Where the labels are all independent, and no more are asked, no scale lowers it.
    if own.rank < own.learnable and not (asked and all_labels):
        with suppress(OutOfTime):
            return largest_rank(model, subset)
    return own.learnable


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
