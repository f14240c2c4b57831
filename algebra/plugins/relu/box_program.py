r"""Exact decisions of ReLU instances, also under constraints: linear programs over Q, branching.

The unknowns are u, v ≥ 0 and each learnable weight, represented by columns for its bounds
(`algebra.problems.intervals.BoxColumns`).  A node fixes some u or v at 0; its program
(`algebra.linalg.rational_lp`) has either a vertex, or multipliers whose first part is a Farkas
vector of `algebra.plugins.relu.equations`.  At a vertex with u v = 0 everywhere the weights are a
match; otherwise the node is divided.  Every answer is a proof: the method is slow, and is used for
leaves of both trees of `numeric.plugins.relu` for which floating point is inconclusive, and for
nets whose learnable weights are all in W2, which need one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from algebra.linalg.rational_lp import (
    GIVEN_UP,
    INFEASIBLE,
    GuessMaker,
    RationalProgram,
    complementary_vertex,
)
from algebra.plugins.relu.equations import U_ZERO, V_ZERO, ReluSystem
from algebra.plugins.relu.leaves import Leaf
from algebra.problems.allocation import Cell
from algebra.problems.intervals import BoxColumns
from algebra.time_limits import check_time

_ZERO = fmpq(0)
_ONE = fmpq(1)
# Largest number of pivots over Q without a guess, times entries of the program.
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


class _GivenUp(Exception):
    """Too many nodes, or a program that has not come to an end."""


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
        self.cells: list[Cell] = system.cells
        self.box = BoxColumns(map(system.interval, self.cells), 2 * k * m)
        self.columns = self.box.end
        self.rows: list[list[fmpq]] = []
        self.right: list[fmpq] = []
        self._write()
        self.program = RationalProgram(self.rows, self.right, guesses, most_work=_MOST_WORK)

    def _write(self) -> None:
        system = self.system
        k, m = system.pairs
        d, place = len(system.G), 0
        for t, own in enumerate(system.terms):
            before = [(j, w) for (to, j), w in system.inner.items() if to == t]
            for s in range(m):
                row = self.box.blank()
                row[t * m + s], row[(k + t) * m + s] = _ONE, -_ONE
                for j, weight in before:
                    row[j * m + s] = -weight
                terms = [(at, -values[s]) for at, (_, values) in enumerate(own, place)]
                self.right.append(self.box.enter(row, system.c[t, s], terms))
                self.rows.append(row)
            place += len(own)
        for o in range(d):
            read = [(at, v) for at, (o2, _, v) in enumerate(system.read, place) if o2 == o]
            for s in range(m):
                row = self.box.blank()
                row[s : k * m : m] = system.outer[o]
                terms = [(at, values[s]) for at, values in read]
                self.right.append(self.box.enter(row, system.G[o, s], terms))
                self.rows.append(row)
        for row, width in self.box.equations():
            self.rows.append(row)
            self.right.append(width)

    def decide(self, fixed: np.ndarray, most_nodes: int = 1000) -> Decided:
        """Decide all patterns that agree with some fixings.

        Parameters
        ----------
        fixed : ndarray of int, k×m
        most_nodes : int, optional
        """
        sides = np.asarray(fixed, int)
        if self.system.is_empty:
            return Decided(None, (empty_leaf(self.system, sides),), 0)
        size = sides.size
        # A small u + v makes products near 0.
        cost = [-_ONE if c < 2 * size else _ZERO for c in range(self.columns)]
        leaves: list[Leaf] = []
        nodes = 0

        def solve(gone: frozenset[int]) -> Sequence[fmpq] | None:
            nonlocal nodes
            check_time()
            if nodes >= most_nodes:
                raise _GivenUp
            nodes += 1
            found = self.program.maximize(cost, gone)
            if found.status == GIVEN_UP:
                raise _GivenUp
            if found.status == INFEASIBLE:
                leaves.append(self._leaf(gone, found.proof))
                return None
            return found.x

        flat = sides.ravel()
        zero = [*np.flatnonzero(flat == U_ZERO), *(size + np.flatnonzero(flat == V_ZERO))]
        try:
            values = complementary_vertex(solve, size, frozenset(map(int, zero)))
        except _GivenUp:
            return Decided(None, (), nodes, is_open=True)
        if values is None:
            return Decided(None, tuple(leaves), nodes)
        weights = dict(zip(self.cells, self.box.values(values), strict=True))
        witness = self.system.witness(weights)
        if witness is None:
            raise AssertionError("a vertex is no match: a bug")
        return Decided(witness, (), nodes)

    def _leaf(self, gone: frozenset[int], proof: Sequence[fmpq]) -> Leaf:
        """The leaf of a node without a solution, with its Farkas vector."""
        k, m = self.system.pairs
        d = len(self.system.G)
        y = np.array([-value for value in proof], dtype=object)
        fixed = np.zeros(k * m, int)
        for c in gone:
            fixed[c % (k * m)] = U_ZERO if c < k * m else V_ZERO
        lam, mu = y[: k * m].reshape(k, m), y[k * m : (k + d) * m].reshape(d, m)
        return Leaf(fixed.reshape(k, m), mu, lam)


def empty_leaf(system: ReluSystem, fixed: np.ndarray) -> Leaf:
    """A leaf of an instance in which some interval is empty: any vector refutes it."""
    zeros = np.full(system.G.shape, _ZERO, dtype=object)
    return Leaf(np.asarray(fixed, int), zeros, np.full(system.pairs, _ZERO, dtype=object))
