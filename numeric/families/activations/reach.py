r"""Labels that no values of the learnable weights give: outputs that read bounded values.

Let the labels of one sample be read out by a last matrix (`algebra.programs.read_out`), y = D z +
e, and take the rows of D and e in which nothing learns.  A unit z_j that depends on no learnable
weight has its value; of the others an interval [a_j, b_j] is known that contains their values for
all weights (`algebra.programs.ranges`: −1 and 1 of tanh).  So if for some λ

.. math:: λ · (y − e − \sum_{j \text{ still}} D_j z_j) >
    \sum_{j \text{ moved}} \max(λ · D_j a_j, λ · D_j b_j),

no student has these labels: the instance has no match, however many weights learn.  If the point on
the left is outside the set of all D z, which is convex and closed, then the difference from its
nearest point in this set is such a λ.  It is found in doubles, by least squares under bounds, and
the inequality is proved in balls, of the instance's doubles and of the teacher's labels themselves.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from scipy.optimize import lsq_linear

from algebra.arguments.stuck_output import BoundedReading, reading
from algebra.problems.problem import Problem
from algebra.programs.arrays import number_in
from algebra.programs.balls import as_balls, ball_product
from algebra.programs.evaluate import evaluate
from algebra.ranks.parametrized import by_updates
from numeric.trials.instances import Instance

# Bits of the proof, and the least relative distance in doubles for which it is tried.
_BITS = 106
_MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class LabelReach:
    """What the outputs of an allocation can read.

    Attributes
    ----------
    problem : Problem
        With a fixed allocation.
    reading : BoundedReading
    rows : ndarray of int
        Rows of the read-out in which nothing learns.
    """

    problem: Problem
    reading: BoundedReading
    rows: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> LabelReach | None:
        """None if nothing is known of the values that the outputs read, or all rows learn."""
        problem = by_updates(problem)
        if problem.network.equations_are != "analytic":
            return None
        found = reading(problem)
        if found is None:
            return None
        masks = problem.learning.moving.masks
        learns = np.asarray(masks[found.read.matrix]).ravel()[found.read.weights].any(axis=1)
        if found.read.bias is not None:
            learns |= np.asarray(masks[found.read.bias]).ravel()[found.read.biases] != 0
        rows = np.flatnonzero(~learns)
        return cls(problem, found, rows) if len(rows) else None

    def excludes(self, instance: Instance) -> bool:
        """Whether it is proved that an instance of the allocation has no match."""
        labels = np.asarray(instance.labels, float).reshape(-1, self.problem.network.m)
        parts = self._parts(instance.weights, instance.X, labels)
        return any(
            self._is_proved(instance, place, sample, direction)
            for place, (D, rest) in enumerate(parts)
            for sample in self._outside(D, rest)
            for direction in self._directions(D, rest[:, sample])
        )

    def _parts(
        self, weights: Mapping[str, Any], X: Any, labels: np.ndarray, matmul: Any = operator.matmul
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each reading: the columns D of moved units, and the labels without all else.

        In doubles or in balls, for some of the samples.
        """
        network, read, rows = self.problem.network, self.reading.read, self.rows
        program, moved = network.program(), self.reading.moved
        D = np.asarray(weights[read.matrix]).ravel()[read.weights[rows]]
        if read.bias is not None and read.biases is not None:
            e = np.asarray(weights[read.bias]).ravel()[read.biases[rows]][:, None]
            labels = np.array(labels)
            labels[read.labels[rows]] -= e[:, None]
        nodes = [node for node, _ in read.values]
        arithmetic = network.entries(matmul, number_in(X))
        values = evaluate(program, arithmetic, network.placed(weights, X), nodes)
        columns = iter(read.labels[rows].T)
        for node, entries in read.values:
            value = np.reshape(values[node], (program.nodes[node].size, -1))
            for units in entries.T:
                still = matmul(D[:, ~moved], value[units[~moved]]) if (~moved).any() else 0
                yield D[:, moved], labels[next(columns)] - still

    def _ends(self, units: int) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the interval of each of the moved units."""
        own = self.reading.range
        low = -np.inf if own.low is None else float(own.low)
        return np.full(units, low), np.full(units, np.inf if own.high is None else float(own.high))

    def _outside(self, D: np.ndarray, rest: np.ndarray) -> list[int]:
        """The samples for which the nearest values to the middle are outside their intervals."""
        low, high = self._ends(D.shape[1])
        middle = np.where(np.isfinite(low + high), (low + high) / 2, np.fmax(low, -np.abs(high)))
        middle = np.where(np.isfinite(middle), middle, 0.0)
        z = middle[:, None] + np.linalg.pinv(D) @ (rest - (D @ middle)[:, None])
        fits = ((z >= low[:, None]) & (z <= high[:, None])).all(axis=0)
        size = 1 + np.abs(rest).max(axis=0)
        fits &= np.abs(D @ z - rest).max(axis=0) < _MARGIN * size
        return np.flatnonzero(~fits).tolist()

    def _directions(self, D: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
        """Candidates for λ."""
        ends, difference = self._ends(D.shape[1]), right
        if D.shape[1]:
            difference = right - D @ lsq_linear(D, right, ends, method="bvls").x
        if np.abs(difference).max() < _MARGIN * (1 + np.abs(right).max()):
            return
        if self.reading.range.is_bounded:
            yield difference
        else:
            # In single rows no coefficient is 0 but for rounding.
            yield from np.diag(np.sign(difference))

    def _is_proved(self, instance: Instance, place: int, sample: int, direction: Any) -> bool:
        """Whether balls prove the inequality for one sample."""
        before = ctx.prec
        try:
            ctx.prec = _BITS
            X, network = as_balls(instance.X[:, [sample]]), self.problem.network
            if instance.drawn_labels is None:
                teacher = {name: as_balls(value) for name, value in instance.teacher.items()}
                labels = network.forward(teacher, X, ball_product).reshape(-1, 1)
            else:
                drawn = np.reshape(instance.drawn_labels, (-1, network.m))
                labels = as_balls(drawn[:, [sample]])
            weights = {name: as_balls(value) for name, value in instance.weights.items()}
            parts = self._parts(weights, X, labels, ball_product)
            D, rest = next(islice(parts, place, None))
            factors = as_balls(direction)
            most, own = arb(0), self.reading.range
            for c in factors @ D:
                end = own.high if c > 0 else own.low if c < 0 else None
                if end is None and not own.is_bounded:
                    return False
                ends = [end] if end is not None else [own.low, own.high]
                products = [c * arb(fmpq(e.numerator, e.denominator)) for e in ends]  # type: ignore[union-attr]
                most += products[0] if len(ends) == 1 else products[0].union(products[1])
            return bool((factors @ rest)[0] > most)
        finally:
            ctx.prec = before
