"""Operators that take entries at places, or put others there.

The places are constants of the file, the same for all samples, or places of largest entries, which
the program computes (`algebra.plugins.models.onnx.orders`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.orders import put, taken
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item, Moves, SampleConstants, Tokens, constant_of
from algebra.programs.program import Builder, Value

# Numbers that are combined with one entry.
_MOST_TERMS = 4096


def _indices(call: Call, batch: int | None, axis: int | None) -> np.ndarray:
    """The indices of one sample: constants, which are the same for all.

    Parameters
    ----------
    call : Call
    batch : int or None
        The axis of the samples in the value that has the entries.
    axis : int or None
        The same axis in the indices; None if they have none.
    """
    found = call.given(1)
    if isinstance(found, SampleConstants | Item):
        known = constant_of(call.build, call.item(1).value)
        if known is None or known[1] != 1:
            raise InputError("its indices (input 1) depend on samples or weights")
        if found.batch is not None and (batch is None or found.batch != axis):
            raise InputError("it combines samples of a batch with each other")
        if found.batch is not None or axis is None:
            return known[0].astype(np.int64)
        table = known[0].astype(np.int64)
    else:
        table = call.array(1, "the indices").astype(np.int64)
    if axis is None or call.batch == 1:
        return table
    if not 0 <= axis < table.ndim or table.shape[axis] % call.batch:
        raise InputError("its indices have no axis of the samples")
    parts = np.split(table, call.batch, axis) if table.shape[axis] else [table]
    if any(not np.array_equal(part, parts[0]) for part in parts):
        raise InputError("its indices are not the same for all samples")
    return parts[0]


def _inside(where: np.ndarray, size: int) -> np.ndarray:
    """Indices from 0."""
    if where.size and not (-size <= where.min() and where.max() < size):
        raise InputError(f"indices {where.min()} … {where.max()} of an axis of size {size}")
    return where % max(size, 1)


def _along_axis(call: Call, item: Item, axis: int) -> np.ndarray:
    """The numbers of the entries with given indices along an axis, one at each place."""
    where = _indices(call, item.batch, item.batch)
    if where.ndim != item.ndim:
        raise InputError(f"the shapes {item.shape} and {where.shape} do not fit")
    for k, (most, size) in enumerate(zip(item.shape, where.shape, strict=True)):
        if k != axis and (size > most or (k == item.batch and size != most)):
            raise InputError(f"the shapes {item.shape} and {where.shape} do not fit")
    at: list[Any] = list(np.indices(where.shape, sparse=True))
    at[axis] = _inside(where, item.shape[axis])
    return np.asarray(call.places(item)[tuple(at)])


def _gather_elements(call: Call) -> Item:
    """At each place the entry with the given index along an axis."""
    item, which = call.item(0), call.given(1)
    if isinstance(which, Tokens):
        return taken(call, item, which, call.option("axis", 0))
    axis = call.along(item, call.option("axis", 0), "takes entries along")
    return call.move(item, _along_axis(call, item, axis), item.batch)


def _scatter_elements(call: Call) -> Item:
    """Entries put, or combined with others, at given indices along an axis."""
    item, which, source = call.item(0), call.given(1), call.item(2)
    how = "none" if call.op == "Scatter" else call.option("reduction", "none")
    if isinstance(which, Tokens):
        if how not in ("none", "add"):
            raise InputError(f"its reduction {shown(how)} at computed places is not read")
        return put(call, item, which, source, call.option("axis", 0), how == "add")
    axis = call.along(item, call.option("axis", 0), "puts entries along")
    where = _along_axis(call, item, axis)
    if source.batch != item.batch:
        raise InputError("it puts a value without samples into one with, or the other way round")
    if source.ndim != item.ndim or any(
        a < b for a, b in zip(source.shape, where.shape, strict=True)
    ):
        raise InputError(f"the shapes {source.shape} and {where.shape} do not fit")
    cut = tuple(slice(n) for n in where.shape)
    return put_at(call, item, where, call.places(source)[cut], source, how)


def _blocks(call: Call, item: Item, shared: int) -> tuple[np.ndarray, int | None]:
    """The numbers of the entries of blocks with given indices, and their axis of the samples.

    Parameters
    ----------
    call : Call
    item : Item
    shared : int
        How many first axes the indices have in common with the value.
    """
    batch, inside = item.batch, item.batch is not None and item.batch < shared
    where = _indices(call, batch, batch if inside else None)
    count = where.shape[-1] if where.ndim else 0
    if where.ndim <= shared or not 1 <= count <= item.ndim - shared:
        raise InputError(f"the shapes {item.shape} and {where.shape} do not fit")
    if where.shape[:shared] != item.shape[:shared]:
        raise InputError(f"the shapes {item.shape} and {where.shape} do not fit")
    if batch is not None and shared <= batch < shared + count:
        raise InputError("its indices choose samples, so that a label depends on other samples")
    at: list[Any] = list(np.indices(where.shape[:-1], sparse=True)[:shared])
    at += [_inside(where[..., k], item.shape[shared + k]) for k in range(count)]
    if batch is not None and not inside:
        batch += where.ndim - 1 - shared - count
    return np.asarray(call.places(item)[tuple(at)]), batch


def _gather_blocks(call: Call) -> Item:
    """The blocks with given indices along the first axes, or along those after some shared ones."""
    item = call.item(0)
    places, batch = _blocks(call, item, call.option("batch_dims", 0))
    return call.move(item, places, batch)


def _scatter_blocks(call: Call) -> Item:
    """Blocks put, or combined with others, at given indices along the first axes."""
    item, source, how = call.item(0), call.item(2), call.option("reduction", "none")
    places, batch = _blocks(call, item, 0)
    if source.batch != batch or source.shape != places.shape:
        if source.batch is not None and item.batch is None:
            raise InputError("it puts a value with samples into one without")
        raise InputError(f"the shapes {source.shape} and {places.shape} do not fit")
    return put_at(call, item, places, call.places(source), source, how)


def put_at(
    moves: Moves, item: Item, where: np.ndarray, numbers: np.ndarray, source: Item, how: str
) -> Item:
    """A value with other entries at some places, or with these combined with them.

    Where several are combined with one entry, one after the other is.

    Parameters
    ----------
    moves : Moves
    item : Item
    where : ndarray of int
        The numbers of its entries.
    numbers : ndarray of int
        As many numbers of entries of the other value.
    source : Item
    how : {"none", "add", "mul", "max", "min"}
    """
    if item.batch is None and source.batch is not None:
        raise InputError("it puts a value with samples into one without")
    build, item, source = moves.build, moves.plain(item), moves.plain(source)
    places = moves.places(item)
    if how == "none":
        table = places.ravel().copy()
        table[where.ravel()] = numbers.ravel() + places.size
        return Item(build.index(table.reshape(places.shape), item.value, source.value), item.batch)
    value, terms = item.value, [item.value]
    for count, (entries, others) in enumerate(_once(where.ravel(), numbers.ravel())):
        if count == _MOST_TERMS:
            raise InputError(f"it combines more than {_MOST_TERMS} numbers with one entry")
        if how == "add":
            table = np.full(places.size, -1)
            table[entries] = others
            terms.append(build.index(table.reshape(places.shape), source.value))
        else:
            a, b = build.index(entries, value), build.index(others, source.value)
            table = places.ravel().copy()
            table[entries] = places.size + np.arange(len(entries))
            value = build.index(table.reshape(places.shape), value, _combined(build, how, a, b))
    return Item(build.add(*terms) if how == "add" else value, item.batch)


def _once(where: np.ndarray, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places and the numbers at them, as often as one occurs, each time once."""
    while where.size:
        entries, first = np.unique(where, return_index=True)
        yield entries, numbers[first]
        others = np.ones(len(where), bool)
        others[first] = False
        where, numbers = where[others], numbers[others]


