r"""All real solutions of an instance with few unknowns, by branch and bound over all real weights.

R^r is covered by charts (`algebra.families.activations.charts`), whose boxes are divided until each
part either has no solution, because a label differs everywhere, or has exactly one.  Boxes are
evaluated many at once, in intervals of doubles rounded outwards (`numeric.equations.intervals`).

* A box has no solution if an enclosure of the residuals excludes 0, or one of the mean value form
  does, of the residuals or of their products with an approximate inverse of the derivatives.
* It has exactly one, by Krawczyk's test [1]_: with C an approximate inverse, c the centre and ρ the
  half widths, |C f(c)| + |I − C f'(X)| ρ < ρ.  The solution is then enclosed in balls.
* Other boxes are halved where residuals change most.

A solution lies with probability 1 in the interior of a box, so boxes of different solutions are
different, and their number is the number of solutions.

With weights whose products tend to a finite limit while they tend to infinity, or equal samples at
infinity, limits may satisfy the equations; then the boxes never end, and the answer is that nothing
is known.  The number of boxes is limited, and is the work of the search.

References
----------
.. [1] A. Neumaier, Interval Methods for Systems of Equations, Cambridge 1990, section 5.1; 5.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.families.activations.charts import (
    ChartEquations,
    ChartRing,
    Groups,
    charts,
    first_box,
)
from algebra.networks.activated import ActivatedNetwork
from algebra.programs.homogeneous import limit_of, plain
from algebra.time_limits import check_time
from numeric.equations.intervals import INTERVAL_FUNCTIONS, Intervals, above, quotient
from numeric.families.activations.krawczyk import SolutionBox, enclose
from numeric.trials.instances import Instance

# Boxes evaluated together, and in all.
_BATCH = 1_024
MOST_BOXES = 30_000
# Relative rounding of sums of a few products, with some to spare.
_ROUNDING = 2.0**-48
# Of the share of a coordinate in the choice of the one that is halved, that of its width alone.
_BY_WIDTH = 1e-3
Entries = list[Any]
_RING = ChartRing(Intervals.quotient, INTERVAL_FUNCTIONS)


def is_decidable(instance: Instance) -> bool:
    """Whether branch and bound is tried: few unknowns, as many labels, functions with bounds."""
    network, r = instance.allocation.network, instance.allocation.size
    return r == network.outputs <= network.divided_unknowns


@dataclass
class _Boxes:
    """Boxes of charts.

    Attributes
    ----------
    low, high : ndarray of float, shape (boxes, r + groups)
        w_k or θ_k, which is ± 1 for the largest weight of a group; then τ for each group.
    axes : ndarray of int, shape (boxes, groups)
        The largest weight of each group, −1 for a bounded one.
    number : ndarray of int, shape (boxes,)
        The numbers of the nodes of the tree.
    """

    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray
    number: np.ndarray

    def __len__(self) -> int:
        return len(self.number)

    def at(self, where: np.ndarray) -> _Boxes:
        return _Boxes(self.low[where], self.high[where], self.axes[where], self.number[where])


@dataclass
class BoxSearch:
    """The search for all solutions of one instance; it can be continued.

    Parameters
    ----------
    instance : Instance
        For which `is_decidable`.

    Attributes
    ----------
    solutions : list of SolutionBox
        Different solutions, certified in balls.
    boxes : int
        Boxes that were evaluated.
    splits : dict of int to int
        For each node of the tree that was halved the coordinate; the halves have the next two
        numbers of `children`.  The first nodes are the charts.
    """

    instance: Instance
    solutions: list[SolutionBox] = field(default_factory=list)
    boxes: int = 0
    splits: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        instance, point = self.instance, np.frompyfunc(Intervals.point, 1, 1)
        network = instance.allocation.network
        assert isinstance(network, ActivatedNetwork)
        weights = {name: point(value).astype(object) for name, value in instance.weights.items()}
        X = point(instance.X).astype(object)
        self.equations = ChartEquations(network, instance.allocation.cells, weights, X, _RING)
        # Labels of ReLU are enclosed in two ways, of which none is always better.
        self._has_kinks = bool(network.activation.is_piecewise)
        self._r = len(self.equations.cells)
        if instance.drawn_labels is None:
            teacher = {n: point(value).astype(object) for n, value in instance.teacher.items()}
            self._labels = self.equations.labels(teacher)
        else:
            self._labels = [_rational(y) for y in np.asarray(instance.drawn_labels).ravel()]
        self._open = [_first(self.groups)]
        self._nodes = len(self._open[0])
        self._uncertain = False

    @property
    def groups(self) -> Groups:
        """The groups of unknowns."""
        return self.equations.groups

    @property
    def is_over(self) -> bool:
        """Whether every box was decided: `solutions` are all real ones."""
        return not self._open and not self._uncertain

    @np.errstate(invalid="ignore", over="ignore")
    def run(self, most: int = MOST_BOXES, enough: int | None = None) -> None:
        """Divide boxes until none is left, `most` were evaluated, or enough solutions are known."""
        while self._open and self.boxes < most:
            check_time()
            some = self._open.pop()
            if len(some) > _BATCH:
                self._open.append(some.at(np.arange(_BATCH, len(some))))
                some = some.at(np.arange(_BATCH))
            self.boxes += len(some)
            for axes in np.unique(some.axes >= 0, axis=0):
                alike = np.flatnonzero(((some.axes >= 0) == axes).all(axis=1))
                halves = self._divided(some.at(alike), axes)
                if halves is not None:
                    self._open.append(halves)
            if enough is not None and len(self.solutions) >= enough:
                return

    def _divided(self, boxes: _Boxes, unbounded: np.ndarray) -> _Boxes | None:
        """The halves of boxes of one kind that are not decided."""
        boxes = boxes.at(self._possible(boxes, unbounded))
        if not len(boxes):
            return None
        weight = np.ones(boxes.low.shape[1])
        for g, group in enumerate(self.groups):
            if unbounded[g]:
                weight[[*group]], weight[self._r + g] = 1 / _REACH, _REACH
        slopes = _BY_WIDTH * weight * (boxes.high - boxes.low)
        # Derivatives exist where no weight is at infinity.
        finite = np.all(boxes.low[:, self._r :][:, unbounded] > 0, axis=1)
        kept = np.ones(len(boxes), bool)
        if finite.any():
            kept[finite], slopes[finite] = self._by_derivatives(
                boxes.at(np.flatnonzero(finite)), unbounded, slopes[finite]
            )
        boxes, slopes = boxes.at(kept), slopes[kept]
        if not len(boxes):
            return None
        column, rows = np.argmax(slopes, axis=1), np.arange(len(boxes))
        middle = (boxes.low[rows, column] + boxes.high[rows, column]) / 2
        low, high = np.repeat(boxes.low, 2, axis=0), np.repeat(boxes.high, 2, axis=0)
        high[2 * rows, column], low[2 * rows + 1, column] = middle, middle
        first = self._nodes + 2 * rows
        self._nodes += 2 * len(boxes)
        self.splits.update(
            zip(
                boxes.number.tolist(),
                zip(column.tolist(), first.tolist(), strict=True),
                strict=True,
            )
        )
        number = np.stack([first, first + 1], axis=1).ravel()
        return _Boxes(low, high, np.repeat(boxes.axes, 2, axis=0), number)

    def _values(
        self, low: np.ndarray, high: np.ndarray, unbounded: np.ndarray
    ) -> tuple[Entries, Entries]:
        """Unknowns, and τ of each group, as entries."""
        columns = [Intervals(low[:, k], high[:, k]) for k in range(low.shape[1])]
        scales = [columns[self._r + g] if some else None for g, some in enumerate(unbounded)]
        return self.equations.unknowns(columns[: self._r], scales), scales

    def _possible(self, boxes: _Boxes, unbounded: np.ndarray) -> np.ndarray:
        """The boxes in which no residual is surely different from 0."""
        unknowns, _ = self._values(boxes.low, boxes.high, unbounded)
        possible = np.ones(len(boxes), bool)
        enclosures = [unknowns]
        if self._has_kinks and unbounded.any():
            enclosures.append([quotient(entry) for entry in unknowns])
        for own in enclosures:
            found = self.equations.residuals(own, self._labels)
            if self._has_kinks:
                found += self.equations.minors(own, self._labels)
            for entry in map(plain, found):
                possible &= ~((entry.low > 0) | (entry.high < 0))
        return possible

    def _by_derivatives(
        self, boxes: _Boxes, unbounded: np.ndarray, slopes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The boxes that stay open, and the change of the residuals along each coordinate."""
        r, count = self._r, len(boxes)
        inside = self._values(boxes.low, boxes.high, unbounded)
        low, high = _derivatives(self.equations, *inside, count)
        centre = (boxes.low + boxes.high) / 2
        radius = above(np.maximum(boxes.high - centre, centre - boxes.low))
        unknowns, _ = self._values(centre, centre, unbounded)
        ends = [limit_of(e) for e in self.equations.residuals(unknowns, self._labels)]
        f_low = np.stack([np.broadcast_to(e.low, count) for e in ends], axis=1)
        f_high = np.stack([np.broadcast_to(e.high, count) for e in ends], axis=1)
        f, f_error = (f_low + f_high) / 2, above((f_high - f_low) / 2)
        J = (low + high) / 2
        J_error = np.maximum(above(high - J), above(J - low))
        size = np.abs(J) + J_error
        slopes = np.maximum(slopes, (size * (2 * radius)[:, None, :]).sum(axis=1))
        # The mean value form of each residual.
        reach = (size * radius[:, None, :]).sum(axis=2)
        out = (np.abs(f) * (1 - _ROUNDING) - f_error > reach * (1 + _ROUNDING)).any(axis=1)
        # That of all together, by an inverse.
        own = np.repeat(np.arange(r)[None], count, axis=0)
        for g in np.flatnonzero(unbounded):
            own[np.arange(count), boxes.axes[:, g]] = r + g
        square = np.take_along_axis(J, own[:, None, :], axis=2)
        square_error = np.take_along_axis(J_error, own[:, None, :], axis=2)
        half = np.take_along_axis(radius, own, axis=1)
        finite = np.isfinite(square).all(axis=(1, 2))
        determinants = np.zeros(count)
        determinants[finite] = np.abs(np.linalg.det(square[finite]))
        regular = (determinants > 0) & np.isfinite(determinants) & np.isfinite(f).all(axis=1)
        if regular.any():
            refuted, unique, moved = _krawczyk(
                square[regular], square_error[regular], f[regular], f_error[regular], half[regular]
            )
            out[regular] |= refuted
            numbers = np.flatnonzero(regular)
            for k, step in zip(numbers[unique], moved[unique], strict=True):
                if not out[k]:
                    out[k] = True
                    self._take(boxes, centre[k], own[k], step, k)
        return ~out, slopes

    def _take(
        self, boxes: _Boxes, centre: np.ndarray, own: np.ndarray, step: np.ndarray, k: int
    ) -> None:
        """Certify the solution in a box."""
        point = centre.copy()
        point[own] -= step
        weights = point[: self._r]
        for g, group in enumerate(self.groups):
            if boxes.axes[k, g] >= 0:
                weights[[*group]] /= point[self._r + g]
        found = enclose(self.instance, weights)
        if found is None or any(found.overlaps(other) for other in self.solutions):
            self._uncertain = True
        else:
            self.solutions.append(found)


