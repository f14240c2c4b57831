r"""Sketches of a Jacobian: products with few random directions, instead of all columns.

J R has the rank of J, or as many columns as R if these are fewer, for almost all R; also if a
column of R is, for each weight, a tensor of rank one, u ⊗ v ⊗ … with a vector for each axis: such
tensors span all directions, so some of them give J R the rank of J, and a minor that is a
polynomial in u, v, … and not 0 is not 0 at random ones (Schwartz and Zippel; its degree in them is
the number of the axes for each column).

The derivative of a product W x along u ⊗ v is u (v · x): a scalar product for each vector x instead
of one with a matrix, so that a sketch costs about what the vectors cost, however many entries the
weight has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algebra.programs.arrays import Array
from algebra.programs.jacobian import ENTRY, OUT, Pair, Sweep


def sketch(sweep: Sweep, name: str, vectors: Sequence[Array]) -> Array | None:
    """Derivatives of the labels along tensors of rank one of a weight.

    Parameters
    ----------
    sweep : Sweep
    name : str
    vectors : sequence of ndarray
        For each axis of the weight its length × directions.

    Returns
    -------
    ndarray, shape (outputs, directions, samples), or None
        None if the weight is not multiplied by values of samples only, each of its axes apart.
    """
    held = sweep.held_axes(name)
    if held is None or any(k in sweep.dense for k in held):
        return None
    count = vectors[0].shape[1]
    total = np.zeros((sweep.total, count, sweep.batch), np.int64)
    for number, steps in held.items():
        sizes = sweep.program.nodes[number].shape
        tables = _along_axes(sweep, sweep.program.weights[name], sizes, steps, vectors)
        if tables is None:
            return None
        for pair in sweep.pairs.get(number, ()):
            if len(set(pair.letters)) < len(pair.letters):
                return None
            found = _contracted(sweep, pair, dict(zip(pair.letters, tables, strict=True)), count)
            total = sweep.arithmetic.reduced(total + found)
    # Axes of length 1 are none of those of values.
    for own in vectors:
        if len(own) == 1:
            total = sweep.arithmetic.times(total, own[:, :, None])
    return sweep.in_order(total)


def _along_axes(
    sweep: Sweep,
    shape: tuple[int, ...],
    sizes: Sequence[int],
    steps: Sequence[int],
    vectors: Sequence[Array],
) -> list[Array] | None:
    """The vectors along the axes of a value that holds a weight; None if one has several."""
    out, seen = [], set[int]()
    for size, step in zip(sizes, steps, strict=True):
        places = np.unravel_index(step * np.arange(size), shape)
        own = {axis for axis, at in enumerate(places) if at.any()}
        if own & seen:
            return None
        seen |= own
        table = np.ones((size, vectors[0].shape[1]), np.int64)
        for axis in sorted(own):
            table = sweep.arithmetic.times(table, vectors[axis][places[axis]])
        out.append(table)
    return out


def _contracted(sweep: Sweep, pair: Pair, tables: dict[str, Array], count: int) -> Array:
    """The factors of a product, each multiplied by the vectors along its axes, and summed."""
    ring = sweep.arithmetic
    parts = [(OUT + pair.result, pair.adjoint), *pair.others]
    left, made = dict(tables), []
    for number, (group, value) in enumerate(parts):
        letters = dict.fromkeys(group)
        own = [letter for letter in letters if letter in left]
        if own:
            later = {letter for other, _ in parts[number + 1 :] for letter in other}
            factors = [(group, value)]
            factors += [(letter + ENTRY, left.pop(letter)[..., None]) for letter in own]
            group = "".join(c for c in letters if c not in own or c in later) + ENTRY
            value = ring.sum_of_products(factors, group)
        made.append((group, value))
    # An axis that no factor has is summed.
    made += [(ENTRY, ring.added(table, (0,))[:, None]) for table in left.values()]
    if not tables:
        made.append((ENTRY, np.ones((count, 1), np.int64)))
    return ring.sum_of_products(made, OUT + ENTRY)
