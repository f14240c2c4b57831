"""Products with weights, norms, sums and attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.elementwise import log_sum, raised, softmax
from algebra.plugins.models.onnx.neighbourhoods import check_images, lengths, per_channel
from algebra.plugins.models.onnx.places import product_along
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Flags, Item, Merged, fraction, letters_of
from algebra.plugins.models.onnx.weights import Parameter

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


def _matmul(call: Call) -> Item | Merged:
    a, b = call.given(0), call.item(1)
    if isinstance(a, Merged) and b.batch is None and b.ndim == 2:
        return Merged(multiply_matrices(call, a.item, b), a.count)
    return multiply_matrices(call, call.item(0), b)


def _gemm(call: Call) -> Item | Merged:
    given, b = call.given(0), call.item(1)
    turned = call.option("transA", 0)
    if isinstance(given, Merged) and not turned and b.batch is None and b.ndim == 2:
        return Merged(_affine(call, given.item, b), given.count)
    a = call.item(0)
    return _affine(call, call.transposed(a, [1, 0]) if turned else a, b)


def _affine(call: Call, a: Item, b: Item) -> Item:
    if call.option("transB", 0):
        b = call.transposed(b, [1, 0])
    found = call.scaled(multiply_matrices(call, a, b), fraction(call.option("alpha", 1)))
    beta = fraction(call.option("beta", 1))
    call.option("broadcast")
    return call.total(found, call.scaled(call.item(2), beta)) if call.has(2) else found


def _einsum(call: Call) -> Item:
    equation, items = call.option("equation", "").replace(" ", ""), call.items()
    if "." in equation:
        equation = _without_ellipsis(equation, [item.ndim for item in items])
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


def _without_ellipsis(equation: str, counts: Sequence[int]) -> str:
    """An equation with letters in place of dots; axes of size 1 are not repeated."""
    inputs, arrow, result = equation.replace("...", ".").partition("->")
    groups = inputs.split(",")
    if not arrow:
        once = sorted(c for c in set(inputs) - {",", "."} if inputs.count(c) == 1)
        result = "." + "".join(once)
    spare = [c for c in letters_of(26) if c not in equation]
    most = max(n - len(g) + 1 for n, g in zip(counts, groups, strict=True) if "." in g)
    if most < 0 or most > len(spare):
        raise InputError(f"the equation {shown(equation)} does not fit")
    last = "".join(spare[:most])
    made = [g.replace(".", last[most - (n - len(g) + 1) :]) for n, g in
            zip(counts, groups, strict=True)]  # fmt: skip
    return f"{','.join(made)}->{result.replace('.', last)}"


def _global_mean(call: Call) -> Item:
    item = call.item(0)
    return call.mean(item, range(2, item.ndim), True)


def _global_max(call: Call) -> Item:
    item = call.item(0)
    return largest_along(call, item, list(range(2, item.ndim)), True)


def largest_along(call: Call, item: Item, axes: Sequence[int], keep: bool) -> Item:
    axes = [call.along(item, axis, "compares along") for axis in axes]
    kept = [k for k in range(item.ndim) if k not in axes]
    places = call.places(item).transpose(*axes, *kept)
    count = math.prod(item.shape[k] for k in axes)
    places = places.reshape(count, *[item.shape[k] for k in kept])
    batch = kept.index(item.batch) if item.batch in kept else None
    found = call.largest_at(item, places, batch)
    if not keep:
        return found
    shape = [1 if k in axes else size for k, size in enumerate(item.shape)]
    return call.move(found, call.places(found).reshape(shape), item.batch)


def _reduced_axes(call: Call, item: Item) -> list[int]:
    """The axes of a reduction; all if none are given, unless the node says that this means none."""
    axes = call.axes(1, item.ndim)
    none = call.option("noop_with_empty_axes", 0)
    return axes or ([] if none else list(range(item.ndim)))


def _reduce(kind: str) -> Operator:
    def run(call: Call) -> Item:
        item, build = call.item(0), call.build
        axes, keep = _reduced_axes(call, item), bool(call.option("keepdims", 1))
        if kind == "mean":
            return call.mean(item, axes, keep)
        if kind in ("max", "min"):
            if kind == "max":
                return largest_along(call, item, axes, keep)
            return call.scaled(
                largest_along(call, call.scaled(item, Fraction(-1)), axes, keep), Fraction(-1)
            )  # fmt: skip
        if kind in ("L1", "L2"):
            return lengths(call, item, axes, int(kind[1]), keep)
        if kind == "squares":
            item = call.elementwise(item, lambda a: build.power(a, 2))
        if kind == "product":
            return product_along(call, item, axes, keep)
        if kind == "log of exponentials":
            return log_sum(call, item, axes, keep)
        found = call.summed(item, axes, keep)
        if kind.startswith("log"):
            return call.elementwise(found, lambda a: build.apply("log", a))
        return found

    return Operator(run, "data axes", "axes keepdims noop_with_empty_axes")


def _lp_norm(call: Call) -> Item:
    """Entries divided by their length along an axis."""
    item, p = call.item(0), call.option("p", 2)
    axis = call.along(item, call.option("axis", -1), "adds along")
    length = lengths(call, item, [axis], p, True)
    return call.product(item, call.elementwise(length, call.build.invert))


def _global_length(call: Call) -> Item:
    item = call.item(0)
    return lengths(call, item, range(2, item.ndim), call.option("p", 2), True)


def _neighbours(call: Call) -> Item:
    """x / (bias + α/size Σ x²)^β over neighbouring channels."""
    item, size = call.item(0), call.option("size")
    check_images(item)
    share = fraction(call.option("alpha", np.float32(1e-4).item())) / size
    beta, bias = fraction(call.option("beta", 0.75)), fraction(call.option("bias", 1))
    channels = item.shape[1]
    near = np.zeros((channels, channels), np.int64)
    for c in range(channels):
        near[c, max(0, c - (size - 1) // 2) : c + size // 2 + 1] = 1
    build = call.build
    letters = letters_of(item.ndim)
    other = letters.replace("b", "z")
    squares = build.power(call.plain(item).value, 2)
    total = build.contract(f"bz,{other}->{letters}", build.constant(near), squares)
    inside = call.total(Item(build.scale(total, share), item.batch), _number(call, bias))
    return call.product(item, call.elementwise(inside, lambda a: raised(build, a, -beta)))


def _number(call: Call, value: Fraction) -> Item:
    return Item(call.build.constant(np.array(value.numerator, object), value.denominator))


def _standardized(call: Call) -> Item:
    """(x − mean)/√(variance), with 1e-9 added to the root."""
    item = call.item(0)
    axes = [call.along(item, axis, "adds along") for axis in call.option("axes", [0, 2, 3])]
    centred = call.total(item, call.scaled(call.mean(item, axes, True), Fraction(-1)))
    squares = call.elementwise(centred, lambda a: call.build.power(a, 2))
    root = call.elementwise(call.mean(squares, axes, True), call.build.root)
    below = call.total(root, _number(call, fraction(1e-9)))
    return call.product(centred, call.elementwise(below, call.build.invert))


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


def _layer_norm(center: bool) -> Callable[[Call], Item]:
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
    check_images(item)
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
    found = call.product(found, per_channel(call, scale, item.ndim))
    return call.total(found, per_channel(call, shift, item.ndim))


def _batch_norm(call: Call) -> Item:
    training = call.option("training_mode", 0) or (call.opset < 14 and call.outputs > 1)
    if training or (call.opset < 7 and not call.option("is_test", 0)):
        raise InputError("it is in training mode, where a label depends on other samples")
    call.option("is_test")
    if not call.option("spatial", 1):
        raise InputError("it has one statistic for each place (spatial = 0)")
    item, variance = call.item(0), call.given(4)
    if not isinstance(variance, (Parameter, np.ndarray)):
        raise InputError("its variance depends on samples or weights")
    epsilon = call.option("epsilon", _EPSILON)
    ndim = item.ndim
    middle = call.given(3)
    mean = call.weight(middle, "", 0.0) if isinstance(middle, Parameter) else call.item(3)
    if not isinstance(variance, Parameter):
        # Its root is no rational number, so it is a statistic that has no name in the file.
        variance = call.unnamed(variance)
    shares = call.weight(variance, "", epsilon)
    centred = call.total(item, per_channel(call, call.scaled(mean, Fraction(-1)), ndim))
    scale = call.product(shares, call.item(1))
    found = call.product(centred, per_channel(call, scale, ndim))
    return call.total(found, per_channel(call, call.item(2), ndim))


def _attention(call: Call) -> Item:
    """Softmax attention with axes (samples, heads, steps, features), as one operator."""
    q, k, v = (call.item(j) for j in range(3))
    heads = call.option("q_num_heads", 0), call.option("kv_num_heads", 0)
    flat = q.ndim == 3
    if flat:
        if not all(heads):
            raise InputError("attention of three axes needs `q_num_heads` and `kv_num_heads`")
        q, k, v = (_by_heads(call, x, n) for x, n in ((q, heads[0]), (k, heads[1]), (v, heads[1])))
    if any(x.ndim != 4 for x in (q, k, v)) or q.shape[1] % k.shape[1]:
        shapes = " and ".join(str(call.shape(x)) for x in (q, k))
        raise InputError(f"the shapes {shapes} of queries and keys do not fit")
    if k.shape[1] != q.shape[1]:
        # Each head of keys serves the same number of heads of queries.
        each = np.repeat(np.arange(k.shape[1]), q.shape[1] // k.shape[1])
        k, v = (call.move(x, call.places(x)[:, each], x.batch) for x in (k, v))
    default = np.sqrt(1 / q.shape[-1]).item()
    scores = multiply_matrices(call, q, call.transposed(k, [0, 1, 3, 2]))
    scores = call.scaled(scores, fraction(call.option("scale", default)))
    cap = fraction(call.option("softcap", 0))
    if cap:
        bounded = call.scaled(scores, 1 / cap)
        bounded = call.elementwise(bounded, lambda a: call.build.apply("tanh", a))
        scores = call.scaled(bounded, cap)
    mask = call.given(3)
    if isinstance(mask, np.ndarray):
        if mask.dtype == bool:
            mask = np.where(mask, 0, -np.inf).astype(np.float32)
        short = scores.shape[-1] - mask.shape[-1]
        if short > 0:
            # Keys beyond the mask are not seen.
            widths = [(0, 0)] * (mask.ndim - 1) + [(0, short)]
            mask = np.pad(mask, widths, constant_values=-np.inf)
        scores = call.total(scores, call.constant(mask))
    elif isinstance(mask, Flags):
        scores = call.chosen(mask, scores, call.constant(np.array(-np.inf)))
    elif mask is not None:
        scores = call.total(scores, call.item(3))
    seen = _seen(call, scores.shape[-2], scores.shape[-1])
    if not seen.all():
        scores = call.total(scores, call.constant(np.where(seen, 0, -np.inf)))
    found = multiply_matrices(call, softmax(call, scores, [3], guarded=True), v)
    if not flat:
        return found
    joined = call.transposed(found, [0, 2, 1, 3])
    n, steps, number, size = joined.shape
    return call.move(joined, call.places(joined).reshape(n, steps, number * size), joined.batch)


def _by_heads(call: Call, item: Item, heads: int) -> Item:
    """The axes (samples, steps, heads · features) as (samples, heads, steps, features)."""
    n, steps, size = item.shape
    if size % heads or item.batch not in (None, 0):
        raise InputError(f"the shape {call.shape(item)} has no {heads} heads")
    split = call.places(item).reshape(n, steps, heads, size // heads).transpose(0, 2, 1, 3)
    return call.move(item, split, item.batch)


def _seen(call: Call, queries: int, keys: int) -> np.ndarray:
    """The keys that each query sees, by the causal order and by windows."""
    distance = np.arange(queries)[:, None] - np.arange(keys)
    seen = np.ones((queries, keys), bool)
    if call.option("is_causal", 0):
        seen &= distance >= 0
    left, right = (call.option(f"{side}_window_size", -1) for side in ("left", "right"))
    if left >= 0:
        seen &= distance <= left
    if right >= 0:
        seen &= -distance <= right
    return seen


LAYERS: dict[str, Operator] = {
    "Attention": Operator(
        _attention,
        "Q K V attn_mask",
        "is_causal kv_num_heads left_window_size q_num_heads right_window_size scale softcap",
        "qk_matmul_output_mode softmax_precision",
    ),
    "BatchNormalization": Operator(
        _batch_norm,
        "X scale B input_mean input_var",
        "epsilon is_test spatial training_mode",
        "consumed_inputs momentum",
    ),
    "Einsum": Operator(_einsum, "Inputs*", "equation"),
    "Gemm": Operator(_gemm, "A B C", "alpha beta broadcast transA transB"),
    "GlobalAveragePool": Operator(_global_mean),
    "GlobalLpPool": Operator(_global_length, "X", "p"),
    "GlobalMaxPool": Operator(_global_max),
    "GroupNormalization": Operator(_group_norm, "X scale bias", "epsilon num_groups", "stash_type"),
    "InstanceNormalization": Operator(
        _group_norm, "input scale B", "epsilon num_groups", "consumed_inputs"
    ),
    "LRN": Operator(_neighbours, "X", "alpha beta bias size"),
    "LayerNormalization": Operator(_layer_norm(True), "X Scale B", "axis epsilon", "stash_type"),
    "LpNormalization": Operator(_lp_norm, "input", "axis p"),
    "MatMul": Operator(_matmul, "A B"),
    "MeanVarianceNormalization": Operator(_standardized, "X", "axes"),
    "RMSNormalization": Operator(_layer_norm(False), "X scale", "axis epsilon", "stash_type"),
    "ReduceL1": _reduce("L1"),
    "ReduceL2": _reduce("L2"),
    "ReduceLogSum": _reduce("log"),
    "ReduceLogSumExp": _reduce("log of exponentials"),
    "ReduceMax": _reduce("max"),
    "ReduceMean": _reduce("mean"),
    "ReduceMin": _reduce("min"),
    "ReduceProd": _reduce("product"),
    "ReduceSum": _reduce("sum"),
    "ReduceSumSquare": _reduce("squares"),
}
