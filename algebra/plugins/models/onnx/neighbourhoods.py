"""Convolutions, transposed convolutions and pools."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item
from algebra.programs.program import Value


@dataclass(frozen=True)
class Windows:
    """The positions of a kernel.

    Attributes
    ----------
    places : ndarray
        One row for each entry of the kernel, one column for each position: the index of a place in
        one channel, or −1 outside.
    counts : ndarray of int
        For each position: the number of entries in a mean, padding included if it counts.
    outputs : tuple of int
        Shape of the positions.
    """

    places: np.ndarray
    counts: np.ndarray
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class _Sizes:
    """The attributes of a convolution or pool: one number for each axis of its images."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[int]
    auto: str

    @property
    def reach(self) -> list[int]:
        """Lengths of the kernel with its gaps."""
        return [(k - 1) * s + 1 for k, s in zip(self.kernel, self.dilations, strict=True)]


def _sizes(call: Call, rank: int, kernel: Sequence[int]) -> _Sizes:
    found = _Sizes(
        [int(n) for n in call.option("kernel_shape", list(kernel))],
        [int(n) for n in call.option("strides", [1] * rank)],
        [int(n) for n in call.option("dilations", [1] * rank)],
        [int(n) for n in call.option("pads", [0] * (2 * rank))],
        call.option("auto_pad", "NOTSET"),
    )
    counts = (found.kernel, 1), (found.strides, 1), (found.dilations, 1), (found.pads, 2)
    if any(len(values) != rank * each for values, each in counts):
        raise InputError(f"its kernel, strides, dilations and pads are not those of {rank} axes")
    if min(*found.kernel, *found.strides, *found.dilations) < 1:
        raise InputError("its kernel, strides and dilations must be 1 or more")
    if kernel and found.kernel != list(kernel):
        raise InputError(f"its `kernel_shape` {found.kernel} is not that of its weights")
    if found.auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise InputError(f"its `auto_pad` {shown(found.auto)} is not known")
    if found.auto != "NOTSET":
        found.pads[:] = [0] * (2 * rank)
    return found


def _ends(total: int, upper: bool) -> tuple[int, int]:
    """Pads before and after, the larger one at the end if `upper`."""
    small, large = total // 2, total - total // 2
    return (small, large) if upper else (large, small)


