"""Subsets of a model's parameters: names, patterns, roles, low-rank updates, and the default ones.

A subset is text (names, patterns and roles, separated by commas), a list of such texts, or a
mapping of a subset's name to its patterns.  Roles are those of `algebra.plugins.models.roles`; a
parameter or a pattern that matches comes first.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.plugins.models.roles import LEARNING, ROLES, of_role

if TYPE_CHECKING:
    from algebra.plugins.models.capacity import Subset
    from algebra.plugins.models.onnx import Read

Patterns = str | Sequence[str]
LORA = (1, 2, 4, 8)
# Largest number of layers with which each layer is one of the default subsets.
_MOST_LAYERS = 12


def listed(patterns: Patterns) -> list[str]:
    """Names and patterns, one by one."""
    texts = [patterns] if isinstance(patterns, str) else list(patterns)
    return [part.strip() for text in texts for part in str(text).split(",") if part.strip()]


def matched(found: Read, pattern: str, among: Sequence[str] | None = None) -> list[str]:
    """The parameters that match a name, a pattern, or a role."""
    names = list(found.parameters) if among is None else list(among)
    own = named(names, pattern)
    return own or [name for name in of_role(found, pattern) if name in names]


def named(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match one, or a pattern."""
    return [n for n in names if n == pattern or fnmatch.fnmatchcase(n, pattern)]


def checked(found: Read, pattern: str) -> list[str]:
    """As `matched`, with the parameters that no gradient reaches."""
    if pattern == LEARNING:
        also = [name for name in found.absent if name in (found.trainable or ())]
    else:
        also = named(found.absent, "*" if pattern == "all" else pattern)
    return list(dict.fromkeys([*matched(found, pattern), *also]))


def matching(found: Read, patterns: Patterns, among: Sequence[str] | None = None) -> list[str]:
    """The parameters that match names, patterns or roles, in the model's order.

    Raises
    ------
    InputError
        If one of them matches no parameter.
    """
    names = list(found.parameters) if among is None else list(among)
    chosen: set[str] = set()
    for pattern in listed(patterns):
        own = matched(found, pattern, among)
        if not own and among is not None and matched(found, pattern):
            raise InputError(
                f"`on` ({shown(pattern)}) names no matrix, to which updates of low rank apply"
            )
        still = named(found.absent, pattern)
        if not own and still:
            from algebra.plugins.models.capacity.effects import no_gradient

            raise InputError(
                f"{shown(pattern)} gets no gradient and does not learn: "
                f"{no_gradient(still[0], found.stopped)}"
                + (f" ({one_line(still[0])}, for example)" if still != [pattern] else "")
            )
        if not own:
            raise _unmatched(pattern, names)
        chosen.update(own)
    if not chosen:
        raise InputError(f"`learn` ({shown(patterns)}) names no parameter")
    return [name for name in names if name in chosen]


def _unmatched(pattern: str, names: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(pattern.strip("*"), names, 3, 0.4)
    known = ", ".join(map(one_line, near or names[:20]))
    more = ", …" if near or len(names) > 20 else ""
    return InputError(
        f"no parameter is called {shown(pattern)}; there are {known}{more}; and the roles "
        f"{', '.join(ROLES)}"
    )


def named_subsets(found: Read, learn: Patterns | Mapping[str, Patterns]) -> list[Subset]:
    """The subsets of `learn`: one for each text, or for each entry of a mapping."""
    from algebra.plugins.models.capacity import Subset

    if isinstance(learn, Mapping):
        return [Subset(str(name), tuple(matching(found, own))) for name, own in learn.items()]
    if not isinstance(learn, Iterable):
        raise InputError(
            f"`learn` ({shown(learn)}) must be a text of names, patterns and roles, several of "
            "them, or a mapping that names each"
        )
    texts = [learn] if isinstance(learn, str) else list(learn)
    return [
        Subset(text if isinstance(text, str) else ",".join(text), tuple(matching(found, text)))
        for text in texts
    ]


def low_rank_subsets(
    found: Read, lora: int | Sequence[int], on: Patterns | Sequence[Patterns]
) -> list[Subset]:
    """Updates of each rank of each set of matrices."""
    ranks = list(lora) if isinstance(lora, Sequence) and not isinstance(lora, str) else [lora]
    sets: Sequence[Patterns] = ([on] if isinstance(on, str) else on) or ["*"]
    return [
        low_rank(found, whole_number(rank, "lora", 1), patterns)
        for rank in ranks
        for patterns in sets
    ]


def matrices(found: Read) -> list[str]:
    """The parameters that are matrices, to which low-rank updates apply."""
    return of_role(found, "matrices")


def low_rank(
    found: Read, rank: int, patterns: Patterns, among: Sequence[str] | None = None
) -> Subset:
    """Matrices that learn by updates of one rank; as a whole where that is not smaller."""
    from algebra.plugins.models.capacity import Subset
    from algebra.programs.program import matrix_shape

    names = matching(found, patterns, matrices(found) if among is None else among)
    shapes = {name: matrix_shape(found.parameters[name]) for name in names}
    whole = tuple(name for name in names if rank >= min(shapes[name]))
    low = {name: rank for name in names if name not in whole}
    text = patterns if isinstance(patterns, str) else ",".join(patterns)
    return Subset(f"LoRA {rank}" + ("" if text == "*" else f" on {text}"), whole, low)


def default_subsets(found: Read) -> list[Subset]:
    """What requires a gradient; biases; norms; the last layer; each layer; low ranks; all.

    If only a part requires a gradient, it may hold the factors of updates (of PEFT): low-rank
    updates are then those of the other matrices.
    """
    from algebra.plugins.models.capacity import Subset

    names = list(found.parameters)
    out = []
    learning = tuple(of_role(found, LEARNING))
    is_part = 0 < len(learning) < len(names)
    if is_part:
        out.append(Subset(LEARNING, learning))
    for role in ("biases", "norms", "last layer"):
        own = tuple(of_role(found, role))
        if own:
            out.append(Subset(role, own))
    layers: dict[str, list[str]] = {}
    for name in names:
        layers.setdefault(name.rpartition(".")[0] or name, []).append(name)
    if 1 < len(layers) <= _MOST_LAYERS:
        out += [Subset(layer, tuple(own)) for layer, own in layers.items()]
    products = [name for name in matrices(found) if not (is_part and name in learning)]
    if products:
        out += [low_rank(found, rank, "*", products) for rank in LORA]
    kept: dict[tuple[tuple[str, ...], tuple[tuple[str, int], ...]], Subset] = {}
    for subset in [*out, Subset("all", tuple(names))]:
        kept.setdefault((subset.weights, tuple((subset.low_rank or {}).items())), subset)
    return list(kept.values())
