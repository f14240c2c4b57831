"""Which entries of values can be other than 0, and which of them depend on chosen weights.

Both follow from the operations alone, as sets: an entry of a sum is there if an entry of a term is,
a product if all its factors are; a difference of terms that are there counts as there.  An entry
that is not there is 0 for all weights and samples; one that does not move is the same for all
values of the chosen weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from algebra.linalg.sparse import SparseMatrix
from algebra.linalg.sparse_blocks import SparseBlock, sparse_contraction
from algebra.programs.arrays import Signs
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program


@dataclass(frozen=True, eq=False)
class Presence:
    """What is known of the entries of a value, for every sample.

    Attributes
    ----------
    there : ndarray of bool
        The entries that are not 0 for all weights and samples; of a large weight a `SparseBlock`.
    moves : ndarray of bool, or SparseBlock
        Those of them that may depend on the chosen weights.
    """

    there: Any
    moves: Any

    @property
    def still(self) -> Any:
        """The entries that are there and do not move."""
        if isinstance(self.there, SparseBlock):
            there = self.there.matrix
            return SparseBlock(there.with_values(there.values & ~self.moves.matrix.values))
        return self.there & ~self.moves


def _counts(letters: str, parts: Sequence[Any]) -> np.ndarray:
    """The number of terms of each entry of a sum of products."""
    groups, _, result = letters.partition("->")
    if any(isinstance(part, SparseBlock) for part in parts):
        factors = list(zip(groups.split(","), parts, strict=True))
        return np.asarray(sparse_contraction(factors, result, _product))
    letters = groups.replace(",", "...,") + f"...->{result}..."
    return np.asarray(np.einsum(letters, *(part.astype(np.int64) for part in parts)))


def _product(matrix: SparseMatrix, b: np.ndarray) -> np.ndarray:
    return matrix.with_values(matrix.values.astype(np.int64)).times(b.astype(np.int64))


class PresenceArithmetic:
    """The entries that are there and that move, operation by operation.

    Parameters
    ----------
    vanishes : callable
        Whether the function of a node is 0 at 0.
    signs : callable, optional
        The activation pattern, if it is known.
    """

    def __init__(self, vanishes: Callable[[Node], bool], signs: Signs | None = None) -> None:
        self.vanishes, self.signs = vanishes, signs

    def constant(self, table: np.ndarray, denominator: int) -> Presence:
        there = (table != 0)[..., None]
        return Presence(there, np.zeros_like(there))

    def add(self, node: Node, *terms: Presence) -> Presence:
        return Presence(
            reduce(np.logical_or, [term.there for term in terms]),
            reduce(np.logical_or, [term.moves for term in terms]),
        )

    def multiply(self, node: Node, a: Presence, b: Presence) -> Presence:
        there = a.there & b.there
        return Presence(there, there & (a.moves | b.moves))

    def scale(self, node: Node, a: Presence, factor: Fraction) -> Presence:
        return a if factor else Presence(np.zeros_like(a.there), np.zeros_like(a.moves))

    def contract(self, node: Node, letters: str, *factors: Presence) -> Presence:
        all_terms, still = (
            _counts(letters, parts)
            for parts in (
                [factor.there for factor in factors],
                [factor.still for factor in factors],
            )
        )
        return Presence(all_terms != 0, all_terms != still)

    def index(self, node: Node, where: np.ndarray, *parts: Presence) -> Presence:
        def gathered(arrays: list[np.ndarray]) -> np.ndarray:
            batch = max(array.shape[-1] for array in arrays)
            wide = [np.broadcast_to(array, (*array.shape[:-1], batch)) for array in arrays]
            flat = [*(array.reshape(-1, batch) for array in wide), np.zeros((1, batch), bool)]
            return np.asarray(np.concatenate(flat)[where])

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
        if self.signs is not None:
            own = self.signs(node, sign.there)
            return Presence(
                np.where(own, positive.there, other.there),
                np.where(own, positive.moves, other.moves),
            )
        there = positive.there | other.there
        return Presence(there, there & (sign.moves | positive.moves | other.moves))


def presence(
    program: Program,
    exists: Mapping[str, np.ndarray],
    learns: Mapping[str, np.ndarray],
    vanishes: Callable[[Node], bool],
    wanted: Collection[int] | None = None,
    signs: Signs | None = None,
) -> dict[int, Presence]:
    """The entries of some values that are there, and those that move.

    Parameters
    ----------
    program : Program
    exists : mapping of str to ndarray of bool
        The weights that are not structural zeros; all where a weight's name is missing; a
        `SparseMatrix` of weights none of which is chosen.  Of samples
        the entries that are not 0, perhaps of several ones, with the batch axis last.
    learns : mapping of str to ndarray of bool
        The chosen weights; none where a name is missing.
    vanishes : callable
        Whether the function that a node applies is 0 at 0.
    wanted : collection of int, optional
        Numbers of nodes; by default the labels.
    signs : callable, optional
        The activation pattern, if it is known.

    Returns
    -------
    dict of int to Presence
        With a batch axis if there are several samples.

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
        there = exists.get(block.name)
        if isinstance(there, SparseMatrix):
            assert block.name not in learns
            none = there.with_values(np.zeros(len(there.values), bool))
            there = there.with_values(there.values != 0)
            blocks[block.name] = Presence(SparseBlock(there), SparseBlock(none))
            continue
        there = np.ones(block.shape, bool) if there is None else there
        moves = learns.get(block.name, np.zeros(block.shape, bool))
        there, moves = (v if v.ndim > len(block.shape) else v[..., None] for v in (there, moves))
        blocks[block.name] = Presence(there, there & moves)
    found = evaluate(program, PresenceArithmetic(vanishes, signs), blocks, wanted)
    return {
        k: Presence(own.there[..., 0], own.moves[..., 0]) if own.there.shape[-1] == 1 else own
        for k, own in found.items()
    }
