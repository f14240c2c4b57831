r"""Ranks at a model's own weights: a regular minor in ball arithmetic.

At given weights formal values (`algebra.programs.formal`) are numbers that are equal, opposite or 0
where their arguments are, and otherwise arbitrary.  The functions' own values are a special case,
so the formal rank on an activation pattern is an *upper bound* of the rank of the Jacobian at these
weights.  It need not be attained: tanh u and tanh 2u are related by an equation, √u and √4u are
proportional, and formal values are not.

A minor of as many rows that balls prove regular at these weights, at the samples of the pattern,
shows that it is attained.  Its rows and columns are those that elimination finds independent modulo
a prime.  If some weights are generic, one such point of theirs is enough: the minor is not 0 near
it, and not at almost all others, as it is an analytic function.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb_mat

from algebra.errors import Unfinished
from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.short_primes import BITS as SHORT_BITS
from algebra.linalg.short_primes import unsigned
from algebra.plugins.models.capacity.result import Subset
from algebra.programs.arrays import Array, placed
from algebra.programs.balls import BallArithmetic, as_balls
from algebra.programs.generic import (
    Columns,
    Model,
    cells_of,
    random_program_point,
    work_of_sample,
)
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Node, Program, matrix_shape
from algebra.ranks.minors import in_precisions, is_invertible

# Largest number of rows of the minor, of multiplications of balls, and of cells: some seconds.
_LARGEST = 256
_MOST_WORK = 4_000_000
_MOST_CELLS = 2048
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
        With values for all weights, or without choices by signs: then the others, and updates, are
        drawn.
    subset : Subset
    m, rank : int
        The rank was found with so many samples.
    seed : int
    """
    if not rank:
        return True
    names = frozenset(subset.names)
    work = m * work_of_sample(model.program, names, with_signs=False)
    if rank > _LARGEST or work > _MOST_WORK or _cells(model, subset) > _MOST_CELLS:
        return False
    rng = random.Random(f"attained/{seed}")
    # At a model's own weights updates start: U is 0.
    factors = {
        name: tuple(
            _drawn(rng, (size, k), zero=is_first and model.is_given)
            for is_first, size in zip((True, False), matrix_shape(model.program.weights[name]),
                                      strict=True)
        )
        for name, k in (subset.low_rank or {}).items()
    }  # fmt: skip
    # Rows and columns are chosen at other weights: those that are independent at almost all.
    of = model
    if not model.is_given:
        if "choose" in model.functions:
            return False
        model = _completed(model, factors, rng)
        of = model if factors else of
    try:
        point = random_program_point(of, m, f"capacity/{seed}/short/0", bits=SHORT_BITS)
        mix = _combinations(model, subset, factors)
        chosen = _independent(Columns(of, point, m, subset.names), subset, mix, rank)
        return chosen is not None and _is_regular(model, subset, m, mix, *chosen, rng)
    except Unfinished:
        return False


def _cells(model: Model, subset: Subset) -> int:
    return sum(math.prod(model.program.weights[name]) for name in subset.names)


def _drawn(rng: random.Random, shape: Sequence[int], *, zero: bool = False) -> np.ndarray:
    """Integers, about normal, of a deviation of 64."""
    numbers = [0 if zero else round(rng.gauss(0, 64)) for _ in range(math.prod(shape))]
    return np.array(numbers, np.int64).reshape(tuple(shape))


def _completed(
    model: Model, factors: Mapping[str, tuple[np.ndarray, ...]], rng: random.Random
) -> Model:
    """The model with rational numbers for all weights, in place of drawn ones and updates."""
    values: dict[str, tuple[np.ndarray, int]] = {}
    for name, shape in model.program.weights.items():
        if name in model.values:
            table, below = model.values[name]
        else:
            table, below = _drawn(rng, shape), 64 * max(1, math.isqrt(math.prod(shape[1:])))
        if name in factors:
            U, V = factors[name]
            # U and V are integers over 64 each.
            product = (U.astype(object) @ V.T.astype(object)).reshape(table.shape)
            table, below = table.astype(object) * 4096 + product * below, 4096 * below
        if name in model.support:
            table = table * np.asarray(model.support[name]).reshape(table.shape)
        values[name] = table, below
    return replace(model, values=values, updates={}, free={})


