"""Rows of elements that may be recorded, computed when a search needs them.

A recording of 300 neurons at ten steps for sixty samples has 180,000 rows; a few neurons suffice
for the result and for its proof.  So the rows of an element are computed when a search needs them,
for several elements at once, and the increase of the rank by other elements is bounded without
their rows.

**Reach.** If paths are short, the numbers of a unit at step t depend on few weights.  Let C_t(U) be
the weights that a number of the units U at steps 1, …, t depends on, and n_t(U) the count of
numbers at step t.  The rank f(U) of the rows of U satisfies, for each t,

.. math:: f(U) ≤ |C_t(U)| + n_{t+1}(U) + … + n_T(U),

because at most C_t(U) columns of the rows of the first t steps are not 0.  (In a circuit with an
activation these are the weights on paths to the units, `algebra.networks.rnn.UnitPaths`.  In other
networks the factors of the derivatives, Σ_s L_s ⊗ R_s, show them: a weight without a nonzero term
is not among them.  A step of a linear recurrent network adds one row W^t B of numbers to those of a
unit, so its count n_t is at most the number of entries of this row.)  The least of these bounds is
a_T, where a_0 = 0 and a_t = min(a_{t-1} + n_t, |C_t|). All samples pass through the same function:
if a derivative is zero at two random samples, it is zero for all, except with a probability that
`RecordingQuestion.point_error` includes.

A unit is in every recording of rank f(all) if a weight is not zero in its rows only: the rows of
the recording span those of all units, so one of them is not zero there.  For example, the bias of a
neuron without outgoing synapses is known from its own numbers only.

**Combinations.** If an element has more rows than its rank can be, this number of random
combinations of them has the same rank, together with any other rows, except with a probability that
`algebra.ranks.deficits.deficit_error` bounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.residues import Residues, random_residues
from algebra.matroids.groups import Groups, Span
from algebra.networks.base import STATES, Point
from algebra.networks.protocols import jacobian_of
from algebra.questions.identify.effects import paths_of
from algebra.ranks.derivatives import dual_point
from algebra.ranks.few_samples import span_of_labels
from algebra.ranks.jacobian import is_in_parts
from algebra.time_limits import check_time

if TYPE_CHECKING:
    from algebra.plugins.circuits.question import RecordingQuestion

# Entries of rows that are computed at once, and entries that are kept.
_AT_ONCE = 1 << 23
_KEPT = 1 << 26
# An element this close behind the last computed ones is requested in order.
_NEXT = 8
# If all rows have more entries, the rank of unions of units is bounded without rows.
_REACHED = 1 << 16
# Largest number of entries of all rows for which their span is computed from all of them.
_AT_A_GLANCE = 1 << 19
# Rows by which a span is extended at once.
_TOGETHER = 512
# Samples at which it is seen on which weights a number depends.
SEEN = 2
# Called with the question, the point, the rows and the element of each row.
Check = Callable[["RecordingQuestion", Point, Residues, np.ndarray], None]


def groups_at(
    question: RecordingQuestion,
    point: Point,
    check: Check | None = None,
    sizes_only: bool = False,
) -> Groups:
    """The rows of each allowed element, as groups numbered as `RecordingQuestion.allowed`.

    Parameters
    ----------
    question : RecordingQuestion
    point : Point
    check : callable, optional
        Called with all rows that are computed.
    sizes_only : bool, optional
        Whether the numbers of rows bound the ranks, without the reach of units.
    """
    blocks = _Blocks(question, point, check)
    groups = Groups(blocks.part, blocks.sizes, question.allocation.size, point.p)
    if not sizes_only and _has_reach(question, groups):
        reach = _Reach(question, point)
        groups.reach, groups.indispensable = reach.most, reach.indispensable
        blocks.most = len(question.owners[0][1]) * _numbers_a_step(question)
    blocks.is_small = groups.is_small and groups.reach is None
    return groups


def are_few(question: RecordingQuestion, point: Point) -> bool:
    """Whether the rows of all allowed elements are computed at once."""
    groups = groups_at(question, point, sizes_only=True)
    return groups.is_small and not _has_reach(question, groups)


def _has_reach(question: RecordingQuestion, groups: Groups) -> bool:
    many = sum(groups.sizes) * question.allocation.size > _REACHED
    # What two samples show holds for all if they are generic.
    is_generic = question.parametrized.network.own_point is None
    return is_generic and question.of_units and (many or not groups.is_small)


def direction_of(
    question: RecordingQuestion, point: Point, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of all numbers along a direction, by dual numbers; and the element of each."""
    network, cells = question.parametrized.network, question.allocation.cells
    duals = dual_point(network, point, cells, step)
    along = [
        value.tangent.ravel() % point.p
        for source, _ in question.owners
        for value in jacobian_of(network).modular_values(source, duals)
    ]
    owners = [of.ravel() for _, inside in question.owners for of in inside]
    return np.concatenate(along), np.concatenate(owners)


