"""The tree of activation cells of one ReLU instance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from algebra.relu.arrangement import Refuter
from algebra.relu.box_program import BoxProgram
from algebra.relu.equations import FREE, U_ZERO, V_ZERO, ReluSystem, relu_system
from algebra.relu.leaves import Leaf
from numeric.float_simplex import guesses
from numeric.instances import Instance
from numeric.relu.cells_kernel import (
    CELL,
    DOUBTFUL,
    REFUTED,
    STOP,
    Leaves,
    Search,
    make_path,
    search_cells,
)
from numeric.relu.hull import Hull, make_hull, refutation
from numeric.relu.hull_simplex import FloatHullProgram, make_simplex_buffers
from numeric.relu.interruptible import run_search
from numeric.relu.pairs_kernel import start_tableau
from numeric.relu.refuting_rows import no_rows
from numeric.relu.simplex import FEASIBLE, LIMIT, NO_MATCH

# Leaves recorded in a first search; if there are more, it is repeated with enough capacity.
_FIRST_CAPACITY = 1024
# Largest number of exact linear programs for one leaf.
_MOST_NODES = 400


@dataclass(frozen=True)
class CellSearch:
    """The result of a search.

    Attributes
    ----------
    status : int
        `NO_MATCH` (complete), `CANDIDATE` or `LIMIT`, of `numeric.relu.cells_kernel`.
    nodes, leaves : int
    sides : ndarray of int8, L×k×m
        Sides of the recorded leaves.
    kinds : ndarray of int8, L
    basic, beta : ndarray
        The solution of a candidate: columns and their weights.
    """

    status: int
    nodes: int
    leaves: int
    sides: np.ndarray
    kinds: np.ndarray
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
        Distinct matches found in single cells.
    open : int
        Number of leaves neither refuted nor known to have exactly one match.
    doubtful : int
        Number of leaves that floating point had not refuted.
    """

    leaves: list[Leaf]
    witnesses: list[list[Any]]
    open: int
    doubtful: int

    def keep(self, witness: list[Any]) -> None:
        """Add a match that is not known yet."""
        if witness not in self.witnesses:
            self.witnesses.append(witness)


