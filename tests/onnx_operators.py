"""Small networks around single operators: a linear layer, the operator, a linear layer."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.onnx_models import Net

Around = Callable[[Net, str], str]
# Each with the network that the reference evaluates, which differs where the reference lacks the
# operator or a case of it: it then has other operators, and the same weights.
NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}


def around(name: str, shape: tuple[int, ...], wide: int, opset: int = 22) -> Callable[..., Around]:
    """Enter a network: its operator takes (N, *shape) and gives `wide` numbers a sample."""

    def make(operator: Around) -> Any:
        net = Net(seed=3, opset=opset)
        size = math.prod(shape)
        h = net.linear("in", net.input("x", 3), 3, size)
        h = net("Reshape", h, net.tensor(np.array([-1, *shape])))
        flat = net("Reshape", operator(net, h), net.tensor(np.array([-1, wide])))
        return net.model(net.linear("out", flat, wide, 2))

    def enter(operator: Around, twin: Around | None = None) -> Around:
        NETWORKS[name] = partial(make, operator), partial(make, twin or operator)
        return operator

    return enter


def plain(
    op: str, shape: tuple[int, ...], wide: int = 0, opset: int = 22, twin: Around | None = None,
    **attributes: Any,
) -> None:  # fmt: skip
    """Enter the network of an operator with one input."""
    name = "_".join([op, *(str(value) for value in attributes.values())])
    enter = around(name, shape, wide or math.prod(shape), opset)
    enter(lambda net, h: net(op, h, **attributes), twin)


def numbers(net: Net, *values: int) -> str:
    """Integers of the file."""
    return str(net.tensor(np.array(values)))


def near(net: Net, h: str) -> str:
    """LRN of four channels by a product with a matrix: size 3, α = 1/2, β = 3/4, bias 1."""
    flat = net("Reshape", net("Mul", h, h), numbers(net, -1, 4, 3))
    band = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    total = net("MatMul", net.tensor(band * (0.5 / 3)), flat)
    below = net("Pow", net("Add", total, net.tensor(1.0)), net.tensor(0.75))
    return str(net("Div", h, net("Reshape", below, numbers(net, -1, 4, 1, 3))))


def standardized(net: Net, h: str) -> str:
    """(x − mean)/(deviation + 1e-9) over the last two axes."""
    axes = numbers(net, 2, 3)
    h = net("Sub", h, net("ReduceMean", h, axes))
    root = net("Sqrt", net("ReduceMean", net("Mul", h, h), axes))
    return str(net("Div", h, net("Add", root, net.tensor(1e-9))))


for _op in ("Celu", "Elu", "Selu", "Softsign", "ThresholdedRelu"):
    plain(_op, (5,))
for _op in ("Cos", "Cosh", "Sin", "Sinh", "Tan"):
    plain(_op, (5,))
plain("Celu", (5,), alpha=0.7)
plain("Selu", (5,), alpha=1.3, gamma=0.8)
plain("Shrink", (5,), bias=0.1, lambd=0.2)
plain("Swish", (5,), opset=24, alpha=0.7)
plain("Swish", (5,), opset=24)
plain("LogSoftmax", (2, 3), axis=-1)
plain("LogSoftmax", (2, 3), axis=1)
plain("SpaceToDepth", (1, 4, 4), blocksize=2)
plain("DepthToSpace", (4, 2, 2), blocksize=2, mode="CRD")
plain("LRN", (4, 1, 3), twin=near, size=3, alpha=0.5, beta=0.75, bias=1.0)
plain("LpPool", (2, 5), 4, kernel_shape=[2], strides=[3], p=2)
plain("LpPool", (2, 5), 4, kernel_shape=[2], strides=[3], p=1)
plain("LpNormalization", (2, 4), axis=-1, p=2)
plain(
    "LpNormalization",
    (2, 4),
    axis=-1,
    p=1,
    twin=lambda net, h: net("Div", h, net("ReduceL1", h, numbers(net, -1))),
)
plain("GlobalLpPool", (3, 4), 3, p=2, twin=lambda net, h: net("ReduceL2", h, numbers(net, 2)))
plain(
    "Softmax",
    (2, 3),
    opset=11,
    axis=1,
    twin=lambda net, h: net("Softmax", net("Flatten", h), axis=-1),
)
plain("AveragePool", (2, 5), 4, kernel_shape=[3], strides=[3], ceil_mode=1)
plain("MaxPool", (2, 5), 4, kernel_shape=[3], strides=[2])
plain("MeanVarianceNormalization", (2, 3, 2), twin=standardized, axes=[2, 3])


@around("Log", (5,), 5)
def _log(net: Net, h: str) -> str:
    return str(net("Log", net("Add", net("Mul", h, h), net.tensor(1.0))))


@around("Log of a bias", (5,), 5)
def _log_of_bias(net: Net, h: str) -> str:
    total = net("Add", net("Exp", h), net("Exp", net.weight("shift", 5)))
    return str(net("Tanh", net("Log", total)))


@around("Pow to 3/4", (5,), 5)
def _power(net: Net, h: str) -> str:
    return str(net("Pow", net("Add", net("Mul", h, h), net.tensor(1.0)), net.tensor(0.75)))


@around("Pow to what learns", (5,), 5)
def _learned_power(net: Net, h: str) -> str:
    base = net("Add", net("Mul", h, h), net.tensor(1.0))
    return str(net("Pow", base, net.weight("exponent", 5)))


@around("Pow to several numbers", (3,), 3)
def _powers(net: Net, h: str) -> str:
    base = net("Add", net("Mul", h, h), net.tensor(1.0))
    made = net("Pow", base, net.tensor(np.array([2.0, 0.3, -0.5])))
    return str(net("Add", made, net("Pow", net.tensor(2.0), h)))


@around("TopK", (5,), 5)
def _largest(net: Net, h: str) -> str:
    most, _ = net("TopK", h, numbers(net, 3), outputs=2, axis=-1)
    least, _ = net("TopK", h, numbers(net, 2), outputs=2, axis=-1, largest=0)
    return str(net("Concat", least, most, axis=-1))


@around("places of the largest", (4,), 6)
def _places(net: Net, h: str) -> str:
    _, at = net("TopK", h, numbers(net, 2), outputs=2, axis=-1)
    rows = net("Gather", net.weight("table", 4, 3), net("ArgMax", h, axis=-1, keepdims=0))
    last = net("GatherElements", h, net("ArgMin", h, axis=1), axis=1)
    return str(net("Concat", net("GatherElements", h, at, axis=1), rows, last, axis=-1))


@around("ReduceMax with a mask", (2, 3), 2)
def _masked_largest(net: Net, h: str) -> str:
    mask = net.tensor(np.array([[True, False, True], [False, True, True]]))
    masked = net("Where", mask, h, net.tensor(np.array(-np.inf)))
    return str(net("ReduceMax", masked, numbers(net, 2), keepdims=0))


@around("SpaceToDepth with channels last", (4, 4, 2), 32)
def _channels_last(net: Net, h: str) -> str:
    made = net("SpaceToDepth", net("Transpose", h, perm=[0, 3, 1, 2]), blocksize=2)
    return str(net("Transpose", made, perm=[0, 2, 3, 1]))


@around("Mean", (4,), 4)
def _mean(net: Net, h: str) -> str:
    return str(net("Mean", h, net("Tanh", h), net.weight("third", 4)))


@around("ConvTranspose", (2, 4), 27)
def _transposed(net: Net, h: str) -> str:
    return str(net("ConvTranspose", h, net.weight("kernel", 2, 3, 3), net.weight("shift", 3),
                   strides=[2], output_padding=[1], pads=[0, 1]))  # fmt: skip


def _transposed_groups(net: Net, h: str) -> str:
    return str(net("ConvTranspose", h, net.weight("kernel", 4, 1, 2, 3), group=2,
                   dilations=[2, 1], pads=[0, 1, 0, 1]))  # fmt: skip


def _transposed_each(net: Net, h: str) -> str:
    """Each group by a convolution of its own."""
    half = numbers(net, 2, 2)
    images = net("Split", h, half, outputs=2, axis=1)
    kernels = net("Split", net.weight("kernel", 4, 1, 2, 3), half, outputs=2, axis=0)
    made = [net("ConvTranspose", a, k, dilations=[2, 1], pads=[0, 1, 0, 1])
            for a, k in zip(images, kernels, strict=True)]  # fmt: skip
    return str(net("Concat", *made, axis=1))


around("ConvTranspose in groups", (4, 2, 3), 2 * 4 * 3)(_transposed_groups, _transposed_each)


@around("ConvTranspose to a shape", (2, 4), 2 * 7)
def _transposed_shape(net: Net, h: str) -> str:
    return str(net("ConvTranspose", h, net.weight("kernel", 2, 2, 3), strides=[2],
                   output_shape=[7], auto_pad="SAME_UPPER"))  # fmt: skip


def resized(mode: str, transform: str, scales: list[float], **attributes: Any) -> Around:
    """Resize by scales."""

    def operator(net: Net, h: str) -> str:
        scale = net.tensor(np.array([1, 1, *scales], np.float32))
        return str(net("Resize", h, "", scale, mode=mode,
                       coordinate_transformation_mode=transform, **attributes))  # fmt: skip

    return operator


around("Resize nearest", (1, 2, 3), 4 * 6)(
    resized("nearest", "asymmetric", [2, 2], nearest_mode="floor")
)
around("Resize nearest, half pixels", (1, 2, 4), 4 * 2)(
    resized("nearest", "half_pixel", [2, 0.5], nearest_mode="round_prefer_ceil")
)
around("Resize linear", (1, 2, 3), 4 * 6)(resized("linear", "half_pixel", [2, 2]))
around("Resize linear, corners", (1, 2, 3), 4 * 6)(resized("linear", "align_corners", [2, 2]))
around("Resize linear, smaller", (1, 4, 4), 2 * 2)(
    resized("linear", "pytorch_half_pixel", [0.5, 0.5])
)
around("Resize cubic", (1, 4, 4), 8 * 8)(resized("cubic", "half_pixel", [2, 2], cubic_coeff_a=-0.5))


@around("Resize by sizes", (1, 2, 3), 3 * 5)
def _by_sizes(net: Net, h: str) -> str:
    sizes = net.tensor(np.array([3, 5]))
    return str(net("Resize", h, "", "", sizes, mode="linear", axes=[2, 3],
                   coordinate_transformation_mode="half_pixel_symmetric"))  # fmt: skip


@around("Pad by a number", (2, 3), 2 * 6)
def _padded(net: Net, h: str) -> str:
    pads = net.tensor(np.array([1, 2]))
    return str(net("Tanh", net("Pad", h, pads, net.tensor(0.7), net.tensor(np.array([2])))))


@around("Trilu", (3, 3), 9)
def _triangle(net: Net, h: str) -> str:
    return str(net("Trilu", h, net.tensor(np.array(1)), upper=0))


@around("CumSum", (2, 4), 8)
def _cumulative(net: Net, h: str) -> str:
    return str(net("CumSum", h, net.tensor(np.array(2)), exclusive=1, reverse=1))


for _op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):

    @around(_op, (3, 4), 3)
    def _reduced(net: Net, h: str, op: str = _op) -> str:
        if op == "ReduceLogSum":
            h = net("Softplus", h)
        return str(net(op, h, net.tensor(np.array([-1])), keepdims=0))


def recurrent(op: str, gates: int, **attributes: Any) -> Around:
    """A recurrent layer over two steps."""

    def operator(net: Net, h: str) -> str:
        parts = net.weight("w", 1, gates * 2, 3), net.weight("r", 1, gates * 2, 2)
        x = net("Transpose", h, perm=[1, 0, 2])
        _, last = net(op, x, *parts, net.weight("b", 1, 2 * gates * 2), outputs=2, hidden_size=2,
                      **attributes)  # fmt: skip
        return str(net("Transpose", last, perm=[1, 0, 2]))

    return operator


def _stepwise(net: Net, h: str) -> str:
    """The same as "RNN with ReLU" without the operator."""
    first = numbers(net, 0)

    def whole(name: str, *shape: int) -> str:
        return str(net("Squeeze", net.weight(name, *shape), first))

    w, r, b = whole("w", 1, 2, 3), whole("r", 1, 2, 2), whole("b", 1, 4)
    shift = net("Add", *net("Split", b, numbers(net, 2, 2), outputs=2, axis=0))
    state = ""
    for t in range(2):
        driven = net("Gemm", net("Gather", h, net.tensor(np.array(t)), axis=1), w, shift, transB=1)
        if state:
            driven = net("Add", driven, net("Gemm", state, r, transB=1))
        state = str(net("Relu", driven))
    return state


@around("LSTM with peepholes", (2, 3), 2)
def _peepholes(net: Net, h: str) -> str:
    parts = net.weight("w", 1, 8, 3), net.weight("r", 1, 8, 2), net.weight("b", 1, 16)
    x = net("Transpose", h, perm=[1, 0, 2])
    _, last = net("LSTM", x, *parts, "", "", "", net.weight("p", 1, 6), outputs=2, hidden_size=2)
    return str(net("Transpose", last, perm=[1, 0, 2]))


around("RNN with ReLU", (2, 3), 2)(recurrent("RNN", 1, activations=["Relu"]), _stepwise)


def attention(steps: int = 4, heads: tuple[int, int] = (2, 2), **attributes: Any) -> Around:
    """Attention of queries, keys and values that are linear in the same states."""

    def operator(net: Net, h: str) -> str:
        parts = []
        for name, count in zip("qkv", (heads[0], heads[1], heads[1]), strict=True):
            made = net.linear(name, h, 3, count * 2, bias=False)
            shape = net.tensor(np.array([-1, steps, count, 2]))
            parts.append(net("Transpose", net("Reshape", made, shape), perm=[0, 2, 1, 3]))
        return str(net("Attention", *parts, **attributes))

    return operator


around("Attention", (4, 3), 16, 25)(attention())
around("Attention in a window", (4, 3), 16, 25)(attention(left_window_size=1, right_window_size=0))
around("Attention, causal, capped", (4, 3), 16, 25)(attention(is_causal=1, softcap=1.5))
around("Attention, shared keys", (4, 3), 16, 25)(attention(heads=(2, 1), scale=0.3))


@around("Attention of three axes", (3, 3), 12, 25)
def _flat_attention(net: Net, h: str) -> str:
    parts = [net.linear(name, h, 3, 4, bias=False) for name in "qkv"]
    return str(net("Attention", *parts, q_num_heads=2, kv_num_heads=2))


@around("Comparisons", (2, 3), 6)
def _pieces(net: Net, h: str) -> str:
    """Squares above a bound that is learned, and below another one the opposite."""
    bound = net.weight("bound", 3)
    low = net("Where", net("Less", h, net.tensor(np.array(-0.4))), net("Neg", h), h)
    inside = net("And", net("GreaterOrEqual", h, bound), net("Not", net("Greater", h, low)))
    return str(net("Where", inside, net("Mul", h, h), net("Mul", low, net("Sign", h))))


@around("A comparison that is moved", (3, 2), 6)
def _turned(net: Net, h: str) -> str:
    """Multiplied as a number, and chosen by in another order of the axes."""
    mark = net("LessOrEqual", h, net.tensor(np.array(0.2)))
    part = net("Mul", h, net("Cast", mark, to=11))
    turned = net("Transpose", mark, perm=[0, 2, 1])
    back = net(
        "Where",
        turned,
        net("Transpose", h, perm=[0, 2, 1]),
        net("Exp", net("Transpose", part, perm=[0, 2, 1])),
    )
    return str(back)


@around("A logarithm where it is a number", (2, 3), 6)
def _guarded(net: Net, h: str) -> str:
    """log x for x > 0, and x otherwise: what is not chosen may be no number."""
    return str(net("Where", net("Greater", h, net.tensor(np.array(0.0))), net("Log", h), h))


# -- entries at places, products, masks ----------------------------------------------------------


def repeated(net: Net, h: str, *indices: Any) -> str:
    """Whole numbers of the file, the same for each sample."""
    table = np.array(indices)[None]
    first = net("Shape", h, end=1)
    shape = net("Concat", first, numbers(net, *table.shape[1:]), axis=0)
    return str(net("Expand", net.tensor(table), shape))


for _kept in (0, 1):
    plain("ReduceProd", (2, 3), 1, opset=17, axes=[1, 2], keepdims=_kept)
for _which in (dict[str, int](), {"exclusive": 1, "reverse": 1}):

    @around(f"CumProd {_which}", (2, 3), 6, 26)
    def _products(net: Net, h: str, which: dict[str, int] = _which) -> str:
        return str(net("CumProd", h, net.tensor(np.array(2)), **which))


for _how in ("none", "add", "mul", "max", "min"):

    @around(f"ScatterElements {_how}", (3, 2), 6)
    def _scattered(net: Net, h: str, how: str = _how) -> str:
        """Rows of a table with others at their places, two at one unless they replace them."""
        at = numbers(net, 0, 1 if how == "none" else 0)
        at = net("Unsqueeze", at, numbers(net, 1))
        table = net("ScatterElements", net.weight("table", 3, 2), at, net.weight("rows", 2, 1),
                    reduction=how)  # fmt: skip
        return str(net("Add", net("Tanh", h), table))

    @around(f"ScatterND {_how}", (3, 2), 6)
    def _blocks(net: Net, h: str, how: str = _how) -> str:
        """Rows of the values of all samples, the samples along the second axis."""
        h = net("Transpose", h, perm=[1, 0, 2])
        at = net.tensor(np.array([[2], [0 if how == "none" else 2]]))
        part = net("Slice", net("Tanh", h), numbers(net, 0), numbers(net, 2))
        return str(net("Transpose", net("ScatterND", h, at, part, reduction=how), perm=[1, 0, 2]))


@around("ScatterElements of each sample", (3, 2), 6)
def _added(net: Net, h: str) -> str:
    part = net("Slice", net("Tanh", h), numbers(net, 0), numbers(net, 2), numbers(net, 1))
    at = repeated(net, h, [0, 2], [2, -1])
    return str(net("ScatterElements", h, at, part, axis=1, reduction="add"))


@around("GatherElements of each sample", (3, 2), 4)
def _elements(net: Net, h: str) -> str:
    return str(net("GatherElements", h, repeated(net, h, [0, 2], [2, -1]), axis=1))


@around("GatherND of each sample", (3, 2), 6)
def _gathered(net: Net, h: str) -> str:
    own = net("GatherND", h, repeated(net, h, [0], [-1]), batch_dims=1)
    entries = net("GatherND", net.weight("table", 3, 2), net.tensor(np.array([[0, 1], [2, 0]])))
    rows = net("Transpose", h, perm=[1, 0, 2])
    last = net("Transpose", net("GatherND", rows, net.tensor(np.array([[2]]))), perm=[1, 0, 2])
    return str(net("Concat", net("Mul", own, entries), last, axis=1))


@around("a mixture of two experts", (4,), 4)
def _mixture(net: Net, h: str) -> str:
    values, at = net("TopK", h, numbers(net, 2), outputs=2, axis=-1)
    gates = net("ScatterElements", net("Mul", h, net.tensor(0.0)), at,
                net("Softmax", values, axis=-1), axis=1)  # fmt: skip
    return str(net("Mul", gates, net("Tanh", h)))


@around("masked extremes", (2, 4), 12)
def _masked(net: Net, h: str) -> str:
    """Largest entries, their places and sums of exponentials, of those that a mask leaves."""
    mask = net.tensor(np.array([[True, False, True, True], [True, True, True, False]]))
    left = net("Where", mask, h, net.tensor(-np.inf))
    top, _ = net("TopK", left, numbers(net, 2), outputs=2, axis=-1)
    first = net("ArgMax", left, axis=-1, keepdims=0)
    rows = net("Gather", net.weight("rows", 4, 2), first)
    total = net("ReduceLogSumExp", left, numbers(net, 2))
    logs = net("Where", mask, net("LogSoftmax", left, axis=-1), net.tensor(0.0))
    best = net("MaxPool", net("Pad", h, numbers(net, 0, 0, 1, 0, 0, 0), net.tensor(-np.inf)),
               kernel_shape=[5])  # fmt: skip
    number = net("Cast", first, to=11)
    number = net("Unsqueeze", number, numbers(net, 2))
    parts = net("Concat", top, rows, net("Add", total, number), best, axis=-1)
    half = net("Gather", logs, numbers(net, 0), axis=1)
    flat = net("Reshape", parts, numbers(net, -1, 12))
    return str(net("Concat", net("Slice", flat, numbers(net, 0), numbers(net, 8), numbers(net, 1)),
                   net("Reshape", half, numbers(net, -1, 4)), axis=-1))  # fmt: skip


@around("numbers that are finite", (4,), 4)
def _finite(net: Net, h: str) -> str:
    found = net("Where", net("IsNaN", h), net.tensor(1.0), net("Tanh", h))
    count = net("ReduceSum", net("Cast", net("Not", net("IsNaN", h)), to=11), numbers(net, 1))
    found = net("Div", found, count)
    low = net("And", net("IsInf", found), net("Less", found, net.tensor(0.0)))
    found = net("Where", low, net.tensor(-3e38), found)
    return str(net("Where", net("IsInf", found), net.tensor(2.0), found))


@around("Einsum with dots", (2, 3), 6)
def _dots(net: Net, h: str) -> str:
    made = net("Einsum", h, net.weight("a", 3, 2), equation="...i,ij->...j")
    whole = net("Einsum", h, net.weight("b", 3, 2), equation="...i,i...")
    return str(net("Concat", net("Reshape", made, numbers(net, -1, 4)), whole, axis=-1))


@around("no entries", (4,), 4)
def _empty(net: Net, h: str) -> str:
    none = net("Slice", h, numbers(net, 4), numbers(net, 4), numbers(net, 1))
    return str(net("Concat", net("Tanh", h), none, axis=1))
