"""Layers with ReLU between them: their matrices and biases, and the network with all active."""

import numpy as np
import pytest

from algebra.networks.rectified import HasRectifiedLayers
from matchprob import FeedForward, ShallowReLU


@pytest.mark.parametrize("biases", [False, True])
def test_layers_and_the_active_network(biases):
    """With positive weights and samples all units are active: the labels are those of a product."""
    net = FeedForward(q=2, widths=(3, 2), d=1, m=4, activation="relu", biases=biases)
    names = ("c1", "c2", "e") if biases else (None,) * 3
    assert net.rectified_layers == tuple(zip(("W1", "W2", "W3"), names, strict=True))
    assert not net.is_shallow
    rng = np.random.default_rng(0)
    weights = {name: rng.random(shape) for name, shape in net.shapes.items()}
    X = rng.random(net.input_shape)
    active = net.all_active()
    assert np.allclose(net.forward(weights, X), active.forward(weights, X))
    z = X
    for name, bias in net.rectified_layers:
        z = weights[name] @ z + (0 if bias is None else weights[bias])
    assert np.allclose(net.forward(weights, X), z)


def test_other_activations_have_none():
    """The class may have such layers; with tanh there are none."""
    smooth = FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh")
    assert isinstance(smooth, HasRectifiedLayers)
    assert smooth.rectified_layers == ()
    assert ShallowReLU(q=2, n=2, d=1, m=2).is_shallow
