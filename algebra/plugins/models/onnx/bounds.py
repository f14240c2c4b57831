"""Bounds of a model, checked before anything is expanded: a file of 1 kB may mean 2^30 nodes.

*Functions* that a model defines are written out where they are called; each may call the next one
twice.  *Constants* may be repeated, padded or joined with themselves.  The sizes of *values* are
compared with `most_entries` where the program is built (`algebra.programs.program.Builder`): room
that grows with the numbers that the file itself holds, so that large models are read and small
files cannot ask for much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.plugins.models.onnx.batches import Batch, Input
from algebra.plugins.models.onnx.values import BATCH


@dataclass(frozen=True)
class ModelLimits:
    """What a model may be expanded to.

    Attributes
    ----------
    nodes : int
        Of the graph with functions and subgraphs written out.
    depth : int
        Of functions that call each other.
    written : int
        Bytes of what functions are written out to, beyond those of the file.
    entries, entries_per_number : int
        Of all values of a program: for any file, and for each number in it.
    constant : int
        Entries of a constant that is computed from others.
    """

    nodes: int = 50_000
    depth: int = 64
    written: int = 1 << 26
    entries: int = 1 << 24
    entries_per_number: int = 16
    constant: int = 1 << 22


MODEL_LIMITS = ModelLimits()


def most_entries(model: Any) -> int:
    """How many entries all values of a model's program may have together."""
    held = sum(math.prod(tensor.dims) for tensor in model.graph.initializer)
    # What a tensor says of its size is compared with its bytes when it is read.
    return MODEL_LIMITS.entries + MODEL_LIMITS.entries_per_number * min(
        max(held, 0), model.ByteSize()
    )


def check_expansion(model: Any) -> None:
    """Refuse a model whose functions and subgraphs, written out, have too many nodes.

    Raises
    ------
    InputError
        It names the node of the graph.
    """
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    known: dict[tuple[str, str, str], tuple[int, int]] = {}
    # The size of a message is counted anew at each call: once here, not for each node.
    longest = MODEL_LIMITS.written + model.ByteSize()

    def size_of(key: tuple[str, str, str], path: tuple[tuple[str, str, str], ...]) -> Any:
        if key in path:
            raise InputError(f"the function `{one_line(key[1])}` calls itself")
        if len(path) >= MODEL_LIMITS.depth:
            raise InputError(f"functions call each other more than {MODEL_LIMITS.depth} deep")
        if key not in known:
            known[key] = total(functions[key].node, (*path, key))
        return known[key]

    def total(nodes: Any, path: tuple[tuple[str, str, str], ...]) -> tuple[int, int]:
        count, length = 0, 0
        for node in nodes:
            more, longer = 1, node.ByteSize()
            key = (node.domain, node.op_type, node.overload)
            parts = [size_of(key, path)] if key in functions else []
            for attribute in node.attribute:
                graphs = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
                parts += [total(graph.node, path) for graph in graphs]
            count += more + sum(part[0] for part in parts)
            length += longer + sum(part[1] for part in parts)
            if count > MODEL_LIMITS.nodes or length > longest:
                raise InputError(
                    f"written out, it has more than {MODEL_LIMITS.nodes} nodes or "
                    f"{MODEL_LIMITS.written >> 20} MiB"
                )
        return count, length

    whole = 0
    for number, node in enumerate(model.graph.node):
        try:
            whole += total([node], ())[0]
            if whole > MODEL_LIMITS.nodes:
                raise InputError(f"up to it the graph has more than {MODEL_LIMITS.nodes} nodes")
        except InputError as error:
            raise InputError(
                f"node {number} `{one_line(node.name)}` ({one_line(node.op_type)}): {error}"
            ) from None


# -- constants ----------------------------------------------------------------------------------

# Operators of constants whose result is no larger than their inputs, broadcast.
_LIKE_WORDS = (
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr "
    "BitwiseXor Cast CastLike Ceil Celu Clip Cos Cosh CumProd CumSum DequantizeLinear Div Dropout "
    "Elu Equal Erf Exp EyeLike Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Hardmax "
    "Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log LogSoftmax Max Mean Min Mish Mod Mul "
    "Neg Not Or PRelu Pow QuantizeLinear Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh "
    "Softmax Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Trilu Where Xor"
)
# No larger than all their inputs together.
_WITHIN_WORDS = (
    "ArgMax ArgMin Compress Concat DepthToSpace Flatten GatherElements ReduceL1 ReduceL2 "
    "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice "
    "SpaceToDepth Split Squeeze TopK Transpose Unsqueeze"
)
_LIKE = frozenset(_LIKE_WORDS.split())
_WITHIN = frozenset(_WITHIN_WORDS.split())
Arrays = Sequence[np.ndarray]


def _whole(array: np.ndarray) -> list[int]:
    return [int(v) for v in array.ravel().tolist()]


def _expanded(inputs: Arrays, _: Mapping[str, Any]) -> int:
    return math.prod(max(abs(v), 1) for v in _whole(inputs[1])) * inputs[0].size


def _tiled(inputs: Arrays, _: Mapping[str, Any]) -> int:
    return inputs[0].size * math.prod(max(v, 0) for v in _whole(inputs[1]))


def _ranged(inputs: Arrays, _: Mapping[str, Any]) -> int:
    start, end, step = (array.item() for array in inputs)
    if not step or not all(map(math.isfinite, (start, end, step))):
        raise InputError(f"a range from {start} to {end} by {step}")
    return max(0, math.ceil((end - start) / step))


