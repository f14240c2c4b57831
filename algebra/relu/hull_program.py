"""The linear program over a ReLU instance's convex hulls, solved exactly.

Columns are the vertices and extreme rays of the units' arrangements (`algebra.relu.arrangement`),
rows the label equations and one convexity row for each unit.  A dual simplex over Q with zero costs
decides feasibility (finally with Bland's rule, so it terminates); its last row is a Farkas vector.
It is used for the few programs that are inconclusive in floating point, and starts from a basis
found there.

It differs from `algebra.linalg.rational_lp`, which keeps a tableau of all columns and restarts if
the guessed basis is not the last one; this solves with the rows only and continues from the given
basis.  Measured on 150 programs of nets with n = 6, q = 4, m = 6, d = 3, from the same bases: 5.0
ms of processor time each here, 6.7 ms there, the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpz

from algebra.linalg.rational import column, matrix
from algebra.relu.arrangement import Refuter, allowed
from algebra.relu.equations import FREE, U_ZERO, V_ZERO

# Number of simplex steps after which a program is given up.
_MOST_STEPS, _BLAND = 60, 40


@dataclass(frozen=True)
class HullOutcome:
    """The result of a program with given sides.

    Attributes
    ----------
    weights : dict of int to fmpq, or None
        Positive weights of columns that solve it.
    mu : ndarray of fmpq, d×m, or None
        The refutation if there is no solution.
    basis : tuple of int
        The last basis.  With neither weights nor μ the program was given up.
    """

    weights: dict[int, Any] | None
    mu: np.ndarray | None
    basis: tuple[int, ...]


class HullProgram:
    """Exact columns and rows of one instance.

    Parameters
    ----------
    refuter : Refuter
        Its arrangements give the columns.

    Attributes
    ----------
    unit : ndarray of int, C
    is_ray : ndarray of bool, C
    inputs : ndarray of fmpq, C×m
        Inputs at a vertex, or slopes of a ray.
    signs : ndarray of int8, C×m
    """

    def __init__(self, refuter: Refuter) -> None:
        self.refuter = refuter
        k, m = refuter.system.pairs
        inputs, unit, ray = [], [], []
        for t in range(k):
            own = refuter.arrangement(t)
            inputs += [own.vertices, own.rays]
            unit += [t] * (len(own.vertices) + len(own.rays))
            ray += [False] * len(own.vertices) + [True] * len(own.rays)
        self.unit, self.is_ray = np.array(unit), np.array(ray)
        self.inputs = np.concatenate(inputs)
        self.signs = np.concatenate(
            [np.concatenate(refuter.arrangement(t).signs) for t in range(k)]
        )
        self._columns = [self._column(c) for c in range(len(unit))]
        self._sizes = [max(abs(x) for x in column) or fmpq(1) for column in self._columns]
        right = [refuter.system.G[o, s] for s in range(m) for o in range(len(refuter.system.G))]
        self._right = column(right + [fmpq(1)] * k)

    def _column(self, c: int) -> list[Any]:
        system = self.refuter.system
        k, _ = system.pairs
        W2, zero = system.W2, fmpq(0)
        t = int(self.unit[c])
        column = [W2[o, t] * h if h > 0 else zero for h in self.inputs[c] for o in range(len(W2))]
        column += [fmpq(int(i == t and not self.is_ray[c])) for i in range(k)]
        # Integers, since a column may be scaled.
        common = fmpz(1)
        for value in column:
            common = common * value.q // common.gcd(value.q)
        return [value * common for value in column]

    def solve(self, sides: np.ndarray, basis: Sequence[int]) -> HullOutcome:
        """Decide the program with these sides.

        Parameters
        ----------
        sides : ndarray of int, k×m
            `FREE`, `U_ZERO` or `V_ZERO`.
        basis : sequence of int
            Columns to start from: as many as rows, and independent.

        Raises
        ------
        ZeroDivisionError
            If they are dependent.
        """
        usable = allowed(self.signs, np.asarray(sides)[self.unit])
        basis = list(basis)
        rows = len(basis)
        m = self.refuter.system.pairs[1]
        d = len(self.refuter.system.G)
        for step in range(_MOST_STEPS):
            transposed = matrix([self._columns[c] for c in basis])
            values = transposed.transpose().solve(self._right).entries()
            bad = [
                (c, place)
                for place, c in enumerate(basis)
                if values[place] < 0 or (values[place] > 0 and not usable[c])
            ]
            if not bad:
                weights = {c: v for c, v in zip(basis, values, strict=True) if v > 0}
                return HullOutcome(weights, None, tuple(basis))
            # The most violated row and the steepest column need few steps; later Bland's rule
            # terminates.
            late = step >= _BLAND
            _, place = min(bad) if late else max(bad, key=lambda pair: abs(values[pair[1]]))
            # The row's sign makes its right-hand side negative.
            sign = fmpq(1 if values[place] < 0 else -1)
            unit = [sign if i == place else fmpq(0) for i in range(rows)]
            y = transposed.solve(column(unit))
            others = [int(c) for c in np.flatnonzero(usable) if int(c) not in set(basis)]
            entries = []
            if others:
                entries = (matrix([self._columns[c] for c in others]) * y).entries()
            negative = [(c, e) for c, e in zip(others, entries, strict=True) if e < 0]
            entering = None
            if negative:
                entering = negative[0][0]
                if not late:
                    entering = min(negative, key=lambda pair: pair[1] / self._sizes[pair[0]])[0]
            if entering is None:
                mu = np.empty((d, m), dtype=object)
                for s in range(m):
                    for o in range(d):
                        mu[o, s] = y[s * d + o, 0]
                return HullOutcome(None, mu, tuple(basis))
            basis[place] = entering
        return HullOutcome(None, None, tuple(basis))

    def split(self, weights: dict[int, Any], sides: np.ndarray) -> tuple[int, int] | None:
        """A pair (unit, sample) with weighted columns on both sides, or None.

        Without one each unit lies in one cell, and the weights are a match.
        """
        k, m = sides.shape
        seen = np.zeros((k, m), int)
        for c in weights:
            seen[self.unit[c]] |= (self.signs[c] > 0) + 2 * (self.signs[c] < 0)
        both = np.argwhere((seen == 3) & (sides == FREE))
        return (int(both[0][0]), int(both[0][1])) if len(both) else None

    def pattern(self, weights: dict[int, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Activation pattern of weights without a split, and pairs with input exactly 0."""
        k, m = self.refuter.system.pairs
        active, zero = np.zeros((k, m), bool), np.ones((k, m), bool)
        for c in weights:
            active[self.unit[c]] |= self.signs[c] > 0
            zero[self.unit[c]] &= self.signs[c] == 0
        return active, zero


def halves(sides: np.ndarray, unit: int, sample: int) -> tuple[np.ndarray, np.ndarray]:
    """The two sides of a pair that is not fixed."""
    low, high = sides.copy(), sides.copy()
    low[unit, sample], high[unit, sample] = U_ZERO, V_ZERO
    return low, high
