"""Operators that move entries or return sizes, without computation."""

from __future__ import annotations

from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.onnx.scope import Call, Operator
from algebra.programs.onnx.values import Item, Tokens
from algebra.programs.onnx.weights import Parameter


def _shape(call: Call) -> np.ndarray:
    found = call.inputs[0]
    if isinstance(found, Parameter):
        sizes: tuple[int, ...] = found.array.shape
    elif isinstance(found, Tokens):
        sizes = call.shape_of(found)
    else:
        sizes = call.shape(call.item(0))
    return np.array(sizes[slice(call.option("start", 0), call.option("end", None))], np.int64)


def _size(call: Call) -> np.ndarray:
    return np.array(np.prod(call.shape(call.item(0)), dtype=np.int64))


def _one_hot(call: Call) -> Item:
    which = call.inputs[0]
    if not isinstance(which, Tokens):
        raise InputError("its indices must be an input of whole numbers")
    values = [float(v) for v in call.array(2, "the values").ravel()]
    if values != [0.0, 1.0] or call.option("axis", -1) not in (-1, len(which.shape)):
        raise InputError("only 0 and 1 along a last axis are read")
    size = int(call.array(1, "the depth").item())
    unit = call.constant(np.eye(size, dtype=np.int64))
    return call.tokens(which, unit)


def _reshape(call: Call) -> Item | Tokens:
    which = call.inputs[0]
    if isinstance(which, Tokens):
        old, new = call.shape_of(which), call.whole(1, "the shape")
        known = [old[k] if size == 0 else size for k, size in enumerate(new)]
        if known[0] in (call.batch, -1) and -1 not in known[1:]:
            return Tokens(which.name, (1, *known[1:]), which.block)
        if known[0] == call.batch and known.count(-1) == 1:
            count = int(np.prod(old[1:])) // -int(np.prod(known[1:]))
            return Tokens(
                which.name, (1, *(count if size == -1 else size for size in known[1:])),
                which.block,
            )  # fmt: skip
        raise InputError(f"whole numbers of the shape {old} become {tuple(new)}")
    item, wanted = call.item(0), call.whole(1, "the shape")
    if not call.option("allowzero", 0):
        old = call.shape(item)
        wanted = [old[k] if size == 0 and k < len(old) else size for k, size in enumerate(wanted)]
    return call.reshaped(item, wanted)


def _flatten(call: Call) -> Item:
    item = call.item(0)
    axis, shape = call.option("axis", 1), call.shape(item)
    axis = axis if axis >= 0 else axis + len(shape)
    first = 1
    for size in shape[:axis]:
        first *= size
    return call.reshaped(item, [first, -1])


def _transpose(call: Call) -> Item:
    item = call.item(0)
    return call.transposed(item, call.option("perm", list(range(item.ndim))[::-1]))


def _squeeze(call: Call) -> Item:
    item = call.item(0)
    shape = call.shape(item)
    axes = call.axes(1, item.ndim)
    axes = [k for k, size in enumerate(shape) if size == 1] if axes is None else axes
    if any(shape[k] != 1 for k in axes):
        raise InputError(f"it takes axes {axes} from the shape {shape}")
    return call.without_axes(item, axes)


def _unsqueeze(call: Call) -> Item:
    item = call.item(0)
    count = len(call.attributes["axes"] if "axes" in call.attributes else call.whole(1, "axes"))
    axes = call.axes(1, item.ndim + count)
    assert axes is not None
    left = iter(range(item.ndim))
    order = [None if k in axes else next(left) for k in range(item.ndim + count)]
    batch = None if item.batch is None else order.index(item.batch)
    return call.move(item, np.expand_dims(call.places(item), tuple(axes)), batch)


def _concat(call: Call) -> Item:
    items = call.items()
    axis = call.along(items[0], call.option("axis", 0), "puts samples together along")
    batches = {item.batch for item in items if item.batch is not None}
    if len(batches) > 1 or batches == {axis}:
        raise InputError("it puts samples of a batch together")
    batch = batches.pop() if batches else None
    tables, start, absent = [], 0, []
    for item in items:
        own = list(item.shape)
        if item.batch is None and batch is not None and own[batch] != items[0].shape[batch]:
            raise InputError(f"it joins a batch axis with an axis of fixed size {own[batch]}")
        tables.append(call.places(item) + start)
        start += int(np.prod(own))
        absent.append(np.zeros(own, bool) if item.absent is None else item.absent)
    try:
        table = np.concatenate(tables, axis=axis)
    except ValueError:
        shapes = " and ".join(str(call.shape(item)) for item in items)
        raise InputError(f"the shapes {shapes} do not fit along axis {axis}") from None
    gone = np.concatenate(absent, axis=axis)
    value = call.build.index(table, *(item.value for item in items))
    return Item(value, batch, gone if gone.any() else None)


