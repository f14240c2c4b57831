"""Forward-mode derivatives against finite differences over GF(p)."""

import random

import numpy as np
import pytest

from algebra.linalg.modular import matmul
from algebra.linalg.residues import random_residues
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import all_cells, jacobian, random_point, tangent_factors
from matchprob import LinearEstimator, LinearFeedForward, LinearRNN

P = 2147483647


@pytest.mark.parametrize(
    "network",
    [
        LinearEstimator(q=3, d=2, m=2),
        LinearRNN(n=3, T=3, b=2, d=2, m=4),
        LinearFeedForward(q=3, widths=(2, 4), d=2, m=3),
    ],
)
def test_both_ways_to_the_jacobian_agree(network):
    """Factored Jacobian times a direction equals the dual number's tangent."""
    point = random_point(network, P, 5)
    cells = all_cells(network)
    step = random_residues((len(cells),), P, random.Random(0))
    matrix = jacobian(tangent_factors(network, point), cells, P)
    assert np.array_equal(
        matmul(matrix, step[:, None], P).reshape(network.d, network.m),
        dual_derivative(network, point, cells, step),
    )
