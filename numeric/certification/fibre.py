r"""Whether a match satisfies the constraints, if more weights learn than there are equations.

The matches of an instance are then a fibre {w : Y(w) = Y} of positive dimension, and the
constraints require that a point of the fibre lies in a box.

* If at most one factor of the chain of products learns, Y(w) is affine: a linear program over Q
  (`algebra.linalg.rational_lp`) gives a point or a proof that there is none.
* Otherwise damped Gauss–Newton steps, projected into the box
  (`numeric.linalg.levenberg_marquardt`), lead from many starts to the fibre.  At an endpoint on the
  fibre all weights except ``rank`` are fixed at their doubles.  The fixed weights are chosen so
  that the remaining square system is well conditioned and its weights are not near an end of their
  intervals.  Krawczyk's test then proves a match near the endpoint; the disc of this match must lie
  in the box.  If no match is found, nothing is proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from flint import fmpq

from algebra.errors import InputError
from algebra.linalg.numbers import nearest_double
from algebra.linalg.rational_lp import GIVEN_UP, INFEASIBLE, RationalProgram
from algebra.networks.chain import ChainNetwork, need_chain
from algebra.problems.allocation import Allocation, Cell
from algebra.problems.intervals import BoxColumns, Interval
from algebra.time_limits import check_time
from numeric.certification.constraints import ConstrainedCounts, end_as_double
from numeric.linalg.float_simplex import guesses
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.matches.conditions import rational_jacobian
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import Instance, ReducedInstance, reduced, to_rational

STARTS = 32
# Relative error at which an endpoint counts as near the fibre.
_ARRIVED = 1e-9
# Sum of squares of the relative errors at which steps end, and largest number of steps.
_ENOUGH = 1e-26
_STEPS = 120
# Share of an interval that is kept as distance from its ends.
_MARGIN = 1e-6
_TINY = 1e-40
# Largest number of entries of all matrices of the students of one Jacobian.
_MOST_ENTRIES = 2_000_000
# Largest number of entries of a linear program over Q, and of pivots times entries.
_LARGEST = 40_000
_MOST_WORK = 4_000_000
# Half of the random starts, on average, have a spread larger by this factor.
_REACH = 4.0
_ZERO = fmpq(0)


@dataclass(frozen=True)
class _Linear:
    """The answer of a linear program: a point inside, or None if there is none."""

    point: list[Any] | None


def count_inside(
    instance: Instance, equations: int, support: Mapping[str, np.ndarray]
) -> InstanceCount:
    """Whether a match satisfies the constraints, if more weights learn than there are equations.

    Parameters
    ----------
    instance : Instance
        An instance of a chain, with all its learnable weights; its `box` holds the constraints.
    equations : int
        Generic rank of the labels.
    support : mapping of str to ndarray

    Returns
    -------
    InstanceCount
        One certified real solution, or a proof that there is none, or neither.
    """
    blank = InstanceCount(instance.index, None, None, UNDETERMINED, reason=Reason.SEARCHED)
    if any(interval.is_empty for interval in instance.box.values()):
        note = "an interval of the constraints is empty"
        return replace(blank, real=0, status=COMPLETE, note=note, reason=Reason.COUNTED)
    if _is_affine(instance):
        answer = _linear(instance)
        if answer is not None and answer.point is None:
            note = "no match obeys: a linear program over the rationals"
            return replace(blank, real=0, status=COMPLETE, note=note, reason=Reason.COUNTED)
        if answer is not None and answer.point is not None:
            solution = tuple(nearest_double(x) for x in answer.point)
            note = "a match that obeys, by a linear program over the rationals"
            return replace(blank, real=1, note=note, solutions=(solution,), reason=Reason.FOUND_ONE)
    search = _FibreSearch(instance, equations, support)
    found, looked = search.run(STARTS)
    if found is not None:
        note = f"a match that obeys, certified, on a fibre of dimension {search.surplus}"
        return replace(
            blank, real=1, note=note, solutions=(found,), paths=looked, certified=1,
            reason=Reason.FOUND_ONE,
        )  # fmt: skip
    note = f"no match that obeys was found from {STARTS} starts, which proves nothing"
    return replace(blank, note=note, paths=STARTS)


def _is_affine(instance: Instance) -> bool:
    """Whether the labels are affine in the learnable weights: only one factor learns."""
    chain = need_chain(instance.problem.network).chain()
    places = [chain.start, *chain.steps, chain.output]
    return sum(name in instance.allocation.matrices for name in places) <= 1


def _linear(instance: Instance) -> _Linear | None:
    """A point of {J w = Y - Y(0)} in the box, over Q; None if the program is too large."""
    cells = instance.allocation.cells
    weights, X, Y = instance.exact
    if Y.size * len(cells) > _LARGEST:
        return None
    J = rational_jacobian(instance, [_ZERO] * len(cells))
    still = {name: value.copy() for name, value in weights.items()}
    for name, i, j in cells:
        still[name][i, j] = _ZERO
    right = list((Y - instance.problem.network.forward(still, X)).ravel())
    entries = J.table()
    box = BoxColumns(instance.box[cell] for cell in cells)
    rows, values = [], []
    for row, value in zip(entries, right, strict=True):
        new = box.blank()
        values.append(box.enter(new, value, enumerate(row)))
        rows.append(new)
    for new, width in box.equations():
        rows.append(new)
        values.append(width)
    zero = box.blank()
    found = RationalProgram(rows, values, guesses, most_work=_MOST_WORK).maximize(zero)
    if found.status == GIVEN_UP:
        return None
    if found.status == INFEASIBLE:
        return _Linear(None)
    point = box.values(found.x)
    student = {name: value.copy() for name, value in still.items()}
    for (name, i, j), x in zip(cells, point, strict=True):
        student[name][i, j] = x
        assert x in instance.box[name, i, j]
    if (instance.problem.network.forward(student, X) != Y).any():
        raise AssertionError("the point of the program is not a match: a bug")
    return _Linear(point)


class _FibreSearch:
    """Damped Gauss–Newton runs from many starts to the fibre, inside the box."""

    def __init__(
        self, instance: Instance, equations: int, support: Mapping[str, np.ndarray]
    ) -> None:
        self.instance, self.equations, self.support = instance, equations, support
        self.network = need_chain(instance.problem.network)
        self.cells = instance.allocation.cells
        self.surplus = len(self.cells) - equations
        ends = [(instance.box[c].low, instance.box[c].high) for c in self.cells]
        self.low = np.array([end_as_double(low, -np.inf) for low, _ in ends])
        self.high = np.array([end_as_double(high, np.inf) for _, high in ends])
        self.moves = self.low < self.high
        self.scale = max(float(np.abs(instance.labels).max()), 1e-300)
        self.spread = instance.spread

    def run(self, starts: int) -> tuple[tuple[float, ...] | None, int]:
        """A certified match inside the box, if one is found, and the number of starts used."""
        ends = self._ends(np.array([self._start(k) for k in range(starts)]))
        for k, w in enumerate(ends):
            check_time()
            if np.abs(self._errors(w[None])[0]).max(initial=0.0) <= _ARRIVED:
                found = self._certified(w)
                if found is not None:
                    return found, k + 1
        return None, starts

    def _ends(self, starts: np.ndarray) -> np.ndarray:
        """Endpoints of the damped steps, all starts of a batch together."""
        size = sum(rows * columns for rows, columns in self.network.shapes.values())
        batch = max(1, min(len(starts), _MOST_ENTRIES // (size * len(self.cells))))
        out = []
        # Keep a distance from the ends of the box: the disc of a certified match must fit in.
        distance = np.minimum(self.high - self.low, 1.0) * _MARGIN
        between = (
            np.minimum(self.low + distance, self.high),
            np.maximum(self.high - distance, self.low),
        )
        for at in range(0, len(starts), batch):
            check_time()
            first = np.clip(starts[at : at + batch], *between)
            runs = levenberg_marquardt(
                lambda w, which: (self._errors(w), self._jacobians(w)), first, _STEPS,
                enough=_ENOUGH, damping=Damping(most=1e12), between=between,
            )  # fmt: skip
            out.append(runs.ends)
        return np.concatenate(out)

    def _start(self, k: int) -> np.ndarray:
        """Start number k: the drawn weights for k = 0, then normal ones.

        For odd k the weights with bounded intervals are uniform in their intervals.
        """
        instance = self.instance
        key = (instance.index, 0xF1B8, k)
        rng = np.random.default_rng(np.random.SeedSequence(instance.seed, spawn_key=key))
        if k == 0:
            return instance.before
        w = rng.standard_normal(len(self.cells)) * self.spread * rng.choice([1.0, _REACH])
        ends = np.isfinite(self.low) & np.isfinite(self.high)
        if k % 2 and ends.any():
            w[ends] = rng.uniform(self.low[ends], self.high[ends])
        return w

    def _matrices(self, w: np.ndarray) -> dict[str, np.ndarray]:
        """All matrices of many students, (·, rows, columns)."""
        out = {name: self.instance.weights[name] for name in self.network.shapes}
        for name in self.instance.allocation.matrices:
            shape = (len(w), *self.network.shapes[name])
            out[name] = np.broadcast_to(out[name], shape).astype(w.dtype)
        for k, (name, i, j) in enumerate(self.cells):
            out[name][:, i, j] = w[:, k]
        return out

    def _labels(self, w: np.ndarray) -> np.ndarray:
        weights = self._matrices(w)
        # Every kind of network is evaluated as a chain: products of stacks of matrices.
        last = ChainNetwork.states(self.network, weights, self.instance.X)[-1]
        labels = weights[self.network.chain().output] @ last
        return np.broadcast_to(labels, (len(w), *labels.shape[-2:])).reshape(len(w), -1)

    def _errors(self, w: np.ndarray) -> np.ndarray:
        return (self._labels(w) - self.instance.labels.ravel()) / self.scale

    def _jacobians(self, w: np.ndarray) -> np.ndarray:
        """Jacobians by complex steps: labels are polynomials, so that nothing cancels."""
        runs, r = w.shape
        moved = np.repeat(w.astype(complex), r, axis=0)
        moved[np.arange(runs * r), np.tile(np.arange(r), runs)] += 1j * _TINY
        slopes = self._labels(moved).imag / (_TINY * self.scale)
        return slopes.reshape(runs, r, -1).transpose(0, 2, 1)

    def _certified(self, w: np.ndarray) -> tuple[float, ...] | None:
        """A certified match near w in the box; `surplus` weights are fixed at their doubles."""
        distance = np.minimum(np.minimum(w - self.low, self.high - w), 1.0)
        distance = np.where(self.moves, np.maximum(distance, 0.0), 0.0)
        order = scipy.linalg.qr(self._jacobians(w[None])[0] * distance, mode="r", pivoting=True)[1]
        solved = sorted(order[: self.equations].tolist())
        w = self._kept_inside(w, set(solved))
        own = [self.cells[k] for k in solved]
        part = Allocation.from_cells(self.network, own)
        moved = replace(_moved(self.instance, self.cells, w), allocation=part)
        try:
            rules = ConstrainedCounts(part, self.support, searching=True)
            place = {cell: float(x) for cell, x in zip(self.cells, w, strict=True)}
            near = tuple(place[cell] for cell in part.cells)
            count = InstanceCount(moved.index, 1, None, UNDETERMINED, solutions=(near,))
            found = rules.obeying(count, moved, self.instance.box)
        except (InputError, np.linalg.LinAlgError):
            return None
        if not found.real or not found.solutions:
            return None
        place |= dict(zip(part.cells, found.solutions[0], strict=True))
        return tuple(place[cell] for cell in self.cells)

    def _kept_inside(self, w: np.ndarray, solved: set[int]) -> np.ndarray:
        """The fixed weights as doubles that lie in their intervals exactly."""
        w = w.copy()
        exact = to_rational(w)
        for k, cell in enumerate(self.cells):
            interval: Interval = self.instance.box[cell]
            if k not in solved and exact[k] not in interval:
                middle = 0.5 * (self.low[k] + self.high[k])
                w[k] = np.nextafter(w[k], middle if np.isfinite(middle) else 0.0)
        return w


def _moved(instance: Instance, cells: tuple[Cell, ...], w: np.ndarray) -> Instance:
    """The instance with other drawn weights in its learnable cells."""
    if isinstance(instance, ReducedInstance):
        values = dict(zip(cells, w.tolist(), strict=True))
        original = instance.original
        here = instance.restored(cells)
        there = tuple(float(values[cell]) for cell in here)
        return reduced(
            _moved(original, original.allocation.cells, np.array(there)), instance.reduction
        )
    return replace(instance, weights=instance.with_weights(w))
