"""The axis of the samples of each input of a graph.

By default it is axis 0 of the first input, and in the other inputs the axis with the same name or
number, axis 0 if there are several.  `sizes` decides otherwise: ``{"x.1": "samples"}`` says that it
is axis 1 of the input x, ``{"samples": 1}`` that the graph labels one sample.  What is ambiguous is
refused with the entry of `sizes` that decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from algebra.errors import InputError, one_line
from algebra.plugins.models.onnx.values import BATCH

# The value of `sizes` for an axis of the samples; its key for a graph that labels one sample.
SAMPLES = "samples"
Sizes = Mapping[str, int | str]
# The numbers of the element types of Booleans and of whole numbers.
BOOLEAN = 9
_WHOLE = (2, 3, 4, 5, 6, 7, 12, 13)


@dataclass(frozen=True)
class Input:
    """An input of a graph.

    Attributes
    ----------
    name : str
    sizes : tuple of int or str
        A number, or the name of a size without one.
    type : int
        The number of its element type.
    """

    name: str
    sizes: tuple[int | str, ...]
    type: int

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers or Booleans."""
        return self.type in (BOOLEAN, *_WHOLE)


@dataclass(frozen=True)
class Batch:
    """The axes of the samples.

    Attributes
    ----------
    count : int
        The number of samples in the graph: `BATCH` for any number; 1 if it labels one sample.
    axes : mapping of str to int
        By the names of the inputs; none if the graph labels one sample.
    """

    count: int
    axes: Mapping[str, int]


def batch_of(path: Path, inputs: Sequence[Input], sizes: Sizes) -> Batch:
    """The axes of the samples of inputs.

    Parameters
    ----------
    path : Path
        For messages.
    inputs : sequence of Input
        Those that hold samples.
    sizes : mapping of str to int or str

    Raises
    ------
    InputError
        If they are not determined; the message names the entry of `sizes` that decides.
    """
    axes = _said(inputs, sizes)
    is_said = bool(axes)
    if sizes.get(SAMPLES) == 1 and not axes:
        return _one_sample(path, inputs)
    if not axes and inputs:
        first = inputs[0]
        if not first.sizes:
            raise InputError(
                f"{path}: the first input `{one_line(first.name)}` is one number and has no axis "
                f"of the samples: give its value by `sizes`, such as {one_line(first.name)}=1, or "
                f"{SAMPLES}=1 if the file labels one sample"
            )
        axes = {first.name: 0}
    lead = next(g for g in inputs if g.name in axes)
    label = lead.sizes[axes[lead.name]]
    if label == 1:
        return _one_sample(path, inputs)
    for given in inputs:
        if given.name not in axes:
            unsized = bool(given.sizes) and isinstance(given.sizes[0], str)
            axes[given.name] = 0 if is_said and unsized else _axis(path, given, label, lead)
    counts = {g.sizes[axes[g.name]] for g in inputs}
    numbers = {count for count in counts if isinstance(count, int)}
    if len(numbers) > 1:
        raise InputError(f"{path}: the axes of the samples have different sizes: {_listed(inputs)}")
    for given in inputs:
        _check_sizes(path, given, axes[given.name])
    return Batch(numbers.pop() if numbers else BATCH, axes)


def _said(inputs: Sequence[Input], sizes: Sizes) -> dict[str, int]:
    """The axes that `sizes` determines."""
    return {
        given.name: k
        for given in inputs
        for k, size in enumerate(given.sizes)
        if SAMPLES in (sizes.get(f"{given.name}.{k}"), sizes.get(str(size)))
    }


def _axis(path: Path, given: Input, label: int | str, lead: Input) -> int:
    """The axis of the samples of an input, from that of another one."""
    same = [k for k, size in enumerate(given.sizes) if size == label]
    if 0 in same or len(same) == 1:
        return same[0]
    if given.sizes and "" in (label, given.sizes[0]):
        # One of the two axes has no name.
        return 0
    name, place = one_line(given.name), same or range(len(given.sizes))
    value = f"{name}=0 or {name}=1" if given.type == BOOLEAN else f"{name}=1"
    options = [f"{name}.{k}={SAMPLES}" for k in place] or [f"{value} for its value"]
    raise InputError(
        f"{path}: {'several axes' if same else 'no axis'} of the input `{name}` ({_shape(given)}) "
        f"{'have' if same else 'has'} the size {one_line(str(label)) or '?'} of the samples in "
        f"`{one_line(lead.name)}` ({_shape(lead)}): give `sizes` {' or '.join(options)}, or "
        f"{SAMPLES}=1 if the file labels one sample"
    )


def _one_sample(path: Path, inputs: Sequence[Input]) -> Batch:
    for given in inputs:
        _check_sizes(path, given, None)
    return Batch(1, {})


def _check_sizes(path: Path, given: Input, batch: int | None) -> None:
    for k, size in enumerate(given.sizes):
        if isinstance(size, str) and k != batch:
            name = one_line(size or f"{given.name}.{k}")
            raise InputError(
                f"{path}: axis {k} of the input `{one_line(given.name)}` has no size: give "
                f"`sizes` one, such as {name}=8, or export with fixed sizes; only "
                "the axis of the samples, the first of the first input, may be without "
                f"({one_line(given.name)}.{k}={SAMPLES} if it is this one)"
            )


def _shape(given: Input) -> str:
    return ", ".join(one_line(str(size)) or "?" for size in given.sizes) or "a number"


def _listed(inputs: Sequence[Input]) -> str:
    return ", ".join(f"{one_line(given.name)} ({_shape(given)})" for given in inputs)
