"""Resize and Upsample: along each axis the entries are fixed combinations of the given ones.

Positions are computed in rational numbers, from the sizes or from the scales that the file holds;
a scale that is rounded so that the length of an axis would depend on the arithmetic is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item, fraction, letters_of

_HALF = Fraction(1, 2)


def _position(mode: str, x: int, before: int, after: int, scale: Fraction) -> Fraction:
    """The position among the given entries of entry x of the result."""
    if mode == "asymmetric":
        return x / scale
    if mode == "align_corners":
        return Fraction(x * (before - 1), after - 1) if after > 1 else Fraction(0)
    if mode == "pytorch_half_pixel" and after == 1:
        return Fraction(0)
    centre = (x + _HALF) / scale - _HALF
    if mode == "half_pixel_symmetric":
        return Fraction(before, 2) * (1 - after / (before * scale)) + centre
    if mode not in ("half_pixel", "pytorch_half_pixel"):
        raise InputError(f"its `coordinate_transformation_mode` {shown(mode)} is not read")
    return centre


def _nearest(mode: str, at: Fraction) -> int:
    match mode:
        case "floor":
            return math.floor(at)
        case "ceil":
            return math.ceil(at)
        case "round_prefer_floor":
            return math.ceil(at - _HALF)
        case "round_prefer_ceil":
            return math.floor(at + _HALF)
    raise InputError(f"its `nearest_mode` {shown(mode)} is not read")


@dataclass(frozen=True)
class _Rule:
    """The attributes of a resampling.

    Attributes
    ----------
    mode : {"nearest", "linear", "cubic"}
    transform : str
        From places of the result to positions among the given entries.
    nearest : str
        The entry that is nearest to a position.
    cubic : Fraction
        The coefficient of cubic interpolation.
    inside : bool
        Whether entries outside have no factor, instead of those of the entry at the border.
    """

    mode: str
    transform: str = "asymmetric"
    nearest: str = "floor"
    cubic: Fraction = Fraction(-3, 4)
    inside: bool = False

    def shares(self, at: Fraction) -> list[tuple[int, Fraction]]:
        """The entries that are combined at a position, with their factors."""
        if self.mode == "nearest":
            return [(_nearest(self.nearest, at), Fraction(1))]
        start = math.floor(at)
        t, a = at - start, self.cubic
        if self.mode == "linear":
            return [(start, 1 - t), (start + 1, t)]

        def inner(d: Fraction) -> Fraction:
            return ((a + 2) * d - (a + 3)) * d * d + 1

        def outer(d: Fraction) -> Fraction:
            return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

        factors = (outer(1 + t), inner(t), inner(1 - t), outer(2 - t))
        return [(start - 1 + k, factor) for k, factor in enumerate(factors)]

    def rows(self, before: int, after: int, scale: Fraction) -> list[dict[int, Fraction]]:
        """For each entry of the result the factors of the given ones."""
        rows = []
        for x in range(after):
            row: dict[int, Fraction] = {}
            for k, factor in self.shares(_position(self.transform, x, before, after, scale)):
                if self.inside and not 0 <= k < before:
                    continue
                inside = min(max(k, 0), before - 1)
                row[inside] = row.get(inside, Fraction(0)) + factor
            total = sum(row.values())
            if not total:
                raise InputError(f"entry {x} of its result lies outside of the given ones")
            # The factors of a position inside have the sum 1.
            rows.append({k: factor / total for k, factor in row.items() if factor})
        return rows


def _along(call: Call, item: Item, axis: int, rows: Sequence[dict[int, Fraction]]) -> Item:
    """The entries along an axis replaced by combinations of them."""
    if all(len(row) == 1 and next(iter(row.values())) == 1 for row in rows):
        places = np.take(call.places(item), [next(iter(row)) for row in rows], axis=axis)
        return call.move(item, places, item.batch)
    below = math.lcm(*(factor.denominator for row in rows for factor in row.values()))
    table = np.zeros((len(rows), item.shape[axis]), object)
    for x, row in enumerate(rows):
        for k, factor in row.items():
            table[x, k] = int(factor * below)
    letters = letters_of(item.ndim)
    result = letters[:axis] + "z" + letters[axis + 1 :]
    matrix = call.build.constant(table, below)
    made = call.build.contract(f"z{letters[axis]},{letters}->{result}", matrix, item.value)
    return Item(made, item.batch)


_FRACTION = 16
# An axis of the graph, its new length and its scale.
Lengths = Sequence[tuple[int, int, Fraction]]


def _resized(call: Call, item: Item, lengths: Lengths, rule: _Rule) -> Item:
    """The value with other lengths of some axes."""
    for axis, length, scale in lengths:
        if axis == item.batch:
            if scale != 1:
                raise InputError("it resizes the batch axis")
            continue
        size = item.shape[axis]
        if length != size or scale != 1:
            # Factors are fractions, which take more than an entry each.
            call.build.room(_FRACTION * length * max(size, math.prod(item.shape) // max(1, size)))
            item = _along(call, item, axis, rule.rows(size, length, scale))
    return item


def _scaled_length(size: int, scale: Fraction) -> int:
    """The whole part of size · scale, if rounding to binary32 does not change it."""
    product = size * scale
    next_one = math.floor(product) + 1
    if next_one - product <= Fraction(next_one, 1 << 24):
        raise InputError(
            f"its scale {scale} of an axis of {size} gives {next_one - 1} or {next_one}, by "
            "how it is rounded: export the model with sizes"
        )
    return next_one - 1


def _check_corners(lengths: Lengths, item: Item) -> None:
    """Implementations differ in the last corner if a length is not size · scale."""
    for axis, length, scale in lengths:
        if axis != item.batch and item.shape[axis] * scale != length:
            raise InputError(
                f"its `align_corners` with the scale {scale} of an axis of "
                f"{item.shape[axis]}, which is no whole number: export the model with sizes"
            )


def _by_scales(call: Call, item: Item, axes: Sequence[int], given: np.ndarray) -> Lengths:
    scales, shape = [fraction(v) for v in given.ravel().tolist()], call.shape(item)
    if len(scales) != len(axes) or min(scales, default=1) <= 0:
        raise InputError(f"its {len(scales)} scales are not positive numbers for {len(axes)} axes")
    return [
        (axis, shape[axis] if scale == 1 else _scaled_length(shape[axis], scale), scale)
        for axis, scale in zip(axes, scales, strict=True)
    ]


def _by_sizes(
    call: Call, item: Item, axes: Sequence[int], sizes: Sequence[int], policy: str
) -> Lengths:
    shape = call.shape(item)
    if len(sizes) != len(axes) or min(sizes, default=1) < 1:
        raise InputError(f"its sizes {list(sizes)} are not positive numbers for {len(axes)} axes")
    scales = [Fraction(size, shape[axis]) for axis, size in zip(axes, sizes, strict=True)]
    if policy == "stretch":
        return list(zip(axes, sizes, scales, strict=True))
    if policy not in ("not_larger", "not_smaller"):
        raise InputError(f"its `keep_aspect_ratio_policy` {shown(policy)} is not read")
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [(axis, math.floor(scale * shape[axis] + _HALF), scale) for axis in axes]


def _mode(call: Call, *known: str) -> str:
    mode = str(call.option("mode", "nearest"))
    if mode not in known:
        raise InputError(f"its `mode` {shown(mode)} is not read; read are {', '.join(known)}")
    return mode


def _resize(call: Call) -> Item:
    item = call.plain(call.item(0))
    if call.option("antialias", 0):
        raise InputError("its `antialias` is not read")
    if call.opset < 11:
        rule = _Rule(_mode(call, "nearest", "linear"))
        scales = call.array(1, "the scales")
        return _resized(call, item, _by_scales(call, item, range(item.ndim), scales), rule)
    rule = _Rule(
        _mode(call, "nearest", "linear", "cubic"),
        call.option("coordinate_transformation_mode", "half_pixel"),
        call.option("nearest_mode", "round_prefer_floor"),
        fraction(call.option("cubic_coeff_a", Fraction(-3, 4))),
        call.option("mode", "nearest") == "cubic" and bool(call.option("exclude_outside", 0)),
    )
    call.option("exclude_outside")
    policy = call.option("keep_aspect_ratio_policy", "stretch")
    axes = [call.axis(item, axis) for axis in call.option("axes", range(item.ndim))]
    # Input 1 is the region of a mode that is not read.
    call.has(1)
    scales = call.array(2, "the scales") if call.has(2) else np.zeros(0, np.int64)
    if scales.size:
        lengths = _by_scales(call, item, axes, scales)
        if call.has(3) and call.array(3, "the sizes").size:
            raise InputError("both scales and sizes (inputs 2 and 3) are given")
    else:
        lengths = _by_sizes(call, item, axes, call.whole(3, "the sizes"), policy)
    if rule.transform == "align_corners" and rule.mode != "nearest":
        _check_corners(lengths, item)
    return _resized(call, item, lengths, rule)


def _upsample(call: Call) -> Item:
    item, rule = call.plain(call.item(0)), _Rule(_mode(call, "nearest", "linear"))
    found = call.option("scales")
    scales = call.array(1, "the scales") if found is None else np.array(found)
    return _resized(call, item, _by_scales(call, item, range(item.ndim), scales), rule)


RESAMPLING: dict[str, Operator] = {
    "Resize": Operator(
        _resize, "X roi scales sizes",
        "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
        "keep_aspect_ratio_policy mode nearest_mode",
        "extrapolation_value",
    ),
    "Upsample": Operator(_upsample, "X scales", "mode scales"),
}  # fmt: skip