class CellTree:
    """Linear program, exact equations and search of one instance.

    Parameters
    ----------
    instance : Instance
        An instance with learnable weights in W1 alone; see `numeric.relu.hull.hull_fits`.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.program: Hull = make_hull(instance)

    @cached_property
    def system(self) -> ReluSystem:
        """The equations over Q."""
        return relu_system(self.instance.allocation, *self.instance.exact)

    @cached_property
    def exact(self) -> BoxProgram:
        """Decisions over Q."""
        return BoxProgram(self.system, guesses)

    @cached_property
    def refuter(self) -> Refuter:
        """Checks of refutations over Q."""
        return Refuter(self.system)

    @cached_property
    def _start(self) -> tuple[FloatHullProgram, np.ndarray, bool]:
        """Independent equations, a basis, and whether the other equations follow from them."""
        hull = self.program
        rows = _independent_rows(hull.A)
        A = np.ascontiguousarray(hull.A[rows])
        consistent = len(rows) == len(hull.b) or _consistent(hull, rows)
        k, m, d = hull.outputs.shape
        one = hull.A[d * m + hull.unit, np.arange(len(hull.unit))]
        first = np.searchsorted(hull.unit, np.arange(k + 1))
        program = FloatHullProgram(
            np.ascontiguousarray(A.T), hull.b[rows], rows, first, hull.activations, hull.outputs,
            one, hull.b[d * m :], hull.costs, hull.unit, hull.signs,
        )  # fmt: skip
        return program, start_tableau(A, program.b)[2], consistent

    def search(
        self,
        *,
        start: np.ndarray | None = None,
        mode: int = STOP,
        every: bool = False,
        most_nodes: int = 2_000_000,
    ) -> CellSearch:
        """Search the tree of sides, within the time limit of the call.

        Parameters
        ----------
        start : ndarray of int8, k×m, optional
            Sides to begin with.
        mode : int, optional
            At a solution: `STOP`, `KEEP` it as a doubtful leaf, or `DIVIDE` down to single cells,
            which are recorded.
        every : bool, optional
            Record every leaf, not only cells and leaves that rounding leaves in doubt.
        most_nodes : int, optional
        """
        program, basic, consistent = self._start
        k, m, d = program.outputs.shape
        begin = np.zeros((k, m), np.int8) if start is None else np.asarray(start, np.int8)
        if not consistent:
            # The root can only be refuted by the equations alone.
            kinds = np.array([DOUBTFUL], np.int8)
            return CellSearch(NO_MATCH, 1, 1, begin[None], kinds, basic, np.zeros(len(basic)))
        columns = len(program.unit)
        path = make_path(len(basic), columns, k, m)
        scratch = make_simplex_buffers(len(basic), d * m + k, columns)

        def once(most: np.ndarray) -> CellSearch:
            wanted, capacity = Search(most, mode, every), _FIRST_CAPACITY
            while True:
                leaves = Leaves(np.zeros((capacity, k, m), np.int8), np.zeros(capacity, np.int8))
                status, nodes, ended, recorded, last, values = search_cells(
                    program, basic, path, begin, wanted, leaves, scratch, no_rows(program)
                )
                if status == LIMIT or recorded <= capacity:
                    kept = min(recorded, capacity)
                    sides, kinds = leaves.sides[:kept], leaves.kinds[:kept]
                    # Copies: the path is large and can then be freed.
                    last, values = last.copy(), values.copy()
                    return CellSearch(status, nodes, ended, sides, kinds, last, values)
                capacity = recorded

        return run_search(search_cells, once, most_nodes)

    def settle(self, found: CellSearch, *, all_cells: bool = False) -> Settled:
        """Decide the recorded leaves over Q, dividing those that are not refuted.

        Parameters
        ----------
        found : CellSearch
            A complete search.
        all_cells : bool, optional
            Find every match, not only one.
        """
        settled = Settled([], [], 0, 0)
        waiting = list(zip(found.sides, found.kinds, strict=True))
        while waiting:
            sides, kind = waiting.pop()
            settled.doubtful += kind != REFUTED
            if kind == CELL and self._cell(sides, settled):
                continue
            mu = refutation(self.program, self.refuter, sides)
            if mu is not None:
                settled.leaves.append(Leaf(sides.astype(int), mu))
            else:
                self._exactly(sides, settled, all_cells)
        return settled

    def _cell(self, sides: np.ndarray, settled: Settled) -> bool:
        """Whether a single cell has a match; it is added to `settled`."""
        active = sides == V_ZERO
        witness = self.system.solve_pattern(active, np.zeros(sides.shape, bool))
        if witness is None:
            return False
        settled.keep(witness)
        settled.open += not self.system.has_one_solution(active)
        return True

    def _exactly(self, sides: np.ndarray, settled: Settled, all_cells: bool) -> None:
        """Decide a leaf over Q, down to single cells if every match is wanted."""
        waiting = [sides]
        nodes = 0
        while waiting:
            sides = waiting.pop()
            found = self.exact.decide(sides, max(1, _MOST_NODES - nodes))
            nodes += found.nodes
            if found.is_open:
                settled.open += 1
            elif found.witness is None:
                settled.leaves += found.leaves
            else:
                settled.keep(found.witness)
                if not all_cells:
                    return
                free = np.argwhere(sides == FREE)
                if len(free):
                    for side in (U_ZERO, V_ZERO):
                        waiting.append(sides.copy())
                        waiting[-1][tuple(free[0])] = side
                elif not self.system.has_one_solution(sides == V_ZERO):
                    settled.open += 1

    def pattern(self, found: CellSearch) -> tuple[np.ndarray, np.ndarray]:
        """Activation pattern of a candidate, and the pairs whose input is exactly 0 there."""
        program = self.program
        k, m = int(program.unit.max()) + 1, program.signs.shape[1]
        used = found.basic[found.beta > FEASIBLE]
        active = np.zeros((k, m), bool)
        zero = np.ones((k, m), bool)
        for column in used:
            unit = program.unit[column]
            active[unit] |= program.signs[column] > 0
            zero[unit] &= program.signs[column] == 0
        return active, zero


def _independent_rows(A: np.ndarray) -> np.ndarray:
    """Indices of a largest set of independent rows."""
    if np.linalg.matrix_rank(A, tol=1e-10 * max(A.shape)) == len(A):
        return np.arange(len(A))
    chosen: list[int] = []
    basis = np.zeros((0, A.shape[1]))
    for i, row in enumerate(A):
        rest = row - (row @ basis.T) @ basis
        rest -= (rest @ basis.T) @ basis
        size = float(np.linalg.norm(rest))
        if size > 1e-9 * max(1.0, float(np.linalg.norm(row))):
            basis = np.vstack([basis, rest / size])
            chosen.append(i)
    return np.array(chosen, dtype=int)


def _consistent(program: Hull, independent: np.ndarray) -> bool:
    """Whether the other rows follow from the independent ones."""
    combination, *_ = np.linalg.lstsq(program.A[independent].T, program.A.T, rcond=None)
    return bool(np.abs(combination.T @ program.b[independent] - program.b).max() < 1e-8)
