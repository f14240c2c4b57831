"""How many samples a set of parameters can fit: the verb capacity."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from algebra.errors import InputError, shown, whole_number
from algebra.time_limits import limited, positive_seconds
from matchprob.verbs import parameters as common
from matchprob.verbs.verb import Arguments, LineArgument, LineOption, verb

if TYPE_CHECKING:
    from algebra.programs.onnx import Read
    from algebra.questions.capacity import Capacity, Subset

LORA = (1, 2, 4, 8)
# Largest number of layers with which each layer is one of the default subsets.
_MOST_LAYERS = 12


def _ranks(given: str, _: Arguments) -> list[int]:
    parts = [text.strip() for text in given.split(",") if text]
    if not all(text.isdecimal() for text in parts):
        raise InputError(
            f"--lora ({given!r}) must be whole numbers separated by commas, such as 1,2,4"
        )
    return [int(text) for text in parts]


def _stopped(found: Capacity, arguments: Arguments) -> str:
    """A message if more samples might increase a rank, of which the limit, not `m`, is the cause.

    Ranks on activation patterns are lower bounds in any case.
    """
    names = [s.name for s in found.subsets if not s.is_whole and not s.on_patterns]
    if not names or arguments.get("m") is not None:
        return ""
    return f"ranks still grew at the largest number of samples: {', '.join(names)} (lower bounds)"


@verb(is_drawn=True, unfinished=_stopped)
def capacity(
    model: Annotated[str | Path | Read, LineArgument(word=Path)],
    learn: Annotated[Sequence[str], LineOption(metavar="PATTERN")] = (),
    *,
    lora: Annotated[
        Sequence[int], LineOption(metavar="RANKS", word=str, is_repeated=False, read=_ranks)
    ] = (),
    on: Annotated[Sequence[str], LineOption(metavar="PATTERN")] = (),
    m: Annotated[int | None, LineOption(least=1)] = None,
    needed: int | None = None,
    data: common.Data = None,
    sizes: common.Sizes = None,
    constants: common.Constants = (),
    output: common.OutputName = "",
    seed: common.Seed = 0,
    timeout: common.Timeout = math.inf,
) -> Capacity:
    """Say how many samples each subset of a model's parameters can fit.

    Parameters
    ----------
    model : str, Path or Read
        Model (ONNX file).  Or the program that `matchprob.from_torch` reads from a module.
    learn : sequence of str, optional
        A subset: names or patterns, separated by commas; repeatable.  By default, if there is no
        `lora` either: the parameters of a module that require a gradient, all biases, all norms,
        the last layer, each layer, updates of rank 1, 2, 4 and 8 of all matrices, everything.
    lora : sequence of int, optional
        Ranks of low-rank updates: 1,2,4 for three subsets.
    on : sequence of str, optional
        Matrices that learn by low-rank updates; all by default.  Given as in `learn`.
    m : int, optional
        Number of samples for which ranks are found.  By default that at which they no longer grow.
    needed : int, optional
        Number of samples to fit: the smallest subset that fits them is named. See
        `Capacity.cheapest`.

    Returns
    -------
    Capacity

    Raises
    ------
    InputError

    Examples
    --------
    >>> import matchprob as mp
    >>> mp.capacity("model.onnx", ["*.bias", "head.*"], lora=[1, 2], on=["*q*,*v*"]).plot()
    ... # doctest: +SKIP
    """
    from algebra.programs.onnx import Read, read_onnx
    from algebra.questions.capacity import capacities_on
    from matchprob.api.pieces import pieces

    with limited(positive_seconds(timeout, "timeout")):
        found = model
        if not isinstance(found, Read):
            if Path(found).suffix == ".toml":
                raise InputError(
                    f"{found}: capacity is about the parameters of an ONNX file; for problem "
                    "files `certify` says what they match, `dimension` what their networks can be"
                )
            found = read_onnx(found, sizes=sizes, constants=constants, output=output)
        subsets = [_named(found, pattern) for pattern in learn]
        for rank in lora:
            whole_number(rank, "lora", 1)
            subsets += [_low_rank(found, rank, pattern) for pattern in (on or ["*"])]
        if on and not lora:
            raise InputError(
                "`on` names matrices that learn by `lora`, but `lora` (a rank) is not given"
            )
        seed = whole_number(seed, "seed", 0)
        return capacities_on(
            pieces(found, data, seed=seed),
            subsets or default_subsets(found),
            name=str(model) if not isinstance(model, Read) else "",
            learnable=list(found.parameters),
            m=None if m is None else whole_number(m, "m", 1),
            needed=None if needed is None else whole_number(needed, "needed", 1),
            seed=seed,
        )


def matching(found: Read, patterns: str, among: Sequence[str] | None = None) -> list[str]:
    """The parameters that match names or patterns, separated by commas.

    Raises
    ------
    InputError
        If one of them matches no parameter.
    """
    names = list(found.parameters) if among is None else list(among)
    chosen: set[str] = set()
    for pattern in patterns.split(","):
        own = {n for n in names if n == pattern or fnmatch.fnmatchcase(n, pattern.strip())}
        if not own:
            known = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise InputError(f"no parameter is called {shown(pattern.strip())}; there are {known}")
        chosen |= own
    return [name for name in names if name in chosen]


def _named(found: Read, patterns: str) -> Subset:
    from algebra.questions.capacity import Subset

    return Subset(patterns, tuple(matching(found, patterns)))


def matrices(found: Read) -> list[str]:
    """The parameters that are matrices, to which low-rank updates apply."""
    return [name for name in found.parameters if "matrix" in found.roles[name]]


def _low_rank(found: Read, rank: int, patterns: str) -> Subset:
    from algebra.questions.capacity import Subset, matrix_shape

    names = matching(found, patterns, matrices(found))
    shapes = {name: matrix_shape(found.parameters[name]) for name in names}
    whole = tuple(name for name in names if rank >= min(shapes[name]))
    low = {name: rank for name in names if name not in whole}
    where = "" if patterns == "*" else f" on {patterns}"
    return Subset(f"LoRA {rank}{where}", whole, low)


def default_subsets(found: Read) -> list[Subset]:
    """What requires a gradient; biases; norms; the last layer; each layer; low ranks; all."""
    from algebra.questions.capacity import Subset
    from algebra.questions.capacity.reasons import last_layer

    names = list(found.parameters)
    out = []
    learning = tuple(name for name in names if name in (found.trainable or ()))
    if 0 < len(learning) < len(names):
        out.append(Subset("what requires a gradient", learning))
    for role in ("bias", "norm"):
        own = tuple(name for name in names if role in found.roles[name].split())
        if own:
            out.append(Subset({"bias": "biases", "norm": "norms"}[role], own))
    layers: dict[str, list[str]] = {}
    for name in names:
        layers.setdefault(name.rpartition(".")[0] or name, []).append(name)
    products = matrices(found)
    if products:
        head = [name for name in last_layer(found.program, products) if name in names]
        out += [Subset("last layer", tuple(head))] if head else []
    if 1 < len(layers) <= _MOST_LAYERS:
        out += [Subset(layer, tuple(own)) for layer, own in layers.items()]
    if products:
        out += [_low_rank(found, rank, "*") for rank in LORA]
    kept: dict[tuple[tuple[str, ...], tuple[tuple[str, int], ...]], Subset] = {}
    for subset in [*out, Subset("all", tuple(names))]:
        kept.setdefault((subset.weights, tuple((subset.low_rank or {}).items())), subset)
    return list(kept.values())
