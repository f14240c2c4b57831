"""Patches of convolutions: entries of images under a kernel at each of its positions.

A table of all places of the patches would repeat those of one channel for each channel, and the
patches themselves are as many times as large as the image as the kernel has entries.  `Patches`
holds the places of one channel; `Patched`, the value, holds the image, from which blocks of
positions are taken while a product is formed (`algebra.programs.arrays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Entries of the patches that are taken at a time.
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Patches:
    """Places of patches, the same in each channel.

    Attributes
    ----------
    channels : int
        Of all images together.
    inner : int
        Entries of a channel.
    windows : ndarray of int64
        For each entry of the kernel (row) and each position (column) the place in a channel, or −1
        outside.
    shape : tuple of int
        Shape of the value; in row-major order it is channels × rows × columns, the columns being
        the last axis.
    """

    channels: int
    inner: int
    windows: np.ndarray
    shape: tuple[int, ...]

    @property
    def held(self) -> int:
        """Number of places that are stored."""
        return self.windows.size

    def dense(self) -> np.ndarray:
        """The places of all entries of the value, in its shape."""
        starts = np.arange(self.channels, dtype=np.int64).reshape(-1, 1, 1) * self.inner
        return np.where(self.windows < 0, -1, starts + self.windows).reshape(self.shape)

    @cached_property
    def shifts(self) -> list[int] | None:
        """Place minus position for each entry of the kernel, if it is the same at all positions.

        So it is if windows move by one place at a time.
        """
        positions = np.arange(self.windows.shape[1])
        out = []
        for own in self.windows:
            inside = own >= 0
            found = own[inside] - positions[inside]
            if found.size and (found != found[0]).any():
                return None
            out.append(int(found[0]) if found.size else 0)
        return out

    @cached_property
    def meeting(self) -> np.ndarray:
        """For each entry of the kernel and each place in a channel the position where they meet.

        There is one at most; −1 if there is none.
        """
        out = np.full((len(self.windows), self.inner), -1, np.int64)
        for row, own in zip(out, self.windows, strict=True):
            positions = np.flatnonzero(own >= 0)
            row[own[positions]] = positions
        return out

    def blocks(self, count: int) -> Iterator[slice]:
        """Parts of the positions, so small that so many arrays of patches are small."""
        step = max(16, _BLOCK // max(1, count * self.channels * len(self.windows)))
        for start in range(0, self.shape[-1], step):
            yield slice(start, min(start + step, self.shape[-1]))

    def spread(
        self,
        adjoint: np.ndarray,
        part: slice,
        into: np.ndarray,
        reduced: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        """Add what the adjoint of a block gives to that of the images.

        An entry of the kernel meets each place of a channel at one position at most.

        Parameters
        ----------
        adjoint : ndarray
            Outputs, the shape of the block, batch.
        part : slice
            The positions of the block.
        into : ndarray
            Outputs × channels × entries of a channel × batch.
        reduced : callable
            The canonical form of sums of two values.
        """
        windows = self.windows[:, part]
        own = adjoint.reshape(len(adjoint), self.channels, *windows.shape, adjoint.shape[-1])
        for k, places in enumerate(windows):
            inside = consecutive(np.flatnonzero(places >= 0))
            targets = consecutive(places[inside])
            into[:, :, targets] = reduced(into[:, :, targets] + own[:, :, k][:, :, inside])


def consecutive(numbers: np.ndarray) -> np.ndarray | slice:
    """Numbers as an index: if they are consecutive a slice, which copies nothing."""
    if len(numbers) and np.ptp(numbers) == len(numbers) - 1 and (numbers[1:] > numbers[:-1]).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


@dataclass(frozen=True, eq=False)
class Patched:
    """Patches of the images of samples, with the batch axis last.

    Attributes
    ----------
    places : Patches
    images : ndarray
        Channels × entries of a channel × batch.
    zero : ndarray
        The number outside of the images, of one axis of length 1.
    """

    places: Patches
    images: np.ndarray
    zero: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value, with the batch."""
        return (*self.places.shape, self.images.shape[-1])

    def block(self, part: slice) -> np.ndarray:
        """The value at some positions."""
        windows = self.places.windows[:, part]
        shifts, images = self.places.shifts, self.images
        if shifts is None:
            out = images.take(windows, axis=1, mode="wrap")
        else:
            out = np.empty((len(images), *windows.shape, images.shape[-1]), images.dtype)
            for k, shift in enumerate(shifts):
                first, last = part.start + shift, part.stop + shift
                inside = slice(max(first, 0), max(min(last, images.shape[1]), 0))
                count = max(inside.stop - inside.start, 0)
                start = inside.start - first
                out[:, k, start : start + count] = images[:, inside.start : inside.start + count]
        outside = windows < 0
        if outside.any():
            out[:, outside] = self.zero
        return out.reshape(*self.places.shape[:-1], -1, self.images.shape[-1])

    def whole(self) -> np.ndarray:
        """The value at all positions."""
        return self.block(slice(0, self.places.shape[-1]))

    def at(self, axes: Sequence[int], at: Sequence[np.ndarray]) -> np.ndarray:
        """The value at given places along some axes, none of which is the last.

        Returns
        -------
        ndarray
            Places, then the other axes, then the batch.
        """
        shape = self.places.shape[:-1]
        free = [k for k in range(len(shape)) if k not in axes]
        ids = [np.zeros((), np.int64)] * len(shape)
        for k, own in zip(axes, at, strict=True):
            ids[k] = own.reshape(-1, *(1,) * len(free))
        for j, k in enumerate(free):
            ids[k] = np.arange(shape[k]).reshape(-1, *(1,) * (len(free) - 1 - j))
        rows = np.zeros((), np.int64)
        for k, size in enumerate(shape):
            rows = rows * size + ids[k]
        windows = self.places.windows[rows % len(self.places.windows)]
        channels = (rows // len(self.places.windows))[..., None]
        out = self.images[channels, windows]
        out[windows < 0] = self.zero
        return out
