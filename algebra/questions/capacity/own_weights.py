r"""Ranks at a model's own weights: a regular minor in ball arithmetic.

At given weights formal values (`algebra.programs.formal`) are numbers that are equal, opposite or 0
where their arguments are, and otherwise arbitrary.  The functions' own values are a special case,
so the formal rank on an activation pattern is an *upper bound* of the rank of the Jacobian at these
weights.  It need not be attained: tanh u and tanh 2u are related by an equation, √u and √4u are
proportional, and formal values are not.

A minor of as many rows that balls prove regular at these weights, at the samples of the pattern,
shows that it is attained.  Its rows and columns are those that elimination finds independent modulo
a prime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flint import arb_mat

from algebra.errors import Unfinished
from algebra.linalg.modular import modular_echelon
from algebra.programs.arrays import Array, placed
from algebra.programs.balls import BallArithmetic, as_balls
from algebra.programs.generic import Columns, Model, random_program_point, work_of_sample
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Node, Program
from algebra.questions.capacity.reasons import cells_of
from algebra.questions.capacity.result import Subset
from algebra.ranks.minors import in_precisions, is_invertible

# Largest number of rows of the minor, and of multiplications of balls: some seconds.
_LARGEST = 128
_MOST_WORK = 200_000
# Bits of the balls.
_PRECISIONS = (128, 512, 2048)


class _OnPattern(BallArithmetic):
    """Balls, with the labels as they are on a piece."""

    def __init__(self, program: Program, signs: Mapping[int, np.ndarray]) -> None:
        super().__init__(program)
        self.pattern.update(signs)

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        return np.where(self.pattern[self._numbers[id(node)]], positive, other)


def is_attained(model: Model, subset: Subset, m: int, rank: int, seed: int) -> bool:
    """Whether the formal rank at given weights is shown to be that of the functions' own values.

    Parameters
    ----------
    model : Model
        With values for all weights.
    subset : Subset
        Without low-rank updates; otherwise False.
    m, rank : int
        The rank was found with so many samples.
    seed : int
    """
    if not rank:
        return True
    names = frozenset(subset.names)
    work = m * work_of_sample(model.program, names, with_signs=False)
    if subset.low_rank or rank > _LARGEST or work > _MOST_WORK:
        return False
    try:
        return _has_regular_minor(model, subset, m, rank, seed)
    except Unfinished:
        return False


def _has_regular_minor(model: Model, subset: Subset, m: int, rank: int, seed: int) -> bool:
    program = model.program
    point = random_program_point(model, m, f"capacity/{seed}/own")
    cells = [cell for name in subset.weights for cell in cells_of(model, name)]
    J = Columns(model, point, m, subset.names).of(cells)
    columns = list(map(int, modular_echelon(J.copy(), point.p)[1][:rank]))
    rows = modular_echelon(J[:, columns].T.copy(), point.p)[1][:rank]
    drawn: Callable[[int], Mapping[str, Any]] = getattr(model.patterns, "samples", lambda _: {})
    samples = model.inputs or drawn(m)
    if len(rows) < rank or not samples:
        return False
    d = model.outputs
    # Labels k of a sample c stand in row k·m + c.
    places = [(row % d) * m + row // d for row in map(int, rows)]
    for _ in in_precisions(_PRECISIONS):
        arithmetic = _OnPattern(program, model.signs(m))
        weights = {
            name: _balls(arithmetic, model.values[name]).reshape(shape)
            for name, shape in program.weights.items()
        }
        inputs = {name: _balls(arithmetic, own)[..., :m] for name, own in samples.items()}
        blocks = placed(program, weights, inputs)
        found = program_jacobian(program, arithmetic, blocks, [cells[k] for k in columns])
        if is_invertible(arb_mat(rank, rank, found[places].ravel().tolist())):
            return True
    return False


def _balls(arithmetic: BallArithmetic, table: Any) -> Array:
    """Integers over a denominator, or doubles, as balls."""
    return arithmetic.constant(*table)[..., 0] if isinstance(table, tuple) else as_balls(table)