def _split(call: Call) -> tuple[Item, ...]:
    item = call.item(0)
    axis = call.along(item, call.option("axis", 0), "splits")
    if "split" in call.attributes:
        sizes = list(call.attributes["split"])
    elif call.has(1):
        sizes = call.whole(1, "the sizes")
    else:
        parts = call.option("num_outputs", call.outputs)
        each = -(-item.shape[axis] // parts)
        sizes = [min(each, item.shape[axis] - each * k) for k in range(parts)]
    ends = np.cumsum(sizes)[:-1]
    tables = np.split(call.places(item), ends, axis=axis)
    return tuple(call.move(item, table, item.batch) for table in tables)


def _slice(call: Call) -> Item:
    item = call.item(0)
    if "starts" in call.attributes:
        starts, ends = list(call.attributes["starts"]), list(call.attributes["ends"])
        axes, steps = list(call.option("axes", range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = call.whole(1, "the starts"), call.whole(2, "the ends")
        axes = call.whole(3, "the axes") if call.has(3) else list(range(len(starts)))
        steps = call.whole(4, "the steps") if call.has(4) else [1] * len(starts)
    cut: list[Any] = [slice(None)] * item.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis %= item.ndim
        if axis == item.batch:
            if (start, step) == (0, 1) and end >= call.shape(item)[axis]:
                continue
            raise InputError("it cuts the batch axis, so that a label depends on other samples")
        cut[axis] = slice(start, end, step)
    return call.move(item, call.places(item)[tuple(cut)], item.batch)


def _gather(call: Call) -> Item:
    which = call.inputs[1]
    if isinstance(which, Tokens):
        return call.tokens(which, call.item(0))
    item = call.item(0)
    axis = call.along(item, call.option("axis", 0), "takes entries along")
    where = call.array(1, "the indices").astype(np.int64)
    size = item.shape[axis]
    if where.size and not (-size <= where.min() and where.max() < size):
        raise InputError(f"indices {where.min()} … {where.max()} of an axis of size {size}")
    batch = item.batch
    if batch is not None and batch > axis:
        batch += where.ndim - 1
    return call.move(item, np.take(call.places(item), where, axis=axis), batch)


def _expand(call: Call) -> Item:
    return call.expanded(call.item(0), call.whole(1, "the shape"))


def _filled(call: Call) -> Item | np.ndarray:
    shape = call.whole(0, "the shape")
    value = call.option("value", None)
    from onnx import numpy_helper

    number = np.zeros((), np.float32) if value is None else numpy_helper.to_array(value).ravel()[0]
    if call.batch > 1 and any(size and size % call.batch == 0 for size in shape):
        return call.expanded(call.constant(np.asarray(number)), shape)
    return np.full(shape, number)


def _tile(call: Call) -> Item:
    item, times = call.item(0), call.whole(1, "the repeats")
    if item.batch is not None and times[item.batch] != 1:
        raise InputError("it repeats the batch axis")
    batch = item.batch
    for k, count in enumerate(times):
        if call.batch > 1 and count % call.batch == 0 and count and item.shape[k] == 1:
            batch, times[k] = k, count // call.batch
    return call.move(item, np.tile(call.places(item), times), batch)


def _pad(call: Call) -> Item:
    item = call.item(0)
    pads = list(call.attributes["pads"]) if "pads" in call.attributes else call.whole(1, "the pads")
    if call.has(2) and call.array(2, "the value").item() != 0:
        raise InputError("it pads with a value other than 0")
    axes = call.whole(3, "the axes") if call.has(3) else list(range(item.ndim))
    widths = [(0, 0)] * item.ndim
    for k, axis in enumerate(axes):
        widths[axis % item.ndim] = (pads[k], pads[k + len(axes)])
    if item.batch is not None and widths[item.batch] != (0, 0):
        raise InputError("it pads the batch axis")
    mode = call.option("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise InputError(f"the mode {shown(mode)} is not known")
    places = call.places(item)
    cut = tuple(slice(max(0, -a), size - max(0, -b)) for (a, b), size in
                zip(widths, item.shape, strict=True))  # fmt: skip
    grown = [(max(0, a), max(0, b)) for a, b in widths]
    if mode == "constant":
        return call.move(item, np.pad(places[cut], grown, constant_values=-1), item.batch)
    return call.move(item, np.pad(places[cut], grown, mode=mode), item.batch)  # type: ignore[call-overload]


def _depth_to_space(call: Call) -> Item:
    item, block = call.item(0), call.option("blocksize", 1)
    n, c, h, w = item.shape
    places = call.places(item)
    if call.option("mode", "DCR") == "DCR":
        table = places.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        table = places.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return call.move(item, table.reshape(n, c // block**2, h * block, w * block), item.batch)


SHAPES: dict[str, Operator] = {
    "Concat": _concat,
    "ConstantOfShape": _filled,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
