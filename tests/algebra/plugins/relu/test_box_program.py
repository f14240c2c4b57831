"""Decisions over Q with some sides fixed, compared with SciPy's program over the units' hulls."""

import numpy as np
import pytest
from scipy.optimize import linprog

from algebra.plugins.relu.box_program import BoxProgram
from algebra.plugins.relu.equations import FREE, U_ZERO, V_ZERO
from algebra.plugins.relu.leaves import is_refuted
from numeric.plugins.relu.cells import CellTree
from numeric.plugins.relu.hull import columns_left
from numeric.trials.instances import draw_instance
from tests.numeric.plugins.relu.cases import problem
from tests.samples import many

MASK = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("index", range(many(20)))
def test_decisions_with_sides_are_proofs_that_agree_with_scipy(index):
    """A match lies on the sides; without one every leaf is refuted; SciPy's hulls allow no more."""
    instance = draw_instance(problem(3, 4, 2, 3, W1=MASK), 1, index)
    tree = CellTree(instance)
    rng = np.random.default_rng(index)
    program = BoxProgram(tree.system)
    for _ in range(6):
        sides = rng.choice([FREE, FREE, U_ZERO, V_ZERO], (3, 3))
        found = program.decide(sides)
        left = columns_left(tree.program, sides)
        peer = linprog(np.zeros(int(left.sum())), A_eq=tree.program.A[:, left], b_eq=tree.program.b)
        assert not found.is_open
        if found.witness is None:
            assert all(is_refuted(tree.refuter, leaf) for leaf in found.leaves)
            assert all(((leaf.fixed == sides) | (sides == FREE)).all() for leaf in found.leaves)
            shares = [2.0 ** -int((leaf.fixed != sides).sum()) for leaf in found.leaves]
            assert sum(shares) == 1
        else:
            assert peer.status == 0
            assert tree.system.is_witness(found.witness)
            W1 = np.array(tree.system.weights["W1"])
            for (_, i, j), value in zip(instance.allocation.cells, found.witness, strict=True):
                W1[i, j] = value
            inputs = (W1 @ tree.system.X)[[i for _, i in tree.system.units]]
            assert not (
                ((sides == U_ZERO) & (inputs > 0)) | ((sides == V_ZERO) & (inputs < 0))
            ).any()