def windows(
    call: Call, sizes: Sequence[int], kernel: Sequence[int], rounding: bool = False
) -> Windows:
    """The windows of a convolution or a pool, from its attributes."""
    rank = len(sizes)
    own = _sizes(call, rank, kernel)
    strides, pads, reach = own.strides, own.pads, own.reach
    if own.auto.startswith("SAME"):
        for k in range(rank):
            need = max((-(-sizes[k] // strides[k]) - 1) * strides[k] + reach[k] - sizes[k], 0)
            pads[k], pads[k + rank] = _ends(need, own.auto == "SAME_UPPER")
    lines, inside = [], []
    for k in range(rank):
        slack = sizes[k] + pads[k] + pads[k + rank] - reach[k]
        if slack < 0:
            raise InputError(f"a kernel of {reach[k]} does not fit into {sizes[k]} with its pads")
        count = (-(-slack // strides[k]) if rounding else slack // strides[k]) + 1
        if rounding and (count - 1) * strides[k] >= sizes[k] + pads[k]:
            count -= 1
        call.build.room(count * own.kernel[k])
        at = np.arange(count)[None] * strides[k] - pads[k]
        line = at + np.arange(own.kernel[k])[:, None] * own.dilations[k]
        inside.append(line < sizes[k] + pads[k + rank])
        lines.append(np.where((line >= 0) & (line < sizes[k]), line, -1))
    return _joined(call, lines, inside, sizes)


def _joined(
    call: Call, lines: Sequence[np.ndarray], inside: Sequence[np.ndarray], sizes: Sequence[int]
) -> Windows:
    """The windows over several axes from those of each."""
    places = np.zeros((1, 1), np.int64)
    within = np.ones((1, 1), bool)
    for line, there, size in zip(lines, inside, sizes, strict=True):
        call.build.room(places.size * line.size)
        left, right = places[:, None, :, None], line[None, :, None, :]
        joined = np.where((left < 0) | (right < 0), -1, left * size + right)
        rows, columns = places.shape[0] * line.shape[0], places.shape[1] * line.shape[1]
        places = joined.reshape(rows, columns)
        both = within[:, None, :, None] & there[None, :, None, :]
        within = both.reshape(rows, columns)
    return Windows(places, within.sum(axis=0), tuple(line.shape[1] for line in lines))


def _transposed_windows(call: Call, sizes: Sequence[int], kernel: Sequence[int]) -> Windows:
    """For each output of a transposed convolution the inputs that reach it.

    Input i reaches output i·stride + k·dilation − pad through entry k of the kernel.
    """
    rank = len(sizes)
    own = _sizes(call, rank, kernel)
    more = [int(n) for n in call.option("output_padding", [0] * rank)]
    wanted = call.option("output_shape")
    if own.auto.startswith("SAME") and wanted is None:
        wanted = [size * stride for size, stride in zip(sizes, own.strides, strict=True)]
    lines, inside = [], []
    for k in range(rank):
        whole = own.strides[k] * (sizes[k] - 1) + more[k] + own.reach[k]
        before, after = own.pads[k], own.pads[k + rank]
        if wanted is not None:
            # The shape may be given with the axes of samples and channels.
            count = int(wanted[k - rank])
            before, after = _ends(max(whole - count, 0), own.auto != "SAME_LOWER")
            if own.auto == "NOTSET":
                before, after = after, before
        else:
            count = whole - before - after
        if count < 1:
            raise InputError(f"an axis of {sizes[k]} becomes one of {count}")
        call.build.room(count * own.kernel[k])
        at = np.arange(count)[None] + before
        steps = at - np.arange(own.kernel[k])[:, None] * own.dilations[k]
        line = np.where(steps % own.strides[k] == 0, steps // own.strides[k], -1)
        lines.append(np.where((line >= 0) & (line < sizes[k]), line, -1))
        inside.append(np.ones_like(line, bool))
    return _joined(call, lines, inside, sizes)


def _patched(call: Call, item: Item, found: Windows, shape: tuple[int, ...]) -> Value:
    """The entries under the windows: the axes of a shape, and that of the positions."""
    channels, positions = math.prod(item.shape[:2]), found.places.shape[1]
    inner = math.prod(item.shape[2:])
    return call.build.patches(channels, inner, found.places, (*shape, positions), item.value)


def _patches(call: Call, item: Item, found: Windows) -> np.ndarray:
    """Places in one sample: (n, channels, kernel, positions)."""
    n, channels = item.shape[:2]
    call.build.room(n * channels * found.places.size)
    inner = math.prod(item.shape[2:])
    starts = np.arange(n * channels, dtype=np.int64).reshape(n, channels, 1, 1) * inner
    return np.where(found.places[None, None] < 0, -1, starts + found.places)


def check_images(item: Item) -> None:
    if item.batch not in (None, 0) or item.ndim < 3:
        raise InputError("its input must have the axes (samples, channels, …)")


def _convolve(call: Call) -> Item:
    item, kernel = call.plain(call.item(0)), call.item(1)
    check_images(item)
    groups, sizes = call.option("group", 1), item.shape[2:]
    out, each, *shape = kernel.shape
    if len(shape) != len(sizes) or item.shape[1] != each * groups or out % groups:
        raise InputError(f"the shapes {call.shape(item)} and {kernel.shape} do not fit")
    found = windows(call, sizes, shape)
    n, size = item.shape[0], math.prod(shape)
    patches = _patched(call, item, found, (n, groups, each * size))
    weights = call.build.reshaped(kernel.value, (groups, out // groups, each * size))
    # In this order the product takes the patches as they are, without a copy.
    made = Item(call.build.contract("gok,ngkp->ngop", weights, patches), item.batch)
    return _with_bias(call, made, (n, out, *found.outputs))


def _with_bias(call: Call, made: Item, shape: tuple[int, ...]) -> Item:
    whole = call.move(made, call.places(made).reshape(shape), made.batch)
    if not call.has(2):
        return whole
    return call.total(whole, per_channel(call, call.item(2), whole.ndim))


def _convolve_transposed(call: Call) -> Item:
    item, kernel = call.plain(call.item(0)), call.item(1)
    check_images(item)
    groups, sizes = call.option("group", 1), item.shape[2:]
    channels, each, *shape = kernel.shape
    if len(shape) != len(sizes) or item.shape[1] != channels or channels % groups:
        raise InputError(f"the shapes {call.shape(item)} and {kernel.shape} do not fit")
    found = _transposed_windows(call, sizes, shape)
    n, size = item.shape[0], math.prod(shape)
    patches = _patched(call, item, found, (n, groups, channels // groups, size))
    weights = call.build.reshaped(kernel.value, (groups, channels // groups, each, size))
    made = Item(call.build.contract("gcok,ngckp->ngop", weights, patches), item.batch)
    return _with_bias(call, made, (n, groups * each, *found.outputs))


def per_channel(call: Call, item: Item, ndim: int) -> Item:
    """One number for each channel, repeated over the other axes."""
    return call.move(item, call.places(item).reshape(1, -1, *[1] * (ndim - 2)), None)


def _pool(kind: str) -> Callable[[Call], Item]:
    """Means, maxima, or lengths (the root of a sum of squares) over windows."""

    def run(call: Call) -> Item:
        # Entries that are −∞, such as pads of a file of its own, are no maxima.
        item = call.item(0) if kind == "max" else call.plain(call.item(0))
        check_images(item)
        kernel = call.option("kernel_shape")
        if kernel is None:
            raise InputError("its `kernel_shape` is missing")
        found = windows(call, item.shape[2:], kernel, bool(call.option("ceil_mode", 0)))
        shape = (*item.shape[:2], *found.outputs)
        if kind == "mean":
            counts = (found.places >= 0).sum(axis=0)
            if call.option("count_include_pad", 0):
                counts = found.counts
            taken = _patched(call, item, found, (*item.shape[:2], len(found.places)))
            return _means(call, item, taken, counts, shape)
        patches = _patches(call, item, found)
        if kind == "length":
            made = call.move(item, patches, item.batch)
            total = lengths(call, made, [2], call.option("p", 2), False)
            return call.move(total, call.places(total).reshape(shape), item.batch)
        # A maximum does not change if an entry is repeated.
        first = patches.max(axis=2, keepdims=True)
        if first.size and first.min() < 0:
            raise InputError("a window holds nothing but padding, of which there is no maximum")
        filled = np.where(patches < 0, first, patches)
        return call.largest_at(item, np.moveaxis(filled, 2, 0).reshape(-1, *shape), item.batch)

    return run


def lengths(call: Call, item: Item, axes: Sequence[int], p: int, keep: bool) -> Item:
    """(Σ |x|^p)^(1/p) along axes, for p = 1 and 2."""
    build = call.build
    if p not in (1, 2):
        raise InputError(f"its order `p` ({p}) is not known; known are 1 and 2")
    if p == 1:
        sizes = call.elementwise(item, lambda a: build.choose(a, a, build.scale(a, -1)))
        return call.summed(sizes, axes, keep)
    squares = call.elementwise(item, lambda a: build.power(a, 2))
    return call.elementwise(call.summed(squares, axes, keep), build.root)


def _means(
    call: Call, item: Item, taken: Value, counts: np.ndarray, shape: tuple[int, ...]
) -> Item:
    common = math.lcm(*counts.tolist())
    shares = call.build.constant(common // counts, common)
    made = Item(call.build.contract("nckp,p->ncp", taken, shares), item.batch)
    return call.move(made, call.places(made).reshape(shape), item.batch)


_POOL = "auto_pad ceil_mode dilations kernel_shape pads strides"

NEIGHBOURHOODS: dict[str, Operator] = {
    "AveragePool": Operator(_pool("mean"), "X", f"{_POOL} count_include_pad"),
    "Conv": Operator(_convolve, "X W B", "auto_pad dilations group kernel_shape pads strides"),
    "ConvTranspose": Operator(
        _convolve_transposed, "X W B",
        "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
    ),
    "LpPool": Operator(_pool("length"), "X", f"{_POOL} p"),
    "MaxPool": Operator(_pool("max"), "X", _POOL, "storage_order"),
}  # fmt: skip
