"""Operators that compare the entries along an axis, and those that take entries by such places.

The places depend on the values, through the signs of differences: they are numbers that choose rows
(`algebra.plugins.models.onnx.values.Tokens`) whose one-hot rows the program computes.  Entries are
put in order by exchanges of pairs, which no values decide (Batcher's merge exchange [1]_).

References
----------
.. [1] D. E. Knuth, The Art of Computer Programming, vol. 3, section 5.2.2, algorithm M.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item, Moves, Tokens, letters_of
from algebra.programs.program import Builder, Value

# Entries along an axis up to which their places are computed with them.
_MOST_PLACES = 256


def exchanges(count: int) -> Iterator[list[tuple[int, int]]]:
    """Pairs that are compared and exchanged, stage after stage; those of a stage are disjoint.

    Examples
    --------
    >>> list(exchanges(3))
    [[(0, 2)], [(0, 1)], [(1, 2)]]
    """
    start = p = 1 << max(count - 1, 0).bit_length() >> 1
    while p:
        q, r, d = start, 0, p
        while True:
            pairs = [(i, i + d) for i in range(count - d) if i & p == r]
            if pairs:
                yield pairs
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1


def _by_pairs(
    build: Builder, a: Value, row: Value | None, stages: Iterator[list[tuple[int, int]]]
) -> tuple[Value, Value | None]:
    """The entries along the last axis, the larger of each pair first; with a row for each entry."""
    for pairs in stages:
        first, second = (list(own) for own in zip(*pairs, strict=True))
        places = build.places(a)
        sign = build.subtract(
            build.index(places[..., first], a), build.index(places[..., second], a)
        )
        a, last = _exchanged(build, a, sign, first, second), a
        if row is not None:
            shape = (*last.shape[:-1], len(pairs), row.shape[-1])
            wide = build.index(np.broadcast_to(build.places(sign)[..., None], shape), sign)
            row = _exchanged(build, row, wide, first, second, -2)
    return a, row


def _exchanged(
    build: Builder, a: Value, sign: Value, first: list[int], second: list[int], axis: int = -1
) -> Value:
    """Pairs of entries along an axis in the order that signs give."""
    places = np.moveaxis(build.places(a), axis, 0)
    x, y = (build.index(np.moveaxis(places[own], 0, axis), a) for own in (first, second))
    most, least = build.choose(sign, x, y), build.choose(sign, y, x)
    table, (_, one, other) = places.copy(), _numbered(build, a, most, least)
    table[first], table[second] = (np.moveaxis(own, axis, 0) for own in (one, other))
    return build.index(np.moveaxis(table, 0, axis), a, most, least)


def _numbered(build: Builder, *parts: Value) -> list[np.ndarray]:
    """The numbers of the entries of several values, for an index of them together."""
    found, start = [], 0
    for part in parts:
        found.append(build.places(part) + start)
        start += found[-1].size
    return found


def ordered(
    moves: Moves, item: Item, axis: int, largest: bool, count: int, needs_places: bool
) -> tuple[Item, Tokens | None]:
    """The first entries along an axis in their order, and their places."""
    axis = moves.along(item, axis, "compares along")
    size, build = item.shape[axis], moves.build
    if not 0 <= count <= size:
        raise InputError(f"it takes {count} of {size} entries")
    order = [*(k for k in range(item.ndim) if k != axis), axis]
    own, unit = moves.transposed(item, order), np.eye(size, dtype=np.int64)
    if own.absent is not None and own.kept is None:
        # Entries that are −∞ come last, or first.
        present = _present(own.absent, count, largest)
        table = np.take_along_axis(moves.places(own), present, -1)
        own, unit = moves.move(replace(own, absent=None), table, own.batch), unit[present]
    last = moves.scaled(own, Fraction(1 if largest else -1))
    row = None
    if needs_places:
        if size > _MOST_PLACES:
            raise InputError(
                f"places of the largest of {size} entries; up to {_MOST_PLACES} are read"
            )
        row = build.constant(np.broadcast_to(unit, (*last.shape, size)))
    stages = _halves(last.shape[-1]) if count == 1 else exchanges(last.shape[-1])
    found, row = _by_pairs(build, last.value, row, stages)
    kept = build.places(found)[..., :count]
    back = list(np.argsort(order))
    sign = Fraction(1 if largest else -1)
    values = moves.transposed(moves.move(Item(found, last.batch), kept, last.batch), back)
    values = moves.scaled(values, sign)
    if row is None:
        return values, None
    hot = build.index(build.places(row)[..., :count, :].transpose(*back, item.ndim), row)
    return values, Tokens.computed(hot, item.batch)


def _present(absent: np.ndarray, count: int, largest: bool) -> np.ndarray:
    """The places, along the last axis, of the entries that are not −∞."""
    size = absent.shape[-1]
    left = size - np.unique(absent.sum(-1))
    if len(left) > 1:
        raise InputError("its masks leave out different numbers of entries")
    if not largest or count > left[0]:
        raise InputError(f"it takes entries that are −∞: a mask leaves {left[0]} of {size}")
    return np.argsort(absent, axis=-1, kind="stable")[..., : left[0]]


def _halves(count: int) -> Iterator[list[tuple[int, int]]]:
    """Pairs by which the largest entry comes first."""
    while count > 1:
        half = (count + 1) // 2
        yield [(k, k + half) for k in range(count - half)]
        count = half


def _top(call: Call) -> tuple[Item | Tokens, ...]:
    axis, largest = call.option("axis", -1), bool(call.option("largest", 1))
    call.option("sorted")
    [count] = call.whole(1, "the number of entries") if call.has(1) else [call.option("k")]
    item = call.item(0)
    needs = call.outputs > 1 and item.shape[call.axis(item, axis)] <= _MOST_PLACES
    found, places = ordered(call, item, axis, largest, count, needs)
    return (found,) if places is None else (found, places)


def _extreme_place(largest: bool) -> Operator:
    def run(call: Call) -> Tokens:
        item, axis = call.item(0), call.option("axis", 0)
        call.option("select_last_index")
        _, places = ordered(call, item, axis, largest, 1, True)
        assert places is not None
        if call.option("keepdims", 1):
            return places
        own = call.axis(item, axis)
        batch = places.batch
        if batch is not None and own < batch:
            batch -= 1
        return replace(places, where=np.squeeze(places.where, own), batch=batch)

    return Operator(run, "data", "axis keepdims select_last_index")


def rows_of(moves: Moves, places: Tokens) -> tuple[Value, int]:
    """One row for each number that the program computes: 1 at the number."""
    if places.hot is None:
        raise InputError("its places are an input of whole numbers")
    size = places.hot.shape[-1]
    table = moves.build.places(places.hot).reshape(-1, size)[places.where.ravel()]
    return moves.build.index(table.reshape(*places.shape, size), places.hot), size


def numbers_of(moves: Moves, places: Tokens) -> Item:
    """Numbers that the program computes, as real ones."""
    rows, size = rows_of(moves, places)
    letters = letters_of(len(rows.shape))
    every = moves.build.constant(np.arange(size))
    made = moves.build.contract(f"{letters},{letters[-1]}->{letters[:-1]}", rows, every)
    return Item(made, places.batch)


def taken(moves: Moves, item: Item, places: Tokens, axis: int) -> Item:
    """At each place the entry whose number along an axis was computed."""
    item = moves.plain(item)
    axis = moves.along(item, axis, "takes entries along")
    rows, size = rows_of(moves, places)
    _check_places(item, places, axis)
    own = moves.build.places(item.value)
    cut = tuple(slice(None) if k == axis else slice(n) for k, n in enumerate(places.shape))
    part = moves.build.index(np.moveaxis(own[cut], axis, -1)[..., :size], item.value)
    letters = letters_of(item.ndim)
    others = letters.replace(letters[axis], "")
    made = moves.build.contract(f"{letters}z,{others}z->{letters}", rows, part)
    return Item(made, item.batch if places.batch is None else places.batch)


def _check_places(item: Item, places: Tokens, axis: int) -> None:
    fits = item.ndim == len(places.shape) and all(
        a >= b for k, (a, b) in enumerate(zip(item.shape, places.shape, strict=False)) if k != axis
    )
    if not fits or (item.batch is not None and places.batch != item.batch):
        raise InputError(
            f"the shapes {item.shape} and {places.shape} of values and places do not fit"
        )


def put(moves: Moves, item: Item, places: Tokens, source: Item, axis: int, adds: bool) -> Item:
    """A value with other entries at computed places along an axis, or with these added."""
    axis = moves.along(item, axis, "puts entries along")
    rows, size = rows_of(moves, places)
    _check_places(source, places, axis)
    if item.shape[axis] != size or any(
        a != b for k, (a, b) in enumerate(zip(item.shape, places.shape, strict=True)) if k != axis
    ):
        raise InputError(f"it puts entries of the shape {places.shape} into {item.shape}")
    build, letters = moves.build, letters_of(item.ndim)
    result = letters.replace(letters[axis], "z")
    cut = tuple(slice(n) for n in places.shape)
    part = build.index(build.places(source.value)[cut], moves.plain(source).value)
    new = build.contract(f"{letters}z,{letters}->{result}", rows, part)
    batch = item.batch if places.batch is None else places.batch
    if adds:
        return moves.total(item, Item(new, batch))
    here = build.contract(f"{letters}z->{result}", rows)
    left = build.subtract(build.constant(np.ones(item.shape, np.int64)), here)
    return Item(build.add(build.multiply(left, moves.plain(item).value), new), batch)


ORDERS: dict[str, Operator] = {
    "ArgMax": _extreme_place(True),
    "ArgMin": _extreme_place(False),
    "TopK": Operator(_top, "X K", "axis k largest sorted"),
}
