"""The core ATen operators, by their names in exported graphs, without overloads.

Each is an operator of ONNX with its arguments in another order, or a move of entries.  Where
PyTorch computes by a condition on values (softplus beyond a threshold, for example), the function
that it approximates is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.aten.call import AtenCall, AtenOperator, Operand, int64_array
from algebra.plugins.models.aten.moves import MOVES
from algebra.plugins.models.aten.orders import ORDERS, one_hot
from algebra.plugins.models.onnx.values import Flags, Item, Merged, Tokens, letters_of


def _same(op: str, **attributes: Any) -> AtenOperator:
    """The operator of ONNX with a single tensor as argument."""
    return lambda call: call.run(op, call["self"], **attributes)


# -- each entry --------------------------------------------------------------------------------


def _binary(op: str, turned: bool = False) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        left, right = call["self"], call["other"]
        if turned:
            left, right = right, left
        factor = call.number("alpha", 1)
        if factor != 1:
            right = call.run("Mul", right, np.array(factor))
        return call.run(op, left, right)

    return run


def _divide(call: AtenCall) -> Any:
    if call.has("rounding_mode"):
        raise InputError("it rounds a value that depends on samples or weights")
    return call.run("Div", call["self"], call["other"])


def _power(call: AtenCall) -> Any:
    return call.run("Pow", call["self"], call["exponent"])


def _gelu(call: AtenCall) -> Any:
    return call.run("Gelu", call["self"], approximate=call.option("approximate", "none"))


def _softplus(call: AtenCall) -> Any:
    beta = call.number("beta", 1)
    if beta == 1:
        return call.run("Softplus", call["self"])
    inner = call.run("Softplus", call.run("Mul", call["self"], np.array(beta)))
    return call.run("Div", inner, np.array(beta))


def _log_sigmoid(call: AtenCall) -> Any:
    """−softplus(−x)."""
    return call.run("Neg", call.run("Softplus", call.run("Neg", call["self"])))


def _elu(call: AtenCall) -> Any:
    """scale·x for x > 0, scale·α(e^(βx) − 1) otherwise, β being the scale of the input."""
    alpha, scale, inner = (call.number(k, 1) for k in ("alpha", "scale", "input_scale"))
    x = call["self"]
    if inner != 1:
        x = call.run("Mul", x, np.array(inner))
    found = call.run("Elu", x, alpha=alpha * inner)
    return call.run("Mul", found, np.array(scale / inner)) if scale != inner else found


def _celu(call: AtenCall) -> Any:
    alpha = call.number("alpha", 1)
    inner = call.run("Elu", call.run("Div", call["self"], np.array(alpha)))
    return call.run("Mul", inner, np.array(alpha))


def _leaky(call: AtenCall) -> Any:
    return call.run("LeakyRelu", call["self"], alpha=call.number("negative_slope", 0.01))


def _random_leaky(call: AtenCall) -> Any:
    """The mean slope, which evaluation has."""
    if call.option("training"):
        return _random(call)
    slope = (call.number("lower", 1 / 8) + call.number("upper", 1 / 3)) / 2
    return call.run("LeakyRelu", call["self"], alpha=slope), None


def _clamp(low: str, high: str) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        value = call["self"]
        if not any(getattr(call.option(name), "ndim", 0) for name in (low, high)):
            return call.run("Clip", value, call[low], call[high])
        for name, op in ((low, "Max"), (high, "Min")):
            value = call.run(op, value, call[name]) if call.has(name) else value
        return value

    return run


def _hardtanh(call: AtenCall) -> Any:
    ends = (np.array(call.number(k, d)) for k, d in (("min_val", -1), ("max_val", 1)))
    return call.run("Clip", call["self"], *ends)


def _inverse_root(call: AtenCall) -> Any:
    return call.run("Reciprocal", call.run("Sqrt", call["self"]))


def _where(call: AtenCall) -> Any:
    condition = call["condition"]
    if not isinstance(condition, np.ndarray | Flags):
        raise InputError("its condition depends on samples or weights")
    return call.run("Where", condition, call["self"], call["other"])


def _softmax(call: AtenCall) -> Any:
    return call.run("Softmax", call["self"], axis=call.option("dim"))


def _identity(call: AtenCall) -> Any:
    """The same values; conversion to a type that rounds is refused."""
    value, kind = call["self"], str(call.option("dtype", ""))
    if isinstance(value, Flags) and kind:
        # 0 and 1 are numbers of every type; only as Booleans do they choose.
        return value if kind.endswith("bool") else Item(value.value, value.batch)
    rounded = kind and not kind.endswith(("float32", "float64"))
    if rounded and not isinstance(value, Tokens | np.ndarray):
        raise InputError(f"it rounds a value that depends on samples or weights to {kind}")
    return value


# -- sums, means, largest entries ----------------------------------------------------------------


def _length(call: AtenCall) -> Any:
    found = {1.0: "ReduceL1", 2.0: "ReduceL2"}.get(float(call.number("ord", 2)))
    if found is None:
        raise InputError("only lengths by squares and by absolute values are read")
    return _reduced(found)(call)


def _reduced(op: str) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        axes = int64_array(*call.axes())
        return call.run(op, call["self"], axes, keepdims=int(call.option("keepdim", False)))

    return run


def _variance(call: AtenCall) -> Any:
    x, axes = call["self"], call.axes()
    shape = call.shape(x)
    count = math.prod(shape[k] for k in axes) - call.number("correction", 1)
    centred = call.run("Sub", x, call.run("ReduceMean", x, int64_array(*axes), keepdims=1))
    keep = int(call.option("keepdim", False))
    total = call.run("ReduceSumSquare", centred, int64_array(*axes), keepdims=keep)
    return call.run("Div", total, np.array(count))


# -- products, norms, pools ----------------------------------------------------------------------


def _product(left: str, right: str) -> AtenOperator:
    return lambda call: call.run("MatMul", call[left], call[right])


def _linear(call: AtenCall) -> Any:
    value, bias = call["input"], call["bias"]
    inner = value.item if isinstance(value, Merged) else value
    found = call.run("MatMul", inner, call.run("Transpose", call["weight"], perm=[1, 0]))
    if bias is not None:
        found = call.run("Add", found, bias)
    return Merged(found, value.count) if isinstance(value, Merged) else found


def _bilinear(call: AtenCall) -> Any:
    lead = letters_of(len(call.shape(call["input1"])) - 1)
    equation = f"{lead}x,zxy,{lead}y->{lead}z"
    found = call.run("Einsum", call["input1"], call["weight"], call["input2"], equation=equation)
    return call.run("Add", found, call["bias"]) if call.has("bias") else found


def _added_product(left: str, right: str) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        found, shift = call.run("MatMul", call[left], call[right]), call["self"]
        alpha, beta = call.number("alpha", 1), call.number("beta", 1)
        if alpha != 1:
            found = call.run("Mul", found, np.array(alpha))
        if beta != 1:
            shift = call.run("Mul", shift, np.array(beta))
        return call.run("Add", found, shift)

    return run


def _every(values: Sequence[int], rank: int) -> list[int]:
    """One number for each axis; a single number is repeated."""
    return list(values) * rank if len(values) == 1 else list(values)


def _convolution(call: AtenCall) -> Any:
    rank = len(call.shape(call["weight"])) - 2
    options = {
        "group": call.option("groups"),
        "strides": _every(call.option("stride"), rank),
        "pads": _every(call.option("padding"), rank) * 2,
        "dilations": _every(call.option("dilation"), rank),
    }
    op = "Conv"
    if call.option("transposed", False):
        op, options["output_padding"] = "ConvTranspose", _every(call.option("output_padding"), rank)
    return call.run(op, call["input"], call["weight"], call["bias"], **options)


def _resized(mode: str) -> AtenOperator:
    """Interpolation to sizes, or by scales that give whole sizes."""

    def run(call: AtenCall) -> Any:
        value = call["input"] if call.has("input") else call["self"]
        own = call.shape(value)[2:]
        sizes = call.option("output_size")
        if sizes is None:
            exact = [n * s for n, s in zip(own, call.option("scale_factors"), strict=True)]
            sizes = [int(size) for size in exact]
            if sizes != exact:
                raise InputError(f"the sizes {exact} are no whole numbers: give `size`")
        transform = "asymmetric"
        if mode == "linear":
            transform = "align_corners" if call.option("align_corners") else "pytorch_half_pixel"
        return call.run(
            "Resize", value, None, None, int64_array(*sizes), mode=mode,
            axes=list(range(2, 2 + len(own))), nearest_mode="floor",
            coordinate_transformation_mode=transform,
        )  # fmt: skip

    return run


def _cumulative(call: AtenCall) -> Any:
    return call.run("CumSum", call["self"], np.array(call.axes()[0]))


def _triangle(upper: int) -> AtenOperator:
    return lambda call: call.run(
        "Trilu", call["self"], np.array(call.option("diagonal", 0)), upper=upper
    )


def _scaled_log(base: float) -> AtenOperator:
    """A logarithm to a base, times the nearest double of 1/log(base)."""
    return lambda call: call.run(
        "Mul", call.run("Log", call["self"]), np.array(1 / math.log(base))
    )  # fmt: skip


def _power_of_two(call: AtenCall) -> Any:
    return call.run("Exp", call.run("Mul", call["self"], np.array(math.log(2))))


def _more_than_erf(call: AtenCall) -> Any:
    return call.run("Sub", np.array(1), call.run("Erf", call["self"]))


def _log_of_two(call: AtenCall) -> Any:
    """log(e^a + e^b)."""
    powers = (call.run("Exp", call[name]) for name in ("self", "other"))
    return call.run("Log", call.run("Add", *powers))


def _numbers_only(call: AtenCall) -> Any:
    call.moves.assume("values are finite numbers, so that nan_to_num changes none")
    return call["self"]


def _everywhere(is_so: bool) -> AtenOperator:
    """What is so, or not, of all finite numbers."""

    def run(call: AtenCall) -> Any:
        call.moves.assume("values are finite numbers")
        return np.full((1,) * len(call.shape(call["self"])), is_so)

    return run


def _equal(turned: bool) -> AtenOperator:
    """Comparisons of computed places with numbers, and of finite numbers with infinite ones."""

    def run(call: AtenCall) -> Any:
        value, other = call.arguments["self"], call.arguments["other"]
        numbers = np.asarray(other) if isinstance(other, int | float | np.ndarray) else None
        if isinstance(value, Tokens) and value.hot is not None and numbers is not None:
            found = one_hot(call, value, numbers)
            return call.run("Not", found) if turned else found
        if value is other or (numbers is not None and np.isinf(numbers).all()):
            return _everywhere(turned is not (value is other))(call)
        raise InputError("it compares values that depend on samples or weights")

    return run


def _random(call: AtenCall) -> Any:
    raise InputError(
        "it is in training mode, where labels are random: F.dropout(x, p, self.training)"
    )


def _log_of_more(call: AtenCall) -> Any:
    return call.run("Log", call.run("Add", call["self"], np.array(1)))


def _exponential_less(call: AtenCall) -> Any:
    return call.run("Sub", call.run("Exp", call["self"]), np.array(1))


def _log_softmax(call: AtenCall) -> Any:
    return call.run("LogSoftmax", call["self"], axis=call.option("dim"))


def _batch_norm(call: AtenCall) -> Any:
    channels = call.shape(call["input"])[1]
    scale, shift = _gains(call, channels)
    found = call.run(
        "BatchNormalization", call["input"], scale, shift, call.statistic("running_mean"),
        call.statistic("running_var"), epsilon=call.number("eps", 1e-5),
    )  # fmt: skip
    return found, None, None


def _training_norm(call: AtenCall) -> Any:
    raise InputError(
        "it normalizes by statistics of the batch, so a label depends on other samples"
    )


def _gains(call: AtenCall, size: int) -> tuple[Operand, Operand]:
    scale, shift = call["weight"], call["bias"]
    return (
        np.ones(size) if scale is None else scale,
        np.zeros(size) if shift is None else shift,
    )


def _layer_norm(call: AtenCall) -> Any:
    found = call.run(
        "LayerNormalization", call["input"], call["weight"], call["bias"],
        axis=-len(call.option("normalized_shape")), epsilon=call.number("eps", 1e-5),
    )  # fmt: skip
    return found, None, None


def _rms_norm(call: AtenCall) -> Any:
    found = call.run(
        "RMSNormalization", call["input"], call["weight"],
        axis=-len(call.option("normalized_shape")),
        epsilon=call.number("eps", float(np.finfo(np.float64).eps)),
    )  # fmt: skip
    return found, None


def _group_norm(call: AtenCall) -> Any:
    value, flat = call["input"], len(call.shape(call["input"])) == 2
    if flat:
        # One entry for each channel.
        value = call.run("Unsqueeze", value, int64_array(2))
    found = call.run(
        "GroupNormalization", value, *_gains(call, call.option("C")),
        num_groups=call.option("group"), epsilon=call.number("eps", 1e-5),
    )  # fmt: skip
    return call.run("Squeeze", found, int64_array(2)) if flat else found, None, None


def _instance_norm(call: AtenCall) -> Any:
    if not call.option("use_input_stats"):
        return _batch_norm(call)[0]
    gains = _gains(call, call.shape(call["input"])[1])
    return call.run(
        "InstanceNormalization", call["input"], *gains, epsilon=call.number("eps", 1e-5)
    )


def _pooled(op: str, rank: int) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        kernel = _every(call.option("kernel_size"), rank)
        options: dict[str, Any] = {
            "kernel_shape": kernel,
            "strides": _every(call.option("stride") or kernel, rank),
            "pads": _every(call.option("padding", [0]), rank) * 2,
            "ceil_mode": int(call.option("ceil_mode", False)),
        }
        if op == "MaxPool":
            options["dilations"] = _every(call.option("dilation", [1]), rank)
            return call.run(op, call["self"], **options), None
        if call.has("divisor_override"):
            raise InputError("`divisor_override` is not read")
        included = int(call.option("count_include_pad", True))
        return call.run(op, call["self"], **options, count_include_pad=included)

    return run


def _adaptive(op: str, rank: int) -> AtenOperator:
    """Windows that divide the axes evenly."""

    def run(call: AtenCall) -> Any:
        sizes = call.shape(call["self"])[-rank:]
        wanted = _every(call.option("output_size"), rank)
        kernel = [a // b for a, b in zip(sizes, wanted, strict=True)]
        if any(a % b for a, b in zip(sizes, wanted, strict=True)):
            raise InputError(f"the sizes {tuple(sizes)} are no multiples of {tuple(wanted)}")
        found = call.run(op, call["self"], kernel_shape=kernel, strides=kernel)
        return (found, None) if op == "MaxPool" else found

    return run


def _logical(op: str) -> AtenOperator:
    return lambda call: call.run(op, call["self"], call["other"])


def _attention(call: AtenCall) -> Any:
    q, k, v = (call.item(call[name]) for name in ("query", "key", "value"))
    lacking = 4 - q.ndim
    if lacking:
        # The axis of heads is missing: there is one head.
        q, k, v = (call.run("Unsqueeze", x, int64_array(1)) for x in (q, k, v))
    if call.option("enable_gqa", False):
        each = np.repeat(np.arange(k.shape[1]), q.shape[1] // k.shape[1])
        k, v = (call.run("Gather", x, each, axis=1) for x in (k, v))
    scale = call.option("scale", 1 / math.sqrt(q.shape[-1]))
    causal = int(call.option("is_causal", False))
    found = call.run("Attention", q, k, v, call["attn_mask"], scale=scale, is_causal=causal)
    return call.run("Squeeze", found, int64_array(1)) if lacking else found


# Terms of the exponential of a matrix, and halvings before it.
_TERMS = 18
_HALVINGS = 4


def _matrix_exponential(call: AtenCall) -> Any:
    """The polynomial by which torch computes it, for matrices of a norm up to about 16."""
    call.moves.assume(
        f"the exponential of a matrix is its polynomial of degree {_TERMS} after {_HALVINGS} "
        "halvings, squared as often, as it is computed"
    )
    A = call.run("Mul", call["self"], np.array(0.5**_HALVINGS))
    one = np.eye(call.shape(A)[-1])
    found = call.run("Add", call.run("Mul", A, np.array(1 / _TERMS)), one)
    for k in range(_TERMS - 1, 0, -1):
        term = call.run("Mul", call.run("MatMul", A, found), np.array(1 / k))
        found = call.run("Add", term, one)
    for _ in range(_HALVINGS):
        found = call.run("MatMul", found, found)
    return found


def _inverse(call: AtenCall) -> Any:
    A = call.item(call["A"])
    unit = np.broadcast_to(np.eye(A.shape[-1]), A.shape)
    one = call.moves.constant(unit)
    call.arguments = {**call.arguments, "B": replace(one, batch=A.batch)}
    return _solved(call)[0], None


# Largest size of a system of equations that is solved by elimination.
_LARGEST_SYSTEM = 64


def _solved(call: AtenCall) -> Any:
    """X with A X = B (or X A = B), by elimination without exchanges: pivots are generically not 0.

    Each step divides a row by its pivot and subtracts multiples of it from all other rows.
    """
    left = call.option("left", True)
    A, B = call.item(call["A"]), call.item(call["B"])
    size = A.shape[-1]
    if size > _LARGEST_SYSTEM:
        raise InputError(f"systems of up to {_LARGEST_SYSTEM} equations are read, this has {size}")
    if B.ndim != A.ndim:
        raise InputError("a system is read if its right side is a matrix: torch.linalg.inv(A) @ b")
    turn = [*range(A.ndim - 2), A.ndim - 1, A.ndim - 2]
    if not left:
        A, B = (call.run("Transpose", X, perm=turn) for X in (A, B))
    found = B
    for k in range(size):
        place = int64_array(k)
        # In its own row the multiple is the entry less 1: the row itself is left.
        own = np.zeros((size, 1))
        own[k] = 1
        multiple = call.run("Sub", call.run("Gather", A, place, axis=-1), own)
        rows = [call.run("Gather", table, place, axis=-2) for table in (A, found)]
        pivot = call.run("Gather", rows[0], place, axis=-1)
        # Apart, since the columns of the right side may be samples.
        A, found = (
            call.run("Sub", table, call.run("Mul", multiple, call.run("Div", row, pivot)))
            for table, row in zip((A, found), rows, strict=True)
        )
    found = found if left else call.run("Transpose", found, perm=turn)
    return found, None, None, None


ATEN: dict[str, AtenOperator] = {
    **MOVES,
    **ORDERS,
    "_adaptive_avg_pool2d": _adaptive("AveragePool", 2),
    "_adaptive_avg_pool3d": _adaptive("AveragePool", 3),
    "_fused_rms_norm": _rms_norm,
    "_linalg_solve_ex": _solved,
    "_native_batch_norm_legit": _training_norm,
    "_native_batch_norm_legit_functional": _training_norm,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "_log_softmax": _log_softmax,
    "_prelu_kernel": lambda call: call.run("PRelu", call["self"], call["weight"]),
    "_safe_softmax": _softmax,
    "_softmax": _softmax,
    "_to_copy": _identity,
    "abs": _same("Abs"),
    "add": _binary("Add"),
    "adaptive_max_pool2d": _adaptive("MaxPool", 2),
    "adaptive_max_pool3d": _adaptive("MaxPool", 3),
    "addmm": _added_product("mat1", "mat2"),
    "alias": _identity,
    "amax": _reduced("ReduceMax"),
    "amin": _reduced("ReduceMin"),
    "avg_pool1d": _pooled("AveragePool", 1),
    "avg_pool2d": _pooled("AveragePool", 2),
    "avg_pool3d": _pooled("AveragePool", 3),
    "baddbmm": _added_product("batch1", "batch2"),
    "bitwise_and": _logical("And"),
    "bitwise_not": _same("Not"),
    "bitwise_or": _logical("Or"),
    "bilinear": _bilinear,
    "bmm": _product("self", "mat2"),
    "celu": _celu,
    "clamp": _clamp("min", "max"),
    "clamp_max": _clamp("none", "max"),
    "clamp_min": _clamp("min", "none"),
    "clone": _identity,
    "convolution": _convolution,
    "cumsum": _cumulative,
    "detach": _identity,
    "cos": _same("Cos"),
    "cosh": _same("Cosh"),
    "div": _divide,
    "dot": _product("self", "tensor"),
    "elu": _elu,
    "eq": _equal(False),
    "erf": _same("Erf"),
    "erfc": _more_than_erf,
    "exp": _same("Exp"),
    "exp2": _power_of_two,
    "expm1": _exponential_less,
    "ge": _logical("GreaterOrEqual"),
    "gelu": _gelu,
    "gt": _logical("Greater"),
    "hardsigmoid": _same("HardSigmoid", alpha=1 / 6),
    "hardswish": _same("HardSwish"),
    "hardtanh": _hardtanh,
    "instance_norm": _instance_norm,
    "isfinite": _everywhere(True),
    "isinf": _everywhere(False),
    "isnan": _everywhere(False),
    "le": _logical("LessOrEqual"),
    "leaky_relu": _leaky,
    "lift_fresh_copy": _identity,
    "linalg_inv_ex": _inverse,
    "linalg_matrix_exp": _matrix_exponential,
    "linalg_vector_norm": _length,
    "linear": _linear,
    "log": _same("Log"),
    "log10": _scaled_log(10),
    "log1p": _log_of_more,
    "log2": _scaled_log(2),
    "log_sigmoid": _log_sigmoid,
    "logaddexp": _log_of_two,
    "logical_and": _logical("And"),
    "logical_not": _same("Not"),
    "logical_or": _logical("Or"),
    "logsumexp": _reduced("ReduceLogSumExp"),
    "lt": _logical("Less"),
    "matmul": _product("self", "other"),
    "max_pool2d_with_indices": _pooled("MaxPool", 2),
    "max_pool3d_with_indices": _pooled("MaxPool", 3),
    "maximum": _binary("Max"),
    "mean": _reduced("ReduceMean"),
    "minimum": _binary("Min"),
    "mish": _same("Mish"),
    "mm": _product("self", "mat2"),
    "mul": _binary("Mul"),
    "mv": _product("self", "vec"),
    "nan_to_num": _numbers_only,
    "native_dropout": _random,
    "native_group_norm": _group_norm,
    "native_layer_norm": _layer_norm,
    "ne": _equal(True),
    "neg": _same("Neg"),
    "pow": _power,
    "reciprocal": _same("Reciprocal"),
    "relu": _same("Relu"),
    "rrelu_with_noise_functional": _random_leaky,
    "rsqrt": _inverse_root,
    "rsub": _binary("Sub", True),
    "scaled_dot_product_attention": _attention,
    "sigmoid": _same("Sigmoid"),
    "sign": _same("Sign"),
    "silu": _same("Swish"),
    "sin": _same("Sin"),
    "sinh": _same("Sinh"),
    "softplus": _softplus,
    "sqrt": _same("Sqrt"),
    "sub": _binary("Sub"),
    "sum": _reduced("ReduceSum"),
    "tan": _same("Tan"),
    "tanh": _same("Tanh"),
    "tril": _triangle(0),
    "triu": _triangle(1),
    "upsample_bilinear2d": _resized("linear"),
    "upsample_linear1d": _resized("linear"),
    "upsample_nearest1d": _resized("nearest"),
    "upsample_nearest2d": _resized("nearest"),
    "upsample_nearest3d": _resized("nearest"),
    "upsample_trilinear3d": _resized("linear"),
    "var": _variance,
    "where": _where,
}
