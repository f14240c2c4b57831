"""How many samples a set of parameters can fit: the verb capacity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, overload

from algebra.errors import InputError, whole_number
from algebra.memory_limits import beside_held
from algebra.time_limits import OutOfTime, limited, positive_seconds
from matchprob.plugins.models.models import as_read, with_labels
from matchprob.plugins.models.subsets import (
    Patterns,
    checked,
    default_subsets,
    listed,
    low_rank_subsets,
    named_subsets,
)
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, Callback, LineArgument, LineOption, verb

if TYPE_CHECKING:
    from algebra.plugins.models.capacity import Capacity, Piece, Subset, SubsetCapacity
    from algebra.plugins.models.capacity.effects import CapacityCheck
    from algebra.plugins.models.onnx import Read


def _ranks(given: str, _: Arguments) -> list[int]:
    parts = [text.strip() for text in given.split(",") if text]
    if not all(text.isdecimal() for text in parts):
        raise InputError(
            f"--lora ({given!r}) must be whole numbers separated by commas, such as 1,2,4"
        )
    return [int(text) for text in parts]


def _missing(found: Any, arguments: Arguments) -> str:
    """A message about what a check found, or about ranks that may still grow."""
    return _found_fault(found) if hasattr(found, "unmatched") else _stopped(found, arguments)


def _stopped(found: Capacity, arguments: Arguments) -> str:
    """A message if more samples might increase a rank, of which the limit, not `m`, is the cause.

    Ranks on activation patterns are lower bounds in any case.
    """
    if found.unfinished:
        left = ", ".join(found.unfinished)
        why = "a limit of time or memory, or an interrupt"
        return f"not finished ({why}): {left}; the others are kept"
    names = [s.name for s in found.subsets if not s.is_whole and not s.on_patterns]
    if not names or arguments.get("m") is not None:
        return ""
    return f"ranks still grew at the largest number of samples: {', '.join(names)} (lower bounds)"


def _found_fault(found: CapacityCheck) -> str:
    """What a check found: parameters without effect, patterns that match nothing."""
    texts = [f"without effect: {', '.join(found.unused)}"] if found.unused else []
    texts += [f"no parameter matches: {', '.join(found.unmatched)}"] if found.unmatched else []
    texts += [f"not decided: {', '.join(found.open)}"] if found.open else []
    return "; ".join(texts)


_Subsets = str | Sequence[str] | Mapping[str, str | Sequence[str]]


@overload
def capacity(
    model: Any,
    learn: _Subsets = ...,
    *,
    check: Literal[True],
    example_inputs: Any = ...,
    sizes: common.Sizes = ...,
    constants: common.Constants = ...,
    output: common.OutputName = ...,
    outputs: str | int = ...,
    seed: int = ...,
    timeout: float = ...,
    progress: common.WorkProgress = ...,
) -> CapacityCheck: ...
@overload
def capacity(
    model: Any,
    learn: _Subsets = ...,
    *,
    lora: int | Sequence[int] = ...,
    on: str | Sequence[str] = ...,
    m: int | None = ...,
    needed: int | None = ...,
    data: common.Data = ...,
    check: Literal[False] = ...,
    example_inputs: Any = ...,
    sizes: common.Sizes = ...,
    constants: common.Constants = ...,
    output: common.OutputName = ...,
    outputs: str | int = ...,
    seed: int = ...,
    timeout: float = ...,
    progress: common.WorkProgress = ...,
) -> Capacity: ...
@verb(is_drawn=True, unfinished=_missing)
def capacity(
    model: Annotated[Any, LineArgument(word=Path)],
    learn: Annotated[
        str | Sequence[str] | Mapping[str, str | Sequence[str]],
        LineOption(metavar="PATTERN", word=str, is_repeated=True),
    ] = (),
    *,
    lora: Annotated[
        int | Sequence[int], LineOption(metavar="RANKS", word=str, is_repeated=False, read=_ranks)
    ] = (),
    on: Annotated[
        str | Sequence[str], LineOption(metavar="PATTERN", word=str, is_repeated=True)
    ] = (),
    m: Annotated[int | None, LineOption(least=1)] = None,
    needed: int | None = None,
    data: common.Data = None,
    check: bool = False,
    any_weights: bool = False,
    example_inputs: Annotated[
        Any,
        Callback(
            "What the `forward` of a torch module takes, as in `from_torch`.",
            "tensor, sequence or mapping",
            None,
        ),
    ] = None,
    sizes: common.Sizes = None,
    constants: common.Constants = (),
    output: common.OutputName = "",
    outputs: Annotated[str | int, LineOption(metavar="LABELS", word=str)] = "",
    seed: common.Seed = 0,
    timeout: common.Timeout = math.inf,
    progress: common.WorkProgress = None,
) -> Capacity | CapacityCheck:
    """Say how many samples each subset of a model's parameters can fit.

    At the model's own weights, and where training goes: what is frozen keeps its values, and what
    learns is generic.

    Parameters
    ----------
    model : str, Path, Read, Problem or torch.nn.Module
        Model (ONNX file).  Or the program that `matchprob.from_torch` reads from a module, a
        problem about one, or a module (with `example_inputs`, unless it has `dummy_inputs` or
        begins with a Linear layer).
    learn : str, sequence of str, or mapping of str to str or sequence of str, optional
        A subset: names, patterns or roles (biases, norms), separated by commas; repeatable.  A
        mapping names each subset.  By default, if there is no
        `lora` either: the parameters of a module that require a gradient, all biases, all norms,
        the last layer, each layer, updates of rank 1, 2, 4 and 8 of all matrices, everything.
    lora : int or sequence of int, optional
        Ranks of low-rank updates: 1,2,4 for three subsets.
    on : str or sequence of str, optional
        Matrices that learn by low-rank updates; all by default.  Given as in `learn`.
    m : int, optional
        Number of samples for which ranks are found.  By default that at which they no longer grow.
    needed : int, optional
        Number of samples to fit: the smallest subset that fits them is named. See
        `Capacity.cheapest`.
    check : bool, optional
        Only say which of the parameters have no effect on the labels, at the model's own weights
        and samples or anywhere where training goes.  Those of `learn`, by default those that
        require a gradient; also which patterns match nothing.
    any_weights : bool, optional
        Also the rank and the capacity at any weights of this architecture, frozen ones included.
    outputs : str or int, optional
        Fewer labels than all outputs: those of the last position of a sequence (last), a number of
        random directions, or both (last:64).

    Returns
    -------
    Capacity or CapacityCheck
        With `check` a `CapacityCheck`: `trainable`, `effective`, `without_effect`, `unmatched`,
        `open`, `undecided`, and `unused`, the names of what no gradient moves.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import matchprob as mp
    >>> mp.capacity("model.onnx", ["*.bias", "head.*"], lora=[1, 2], on=["*q*,*v*"]).plot()
    ... # doctest: +SKIP
    """
    from algebra.plugins.models.capacity import capacities_on
    from matchprob.io.progress import counted
    from matchprob.plugins.models.pieces import drawn_pieces, own_piece, training_pieces

    with (
        limited(positive_seconds(timeout, "timeout")),
        counted(progress, "entries with an effect" if check else "ranks of subsets") as advance,
    ):
        found = as_read(model, example_inputs, sizes, constants, output)
        named = str(model) if isinstance(model, str | Path) else ""
        if not found.parameters:
            raise InputError(f"{named or '`model`'}: it has no parameters, so nothing can learn")
        seed = whole_number(seed, "seed", 0)
        if outputs != "":
            found = with_labels(found, outputs, seed)
        if check:
            return _checked(found, learn, named, data, seed, advance)
        subsets = named_subsets(found, learn)
        if not isinstance(lora, Sequence) or len(lora):
            subsets += low_rank_subsets(found, lora, on)
        elif on:
            raise InputError(
                "`on` names matrices that learn by `lora`, but `lora` (a rank) is not given"
            )
        own = own_piece(found, data, seed=seed)

        def places(subset: Subset) -> Iterator[Piece]:
            if own is not None:
                yield own
            yield from training_pieces(found, subset, seed=seed)

        subsets = subsets or default_subsets(found)
        with beside_held():
            made = capacities_on(
                found.program, places, subsets, name=named,
                learnable=list(found.parameters), m=None if m is None else whole_number(m, "m", 1),
                needed=None if needed is None else whole_number(needed, "needed", 1), seed=seed,
                progress=advance,
                anywhere=(lambda _: drawn_pieces(found, {}, seed=seed)) if any_weights else None,
            )  # fmt: skip
            rows = tuple(_with_strengths(row, subsets, own) for row in made.subsets)
        return replace(made, subsets=rows, assumed=found.assumed)


def _with_strengths(
    row: SubsetCapacity, subsets: Sequence[Subset], own: Piece | None
) -> SubsetCapacity:
    """A row with the singular values at the model's own weights, of the samples that are fitted."""
    from numeric.programs.singular import extreme_singular_values

    here = row.at_weights
    [subset] = [one for one in subsets if one.name == row.name][:1]
    if own is None or here is None or not here.capacity or subset.low_rank:
        return row
    found = None
    # The ranks that are known are kept when the time is over.
    with suppress(OutOfTime, KeyboardInterrupt):
        found = extreme_singular_values(own.model, subset.names, here.capacity)
    if found is None:
        return row
    return replace(row, at_weights=replace(here, smallest=found[0], largest=found[1]))