def _padded(inputs: Arrays, given: Mapping[str, Any]) -> int:
    pads = list(given["pads"]) if "pads" in given else _whole(inputs[1])
    more = sum(max(v, 0) for v in pads)
    return math.prod(size + more for size in inputs[0].shape)


def _gathered(inputs: Arrays, given: Mapping[str, Any]) -> int:
    shape = inputs[0].shape
    axis = given.get("axis", 0)
    return inputs[1].size * math.prod(shape) // max(1, shape[axis])


def _gathered_blocks(inputs: Arrays, _: Mapping[str, Any]) -> int:
    return inputs[0].size * inputs[1].size


def _one_hot(inputs: Arrays, _: Mapping[str, Any]) -> int:
    return inputs[0].size * abs(int(inputs[1].item()))


def _non_zero(inputs: Arrays, _: Mapping[str, Any]) -> int:
    return inputs[0].size * max(1, inputs[0].ndim)


def _product(inputs: Arrays, _: Mapping[str, Any]) -> int:
    a, b = inputs[:2]
    inner = max(1, a.shape[-1] if a.ndim else 1)
    stacks = max(math.prod(a.shape[:-2]), math.prod(b.shape[:-2]), 1)
    return stacks * (a.size // inner) * max(1, b.size // inner)


def _summed(inputs: Arrays, given: Mapping[str, Any]) -> int:
    equation = given.get("equation", b"").decode().replace(" ", "")
    sizes: dict[str, int] = {}
    for group, array in zip(equation.partition("->")[0].split(","), inputs, strict=True):
        if len(group) != array.ndim:
            raise InputError(f"the equation {shown(equation)}")
        for letter, size in zip(group, array.shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    # The sum runs over all letters.
    return math.prod(sizes.values())


_SIZES: dict[str, Callable[[Arrays, Mapping[str, Any]], int]] = {
    "Einsum": _summed,
    "Expand": _expanded,
    "Gather": _gathered,
    "GatherND": _gathered_blocks,
    "Gemm": _product,
    "MatMul": _product,
    "NonZero": _non_zero,
    "OneHot": _one_hot,
    "Pad": _padded,
    "Range": _ranged,
    "Tile": _tiled,
}


def check_constant(op: str, inputs: Arrays, given: Mapping[str, Any]) -> None:
    """Refuse a constant that would be too large, before it is computed from others.

    Parameters
    ----------
    op : str
        An operator of the standard.
    inputs : sequence of ndarray
    given : mapping
        The node's attributes.

    Raises
    ------
    InputError
        Also for operators for which no bound is known: loops, random numbers, texts.
    """
    held = sum(array.size for array in inputs)
    if any(array.dtype.kind in "OSU" for array in inputs):
        raise InputError("it computes with texts")
    if op in _LIKE:
        size = math.prod(np.broadcast_shapes(*(array.shape for array in inputs)))
    elif op in _WITHIN:
        size = held
    elif op in _SIZES:
        size = _SIZES[op](inputs, given)
    else:
        raise InputError(f"the operator {one_line(op)} is not computed from constants")
    if size > MODEL_LIMITS.constant + held:
        raise InputError(f"it makes a constant of up to {shown(size)} entries, which is too large")


# -- memory ------------------------------------------------------------------------------------

# Bytes of tables for each entry of a value (a place of 8 bytes), and of the evaluation of two
# samples for each entry of the largest value: it, others, copies and limbs of a product (measured:
# 6 to 12 times for each).  Of each weight: its numbers and three residues; of the largest
# conversions, too.
_OF_TABLES = 8
_OF_SAMPLES = 2 * 8 * 12
_OF_WEIGHTS = 4 * 8
_OF_CONVERSIONS = 2 * 8
# Entries of whole numbers that may be sizes.
_FEW = 64


def memory_of_graph(graph: Any, opset: int, inputs: Sequence[Input], batch: Batch) -> int:
    """About the memory that a graph and two of its samples take, from shapes alone.

    Nothing is computed, so a graph that is too large for the limit is refused with an amount that
    suffices.  0 if the shapes are not known.
    """
    import onnx

    make = onnx.helper.make_tensor_value_info
    bare = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    bare.opset_import.append(onnx.helper.make_opsetid("", opset))
    bare.graph.node.extend(graph.node)
    for tensor in graph.initializer:
        if tensor.data_type == onnx.TensorProto.INT64 and math.prod(tensor.dims) <= _FEW:
            bare.graph.initializer.append(tensor)
        else:
            bare.graph.input.append(make(tensor.name, tensor.data_type, list(tensor.dims)))
    count = 1 if batch.count == BATCH else batch.count
    for given in inputs:
        place = batch.axes.get(given.name)
        sizes = [count if k == place else n for k, n in enumerate(given.sizes)]
        bare.graph.input.append(make(given.name, given.type, sizes))
    try:
        known = onnx.shape_inference.infer_shapes(bare, data_prop=True).graph
    except Exception:  # the graph is refused, or read, by what reads its nodes
        return 0
    entries = [
        math.prod(max(d.dim_value, 1) for d in value.type.tensor_type.shape.dim) // count
        for value in known.value_info
    ]
    weights = [math.prod(tensor.dims) for tensor in graph.initializer]
    return (
        _OF_TABLES * sum(entries)
        + _OF_SAMPLES * max(entries, default=0)
        + _OF_WEIGHTS * sum(weights)
        + _OF_CONVERSIONS * max(weights, default=0)
    )
