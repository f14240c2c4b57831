"""Indices that move, cut or repeat whole axes: their places are a first one plus steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Entries that are compared at a time.
_BLOCK = 1 << 15


def strides_of(places: np.ndarray) -> tuple[int, tuple[int, ...]] | None:
    """The first place and the step along each axis, if all places are sums of these.

    None otherwise, also if an entry is at several places but for whole axes, whose step is 0.
    """
    if not places.size:
        return None
    first = int(places[(0,) * places.ndim])
    if first < 0:
        return None
    ends = [tuple(int(k == axis) for k in range(places.ndim)) for axis in range(places.ndim)]
    steps = tuple(
        int(places[end]) - first if size > 1 else 0
        for end, size in zip(ends, places.shape, strict=True)
    )
    # Steps are longer than all shorter ones together: no place is there twice.
    reach = 0
    for step, size in sorted(zip(steps, places.shape, strict=True)):
        if step < 0 or (step and step <= reach):
            return None
        reach += step * (size - 1)
    # Few rows at a time, so that no other table of this size is made.
    lead = min(1, places.ndim)
    inner = first + offsets(places.shape[lead:], steps[lead:], range(places.ndim - lead))
    count, size = max(1, _BLOCK // inner.size), places.shape[0] if lead else 1
    table = places if lead else places[None]
    for start in range(0, size, count):
        part = table[start : start + count]
        rows = np.arange(start, start + len(part)) * (steps[0] if lead else 0)
        if not np.array_equal(part, rows.reshape(-1, *(1,) * inner.ndim) + inner):
            return None
    return first, steps


def offsets(sizes: Sequence[int], steps: Sequence[int], axes: Sequence[int]) -> np.ndarray:
    """The sum of steps along some axes at each place along them."""
    out = np.zeros([sizes[k] for k in axes], np.int64)
    for place, k in enumerate(axes):
        own = steps[k] * np.arange(sizes[k])
        out += own.reshape([-1 if other == place else 1 for other in range(len(axes))])
    return out


def strided(rows: np.ndarray, by: tuple[int, tuple[int, ...]], shape: Sequence[int]) -> np.ndarray:
    """The rows at places that are a first one plus steps: a view, with the axis of columns last."""
    first, steps = by
    own = rows[first:]
    along = (*(step * own.strides[0] for step in steps), own.strides[1])
    whole = (*shape, own.shape[1])
    return np.lib.stride_tricks.as_strided(own, whole, along, writeable=False)
