"""Points at which ranks of a model are found: its own weights, given samples, drawn patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.files.arrays import read_array, read_arrays
from algebra.files.opening import FILE_LIMITS
from algebra.programs.onnx.values import over_denominator
from algebra.programs.tokens import one_hot
from matchprob.api.models import check_padding

if TYPE_CHECKING:
    from algebra.programs.onnx import Read
    from algebra.questions.capacity import Piece

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
    """The model's own weights or given samples, if they matter, then drawn ones.

    The labels of a model without choices are one function: generic weights suffice, unless samples
    are given.  Otherwise the samples with which a module was read come first, unless all numbers in
    them are the same.
    """
    from algebra.programs.generic import Model
    from algebra.questions.capacity.pieces import DATA, FILE, GENERIC, Piece
    from numeric.equations.programs.patterns import drawn_patterns, own_patterns

    program, tokens = read.program, read.tokens
    plain = Model(program, tokens)
    chooses = "choose" in plain.functions
    known = set(program.weights) <= set(read.values)
    given = [] if data is None else [data]
    if data is None and known and chooses:
        example = read.example if not tokens else {}
        varied = bool(example) and all(len(np.unique(array)) > 1 for array in example.values())
        given = [example, None] if varied else [None]
    source = "`example_inputs`" if data is None else "`data`"
    for samples in given if known else []:
        inputs = None if samples is None else given_samples(read, samples, source)
        # Square roots are searched for among samples (`algebra.programs.roots`): those of an
        # example give a pattern only, where functions have formal values.
        is_rational = not plain.functions - {"choose"}
        fixed = inputs if inputs is not None and (data is not None or is_rational) else {}
        exact = {
            name: over_denominator(value, f"`data` for {name}") for name, value in fixed.items()
        }
        patterns = own_patterns(program, read.values, tokens=tokens, inputs=inputs, seed=seed)
        model = Model(
            program, tokens, values=read.values, patterns=patterns, inputs=exact, order=seed
        )
        count = None if inputs is None else next(iter(inputs.values())).shape[-1]
        yield Piece(FILE if inputs is None else DATA, model, count)
    for k in range(PATTERNS if chooses else 1):
        drawn = drawn_patterns(program, tokens=tokens, positive=read.squares, seed=seed + k)
        yield Piece(GENERIC, Model(program, tokens, patterns=drawn, order=seed + k))


def start_piece(read: Read, names: Sequence[str], *, seed: int = 0) -> Piece | None:
    """The start of what learns, if parameters are constant there: zeros or ones; others are drawn.

    An update W + B A with B = 0 is a point at which ranks are smaller than at almost all others.
    The other factors, and what does not learn, are arbitrary there as well.
    """
    from algebra.programs.generic import Model
    from algebra.questions.capacity.pieces import FILE, Piece
    from numeric.equations.programs.patterns import own_patterns

    program, tokens = read.program, read.tokens
    known = [name for name in names if name in read.values]
    special = {
        name: read.values[name]
        for name in known
        if read.values[name][0].size > 1 and len(set(read.values[name][0].ravel().tolist())) == 1
    }
    if not special:
        return None
    patterns = own_patterns(program, read.values, tokens=tokens, seed=seed)
    return Piece(FILE, Model(program, tokens, values=special, patterns=patterns, order=seed))
