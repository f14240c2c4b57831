"""Feed-forward networks with an activation: biases, the map, renamings."""

import numpy as np
import pytest

from algebra.networks.feedforward import LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.problems.symmetry import SymmetryGroup

BIASED = FeedForward(q=2, widths=(3,), d=2, m=4, activation="tanh", biases=True)


def drawn(net, seed=0):
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
    return weights, rng.normal(size=net.input_shape)


def test_the_map_is_the_one_of_the_docstring():
    """W2 tanh(W1 X + c1) + e."""
    weights, X = drawn(BIASED)
    hidden = np.tanh(weights["W1"] @ X + weights["c1"])
    assert np.allclose(BIASED.forward(weights, X), weights["W2"] @ hidden + weights["e"])


def test_renamed_units_give_the_same_labels():
    """A bias is renamed with the rows of its matrix, which the axes name."""
    weights, X = drawn(BIASED)
    (hidden,) = (axis for axis in BIASED.axes() if axis.name == "hidden layer 1")
    assert hidden.places == (("W2", 1), ("W1", 0), ("c1", 0))
    order = [2, 0, 1]
    moved = dict(weights)
    for name, side in hidden.places:
        moved[name] = np.take(moved[name], order, axis=side)
    assert np.allclose(BIASED.forward(moved, X), BIASED.forward(weights, X))
    assert SymmetryGroup(BIASED, ["W1", "c1"]).order == 2 * 6


@pytest.mark.parametrize("widths", [(3,), (2, 3), ()])
def test_with_a_linear_activation_it_is_the_linear_net(widths):
    """The same matrices, labels and renamings."""
    net = FeedForward(q=2, widths=widths, d=2, m=4, activation="linear")
    plain = net.lower()
    assert plain == LinearFeedForward(q=2, widths=widths, d=2, m=4)
    assert (net.shapes, net.axes()) == (plain.shapes, plain.axes())
    weights, X = drawn(net)
    assert np.allclose(net.forward(weights, X), plain.forward(weights, X))
    assert FeedForward(2, widths, 2, 4, activation="linear", biases=True).lower() is None
