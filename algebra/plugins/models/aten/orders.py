"""ATen operators that compare entries, take them at computed places, or multiply along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.aten.call import AtenCall, AtenOperator, Repeated, int64_array
from algebra.plugins.models.onnx.orders import ordered, rows_of
from algebra.plugins.models.onnx.values import Flags, Item, Tokens


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


def _places(call: AtenCall, item: Item) -> Tokens | Item:
    """The numbers of entries along an axis, one at each place: computed, or constants."""
    places = call.arguments["index"]
    if isinstance(places, Tokens):
        return places
    places = places.one() if isinstance(places, Repeated) else places
    if not isinstance(places, np.ndarray):
        raise InputError("its places depend on samples or weights")
    if item.batch is not None:
        shape = list(places.shape)
        shape[item.batch] = item.shape[item.batch]
        places = np.broadcast_to(places, shape)
    return Item(call.moves.constant(places).value, item.batch)


def _taken(call: AtenCall) -> Any:
    """`torch.gather`: at each place the entry with the given number along an axis."""
    item = call.item(call["self"])
    return call.run("GatherElements", item, _places(call, item), axis=call.axes()[0])


def _put(adds: bool) -> AtenOperator:
    """Entries put, or added, at places along an axis."""

    def run(call: AtenCall) -> Any:
        item, how = call.item(call["self"]), "add" if adds else "none"
        given = call["src"] if call.has("src") else np.array(call.number("value", 0))
        places, source = _places(call, item), call.item(given)
        if not source.ndim:
            zeros = np.zeros(places.shape, np.int64)
            source = call.moves.move(source, zeros, item.batch)
        return call.run("ScatterElements", item, places, source, axis=call.axes()[0], reduction=how)

    return run


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
    keep = int(call.option("keepdim", False))
    return call.run("ReduceProd", call["self"], int64_array(*call.axes()), keepdims=keep)


def _cumulative_product(call: AtenCall) -> Any:
    return call.run("CumProd", call["self"], np.array(call.axes()[0]))


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
    "cumprod": _cumulative_product,
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
