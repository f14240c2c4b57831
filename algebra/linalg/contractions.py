"""Einstein sums over a ring, by products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np


class Ring(Protocol):
    """How the entries of arrays are added and multiplied."""

    def times(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The entrywise product."""
        ...

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The product of matrices, or of two stacks of them."""
        ...

    def added(self, a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """The sum along axes."""
        ...


def contraction(letters: str, factors: Sequence[np.ndarray], ring: Ring) -> np.ndarray:
    """The Einstein sum of arrays.

    Parameters
    ----------
    letters : str
        As for `numpy.einsum`, with ``->`` and without ellipsis.  A letter that stands twice in one
        factor takes the diagonal.
    factors : sequence of ndarray
        One or more; products are formed from the left.
    ring : Ring
        That of the entries.

    Returns
    -------
    ndarray
        Perhaps a view with axes in another order.
    """
    first, steps, order = _plan(letters)
    value = _single(first, factors[0], ring)
    for (single, product), factor in zip(steps, factors[1:], strict=True):
        value = _product(product, value, _single(single, factor, ring), ring)
    return value.transpose(order)


class _Single(NamedTuple):
    """What is done to a factor: axes numbered by letters of which a diagonal is taken; sums."""

    diagonal: tuple[int, ...] | None
    gone: tuple[int, ...]


class _Pair(NamedTuple):
    """How two factors are multiplied: their axes in order, and how many of which sort there are."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    stack: int
    rows: int
    summed: int


@lru_cache(maxsize=4096)
def _plan(letters: str) -> tuple[_Single, tuple[tuple[_Single, _Pair], ...], tuple[int, ...]]:
    """The first factor, each further one, and the order of the result's axes."""
    groups, _, result = letters.partition("->")
    inputs = groups.split(",")
    single, group = _plan_single(inputs[0], set("".join(inputs[1:])) | set(result))
    steps = []
    for k in range(1, len(inputs)):
        later = set("".join(inputs[k + 1 :])) | set(result)
        own, other = _plan_single(inputs[k], later | set(group))
        product, group = _plan_product(group, other, later)
        steps.append((own, product))
    return single, tuple(steps), tuple(group.index(letter) for letter in result)


def _plan_single(group: str, kept: set[str]) -> tuple[_Single, str]:
    """Diagonals are taken, and axes summed that stand nowhere else."""
    unique = "".join(dict.fromkeys(group))
    diagonal = None if unique == group else tuple(unique.index(letter) for letter in group)
    gone = tuple(k for k, letter in enumerate(unique) if letter not in kept)
    return _Single(diagonal, gone), "".join(letter for letter in unique if letter in kept)


def _plan_product(first: str, second: str, kept: set[str]) -> tuple[_Pair, str]:
    """Of two factors: shared letters are summed unless they are kept."""
    shared = [letter for letter in first if letter in second]
    summed = [letter for letter in shared if letter not in kept]
    both = [letter for letter in shared if letter in kept]
    left = [letter for letter in first if letter not in shared]
    right = [letter for letter in second if letter not in shared]
    a = tuple(first.index(letter) for letter in (*both, *left, *summed))
    b = tuple(second.index(letter) for letter in (*both, *summed, *right))
    return _Pair(a, b, len(both), len(left), len(summed)), "".join((*both, *left, *right))


def _single(plan: _Single, value: np.ndarray, ring: Ring) -> np.ndarray:
    if plan.diagonal is not None:
        value = np.einsum(value, plan.diagonal, list(range(max(plan.diagonal) + 1)))
    return ring.added(value, plan.gone) if plan.gone else value


def _product(plan: _Pair, a: np.ndarray, b: np.ndarray, ring: Ring) -> np.ndarray:
    a, b = a.transpose(plan.first), b.transpose(plan.second)
    ends = plan.stack + plan.rows
    stack, rows = a.shape[: plan.stack], a.shape[plan.stack : ends]
    columns = b.shape[plan.stack + plan.summed :]
    if not plan.summed:
        return ring.times(
            a.reshape((*stack, *rows, *(1,) * len(columns))),
            b.reshape((*stack, *(1,) * len(rows), *columns)),
        )
    inner = math.prod(a.shape[ends:])
    product = ring.matmul(
        a.reshape(*stack, math.prod(rows), inner), b.reshape(*stack, inner, math.prod(columns))
    )
    return product.reshape((*stack, *rows, *columns))
