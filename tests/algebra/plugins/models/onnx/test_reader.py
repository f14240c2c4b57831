"""ONNX files: values are those of ONNX's reference implementation, errors take one line."""

import re
import sys
from fractions import Fraction

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.plugins.models.onnx import read_onnx
from algebra.plugins.models.onnx.bounds import ModelLimits
from tests.doubles import labels, weights_of
from tests.onnx_models import MODELS, Net, TensorProto, helper, onnx, save
from tests.refusals import refuses


@pytest.mark.parametrize("name", MODELS)
def test_labels_are_those_of_the_reference(name, tmp_path):
    """Labels of five samples with the file's weights equal those of onnx.reference."""
    path = save(name, tmp_path)
    found = read_onnx(path)
    rng = np.random.default_rng(1)
    fed, samples = {}, {}
    for value in onnx.load(str(path)).graph.input:
        own = [d.dim_value for d in value.type.tensor_type.shape.dim][1:]
        if value.type.tensor_type.elem_type == TensorProto.INT64:
            size = found.tokens[value.name]
            fed[value.name] = rng.integers(0, size, (5, *own))
            samples[value.name] = np.moveaxis(np.eye(size)[fed[value.name]], 0, -1)
        else:
            fed[value.name] = rng.standard_normal((5, *own))
            samples[value.name] = np.moveaxis(fed[value.name], 0, -1)
    [expected] = onnx.reference.ReferenceEvaluator(str(path)).run(None, fed)
    ours = labels(found.program, weights_of(found), samples)
    assert ours.shape == (expected[0].size, 5)
    assert np.allclose(ours.T, expected.reshape(5, -1), rtol=1e-6, atol=1e-6)


def refused(path, **options):
    """The one line that refuses a file."""
    return str(refuses(re.escape(path.name), read_onnx, path, **options))


def written(net, tmp_path, *outputs):
    """The file of a graph."""
    path = tmp_path / "net.onnx"
    onnx.save(net.model(*outputs), str(path))
    return path


def test_weights_are_exact(tmp_path):
    """A weight of binary32 is read as the rational number that it is."""
    net = Net()
    x = net.input("x", 2, type=TensorProto.FLOAT)
    w = net.tensor(np.array([[0.1], [3.0]], np.float32), "w")
    table, denominator = read_onnx(written(net, tmp_path, net("MatMul", x, w))).values["w"]
    tenth = Fraction(13421773, 1 << 27)
    assert [Fraction(int(v), denominator) for v in table.ravel()] == [tenth, 3]


@pytest.mark.parametrize("least", [-1e4, np.finfo(np.float32).min])
def test_a_table_of_zeros_and_numbers_that_mean_infinity_is_a_mask(least, tmp_path):
    """It never learns: generic numbers in its place would mask nothing."""
    net = Net()
    x = net.input("x", 3)
    mask = net.tensor(np.array([[0.0, least, 0.0]], np.float64), "mask")
    shares = net("Softmax", net("Add", net("MatMul", x, net.weight("A", 3, 3)), mask))
    read = read_onnx(written(net, tmp_path, net("MatMul", shares, net.weight("B", 3, 2))))
    assert set(read.parameters) == {"A", "B"}
    other = Net()
    x = other.input("x", 3)
    shift = other.tensor(np.array([1.0, least, 0.0]), "shift")
    read = read_onnx(written(other, tmp_path, other("Add", x, shift)))
    assert set(read.parameters) == {"shift"}


def test_norms_that_an_exporter_stored_once_are_named(tmp_path):
    """Two norms of ones are one parameter of the file; one of a trained network may be, too."""
    for scale, said in ((np.ones(2), 1), (np.array([1.0, 2.0]), 0)):
        net = Net()
        x, s = net.input("x", 2), net.tensor(scale, "s")
        again = net("Identity", s)
        h = net("LayerNormalization", net("LayerNormalization", x, s), again)
        read = read_onnx(written(net, tmp_path, h))
        assert len(read.assumed) == said
        assert all("`s` is one parameter of 2 nodes" in text for text in read.assumed)