def span_at(
    question: RecordingQuestion, point: Point, bound: int, used: list[int] | None = None,
    start: Span | None = None,
) -> Span:  # fmt: skip
    """The span of the rows of all allowed elements.

    Few elements suffice: a random direction along which their numbers are constant is one along
    which all numbers are, or shows an element that increases the rank.

    Parameters
    ----------
    question : RecordingQuestion
    point : Point
    bound : int
        An upper bound of its dimension.
    used : list of int, optional
        Numbers of elements whose rows span it are added.
    start : Span, optional
        A space to which their rows are added.
    """
    network = question.parametrized.network
    if start is None and is_in_parts(network) and _are_labels(question):
        if used is not None:
            used.extend(question.allowed)
        return span_of_labels(network, point, question.allocation.cells, bound)
    blocks, p, size = _Blocks(question, point, None), point.p, question.allocation.size
    span = start or Span.empty(size)
    if sum(blocks.sizes) * size <= _AT_A_GLANCE:
        if used is not None:
            used.extend(question.allowed)
        return span.extended(question.rows(point)[0], p)
    rng = random.Random(f"span/{p}/{point.seed}")
    place = {k: i for i, k in enumerate(question.allowed)}
    while span.rank < bound:
        check_time()
        step = np.zeros(size, np.int64)
        step[span.others] = random_residues((len(span.others),), p, rng)
        if span.rank:
            taken = matmul(span.table, step[span.others, None], p)[:, 0]
            step[span.pivots] = -taken % p
        along, owner = direction_of(question, point, step)
        counts = np.bincount(owner)
        some = set(np.unique(owner[along != 0]).tolist())
        moved = {place[k]: int(counts[k]) for k in some & set(place)}
        if not moved:
            break
        parts, rows = list[Residues](), 0
        for k in sorted(moved, key=lambda k: (-moved[k], k)):
            parts.append(blocks.part(k))
            if used is not None:
                used.append(question.allowed[k])
            rows += len(parts[-1])
            if rows >= min(bound - span.rank, _TOGETHER):
                break
        span = span.extended(np.concatenate(parts), p)
    return span


def _are_labels(question: RecordingQuestion) -> bool:
    """Whether all labels of all samples may be recorded, and nothing else."""
    every = len(question.elements)
    inside = [of for _, parts in question.owners for of in parts]
    are_all = len(question.allowed) == every and all((of < every).all() for of in inside)
    return question.kinds == ("outputs",) and are_all


def _numbers_a_step(question: RecordingQuestion) -> int:
    """Largest increase of the rank by the numbers of one unit at one step."""
    network = question.parametrized.network
    chain = network.chain()
    if chain is None or not chain.recurrent or chain.start is None:
        return network.m
    # A step adds one row of W^t B.
    return min(network.m, network.shapes[chain.start][1])


class _Blocks:
    """The rows of elements, computed for several elements at once."""

    def __init__(self, question: RecordingQuestion, point: Point, check: Check | None) -> None:
        self.question, self.point, self.check = question, point, check
        # No element has a larger rank: more rows are replaced by this number of random
        # combinations.
        self.is_small, self.most = False, question.allocation.size
        self.sizes = [question.sizes[k] for k in question.allowed]
        self._kept: dict[int, Residues] = {}
        # Where the last computed elements end, and their number.
        self._last = 0, 0

    def part(self, k: int) -> Residues:
        """The rows of an element, numbered as in `allowed`; a basis if all rows are few."""
        if k not in self._kept:
            self._make(k)
        return self._kept[k]

    def _make(self, k: int) -> None:
        """The rows of an element, and of those after it if elements are requested in order."""
        width, size, some = self.question.allocation.size, 0, list[int]()
        end, count = self._last
        most = 2 * count if end <= k < end + _NEXT else 1
        for other in [k, *range(k + 1, len(self.sizes)), *range(k)]:
            if other not in self._kept:
                some.append(other)
                size += self.sizes[other] * width
            if not self.is_small and (size >= _AT_ONCE or len(some) >= most):
                break
        self._last = some[-1] + 1, len(some)
        elements = [self.question.allowed[other] for other in some]
        table, owner = self.question.rows(self.point, elements)
        if self.check is not None:
            self.check(self.question, self.point, table, owner)
        held = sum(part.size for part in self._kept.values())
        while self._kept and held + table.size > _KEPT:
            held -= self._kept.pop(next(iter(self._kept))).size
        for other, element in zip(some, elements, strict=True):
            check_time()
            self._kept[other] = self._shortened(table[owner == element], element)

    def _shortened(self, part: Residues, element: int) -> Residues:
        p = self.point.p
        if self.is_small:
            return modular_echelon(part, p)[0]
        if len(part) <= self.most:
            return part
        rng = random.Random(f"combine/{p}/{self.point.seed}/{element}")
        return matmul(random_residues((self.most, len(part)), p, rng), part, p)


