"""The linear program over a ReLU instance's convex hulls, solved exactly.

Columns are the vertices and extreme rays of the units' arrangements (`algebra.relu.arrangement`),
rows the label equations and one convexity row for each unit.  A side that is fixed removes columns;
multipliers of an infeasible program (`algebra.linalg.rational_lp`) are a Farkas vector.  It is used
for the few programs that are inconclusive in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpz

from algebra.linalg.rational_lp import INFEASIBLE, OPTIMAL, GuessMaker, RationalProgram
from algebra.relu.arrangement import Refuter, allowed
from algebra.relu.equations import FREE, U_ZERO, V_ZERO

# Largest number of pivots over Q without a guess, times entries of the program.
_MOST_WORK = 500_000


@dataclass(frozen=True)
class HullOutcome:
    """The result of a program with given sides.

    Attributes
    ----------
    weights : dict of int to fmpq, or None
        Positive weights of columns that solve it.
    mu : ndarray of fmpq, d×m, or None
        The refutation if there is no solution; with neither the program was given up.
    """

    weights: dict[int, Any] | None
    mu: np.ndarray | None


class HullProgram:
    """Exact columns and rows of one instance.

    Parameters
    ----------
    refuter : Refuter
        Its arrangements give the columns.
    guesses : callable, optional
        Guesses of final bases; checked exactly.

    Attributes
    ----------
    unit : ndarray of int, C
    is_ray : ndarray of bool, C
    inputs : ndarray of fmpq, C×m
        Inputs at a vertex, or slopes of a ray.
    signs : ndarray of int8, C×m
    """

    def __init__(self, refuter: Refuter, guesses: GuessMaker | None = None) -> None:
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
        columns = [self._column(c) for c in range(len(unit))]
        G = refuter.system.G
        right = [G[o, s] for s in range(m) for o in range(len(G))] + [fmpq(1)] * k
        rows = list(zip(*columns, strict=True))
        self.program = RationalProgram(rows, right, guesses, most_work=_MOST_WORK)
        # Any solution will do; where rays cost more than vertices, trees are small.
        self._zero = [fmpq(0)] * len(unit)
        self._towards = [
            -max(map(abs, column)) * (fmpq(1) if is_ray else fmpq(3, 20))
            for column, is_ray in zip(columns, ray, strict=True)
        ]

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

    def solve(self, sides: np.ndarray) -> HullOutcome:
        """Decide the program with these sides.

        Parameters
        ----------
        sides : ndarray of int, k×m
            `FREE`, `U_ZERO` or `V_ZERO`.
        """
        usable = allowed(self.signs, np.asarray(sides)[self.unit])
        gone = set(np.flatnonzero(~usable).tolist())
        found = self.program.maximize(self._zero, gone, towards=self._towards)
        if found.status == OPTIMAL:
            return HullOutcome({c: v for c, v in enumerate(found.x) if v > 0}, None)
        if found.status != INFEASIBLE:
            return HullOutcome(None, None)
        d, m = self.refuter.system.G.shape
        y = np.array([-value for value in found.proof[: d * m]], dtype=object)
        return HullOutcome(None, y.reshape(m, d).T)

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
