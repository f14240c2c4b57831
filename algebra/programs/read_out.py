"""The read-out of a program: the matrix that is applied last, and what it reads.

Labels are read out if each is a sum D_k z + e_k, of a row of a weight matrix D that occurs nowhere
else, of values z, and perhaps of a bias e.  The matrix may act several times, as on the states of
all steps; entries may be moved before and after (transposes, reshapes, stacks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algebra.programs.program import Node, Program


@dataclass(frozen=True, eq=False)
class ReadOut:
    """The last matrix of a program.

    Attributes
    ----------
    matrix : str
        The block D.
    bias : str or None
        The block e.
    weights : ndarray of int, shape (rows, units)
        Numbers of the entries of the block D, by row and by unit.
    biases : ndarray of int, shape (rows,), or None
        Numbers of the entries of the block e.
    labels : ndarray of int, shape (rows, times)
        Numbers of the labels of each row.
    values : tuple of (int, ndarray of int, shape (units, …))
        The nodes that are read, with the numbers of the entries that each unit of D meets.
    """

    matrix: str
    bias: str | None
    weights: np.ndarray
    biases: np.ndarray | None
    labels: np.ndarray
    values: tuple[tuple[int, np.ndarray], ...]


def read_out(program: Program) -> ReadOut | None:
    """The last matrix of a program; None if its labels are of another form.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> D, e, x = build.weight("D", (2, 3)), build.weight("e", (2,)), build.sample("X", (3,))
    >>> labels = build.add(build.contract("ij,j->i", D, build.apply("tanh", x)), e)
    >>> found = read_out(build.program(labels))
    >>> found.matrix, found.bias, found.labels.tolist()
    ('D', 'e', [[0], [1]])
    """
    size = program.nodes[program.output].size
    parts = [_affine(program, *leaf) for leaf in _leaves(program, program.output, np.arange(size))]
    if not parts or None in parts:
        return None
    found: list[_Application] = [part for part in parts if part is not None]
    first = found[0]
    same = all(
        (part.matrix, part.bias) == (first.matrix, first.bias)
        and np.array_equal(part.weights, first.weights)
        and (first.biases is None or np.array_equal(part.biases, first.biases))  # type: ignore[arg-type]
        for part in found
    )
    labels = np.concatenate([part.labels for part in found], axis=1)
    values = tuple((part.node, part.entries) for part in found)
    own = {first.matrix, first.bias}
    before = program.needed([node for node, _ in values])
    if not same or any(program.nodes[k].name in own for k in before):
        return None
    if not np.array_equal(np.sort(labels.ravel()), np.arange(size)):
        return None
    return ReadOut(first.matrix, first.bias, first.weights, first.biases, labels, values)


@dataclass(frozen=True, eq=False)
class _Application:
    matrix: str
    bias: str | None
    weights: np.ndarray
    biases: np.ndarray | None
    labels: np.ndarray
    node: int
    entries: np.ndarray


def _leaves(program: Program, number: int, labels: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The values whose entries the labels are, with the number of the label at each entry.

    An entry that is no label has −1.
    """
    node = program.nodes[number]
    if node.op != "index":
        return [(number, labels)]
    where = node.where
    assert where is not None
    flat, found, start = where.ravel(), [], 0
    for inner in node.inputs:
        size = program.nodes[inner].size
        own = np.full(size, -1)
        inside = (flat >= start) & (flat < start + size)
        own[flat[inside] - start] = labels.ravel()[inside]
        found += _leaves(program, inner, own)
        start += size
    return found


def _affine(program: Program, number: int, labels: np.ndarray) -> _Application | None:
    """A product of a weight and a value, perhaps with a bias."""
    node = program.nodes[number]
    terms = list(node.inputs) if node.op == "add" else [number]
    products = [k for k in terms if program.nodes[k].op == "contract"]
    others = [k for k in terms if k not in products]
    if len(products) != 1 or len(others) > 1:
        return None
    product = program.nodes[products[0]]
    weighted = [_weight(program, k) for k in product.inputs]
    known = [k for k, own in enumerate(weighted) if own is not None]
    if len(product.inputs) != 2 or len(known) != 1:
        return None
    letters = _letters(product)
    name, cells = weighted[known[0]]  # type: ignore[misc]
    own, read = letters[known[0]], letters[1 - known[0]]
    result, value = letters[2], product.inputs[1 - known[0]]
    rows = [letter for letter in own if letter in result]
    units = [letter for letter in own if letter not in result]
    repeated = any(len(set(group)) < len(group) for group in letters)
    if repeated or set(rows) & set(read) or not set(units) <= set(read):
        return None
    if set(read) - set(units) - set(result):
        return None
    grid = labels.reshape(product.shape)
    by_row = _ordered(grid, result, rows)
    entries = _ordered(np.arange(program.nodes[value].size).reshape(
        program.nodes[value].shape), read, units)  # fmt: skip
    count = by_row.shape[0]
    weights = _ordered(cells, own, rows).reshape(count, -1)
    bias, biases = None, None
    if others:
        found = _weight(program, others[0], product.shape)
        if found is None:
            return None
        bias, places = found
        spread = _ordered(places, result, rows)
        if (spread != spread[:, :1]).any():
            return None
        biases = spread[:, 0]
    units_first = entries.reshape(weights.shape[1], -1)
    return _Application(name, bias, weights, biases, by_row, value, units_first)


def _letters(node: Node) -> tuple[str, str, str]:
    groups, _, result = node.letters.partition("->")
    first, second = groups.split(",")
    return first, second, result


def _ordered(array: np.ndarray, letters: str, first: Sequence[str]) -> np.ndarray:
    """An array with the axes of some letters joined as its first, and all others as its second."""
    axes = [letters.index(letter) for letter in first]
    rest = [k for k in range(array.ndim) if k not in axes]
    size = int(np.prod([array.shape[k] for k in axes], dtype=np.int64))
    return array.transpose(*axes, *rest).reshape(size, -1)


def _weight(
    program: Program, number: int, shape: tuple[int, ...] | None = None
) -> tuple[str, np.ndarray] | None:
    """A weight whose entries were only moved: its name, and the number of the entry at each place.

    With a shape, of which the value is a term: places of the sum.
    """
    node = program.nodes[number]
    if node.op == "block" and not node.batched:
        return node.name, np.arange(node.size).reshape(node.shape)
    if node.op != "index" or len(node.inputs) != 1 or node.batched:
        return None
    where = node.where
    inner = _weight(program, node.inputs[0])
    if inner is None or where is None or (where.size and where.min() < 0):
        return None
    return inner[0], inner[1].ravel()[where]
