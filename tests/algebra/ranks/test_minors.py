"""Regular minors in ball arithmetic."""

import numpy as np
import pytest

from algebra.networks.activation import ANALYTIC
from algebra.networks.rnn import RNN
from algebra.ranks.jacobian import all_cells
from algebra.ranks.minors import LARGEST, Minor, find_minor, is_regular, rational_point


@pytest.mark.parametrize("activation", [*ANALYTIC, {"polynomial": [1, 0, "1/3"]}], ids=str)
def test_a_regular_minor_is_found_and_shown_again(activation):
    """As large as the rank, checked by other precisions than in the search."""
    net = RNN(3, 2, 2, 2, 2, activation=activation, biases=True)
    minor = find_minor(net, all_cells(net), 4, {}, 0)
    assert minor is not None
    assert len(set(minor.rows)) == len(set(minor.columns)) == 4
    assert is_regular(net, minor, {}, (96,))


def test_a_singular_minor_is_not_shown_regular():
    """Two columns that are multiples of each other: the same unit read by one output."""
    net = RNN(2, 1, 1, 1, 2, activation="tanh")
    # One input: D[0, 0] and W[0, 0] change two samples differently, W and B alike.
    singular = Minor(5, (0, 1), (("W", 0, 0), ("W", 0, 1)))
    assert not is_regular(net, singular, {}, (64, 128))
    assert is_regular(net, Minor(5, (0, 1), (("D", 0, 0), ("W", 0, 0))), {}, (64,))


def test_no_minor_beyond_the_rank_or_the_limit():
    """Minors of too large a rank are not found, nor minors beyond the size limit of balls."""
    net = RNN(2, 1, 1, 1, 2, activation="tanh")
    assert find_minor(net, [("W", 0, 0), ("W", 0, 1)], 2, {}, 0) is None
    assert find_minor(net, all_cells(net), LARGEST + 1, {}, 0) is None
    assert find_minor(net, [], 0, {}, 0) is None


def test_points_keep_structural_zeros():
    """The result is the same for the same number."""
    net = RNN(3, 2, 1, 1, 2, activation="tanh")
    mask = {"W": np.eye(3, dtype=int)}
    weights, X = rational_point(net, 7, mask)
    again, _ = rational_point(net, 7, mask)
    assert all(weights["W"][i, j] == 0 for i in range(3) for j in range(3) if i != j)
    assert (weights["D"] == again["D"]).all()
    assert X.shape == net.input_shape
