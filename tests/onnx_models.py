"""Small ONNX models, by name: the networks of the tests of programs."""

import functools
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.reference")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


class Net:
    """A graph under construction: calling it adds a node and gives the name of its first value."""

    def __init__(self, seed: int = 0, opset: int = 20) -> None:
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        self.inputs: list[Any] = []
        self.rng = np.random.default_rng(seed)
        self.opset = opset

    def __call__(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}",
                                           **attributes))  # fmt: skip
        return names[0] if outputs == 1 else names

    def tensor(self, array: Any, name: str = "") -> str:
        """Numbers of the file."""
        name = name or f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, name: str, *shape: int, positive: bool = False) -> str:
        """A weight with random values."""
        array = self.rng.standard_normal(shape) / 2
        return self.tensor(np.abs(array) + 0.5 if positive else array, name)

    def input(self, name: str, *shape: int | str, type: int = TensorProto.DOUBLE) -> str:
        """Samples; the first axis is that of the batch."""
        self.inputs.append(helper.make_tensor_value_info(name, type, ["N", *shape]))
        return name

    def linear(self, name: str, x: str, q: int, n: int, bias: bool = True) -> str:
        """x W + b."""
        found = self("MatMul", x, self.weight(f"{name}.weight", q, n))
        return self("Add", found, self.weight(f"{name}.bias", n)) if bias else found

    def model(self, *outputs: str) -> Any:
        """The model whose outputs are some values."""
        infos = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, infos, self.tensors)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


MODELS: dict[str, Callable[[], Any]] = {}


def model(make: Callable[[], Any]) -> Callable[[], Any]:
    """Enter a model under the name of its function."""
    MODELS[make.__name__] = make
    return make


def save(name: str, folder: Path) -> Path:
    """The file of a model."""
    path = folder / f"{name}.onnx"
    onnx.save(MODELS[name](), str(path))
    return path


def differences(
    model: Any, name: str, fed: Mapping[str, np.ndarray], step: float = 1e-5
) -> np.ndarray:
    """The derivatives of the reference's labels by a tensor of the file, by differences."""
    columns = []
    array = numpy_helper.to_array(next(t for t in model.graph.initializer if t.name == name))
    evaluator = onnx.reference.ReferenceEvaluator(model)
    for k in range(array.size):
        ends = []
        for sign in (1, -1):
            moved = array.copy()
            moved.ravel()[k] += sign * step
            # A value that is given replaces the one of the file.
            [found] = evaluator.run(None, {**fed, name: moved})
            ends.append(found.ravel())
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.stack(columns, axis=1)


def mlp(activation: str, **attributes: Any) -> Callable[[], Any]:
    """Two hidden layers."""
    net = Net()
    h = net.linear("l1", net.input("x", 3), 3, 4)
    h = net.linear("l2", net(activation, h, **attributes), 4, 4)
    return net.model(net.linear("l3", net(activation, h, **attributes), 4, 2))


for _op in ("Tanh", "Sigmoid", "Softplus", "Relu", "LeakyRelu", "Elu", "HardSwish", "Mish"):
    MODELS[f"mlp_{_op.lower()}"] = functools.partial(mlp, _op)
MODELS["mlp_gelu"] = functools.partial(mlp, "Gelu")
MODELS["mlp_gelu_tanh"] = functools.partial(mlp, "Gelu", approximate="tanh")


@model
def silu() -> Any:
    """A gated layer (SwiGLU)."""
    net = Net()
    x = net.input("x", 3)
    gate = net.linear("gate", x, 3, 5, bias=False)
    gate = net("Mul", gate, net("Sigmoid", gate))
    both = net("Mul", gate, net.linear("up", x, 3, 5, bias=False))
    return net.model(net.linear("down", both, 5, 2))


@model
def convnet() -> Any:
    """Convolutions with stride, pads, groups and batch normalization, a block with a shortcut."""
    net = Net()
    x = net.input("x", 2, 6, 5)
    h = net("Conv", x, net.weight("c1.weight", 4, 2, 3, 3), net.weight("c1.bias", 4),
            pads=[1, 1, 1, 1], strides=[2, 1])  # fmt: skip
    h = net("BatchNormalization", h, net.weight("n1.weight", 4), net.weight("n1.bias", 4),
            net.weight("n1.mean", 4), net.weight("n1.var", 4, positive=True))  # fmt: skip
    h = net("Relu", h)
    g = net("Conv", h, net.weight("c2.weight", 4, 2, 3, 3), pads=[1, 1, 1, 1], group=2)
    h = net("Relu", net("Add", g, h))
    h = net("MaxPool", h, kernel_shape=[2, 2], strides=[1, 2], pads=[0, 1, 0, 0])
    h = net("AveragePool", h, kernel_shape=[2, 2], pads=[1, 0, 0, 0], count_include_pad=1)
    h = net("Flatten", net("GlobalAveragePool", h))
    return net.model(net.linear("head", h, 4, 3))


