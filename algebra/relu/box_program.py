r"""Exact decisions of ReLU instances under constraints: linear programs over Q and branching.

The unknowns are u, v ≥ 0 and each learnable weight, represented by columns for its bounds
(`algebra.problems.constraints.BoxColumns`).  A node fixes some u or v at 0; its program
(`algebra.linalg.rational_lp`) has either a vertex, or multipliers whose first part is a Farkas
vector of `algebra.relu.equations`.  At a vertex with u v = 0 everywhere the weights are a match;
otherwise the node is divided.  Every answer is a proof and every match is found: the method is
slow, and is used when floating point is inconclusive, and for nets whose learnable weights are all
in W2, which need one program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.rational_lp import GIVEN_UP, INFEASIBLE, GuessMaker, maximize
from algebra.problems.allocation import Cell
from algebra.problems.constraints import BoxColumns
from algebra.relu.equations import FREE, U_ZERO, V_ZERO, ReluSystem
from algebra.relu.hull_program import halves
from algebra.relu.leaves import Leaf
from algebra.time_limits import check_time

_ZERO, _ONE = fmpq(0), fmpq(1)
# Seconds for each pivot over Q without a guess, per entry of the program.
_MOST_WORK = 2_000_000


@dataclass(frozen=True)
class Decided:
    """The result of a search.

    Attributes
    ----------
    witness : list of fmpq or None
        A match, in the allocation's order.
    leaves : tuple of Leaf
        Refuted leaves that together cover every pattern of the node, if there is no match.
    nodes : int
        Programs solved.
    is_open : bool
        Whether the search was given up: then there is neither a witness nor a refutation.
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
        Guesses of optimal bases; checked exactly.
    """

    def __init__(self, system: ReluSystem, guesses: GuessMaker | None = None) -> None:
        self.system = system
        k, m = system.pairs
        self.cells: list[Cell] = [
            ("W1", i, j) for i, own in zip(system.units, system.cells, strict=True) for j in own
        ]
        self.cells += [("W2", o, i) for o, i in system.second]
        self.box = BoxColumns((system.interval(*cell) for cell in self.cells), 2 * k * m)
        self.columns = self.box.end
        self.rows: list[list[fmpq]] = []
        self.right: list[fmpq] = []
        self._write()
        self.guess = None if guesses is None or not self.rows else guesses(self.rows)

    def _write(self) -> None:
        system = self.system
        k, m = system.pairs
        d, W2 = len(system.G), system.W2
        place = {cell: at for at, cell in enumerate(self.cells)}
        for t in range(k):
            for s in range(m):
                row = self.box.blank()
                row[t * m + s], row[(k + t) * m + s] = _ONE, -_ONE
                first = [place["W1", system.units[t], j] for j in system.cells[t]]
                terms = [(w, -system.X[j, s]) for w, j in zip(first, system.cells[t], strict=True)]
                self.right.append(self.box.enter(row, system.c[t, s], terms))
                self.rows.append(row)
        for o in range(d):
            for s in range(m):
                row = self.box.blank()
                for t in range(k):
                    row[t * m + s] = W2[o, t]
                second = [i for o2, i in system.second if o2 == o]
                terms = [(place["W2", o, i], system.hidden[i, s]) for i in second]
                self.right.append(self.box.enter(row, system.G[o, s], terms))
                self.rows.append(row)
        for row, width in self.box.equations():
            self.rows.append(row)
            self.right.append(width)

    def solve(self, fixed: np.ndarray) -> tuple[list[fmpq] | None, Leaf | None]:
        """All unknowns at a vertex with these fixings, or the refuted leaf; or neither: given up.

        Parameters
        ----------
        fixed : ndarray of int, k×m
        """
        k, m = self.system.pairs
        flat = fixed.ravel()
        gone = {t for t in range(k * m) if flat[t] == U_ZERO}
        gone |= {t + k * m for t in range(k * m) if flat[t] == V_ZERO}
        keep = [c for c in range(self.columns) if c not in gone]
        # A small u + v makes products near 0.
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
        """Decide all patterns that agree with some fixings.

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
                weights = dict(zip(self.cells, self.box.values(values), strict=True))
                witness = self.system.witness(weights)
                if witness is None:
                    raise AssertionError("a vertex is no match: a bug")
                return Decided(witness, (), nodes)
            place = divmod(pair, m)
            assert sides[place] == FREE
            # Next comes the half that fixes the smaller of the two.
            low, high = halves(sides, *place)
            waiting += [high, low] if values[pair] <= values[pair + size] else [low, high]
        return Decided(None, tuple(leaves), nodes)


def empty_leaf(system: ReluSystem, fixed: np.ndarray) -> Leaf:
    """A leaf of an instance in which some interval is empty: any vector refutes it."""
    zeros = np.full(system.G.shape, _ZERO, dtype=object)
    return Leaf(np.asarray(fixed, int), zeros, np.full(system.pairs, _ZERO, dtype=object))
