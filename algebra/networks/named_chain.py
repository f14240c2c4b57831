r"""Chains of matrix products in programs: linear networks that come from a file or from a trace.

The labels of one sample are a sum of words, each a product of matrices times some of the sample's
entries.  A program is a chain (`algebra.networks.chain`) if there is one word of distinct matrices
on all entries,

.. math:: W_L ⋯ W_1 x,

or the words ``D W^k B``, k = 1 … T, of three matrices, on the entries of step T − k + 1 each.  It
has the same map, weight by weight, as the chain with the same matrices, so everything that is known
of one holds for the other.  Words are found by one pass over the program: a value is a product of
matrices, or a sum of words; operations other than products, sums and a choice of entries end it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from algebra.networks.chain import ChainNetwork
from algebra.networks.chain_layout import ChainLayout
from algebra.programs.program import Node, Program

# A product of matrices by their names, the last to act first; the entries of the sample it acts on.
_Words = dict[tuple[str, ...], tuple[int, ...]]
# The longest word, and the largest number of words.
_MOST = 1_000


@dataclass(frozen=True)
class NamedChain(ChainNetwork):
    """A chain of matrix products whose matrices have any names.

    Parameters
    ----------
    layout : ChainLayout
    matrices : tuple of (str, (int, int))
        Name and shape of each matrix.
    m : int
        Samples.

    Examples
    --------
    >>> net = NamedChain(ChainLayout(None, ("a",), "b", "last"), (("b", (1, 3)), ("a", (3, 2))), 4)
    >>> net.d, net.input_shape
    (1, (2, 4))
    """

    title: ClassVar[str] = "linear"

    layout: ChainLayout
    matrices: tuple[tuple[str, tuple[int, int]], ...]
    m: int

    def __post_init__(self) -> None:
        # Not a kind of problem files, which a class with a kind of its own would be.
        object.__setattr__(self, "kind", "program")
        super().__post_init__()

    @classmethod
    def choices(cls) -> frozenset[str]:
        return frozenset({"layout", "matrices"})

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, int]]:
        return dict(self.matrices)

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return dict(self._shapes)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of labels of one sample."""
        return self._shapes[self.layout.output][0]

    def chain(self) -> ChainLayout:
        return self.layout


def chain_of(program: Program, m: int) -> NamedChain | None:
    """The chain that a program computes; None if it computes none.

    Parameters
    ----------
    program : Program
    m : int
        Samples.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> a, b = build.weight("a", (3, 2)), build.weight("b", (1, 3))
    >>> x = build.contract("ij,j->i", a, build.sample("X", (2,)))
    >>> chain_of(build.program(build.contract("ij,j->i", b, x)), 4).layout.names
    ('b', 'a')
    """
    words = _words(program)
    size = sum(np.prod(shape, dtype=int) for shape in program.samples.values())
    layout = None if words is None else _layout(words, int(size))
    if layout is None or len(program.samples) != 1:
        return None
    shapes = program.weights
    matrices = tuple((name, (shapes[name][0], shapes[name][1])) for name in layout.names)
    return NamedChain(layout, matrices, m)


def _words(program: Program) -> _Words | None:
    """The labels as a sum of words."""
    values: dict[int, tuple[str, ...] | _Words] = {}
    for number in sorted(program.needed([program.output])):
        node = program.nodes[number]
        found = _value(node, [values[k] for k in node.inputs])
        if found is None or len(found) > _MOST:
            return None
        values[number] = found
    labels = values[program.output]
    return labels if isinstance(labels, dict) else None


def _value(node: Node, of: list[tuple[str, ...] | _Words]) -> tuple[str, ...] | _Words | None:
    """The value of a node: a product of matrices, or a sum of words."""
    if node.op == "block" and node.batched:
        return {(): tuple(range(node.size))} if len(node.shape) == 1 else None
    if node.op == "block":
        return (node.name,) if len(node.shape) == 2 else None
    sums = [own for own in of if isinstance(own, dict)]
    if node.op == "contract" and len(of) == 2:
        return _product(node.letters, of[0], of[1])
    if node.op == "add" and len(sums) == len(of):
        words = [word for own in sums for word in own]
        joined = {word: entries for own in sums for word, entries in own.items()}
        return joined if len(joined) == len(words) else None
    if node.op == "index" and len(node.shape) == len(of) == len(sums) == 1:
        places = node.where
        if list(sums[0]) == [()] and places is not None and (places >= 0).all():
            return {(): tuple(sums[0][()][k] for k in places.tolist())}
    return None


def _product(
    letters: str, left: tuple[str, ...] | _Words, right: tuple[str, ...] | _Words
) -> tuple[str, ...] | _Words | None:
    """A product of a matrix and a matrix, or of a matrix and a sum, in either order."""
    inputs, _, result = letters.partition("->")
    a, b = inputs.split(",")
    if isinstance(left, dict):
        a, b, left, right = b, a, right, left
    if isinstance(left, dict) or len(a) != 2:
        return None
    if isinstance(right, dict):
        fits = b == a[1] and result == a[0] != a[1]
        return {left + word: entries for word, entries in right.items()} if fits else None
    if a[0] == b[-1] != a[1]:
        a, b, left, right = b, a, right, left
    return left + right if a[1] == b[0] and result == a[0] + b[1] else None


def _layout(words: _Words, size: int) -> ChainLayout | None:
    """The layout of a chain with these words, on samples of this size."""
    every = tuple(range(size))
    longest = max(words, key=len)
    if len(words) == 1 and words[longest] == every:
        distinct = 0 < len(longest) == len(set(longest))
        return ChainLayout(None, longest[:0:-1], longest[0], "last") if distinct else None
    if len(longest) < 3:
        return None
    output, step, start, steps = longest[0], longest[1], longest[-1], len(longest) - 2
    b = size // steps
    expected = {
        (output, *(step,) * k, start): every[(steps - k) * b : (steps - k + 1) * b]
        for k in range(1, steps + 1)
    }
    if words != expected or len({output, step, start}) != 3 or b * steps != size:
        return None
    return ChainLayout(start, (step,) * steps, output, "all")
