"""Operators that multiply with weights, norms, sums and pools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.onnx.scope import Call, Operator
from algebra.programs.onnx.values import Item, fraction, letters_of
from algebra.programs.onnx.weights import Parameter

# The attribute's default, 1e-05 as binary32.
_EPSILON = np.float32(1e-5).item()


def multiply_matrices(call: Call, a: Item, b: Item) -> Item:
    """The product of stacks of matrices, by the rules of NumPy."""
    a, b = call.plain(a), call.plain(b)
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = call.move(a, call.places(a)[None], None if a.batch is None else 1)
    if column:
        b = call.move(b, call.places(b)[:, None], b.batch)
    found = _stacks(call, a, b)
    gone = [found.ndim - 2] * row + [found.ndim - 1] * column
    return call.without_axes(found, gone) if gone else found


def _stacks(call: Call, a: Item, b: Item) -> Item:
    if a.shape[-1] != b.shape[-2]:
        raise InputError(f"the shapes {call.shape(a)} and {call.shape(b)} do not fit")
    ndim = max(a.ndim, b.ndim)
    if a.batch == a.ndim - 1 or b.batch == b.ndim - 2:
        raise InputError("it adds along the batch axis, so that a label depends on other samples")
    stack = letters_of(ndim - 2)
    places: list[int] = []
    groups = []
    sizes = [1] * (ndim - 2)
    for item in (a, b):
        own = [1] * (ndim - item.ndim) + list(item.shape[:-2])
        if item.batch is not None:
            places.append(item.batch + ndim - item.ndim)
        for k, size in enumerate(own):
            if 1 not in (size, sizes[k]) and size != sizes[k]:
                raise InputError(f"the shapes {call.shape(a)} and {call.shape(b)} do not fit")
            sizes[k] = max(size, sizes[k])
    if len(set(places)) > 1 or (len(places) == 2 and places[0] >= ndim - 2):
        raise InputError("it combines samples of a batch with each other")
    values = []
    for item, ends in ((a, "xy"), (b, "yz")):
        own = [1] * (ndim - item.ndim) + list(item.shape[:-2])
        kept = [k for k, size in enumerate(own) if size == sizes[k] and size > 1]
        shape = [own[k] for k in kept] + list(item.shape[-2:])
        values.append(call.move(item, call.places(item).reshape(shape), None).value)
        groups.append("".join(stack[k] for k in kept) + ends)
    kept = [k for k, size in enumerate(sizes) if size > 1]
    result = "".join(stack[k] for k in kept) + "xz"
    made = call.build.contract(f"{groups[0]},{groups[1]}->{result}", *values)
    shape = [*sizes, a.shape[-2], b.shape[-1]]
    found = Item(made)
    return call.move(found, call.places(found).reshape(shape), places[0] if places else None)


def _matmul(call: Call) -> Item:
    return multiply_matrices(call, call.item(0), call.item(1))


def _gemm(call: Call) -> Item:
    a, b = call.item(0), call.item(1)
    if call.option("transA", 0):
        a = call.transposed(a, [1, 0])
    if call.option("transB", 0):
        b = call.transposed(b, [1, 0])
    found = call.scaled(multiply_matrices(call, a, b), fraction(call.option("alpha", 1)))
    if call.has(2):
        found = call.total(found, call.scaled(call.item(2), fraction(call.option("beta", 1))))
    return found


def _einsum(call: Call) -> Item:
    equation, items = call.option("equation", "").replace(" ", ""), call.items()
    if "." in equation:
        raise InputError(f"the equation {shown(equation)} has an ellipsis")
    groups = equation.partition("->")[0].split(",")
    if "->" not in equation:
        letters = sorted(set("".join(groups)))
        equation += "->" + "".join(c for c in letters if "".join(groups).count(c) == 1)
    result = equation.partition("->")[2]
    samples = {
        group[item.batch]
        for group, item in zip(groups, items, strict=True)
        if item.batch is not None
    }
    fixed = "".join(g for g, item in zip(groups, items, strict=True) if item.batch is None)
    if len(samples) > 1 or any(c not in result or c in fixed for c in samples):
        raise InputError("it combines samples of a batch with each other")
    made = call.build.contract(equation, *(call.plain(item).value for item in items))
    return Item(made, result.index(samples.pop()) if samples else None)


@dataclass(frozen=True)
class Windows:
    """The positions of a kernel.

    Attributes
    ----------
    places : ndarray
        One row for each entry of the kernel, one column for each position: the index of a place in
        one channel, or −1 outside.
    counts : ndarray of int
        For each position: the number of entries in a mean, padding included if it counts.
    outputs : tuple of int
        Shape of the positions.
    """

    places: np.ndarray
    counts: np.ndarray
    outputs: tuple[int, ...]


def windows(call: Call, sizes: Sequence[int], kernel: Sequence[int]) -> Windows:
    """The windows of a convolution or a pool, from its attributes."""
    rank = len(sizes)
    strides = call.option("strides", [1] * rank)
    dilations = call.option("dilations", [1] * rank)
    pads = list(call.option("pads", [0] * (2 * rank)))
    auto = call.option("auto_pad", "NOTSET")
    reach = [(k - 1) * s + 1 for k, s in zip(kernel, dilations, strict=True)]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for k in range(rank):
            need = max((-(-sizes[k] // strides[k]) - 1) * strides[k] + reach[k] - sizes[k], 0)
            small, large = need // 2, need - need // 2
            ends = (small, large) if auto == "SAME_UPPER" else (large, small)
            pads[k], pads[k + rank] = ends
    rounding = bool(call.option("ceil_mode", 0))
    lines, inside, outputs = [], [], []
    for k in range(rank):
        slack = sizes[k] + pads[k] + pads[k + rank] - reach[k]
        if slack < 0:
            raise InputError(f"a kernel of {reach[k]} does not fit into {sizes[k]} with its pads")
        count = (-(-slack // strides[k]) if rounding else slack // strides[k]) + 1
        if rounding and (count - 1) * strides[k] >= sizes[k] + pads[k]:
            count -= 1
        at = np.arange(count)[None] * strides[k] - pads[k]
        line = at + np.arange(kernel[k])[:, None] * dilations[k]
        inside.append(line < sizes[k] + pads[k + rank])
        lines.append(np.where((line >= 0) & (line < sizes[k]), line, -1))
        outputs.append(count)
    places = np.zeros((1, 1), np.int64)
    within = np.ones((1, 1), bool)
    for line, there, size in zip(lines, inside, sizes, strict=True):
        left, right = places[:, None, :, None], line[None, :, None, :]
        joined = np.where((left < 0) | (right < 0), -1, left * size + right)
        rows, columns = places.shape[0] * line.shape[0], places.shape[1] * line.shape[1]
        places = joined.reshape(rows, columns)
        both = within[:, None, :, None] & there[None, :, None, :]
        within = both.reshape(rows, columns)
    return Windows(places, within.sum(axis=0), tuple(outputs))


def _patches(call: Call, item: Item, found: Windows) -> np.ndarray:
    """Places in one sample: (n, channels, kernel, positions)."""
    n, channels = item.shape[:2]
    inner = math.prod(item.shape[2:])
    starts = np.arange(n * channels, dtype=np.int64).reshape(n, channels, 1, 1) * inner
    return np.where(found.places[None, None] < 0, -1, starts + found.places)


def _check_images(item: Item) -> None:
    if item.batch not in (None, 0) or item.ndim < 3:
        raise InputError("its input must have the axes (samples, channels, …)")


def _convolve(call: Call) -> Item:
    item, kernel = call.plain(call.item(0)), call.item(1)
    _check_images(item)
    groups, sizes = call.option("group", 1), item.shape[2:]
    out, each, *shape = kernel.shape
    if len(shape) != len(sizes) or item.shape[1] != each * groups or out % groups:
        raise InputError(f"the shapes {call.shape(item)} and {kernel.shape} do not fit")
    found = windows(call, sizes, shape)
    n, size = item.shape[0], math.prod(shape)
    places = _patches(call, item, found)
    patches = call.build.index(places.reshape(n, groups, each * size, -1), item.value)
    weights = call.build.reshaped(kernel.value, (groups, out // groups, each * size))
    made = Item(call.build.contract("ngkp,gok->ngop", patches, weights), item.batch)
    whole = call.move(made, call.places(made).reshape(n, out, *found.outputs), item.batch)
    if not call.has(2):
        return whole
    return call.total(whole, _per_channel(call, call.item(2), whole.ndim))


def _per_channel(call: Call, item: Item, ndim: int) -> Item:
    """One number for each channel, repeated over the other axes."""
    return call.move(item, call.places(item).reshape(1, -1, *[1] * (ndim - 2)), None)


def _pool(mean: bool) -> Operator:
    def run(call: Call) -> Item:
        item = call.plain(call.item(0))
        _check_images(item)
        found = windows(call, item.shape[2:], call.option("kernel_shape", []))
        shape = (*item.shape[:2], *found.outputs)
        patches = _patches(call, item, found)
        if mean:
            counts = (found.places >= 0).sum(axis=0)
            if call.option("count_include_pad", 0):
                counts = found.counts
            return _means(call, item, patches, counts, shape)
        # A maximum does not change if an entry is repeated.
        first = patches.max(axis=2, keepdims=True)
        filled = np.where(patches < 0, first, patches)
        parts = [
            call.move(item, filled[:, :, k].reshape(shape), item.batch)
            for k in range(filled.shape[2])
        ]
        return call.largest(parts)

    return run


def _means(
    call: Call, item: Item, patches: np.ndarray, counts: np.ndarray, shape: tuple[int, ...]
) -> Item:
    common = math.lcm(*counts.tolist())
    shares = call.build.constant(common // counts, common)
    taken = call.build.index(patches, item.value)
    made = Item(call.build.contract("nckp,p->ncp", taken, shares), item.batch)
    return call.move(made, call.places(made).reshape(shape), item.batch)


def _global_mean(call: Call) -> Item:
    item = call.item(0)
    return call.mean(item, range(2, item.ndim), True)


def _global_max(call: Call) -> Item:
    item = call.item(0)
    return _largest_along(call, item, list(range(2, item.ndim)), True)


def _largest_along(call: Call, item: Item, axes: Sequence[int], keep: bool) -> Item:
    axes = [call.along(item, axis, "compares along") for axis in axes]
    kept = [k for k in range(item.ndim) if k not in axes]
    places = call.places(item).transpose(*axes, *kept)
    count = math.prod(item.shape[k] for k in axes)
    places = places.reshape(count, *[item.shape[k] for k in kept])
    batch = kept.index(item.batch) if item.batch in kept else None
    found = call.largest([call.move(item, place, batch) for place in places])
    if not keep:
        return found
    shape = [1 if k in axes else size for k, size in enumerate(item.shape)]
    return call.move(found, call.places(found).reshape(shape), item.batch)


def _reduce(kind: str) -> Operator:
    def run(call: Call) -> Item:
        item = call.item(0)
        axes = call.axes(1, item.ndim)
        if axes is None:
            if call.option("noop_with_empty_axes", 0):
                return item
            axes = list(range(item.ndim))
        keep = bool(call.option("keepdims", 1))
        if kind == "mean":
            return call.mean(item, axes, keep)
        if kind in ("max", "min"):
            sign = Fraction(1 if kind == "max" else -1)
            found = _largest_along(call, call.scaled(item, sign), axes, keep)
            return call.scaled(found, sign)
        if kind in ("squares", "length"):
            item = call.elementwise(item, lambda a: call.build.power(a, 2))
        found = call.summed(item, axes, keep)
        return call.elementwise(found, call.build.root) if kind == "length" else found

    return run


def normalized(
    call: Call, item: Item, axes: Sequence[int], epsilon: Fraction, center: bool
) -> Item:
    """Entries minus their mean, divided by the root of their mean square plus ε."""
    build = call.build
    if center:
        item = call.total(item, call.scaled(call.mean(item, axes, True), Fraction(-1)))
    squares = call.mean(call.elementwise(item, lambda a: build.power(a, 2)), axes, True)
    number = np.full(squares.shape, epsilon.numerator, dtype=object)
    shift = build.constant(number, epsilon.denominator)
    below = build.invert(build.root(build.add(squares.value, shift)))
    return call.product(item, Item(below, squares.batch))


def _layer_norm(center: bool) -> Operator:
    def run(call: Call) -> Item:
        item = call.item(0)
        first = call.option("axis", -1) % item.ndim
        epsilon = fraction(call.option("epsilon", _EPSILON))
        found = normalized(call, item, range(first, item.ndim), epsilon, center)
        if call.has(1):
            found = call.product(found, call.item(1))
        return call.total(found, call.item(2)) if call.has(2) else found

    return run


def _group_norm(call: Call) -> Item:
    item, groups = call.item(0), call.option("num_groups", 0)
    _check_images(item)
    return _by_groups(call, item, groups or item.shape[1])


def _by_groups(call: Call, item: Item, groups: int) -> Item:
    n, channels = item.shape[:2]
    split = call.move(item, call.places(item).reshape(n, groups, -1), item.batch)
    epsilon = fraction(call.option("epsilon", _EPSILON))
    made = normalized(call, split, [2], epsilon, True)
    found = call.move(made, call.places(made).reshape(item.shape), item.batch)
    scale, shift = call.item(1), call.item(2)
    if scale.shape[0] != channels:
        # Before operator set 21 there is one number for each group.
        each = np.repeat(np.arange(groups), channels // groups)
        scale, shift = (call.move(part, each, None) for part in (scale, shift))
    found = call.product(found, _per_channel(call, scale, item.ndim))
    return call.total(found, _per_channel(call, shift, item.ndim))


def _batch_norm(call: Call) -> Item:
    if call.option("training_mode", 0):
        raise InputError("it is in training mode, where a label depends on other samples")
    item, variance = call.item(0), call.inputs[4] if call.has(4) else None
    if not isinstance(variance, (Parameter, np.ndarray)):
        raise InputError("its variance depends on samples or weights")
    epsilon = call.option("epsilon", _EPSILON)
    ndim = item.ndim
    middle = call.inputs[3]
    mean = call.weight(middle, "", 0.0) if isinstance(middle, Parameter) else call.item(3)
    if not isinstance(variance, Parameter):
        # Its root is no rational number, so it is a statistic that has no name in the file.
        variance = call.unnamed(variance)
    shares = call.weight(variance, "", epsilon)
    centred = call.total(item, _per_channel(call, call.scaled(mean, Fraction(-1)), ndim))
    scale = call.product(shares, call.item(1))
    found = call.product(centred, _per_channel(call, scale, ndim))
    return call.total(found, _per_channel(call, call.item(2), ndim))


def _attention(call: Call) -> Item:
    """Softmax attention with four axes (samples, heads, steps, features), as one operator."""
    from algebra.programs.onnx.elementwise import softmax

    q, k, v = (call.item(j) for j in range(3))
    if q.ndim != 4 or k.shape[1] != q.shape[1] or any(call.has(j) for j in (4, 5)):
        raise InputError("only attention of four axes, as many heads of q, k, v, no past, is read")
    if call.option("softcap", 0) or call.outputs > 1:
        raise InputError("only attention without a soft cap, and with one result, is read")
    default = np.sqrt(1 / q.shape[-1]).item()
    scores = multiply_matrices(call, q, call.transposed(k, [0, 1, 3, 2]))
    scores = call.scaled(scores, fraction(call.option("scale", default)))
    if call.has(3):
        mask = call.inputs[3]
        if isinstance(mask, np.ndarray) and mask.dtype == bool:
            call.inputs[3] = np.where(mask, 0, -np.inf).astype(np.float32)
        scores = call.total(scores, call.item(3))
    if call.option("is_causal", 0):
        later = np.triu(np.full(scores.shape[2:], -np.inf), 1)
        scores = call.total(scores, call.constant(later))
    return multiply_matrices(call, softmax(call, scores, -1), v)


LAYERS: dict[str, Operator] = {
    "Attention": _attention,
    "AveragePool": _pool(True),
    "BatchNormalization": _batch_norm,
    "Conv": _convolve,
    "Einsum": _einsum,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_mean,
    "GlobalMaxPool": _global_max,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _group_norm,
    "LayerNormalization": _layer_norm(True),
    "MatMul": _matmul,
    "MaxPool": _pool(False),
    "RMSNormalization": _layer_norm(False),
    "ReduceL2": _reduce("length"),
    "ReduceMax": _reduce("max"),
    "ReduceMean": _reduce("mean"),
    "ReduceMin": _reduce("min"),
    "ReduceSum": _reduce("sum"),
    "ReduceSumSquare": _reduce("squares"),
}
