"""How many samples a set of parameters can fit: the verb capacity."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from algebra.errors import InputError, shown, whole_number
from algebra.programs.capacity import Capacity, Subset, capacities, matrix_shape
from algebra.programs.generic import Model
from algebra.programs.onnx import Read, read_onnx
from algebra.time_limits import limited, positive_seconds
from numeric.programs.patterns import drawn_patterns

LORA = (1, 2, 4, 8)
# Layers beyond so many are not asked one by one.
_MOST_LAYERS = 12


def capacity(
    model: str | Path | Read,
    learn: Sequence[str] = (),
    *,
    lora: Sequence[int] = (),
    on: Sequence[str] = (),
    m: int | None = None,
    needed: int | None = None,
    sizes: Mapping[str, int] | None = None,
    constants: Sequence[str] = (),
    output: str = "",
    seed: int = 0,
    timeout: float = math.inf,
) -> Capacity:
    """How many samples each subset of a model's parameters can fit.

    Parameters
    ----------
    model : str, Path or Read
        An ONNX file, or what `matchprob.from_torch` reads of a module.
    learn : sequence of str, optional
        One subset each: names of parameters or patterns such as ``"*.bias"``, several of them
        separated by commas.  By default, if there is no `lora` either: what requires a gradient in
        a module, all biases, all norms, the last layer, each layer, updates of rank 1, 2, 4 and 8
        of all matrices, everything.
    lora : sequence of int, optional
        Ranks of low-rank updates.
    on : sequence of str, optional
        Matrices that learn by these, as in `learn`; all by default.
    m : int, optional
        Samples at which ranks are found; by default as many as make them no longer grow.
    needed : int, optional
        Samples that are to be fitted: `Capacity.cheapest` is the smallest subset that does.
    sizes : mapping of str to int, optional
        Numbers for sizes of inputs that the file gives a name only.
    constants : sequence of str, optional
        Tensors of the file that are numbers and no parameters (names or patterns).
    output : str, optional
        The output that is the labels; the first by default.
    seed : int, optional
        Random points follow from it.
    timeout : float, optional
        Seconds for the whole call.

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
    with limited(positive_seconds(timeout, "timeout")):
        found = model
        if not isinstance(found, Read):
            if Path(found).suffix == ".toml":
                raise InputError(
                    f"{found}: capacity is asked about the parameters of an ONNX file; of problem "
                    "files `certify` says what they match, `dimension` what their networks can be"
                )
            found = read_onnx(found, sizes=sizes, constants=constants, output=output)
        subsets = [_named(found, pattern) for pattern in learn]
        for rank in lora:
            whole_number(rank, "lora", 1)
            subsets += [_low_rank(found, rank, pattern) for pattern in (on or ["*"])]
        if on and not lora:
            raise InputError("`on` names matrices that learn by `lora`, but no rank is given")
        return capacities(
            Model(
                found.program,
                found.tokens,
                patterns=drawn_patterns(found.program, tokens=found.tokens, seed=seed),
            ),
            subsets or default_subsets(found),
            name=str(model) if not isinstance(model, Read) else "",
            learnable=list(found.parameters),
            m=None if m is None else whole_number(m, "m", 1),
            needed=None if needed is None else whole_number(needed, "needed", 1),
            seed=whole_number(seed, "seed", 0),
        )


def matching(found: Read, patterns: str, among: Sequence[str] | None = None) -> list[str]:
    """The parameters that names or patterns, separated by commas, are about.

    Raises
    ------
    InputError
        Where one of them is about none.
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
    return Subset(patterns, tuple(matching(found, patterns)))


def matrices(found: Read) -> list[str]:
    """The parameters that multiply: those that low-rank updates are for."""
    return [name for name in found.parameters if "matrix" in found.roles[name]]


def _low_rank(found: Read, rank: int, patterns: str) -> Subset:
    names = matching(found, patterns, matrices(found))
    shapes = {name: matrix_shape(found.parameters[name]) for name in names}
    whole = tuple(name for name in names if rank >= min(shapes[name]))
    low = {name: rank for name in names if name not in whole}
    where = "" if patterns == "*" else f" on {patterns}"
    return Subset(f"LoRA {rank}{where}", whole, low)


def default_subsets(found: Read) -> list[Subset]:
    """What requires a gradient, biases, norms, the last and each layer, low ranks, everything."""
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
        last = names.index(products[-1])
        head = {products[-1], *names[last:]}
        out.append(Subset("last layer", tuple(name for name in names if name in head)))
    if 1 < len(layers) <= _MOST_LAYERS:
        out += [Subset(layer, tuple(own)) for layer, own in layers.items()]
    if products:
        out += [_low_rank(found, rank, "*") for rank in LORA]
    kept: dict[tuple[tuple[str, ...], tuple[tuple[str, int], ...]], Subset] = {}
    for subset in [*out, Subset("all", tuple(names))]:
        kept.setdefault((subset.weights, tuple((subset.low_rank or {}).items())), subset)
    return list(kept.values())
