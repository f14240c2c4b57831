"""The independent derivatives of updates, and claims that verification refuses."""

import random

import numpy as np
import pytest

from algebra.checker.checks import CheckFailed, Checklist
from algebra.families.updates import verify
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.residues import random_residues
from algebra.ranks.derivatives import dual_derivative
from algebra.ranks.jacobian import columns_at, random_point
from algebra.ranks.parametrized import learning_weights
from algebra.systems.equivalent_cells import as_cells
from matchprob import RNN, LinearRNN, Problem
from tests.algebra.ranks.test_updates import random_problem


@pytest.mark.parametrize("seed", range(20))
def test_dual_numbers_agree(seed):
    """J_θ times a direction is the forward-mode derivative along it."""
    rng = random.Random(seed)
    sizes = {"n": rng.randint(1, 4), "T": rng.randint(1, 3), "b": 2, "d": 2, "m": 3}
    net = rng.choice([LinearRNN(**sizes), RNN(**sizes, activation="tanh", biases=True)])
    learning = random_problem(rng, net).learning
    p = random_prime(rng)
    network, cells = learning_weights(learning, gauge=True)
    point = random_point(network, p, seed)
    J = columns_at(network, point, cells)
    step = random_residues((learning.size,), p, rng)
    expected = dual_derivative(network, point, cells, step)
    assert np.array_equal(matmul(J, step[:, None], p)[:, 0], expected.ravel())


def test_too_small_a_rank_is_not_as_good_as_cells():
    """A wrong count is found by the ranks at a point."""
    cells = as_cells(Problem(LinearRNN(n=4, T=2, b=2, d=2, m=4), {"W": {"lora": 2}}))
    assert not cells.masks
    cells.masks["W"] = np.ones((4, 4), np.int8)
    with pytest.raises(CheckFailed, match="do not reach all"):
        verify._check_equivalences(cells, 1, Checklist())
