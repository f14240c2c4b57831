"""Einstein sums modulo a prime, by products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from algebra.linalg.modular import Residues, added, matmul, times


def contraction(letters: str, factors: Sequence[Residues], p: int) -> Residues:
    """The Einstein sum of arrays of residues, modulo p.

    Parameters
    ----------
    letters : str
        As for `numpy.einsum`, with ``->`` and without ellipsis.  A letter that stands twice in one
        factor takes the diagonal.
    factors : sequence of ndarray of int64
        One or more; products are formed from the left.
    p : int
        A prime below 2^61.

    Returns
    -------
    ndarray of int64
        Perhaps a view with axes in another order.

    Examples
    --------
    >>> contraction("ij,j->i", [np.array([[1, 2], [3, 4]]), np.array([5, 6])], 7).tolist()
    [3, 4]
    """
    groups, _, result = letters.partition("->")
    inputs = groups.split(",")
    group, value = _single(inputs[0], factors[0], set("".join(inputs[1:])) | set(result), p)
    for k in range(1, len(inputs)):
        later = set("".join(inputs[k + 1 :])) | set(result)
        other, factor = _single(inputs[k], factors[k], later | set(group), p)
        group, value = _product(group, value, other, factor, later, p)
    return value.transpose([group.index(letter) for letter in result])


def _single(group: str, value: Residues, kept: set[str], p: int) -> tuple[str, Residues]:
    """Diagonals are taken, and axes summed that stand nowhere else."""
    if len(set(group)) < len(group):
        unique = "".join(dict.fromkeys(group))
        numbers = [unique.index(letter) for letter in group]
        value, group = np.einsum(value, numbers, list(range(len(unique)))), unique
    gone = tuple(k for k, letter in enumerate(group) if letter not in kept)
    if gone:
        value = added(value, gone, p)
        group = "".join(letter for letter in group if letter in kept)
    return group, value


def _product(
    first: str, a: Residues, second: str, b: Residues, kept: set[str], p: int
) -> tuple[str, Residues]:
    """Of two factors: shared letters are summed unless they are kept."""
    shared = [letter for letter in first if letter in second]
    summed = [letter for letter in shared if letter not in kept]
    both = [letter for letter in shared if letter in kept]
    left = [letter for letter in first if letter not in shared]
    right = [letter for letter in second if letter not in shared]
    a = a.transpose([first.index(letter) for letter in (*both, *left, *summed)])
    b = b.transpose([second.index(letter) for letter in (*both, *summed, *right)])
    stack, rows = a.shape[: len(both)], a.shape[len(both) : len(both) + len(left)]
    columns = b.shape[len(both) + len(summed) :]
    group = "".join((*both, *left, *right))
    if not summed:
        return group, times(
            a.reshape((*stack, *rows, *(1,) * len(columns))),
            b.reshape((*stack, *(1,) * len(rows), *columns)), p,
        )  # fmt: skip
    inner = math.prod(a.shape[len(both) + len(left) :])
    product = matmul(
        a.reshape(*stack, math.prod(rows), inner), b.reshape(*stack, inner, math.prod(columns)), p
    )
    return group, product.reshape((*stack, *rows, *columns))
