"""ATen operators that move entries or repeat numbers, without computation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.aten.call import AtenCall, AtenOperator, Repeated, int64_array
from algebra.plugins.models.onnx.places import put_at
from algebra.plugins.models.onnx.values import Flags, Item, Merged, Tokens
from algebra.plugins.models.onnx.weights import Parameter

_END = np.iinfo(np.int64).max


def _embedding(call: AtenCall) -> Any:
    table, row = call["weight"], call.option("padding_idx", -1)
    if isinstance(table, Parameter) and row >= 0:
        table = call.weights.without_row(table, row)
    return call.run("Gather", table, call["indices"])


def _view(call: AtenCall) -> Any:
    value, wanted = call["self"], list(call.option("size", call.option("shape")))
    return call.run("Reshape", value, int64_array(*wanted), allowzero=1)


def _permute(call: AtenCall) -> Any:
    return call.run("Transpose", call["self"], perm=call.axes("dims"))


def _transpose(call: AtenCall) -> Any:
    order = list(range(len(call.shape(call["self"]))))
    if call.has("dim0"):
        a, b = call.axes("dim0")[0], call.axes("dim1")[0]
    else:
        a, b = 0, len(order) - 1
    order[a], order[b] = order[b], order[a]
    return call.run("Transpose", call["self"], perm=order)


def _expand(call: AtenCall) -> Any:
    own, wanted = call.shape(call["self"]), list(call.option("size"))
    more = len(wanted) - len(own)
    known = [own[k - more] if size == -1 else size for k, size in enumerate(wanted)]
    return call.run("Expand", call["self"], int64_array(*known))


def _squeeze(call: AtenCall) -> Any:
    shape = call.shape(call["self"])
    axes = [k for k in call.axes() if shape[k] == 1]
    return call.run("Squeeze", call["self"], int64_array(*axes)) if axes else call["self"]


def _unsqueeze(call: AtenCall) -> Any:
    return call.run("Unsqueeze", call["self"], int64_array(call.option("dim")))


def _slice(call: AtenCall) -> Any:
    start, end = call.option("start", 0), call.option("end", _END)
    step, axis = call.option("step", 1), call.axes()[0] if call.has("dim") else 0
    if (start, step) == (0, 1) and end >= call.shape(call["self"])[axis]:
        return call["self"]
    return call.run(
        "Slice",
        call["self"],
        int64_array(start),
        int64_array(end),
        int64_array(axis),
        int64_array(step),
    )


def _select(call: AtenCall) -> Any:
    at = np.array(call.option("index"), np.int64)
    return call.run("Gather", call["self"], at, axis=call.axes()[0])


def _index_select(call: AtenCall) -> Any:
    return call.run("Gather", call["self"], call["index"], axis=call.axes()[0])


def _index(call: AtenCall) -> Any:
    """Entries at tables of indices, one for each of some axes, by the rules of NumPy."""
    tables = _tables(call)
    given = [table for table in tables if table is not None]
    own = [k for k, table in enumerate(tables) if isinstance(table, Repeated)]
    if len(own) == 1:
        return _of_each_sample(call, tables, own[0])
    if len(tables) == 1 and isinstance(tables[0], Tokens):
        return call.run("Gather", call["self"], tables[0])
    if not all(isinstance(table, np.ndarray) for table in given):
        raise InputError("its places depend on samples or weights")
    item = call.item(call["self"])
    at = tuple(slice(None) if table is None else table for table in tables)
    at += (slice(None),) * (item.ndim - len(at))
    batch = item.batch
    if batch is not None:
        if not isinstance(at[batch], slice):
            raise InputError("it takes samples from the batch")
        # NumPy puts the new axes at the tables' position if these are adjacent, otherwise first.
        put = [k for k, table in enumerate(tables) if table is not None]
        ahead = put != list(range(put[0], put[-1] + 1)) or put[0] < batch
        more = len(np.broadcast_shapes(*(table.shape for table in given)))
        batch = batch - sum(1 for k in put if k < batch) + (more if ahead else 0)
    return call.moves.move(item, call.moves.places(item)[at], batch)


def _tables(call: AtenCall) -> list[Any]:
    """The tables of indices; a mask of Booleans is one for each of its axes."""
    found: list[Any] = []
    for table in call.option("indices"):
        is_mask = isinstance(table, np.ndarray) and table.dtype == bool
        found += np.nonzero(table) if is_mask else [table]
    return found


def _of_each_sample(call: AtenCall, tables: list[Any], axis: int) -> Any:
    """Entries of each sample; one table is the numbers of the samples."""
    item, numbers = call.item(call["self"]), tables[axis]
    others = [table for table in tables if table is not None and table is not numbers]
    if axis != item.batch or not all(isinstance(table, np.ndarray) for table in others):
        raise InputError("its places depend on samples or weights")
    one = np.zeros((1,) * numbers.array.ndim, np.int64)
    at = tuple(
        slice(None) if table is None else one if table is numbers else table for table in tables
    )
    put = [k for k, table in enumerate(tables) if table is not None]
    ahead = put != list(range(put[0], put[-1] + 1))
    ndim = max(table.ndim for table in (one, *others))
    batch = (0 if ahead else put[0]) + ndim - one.ndim + numbers.axis
    return call.moves.move(item, call.moves.places(item)[at], batch)


def _index_put(call: AtenCall) -> Any:
    """A value with other entries at tables of indices."""
    item, values = call.item(call["self"]), call.item(call["values"])
    tables = _tables(call)
    if not all(table is None or isinstance(table, np.ndarray) for table in tables):
        raise InputError("its places depend on samples or weights")
    if item.batch is not None and item.batch < len(tables) and tables[item.batch] is not None:
        raise InputError("it puts samples of a batch together")
    at = tuple(slice(None) if table is None else table for table in tables)
    where, own = call.moves.places(item)[at], call.moves.places(values)
    cut = tuple(slice(n) for n in where.shape) if own.ndim == where.ndim else ()
    numbers = np.broadcast_to(own[cut] if cut else own, where.shape)
    how = "add" if call.option("accumulate", False) else "none"
    return put_at(call.moves, item, where, numbers, values, how)


def _flip(call: AtenCall) -> Any:
    axes = call.axes("dims")
    n = len(axes)
    ends = int64_array(*[-_END] * n)
    return call.run(
        "Slice",
        call["self"],
        int64_array(*[-1] * n),
        ends,
        int64_array(*axes),
        int64_array(*[-1] * n),
    )


def _joined(call: AtenCall) -> Any:
    # Tensors of the shape (0,) are left out, whatever the shapes of the others.
    parts = [part for part in call.tensors("tensors") if call.shape(part) != (0,)]
    axis = call.option("dim", 0)
    if len(parts) == 1:
        return parts[0]
    items = [part for part in parts if isinstance(part, Item)]
    if (
        len(items) == len(parts)
        and axis in (0, -items[0].ndim)
        and all(item.batch == 0 and item.shape == items[0].shape for item in items)
    ):
        # Values of one sample after another along the axis of the samples: a stack before it.
        apart = [call.run("Unsqueeze", item, int64_array(0)) for item in items]
        return Merged(call.run("Concat", *apart, axis=0), 2)
    return call.run("Concat", *parts, axis=axis)


def _split(call: AtenCall) -> Any:
    axis = call.axes()[0] if call.has("dim") else 0
    sizes = call.option("split_sizes")
    if sizes is None:
        each, total = call.option("split_size"), call.shape(call["self"])[axis]
        sizes = [min(each, total - start) for start in range(0, total, each)]
    return call.run("Split", call["self"], int64_array(*sizes), axis=axis, outputs=len(sizes))


def _unbind(call: AtenCall) -> Any:
    axis = call.axes()[0] if call.has("dim") else 0
    count = call.shape(call["self"])[axis]
    return tuple(
        call.run("Gather", call["self"], np.array(k, np.int64), axis=axis) for k in range(count)
    )


def _tiled(call: AtenCall) -> Any:
    times = call.option("repeats")
    item = call.item(call["self"])
    lifted = call.moves.lifted(item, len(times))
    return call.run("Tile", lifted, int64_array(*times))


def _padded(call: AtenCall) -> Any:
    """Pairs of pads, the last axis first."""
    ndim, pairs = len(call.shape(call["self"])), call.option("pad")
    before, after = [0] * ndim, [0] * ndim
    for k in range(len(pairs) // 2):
        before[ndim - 1 - k], after[ndim - 1 - k] = pairs[2 * k : 2 * k + 2]
    value = np.array(call.number("value", 0))
    return call.run("Pad", call["self"], int64_array(*before, *after), value)


def _padded_by(call: AtenCall) -> Any:
    """Pads by a number, or by entries: of the other end, of a mirror, of the edge."""
    mode = call.option("mode", "constant")
    if mode == "constant":
        return _padded(call)
    item, pairs = call.item(call["self"]), call.option("pad")
    widths = [(0, 0)] * item.ndim
    for k in range(len(pairs) // 2):
        widths[item.ndim - 1 - k] = tuple(pairs[2 * k : 2 * k + 2])
    if item.batch is not None and any(widths[item.batch]):
        raise InputError("it pads the batch axis")
    places = np.pad(call.moves.places(item), widths, mode=_PADS[mode])  # type: ignore[call-overload]
    return call.moves.move(item, places, item.batch)


# The modes of a padding in NumPy.
_PADS = {"circular": "wrap", "reflect": "reflect", "replicate": "edge"}


def _windows(call: AtenCall) -> Any:
    """Windows along an axis, the entries of each along a last axis."""
    item, axis = call.item(call["self"]), call.axes("dimension")[0]
    if axis == item.batch:
        raise InputError("it takes windows along the batch axis")
    size, step = call.option("size"), call.option("step")
    every = np.lib.stride_tricks.sliding_window_view(call.moves.places(item), size, axis)
    cut = tuple(slice(None, None, step if k == axis else None) for k in range(item.ndim))
    return call.moves.move(item, every[cut], item.batch)


def _diagonal(call: AtenCall) -> Any:
    """Entries with equal indices along two axes, along a last axis."""
    item, axes = call.item(call["self"]), [call.axes(name)[0] for name in ("dim1", "dim2")]
    if item.batch in axes:
        raise InputError("it takes a diagonal along the batch axis")
    places = np.diagonal(call.moves.places(item), call.option("offset", 0), *axes)
    batch = item.batch
    if batch is not None:
        batch -= sum(axis < batch for axis in axes)
    return call.moves.move(item, places, batch)


def _bags(call: AtenCall) -> Any:
    """Sums, means or maxima of rows of a table: of as many for each bag."""
    places, ends = call.arguments["indices"], call.arguments["offsets"]
    weighted, last = call.has("per_sample_weights"), call.option("include_last_offset", False)
    if not isinstance(places, Tokens) or not isinstance(ends, Repeated) or last or weighted:
        raise InputError("it needs an input of whole numbers with as many for each bag")
    if call.has("padding_idx"):
        raise InputError("a row of padding of bags is not read")
    steps = np.unique(np.diff(ends.array))
    if len(steps) != 1 or ends.array[0] or len(ends.first(1)) * steps[0] != places.where.size:
        raise InputError("its bags are not of one size")
    rows = call.run("Gather", call["weight"], places)
    size = int(steps[0])
    bags = call.run("Reshape", rows, int64_array(-1, size, call.shape(rows)[-1]))
    op = ("ReduceSum", "ReduceMean", "ReduceMax")[call.option("mode", 0)]
    return call.run(op, bags, int64_array(1), keepdims=0), None, None, None


def _hot(call: AtenCall) -> Any:
    """0 and 1: one row for each number."""
    count, places = call.option("num_classes"), call["self"]
    if not isinstance(places, Tokens) or count < 0:
        raise InputError("it needs whole numbers that depend on samples, and `num_classes`")
    found = call.weights.rows(places, call.moves.constant(np.eye(count, dtype=np.int64)))
    return Flags(found.value, found.batch)


def _like(value: float | None) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        number = call.number("fill_value", 0) if value is None else value
        return call.filled(number, call.shape(call["self"]))

    return run


def _scattered(select: bool) -> AtenOperator:
    """A value with other entries at some places along an axis."""

    def run(call: AtenCall) -> Any:
        item, axis = call.item(call["self"]), call.axes()[0]
        source = call.item(call["src"])
        at: list[Any] = [slice(None)] * item.ndim
        if axis == item.batch:
            raise InputError("it puts samples of a batch together")
        if select:
            place = call.option("index")
            source = call.run("Unsqueeze", source, int64_array(axis))
            at[axis] = slice(place, place + 1 or None)
        else:
            at[axis] = slice(call.option("start"), call.option("end"), call.option("step", 1))
        moves = call.moves
        if source.batch != item.batch:
            raise InputError("it puts a value with samples into one without")
        table = moves.places(item).copy()
        table[tuple(at)] = moves.places(source) + table.size
        return Item(
            moves.build.index(table, moves.plain(item).value, moves.plain(source).value), item.batch
        )

    return run


def _strided(call: AtenCall) -> Any:
    """Entries at steps of the memory, for a value that lies in it in the order of its axes."""
    item, shape = call.item(call["self"]), call.shape(call["self"])
    plain = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    given = call.option("self_strides", plain)
    if any(n > 1 and a != b for n, a, b in zip(shape, given, plain, strict=True)):
        raise InputError("its input does not lie in the memory in the order of its axes")
    if item.batch:
        raise InputError("the axis of the samples is not the first of its input")
    sizes, steps = list(call.option("size")), list(call.option("stride"))
    places = np.array(call.option("storage_offset", 0))
    batch, each = None, math.prod(item.shape)
    for size, step in zip(sizes, steps, strict=True):
        if item.batch == 0 and batch is None and (size, step) == (call.moves.batch, each):
            batch, size = places.ndim, 1
        places = places[..., None] + step * np.arange(size)
    if item.batch == 0 and batch is None:
        raise InputError("it has no axis of the samples")
    if places.size and not (places.min() >= 0 and places.max() < each):
        raise InputError("it takes entries outside of a sample")
    return call.moves.move(item, places, batch)


def _copied(call: AtenCall) -> Any:
    return call.run("Expand", call["src"], int64_array(*call.shape(call["self"])))


MOVES: dict[str, AtenOperator] = {
    "_unsafe_view": _view,
    "as_strided": _strided,
    "cat": _joined,
    "constant_pad_nd": _padded,
    "copy": _copied,
    "diagonal": _diagonal,
    "embedding": _embedding,
    "embedding_bag": _bags,
    "empty_like": _like(0),
    "expand": _expand,
    "flip": _flip,
    "full_like": _like(None),
    "index": _index,
    "index_put": _index_put,
    "index_select": _index_select,
    "one_hot": _hot,
    "ones_like": _like(1),
    "pad": _padded_by,
    "permute": _permute,
    "repeat": _tiled,
    "reshape": _view,
    "select": _select,
    "select_scatter": _scattered(True),
    "slice": _slice,
    "slice_scatter": _scattered(False),
    "split": _split,
    "split_with_sizes": _split,
    "squeeze": _squeeze,
    "t": _transpose,
    "transpose": _transpose,
    "unbind": _unbind,
    "unfold": _windows,
    "unsqueeze": _unsqueeze,
    "view": _view,
    "zeros_like": _like(0),
}