def test_what_is_refused_in_one_line(tmp_path):
    """Damaged files, unknown operators, shapes without sizes, mixed samples, rounded weights."""
    whole = save("convnet", tmp_path)
    short = tmp_path / "short.onnx"
    short.write_bytes(whole.read_bytes()[:999])
    assert "is it whole and valid?" in refused(short)
    assert "No such file" in refused(tmp_path / "none.onnx")
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    assert "holds no graph" in refused(empty)

    net = Net(opset=999)
    assert "operator set 999" in refused(written(net, tmp_path, net("Tanh", net.input("x", 2))))
    net = Net()
    found = refused(written(net, tmp_path, net("Acosh", net.input("x", 2))))
    assert "node 0 `n0` (Acosh): the operator Acosh is not known; similar ones that are: C" in found
    net = Net()
    tree = net("TreeEnsembleRegressor", net.input("x", 2), domain="ai.onnx.ml")
    assert "is a tree, whose labels are constant" in refused(written(net, tmp_path, tree))
    net = Net()
    path = written(net, tmp_path, net("Tanh", net.input("x", "steps", 2)))
    assert "`sizes` one, such as steps=8" in refused(path)
    assert read_onnx(path, sizes={"steps": 3}).program.samples == {"x": (3, 2)}
    assert "the file's sizes by name: N, steps" in refused(path, sizes={"step": 3})
    net = Net()
    half = net.tensor(np.ones((2, 2), np.float16), "w")
    path = written(net, tmp_path, net("MatMul", net.input("x", 2), half))
    assert "`w` holds float16 numbers" in refused(path)
    net = Net()
    net.input("x", 2)
    assert "depends on no sample" in refused(written(net, tmp_path, net.weight("w", 2)))


def test_outputs_without_ranks_are_refused(tmp_path):
    """Places, outputs that no node makes, or without entries, each in words of its own."""
    net = Net()
    places = net("ArgMax", net.linear("l", net.input("x", 3), 3, 4), axis=1)
    found = refused(written(net, tmp_path, places))
    assert "holds whole numbers (places of the largest entries)" in found
    net = Net()
    ids = net("Identity", net.input("ids", 3, type=TensorProto.INT64))
    found = refused(written(net, tmp_path, ids))
    assert "holds whole numbers (the input `ids` of whole numbers)" in found
    net = Net()
    h = net.linear("l", net.input("x", 3), 3, 4)
    assert "no node makes the output `other`" in refused(written(net, tmp_path, "other"))
    last = np.array([4])
    none = net("Slice", h, net.tensor(last), net.tensor(last), net.tensor(np.array([1])))
    assert "has no entries" in refused(written(net, tmp_path, none))


@pytest.mark.parametrize("op", ["Clip", "Max"])
def test_a_length_is_not_0(op, tmp_path):
    """The bound that keeps a quotient by a length from 0 is no piece; a larger one is."""
    for least, is_said in ((1e-12, True), (1e-8, True), (0.5, False)):
        net = Net()
        h = net.linear("l", net.input("x", 3), 3, 4)
        length = net("ReduceL2", h, net.tensor(np.array([1])))
        bounded = net(op, length, net.tensor(least))
        read = read_onnx(written(net, tmp_path, net("Div", h, bounded)))
        assert any(node.op == "choose" for node in read.program.nodes) is not is_said
        said = [text for text in read.assumed if "lengths of vectors are above" in text]
        assert bool(said) is is_said


def test_what_is_not_read_is_named(tmp_path):
    """Loops, complex numbers, text, and the values of a Boolean input that is one number."""
    for op in ("Loop", "Scan"):
        net = Net()
        found = refused(written(net, tmp_path, net(op, net.input("x", 3))))
        assert f"the operator {op} repeats a graph" in found
    for type, words in ((TensorProto.COMPLEX64, "complex numbers"), (TensorProto.STRING, "text")):
        net = Net()
        assert words in refused(written(net, tmp_path, net("Tanh", net.input("x", 3, type=type))))
    net = Net()
    h = net.linear("l", net.input("x", 3), 3, 4)
    net.inputs.append(helper.make_tensor_value_info("training", TensorProto.BOOL, []))
    path = written(net, tmp_path, net("Dropout", h, net.tensor(0.5), "training"))
    assert "training=0 or training=1" in refused(path)
    assert "where labels are random" in refused(path, sizes={"training": 1})
    assert read_onnx(path, sizes={"training": 0}).parameters.keys() == {"l.weight", "l.bias"}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["w", "b"])
