"""Operators that move entries or return sizes, without computation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.bounds import MODEL_LIMITS
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import (
    MOST_AXES,
    Item,
    Merged,
    SampleConstants,
    Tokens,
    letters_of,
)
from algebra.plugins.models.onnx.weights import Parameter


def _shape(call: Call) -> np.ndarray:
    found = call.given(0)
    if isinstance(found, Parameter):
        sizes: tuple[int, ...] = found.array.shape
    elif isinstance(found, Tokens):
        sizes = call.shape_of(found)
    elif isinstance(found, Merged):
        sizes = call.shape(found)
    else:
        sizes = call.shape(call.item(0))
    return np.array(sizes[slice(call.option("start", 0), call.option("end", None))], np.int64)


def _size(call: Call) -> np.ndarray:
    return np.array(np.prod(call.shape(call.item(0)), dtype=np.int64))


def _one_hot(call: Call) -> Item:
    which = call.given(0)
    if not isinstance(which, Tokens):
        raise InputError("its indices must be an input of whole numbers")
    values = [float(v) for v in call.array(2, "the values").ravel()]
    if values != [0.0, 1.0] or call.option("axis", -1) not in (-1, len(which.shape)):
        raise InputError("only 0 and 1 along a last axis are read")
    size = int(call.array(1, "the depth").item())
    call.build.room(size * size)
    unit = call.constant(np.eye(size, dtype=np.int64))
    return call.tokens(which, unit)


def _reshape(call: Call) -> Item | Merged:
    found = call.given(0)
    item = found if isinstance(found, Merged) else call.item(0)
    wanted = call.listed(1, "shape", "the shape") or []
    if not call.option("allowzero", 0):
        old = call.shape(item)
        wanted = [old[k] if size == 0 and k < len(old) else size for k, size in enumerate(wanted)]
    return call.merged(item, wanted)


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
    count = len(call.listed(1, "axes", "the axes") or ())
    axes = call.axes(1, item.ndim + count)
    if axes is None or len(set(axes)) < count:
        raise InputError("its axes are missing, or one is given twice")
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
    call.build.room(sum(math.prod(item.shape) for item in items))
    tables, start, absent = [], 0, []
    for item in items:
        own = list(item.shape)
        if item.batch is None and batch is not None and own[batch] != items[0].shape[batch]:
            raise InputError(f"it joins a batch axis with an axis of fixed size {own[batch]}")
        tables.append(call.places(item) + start)
        start += math.prod(own)
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
    sizes = call.listed(1, "split", "the sizes")
    if sizes is None:
        parts = call.option("num_outputs", call.outputs)
        if not 1 <= parts <= max(call.outputs, item.shape[axis]):
            raise InputError(f"an axis of {item.shape[axis]} is split into {shown(parts)} parts")
        each = -(-item.shape[axis] // parts)
        sizes = [min(each, item.shape[axis] - each * k) for k in range(parts)]
    if sum(sizes) != item.shape[axis] or min(sizes, default=0) < 0:
        raise InputError(f"the sizes {sizes} are not those of parts of {item.shape[axis]}")
    ends = np.cumsum(sizes)[:-1]
    tables = np.split(call.places(item), ends, axis=axis)
    return tuple(call.move(item, table, item.batch) for table in tables)


def _slice(call: Call) -> Item:
    item = call.item(0)
    starts, ends = call.listed(1, "starts", "the starts"), call.listed(2, "ends", "the ends")
    if starts is None or ends is None:
        raise InputError("its starts or ends are missing")
    axes = call.listed(3, "axes", "the axes")
    axes = list(range(len(starts))) if axes is None else axes
    steps = call.whole(4, "the steps") if call.has(4) else [1] * len(starts)
    cut: list[Any] = [slice(None)] * item.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = call.axis(item, axis)
        if axis == item.batch:
            if (start, step) == (0, 1) and end >= call.shape(item)[axis]:
                continue
            raise InputError("it cuts the batch axis, so that a label depends on other samples")
        cut[axis] = slice(start, end, step)
    return call.move(item, call.places(item)[tuple(cut)], item.batch)


def _gather(call: Call) -> Item:
    which = call.given(1)
    if isinstance(which, Tokens):
        if call.option("axis", 0):
            raise InputError("an input of whole numbers chooses entries along another axis than 0")
        return call.tokens(which, call.item(0))
    item = call.item(0)
    axis = call.along(item, call.option("axis", 0), "takes entries along")
    where, per_sample = call.constants(1, "the indices")
    if per_sample is not None and item.batch is not None:
        raise InputError("it combines samples of a batch with each other")
    where, size = where.astype(np.int64), item.shape[axis]
    if where.size and not (-size <= where.min() and where.max() < size):
        raise InputError(f"indices {where.min()} … {where.max()} of an axis of size {size}")
    batch = item.batch if per_sample is None else axis + per_sample
    if item.batch is not None and item.batch > axis:
        batch = item.batch + where.ndim - 1
    call.build.room(where.size * math.prod(item.shape) // max(1, size))
    return call.move(item, np.take(call.places(item), where, axis=axis), batch)


def _expand(call: Call) -> Item:
    return call.expanded(call.item(0), call.whole(1, "the shape"))


def _filled(call: Call) -> SampleConstants | np.ndarray:
    shape = call.whole(0, "the shape")
    value = call.option("value", None)
    from onnx import numpy_helper

    number = np.zeros((), np.float32) if value is None else numpy_helper.to_array(value).ravel()[0]
    if call.batch > 1 and any(size and size % call.batch == 0 for size in shape):
        return call.repeated(np.asarray(number), shape)
    if any(size < 0 for size in shape) or math.prod(shape) > MODEL_LIMITS.constant:
        raise InputError(f"a constant of the shape {shown(tuple(shape))} is too large")
    return np.full(shape, number)


def _tile(call: Call) -> Item:
    item, times = call.item(0), call.whole(1, "the repeats")
    if item.batch is not None and times[item.batch] != 1:
        raise InputError("it repeats the batch axis")
    batch = item.batch
    for k, count in enumerate(times):
        if call.batch > 1 and count % call.batch == 0 and count and item.batch is None:
            batch, times[k] = k, count // call.batch
    if len(times) > MOST_AXES or any(count < 0 for count in times):
        raise InputError(f"the repeats {shown(times)} are none")
    call.build.room(math.prod(item.shape) * math.prod(times))
    return call.move(item, np.tile(call.places(item), times), batch)


def _pad(call: Call) -> Item:
    item = call.item(0)
    old = call.option("paddings")
    pads = call.listed(1, "pads", "the pads") if old is None else [int(v) for v in old]
    if pads is None:
        raise InputError("its pads are missing")
    axes = [call.axis(item, k) for k in call.whole(3, "the axes")] if call.has(3) else None
    axes = list(range(item.ndim)) if axes is None else axes
    if len(pads) != 2 * len(axes):
        raise InputError(f"its {len(pads)} pads are not two for each of {len(axes)} axes")
    widths = [(0, 0)] * item.ndim
    for k, axis in enumerate(axes):
        widths[axis] = (pads[k], pads[k + len(axes)])
    if item.batch is not None and widths[item.batch] != (0, 0):
        raise InputError("it pads the batch axis")
    mode, number = call.option("mode", "constant"), call.option("value", 0)
    if call.has(2):
        number = call.array(2, "the value").item()
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise InputError(f"the mode {shown(mode)} is not known")
    places = call.places(item)
    cut = tuple(slice(max(0, -a), size - max(0, -b)) for (a, b), size in
                zip(widths, item.shape, strict=True))  # fmt: skip
    grown = [(max(0, a), max(0, b)) for a, b in widths]
    call.build.room(math.prod(size + a + b for (a, b), size in zip(grown, item.shape, strict=True)))
    if mode != "constant":
        return call.move(item, np.pad(places[cut], grown, mode=mode), item.batch)  # type: ignore[call-overload]
    table = np.pad(places[cut], grown, constant_values=-1)
    if not number:
        return call.move(item, table, item.batch)
    outside = call.constant(np.array(number), "the value")
    absent = None
    if item.absent is not None or outside.absent is not None:
        gone = np.zeros(item.shape, bool) if item.absent is None else item.absent
        absent = np.append(gone.ravel(), outside.absent is not None)[table]
    where = np.where(table < 0, places.size, table)
    return Item(call.build.index(where, item.value, outside.value), item.batch, absent)


def _depth_to_space(call: Call) -> Item:
    item, block = call.item(0), call.option("blocksize", 1)
    n, c, h, w = _blocks(call, item)
    if c % block**2:
        raise InputError(f"{c} channels are no multiple of {block}²")
    places, mode = call.places(item), call.option("mode", "DCR")
    if mode == "DCR":
        table = places.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    elif mode == "CRD":
        table = places.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        raise InputError(f"the mode {shown(mode)} is not known")
    return call.move(item, table.reshape(n, c // block**2, h * block, w * block), item.batch)


def _space_to_depth(call: Call) -> Item:
    item, block = call.item(0), call.option("blocksize", 1)
    n, c, h, w = _blocks(call, item)
    if h % block or w % block:
        raise InputError(f"the sizes {h} and {w} are no multiples of {block}")
    table = call.places(item).reshape(n, c, h // block, block, w // block, block)
    mode = call.option("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise InputError(f"the mode {shown(mode)} is not known")
    table = table.transpose(*((0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)))
    shape = (n, c * block**2, h // block, w // block)
    return call.move(item, table.reshape(shape), item.batch)


def _blocks(call: Call, item: Item) -> tuple[int, ...]:
    if item.ndim != 4 or item.batch not in (None, 0):
        raise InputError("its input must have the axes (samples, channels, height, width)")
    return item.shape


def _triangle(call: Call) -> Item:
    """The upper or lower triangle of the last two axes."""
    item = call.item(0)
    if item.ndim < 2 or item.batch in (item.ndim - 1, item.ndim - 2):
        raise InputError("it takes a triangle along the batch axis")
    shift = call.whole(1, "the diagonal")[0] if call.has(1) else 0
    rows, columns = np.indices(item.shape[-2:])
    kept = columns - rows >= shift if call.option("upper", 1) else columns - rows <= shift
    return call.move(item, np.where(kept, call.places(item), -1), item.batch)


def _cumulative(call: Call) -> Item:
    """Sums of all entries up to each along an axis."""
    item = call.plain(call.item(0))
    axis = call.along(item, int(call.array(1, "the axis").item()), "adds along")
    before = np.tri(item.shape[axis], k=-bool(call.option("exclusive", 0)), dtype=np.int64)
    table = before.T if call.option("reverse", 0) else before
    letters = letters_of(item.ndim)
    result = letters[:axis] + "z" + letters[axis + 1 :]
    made = call.build.contract(
        f"z{letters[axis]},{letters}->{result}", call.build.constant(table), item.value
    )
    return Item(made, item.batch)


def _cumulative_product(call: Call) -> Item:
    """Products of all entries up to each along an axis, in steps of 1, 2, 4, … places."""
    item, build = call.plain(call.item(0)), call.build
    axis = call.along(item, int(call.array(1, "the axis").item()), "multiplies along")
    order = slice(None, None, -1 if call.option("reverse", 0) else 1)
    value = build.index(np.moveaxis(call.places(item), axis, 0)[order], item.value)
    size, step = value.shape[0], 1
    if call.option("exclusive", 0) and size:
        ones = build.constant(np.ones((1, *value.shape[1:]), np.int64))
        value = build.joined([ones, build.index(build.places(value)[:-1], value)])
    while step < size:
        places = build.places(value)
        late, early = (build.index(places[own], value) for own in (slice(step, None),
                                                                   slice(size - step)))  # fmt: skip
        value = build.joined([build.index(places[:step], value), build.multiply(late, early)])
        step *= 2
    return Item(build.index(np.moveaxis(build.places(value)[order], 0, axis), value), item.batch)


SHAPES: dict[str, Operator] = {
    "Concat": Operator(_concat, "inputs*", "axis"),
    "ConstantOfShape": Operator(_filled, "input", "value"),
    "CumProd": Operator(_cumulative_product, "x axis", "exclusive reverse"),
    "CumSum": Operator(_cumulative, "x axis", "exclusive reverse"),
    "DepthToSpace": Operator(_depth_to_space, "input", "blocksize mode"),
    "Expand": Operator(_expand, "input shape"),
    "Flatten": Operator(_flatten, "input", "axis"),
    "Gather": Operator(_gather, "data indices", "axis"),
    "OneHot": Operator(_one_hot, "indices depth values", "axis"),
    "Pad": Operator(_pad, "data pads constant_value axes", "mode paddings pads value"),
    "Reshape": Operator(_reshape, "data shape", "allowzero shape", "consumed_inputs"),
    "Shape": Operator(_shape, "data", "end start"),
    "Size": Operator(_size, "data"),
    "Slice": Operator(_slice, "data starts ends axes steps", "axes ends starts"),
    "SpaceToDepth": Operator(_space_to_depth, "input", "blocksize mode"),
    "Split": Operator(_split, "input split", "axis num_outputs split"),
    "Squeeze": Operator(_squeeze, "data axes", "axes"),
    "Tile": Operator(_tile, "input repeats"),
    "Transpose": Operator(_transpose, "data", "perm"),
    "Trilu": Operator(_triangle, "input k", "upper"),
    "Unsqueeze": Operator(_unsqueeze, "data axes", "axes"),
}
# Of these, those that only move entries of input 0, at places that do not depend on the entries.
MOVED = (
    "Expand", "Flatten", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose",
    "Unsqueeze",
)  # fmt: skip
