"""ATen operators that compare entries, take them at computed places, or multiply along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.aten.call import AtenCall, AtenOperator, Repeated, int64_array
from algebra.plugins.models.onnx.orders import ordered, put, rows_of, taken
from algebra.plugins.models.onnx.values import Flags, Item, Tokens

# Numbers that are added to one entry.
_MOST_TERMS = 4096


def _axis(call: AtenCall) -> int:
    return call.axes()[0] if call.has("dim") else len(call.shape(call["self"])) - 1


def _in_order(call: AtenCall, count: int, largest: bool) -> tuple[Item, Tokens | None]:
    item = call.item(call["self"])
    return ordered(call.moves, item, _axis(call), largest, count, call.wants(1))


def _top(call: AtenCall) -> Any:
    return _in_order(call, call.option("k"), call.option("largest", True))


def _sorted(call: AtenCall) -> Any:
    size = call.shape(call["self"])[_axis(call)]
    return _in_order(call, size, call.option("descending", False))


def _at_rank(call: AtenCall) -> Any:
    """The k-th smallest entry; of a median k is half of them."""
    size, axis = call.shape(call["self"])[_axis(call)], _axis(call)
    k = call.option("k", (size + 1) // 2)
    values, places = _in_order(call, k, False)
    last, keep = int64_array(k - 1), bool(call.option("keepdim", False))
    parts = []
    for part in (values, places):
        one = None if part is None else call.run("Gather", part, last, axis=axis)
        parts.append(
            one if one is None or keep else call.run("Squeeze", one, int64_array(axis))
        )  # fmt: skip
    return tuple(parts)


def _place(op: str) -> AtenOperator:
    def run(call: AtenCall) -> Any:
        value, axis = call["self"], call.option("dim")
        if axis is None:
            raise InputError("it has no `dim`: a place among all entries is not read")
        return call.run(op, value, axis=axis, keepdims=int(call.option("keepdim", False)))

    return run


def largest(op: str, pair: str) -> AtenOperator:
    """Largest entries along an axis with their places, the larger of two values, or one of all."""

    def run(call: AtenCall) -> Any:
        if call.has("other"):
            return call.run(pair, call["self"], call["other"])
        keep = int(call.option("keepdim", False))
        axes = int64_array(*call.axes())
        found = call.run(op, call["self"], axes, keepdims=keep)
        if not call.has("dim"):
            return found
        if not call.wants(1):
            return found, None
        other = "ArgMax" if op == "ReduceMax" else "ArgMin"
        return found, call.run(other, call["self"], axis=int(axes[0]), keepdims=keep)

    return run


def _taken(call: AtenCall) -> Any:
    """`torch.gather`: at each place the entry with the given number along an axis."""
    item, places, axis = call.item(call["self"]), call.arguments["index"], call.axes()[0]
    if isinstance(places, Tokens):
        return taken(call.moves, item, places, axis)
    places = places.one() if isinstance(places, Repeated) else places
    if not isinstance(places, np.ndarray) or axis == item.batch:
        raise InputError("its places depend on samples or weights")
    own = call.moves.places(item)
    cut = tuple(slice(None) if k == axis else slice(n) for k, n in enumerate(places.shape))
    wide = np.broadcast_to(places, [*own[cut].shape[:axis], places.shape[axis],
                                    *own[cut].shape[axis + 1 :]])  # fmt: skip
    return call.moves.move(item, np.take_along_axis(own[cut], wide, axis), item.batch)


def _put(adds: bool) -> AtenOperator:
    """Entries put, or added, at places along an axis."""

    def run(call: AtenCall) -> Any:
        item, places, axis = call.item(call["self"]), call.arguments["index"], call.axes()[0]
        given = call["src"] if call.has("src") else np.array(call.number("value", 0))
        source = call.item(given)
        if isinstance(places, Tokens):
            shape = places.shape
            if not source.ndim:
                source = call.moves.move(source, np.zeros(shape, np.int64), None)
            return put(call.moves, item, places, source, axis, adds)
        places = places.one() if isinstance(places, Repeated) else places
        if not isinstance(places, np.ndarray):
            raise InputError("its places depend on samples or weights")
        own = np.indices(places.shape, sparse=True)
        at = [places if k == axis else own[k] for k in range(places.ndim)]
        if not source.ndim:
            source = call.moves.move(source, np.zeros(places.shape, np.int64), None)
        if item.batch is not None:
            at[item.batch] = slice(None)  # type: ignore[call-overload]
        return put_at(call, item, at, source, adds)

    return run


def put_at(call: AtenCall, item: Item, at: list[Any], values: Item, adds: bool) -> Item:
    """A value with other entries at tables of indices, or with these added.

    Where several are added to one entry there is a term for each.
    """
    moves, build = call.moves, call.moves.build
    if item.batch is None and values.batch is not None:
        raise InputError("it puts a value with samples into one without")
    places = moves.places(item)
    where = places[tuple(at)]
    own = moves.places(values)
    cut = tuple(slice(n) for n in where.shape) if own.ndim == where.ndim else ()
    source = np.broadcast_to(own[cut] if cut else own, where.shape)
    item, values = moves.plain(item), moves.plain(values)
    if not adds:
        table = places.copy()
        table[tuple(at)] = source + places.size
        return Item(build.index(table, item.value, values.value), item.batch)
    terms, left, rest = [item.value], where.ravel(), source.ravel()
    while left.size:
        if len(terms) > _MOST_TERMS:
            raise InputError(f"it adds more than {_MOST_TERMS} numbers to one entry")
        numbers, first = np.unique(left, return_index=True)
        table = np.full(places.size, -1)
        table[numbers] = rest[first]
        terms.append(build.index(table.reshape(places.shape), values.value))
        others = np.ones(len(left), bool)
        others[first] = False
        left, rest = left[others], rest[others]
    return Item(build.add(*terms), item.batch)


def one_hot(call: AtenCall, places: Tokens, numbers: np.ndarray) -> Flags:
    """Where computed numbers are equal to given ones."""
    rows, size = rows_of(call.moves, places)
    own = call.moves.build.places(rows)
    shape = np.broadcast_shapes(places.shape, numbers.shape)
    lines = np.broadcast_to(np.arange(math.prod(places.shape)).reshape(places.shape), shape)
    wanted = np.broadcast_to(numbers, shape)
    inside = (wanted >= 0) & (wanted < size)
    table = own.reshape(-1, size)[lines, np.where(inside, wanted, 0)]
    batch = places.batch
    if batch is not None:
        batch += len(shape) - len(places.shape)
    return Flags(call.moves.build.index(np.where(inside, table, -1), rows), batch)


# -- products along an axis ----------------------------------------------------------------------


def _product(call: AtenCall) -> Any:
    """Products along axes, half of the entries with the other half."""
    item = call.item(call["self"])
    axes = [call.moves.along(item, axis, "multiplies along") for axis in call.axes()]
    order = [*axes, *(k for k in range(item.ndim) if k not in axes)]
    found = call.run("Transpose", item, perm=order)
    kept = [item.shape[k] for k in order[len(axes) :]]
    build, batch = call.moves.build, found.batch
    value = build.reshaped(call.moves.plain(found).value,
                           (math.prod(item.shape[k] for k in axes), *kept))  # fmt: skip
    while value.shape[0] > 1:
        places, half = build.places(value), value.shape[0] // 2
        a, b = (build.index(places[k : k + half], value) for k in (0, half))
        halves = build.multiply(a, b)
        rest = build.index(places[2 * half :], value) if value.shape[0] % 2 else None
        value = halves if rest is None else build.joined([halves, rest])
    made = Item(build.reshaped(value, kept), None if batch is None else batch - len(axes))
    keep = call.option("keepdim", False)
    return call.run("Unsqueeze", made, int64_array(*sorted(axes))) if keep else made


def _accumulated(combined: Callable[[AtenCall, Item, Item], Item]) -> AtenOperator:
    """For each entry along an axis those up to it, combined; in steps of 1, 2, 4, … places."""

    def run(call: AtenCall) -> Any:
        item = call.item(call["self"])
        axis, step = call.axes()[0], 1
        size = item.shape[call.moves.along(item, axis, "goes along")]
        item = call.moves.plain(item)
        while step < size:
            late, early = (
                call.run("Gather", item, np.arange(*ends), axis=axis)
                for ends in ((step, size), (0, size - step))
            )
            first = call.run("Gather", item, np.arange(step), axis=axis)
            item = call.run("Concat", first, combined(call, late, early), axis=axis)
            step *= 2
        return item

    return run


def _times(call: AtenCall, a: Item, b: Item) -> Item:
    found: Item = call.run("Mul", a, b)
    return found


def _extreme(op: str) -> AtenOperator:
    """Largest entries up to each; their places are not read."""
    values = _accumulated(lambda call, a, b: call.run(op, a, b))

    def run(call: AtenCall) -> Any:
        if call.wants(1):
            raise InputError("its places depend on samples or weights")
        return values(call), None

    return run


def _log_of_sums(call: AtenCall) -> Any:
    powers = call.run("Exp", call["self"])
    return call.run("Log", call.run("CumSum", powers, np.array(call.axes()[0])))


ORDERS: dict[str, AtenOperator] = {
    "argmax": _place("ArgMax"),
    "argmin": _place("ArgMin"),
    "cummax": _extreme("Max"),
    "cummin": _extreme("Min"),
    "cumprod": _accumulated(_times),
    "gather": _taken,
    "kthvalue": _at_rank,
    "logcumsumexp": _log_of_sums,
    "max": largest("ReduceMax", "Max"),
    "median": _at_rank,
    "min": largest("ReduceMin", "Min"),
    "prod": _product,
    "scatter": _put(False),
    "scatter_add": _put(True),
    "sort": _sorted,
    "topk": _top,
}
