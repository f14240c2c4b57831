"""Programs in ball arithmetic: values and derivatives at a rational point, enclosed.

Entries are python-flint's ``arb``, with the precision of the context (``flint.ctx.prec``).  A value
that does not exist (1/0, the root of a ball that contains negative numbers) is a ball without
bounds, from which nothing follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from algebra.errors import Unfinished
from algebra.linalg.sparse import SparseMatrix
from algebra.programs.arrays import Array, EntryArithmetic, Function
from algebra.programs.program import Node, Program


class SignUnknown(Unfinished):
    """The program chooses by the sign of a ball that contains 0."""


def _mapped(function: Callable[[Any], Any], a: Array) -> Array:
    return np.asarray(np.frompyfunc(function, 1, 1)(a), dtype=object)


def as_balls(array: Any) -> Any:
    """The entries as balls: exact rationals and doubles, rounded to the precision."""
    if isinstance(array, SparseMatrix):
        return array.with_values(as_balls(array.values))
    return _mapped(arb, np.asarray(array, dtype=object))


def ball_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of matrices by python-flint, much faster than entry by entry."""
    left, right = (arb_mat(x.shape[0], x.shape[1], x.ravel().tolist()) for x in (a, b))
    out = np.empty(a.shape[0] * b.shape[1], dtype=object)
    out[:] = (left * right).entries()
    return out.reshape(a.shape[0], b.shape[1])


@dataclass(frozen=True)
class BallFunction:
    """A function of one variable and its derivative, on balls."""

    value: Callable[[arb], arb]
    slope: Callable[[arb], arb]

    def values(self, a: Array) -> Array:
        """Entrywise."""
        return _mapped(self.value, a)

    def slopes(self, a: Array, z: Array) -> Array:
        """Entrywise."""
        return _mapped(self.slope, a)


def _sigmoid(a: arb) -> arb:
    return 1 / (1 + (-a).exp())


FUNCTIONS = {
    "exp": BallFunction(arb.exp, arb.exp),
    "tanh": BallFunction(arb.tanh, lambda a: 1 - a.tanh() ** 2),
    "sigmoid": BallFunction(_sigmoid, lambda a: _sigmoid(a) * _sigmoid(-a)),
    "softplus": BallFunction(lambda a: (1 + a.exp()).log(), _sigmoid),
    "sin": BallFunction(arb.sin, arb.cos),
    "cos": BallFunction(arb.cos, lambda a: -a.sin()),
    "log": BallFunction(arb.log, lambda a: 1 / a),
    "erf": BallFunction(arb.erf, lambda a: 2 * (-a * a).exp() / arb.pi().sqrt()),
}


class BallArithmetic(EntryArithmetic):
    """Balls.

    Parameters
    ----------
    program : Program
        The nodes of the pattern are numbered as in it.
    function : callable, optional
        Maps nodes to the functions that are not in `FUNCTIONS`.

    Attributes
    ----------
    pattern : dict of int to ndarray of bool
        For the number of each node that chooses: the mask of positive entries.
    zeros : dict of int to ndarray of bool
        The entries that are exactly 0.
    """

    def __init__(
        self,
        program: Program,
        function: Callable[[Node], Function] = lambda node: FUNCTIONS[node.name],
    ) -> None:
        super().__init__(
            lambda node: FUNCTIONS.get(node.name) or function(node),
            ball_product,
            lambda numerator, denominator: arb(fmpq(numerator, denominator)),
            lambda node, a: self.pattern[self._numbers[id(node)]],
        )
        self._numbers = {id(node): k for k, node in enumerate(program.nodes)}
        self.pattern: dict[int, np.ndarray] = {}
        self.zeros: dict[int, np.ndarray] = {}

    def reciprocals_of_roots(self, a: Array) -> Array:
        """Entrywise 1/√x."""
        return _mapped(lambda v: 1 / v.sqrt(), a)

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        above = _mapped(lambda v: bool(v > 0), sign).astype(bool)
        below = _mapped(lambda v: bool(v <= 0), sign).astype(bool)
        # If both alternatives are the same, as where padding repeats an entry, either one is taken.
        same = np.frompyfunc(lambda x, y: x is y, 2, 1)(positive, other).astype(bool)
        if not (above | below | same).all():
            raise SignUnknown(f"the sign of {node.label or 'a value'} is not known at this point")
        self.pattern[self._numbers[id(node)]] = above
        self.zeros[self._numbers[id(node)]] = _mapped(lambda v: bool(v == 0), sign).astype(bool)
        return np.where(above, positive, other)
