"""Dimensions of models whose ranks are upper bounds only."""

import numpy as np
import onnx

import matchprob as mp
from tests.onnx_models import Net


def test_upper_bounds_are_no_dimension(tmp_path):
    """Ranks of a model with erf are upper bounds: no dimension, no lower bound, an upper one."""
    net = Net()
    x = net.input("x", 2)
    w, v = net.tensor(np.eye(3, 2).T, "w"), net.tensor(np.ones((3, 1)), "v")
    path = tmp_path / "erf.onnx"
    onnx.save(net.model(net("MatMul", net("Erf", net("MatMul", x, w)), v)), path)
    found = mp.dimension(path)
    assert (found.dimension, found.at_least, found.defect) == (None, None, None)
    assert found.at_most == 9
    assert "at most 9" in str(found)


def test_a_smooth_model_has_a_dimension(tmp_path):
    """Of a net with x² the published 32 of 35 expected, not only a lower bound."""
    net, rng = Net(), np.random.default_rng(1)
    x = net.input("x", 5)
    for name, shape in (("a", (5, 5)), ("b", (5, 3)), ("c", (3, 1))):
        x = net("MatMul", x, net.tensor(rng.normal(size=shape), name))
        x = x if name == "c" else net("Mul", x, x)
    path = tmp_path / "squares.onnx"
    onnx.save(net.model(x), path)
    found = mp.dimension(path)
    assert (found.dimension, found.expected, found.defect) == (32, 35, 3)
