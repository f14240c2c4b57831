"""Samples of whole numbers: tokens that choose rows of a table, and truth values.

There are finitely many such samples, so none is generic.  They are *different* and random here, in
one order that depends only on a number: the first m of it are the m samples of every point, modulo
every prime and for every subset of parameters, and those at which signs are determined.  Ranks of
different subsets are comparable then, and an activation pattern is never combined with other
samples than its own.  If there are no more than m samples, all are among the first m.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import prod

import numpy as np

from algebra.programs.program import Program


@dataclass(frozen=True)
class TokenSizes(Mapping[str, int]):
    """The lengths of the one-hot rows of inputs, some of whose numbers no sample contains.

    Attributes
    ----------
    sizes : mapping of str to int
    excluded : mapping of str to frozenset of int
        Numbers that no sample contains (of padding), by the inputs' names.
    """

    sizes: Mapping[str, int]
    excluded: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        return self.sizes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)


def token_numbers(tokens: Mapping[str, int], name: str) -> range | list[int]:
    """The numbers that samples of an input may contain.

    Examples
    --------
    >>> token_numbers(TokenSizes({"x": 4}, {"x": frozenset({1})}), "x")
    [0, 2, 3]
    """
    every = range(tokens[name])
    lost = tokens.excluded.get(name) if isinstance(tokens, TokenSizes) else None
    return [k for k in every if k not in lost] if lost else every


def choosing_inputs(program: Program, tokens: Mapping[str, int]) -> dict[str, int]:
    """The inputs of tokens on which the labels depend, with the lengths of their one-hot rows."""
    used = _used(program)
    return {name: size for name, size in tokens.items() if name in used}


def number_of_choices(program: Program, tokens: Mapping[str, int]) -> int:
    """The number of different choices of all tokens of one sample.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> rows = build.contract("ti,ij->tj", build.sample("x", (2, 5)), build.weight("E", (5, 3)))
    >>> number_of_choices(build.program(rows), {"x": 5})
    25
    """
    shapes = program.samples
    sizes = choosing_inputs(program, tokens)
    return prod(len(token_numbers(tokens, name)) ** prod(shapes[name][:-1]) for name in sizes)


def number_of_samples(program: Program, tokens: Mapping[str, int]) -> int | None:
    """The number of different samples; None if some inputs are no tokens."""
    if _used(program) - set(tokens):
        return None
    return number_of_choices(program, tokens)


def token_samples(
    program: Program, tokens: Mapping[str, int], m: int, number: int = 0
) -> dict[str, np.ndarray]:
    """One-hot rows of the first m samples of a random order, with the batch axis last.

    Parameters
    ----------
    program : Program
    tokens : mapping of str to int
        The lengths of the rows; perhaps `TokenSizes`.
    m : int
        If there are fewer different samples, they are repeated in their order.
    number : int, optional
        It determines the order.
    """
    shapes = {name: program.samples[name] for name in tokens if name in program.samples}
    sizes = choosing_inputs(program, tokens)
    lengths = {name: prod(shapes[name][:-1]) for name in shapes}
    numbers = {name: token_numbers(tokens, name) for name in sizes}
    rng, most = random.Random(f"tokens/{number}"), min(m, number_of_choices(program, tokens))
    order: dict[tuple[int, ...], None] = {}
    while len(order) < most:
        drawn = [
            numbers[name][rng.randrange(len(numbers[name]))]
            for name in sizes
            for _ in range(lengths[name])
        ]
        order.setdefault(tuple(drawn))
    chosen = np.array(list(order), np.int64).reshape(len(order), -1)
    chosen = chosen[np.arange(m) % max(1, most)].T
    out, start = {}, count()
    for name, shape in shapes.items():
        if name in sizes:
            own = chosen[[next(start) for _ in range(lengths[name])]]
        else:
            own = np.zeros((lengths[name], m), np.int64)
        out[name] = one_hot(own.reshape(*shape[:-1], m), tokens[name])
    return out


def one_hot(chosen: np.ndarray, size: int) -> np.ndarray:
    """One-hot rows in the axis before the last, that of the samples."""
    out = np.zeros((*chosen.shape[:-1], size, chosen.shape[-1]), np.int64)
    np.put_along_axis(out, chosen[..., None, :], 1, axis=-2)
    return out


def _used(program: Program) -> set[str]:
    """The inputs on which the labels depend."""
    nodes = (program.nodes[k] for k in program.needed([program.output]))
    return {node.name for node in nodes if node.op == "block" and node.name in program.samples}