_REACH = float(first_box(((0,),), (None,))[0][1])


def _first(groups: Groups) -> _Boxes:
    """The boxes of all charts."""
    known = list(charts(groups))
    r = sum(map(len, groups))
    low, high = np.ones((2, len(known), r + len(groups)))
    axes = np.full((len(known), len(groups)), -1)
    for row, chart in enumerate(known):
        for k, (a, b) in enumerate(first_box(groups, chart)):
            low[row, k], high[row, k] = float(a), float(b)
        for g, largest in enumerate(chart):
            if largest is not None:
                q, sign = axes[row, g], _ = largest
                low[row, r + g], high[row, r + g] = low[row, q], high[row, q]
                low[row, q] = high[row, q] = sign
    return _Boxes(low, high, axes, np.arange(len(known)))


def _rational(y: object) -> Intervals:
    """A label that is given: a double, or a rational number."""
    if isinstance(y, float | int):
        return Intervals.point(y)
    return Intervals.quotient(int(y.p), int(y.q))  # type: ignore[attr-defined]


def _derivatives(
    equations: ChartEquations, unknowns: Entries, scales: Entries, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the derivatives, (boxes, labels, r + groups)."""
    by_weight, by_scale = equations.derivatives(unknowns, scales)
    rows = [[*a, *b] for a, b in zip(by_weight, by_scale, strict=True)]
    low, high = np.zeros((2, count, len(rows), len(rows[0])))
    for a, row in enumerate(rows):
        for k, entry in enumerate(row):
            if isinstance(entry, Intervals):
                low[:, a, k], high[:, a, k] = entry.low, entry.high
    return low, high


def _krawczyk(
    J: np.ndarray, J_error: np.ndarray, f: np.ndarray, f_error: np.ndarray, radius: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The boxes without a solution, those with exactly one, and C f(c)."""
    C = np.linalg.inv(J)
    bad = ~np.isfinite(C).all(axis=(1, 2))
    C[bad] = 0.0
    size = np.abs(C)
    step = np.einsum("bij,bj->bi", C, f)
    step_error = np.einsum("bij,bj->bi", size, f_error + _ROUNDING * np.abs(f))
    near = np.einsum("bij,bjk->bik", C, J)
    spread = np.einsum("bij,bjk->bik", size, J_error + _ROUNDING * np.abs(J))
    identity = np.eye(J.shape[1])
    wide = np.einsum("bik,bk->bi", np.abs(near) + spread, radius)
    out = (np.abs(step) > (wide + step_error) * (1 + _ROUNDING)).any(axis=1)
    rest = np.einsum("bik,bk->bi", np.abs(identity - near) + spread + _ROUNDING * identity, radius)
    inside = ((np.abs(step) + step_error + rest) * (1 + _ROUNDING) < radius).all(axis=1)
    return out & ~bad, inside & ~bad, step