def test_a_weight_that_is_no_number_is_named(name, bad, tmp_path):
    """The node, the tensor and the place of its first entry that is no finite number."""
    net, tensors = Net(), {"w": np.ones((2, 3)), "b": np.ones(3)}
    tensors[name].flat[1] = bad
    value = net("MatMul", net.input("x", 2), net.tensor(tensors["w"], "w"))
    path = written(net, tmp_path, net("Add", value, net.tensor(tensors["b"], "b")))
    place = re.escape("[0, 1]" if name == "w" else "[1]")
    refuses(rf"node \d .*input 1 \(`{name}`\) .*{place}", read_onnx, path)


def test_large_values_are_not_shapes_that_do_not_fit(tmp_path):
    """A sum with more entries than a file may have says so."""
    net = Net()
    x = net("Reshape", net.input("x", 3000), net.tensor(np.array([0, 3000, 1])))
    wide = net.tensor(np.ones((1, 3000)), "b")
    refuses("9000000 entries", read_onnx, written(net, tmp_path, net("Add", x, wide)))


@pytest.mark.parametrize(
    "mix",
    [
        lambda net, x: net("ReduceMean", x, net.tensor(np.array([0]))),
        lambda net, x: net("Softmax", x, axis=0),
        lambda net, x: net("MatMul", x, net("Transpose", x, perm=[1, 0])),
        lambda net, x: net("MatMul", net("Transpose", x, perm=[1, 0]), x),
        lambda net, x: net("Gather", x, net.tensor(np.array([0])), axis=0),
        lambda net, x: net("Concat", x, x, axis=0),
        lambda net, x: net("Add", x, net.tensor(np.ones((3, 2)))),
        lambda net, x: net("Reshape", x, net.tensor(np.array([2, -1]))),
        lambda net, x: net("Add", x, net("Transpose", x, perm=[1, 0])),
        lambda net, x: net("GatherElements", x, net.tensor(np.array([[0, 1]])), axis=0),
        lambda net, x: net("GatherElements", x, net.tensor(np.array([[0, 1]])), axis=1),
        lambda net, x: net("GatherND", x, net.tensor(np.array([[0, 1]]))),
        lambda net, x: net("ScatterND", x, net.tensor(np.array([[0, 1]])), net.tensor([1.0])),
        lambda net, x: net("ReduceProd", x, net.tensor(np.array([0]))),
        lambda net, x: net("CumProd", x, net.tensor(np.array(0))),
    ],
)
def test_mixed_samples_are_refused(mix, tmp_path):
    """A graph in which a label depends on two samples is refused, with the node that mixes them."""
    net = Net(opset=26)
    found = refused(written(net, tmp_path, mix(net, net.input("x", 2))))
    assert "node " in found
    assert "cannot be read" not in found


def test_many_nodes_are_refused(tmp_path, monkeypatch):
    """A graph beyond the limit is refused before its nodes are read."""
    few = ModelLimits(nodes=3)
    monkeypatch.setattr("algebra.plugins.models.onnx.bounds.MODEL_LIMITS", few)
    assert "more than 3 nodes" in refused(save("mlp_tanh", tmp_path))


def test_without_the_package(monkeypatch, tmp_path):
    """Without onnx the message has the command that installs it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install .*\[onnx\]'"):
        read_onnx(tmp_path / "x.onnx")


def test_variances_of_batch_normalization_are_exact(tmp_path):
    """v + ε is the sum of two binary fractions; the buffer itself is 1/√(v + ε), rounded."""
    read = read_onnx(save("convnet", tmp_path))
    model = MODELS["convnet"]()
    [variance] = [
        onnx.numpy_helper.to_array(t) for t in model.graph.initializer if t.name == "n1.var"
    ]
    table, below = read.squares["n1.var"]
    rounded, denominator = read.values["n1.var"]
    epsilon = Fraction(np.float32(1e-5).item())
    for k, v in enumerate(variance.tolist()):
        square = Fraction(int(table[k]), below)
        assert square == Fraction(v) + epsilon
        share = Fraction(int(rounded[k]), denominator)
        assert abs(float(share**2 * square) - 1) < 1e-14


def test_a_constant_variance_is_a_statistic(tmp_path):
    """Given as a number it is not rational, but the exact square of a number or parameter."""
    path = save("convnet", tmp_path)
    read, named = read_onnx(path, constants=["n1.var"]), read_onnx(path)
    assert "n1.var" not in read.values
    (table, below), (own, denominator) = read.squares["constant 0"], named.squares["n1.var"]
    assert (table.tolist(), below) == (own.tolist(), denominator)
    assert "constant 0" in read.buffers
    assert read.parameters == named.parameters
