"""Multi-layer linear networks: sizes, names and the map."""

import numpy as np
import pytest

from algebra.networks.feedforward import LinearFeedForward
from tests.refusals import refuses

NET = LinearFeedForward(q=3, widths=[2, 4], d=1, m=5)


def test_matrices_are_named_from_the_samples():
    """W1 takes the samples, the last one gives the labels; widths may be any list."""
    assert NET.layers == 3
    assert NET.shapes == {"W3": (1, 4), "W2": (4, 2), "W1": (2, 3)}
    assert (NET.widths, NET.input_shape) == ((2, 4), (3, 5))
    assert LinearFeedForward(q=3, widths=(2, 4), d=1, m=5) == NET


def test_the_map_is_the_product():
    """Without hidden layers too."""
    rng = np.random.default_rng(1)
    for net in (NET, LinearFeedForward(q=2, widths=(), d=2, m=2)):
        weights = {name: rng.integers(-5, 6, shape) for name, shape in net.shapes.items()}
        X = rng.integers(-5, 6, net.input_shape)
        product = X
        for layer in range(1, net.layers + 1):
            product = weights[f"W{layer}"] @ product
        assert np.array_equal(net.forward(weights, X), product)


def test_each_hidden_layer_has_its_own_renamings():
    """Outputs, hidden layers from the last, inputs."""
    assert [(axis.name, axis.size) for axis in NET.axes()] == [
        ("outputs", 1), ("hidden layer 2", 4), ("hidden layer 1", 2), ("inputs", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("widths", [3, "34", [0], [2, -1], [1.5]])
def test_bad_widths_are_named(widths):
    """The argument and the value."""
    refuses("widths", LinearFeedForward, q=3, widths=widths, d=1, m=5)
