"""The change of a rank by one weight more or less, compared with a rank for each weight."""

import random

import numpy as np
import pytest

from algebra.ranks.generic_rank import generic_rank
from algebra.ranks.jacobian import all_cells
from algebra.ranks.what_if import what_if
from matchprob import RNN, Allocation, FeedForward, LinearEstimator, LinearRNN
from tests.samples import NET


def one_by_one(allocation, support):
    """The same by a generic rank for each weight."""
    network = allocation.network
    rank = generic_rank(network, allocation.cells, support=support).rank
    raises = {name: np.zeros(shape, bool) for name, shape in network.shapes.items()}
    lowers = {name: np.zeros(shape, bool) for name, shape in network.shapes.items()}
    learning = set(allocation.cells)
    for cell in all_cells(network, support):
        name, i, j = cell
        if cell in learning:
            less = [c for c in allocation.cells if c != cell]
            lowers[name][i, j] = generic_rank(network, less, support=support).rank < rank
        else:
            more = [*allocation.cells, cell]
            raises[name][i, j] = generic_rank(network, more, support=support).rank > rank
    return rank, raises, lowers


def same(found, expected):
    rank, raises, lowers = expected
    assert found.rank == rank
    for name in raises:
        np.testing.assert_array_equal(found.raises[name], raises[name])
        np.testing.assert_array_equal(found.lowers[name], lowers[name])


def test_small_nets_one_weight_at_a_time(small_allocations):
    """Every weight of small nets: the echelon form agrees with a separate rank."""
    for allocation in small_allocations(5, 30):
        same(what_if(allocation), one_by_one(allocation, {}))


def test_structural_zeros():
    """Weights that do not exist raise no rank, and change the effect of the others."""
    net = LinearRNN(n=3, T=2, b=1, d=2, m=2)
    support = {"W": np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])}
    allocation = Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 2), ("B", 0, 0)])
    found = what_if(allocation, support)
    same(found, one_by_one(allocation, support))
    assert not (found.raises["W"] & (support["W"] == 0)).any()


@pytest.mark.parametrize("activation", ["tanh", "softplus", {"polynomial": [0, 1, 2]}])
@pytest.mark.parametrize("biases", [False, True])
def test_networks_with_an_activation(activation, biases):
    """Units with different slopes for each sample: a rank for each weight too."""
    rng = random.Random(f"{activation}/{biases}")
    for net in (
        RNN(n=3, T=2, b=1, d=1, m=4, activation=activation, biases=biases),
        FeedForward(q=2, widths=(3,), d=2, m=3, activation=activation, biases=biases),
    ):
        cells = all_cells(net)
        for size in (0, 2, 4, 6):
            allocation = Allocation.from_cells(net, rng.sample(cells, size))
            same(what_if(allocation), one_by_one(allocation, {}))


@pytest.mark.parametrize("seed", range(4))
def test_many_more_weights_than_equations(seed):
    """Columns beyond a basis are combined; the results are still those of each weight."""
    net = LinearEstimator(q=60, d=2, m=2)
    rng = random.Random(seed)
    cells = [("W", 0, j) for j in range(60)]
    # Of row 1 one weight or two: then each of these is needed.
    cells += [("W", 1, j) for j in rng.sample(range(60), 1 + seed % 3)]
    cells += [("W", 1, j) for j in range(40)] if seed == 3 else []
    allocation = Allocation.from_cells(net, set(cells))
    found = what_if(allocation, seed=seed)
    same(found, one_by_one(allocation, {}))
    assert found.lowers["W"].sum() == (1 + seed % 3 if seed < 2 else 0)


def test_nothing_learns():
    """Without learnable weights the rank is 0, and every weight that reaches a label raises it."""
    found = what_if(Allocation.from_cells(NET, []))
    assert found.rank == 0
    assert all(mask.all() for mask in found.raises.values())
    assert 0 < found.error < 1e-6