def assert_trainable(
    model: Any,
    example_inputs: Any = None,
    learn: str | Sequence[str] = (),
    *,
    seed: int = 0,
    timeout: float = math.inf,
) -> None:
    """Fail, as an assertion of a test does, if a parameter that learns has no effect.

    Parameters
    ----------
    model : str, Path, Read or torch.nn.Module
    example_inputs : tensor, sequence or mapping, optional
        What the `forward` of a module takes.
    learn : str or sequence of str, optional
        Names, patterns or roles; by default what requires a gradient.
    seed : int, optional
    timeout : float, optional
        Seconds.

    Raises
    ------
    AssertionError
        With a line for each parameter: what no label depends on, what no gradient ever moves from
        the model's own weights, patterns that match nothing, what was not decided in time.  A start
        without a gradient that the others move away from does not fail.
    InputError

    Examples
    --------
    >>> import matchprob as mp
    >>> mp.assert_trainable("examples/data/block.onnx", learn="biases")
    Traceback (most recent call last):
    AssertionError: 67 of 75 learnable parameters have an effect
      k.bias: 8 without effect anywhere (a shift of the input of a softmax, which has no effect)
    >>> mp.assert_trainable("examples/data/block.onnx", learn="norms")
    """
    # pytest shows the line of the test, not those here.
    __tracebackhide__ = True
    found = capacity(
        model, learn, check=True, example_inputs=example_inputs, seed=seed, timeout=timeout
    )
    lines = [
        f"{one.name}: {one.size} without effect {one.where} ({one.reason})"
        for one in found.without_effect
        if one.is_stuck
    ]
    lines += [f"{pattern}: no parameter matches" for pattern in found.unmatched]
    lines += [f"{name}: not decided in time" for name in found.open]
    if lines:
        raise AssertionError("\n  ".join([found.document().title, *lines]))


