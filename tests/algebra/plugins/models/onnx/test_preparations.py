"""Operators of the domain ai.onnx.ml, against ONNX's reference; nodes that no label needs."""

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels, weights_of
from tests.onnx_models import Net, helper, onnx
from tests.refusals import refuses
from tests.samples import many


def with_scaler(scaler, places, more=()):
    """Scaled features, some of them chosen, and a layer."""
    net = Net()
    net.input("x", 3, type=1)
    nodes = [
        helper.make_node("Scaler", ["x"], ["scaled"], domain="ai.onnx.ml", **scaler),
        helper.make_node("ArrayFeatureExtractor", ["scaled", "at"], ["few"], domain="ai.onnx.ml"),
        helper.make_node("MatMul", ["few", "W"], ["y"]),
        *more,
    ]
    weights = np.random.default_rng(1).standard_normal((len(places), 2)).astype(np.float32)
    tensors = [
        onnx.numpy_helper.from_array(np.array(places), "at"),
        onnx.numpy_helper.from_array(weights, "W"),
    ]
    graph = helper.make_graph(
        nodes, "g", net.inputs, [onnx.ValueInfoProto(name="y")], initializer=tensors
    )
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=sets)


def read(model):
    """The program of a model."""
    return read_onnx("x.onnx", data=model.SerializeToString())


@pytest.mark.parametrize("seed", range(many(8)))
def test_values_are_those_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    size = 1 if seed % 3 == 2 else 3
    scaler = {name: rng.standard_normal(size).tolist() for name in ("offset", "scale")}
    model = with_scaler(scaler, rng.integers(0, 3, rng.integers(1, 5)).tolist())
    x = rng.standard_normal((4, 3)).astype(np.float32)
    [expected] = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
    found = read(model)
    assert set(found.parameters) == {"W"}
    ours = labels(found.program, weights_of(found), {"x": x.T.astype(float)})
    assert np.allclose(ours.T, expected, rtol=1e-5, atol=1e-6)


def test_what_does_not_fit_is_refused():
    refuses("its offset has 2 numbers for 3 features", read, with_scaler({"offset": [1, 2]}, [0]))
    refuses("places 0 … 3 of an axis of size 3", read, with_scaler({"scale": [1]}, [0, 3]))
    refuses("its attribute `mode` is not read", read, with_scaler({"mode": 1}, [0]))


def test_a_node_that_the_output_does_not_need_may_be_unknown():
    """A classifier's label beside its probabilities; asked for it is refused, by its name."""
    other = helper.make_node("ZipMap", ["y"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[0])
    after = helper.make_node("Neg", ["z"], ["w"])
    model = with_scaler({"scale": [2.0]}, [0, 1], [other, after])
    model.graph.output.extend([onnx.ValueInfoProto(name=name) for name in "zw"])
    assert set(read(model).parameters) == {"W"}
    data = model.SerializeToString()
    for name in ("z", "w"):
        refuses("ZipMap", read_onnx, "x.onnx", data=data, output=name)
