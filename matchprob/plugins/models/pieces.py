"""Points at which ranks of a model are found: its own weights, given samples, drawn patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.files.arrays import read_array, read_arrays
from algebra.files.opening import FILE_LIMITS
from algebra.plugins.models.onnx.values import ExactNumbers, over_denominator
from algebra.programs.tokens import one_hot
from matchprob.plugins.models.models import check_padding

if TYPE_CHECKING:
    from algebra.plugins.models.capacity import Piece, Subset
    from algebra.plugins.models.onnx import Read
    from algebra.programs.generic import Model

# Drawn activation patterns of a model.
PATTERNS = 5


def given_samples(read: Read, data: Any, source: str = "`data`") -> dict[str, np.ndarray]:
    """Samples for the inputs of a model, with the batch axis last.

    Parameters
    ----------
    read : Read
    data : array, mapping of str to array, str or Path
        An array for a model with one input, or arrays by the names of the inputs; or a file (.npy,
        or .npz with an array for each input).  The first axis is that of the samples.
    source : str, optional
        Where they are from, for messages.

    Raises
    ------
    InputError
        If the arrays do not fit the inputs.
    """
    if isinstance(data, (str, Path)):
        source, data = f"{source} ({data})", _loaded(Path(data))
    samples = read.program.samples
    if not isinstance(data, Mapping):
        if len(samples) != 1:
            raise InputError(
                f"{source} is one array, and the model has the inputs {', '.join(samples)}: give "
                "an .npz file, or a mapping, with an array for each"
            )
        data = dict.fromkeys(samples, data)
    if set(data) != set(samples):
        raise InputError(
            f"{source} has arrays for {', '.join(map(str, data)) or 'nothing'}, and the model has "
            f"the inputs {', '.join(samples)}"
        )
    out = {}
    for name, shape in samples.items():
        array = np.asarray(
            data[name].detach().numpy() if hasattr(data[name], "detach") else data[name]
        )
        size = read.tokens.get(name)
        own = shape if size is None else shape[:-1]
        if array.shape[1:] != own and array.size == len(array) * int(np.prod(own)):
            array = array.reshape(len(array), *own)
        if array.ndim != 1 + len(own) or array.shape[1:] != own or not len(array):
            wanted = " × ".join(["samples", *map(str, own)])
            raise InputError(
                f"{source} for {name} has the shape {shown(array.shape)}; it must be {wanted}"
            )
        check_padding(read, name, array, source)
        out[name] = _with_batch_last(array, size, f"{source} for {name}")
    if len({value.shape[-1] for value in out.values()}) > 1:
        raise InputError(f"{source}: the inputs have different numbers of samples")
    return out


def _with_batch_last(array: np.ndarray, size: int | None, what: str) -> np.ndarray:
    if size is None:
        if array.dtype.kind not in "biuf":
            raise InputError(f"{what} has entries of type {array.dtype}, not numbers")
        if not np.isfinite(array).all():
            first = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
            raise InputError(
                f"{what}: the entry {shown(first)} is {array[first]}, no finite number"
            )
        return np.moveaxis(array.astype(np.float64), 0, -1)
    if array.dtype.kind not in "iu" or array.min() < -size or array.max() >= size:
        raise InputError(f"{what} must be whole numbers from 0 to {size - 1}")
    return one_hot(np.moveaxis(array, 0, -1) % size, size).astype(np.float64)


def _loaded(path: Path) -> Any:
    try:
        if path.suffix == ".npz":
            return read_arrays(path, FILE_LIMITS.samples)
        return read_array(path, FILE_LIMITS.samples)
    except (InputError, OSError, ValueError) as error:
        raise InputError(
            f"`data` ({path}): no .npy or .npz file that can be read: {error}"
        ) from None


def pieces(read: Read, data: Any = None, *, seed: int = 0) -> Iterator[Piece]:
    """Points for what all weights together do: own ones or given samples, then drawn weights.

    The labels of a model without choices are one function: drawn weights suffice, unless samples
    are given.
    """
    from algebra.programs.generic import Model

    own = own_piece(read, data, seed=seed)
    plain = Model(read.program, read.tokens)
    if own is not None and (data is not None or "choose" in plain.functions):
        yield own
    yield from drawn_pieces(read, {}, seed=seed)


def own_piece(
    read: Read, data: Any = None, source: str = "`data`", *, backward: bool = False, seed: int = 0
) -> Piece | None:
    """The model's own weights, at given samples if there are some; None if they are not known.

    With `backward` on the pattern whose derivatives a backward pass takes.
    """
    from algebra.plugins.models.capacity.pieces import DATA, FILE, Piece
    from algebra.programs.generic import Model
    from numeric.programs.patterns import own_patterns

    program, tokens = read.program, read.tokens
    if not set(program.weights) <= set(read.values):
        return None
    inputs = None if data is None else given_samples(read, data, source)
    exact = {
        name: over_denominator(value, f"{source} for {name}")
        for name, value in (inputs or {}).items()
    }
    patterns = own_patterns(
        program, read.values, tokens=tokens, inputs=inputs, backward=backward, seed=seed
    )
    model = Model(program, tokens, values=read.values, patterns=patterns, inputs=exact, order=seed)
    count = None if inputs is None else next(iter(inputs.values())).shape[-1]
    return Piece(FILE if inputs is None else DATA, model, count)


def drawn_pieces(
    read: Read,
    given: Mapping[str, tuple[np.ndarray, int]],
    updates: Mapping[str, int] | None = None,
    *,
    at: str = "any",
    seed: int = 0,
) -> Iterator[Piece]:
    """Points at which some weights are given, perhaps with drawn updates, and the others drawn.

    With several activation patterns if the program chooses.
    """
    from algebra.plugins.models.capacity.pieces import Piece
    from algebra.programs.generic import Model
    from numeric.programs.patterns import drawn_patterns

    program, tokens = read.program, read.tokens
    chooses = "choose" in Model(program).functions
    for k in range(PATTERNS if chooses else 1):
        drawn = drawn_patterns(
            program, tokens=tokens, positive=read.squares, fixed=given, updates=updates,
            seed=seed + k,
        )  # fmt: skip
        yield Piece(
            at, Model(program, tokens, given, updates=updates or {}, patterns=drawn,
                      order=seed + k),
        )  # fmt: skip


def training_pieces(read: Read, subset: Subset, *, seed: int = 0) -> Iterator[Piece]:
    """Where training goes: what the subset leaves frozen has its values, what learns is drawn.

    The activation pattern at the model's own weights comes first: that of weights near them, too.
    """
    from algebra.plugins.models.capacity.pieces import TRAINING, Piece
    from algebra.programs.generic import Model
    from numeric.programs.patterns import own_patterns

    program, tokens = read.program, read.tokens
    given = frozen(read, subset.weights)
    updates = {name: k for name, k in (subset.low_rank or {}).items() if name in given}
    if "choose" in Model(program).functions and program.weights.keys() <= read.values.keys():
        own = own_patterns(program, read.values, tokens=tokens, seed=seed)
        yield Piece(
            TRAINING, Model(program, tokens, given, updates=updates, patterns=own, order=seed)
        )
    yield from drawn_pieces(read, given, updates, at=TRAINING, seed=seed)


def frozen(read: Read, learns: Sequence[str]) -> Mapping[str, tuple[np.ndarray, int]]:
    """The values of all weights but those that learn."""
    kept = set(learns)
    names = [n for n in read.program.weights if n in read.values and n not in kept]
    if isinstance(read.values, ExactNumbers):
        return read.values.only(names)
    return {name: read.values[name] for name in names}


def moved_model(
    read: Read, own: Piece | None, masks: Mapping[str, np.ndarray], draw: int = 0, *, seed: int = 0
) -> Model:
    """The model after the entries of some masks have moved from its own weights, at its samples.

    By 1, 8, 4, 2, 1, … times their own sizes; its pattern is that of a backward pass.
    """
    from numeric.programs.patterns import doubles, own_patterns

    assert own is not None
    by = 1 << (3 * draw % 4)
    rng = np.random.default_rng([seed, draw, sum(int(mask.sum()) for mask in masks.values())])
    held, arrays = own.model.values, dict[str, np.ndarray]()
    for name, mask in masks.items():
        before = doubles(*held[name]).reshape(mask.shape)
        # By their own size; biases, and what is 0, by a half at least.
        size = float(np.sqrt((before**2).mean()))
        size = max(size, 0.5) if mask.ndim < 2 or not size else size
        moved = before + np.where(mask, by * size * rng.integers(-256, 257, mask.shape) / 256, 0)
        single = moved.astype(np.float32)
        # Numbers that stay are those that they were.
        is_single = bool((single == moved)[~mask].all())
        arrays[name] = single if is_single else moved
    values: Mapping[str, tuple[np.ndarray, int]] = (
        held.only(held, arrays)
        if isinstance(held, ExactNumbers)
        else {**held, **{name: over_denominator(own, name) for name, own in arrays.items()}}
    )
    inputs = {name: doubles(*table) for name, table in own.model.inputs.items()} or None
    patterns = own_patterns(
        read.program, values, tokens=read.tokens, inputs=inputs, backward=True, seed=seed
    )
    return replace(own.model, values=values, patterns=patterns)