def _independent(
    columns: Columns, subset: Subset, mix: np.ndarray, rank: int
) -> tuple[list[int], list[int]] | None:
    """So many rows of a Jacobian and columns, as combinations, that are independent at a point."""
    p = columns.p
    cells = [cell for name in subset.names for cell in cells_of(columns.model, name)]
    J = matmul(unsigned(columns.of(cells), p), mix % p, p)
    chosen = list(map(int, modular_echelon(J.copy(), p)[1][:rank]))
    rows = list(map(int, modular_echelon(J[:, chosen].T.copy(), p)[1][:rank]))
    return (rows, chosen) if len(rows) == rank else None


def _is_regular(
    model: Model,
    subset: Subset,
    m: int,
    mix: np.ndarray,
    rows: Sequence[int],
    columns: Sequence[int],
    rng: random.Random,
) -> bool:
    """Whether a minor of the Jacobian by a subset's parameters is regular at given weights."""
    program, d, rank = model.program, model.outputs, len(rows)
    cells = [cell for name in subset.names for cell in cells_of(model, name)]
    drawn: Callable[[int], Mapping[str, Any]] = getattr(model.patterns, "samples", lambda _: {})
    samples = model.inputs or drawn(m)
    if not samples and not model.tokens:
        samples = {name: (_drawn(rng, (*s, m)), 64) for name, s in program.samples.items()}
    if not samples:
        return False
    # Labels k of a sample c stand in row k·m + c.
    places = [(row % d) * m + row // d for row in rows]
    chosen = mix[:, columns]
    used = np.flatnonzero(chosen.any(axis=1))
    coefficients = arb_mat(len(used), rank, chosen[used].ravel().tolist())
    for _ in in_precisions(_PRECISIONS):
        arithmetic = _OnPattern(program, model.signs(m))
        weights = {
            name: _balls(arithmetic, model.values[name]).reshape(shape)
            for name, shape in program.weights.items()
        }
        inputs = {name: _balls(arithmetic, own)[..., :m] for name, own in samples.items()}
        blocks = placed(program, weights, inputs)
        found = program_jacobian(program, arithmetic, blocks, [cells[k] for k in used])
        matrix = arb_mat(rank, len(used), found[places].ravel().tolist())
        if is_invertible(matrix * coefficients):
            return True
    return False


def _combinations(
    model: Model, subset: Subset, factors: Mapping[str, tuple[np.ndarray, ...]]
) -> np.ndarray:
    """The parameters of a subset as combinations of cells, one in each column.

    A cell is one itself; of W + U Vᵀ the cell (i, a) of U moves row i of W by column a of V.
    """
    blocks = []
    for name in subset.names:
        count = len(cells_of(model, name))
        if name not in factors:
            blocks.append(np.eye(count, dtype=np.int64))
            continue
        U, V = factors[name]
        rows, inner = np.eye(len(U), dtype=np.int64), np.eye(len(V), dtype=np.int64)
        by_u = np.einsum("iI,ja->ijIa", rows, V).reshape(count, -1)
        by_v = np.einsum("jJ,ia->ijJa", inner, U).reshape(count, -1)
        blocks.append(np.concatenate([by_u, by_v], axis=1))
    out = np.zeros((sum(len(b) for b in blocks), sum(b.shape[1] for b in blocks)), np.int64)
    row = column = 0
    for block in blocks:
        out[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return out


def _balls(arithmetic: BallArithmetic, table: Any) -> Array:
    """Integers over a denominator, or doubles, as balls."""
    return arithmetic.constant(*table)[..., 0] if isinstance(table, tuple) else as_balls(table)