@model
def conv1d() -> Any:
    """Convolutions along one axis with dilation, group norm, means over windows, a clipped sum."""
    net = Net(opset=21)
    x = net.input("x", 2, 9)
    h = net("Conv", x, net.weight("c1.weight", 4, 2, 3), net.weight("c1.bias", 4),
            dilations=[2], auto_pad="SAME_UPPER")  # fmt: skip
    h = net("GroupNormalization", h, net.weight("g.weight", 4), net.weight("g.bias", 4),
            num_groups=2)  # fmt: skip
    h = net("AveragePool", net("Tanh", h), kernel_shape=[3], strides=[2], ceil_mode=1)
    h = net("ReduceMax", h, net.tensor(np.array([2])), keepdims=0)
    return net.model(net.linear("head", h, 4, 2))


def block(causal: bool, norm: str, gelu: str, D: int = 8, H: int = 2, S: int = 3) -> Any:
    """A transformer block before a mean over steps and a head."""
    net = Net(opset=23)
    x = net.input("x", S, D)

    def normed(name: str, h: str) -> str:
        if norm == "LayerNormalization":
            parts = (net.weight(f"{name}.weight", D), net.weight(f"{name}.bias", D))
            return str(net(norm, h, *parts))
        return str(net(norm, h, net.weight(f"{name}.weight", D)))

    def heads(h: str) -> str:
        size = net("Shape", x)
        first = net("Gather", size, net.tensor(np.array([0])))
        shape = net("Concat", first, net.tensor(np.array([S, H, D // H])), axis=0)
        return str(net("Transpose", net("Reshape", h, shape), perm=[0, 2, 1, 3]))

    h = normed("n1", x)
    q, k, v = (heads(net.linear(name, h, D, D)) for name in "qkv")
    k = net("Transpose", k, perm=[0, 1, 3, 2])
    scale = net("Sqrt", net.tensor(np.array(float(D // H))))
    scores = net("Div", net("MatMul", q, k), scale)
    if causal:
        mask = np.triu(np.full((S, S), -np.inf), 1)
        scores = net("Add", scores, net.tensor(mask))
    mixed = net("MatMul", net("Softmax", scores, axis=-1), v)
    mixed = net("Reshape", net("Transpose", mixed, perm=[0, 2, 1, 3]),
                net.tensor(np.array([0, 0, -1])))  # fmt: skip
    x2 = net("Add", x, net.linear("o", mixed, D, D))
    h = net.linear("up", normed("n2", x2), D, 2 * D)
    h = net.linear("down", net("Gelu", h, approximate=gelu), 2 * D, D)
    out = net("Add", x2, h)
    out = net("ReduceMean", out, net.tensor(np.array([1])), keepdims=0)
    return net.model(net.linear("head", out, D, 3))


MODELS["transformer"] = functools.partial(block, False, "LayerNormalization", "tanh")
MODELS["causal"] = functools.partial(block, True, "RMSNormalization", "none")


@model
def positions_first() -> Any:
    """Products as torch writes them for attention: positions first, made one axis with samples."""
    net = Net()
    x = net.input("x", 3, 4)
    h = net("Transpose", x, perm=[1, 0, 2])
    rows = net("Reshape", h, net.tensor(np.array([-1, 4])))
    first = net("Gemm", rows, net.weight("A", 4, 4), net.weight("a", 4), transB=1)
    first = net("MatMul", first, net.weight("B", 4, 4))
    size = net("Gather", net("Shape", first), net.tensor(np.array([1])))
    shape = net("Concat", net.tensor(np.array([3, -1])), size, axis=0)
    h = net("Tanh", net("Reshape", first, shape))
    h = net("Add", x, net("Transpose", h, perm=[1, 0, 2]))
    h = net("Reshape", h, net.tensor(np.array([0, 12])))
    return net.model(net.linear("head", h, 12, 2))


@model
def sample_constants() -> Any:
    """Constants with an axis of the samples, as exporters of torch write masks and positions."""
    net = Net()
    x = net.input("ids", 3, type=TensorProto.INT64)
    count = net("Gather", net("Shape", x), net.tensor(np.array([0])))

    def repeated(array: Any) -> Any:
        shape = net("Concat", count, net.tensor(np.array(np.shape(array)[1:])), axis=0)
        return net("Expand", net.tensor(np.array(array)), shape)

    h = net("Gather", net.weight("words", 5, 4), x)
    h = net("Add", h, net("Gather", net.weight("kinds", 2, 4), repeated([[0, 1, 1]])))
    mask = net("Not", net("Unsqueeze", repeated([[True, False, False]]), net.tensor([2])))
    h = net("Where", net("Cast", mask, to=TensorProto.BOOL), h, net.tensor(np.array(0.5)))
    turned = repeated(np.arange(12).reshape(1, 3, 4) % 3)
    h = net("Tanh", net("GatherElements", h, turned, axis=1))
    h = net("Reshape", h, net.tensor(np.array([0, 12])))
    return net.model(net.linear("head", h, 12, 2))


def recurrent(op: str, gates: int, direction: str = "forward", **attributes: Any) -> Any:
    """A recurrent layer over three steps, its last state read."""
    net, both = Net(), 2 if direction == "bidirectional" else 1
    x = net("Transpose", net.input("x", 3, 2), perm=[1, 0, 2])
    parts = (
        net.weight("w", both, gates * 3, 2), net.weight("r", both, gates * 3, 3),
        net.weight("b", both, 2 * gates * 3),
    )  # fmt: skip
    _, last = net(op, x, *parts, outputs=2, hidden_size=3, direction=direction, **attributes)
    last = net("Transpose", last, perm=[1, 0, 2])
    flat = net("Reshape", last, net.tensor(np.array([-1, both * 3])))
    return net.model(net.linear("head", flat, both * 3, 2))


MODELS["rnn"] = functools.partial(recurrent, "RNN", 1)
MODELS["gru"] = functools.partial(recurrent, "GRU", 3, linear_before_reset=1)
MODELS["gru_first"] = functools.partial(recurrent, "GRU", 3, linear_before_reset=0)
MODELS["lstm"] = functools.partial(recurrent, "LSTM", 4)
MODELS["lstm_both"] = functools.partial(recurrent, "LSTM", 4, "bidirectional")


@model
def embedding() -> Any:
    """Tokens chosen from a table, positions, a mask by Where, one query that learns."""
    net = Net()
    x = net.input("ids", 4, type=TensorProto.INT64)
    h = net("Gather", net.weight("table", 6, 3), x)
    h = net("Add", h, net.weight("positions", 4, 3))
    query = net("Unsqueeze", net.weight("query", 3), net.tensor(np.array([1])))
    scores = net("Squeeze", net("MatMul", h, query), net.tensor(np.array([2])))
    allowed = net.tensor(np.array([[True, True, False, True]]))
    scores = net("Where", allowed, scores, net.tensor(np.array(-np.inf)))
    shares = net("Unsqueeze", net("Softmax", scores, axis=-1), net.tensor(np.array([1])))
    mixed = net("Squeeze", net("MatMul", shares, h), net.tensor(np.array([1])))
    return net.model(net.linear("head", mixed, 3, 2))


@model
def pieces() -> Any:
    """Slices, splits, joins, pads, repeats, powers, extremes and sums of squares."""
    net = Net()
    x = net.input("x", 2, 4)
    a, b = net("Split", x, net.tensor(np.array([1, 3])), outputs=2, axis=2)
    a = net("Expand", a, net.tensor(np.array([1, 1, 3])))
    c = net("Concat", net("Max", a, b), net("Min", a, net.weight("floor", 2, 3)), axis=1)
    c = net("Pad", c, net.tensor(np.array([0, 1, 0, 0, 0, 2])))
    c = net("Slice", c, net.tensor(np.array([-1])), net.tensor(np.array([-99])),
            net.tensor(np.array([1])), net.tensor(np.array([-2])))  # fmt: skip
    c = net("Gather", c, net.tensor(np.array([4, 0, 1])), axis=2)
    c = net("Mul", c, net.weight("gain", 3, 1))
    d = net("Pow", net("ReduceSumSquare", c, net.tensor(np.array([2]))), net.tensor(1.5))
    e = net("Div", c, net("Add", d, net.tensor(1.0)))
    e = net("Clip", e, net.tensor(-0.1), net.tensor(0.2))
    e = net("Einsum", e, net.weight("form", 3, 3), equation="nij,jk->nik")
    return net.model(net("Reshape", net("Neg", e), net.tensor(np.array([-1, 9]))))


def images(height: int, width: int) -> Any:
    """Five convolutions with ReLU and maxima over windows, and a last layer."""
    net = Net()
    x = net("Unsqueeze", net.input("x", height, width), net.tensor(np.array([1])))
    channels = (1, 32, 32, 32, 32, 64)
    for k, (q, n) in enumerate(pairwise(channels)):
        kernel = net.rng.standard_normal((n, q, 3, 3)) / np.sqrt(4.5 * q)
        bias = net.weight(f"c{k}.bias", n)
        x = net("Conv", x, net.tensor(kernel, f"c{k}.weight"), bias, pads=[1, 1, 1, 1])
        x = net("Relu", x)
        if k in (1, 2, 3):
            x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    return net.model(net.linear("head", net("Flatten", net("GlobalMaxPool", x)), 64, 1))
