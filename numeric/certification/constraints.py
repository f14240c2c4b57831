"""Certified decision which real solutions of an instance satisfy the constraints.

An engine counts real solutions and returns each as doubles.  Here they are certified again,
whichever engine found them, and their discs compared with the box of allowed weights
(`algebra.problems.constraints`): a solution satisfies the constraints if its disc lies inside, and
violates them if the disc lies outside in some weight.  A disc that meets a bound is replaced by
balls of increasing precision.  If these do not decide either, the solution is undetermined, as is
one that is not certified or not separated from another.  Thus a count stays complete only if every
real solution is decided.  An instance with one complex solution that elimination finds is decided
over Q, including bounds that are met exactly.

Solutions of networks with activations are certified in ball arithmetic from the start
(`numeric.families.activations`), or lie in the rational boxes of the exact engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.polynomials.parametrization import Box as RationalBox
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import Interval
from algebra.systems.instances import rational_core
from numeric.certification.krawczyk_balls import decide_real_root
from numeric.certification.pool import certified_pool
from numeric.equations.chain import Chain, make_chain
from numeric.families.activations.pool import enclosed_pool
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance

Box = Mapping[Cell, Interval]
# A multiple of the error of subtracting two doubles, one of them rounded from a rational.
_SLACK = 1e-15


def box_of(instance: Instance) -> dict[Cell, Interval]:
    """Interval of each learnable weight of an instance; unbounded without constraints."""
    return instance.box or {cell: Interval() for cell in instance.allocation.cells}


def _before(instance: Instance, cell: Cell) -> fmpq:
    """The value before learning: the drawn weight of the same cell."""
    name, i, j = cell
    return fmpq(*float(instance.weights[name][i, j]).as_integer_ratio())


class ConstrainedCounts:
    """Counts of one allocation's instances, restricted to boxes.

    Parameters
    ----------
    allocation : Allocation
        The allocation that was solved.
    support : mapping of str to ndarray
    searching : bool, optional
        Whether the counts come from a search that cannot prove that there is no solution.
    """

    def __init__(
        self,
        allocation: Allocation,
        support: Mapping[str, np.ndarray],
        *,
        searching: bool = False,
    ) -> None:
        self.allocation = allocation
        self.support = support
        self.searching = searching

    @cached_property
    def chain(self) -> Chain | None:
        """The equations; None if there is no square system whose solutions could be certified."""
        try:
            return make_chain(self.allocation, self.support)
        except InputError:
            return None

    def obeying(self, count: InstanceCount, instance: Instance, box: Box) -> InstanceCount:
        """The count of the real solutions that satisfy the constraints.

        Parameters
        ----------
        count : InstanceCount
            The count of all real solutions.
        instance : Instance
            An instance of the allocation that was solved.
        box : mapping of cell to Interval
            Of all learnable weights; those that were not solved for keep their values.
        """
        if not count.real:
            return count
        if not self._kept_obey(instance, box):
            note = "weights that were kept fixed break the constraints"
            return replace(
                count, real=None, status=UNDETERMINED, note=note, solutions=(), boxes=(),
                reason=Reason.SEARCHED,
            )  # fmt: skip
        found = self._exactly(count, instance, box)
        if found is None and self.allocation.network.equations_are:
            found = self._by_boxes(count, instance, box)
        inside, unclear, solutions = found or self._by_discs(count, instance, box)
        note = f"{inside} of {count.real} real solutions obey the constraints"
        if count.status == COMPLETE and not unclear:
            note = "; ".join(part for part in (note, count.note) if part)
            return replace(count, real=inside, note=note, solutions=solutions, boxes=())
        if unclear:
            note += f", {unclear} undetermined"
        note = "; ".join(part for part in (note, count.note) if part)
        if inside:
            reason = Reason.FOUND_ONE
        else:
            reason = Reason.SEARCHED if self.searching else Reason.FAILED
        return replace(
            count,
            real=inside,
            status=UNDETERMINED,
            note=note,
            solutions=solutions,
            boxes=(),
            reason=reason,
        )

    def _kept_obey(self, instance: Instance, box: Box) -> bool:
        kept = box.keys() - set(self.allocation.cells)
        return all(_before(instance, cell) in box[cell] for cell in kept)

    def _exactly(
        self, count: InstanceCount, instance: Instance, box: Box
    ) -> tuple[int, int, tuple[tuple[float, ...], ...]] | None:
        """A single solution that elimination finds over Q; None if it finds none."""
        if count.status != COMPLETE or count.complex != 1:
            return None
        if self.allocation.network.equations_are == "analytic":
            return None
        core = rational_core(self.allocation, *instance.exact)
        if not core.consistent or core.equations or core.unknowns:
            return None
        weights = core.back_substitute(())
        if weights is None:
            return None
        good = all(w in box[cell] for cell, w in zip(self.allocation.cells, weights, strict=True))
        return (1, 0, count.solutions) if good else (0, 0, ())

    def _by_boxes(
        self, count: InstanceCount, instance: Instance, box: Box
    ) -> tuple[int, int, tuple[tuple[float, ...], ...]]:
        """For networks with activations: rational boxes if the engine returns them, else balls."""
        assert count.real is not None
        solutions = np.array(count.solutions)
        intervals = [box[cell] for cell in self.allocation.cells]
        kept: list[tuple[float, ...]] = []
        decided = 0
        if len(count.boxes) == len(count.solutions):
            for row, ends in zip(count.solutions, count.boxes, strict=True):
                verdict = _compare_rationals(ends, intervals)
                decided += verdict != UNCLEAR
                if verdict == INSIDE:
                    kept.append(tuple(row))
        if decided < count.real and len(solutions):
            pool = enclosed_pool(instance, solutions)
            verdicts = [_compare_balls(e.balls, intervals) for e in pool.enclosures] if pool else []
            decided_now = sum(verdict is not None for verdict in verdicts)
            if pool and decided_now > decided:
                decided = decided_now
                good = [e for e, v in zip(pool.enclosures, verdicts, strict=True) if v]
                kept = sorted(tuple(float(x) for x in e.middle) for e in good)
        return len(kept), max(0, count.real - decided), tuple(kept)

    def _by_discs(
        self, count: InstanceCount, instance: Instance, box: Box
    ) -> tuple[int, int, tuple[tuple[float, ...], ...]]:
        assert count.real is not None
        chain = self.chain
        if chain is None or not count.solutions:
            return 0, count.real, ()
        try:
            pool = certified_pool(chain, instance, np.array(count.solutions))
        except InputError:  # the instance is special: dependent samples
            return 0, count.real, ()
        intervals = [box[cell] for cell in self.allocation.cells]
        middles, radii = pool.roots.real, pool.radii
        verdicts = _compare(middles, radii, intervals)
        for k in np.flatnonzero(verdicts == UNCLEAR):
            answer = decide_real_root(
                chain, instance, middles[k],
                _ConstraintTest(middles[k], radii[k], intervals),
            )  # fmt: skip
            if answer is not None:
                verdicts[k] = INSIDE if answer else OUTSIDE
        good = middles[verdicts == INSIDE]
        order: Any = np.lexsort(good.T[::-1]) if len(good) else []
        solutions = tuple(tuple(float(x) for x in good[k]) for k in order)
        decided = int((verdicts != UNCLEAR).sum())
        return len(good), max(0, count.real - decided), solutions


INSIDE, OUTSIDE, UNCLEAR = 1, 0, -1


def _compare(middles: np.ndarray, radii: np.ndarray, intervals: list[Interval]) -> np.ndarray:
    """`INSIDE` or `OUTSIDE` the box, or `UNCLEAR`, for each polydisc."""
    low = np.array([end_as_double(i.low, -np.inf) for i in intervals])
    high = np.array([end_as_double(i.high, np.inf) for i in intervals])
    inside = np.ones(len(middles), bool)
    outside = np.zeros(len(middles), bool)
    for end, sign in ((low, -1.0), (high, 1.0)):
        there = np.isfinite(end)
        distance = sign * (end[there] - middles[:, there])
        margin = radii[:, there] * (1 + 1e-12) + 1e-300
        margin = margin + _SLACK * (np.abs(end[there]) + np.abs(middles[:, there]))
        inside &= (distance >= margin).all(axis=1)
        outside |= (distance < -margin).any(axis=1)
    return np.where(inside, INSIDE, np.where(outside, OUTSIDE, UNCLEAR))


def end_as_double(value: fmpq | None, otherwise: float) -> float:
    """The nearest double; an infinity for an end that is absent or beyond all doubles."""
    if value is None:
        return otherwise
    try:
        return nearest_double(value)
    except OverflowError:
        return otherwise


def _compare_rationals(ends: RationalBox, intervals: Sequence[Interval]) -> int:
    """The same comparison for a closed box with rational ends."""
    inside = True
    for ends_of_one, interval in zip(ends, intervals, strict=True):
        low, high = (fmpq(x.numerator, x.denominator) for x in ends_of_one)
        if interval.low is not None:
            if high < interval.low:
                return OUTSIDE
            inside = inside and low >= interval.low
        if interval.high is not None:
            if low > interval.high:
                return OUTSIDE
            inside = inside and high <= interval.high
    return INSIDE if inside else UNCLEAR


def _compare_balls(balls: Sequence[arb], intervals: Sequence[Interval]) -> bool | None:
    """Whether the enclosed point is in the box; None if the balls do not decide."""
    inside = True
    for ball, interval in zip(balls, intervals, strict=True):
        for end, sign in ((interval.low, -1), (interval.high, 1)):
            if end is None:
                continue
            distance = sign * (arb(end) - ball)
            if distance < 0:
                return False
            inside = inside and bool(distance >= 0)
    return True if inside else None


class _ConstraintTest:
    """Whether the root in a polydisc satisfies the constraints, decided by balls around it."""

    def __init__(self, middle: np.ndarray, radii: np.ndarray, intervals: list[Interval]) -> None:
        self.middle, self.radii, self.intervals = middle, radii, intervals

    def __call__(self, balls: list[arb]) -> bool | None:
        # The polydisc holds one root: a root enclosed by balls inside it is the same root.
        for ball, x, radius in zip(balls, self.middle, self.radii, strict=True):
            if not abs(ball - float(x)) <= float(radius):
                return None
        return _compare_balls(balls, self.intervals)