def _combined(build: Builder, how: str, a: Value, b: Value) -> Value:
    match how:
        case "mul":
            return build.multiply(a, b)
        case "max":
            return build.choose(build.subtract(a, b), a, b)
        case "min":
            return build.choose(build.subtract(a, b), b, a)
    raise InputError(f"its reduction {shown(how)} is not known")


def product_along(moves: Moves, item: Item, axes: Sequence[int], keep: bool) -> Item:
    """Products along axes, half of the entries with the other half."""
    axes = [moves.along(item, axis, "multiplies along") for axis in axes]
    rest = [k for k in range(item.ndim) if k not in axes]
    build, shape = moves.build, tuple(item.shape[k] for k in rest)
    places = moves.places(item).transpose(*axes, *rest).reshape(-1, *shape)
    value = build.index(places, moves.plain(item).value)
    if not len(places):
        value = build.constant(np.ones((1, *shape), np.int64))
    while value.shape[0] > 1:
        places, half = build.places(value), value.shape[0] // 2
        a, b = (build.index(places[k : k + half], value) for k in (0, half))
        halves = build.multiply(a, b)
        odd = value.shape[0] % 2
        value = build.joined([halves, build.index(places[-1:], value)]) if odd else halves
    full = [1 if k in axes else size for k, size in enumerate(item.shape)]
    batch = item.batch if keep or item.batch is None else rest.index(item.batch)
    return Item(build.reshaped(value, full if keep else shape), batch)


PLACES: dict[str, Operator] = {
    "GatherElements": Operator(_gather_elements, "data indices", "axis"),
    "GatherND": Operator(_gather_blocks, "data indices", "batch_dims"),
    "Scatter": Operator(_scatter_elements, "data indices updates", "axis"),
    "ScatterElements": Operator(_scatter_elements, "data indices updates", "axis reduction"),
    "ScatterND": Operator(_scatter_blocks, "data indices updates", "reduction"),
}
