r"""Exact decisions of ReLU instances under constraints: linear programs over Q, branched.

The unknowns are u, v ≥ 0 and each learnable weight written by what it is bounded with: low + p,
high − q, with p + q = high − low where both ends are there, and p − q where neither is.  A node
fixes some u or v at 0; its program (`algebra.linalg.rational_lp`) has either a vertex, or
multipliers whose first part is a Farkas vector of `algebra.relu.equations`.  At a vertex with
u v = 0 throughout the weights are a match; else the node is divided.  Every answer is a proof and
none is missed: slow, and meant for what floating point leaves in doubt, and for nets whose
learnable weights are all in W2, which need one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.rational_lp import GIVEN_UP, INFEASIBLE, GuessMaker, maximize
from algebra.problems.allocation import Cell
from algebra.relu.equations import FREE, U_ZERO, V_ZERO, ReluSystem
from algebra.relu.hull_program import halves
from algebra.relu.leaves import Leaf
from algebra.time_limits import check_time

_ZERO, _ONE = fmpq(0), fmpq(1)
# Pivots over Q where no guess helps, times entries of the program: seconds.
_MOST_WORK = 2_000_000


@dataclass(frozen=True)
class Decided:
    """What the tree says.

    Attributes
    ----------
    witness : list of fmpq or None
        A match, in the allocation's order.
    leaves : tuple of Leaf
        Refuted leaves that together hold every pattern of the node asked, where there is no match.
    nodes : int
        Programs solved.
    is_open : bool
        Whether it was given up: then there is neither.
    """

    witness: list[Any] | None
    leaves: tuple[Leaf, ...]
    nodes: int
    is_open: bool = False


class BoxProgram:
    """The program of one instance.

    Parameters
    ----------
    system : ReluSystem
        Its `box` bounds the learnable weights.
    guesses : callable, optional
        Guesses where programs end; checked exactly.
    """

    def __init__(self, system: ReluSystem, guesses: GuessMaker | None = None) -> None:
        self.system = system
        k, m = system.pairs
        self.cells: list[Cell] = [
            ("W1", i, j) for i, own in zip(system.units, system.cells, strict=True) for j in own
        ]
        self.cells += [("W2", o, i) for o, i in system.second]
        # For each weight its constant and its columns with their signs.
        self.parts: list[tuple[fmpq, list[tuple[int, int]]]] = []
        at = 2 * k * m
        ranges: list[tuple[int, fmpq]] = []
        for cell in self.cells:
            interval = system.interval(*cell)
            if interval.low is None and interval.high is None:
                self.parts.append((_ZERO, [(at, 1), (at + 1, -1)]))
                at += 2
            elif interval.low is None:
                assert interval.high is not None
                self.parts.append((interval.high, [(at, -1)]))
                at += 1
            elif interval.high is None:
                self.parts.append((interval.low, [(at, 1)]))
                at += 1
            else:
                self.parts.append((interval.low, [(at, 1)]))
                ranges.append((at, interval.high - interval.low))
                at += 2
        self.columns = at
        self._write(ranges)
        self.guess = None if guesses is None or not self.rows else guesses(self.rows)

    def _write(self, ranges: Sequence[tuple[int, fmpq]]) -> None:
        system = self.system
        k, m = system.pairs
        d, W2 = len(system.G), system.W2
        place = dict(zip(self.cells, self.parts, strict=True))
        self.rows: list[list[fmpq]] = []
        self.right: list[fmpq] = []

        def add(row: list[fmpq], right: fmpq, terms: Sequence[tuple[Cell, fmpq]]) -> None:
            for cell, factor in terms:
                constant, columns = place[cell]
                right = right - factor * constant
                for c, sign in columns:
                    row[c] = row[c] + sign * factor
            self.rows.append(row)
            self.right.append(right)

        for t in range(k):
            for s in range(m):
                row = [_ZERO] * self.columns
                row[t * m + s], row[(k + t) * m + s] = _ONE, -_ONE
                terms = [(("W1", system.units[t], j), -system.X[j, s]) for j in system.cells[t]]
                add(row, system.c[t, s], terms)
        for o in range(d):
            for s in range(m):
                row = [_ZERO] * self.columns
                for t in range(k):
                    row[t * m + s] = W2[o, t]
                own = [(("W2", o, i), system.hidden[i, s]) for o2, i in system.second if o2 == o]
                add(row, system.G[o, s], own)
        for at, width in ranges:
            row = [_ZERO] * self.columns
            row[at] = row[at + 1] = _ONE
            add(row, width, [])

    def solve(self, fixed: np.ndarray) -> tuple[list[fmpq] | None, Leaf | None]:
        """All unknowns at a vertex with these fixings, or the leaf refuted; or neither: given up.

        Parameters
        ----------
        fixed : ndarray of int, k×m
        """
        k, m = self.system.pairs
        flat = fixed.ravel()
        gone = {t for t in range(k * m) if flat[t] == U_ZERO}
        gone |= {t + k * m for t in range(k * m) if flat[t] == V_ZERO}
        keep = [c for c in range(self.columns) if c not in gone]
        # Small u + v drives products to 0.
        cost = [-_ONE if c < 2 * k * m else _ZERO for c in keep]
        A = [[row[c] for c in keep] for row in self.rows]
        basis = None if self.guess is None else self.guess(keep, self.right, cost)
        most = 10 + _MOST_WORK // max(1, len(self.rows) * len(keep))
        found = maximize(A, self.right, cost, basis=basis, most_pivots=most)
        if found.status == GIVEN_UP:
            return None, None
        if found.status == INFEASIBLE:
            y = [-value for value in found.proof]
            d = len(self.system.G)
            lam = np.array(y[: k * m], dtype=object).reshape(k, m)
            mu = np.array(y[k * m : (k + d) * m], dtype=object).reshape(d, m)
            return None, Leaf(fixed.astype(int), mu, lam)
        values = [_ZERO] * self.columns
        for c, value in zip(keep, found.x, strict=True):
            values[c] = value
        return values, None

    def decide(self, fixed: np.ndarray, most_nodes: int = 1000) -> Decided:
        """Decide what patterns agree with some fixings.

        Parameters
        ----------
        fixed : ndarray of int, k×m
        most_nodes : int, optional
        """
        k, m = self.system.pairs
        leaves: list[Leaf] = []
        waiting, nodes = [np.asarray(fixed, int)], 0
        if self.system.is_empty:
            return Decided(None, (empty_leaf(self.system, waiting[0]),), 0)
        while waiting:
            check_time()
            if nodes >= most_nodes:
                return Decided(None, (), nodes, is_open=True)
            sides = waiting.pop()
            nodes += 1
            values, leaf = self.solve(sides)
            if leaf is not None:
                leaves.append(leaf)
                continue
            if values is None:
                return Decided(None, (), nodes, is_open=True)
            size = k * m
            gaps = [(values[t] * values[t + size], t) for t in range(size)]
            worst, pair = max(gaps, default=(_ZERO, 0))
            if worst == 0:
                witness = self.system.witness(self._weights(values))
                if witness is None:
                    raise AssertionError("a vertex is no match: a bug")
                return Decided(witness, (), nodes)
            place = divmod(pair, m)
            assert sides[place] == FREE
            # Popped first: the half that fixes the smaller of the two.
            low, high = halves(sides, *place)
            waiting += [high, low] if values[pair] <= values[pair + size] else [low, high]
        return Decided(None, tuple(leaves), nodes)

    def _weights(self, values: Sequence[fmpq]) -> dict[Cell, fmpq]:
        return {
            cell: constant + sum((sign * values[c] for c, sign in columns), _ZERO)
            for cell, (constant, columns) in zip(self.cells, self.parts, strict=True)
        }


def empty_leaf(system: ReluSystem, fixed: np.ndarray) -> Leaf:
    """A leaf of an instance in which some weight has nowhere to lie: any vector refutes it."""
    zeros = np.full(system.G.shape, _ZERO, dtype=object)
    return Leaf(np.asarray(fixed, int), zeros, np.full(system.pairs, _ZERO, dtype=object))
