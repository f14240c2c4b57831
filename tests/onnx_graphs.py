"""Random ONNX graphs of some sixty operators, for comparisons of ranks with singular values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.onnx_models import Net

Shape = tuple[int, ...]
UNARY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Tanh", {}), ("Sigmoid", {}), ("Relu", {}), ("LeakyRelu", {"alpha": 0.2}), ("Elu", {}),
    ("Softplus", {}), ("Erf", {}), ("Abs", {}), ("Neg", {}), ("Sin", {}), ("Cos", {}),
    ("Gelu", {}), ("Gelu", {"approximate": "tanh"}), ("HardSigmoid", {}), ("HardSwish", {}),
    ("Mish", {}), ("Selu", {}), ("Celu", {"alpha": 0.7}), ("Softsign", {}),
    ("ThresholdedRelu", {"alpha": 0.3}), ("Shrink", {"lambd": 0.2, "bias": 0.1}),
    ("Identity", {}),
)  # fmt: skip
# Entries of a value of one sample, and of a graph.
_MOST = 24
_MOST_NUMBERS = 90


class Graph:
    """A random graph: values of one sample with their shapes, from which nodes are made.

    Parameters
    ----------
    seed : int
    count : int, optional
        Number of steps, each of one to four nodes.
    """

    def __init__(self, seed: int, count: int | None = None) -> None:
        self.rng = np.random.default_rng([seed, 20])
        self.net = Net(seed=seed, opset=23)
        self.numbers = 0
        size = int(self.rng.integers(2, 5))
        self.values: list[tuple[str, Shape]] = [(self.net.input("x", size), (size,))]
        self.inputs = {"x": (size,)}
        self.add(self.linear(*self.values[0]))
        for _ in range(count or int(self.rng.integers(5, 16))):
            value, shape = self.some()
            makers = self.makers(shape)
            self.add(makers[int(self.rng.integers(len(makers)))](value, shape))
        value, shape = self.values[-1]
        size = int(np.prod(shape))
        if len(shape) > 1:
            value = self.net("Reshape", value, self.whole(-1, size))
        if size > 3 or self.rng.random() < 0.5:
            value, shape = self.linear(value, (size,), int(self.rng.integers(1, 4)))
        self.model = self.net.model(value)

    def add(self, found: tuple[str, Shape] | None) -> None:
        """Enter a value, unless it is too large or its maker did not apply."""
        if found is not None and 0 < int(np.prod(found[1])) <= _MOST:
            self.values.append(found)

    def some(self) -> tuple[str, Shape]:
        """One of the values, a late one most often."""
        back = min(int(self.rng.geometric(0.6)), len(self.values))
        return self.values[-back]

    def whole(self, *numbers: int) -> str:
        """Whole numbers of the file."""
        return str(self.net.tensor(np.array(numbers)))

    def weight(self, *shape: int, positive: bool = False) -> str:
        """A new weight."""
        self.numbers += int(np.prod(shape))
        name = f"w{len(self.net.tensors)}"
        return str(self.net.weight(name, *shape, positive=positive))

    def linear(self, value: str, shape: Shape, wide: int | None = None) -> tuple[str, Shape]:
        """A product of the last axis with a matrix, perhaps with a bias."""
        wide = wide or int(self.rng.integers(2, 5))
        if self.numbers > _MOST_NUMBERS:
            return self.net("Tanh", value), shape
        found = self.net("MatMul", value, self.weight(shape[-1], wide))
        if self.rng.random() < 0.7:
            found = self.net("Add", found, self.weight(wide))
        return found, (*shape[:-1], wide)

    def axis(self, shape: Shape) -> int:
        """An axis of one sample, as an axis of the graph."""
        return 1 + int(self.rng.integers(len(shape)))

    def above(self, value: str) -> str:
        """1 + x², which is positive."""
        return str(self.net("Add", self.net("Mul", value, value), self.net.tensor(1.0)))

    def other(self, shape: Shape) -> str:
        """Another value of the same shape, or a weight."""
        same = [name for name, own in self.values if own == shape]
        if len(same) > 1 and self.rng.random() < 0.6:
            return same[int(self.rng.integers(len(same)))]
        return self.weight(*shape) if self.numbers < _MOST_NUMBERS else same[0]

    def makers(self, shape: Shape) -> list[Callable[[str, Shape], tuple[str, Shape] | None]]:
        """What applies to values of a shape."""
        found = [
            self.unary, self.unary, self.unary, self.positive, self.binary, self.binary,
            self.scaled, self.scaled, self.linear, self.linear, self.chosen, self.reduced,
            self.joined, self.cut, self.padded, self.taken, self.put, self.summed, self.sorted,
            self.normalized, self.reshaped, self.repeated, self.gated,
        ]  # fmt: skip
        if len(shape) == 2:
            found += [self.turned, self.attended, self.convolved, self.pooled, self.recurrent,
                      self.dots] * 2  # fmt: skip
        if len(shape) == 3:
            found += [self.turned, self.spaced] * 2
        return found

    def unary(self, value: str, shape: Shape) -> tuple[str, Shape]:
        op, given = UNARY[int(self.rng.integers(len(UNARY)))]
        return self.net(op, value, **given), shape

    def positive(self, value: str, shape: Shape) -> tuple[str, Shape]:
        """Functions of positive numbers, and powers."""
        net = self.net
        match int(self.rng.integers(7)):
            case 0:
                return net("Sqrt", self.above(value)), shape
            case 1:
                return net("Log", self.above(value)), shape
            case 2:
                return net("Reciprocal", self.above(value)), shape
            case 3:
                return net("Pow", value, net.tensor(2.0)), shape
            case 4 if self.numbers < _MOST_NUMBERS:
                return net("Pow", self.above(value), self.weight(shape[-1])), shape
            case 5:
                low, high = net.tensor(-0.4), net.tensor(0.6)
                return net("Clip", value, low, high), shape
        return net("Exp", net("Mul", value, net.tensor(0.3))), shape

    def binary(self, value: str, shape: Shape) -> tuple[str, Shape]:
        op = str(self.rng.choice(["Add", "Sub", "Mul", "Max", "Min", "Div", "Sum", "Mean"]))
        other = self.other(shape)
        return self.net(op, value, self.above(other) if op == "Div" else other), shape

    def scaled(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        """Times gains, or with slopes, of the last axis."""
        if self.numbers > _MOST_NUMBERS:
            return None
        op = str(self.rng.choice(["Mul", "Add", "PRelu"]))
        return self.net(op, value, self.weight(shape[-1])), shape

    def chosen(self, value: str, shape: Shape) -> tuple[str, Shape]:
        other = self.other(shape)
        op = str(self.rng.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual"]))
        mark = self.net(op, value, other)
        if self.rng.random() < 0.3:
            mark = self.net("Not", mark)
        return self.net("Where", mark, self.net("Tanh", value), other), shape

    def reduced(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        ops = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp"]
        axis, keep = self.axis(shape), int(self.rng.integers(2))
        if len(shape) == 1:
            keep = 1
        found = self.net(f"Reduce{self.rng.choice(ops)}", value, self.whole(axis), keepdims=keep)
        left = [size for k, size in enumerate(shape, 1) if k != axis]
        return found, tuple(left) if not keep else (*shape[: axis - 1], 1, *shape[axis:])

    def joined(self, value: str, shape: Shape) -> tuple[str, Shape]:
        axis = self.axis(shape)
        made = self.net("Concat", value, self.net("Sigmoid", value), axis=axis)
        return made, (*shape[: axis - 1], 2 * shape[axis - 1], *shape[axis:])

    def cut(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        """A part, every second entry backwards, or the product of two parts."""
        axis = self.axis(shape)
        size = shape[axis - 1]
        if size < 2:
            return None
        rest = (shape[: axis - 1], shape[axis:])
        if size % 2 == 0 and self.rng.random() < 0.5:
            a, b = self.net("Split", value, outputs=2, axis=axis, num_outputs=2)
            return self.net("Mul", a, self.net("Sigmoid", b)), (*rest[0], size // 2, *rest[1])
        if self.rng.random() < 0.5:
            ends = [self.whole(n) for n in (-1, -99, axis, -2)]
            return self.net("Slice", value, *ends), (*rest[0], (size + 1) // 2, *rest[1])
        ends = [self.whole(n) for n in (1, 99, axis)]
        return self.net("Slice", value, *ends), (*rest[0], size - 1, *rest[1])

    def padded(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        axis, mode = self.axis(shape), str(self.rng.choice(["constant", "edge", "wrap", "reflect"]))
        size = shape[axis - 1]
        if size < 2:
            return None
        pads = [0] * (2 * (len(shape) + 1))
        pads[axis] = pads[axis + len(shape) + 1] = 1
        made = self.net("Pad", value, self.whole(*pads), mode=mode)
        return made, (*shape[: axis - 1], size + 2, *shape[axis:])

    def taken(self, value: str, shape: Shape) -> tuple[str, Shape]:
        """Entries by given indices, or by those of the largest of another value."""
        axis = self.axis(shape)
        size, count = shape[axis - 1], int(self.rng.integers(1, 4))
        rest = (shape[: axis - 1], shape[axis:])
        if size > 1 and self.rng.random() < 0.5:
            _, at = self.net("TopK", value, self.whole(1), outputs=2, axis=axis)
            found = self.net("GatherElements", self.net("Tanh", value), at, axis=axis)
            return found, (*rest[0], 1, *rest[1])
        at = self.whole(*self.rng.integers(-size, size, count).tolist())
        return self.net("Gather", value, at, axis=axis), (*rest[0], count, *rest[1])

    def repeats(self, table: np.ndarray, value: str) -> str:
        """Whole numbers, the same for each sample."""
        first = self.net("Shape", value, end=1)
        shape = self.net("Concat", first, self.whole(*table.shape), axis=0)
        return str(self.net("Expand", self.net.tensor(table[None]), shape))

    def put(self, value: str, shape: Shape) -> tuple[str, Shape]:
        """Entries put, or combined, at given indices along an axis."""
        axis, how = self.axis(shape), str(self.rng.choice(["none", "add", "mul", "max", "min"]))
        size = shape[axis - 1]
        count = 1 if how == "none" else int(self.rng.integers(1, size + 1))
        own = (*shape[: axis - 1], count, *shape[axis:])
        at = self.repeats(self.rng.integers(0, size, own), value)
        source = self.net("Sigmoid", value)
        found = self.net("ScatterElements", value, at, source, axis=axis, reduction=how)
        return found, shape

    def summed(self, value: str, shape: Shape) -> tuple[str, Shape]:
        axis = self.net.tensor(np.array(self.axis(shape)))
        reverse = int(self.rng.integers(2))
        return self.net("CumSum", value, axis, reverse=reverse), shape

    def sorted(self, value: str, shape: Shape) -> tuple[str, Shape]:
        axis = self.axis(shape)
        count = int(self.rng.integers(1, shape[axis - 1] + 1))
        largest = int(self.rng.integers(2))
        found, _ = self.net("TopK", value, self.whole(count), outputs=2, axis=axis, largest=largest)
        return found, (*shape[: axis - 1], count, *shape[axis:])

    def normalized(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        net, size = self.net, shape[-1]
        if size < 3 or self.numbers > _MOST_NUMBERS:
            return net("Softmax", value, axis=self.axis(shape)), shape
        match int(self.rng.integers(6)):
            case 0:
                return net("Softmax", value, axis=-1), shape
            case 1:
                return net("LogSoftmax", value, axis=-1), shape
            case 2:
                return net("LayerNormalization", value, self.weight(size), self.weight(size)), shape
            case 3:
                return net("RMSNormalization", value, self.weight(size)), shape
            case 4:
                return net("LpNormalization", value, axis=-1), shape
        size = shape[0]
        parts = [self.weight(size) for _ in range(3)]
        return net("BatchNormalization", value, *parts, self.weight(size, positive=True)), shape

    def reshaped(self, value: str, shape: Shape) -> tuple[str, Shape]:
        """Two axes where there was one, or one where there were several."""
        size = int(np.prod(shape))
        if len(shape) > 1:
            return self.net("Flatten", value), (size,)
        parts = [k for k in range(2, size) if size % k == 0]
        if not parts:
            return self.net("Unsqueeze", value, self.whole(2)), (size, 1)
        first = parts[int(self.rng.integers(len(parts)))]
        return self.net("Reshape", value, self.whole(0, first, -1)), (first, size // first)

    def repeated(self, value: str, shape: Shape) -> tuple[str, Shape]:
        times = [1, *(1 for _ in shape[1:]), 2]
        found = self.net("Tile", value, self.whole(*times))
        return self.net("Tanh", found), (*shape[:-1], 2 * shape[-1])

    def gated(self, value: str, shape: Shape) -> tuple[str, Shape]:
        return self.net("Mul", value, self.net("Sigmoid", value)), shape

    def turned(self, value: str, shape: Shape) -> tuple[str, Shape]:
        order = self.rng.permutation(len(shape))
        found = self.net("Transpose", value, perm=[0, *(1 + order).tolist()])
        return found, tuple(shape[k] for k in order)

    def attended(self, value: str, shape: Shape) -> tuple[str, Shape]:
        """Attention of positions to each other, perhaps to earlier ones only."""
        net, (steps, _) = self.net, shape
        keys = net("Transpose", value, perm=[0, 2, 1])
        scores = net("MatMul", self.linear(value, shape, shape[1])[0], keys)
        if self.rng.random() < 0.5:
            mask = np.triu(np.full((steps, steps), -np.inf), 1)
            scores = net("Add", scores, net.tensor(mask))
        return net("MatMul", net("Softmax", scores, axis=-1), value), shape

    def convolved(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        channels, size = shape
        if size < 3 or self.numbers > _MOST_NUMBERS:
            return None
        wide = int(self.rng.integers(1, 4))
        if self.rng.random() < 0.3:
            found = self.net("ConvTranspose", value, self.weight(channels, wide, 2))
            return found, (wide, size + 1)
        found = self.net("Conv", value, self.weight(wide, channels, 3), self.weight(wide),
                         pads=[1, 1])  # fmt: skip
        return found, (wide, size)

    def pooled(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        channels, size = shape
        if size < 2:
            return None
        match int(self.rng.integers(3)):
            case 0:
                return self.net("MaxPool", value, kernel_shape=[2]), (channels, size - 1)
            case 1:
                made = self.net("AveragePool", value, kernel_shape=[2], pads=[1, 0])
                return made, (channels, size)
        return self.net("GlobalAveragePool", value), (channels, 1)

    def recurrent(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        """The last state of a recurrent layer, or all of them."""
        net, (steps, q) = self.net, shape
        if steps < 2 or self.numbers > _MOST_NUMBERS // 2:
            return None
        op = str(self.rng.choice(["RNN", "GRU", "LSTM"]))
        gates, n = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 2
        parts = self.weight(1, gates * n, q), self.weight(1, gates * n, n), self.weight(
            1, 2 * gates * n)  # fmt: skip
        given = {"linear_before_reset": 1} if op == "GRU" else {}
        x = net("Transpose", value, perm=[1, 0, 2])
        states, last = net(op, x, *parts, outputs=2, hidden_size=n, **given)
        if self.rng.random() < 0.5:
            return net("Squeeze", last, self.whole(0)), (n,)
        states = net("Transpose", net("Squeeze", states, self.whole(1)), perm=[1, 0, 2])
        return states, (steps, n)

    def dots(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        if self.numbers > _MOST_NUMBERS:
            return None
        if self.rng.random() < 0.5:
            return self.net("Einsum", value, value, equation="nij,nkj->nik"), (shape[0], shape[0])
        made = self.net("Einsum", value, self.weight(*shape), equation="nij,ij->ni")
        return made, (shape[0],)

    def spaced(self, value: str, shape: Shape) -> tuple[str, Shape] | None:
        c, h, w = shape
        if h % 2 or w % 2:
            return None
        return self.net("SpaceToDepth", value, blocksize=2), (4 * c, h // 2, w // 2)
