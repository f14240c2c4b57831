"""Jacobians in factors compared with the columns of the program itself."""

import random

import numpy as np
import pytest

from algebra.programs.arrays import placed
from algebra.programs.jacobian import Sweep, factors
from algebra.ranks.jacobian import all_cells, jacobian, random_point
from tests.algebra.networks.test_activated import small

P = 2_147_483_629


@pytest.mark.parametrize("seed", range(12))
def test_factors_give_the_columns(seed):
    """Σ L[:, i] ⊗ R[j, :] are the columns that reverse mode makes, of matrices and biases."""
    net = small(random.Random(seed))
    point, program = random_point(net, P, seed), net.program()
    blocks = placed(program, point.weights, {"X": point.X})
    sweep = Sweep(program, net.modular(point, net.program()), blocks)
    cells, found = all_cells(net), factors(sweep, net.shapes)
    assert set(found) == set(net.shapes)
    assert np.array_equal(jacobian(found, cells, P), sweep.jacobian(cells))


def test_what_a_value_does_not_depend_on_is_missing():
    """The first stage's value depends on the weights of earlier stages."""
    net = small(random.Random(3), "tanh")
    while not net.stages():
        net = small(random.Random(random.random()), "tanh")
    point, program = random_point(net, P, 0), net.program()
    blocks = placed(program, point.weights, {"X": point.X})
    target = program.named["states 0"]
    sweep = Sweep(program, net.modular(point, net.program()), blocks, target=target)
    found = factors(sweep, net.shapes)
    assert net.stages()[0].matrix in found
    assert net.output not in found