class _Reach:
    """Numbers of weights that the numbers of units depend on: see the docstring of the module."""

    def __init__(self, question: RecordingQuestion, point: Point) -> None:
        [(_, inside)] = question.owners
        place = {k: i for i, k in enumerate(question.allowed)}
        self.rows = np.zeros((len(question.allowed), len(inside)), np.int64)
        # The different unions of the sets of the first steps, and which of them is that of a step.
        unions, self.union_of = list[np.ndarray](), list[int]()
        sets = _sets_by_paths(question) or _sets_at(question, point)
        for t, (known, of) in enumerate(zip(sets, inside, strict=True)):
            check_time()
            some = [(unit, place[k]) for unit, k in enumerate(of[:, 0].tolist()) if k in place]
            units, elements = np.array(some, np.int64).reshape(-1, 2).T
            self.rows[elements, t] = _numbers_a_step(question)
            now = np.zeros((len(place), known.shape[1]), np.uint8)
            now[elements] = known[units]
            if unions:
                now |= unions[-1]
            if not unions or not np.array_equal(now, unions[-1]):
                unions.append(now)
            self.union_of.append(len(unions) - 1)
        self.bits = np.stack(unions, axis=1)

    @property
    def indispensable(self) -> frozenset[int]:
        """Units that are the only ones whose numbers depend on some weight."""
        known = np.unpackbits(self.bits[:, -1], axis=1)
        alone = known[:, known.sum(axis=0) == 1]
        return frozenset(np.flatnonzero(alone.any(axis=1)).tolist())

    def most(self, chosen: Iterable[int], others: Sequence[int]) -> np.ndarray:
        """An upper bound of f of the chosen units with each of some others."""
        chosen, others = list(chosen), list(others)
        rows = self.rows[others] + self.rows[chosen].sum(axis=0)
        bits = self.bits[others] | np.bitwise_or.reduce(self.bits[chosen], axis=0)
        seen = np.bitwise_count(bits).sum(axis=2, dtype=np.int64)
        found = np.zeros(len(others), np.int64)
        for t, union in enumerate(self.union_of):
            found = np.minimum(found + rows[:, t], seen[:, union])
        return found


def _sets_by_paths(question: RecordingQuestion) -> Iterator[np.ndarray] | None:
    """For each step the weights that a number of each unit depends on, a bit each, by paths."""
    allocation, support = question.allocation, question.parametrized.support
    found = paths_of(question.parametrized.network, allocation.cells, support)
    if found is None:
        return None
    paths, moved = found
    sets: Iterator[np.ndarray] = paths.reach(moved, allocation.size)
    return sets


def _sets_at(question: RecordingQuestion, point: Point) -> Iterator[np.ndarray]:
    """The same for other networks, from derivatives at a point."""
    network, cells = jacobian_of(question.parametrized.network), question.allocation.cells
    names = sorted(question.allocation.matrices)
    few = Point(point.p, point.seed, point.weights, point.X[:, :SEEN])
    [(_, inside)] = question.owners
    places = {
        name: np.array([(k, c[1], c[2]) for k, c in enumerate(cells) if c[0] == name]).T
        for name in names
    }
    for step, of in enumerate(inside):
        units = [np.arange(len(own) * (k == step)) for k, own in enumerate(inside)]
        part = network.modular_readings(STATES, few, names, units)
        known = np.zeros((of.shape[0], len(cells)), bool)
        for name, (at, i, j) in places.items():
            if name in part:
                left, right = ((values != 0) for values in part[name])
                left = left.any(axis=2) if left.ndim == 4 else left
                for moves, is_met in zip(left, right.any(axis=2), strict=True):
                    known[:, at] |= moves[:, i] & is_met[j]
        yield np.packbits(known, axis=1)
