"""The tree of activation cells of one ReLU instance."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from algebra.plugins.relu.arrangement import Refuter
from algebra.plugins.relu.equations import FREE
from algebra.plugins.relu.leaves import Leaf
from numeric.kernels import call
from numeric.plugins.relu.cells_kernel import DOUBTFUL, Leaves, Search, make_path, search_cells
from numeric.plugins.relu.hull import Hull, make_hull, refutation
from numeric.plugins.relu.hull_simplex import FloatHullProgram, make_simplex_buffers
from numeric.plugins.relu.pairs_kernel import solve_root, start_tableau
from numeric.plugins.relu.refuting_rows import no_rows
from numeric.plugins.relu.simplex import FEASIBLE, NO_MATCH
from numeric.plugins.relu.tree import Found, PatternTree
from numeric.trials.instances import Instance


class CellTree(PatternTree):
    """Linear program, exact equations and search of one instance.

    Parameters
    ----------
    instance : Instance
        An instance with learnable weights in W1 alone; see `numeric.plugins.relu.hull.hull_fits`.
    """

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance, search_cells)
        self.program: Hull = make_hull(instance)

    @cached_property
    def refuter(self) -> Refuter:
        """Checks of refutations over Q."""
        return Refuter(self.system)

    @cached_property
    def _start(self) -> tuple[FloatHullProgram, np.ndarray, bool]:
        """Independent equations, an optimal basis, and whether the others follow from them."""
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
        T, beta, basic, other, _ = call(start_tableau, A, program.b)
        none = np.zeros(A.shape[1], bool)
        call(solve_root, T, beta, np.empty(len(other)), basic, other, hull.costs, none)
        return program, basic, consistent

    def run(self, most_nodes: np.ndarray, mode: int, every: bool, capacity: int) -> Found:
        """Search once."""
        program, basic, consistent = self._start
        k, m, d = program.outputs.shape
        if not consistent:
            # The root can only be refuted by the equations alone.
            root = np.zeros((1, k, m), np.int8)
            return Found(NO_MATCH, 1, 1, 1, 1, root, [DOUBTFUL], basic, np.zeros(len(basic)))
        columns = len(program.unit)
        path = make_path(len(basic), columns, k, m)
        scratch = make_simplex_buffers(len(basic), d * m + k, columns)
        leaves = Leaves(np.zeros((capacity, k, m), np.int8), np.zeros(capacity, np.int8))
        status, nodes, ended, doubtful, last, values = call(
            search_cells,
            program,
            basic,
            path,
            Search(most_nodes, mode, every),
            leaves,
            scratch,
            no_rows(program),
        )
        recorded = ended if every else doubtful
        # Copies: the path is large and can then be freed.
        return Found(
            status, nodes, ended, doubtful, recorded, leaves.sides[:recorded],
            leaves.kinds[:recorded], last.copy(), values.copy(),
        )  # fmt: skip

    def refuted(self, sides: np.ndarray, hint: Any) -> Leaf | None:
        """A leaf with μ as its evidence; none for a single cell in which there was a solution."""
        if hint == DOUBTFUL and (sides != FREE).all():
            return None
        mu = refutation(self.program, self.refuter, sides)
        return None if mu is None else Leaf(sides, mu)

    def witness(self, found: Found) -> list[Any] | None:
        """The exact match in the pattern of a candidate."""
        program = self.program
        k, m = int(program.unit.max()) + 1, program.signs.shape[1]
        # Pairs with a column on the active side, and those with none on either.
        active = np.zeros((k, m), bool)
        zero = np.ones((k, m), bool)
        for column in found.basic[found.beta > FEASIBLE]:
            unit = program.unit[column]
            active[unit] |= program.signs[column] > 0
            zero[unit] &= program.signs[column] == 0
        return self.system.solve_pattern(active, zero)


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