def _checked(
    found: Read, learn: Patterns | Mapping[str, Patterns], name: str, data: Any, seed: int,
    advance: Callable[[int, int], None] | None,
) -> CapacityCheck:  # fmt: skip
    """Which of the parameters that learn have an effect."""
    import numpy as np

    from algebra.plugins.models.capacity import Subset
    from algebra.plugins.models.capacity.effects import CapacityCheck, without_effect
    from matchprob.plugins.models.pieces import moved_model, own_piece, training_pieces

    patterns = [
        pattern
        for own in (learn.values() if isinstance(learn, Mapping) else [learn])
        for pattern in listed(own)
    ]
    by_pattern = {pattern: checked(found, pattern) for pattern in patterns}
    chosen = {name for own in by_pattern.values() for name in own}
    every = {**{n: math.prod(s) for n, s in found.parameters.items()}, **found.absent}
    if not patterns:
        chosen = set(every) if found.trainable is None else set(found.trainable)
    if not patterns and not chosen:
        raise InputError(
            "no parameter of `model` requires a gradient (all are frozen): name those that are to "
            'learn, `learn`="all"'
        )
    names = [name for name in every if name in chosen]
    inputs = data
    if data is None:
        varied = found.example and all(len(np.unique(a)) > 1 for a in found.example.values())
        inputs = found.example if varied else None
    source = "`data`" if data is not None else "`example_inputs`"
    here = own_piece(found, inputs, source, backward=True, seed=seed)
    subset = Subset("check", tuple(name for name in names if name not in found.absent))
    dead, left = without_effect(
        (piece.model for piece in training_pieces(found, subset, seed=seed)), names,
        program=found.program, here=None if here is None else here.model,
        samples=None if here is None else here.samples,
        after=lambda masks, draw: moved_model(found, here, masks, draw, seed=seed),
        absent=found.absent, stopped=found.stopped, seed=seed, progress=advance,
    )  # fmt: skip
    size = sum(every[name] for name in names)
    unmatched = tuple(pattern for pattern, own in by_pattern.items() if not own)
    undecided = sum(left.values())
    effective = size - undecided - sum(one.size for one in dead if one.is_stuck)
    return CapacityCheck(name, size, effective, dead, unmatched, seed, tuple(left), undecided)
