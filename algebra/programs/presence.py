"""Which entries of values can be other than 0, and which of them depend on chosen weights.

Both follow from the operations alone, as sets: an entry of a sum is there if an entry of a term is,
a product if all its factors are; a difference of terms that are there counts as there.  An entry
that is not there is 0 for all weights and samples; one that does not move is the same for all
values of the chosen weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program


@dataclass(frozen=True, eq=False)
class Presence:
    """What is known of the entries of a value, for every sample.

    Attributes
    ----------
    there : ndarray of bool
        The entries that are not 0 for all weights and samples.
    moves : ndarray of bool
        Those of them that may depend on the chosen weights.
    """

    there: np.ndarray
    moves: np.ndarray


class PresenceArithmetic:
    """The entries that are there and that move, operation by operation.

    Parameters
    ----------
    vanishes : callable
        Whether the function of a node is 0 at 0.
    """

    def __init__(self, vanishes: Callable[[Node], bool]) -> None:
        self.vanishes = vanishes

    def constant(self, table: np.ndarray, denominator: int) -> Presence:
        return Presence(table != 0, np.zeros(table.shape, bool))

    def add(self, node: Node, *terms: Presence) -> Presence:
        return Presence(
            np.logical_or.reduce([term.there for term in terms]),
            np.logical_or.reduce([term.moves for term in terms]),
        )

    def multiply(self, node: Node, a: Presence, b: Presence) -> Presence:
        there = a.there & b.there
        return Presence(there, there & (a.moves | b.moves))

    def scale(self, node: Node, a: Presence, factor: Fraction) -> Presence:
        return a if factor else Presence(np.zeros_like(a.there), np.zeros_like(a.moves))

    def contract(self, node: Node, letters: str, *factors: Presence) -> Presence:
        all_terms, still = (
            np.einsum(letters, *(values.astype(np.int64) for values in parts))
            for parts in (
                [factor.there for factor in factors],
                [factor.there & ~factor.moves for factor in factors],
            )
        )
        return Presence(all_terms != 0, all_terms != still)

    def index(self, node: Node, where: np.ndarray, *parts: Presence) -> Presence:
        def gathered(arrays: list[np.ndarray]) -> np.ndarray:
            flat = np.concatenate([*(array.ravel() for array in arrays), [False]])
            return np.asarray(flat[where])

        return Presence(gathered([p.there for p in parts]), gathered([p.moves for p in parts]))

    def power(self, node: Node, a: Presence, exponent: int) -> Presence:
        return a if exponent else Presence(np.ones_like(a.there), np.zeros_like(a.moves))

    def invert(self, node: Node, a: Presence) -> Presence:
        return Presence(np.ones_like(a.there), a.moves)

    def root(self, node: Node, a: Presence) -> Presence:
        return a

    def apply(self, node: Node, name: str, a: Presence) -> Presence:
        return a if self.vanishes(node) else Presence(np.ones_like(a.there), a.moves)

    def choose(self, node: Node, sign: Presence, positive: Presence, other: Presence) -> Presence:
        there = positive.there | other.there
        return Presence(there, there & (sign.moves | positive.moves | other.moves))


def presence(
    program: Program,
    exists: Mapping[str, np.ndarray],
    learns: Mapping[str, np.ndarray],
    vanishes: Callable[[Node], bool],
    wanted: Collection[int] | None = None,
) -> dict[int, Presence]:
    """The entries of some values that are there, and those that move.

    Parameters
    ----------
    program : Program
    exists : mapping of str to ndarray of bool
        The weights that are not structural zeros; all where a weight's name is missing.
    learns : mapping of str to ndarray of bool
        The chosen weights; none where a name is missing.
    vanishes : callable
        Whether the function that a node applies is 0 at 0.
    wanted : collection of int, optional
        Numbers of nodes; by default the labels.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, x = build.weight("U", (2, 2)), build.sample("X", (2,))
    >>> labels = build.apply("tanh", build.contract("ij,j->i", U, x))
    >>> exists = {"U": np.array([[True, False], [False, False]])}
    >>> found = presence(build.program(labels), exists, exists, lambda node: True)
    >>> found[labels.number]
    Presence(there=array([ True, False]), moves=array([ True, False]))
    """
    blocks = {}
    for block in program.blocks:
        there = exists.get(block.name, np.ones(block.shape, bool))
        moves = learns.get(block.name, np.zeros(block.shape, bool))
        blocks[block.name] = Presence(there, there & moves)
    return evaluate(program, PresenceArithmetic(vanishes), blocks, wanted)
