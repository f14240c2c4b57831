"""Paths of programs are where values and derivatives are not 0 at random points."""

import random

import numpy as np
import pytest

from algebra.programs.jacobian import Sweep
from algebra.programs.paths import Paths, existing
from algebra.ranks.jacobian import all_cells, columns_at, random_point
from tests.algebra.networks.conformance import KIND, drawn_network
from tests.samples import P, many


@pytest.mark.parametrize("seed", range(many(60)))
def test_paths_are_where_derivatives_are(seed):
    """With structural zeros each derivative is 0 modulo a prime if and only if no path gives it."""
    rng = random.Random(seed)
    net = drawn_network(rng, KIND)
    zeros = {
        name: np.array([[int(rng.random() < 0.6) for _ in range(columns)] for _ in range(rows)])
        for name, (rows, columns) in net.shapes.items()
    }
    cells, program = all_cells(net, zeros), net.program()
    arithmetic = Paths(net.vanishes_at_zero)
    masks = existing(program, zeros)
    samples = {name: np.asarray(net.drive(np.ones(net.input_shape)), int) for name in ["X"]}
    sweep = Sweep(program, arithmetic, masks | samples, net.shapes)
    J = columns_at(net, random_point(net, P, seed, zeros), cells)
    found = sweep.jacobian(cells)
    assert set(np.unique(found)) <= {0, 1}
    assert not (J.astype(bool) & ~found.astype(bool)).any()
    if net.family == "linear":
        assert np.array_equal(J.astype(bool), found.astype(bool))
