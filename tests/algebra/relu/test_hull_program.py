"""The exact linear program over the hulls, compared with SciPy's."""

import numpy as np
import pytest
from scipy.optimize import linprog

from algebra.relu.arrangement import Refuter
from algebra.relu.equations import FREE, U_ZERO, V_ZERO, relu_system
from algebra.relu.hull_program import HullProgram, halves
from numeric.instances import draw_instance
from numeric.relu.cells import CellTree
from tests.numeric.relu.cases import problem

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("index", range(10))
def test_feasibility_is_scipys(index):
    """With random sides the exact program is feasible if and only if SciPy's is, with proofs."""
    instance = draw_instance(problem(3, 4, 2, 3, W1=MASK), 1, index)
    tree = CellTree(instance)
    rng = np.random.default_rng(index)
    program = tree.exact_program
    for _ in range(6):
        sides = rng.choice([FREE, FREE, U_ZERO, V_ZERO], (3, 3))
        found = program.solve(sides)
        left = np.array(
            [
                not ((side == U_ZERO) & (sign > 0) | (side == V_ZERO) & (sign < 0)).any()
                for side, sign in zip(sides[tree.program.unit], tree.program.signs, strict=True)
            ]
        )
        peer = linprog(np.zeros(int(left.sum())), A_eq=tree.program.A[:, left], b_eq=tree.program.b)
        assert (found.weights is not None) == (peer.status == 0)
        if found.weights is None:
            assert tree.refuter.refutes(sides, found.mu)
        else:
            _solves(program, found.weights, tree)


def _solves(program: HullProgram, weights, tree) -> None:
    system = relu_system(tree.instance.allocation, *tree.instance.exact)
    d, m = system.G.shape
    total = [
        sum(
            (v * program.program.rows[i][c] for c, v in weights.items()),
            0 * system.G[0, 0],
        )
        for i in range(d * m + len(system.units))
    ]
    assert total[: d * m] == [system.G[o, s] for s in range(m) for o in range(d)]
    assert total[d * m :] == [1] * len(system.units)
    assert Refuter(system).system is system


def test_halves_are_the_two_sides():
    """A pair without a side may be on either."""
    low, high = halves(np.zeros((2, 2), int), 1, 0)
    assert low.tolist() == [[0, 0], [U_ZERO, 0]]
    assert high.tolist() == [[0, 0], [V_ZERO, 0]]
