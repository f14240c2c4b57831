r"""The number of samples that a set of parameters can fit: the ranks of the verb capacity.

Let J_A(m) be the Jacobian of the labels of m generic samples with respect to the parameters A.

* **Arbitrary labels** near the network's own can be fitted exactly (near generic weights) if J_A(m)
  has full row rank, by the inverse function theorem; if it does not, almost no small change of the
  labels can be.  Rows of samples are exchangeable, so the increments rank J_A(m+1) − rank J_A(m)
  are non-increasing (the rank of a union of spaces is submodular, and generic samples are
  exchangeable): the row rank is full up to some m, the *capacity*, and for no larger m.
* **A teacher's labels** (other weights of the same network, nearby) can be fitted if rank J_A(m) =
  rank J(m), where J is the Jacobian by all parameters.  If the columns of A span those of J for m +
  1 samples, they do so for m.

One elimination gives all these ranks: the rows are in the order of the samples, and the pivots are
the rows independent of earlier ones.  Since increments are non-increasing, rank J_A is constant
after the first increment 0.

`algebra.programs.formal` states what ranks at random points over GF(p) prove.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from algebra.errors import Unfinished
from algebra.linalg.primes import PRIME_SIZES, deficit_probability
from algebra.linalg.residues import Residues, random_residues
from algebra.linalg.short_primes import BITS as SHORT_BITS
from algebra.linalg.short_primes import WIDTH, unsigned
from algebra.memory_limits import (
    in_units,
    limit_for,
    limit_in_words,
    limited_memory,
    memory_limit,
    need_left,
)
from algebra.plugins.models.capacity.bounds import (
    LastLayer,
    affine_last_layer,
    largest_ranks,
    samples_of_all,
)
from algebra.plugins.models.capacity.reasons import bottleneck, reasons_of
from algebra.plugins.models.capacity.result import (
    LARGEST_ERROR,
    Capacity,
    Subset,
    SubsetCapacity,
)
from algebra.programs.degrees import entry_bound
from algebra.programs.generic import (
    SPARE,
    Columns,
    Model,
    NoPattern,
    ProgramPoint,
    argued,
    arguments_differ,
    independent_rows,
    is_sketched,
    least_memory,
    memory_beside_weights,
    need_sample,
    random_program_point,
    work_of_sample,
)
from algebra.programs.jacobian import ProgramCell
from algebra.programs.program import Program, matrix_shape
from algebra.programs.residues import NoResidues
from algebra.programs.scales import scales
from algebra.programs.tokens import number_of_samples
from algebra.time_limits import OutOfTime, phase, time_left, unlimited

# Largest number of multiplications of one rank if the number of samples is not given.
MOST_WORK = 1_500_000_000_000
# The same of the passes through the model.
MOST_PASSES = 250_000_000_000
# Bytes of an entry of the Jacobian, with copies.
_BYTES = 24
# The same if low-rank updates are among the columns.
_BYTES_OF_UPDATES = 64
# Of an entry of the blocks of an elimination, with copies (measured); of an integer of Python.
_BYTES_OF_BLOCKS = 48
_PYTHON = 48
# Samples for each one that would do if they were exchangeable, on activation patterns: after the
# first round, and at most.  Some units switch so seldom that ranks grow for ever longer.
_MORE_SAMPLES = 4
_MOST_MORE = 16
# Multiplications above which a rank that is a lower bound in any case, on an activation pattern, is
# not computed modulo a long prime as well, and one at the model's own weights, where some units may
# never switch, not with more samples.
_MOST_LONG = 5_000_000_000
# Entries of all values of all samples above which ranks on an activation pattern, which are lower
# bounds in any case, are those of one round of samples modulo a short prime.
MOST_VALUES = 1_000_000_000
# Number of samples from which, under a time limit, ranks of parts of them come first; the parts.
_LEAST_EARLY = 16
_EARLY = (512, 64, 8)
# At least a third of all primes may be drawn: −1 is a non-square modulo half of them.
_PRIMES = 3
# Points modulo short primes that are tried, where divisors may be 0.
_SHORT_POINTS = 3


def capacities(
    model: Model,
    subsets: Sequence[Subset],
    *,
    name: str = "",
    learnable: Sequence[str] = (),
    m: int | None = None,
    needed: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Capacity:
    """Capacities of subsets of a program's parameters, the smallest first.

    When the time limit is over, or after an interrupt, the finished ones are returned.

    Parameters
    ----------
    model : Model
    subsets : sequence of Subset
    name : str, optional
        The model's name.
    learnable : sequence of str, optional
        The teacher's parameters; all weights by default.
    m : int, optional
        Number of samples; by default as many as increase the ranks, if these are at most some
        thousand labels.
    needed : int, optional
        Number of samples that are to be fitted.
    seed : int, optional
        It determines the points.
    progress : callable, optional
        Called before each subset with the numbers of those done and of all.
    """
    program = model.program
    teacher = list(learnable or program.weights)
    rows: dict[int, SubsetCapacity] = {}
    order = sorted(range(len(subsets)), key=lambda k: subsets[k].learnable(program))
    whole: list[int] = []
    cut = set[int]()
    try:
        for done, k in enumerate(order):
            if progress is not None:
                progress(done, len(subsets))
            with limited_memory(None), phase(f"the ranks of {subsets[k].name}"):
                rows[k], whole, is_cut = _row(model, subsets[k], teacher, whole, m, seed)
            if is_cut:
                cut.add(k)
                break
    except (OutOfTime, Unfinished, KeyboardInterrupt) as error:
        if not rows or isinstance(error, NoPattern):
            raise
    left = tuple(subsets[k].name for k in sorted(set(order) - set(rows) | cut))
    shapes = program.weights
    parameters = sum(int(np.prod(shapes[n])) for n in teacher)
    with unlimited():
        exactness = argued(model, f"argued/{seed}")
    found = tuple(rows[k] for k in sorted(rows))
    return Capacity(name, model.outputs, parameters, found, exactness, seed, needed, left)


def row_of(
    model: Model,
    subset: Subset,
    teacher: Sequence[str],
    m: int | None,
    seed: int,
    explains: bool = True,
) -> tuple[SubsetCapacity, bool]:
    """The capacities of one subset, and whether a time limit ended the growth of its ranks.

    Parameters are those of `capacities`; without a teacher's parameters nothing is found of its
    labels, and reasons of redundancy if `explains`.
    """
    row, _, is_cut = _row(model, subset, teacher, [], m, seed, explains)
    return row, is_cut


def _row(
    model: Model,
    subset: Subset,
    teacher: Sequence[str],
    whole: list[int],
    m: int | None,
    seed: int,
    explains: bool = True,
) -> tuple[SubsetCapacity, list[int], bool]:
    """The capacities of one subset; ranks of all parameters, for more samples than before.

    Also whether the time limit ended the growth, so that they are lower bounds.
    """
    # Ranks of more weights than those of the subset are compared (`_exceeded`).
    others = set(teacher) - set(subset.names)
    need_sample(model, subset.names, [n for n in _from_the_end(model.program) if n in others][:2])
    growth = _grown(model, subset, m, seed)
    met = None
    if growth.is_cut or growth.full == growth.samples:
        # All labels are independent: then all parameters have the same ranks.
        met = growth.full
    elif not _is_all(subset, teacher):
        if is_costly(model, growth.samples) or _exceeded(model, subset, teacher, growth, seed):
            # Of a costly model this is a lower bound, as all its numbers are.
            met = growth.full
        else:
            most = min(growth.full + 1, growth.samples)
            if len(whole) < most:
                whole = _growth_of_all(model, teacher, most, seed)
            if _met(growth, whole) == len(whole) < growth.samples:
                whole = _growth_of_all(model, teacher, growth.samples, seed)
            met = _met(growth, whole)
    size = subset.learnable(model.program)
    rank = growth.ranks[-1]
    # On a pattern a unit may switch that did not switch for any sample so far.
    is_whole = growth.is_whole and ("choose" not in model.functions or rank == size)
    reasons = () if growth.is_cut or not explains else reasons_of(
        model, subset, growth.samples, rank, growth.is_whole, seed
    )  # fmt: skip
    row = SubsetCapacity(
        subset.name, size, rank, growth.full, met, size // model.outputs, growth.samples,
        is_whole, tuple(growth.ranks), reasons, growth.error,
        of_samples=_of_samples(model, growth),
        bottleneck=bottleneck(model.program, subset.names) if not growth.full else 0,
    )  # fmt: skip
    return row, whole, growth.is_cut


def is_costly(model: Model, samples: int) -> bool:
    """Whether values at so many samples take so long that few ranks are found: see `MOST_VALUES`.

    Only of models that choose by signs.
    """
    nodes = model.program.nodes
    if "choose" not in model.functions:
        return False
    needed = model.program.needed([model.program.output])
    return samples * sum(nodes[k].size for k in needed if nodes[k].batched) > MOST_VALUES


def _exceeded(
    model: Model, subset: Subset, teacher: Sequence[str], growth: _Growth, seed: int
) -> bool:
    """Whether all parameters are shown to have a larger rank after the samples that are fitted.

    With some parameters more, the nearest to the labels: the rank of all is no smaller, and a
    derivative by these needs no pass through the layers before them.
    """
    d, full = model.outputs, growth.full
    if full and growth.ranks[full - 1] < d * full:
        return False
    layer = affine_last_layer(model.program)
    if layer is not None and layer.weight in teacher and layer.weight not in subset.names:
        last = Subset("last", (layer.weight,))
        ranks, _ = _short_ranks(model, last, full + 1, seed, "capacity/last")
        if ranks[full] > growth.ranks[full]:
            return True
    shapes, wanted = model.program.weights, 2 * (d * (full + 1) - growth.ranks[full]) + 64
    more: list[str] = []
    for name in _from_the_end(model.program):
        if wanted > 0 and name in teacher and name not in subset.names:
            more.append(name)
            wanted -= prod(shapes[name])
    if not more:
        return False
    larger = Subset("more", (*subset.weights, *more), subset.low_rank)
    ranks, _ = _short_ranks(model, larger, full + 1, seed, "capacity/more")
    return ranks[full] > growth.ranks[full]


def _from_the_end(program: Program) -> list[str]:
    """The weights in the order of the first operations that depend on them, the last first."""
    first: dict[str, int] = {}
    alone: dict[int, set[str]] = {}
    for number, node in enumerate(program.nodes):
        names = {name for k in node.inputs for name in alone.get(k, ())}
        if node.op == "block" and not node.batched:
            names = {node.name}
        if node.batched:
            for name in names:
                first.setdefault(name, number)
        else:
            alone[number] = names
    return sorted(first, key=lambda name: -first[name])


def _of_samples(model: Model, growth: _Growth) -> bool:
    """Whether other token samples than those that were drawn may give more."""
    if not model.draws_tokens:
        return False
    every = number_of_samples(model.program, model.tokens)
    return (
        every is None or growth.samples < every or growth.full < growth.ranks[-1] // model.outputs
    )


def whole_rank(
    model: Model, names: Sequence[str], seed: int = 0, m: int | None = None
) -> tuple[int, int, bool]:
    """Rank with respect to parameters, with as many samples as increase it.

    Parameters
    ----------
    model : Model
    names : sequence of str
    seed : int, optional
    m : int, optional
        The number of samples; by default as many as increase the rank.

    Returns
    -------
    tuple of (int, int, bool)
        The rank; the number of samples; whether more samples would not increase it, as far as
        known.
    """
    found = _grown(model, Subset("all", tuple(names)), m, seed, is_one_of_many=False)
    return found.ranks[-1], found.samples, found.is_whole


def _is_all(subset: Subset, teacher: Sequence[str]) -> bool:
    return set(teacher) <= set(subset.weights)


@dataclass(frozen=True)
class _Growth:
    ranks: list[int]
    samples: int
    full: int
    is_whole: bool
    error: Fraction | None
    # Whether the time limit ended at more samples, so that these are lower bounds.
    is_cut: bool = False


def _growth(rows: Sequence[int], m: int, d: int) -> list[int]:
    counts = np.bincount(np.array(rows, np.int64) // d, minlength=m)
    return [int(v) for v in np.cumsum(counts)]


def _most_samples(model: Model, subset: Subset, entry: int = _BYTES) -> int:
    """The number of samples whose values and rank fit into the memory limit and `MOST_WORK`.

    An entry of the Jacobian takes so many bytes.
    """
    size = subset.learnable(model.program)
    sweep = work_of_sample(
        model.program, frozenset(subset.names), with_signs="choose" in model.functions
    )
    later = least_memory(model, subset.names)
    d, limit = model.outputs, memory_beside_weights(model, later)
    # Inputs as residues and as doubles, with the random words that they are drawn from.
    inputs = 32 * sum(map(prod, model.program.samples.values()))

    def width_of(rows: int) -> int:
        """Columns: of updates all, otherwise combinations if they are many (`Columns`)."""
        return size if subset.low_rank or not is_sketched(size, rows) else rows + SPARE

    def memory(samples: int) -> int:
        rows = d * samples
        width = width_of(rows)
        # Blocks of the elimination, and Python's integers on their way to it.
        blocks = _BYTES_OF_BLOCKS * max(width, rows) * min(rows, width, WIDTH)
        blocks += _PYTHON * min(rows, width, WIDTH) ** 2
        return entry * rows * width + blocks + inputs * samples

    def fits(samples: int) -> bool:
        rows = d * samples
        width = width_of(rows)
        work = rows * width * (min(rows, width) + (2 * size if size > 4 * rows else 0))
        passes = sweep * samples <= MOST_PASSES
        return work <= MOST_WORK and passes and memory(samples) <= limit

    needed = memory(2) + memory_limit() - limit
    need_left(needed, "two samples and the weights take", later)
    least, most = 2, 4
    while fits(most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle) else (least, middle)
    return least


def _grown(
    model: Model, subset: Subset, m: int | None, seed: int, is_one_of_many: bool = True
) -> _Growth:
    """Ranks of 1, 2, … samples: of m, or of as many as increase the rank."""
    d, size = model.outputs, subset.learnable(model.program)
    entry = _BYTES_OF_UPDATES if subset.low_rank else _BYTES
    most = _most_samples(model, subset, entry)
    # On a pattern samples are not exchangeable: some hundred may pass before one that adds.  Nor
    # are tokens, of which there are finitely many.
    chooses = "choose" in model.functions or model.draws_tokens
    every = number_of_samples(model.program, model.tokens) if model.draws_tokens else None
    most = most if every is None else min(most, every)
    if "choose" in model.functions:
        most = min(most, max(2, _MOST_MORE * (size // d + 2)))
    first = max(size // d + 1, samples_of_all(model.program, subset)) + 1
    samples, more = m or min(first, most), _MORE_SAMPLES if chooses else 2
    entries = d * min(size, d * samples) + sum(map(prod, model.program.samples.values()))
    left, taken = memory_beside_weights(model), entry * samples * entries
    if m is not None and taken > left:
        raise Unfinished(
            f"{m} samples take about {in_units(taken)} of memory, more than the limit "
            f"({limit_in_words()}): ask for fewer, or raise `memory` to "
            f"{limit_for(max(taken + memory_limit() - left, least_memory(model, subset.names)))}"
        )
    done: list[int] = []
    early = _EARLY if samples >= _LEAST_EARLY and not math.isinf(time_left()) else ()
    parts = sorted({samples // share for share in early} - {0})
    while True:
        try:
            for part in parts:
                done, _ = _short_ranks(model, subset, part, seed)
            ranks, proved = _short_ranks(model, subset, samples, seed)
        except (OutOfTime, KeyboardInterrupt):
            if not done:
                raise
            return _Growth(done, len(done), _full(done, d), False, None, is_cut=True)
        parts = []
        done = ranks
        # If the last sample adds nothing, or all parameters count, no later sample adds anything.
        # On activation patterns, and of tokens, half of them must add nothing.
        last = 1 + (samples // 2 if chooses else 0)
        costly = is_costly(model, samples)
        rows = d * samples
        following = d * min(more * samples, most)
        stops = is_one_of_many and "choose" in model.functions and model.is_given
        stops = stops and following * size * min(following, size) > _MOST_LONG
        ends = m is not None or samples >= most or costly or stops
        bounds = "choose" in model.functions and (
            costly or (stops and m is None) or rows * size * min(rows, size) > _MOST_LONG
        )
        error: Fraction | None = None if bounds and not proved else Fraction(0)
        if not proved and not bounds and (ends or samples == every or _stands(ranks, size, last)):
            ranks, error = _long_ranks(model, subset, samples, seed, least=ranks)
        # A bound that holds for all samples may be met.
        is_met = proved and ranks[-1] < d * samples
        is_whole = (
            is_met
            or samples == every
            or (
                _stands(ranks, size, last)
                and not (costly and ranks[-1] < size)
                and (ranks[-1] == size or samples > size // d + 2 or more == 2)
            )
        )
        if ends or is_whole:
            return _Growth(ranks, samples, _full(ranks, d), is_whole, error)
        samples, more = min(more * samples, most), 2


def _full(ranks: Sequence[int], d: int) -> int:
    """The number of samples whose d labels are independent of those before.

    If samples are not exchangeable these are independent of each other.
    """
    return sum(1 for k, value in enumerate(ranks) if value - (ranks[k - 1] if k else 0) == d)


def _stands(ranks: Sequence[int], size: int, last: int) -> bool:
    """Whether all parameters count, or the last samples add nothing."""
    return ranks[-1] == size or (len(ranks) > last and ranks[-1] == ranks[-1 - last])


def _ranks(
    model: Model, subset: Subset, m: int, seed: int, stream: str = "capacity"
) -> tuple[list[int], Fraction | None]:
    """Ranks of 1, …, m samples, and the bound on the probability that one is too small."""
    ranks, proved = _short_ranks(model, subset, m, seed, stream)
    return (ranks, Fraction(0)) if proved else _long_ranks(model, subset, m, seed, stream, ranks)


def _short_ranks(
    model: Model, subset: Subset, m: int, seed: int, stream: str = "capacity"
) -> tuple[list[int], bool]:
    """Ranks of 1, …, m samples modulo a short prime, and whether they are proved.

    If all are as large as possible modulo one short prime, nothing else is computed: as many as
    labels, or as parameters that remain without scales (`algebra.programs.scales`) and without the
    gauge of low-rank updates.
    """
    d, size = model.outputs, subset.learnable(model.program) - _gauge(model, subset)
    if is_costly(model, m) and _has_regular_features(model, subset, m):
        return [min(d * (k + 1), size) for k in range(m)], True
    for attempt in range(_SHORT_POINTS):
        try:
            # The same for all that is compared: a point with roots takes long to find.
            point = random_program_point(
                model, m, f"capacity/{seed}/short/{attempt}", bits=SHORT_BITS
            )
            ranks = _ranks_at(model, subset, m, point, f"{stream}/{seed}", some=True)
        except NoResidues:
            continue
        program = model.program
        if ranks == largest_ranks(program, subset, m, size):
            return ranks, True
        least = size if ranks[-1] == d * m else largest_rank(model, subset)
        return ranks, ranks == largest_ranks(program, subset, m, least)
    return [0] * m, False


def _long_ranks(
    model: Model,
    subset: Subset,
    m: int,
    seed: int,
    stream: str = "capacity",
    least: Sequence[int] = (),
) -> tuple[list[int], Fraction | None]:
    """`_ranks` modulo a long prime, or a second short one if no bound is known of either.

    Large ranks for which a long prime gives no bound are only confirmed at another point: a product
    modulo a long prime is six modulo a short one.

    With square roots, ranks at points with free roots are upper bounds; if the ranks `least` at a
    point at which all roots exist, modulo a short prime, are the same, no other such point is
    searched.

    Raises
    ------
    NoPattern
        If a value does not exist, such as a quotient by a weight of the model that is 0.
    """

    def ranks_at(
        seed_of_point: str, strict: bool, few: int = m, bits: int = PRIME_SIZES.long
    ) -> tuple[list[int], ProgramPoint]:
        point = random_program_point(model, few, f"{stream}/{seed}{seed_of_point}", strict, bits)
        return _ranks_at(model, subset, few, point, f"{stream}/{seed}"), point

    known, free = list(least), None
    is_large = known and known[-1] ** 2 * subset.learnable(model.program) > _MOST_LONG
    if is_large and _deficit_error(model, subset, known) is None:
        with suppress(NoResidues):
            few = _growing(model, known)
            if ranks_at("/again", False, few, SHORT_BITS)[0] == known[:few]:
                return known, None
    try:
        if known and "root" in model.functions:
            free = ranks_at("/free", False)
        found = free if free and free[0] == known else ranks_at("", True)
    except NoResidues as missing:
        raise NoPattern(str(missing)) from None
    ranks, point = found
    if point.is_free:
        return ranks, _deficit_error(model, subset, ranks, point)
    if _deficit_error(model, subset, ranks) == 0:
        return ranks, Fraction(0)
    # The bound is that of a point on no variety.
    with suppress(NoResidues):
        free = free or ranks_at("/free", False)
        if free[0] == ranks:
            return ranks, _deficit_error(model, subset, ranks, free[1])
    return ranks, None


def _growing(model: Model, ranks: Sequence[int]) -> int:
    """The number of samples that determine all these ranks.

    Increments of exchangeable samples do not increase, so that ranks are constant after one of 0.
    """
    if "choose" in model.functions or model.draws_tokens or model.inputs:
        return len(ranks)
    return next((k for k in range(2, len(ranks)) if ranks[k - 1] == ranks[k - 2]), len(ranks))


def _ranks_at(
    model: Model, subset: Subset, m: int, point: ProgramPoint, stream: str, some: bool = False
) -> list[int]:
    """Ranks at a point; of a part of the columns if `some` and there are many more than rows."""
    columns, rng = Columns(model, point, m, subset.names), random.Random(stream)
    layer = _own_last_layer(model, subset)
    if layer is not None:
        return _last_layer_ranks(model, columns, layer, layer.bias in subset.weights)
    rows = model.outputs * m
    if some and not subset.low_rank and subset.learnable(model.program) > 2 * rows + 64:
        J = columns.of(_some_cells(model, subset.weights, rows + rows // 4 + 32, rng))
    else:
        J = _subset_columns(columns, subset, rng)
    return _growth(independent_rows(J, point.p), m, model.outputs)


def _own_last_layer(model: Model, subset: Subset) -> LastLayer | None:
    """The affine last layer, if its weight learns, perhaps its bias, and nothing else."""
    layer = affine_last_layer(model.program)
    if layer is None or layer.weight not in subset.weights or model.support:
        return None
    return layer if set(subset.names) <= {layer.weight, layer.bias} else None


def _has_regular_features(model: Model, subset: Subset, m: int) -> bool:
    """Whether all parameters of a last layer surely count, by values in doubles.

    A matrix that is regular at a real point is regular near it, on whatever activation patterns.
    """
    layer = _own_last_layer(model, subset)
    shown = getattr(model.patterns, "has_regular", None)
    if layer is None or shown is None:
        return False
    return bool(shown(m, layer.features, layer.bias in subset.weights))


def _last_layer_ranks(
    model: Model, columns: Columns, layer: LastLayer, has_bias: bool
) -> list[int]:
    """Ranks of 1, 2, … samples by an affine last layer: those of its features, times d."""
    d, m, shape = model.outputs, columns.m, model.program.weights[layer.weight]
    places = np.unravel_index(layer.row, shape)
    J = columns.of([(layer.weight, *map(int, at)) for at in zip(*places, strict=True)])
    rows = J.reshape(m, d, -1)
    label = int(rows.any(axis=(0, 2)).argmax())
    features = rows[:, label]
    if has_bias:
        features = np.concatenate([features, np.ones((m, 1), features.dtype)], axis=1)
    return [d * rank for rank in _growth(independent_rows(features, columns.p), m, 1)]


def _gauge(model: Model, subset: Subset) -> int:
    """Directions of U and V that do not change W + U Vᵀ (p × q) to first order.

    For U and V of rank r = min(k, p, q), as almost all are, the changes of W are the tangent space
    of the matrices of rank r, of dimension r (p + q − r).  For k ≤ p, q the directions are
    (U A, −V Aᵀ).
    """
    total = 0
    for name, k in (subset.low_rank or {}).items():
        shape = matrix_shape(model.program.weights[name])
        rank = min(k, *shape)
        total += k * sum(shape) - rank * (sum(shape) - rank)
    return total


def largest_rank(model: Model, subset: Subset) -> int:
    """A bound of the rank of a subset for all weights, samples and activation patterns."""
    key = frozenset(subset.weights)
    kept = model.program.scale_counts
    if model.support or key not in kept:
        free = scales(model.program, subset.weights, support=model.support) or 0
        if not model.support:
            kept[key] = free
    else:
        free = kept[key]
    return subset.learnable(model.program) - free - _gauge(model, subset)


def _some_cells(
    model: Model, names: Sequence[str], count: int, rng: random.Random
) -> list[ProgramCell]:
    """Random cells that exist."""
    masks = [
        np.asarray(model.support.get(name, np.ones(model.program.weights[name], bool)))
        for name in names
    ]
    places = [np.flatnonzero(mask) for mask in masks]
    ends = np.cumsum([len(own) for own in places])
    out: list[ProgramCell] = []
    for number in sorted(rng.sample(range(int(ends[-1])), min(count, int(ends[-1])))):
        k = int(np.searchsorted(ends, number, side="right"))
        flat = places[k][number - int(ends[k])]
        out.append((names[k], *(int(i) for i in np.unravel_index(flat, masks[k].shape))))
    return out


def _deficit_error(
    model: Model, subset: Subset, ranks: list[int], point: ProgramPoint | None = None
) -> Fraction | None:
    """Bound on the probability that one of these ranks is too small because of an unlucky point.

    None if it is larger than `LARGEST_ERROR`; then it is seen whether arguments of formal values
    meet at the point, if one is given.

    If square roots exist at the point it lies on a variety, for which the bound is not proved.
    Ranks with free roots are upper bounds for which it is; so the bound holds if these are equal.
    """
    size = subset.learnable(model.program) - _gauge(model, subset)
    most = largest_ranks(model.program, subset, len(ranks), size)
    short = [bound for found, bound in zip(ranks, most, strict=True) if found < bound]
    if not short:
        return Fraction(0)
    entries = entry_bound(model.program, len(ranks), model.values, model.updates)
    shapes = model.program.weights
    more = max((prod(shapes[name]) for name in subset.low_rank or {}), default=0)
    degree = int(more > 0)
    whole = sum(prod(shapes[name]) for name in subset.weights)
    if is_sketched(whole, model.outputs * len(ranks)):
        # Combinations of columns have these numbers as variables, too.
        more, degree = more + whole, max(1, *(len(shapes[name]) for name in subset.names))

    def error_of(meetings: int) -> Fraction:
        return len(short) * deficit_probability(
            max(short), entries.degree + degree, entries.bits + more.bit_length(), meetings,
            share=_PRIMES,
        )  # fmt: skip

    error = error_of(entries.meetings)
    if error > LARGEST_ERROR and point is not None and arguments_differ(model, point, len(ranks)):
        bound = entry_bound(model.program, len(ranks), model.values, model.updates, differ=True)
        error = error_of(bound.meetings)
    return error if error <= LARGEST_ERROR else None


def _subset_columns(columns: Columns, subset: Subset, rng: random.Random) -> Residues:
    parts = [columns.sketched(subset.weights, rng)] if subset.weights else []
    for name, k in (subset.low_rank or {}).items():
        parts.append(_low_rank_columns(columns, name, k, rng))
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(
        [unsigned(part, columns.p) for part in parts],
        axis=1,
    )


def _low_rank_columns(columns: Columns, name: str, k: int, rng: random.Random) -> Residues:
    """Derivatives by U and V of W + U Vᵀ, at a random point (W + U Vᵀ is random where W is).

    At a model's own weights updates start: U is 0.
    """
    if name in columns.point.factors:
        return columns.low_rank(name, *columns.point.factors[name])
    rows, inner = matrix_shape(columns.model.program.weights[name])
    U, V = (random_residues((size, k), columns.p, rng) for size in (rows, inner))
    return columns.low_rank(name, U * 0 if columns.model.is_given else U, V)


def _growth_of_all(model: Model, names: Sequence[str], m: int, seed: int) -> list[int]:
    """Ranks of 1, …, m samples with respect to all parameters."""
    return _ranks(model, Subset("all", tuple(names)), m, seed, "capacity/all")[0]


def _met(growth: _Growth, whole: Sequence[int]) -> int | None:
    """The samples up to which a subset's rank is that of all parameters; None if unlimited."""
    common = min(len(whole), growth.samples)
    same = sum(1 for k in range(common) if growth.ranks[k] == whole[k])
    if same < common:
        return same
    stands = growth.is_whole and len(whole) > 1 and whole[-1] == whole[-2]
    return None if stands else same
