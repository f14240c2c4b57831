"""A search for a match in doubles, whose solution or leaves are then decided over Q.

Two trees divide the activation patterns of an instance: that of pairs
(`numeric.plugins.relu.pairs`) and that of cells (`numeric.plugins.relu.cells`).  A solution found
in doubles counts only with an exact witness in its pattern.  If there is none, the search is
repeated to its end.  A recorded leaf (one that rounding leaves in doubt; all of them, if evidence
is requested) is refuted by a vector of its tree, or else decided over Q
(`algebra.plugins.relu.box_program`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from algebra.plugins.relu.box_program import BoxProgram
from algebra.plugins.relu.equations import FREE, U_ZERO, V_ZERO, ReluSystem, relu_system
from algebra.plugins.relu.leaves import Leaf, leaves_cover
from algebra.problems.allocation import Cell
from algebra.problems.intervals import Interval
from numeric.linalg.float_simplex import guesses
from numeric.plugins.relu.decision import MATCH, MOST_NODES, NONE, UNDETERMINED, ReluDecision
from numeric.plugins.relu.interruptible import run_search
from numeric.plugins.relu.simplex import CANDIDATE, KEEP, NO_MATCH, STOP
from numeric.trials.instances import Instance

# Largest number of exact linear programs for one leaf.
_MOST_PROGRAMS = 1000


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes
    ----------
    status : int
        `NO_MATCH` (complete), `CANDIDATE` or `LIMIT`, of `numeric.plugins.relu.simplex`.
    nodes, leaves, doubtful : int
        Size of the tree; of its leaves those that rounding leaves in doubt.
    recorded : int
        Number of leaves to record; there may be capacity for fewer.
    sides : ndarray of int8, L×k×m
        Sides of the recorded leaves.
    hints : sequence or ndarray, length L
        What the tree needs to refute each of them.
    basic, beta : ndarray
        The solution of a candidate: basic unknowns and their values.
    """

    status: int
    nodes: int
    leaves: int
    doubtful: int
    recorded: int
    sides: np.ndarray
    hints: Sequence[Any] | np.ndarray
    basic: np.ndarray
    beta: np.ndarray


@dataclass
class Settled:
    """Recorded leaves after exact arithmetic.

    Attributes
    ----------
    leaves : list of Leaf
        Refuted leaves, each with its evidence.
    witnesses : list of list of fmpq
        Distinct matches.
    open : int
        Number of leaves that were not decided, or may have more matches than those found.
    """

    leaves: list[Leaf]
    witnesses: list[list[Any]]
    open: int = 0


