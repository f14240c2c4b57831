"""Makes perceptron.onnx, convnet.onnx and block.onnx: three small networks with random weights.

    python examples/data/make_models.py

A perceptron with two hidden layers of ReLU; a convolutional net with batch normalization and a
shortcut; a transformer block of width 8 with two heads, and a head of three labels.  The same seed
makes the same files.
"""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = Path(__file__).parent


class Graph:
    """Nodes and tensors; calling it adds a node and gives the name of its value."""

    def __init__(self, *inputs: int) -> None:
        self.nodes, self.tensors = [], []
        self.rng = np.random.default_rng(0)
        shape = ["samples", *inputs]
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]

    def __call__(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def weight(self, name: str, *shape: int, positive: bool = False) -> str:
        """A parameter."""
        drawn = self.rng.standard_normal(shape) / 2
        return self.number(np.abs(drawn) + 0.5 if positive else drawn, name)

    def number(self, array: object, name: str = "") -> str:
        """Numbers of the file."""
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(np.float32)
        self.tensors.append(numpy_helper.from_array(array, name or f"number_{len(self.tensors)}"))
        return self.tensors[-1].name

    def linear(self, name: str, x: str, q: int, n: int) -> str:
        """A layer with a bias."""
        product = self("MatMul", x, self.weight(f"{name}.weight", q, n))
        return self("Add", product, self.weight(f"{name}.bias", n))

    def write(self, file: str, output: str) -> None:
        """The file."""
        info = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, file, self.inputs, info, self.tensors)
        opset = [helper.make_opsetid("", 20)]
        save(helper.make_model(graph, opset_imports=opset, ir_version=10), FOLDER / f"{file}.onnx")


def perceptron() -> None:
    """8 inputs, hidden layers of 16 and 12, 3 labels."""
    net = Graph(8)
    h = net("Relu", net.linear("layer1", "x", 8, 16))
    h = net("Relu", net.linear("layer2", h, 16, 12))
    net.write("perceptron", net.linear("head", h, 12, 3))


def convnet() -> None:
    """Images of 6 × 6, four channels, a residual block, a mean over the image, 3 labels."""
    net = Graph(1, 6, 6)

    def convolved(name: str, x: str, channels: int) -> str:
        kernel = net.weight(f"{name}.weight", 4, channels, 3, 3)
        h = net("Conv", x, kernel, net.weight(f"{name}.bias", 4), pads=[1, 1, 1, 1])
        parts = [net.weight(f"{name}.norm.{part}", 4) for part in ("weight", "bias", "mean")]
        variance = net.weight(f"{name}.norm.var", 4, positive=True)
        return net("BatchNormalization", h, *parts, variance)

    h = net("Relu", convolved("conv1", "x", 1))
    h = net("Relu", net("Add", h, convolved("conv2", h, 4)))
    h = net("Flatten", net("GlobalAveragePool", h))
    net.write("convnet", net.linear("head", h, 4, 3))


def block(D: int = 8, H: int = 2, S: int = 3) -> None:
    """S tokens of width D, H heads, SiLU, a mean over tokens, 3 labels."""
    net = Graph(S, D)

    def normed(name: str, h: str) -> str:
        gains = [net.weight(f"{name}.{part}", D) for part in ("weight", "bias")]
        return net("LayerNormalization", h, *gains)

    def heads(h: str) -> str:
        split = net("Reshape", h, net.number(np.array([0, S, H, D // H])))
        return net("Transpose", split, perm=[0, 2, 1, 3])

    h = normed("norm1", "x")
    q, k, v = (heads(net.linear(name, h, D, D)) for name in "qkv")
    scores = net("MatMul", q, net("Transpose", k, perm=[0, 1, 3, 2]))
    shares = net("Softmax", net("Mul", scores, net.number(np.array(0.5))), axis=-1)
    mixed = net("Transpose", net("MatMul", shares, v), perm=[0, 2, 1, 3])
    mixed = net("Reshape", mixed, net.number(np.array([0, S, D])))
    x = net("Add", "x", net.linear("o", mixed, D, D))
    h = net.linear("up", normed("norm2", x), D, 2 * D)
    h = net.linear("down", net("Mul", h, net("Sigmoid", h)), 2 * D, D)
    h = net("ReduceMean", net("Add", x, h), net.number(np.array([1])), keepdims=0)
    net.write("block", net.linear("head", h, D, 3))


if __name__ == "__main__":
    perceptron()
    convnet()
    block()