class PatternTree(ABC):
    """A tree of activation patterns of one instance.

    Parameters
    ----------
    instance : Instance
        An instance with learnable weights in W1 alone.
    kernel : numba dispatcher
        The compiled search that `run` calls.
    box : mapping of cell to Interval, optional
        Intervals in which the weights must lie.
    capacity : int, optional
        Leaves recorded in a first search; if there are more, it is repeated with enough capacity.
    most_doubtful : int, optional
        Leaves in doubt beyond which the instance is abandoned; any number by default.
    is_last : bool, optional
        Whether leaves that no vector refutes are decided by programs over Q.
    """

    def __init__(
        self,
        instance: Instance,
        kernel: Any,
        box: Mapping[Cell, Interval] | None = None,
        *,
        capacity: int = 1024,
        most_doubtful: float = np.inf,
        is_last: bool = True,
    ) -> None:
        self.instance, self._kernel, self._box = instance, kernel, box
        self._capacity, self._most_doubtful, self._is_last = capacity, most_doubtful, is_last

    @cached_property
    def system(self) -> ReluSystem:
        """The equations over Q."""
        return relu_system(self.instance.allocation, *self.instance.exact, self._box)

    @cached_property
    def exact(self) -> BoxProgram:
        """The program over Q."""
        return BoxProgram(self.system, guesses)

    @abstractmethod
    def run(self, most_nodes: np.ndarray, mode: int, every: bool, capacity: int) -> Found:
        """Search once; see `search`."""

    @abstractmethod
    def witness(self, found: Found) -> list[Any] | None:
        """The exact match in the pattern of a candidate."""

    @abstractmethod
    def refuted(self, sides: np.ndarray, hint: Any) -> Leaf | None:
        """A leaf with a vector that refutes it over Q, if one is found."""

    def search(
        self, *, mode: int = STOP, every: bool = False, most_nodes: int = MOST_NODES
    ) -> Found:
        """Search the tree, within the time limit of the call.

        Parameters
        ----------
        mode : int, optional
            At a solution: `STOP`, `KEEP` it as a leaf in doubt, or (cells) `DIVIDE` down to single
            cells, which are recorded.
        every : bool, optional
            Record every leaf, not only those in doubt.
        most_nodes : int, optional
        """
        capacity = self._capacity
        while True:
            once = partial(self.run, mode=mode, every=every, capacity=capacity)
            found = run_search(self._kernel, once, most_nodes)
            fits = found.recorded <= capacity or found.doubtful > self._most_doubtful
            if fits or found.status != NO_MATCH:
                return found
            capacity = found.recorded

    def settle(self, found: Found, *, all_cells: bool = False) -> Settled:
        """Decide the recorded leaves over Q.

        Parameters
        ----------
        found : Found
            A complete search.
        all_cells : bool, optional
            Find every match, not only one.
        """
        settled = Settled([], [])
        for sides, hint in zip(found.sides.astype(int), found.hints, strict=True):
            leaf = self.refuted(sides, hint)
            if leaf is not None:
                settled.leaves.append(leaf)
            elif self._is_last:
                self._exactly(sides, settled, all_cells)
            else:
                settled.open += 1
            if (settled.witnesses and not all_cells) or (settled.open and not self._is_last):
                break
        return settled

    def _exactly(self, sides: np.ndarray, settled: Settled, all_cells: bool) -> None:
        """Decide a leaf by linear programs, down to single cells if every match is wanted."""
        waiting = [sides]
        nodes = 0
        while waiting:
            sides = waiting.pop()
            whole, witness = bool((sides != FREE).all()), None
            if whole:
                witness = self.system.solve_pattern(sides == V_ZERO, np.zeros(sides.shape, bool))
            if witness is None:
                found = self.exact.decide(sides, max(1, _MOST_PROGRAMS - nodes))
                nodes += found.nodes
                settled.leaves += found.leaves
                settled.open += found.is_open
                witness = found.witness
            if witness is None:
                continue
            if witness not in settled.witnesses:
                settled.witnesses.append(witness)
            if not all_cells:
                return
            if whole:
                settled.open += not self.system.has_one_solution(sides == V_ZERO)
            else:
                unit, sample = np.argwhere(sides == FREE)[0]
                for side in (U_ZERO, V_ZERO):
                    waiting.append(sides.copy())
                    waiting[-1][unit, sample] = side

    def decide(self, *, certify: bool = False, most_nodes: int = MOST_NODES) -> ReluDecision:
        """Decide the instance; see `numeric.plugins.relu.decide.decide` for the parameters."""
        blank, mode = ReluDecision(UNDETERMINED), STOP
        while True:
            found = self.search(mode=mode, every=certify, most_nodes=most_nodes)
            blank = replace(blank, nodes=blank.nodes + found.nodes)
            witness = self.witness(found) if found.status == CANDIDATE else None
            if witness is not None:
                return self._matched(blank, witness)
            if found.status == NO_MATCH:
                break
            if mode == KEEP or found.nodes > most_nodes:
                return replace(blank, note=f"given up after {blank.nodes} nodes")
            # A solution within rounding only, or a program that did not finish: continue, and
            # decide all such leaves over Q.
            mode = KEEP
        blank = replace(blank, leaf_count=found.leaves, doubtful=found.doubtful)
        if found.doubtful > self._most_doubtful:
            return replace(blank, note=f"leaves that rounding keeps in doubt: {found.doubtful}")
        settled = self.settle(found)
        if settled.witnesses:
            return self._matched(blank, settled.witnesses[0])
        if settled.open:
            return replace(blank, note=f"leaves not decided over Q: {settled.open}")
        if not certify:
            note = f"leaves refuted in floating point: {found.leaves}"
            note += f", of these over Q: {found.doubtful}" if found.doubtful else ""
            return replace(blank, verdict=NONE, note=note)
        leaves = tuple(settled.leaves)
        if not leaves_cover([leaf.fixed for leaf in leaves]):
            return replace(blank, note="the leaves do not cover every pattern")
        note = f"leaves refuted over Q: {len(leaves)}"
        return replace(blank, verdict=NONE, leaves=leaves, system=self.system, note=note)

    def _matched(self, blank: ReluDecision, witness: Sequence[Any]) -> ReluDecision:
        return replace(blank, verdict=MATCH, witness=tuple(witness), system=self.system)
