r"""Programs in doubles for many runs at once, with derivatives by their learnable weights.

A value is an array (runs, *shape, samples); an axis of runs or of samples has size 1 where the
value does not depend on it.  Reverse mode: the *adjoint* of a value, (runs, k, *shape, samples), is
the derivative by its entries of k combinations of the labels; no operation mixes two samples.

Of a matrix that occurs in a product with other values (``W x``) the two factors are kept, the
adjoint of the product and x, and only the derivatives by learnable entries are computed from them.

`algebra.programs.jacobian` does the same for one point in any ring, and the derivatives of the
operators are taken from it (`input_adjoint`).  Its sweep is not used for descent: it has no axis of
runs, each run has learnable entries of its own here, and a step of descent asks for sums over
samples, which are products of matrices.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from operator import matmul, truediv

import numpy as np

from algebra.linalg.contractions import contraction
from algebra.programs.arrays import BATCH, Array, EntryArithmetic
from algebra.programs.evaluate import Order, evaluate_in, evaluation_order
from algebra.programs.jacobian import input_adjoint
from algebra.programs.patches import consecutive
from algebra.programs.program import Node, Program
from algebra.programs.programmed import Programmed

# Letters of the axes of runs, of combinations of the labels, and of learnable entries.
_RUN, _OUT, _ENTRY = "$", "&", "#"
# The letter of an axis of size 1 in place of the samples.
_SUMMED = "!"
# Entries of a matrix for each learnable one up to which derivatives by all are computed at once,
# with samples kept apart or summed: a sum over samples is a product of matrices.
_WHOLE = {BATCH: 8, _SUMMED: 64}


class RunArithmetic(EntryArithmetic):
    """Arrays of doubles with an axis of runs in front: see the module."""

    def __init__(self, network: Programmed) -> None:
        super().__init__(network.function, matmul, truediv)
        nodes = network.program().nodes
        self._zeros = {k for k, node in enumerate(nodes) if node.op == "scale" and not node.number}

    def constant(self, table: Array, denominator: int) -> Array:
        return super().constant(table, denominator)[None]

    def root(self, node: Node, a: Array) -> Array:
        return np.asarray(np.sqrt(a))

    def index(self, node: Node, where: Array, *parts: Array) -> Array:
        runs, batch = (max(part.shape[axis] for part in parts) for axis in (0, -1))
        flat = [
            part.reshape(runs, -1, batch)
            if part.shape[0] == runs and part.shape[-1] == batch
            else np.broadcast_to(part, (runs, *part.shape[1:-1], batch)).reshape(runs, -1, batch)
            for part in parts
        ]
        entries, is_padded = _entries_of(node)
        if is_padded:
            flat.append(np.zeros((runs, 1, batch)))
        whole = flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)
        return whole[:, entries].reshape(runs, *node.shape, batch)

    def contract(self, node: Node, letters: str, *factors: Array) -> Array:
        # The most frequent sum, without the work of the general one.
        if letters == "ij,j->i" and factors[0].shape[-1] == 1:
            return np.asarray(matmul(factors[0][..., 0], factors[1]))
        return super().contract(node, letters, *factors)

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        # ReLU: ten times as fast as a choice.
        if node.inputs[0] == node.inputs[1] and node.inputs[2] in self._zeros:
            return np.asarray(np.maximum(sign, 0.0))
        return super().choose(node, sign, positive, other)

    def kept(self, a: Array, where: Array) -> Array:
        # Three times as fast as a choice.
        return np.asarray(a * where)

    def sum_of_products(self, factors: list[tuple[str, Array]], result: str) -> Array:
        """The Einstein sum of values; axes of runs and of samples are the first and the last."""
        return _einsum([(_RUN + group + BATCH, value) for group, value in factors],
                       _RUN + result + BATCH, self)  # fmt: skip


@lru_cache(maxsize=4096)
def _entries_of(node: Node) -> tuple[Array | slice, bool]:
    """The places of an index in a row, and whether a 0 is among them."""
    assert node.where is not None
    where = node.where.ravel()
    return consecutive(where), bool(where.size and where.min() < 0)


def _einsum(factors: Sequence[tuple[str, Array]], result: str, ring: EntryArithmetic) -> Array:
    """The Einstein sum in which an axis of size 1 agrees with every size."""
    values = [value for _, value in factors]
    groups = tuple(group for group, _ in factors)
    long = tuple(tuple(n != 1 for n in value.shape) for value in values)
    letters, there = _without_short_axes(groups, long, result)
    found = contraction(letters, [np.squeeze(value) for value in values], ring)
    sizes = iter(found.shape)
    return found.reshape([next(sizes) if long else 1 for long in there])


@lru_cache(maxsize=4096)
def _without_short_axes(
    groups: tuple[str, ...], long: tuple[tuple[bool, ...], ...], result: str
) -> tuple[str, tuple[bool, ...]]:
    """The letters of a sum without the axes of size 1, and which axes of the result remain."""
    kept = ["".join(compress(group, on)) for group, on in zip(groups, long, strict=True)]
    there = set("".join(kept))
    left = "".join(letter for letter in result if letter in there)
    return f"{','.join(kept)}->{left}", tuple(letter in there for letter in result)


@dataclass(frozen=True)
class _Product:
    """A contraction in which a matrix occurs: its letters, and the other factors with theirs.

    The first factor is the adjoint of the product.
    """

    letters: str
    factors: tuple[tuple[str, Array], ...]

    def entries(self, at: Sequence[Array], result: str, ring: EntryArithmetic) -> Array:
        """Derivatives by entries of the matrix: an array (runs, c) of places for each axis."""
        place = dict(zip(self.letters, at, strict=True))
        factors = []
        for group, value in self.factors:
            fixed = [k for k, letter in enumerate(group) if letter in place]
            free = [k for k, letter in enumerate(group) if letter not in place]
            if fixed:
                moved = value.transpose(free[0], *fixed, *free[1:])
                runs = np.arange(len(value))[:, None]
                value = moved[(runs, *(place[group[k]] for k in fixed))]
                group = _RUN + _ENTRY + "".join(group[k] for k in free[1:])
            factors.append((group, value))
        # An entry off the diagonal has no effect where the diagonal is taken.
        on = [place[c] == axis for c, axis in zip(self.letters, at, strict=True)]
        factors.append((_RUN + _ENTRY, np.all(on, axis=0) * 1.0))
        return _einsum(factors, result, ring)


def _taken(adjoint: Array, cells: Array, batch: str) -> Array:
    """Entries of a matrix from its adjoint: (runs, combinations, samples or 1, c)."""
    runs, many, samples = adjoint.shape[0], adjoint.shape[1], adjoint.shape[-1]
    flat = adjoint.reshape(runs, many, -1, samples)
    if batch == _SUMMED and samples > 1:
        flat = flat.sum(axis=-1, keepdims=True)
    if len(cells) == 1:
        found = flat[:, :, cells[0]]
    else:
        found = np.take_along_axis(flat, cells[:, None, :, None], axis=2)
    return found.swapaxes(2, 3)


@dataclass(frozen=True)
class _Plan:
    """What all sweeps by some weights of a network have in common.

    Attributes
    ----------
    program : Program
    arithmetic : RunArithmetic
    order : list
        The steps of the forward pass; all values are kept.
    backwards : list of (int, Node, list of (int, int))
        The nodes that depend on the weights, the last first: number, node, and of its inputs that
        depend on them position and number.
    """

    program: Program
    arithmetic: RunArithmetic
    order: Order
    backwards: list[tuple[int, Node, list[tuple[int, int]]]]


@lru_cache(maxsize=256)
def _plan(network: Programmed, names: frozenset[str]) -> _Plan:
    program = network.program()
    needed = program.needed([program.output])
    moving: set[int] = set()
    backwards = []
    for number in sorted(needed):
        node = program.nodes[number]
        varied = [(position, k) for position, k in _varied(node) if k in moving]
        if varied or (node.name in names and node.op == "block"):
            moving.add(number)
            backwards.append((number, node, varied))
    order = evaluation_order(program, needed)
    return _Plan(program, RunArithmetic(network), order, backwards[::-1])


def _varied(node: Node) -> list[tuple[int, int]]:
    """Positions and numbers of the inputs by which the derivative is not 0 everywhere."""
    inputs = list(enumerate(node.inputs))
    if node.op == "choose":
        return inputs[1:]
    return [] if node.op == "scale" and node.number == 0 else inputs


class RunSweep:
    """A forward pass through a program; backward passes start from its values.

    Parameters
    ----------
    network : Programmed
    blocks : mapping of str to ndarray
        Weights (runs, *shape, 1) and samples (runs, *shape, samples).
    names : collection of str
        The weights by which to differentiate.

    Attributes
    ----------
    labels : ndarray, shape (runs, *shape, samples)
    """

    def __init__(
        self, network: Programmed, blocks: Mapping[str, Array], names: Collection[str]
    ) -> None:
        self._plan = plan = _plan(network, frozenset(names))
        self._program, self._arithmetic = plan.program, plan.arithmetic
        self._values = evaluate_in(plan.order, plan.arithmetic, blocks)
        self.labels = self._values[plan.program.output]

    def slopes(self, combination: Array, cells: Mapping[str, Array]) -> dict[str, Array]:
        """Derivatives of one combination of the labels.

        Parameters
        ----------
        combination : ndarray, shape (runs, *shape, samples)
            Coefficients.
        cells : mapping of str to ndarray of int, shape (runs or 1, c)
            For each weight the numbers, row by row, of the entries by which to differentiate.

        Returns
        -------
        dict of str to ndarray, shape (runs or 1, c)
        """
        found = self._columns(combination[:, None], cells, _SUMMED)
        return {name: columns[:, 0, 0] for name, columns in found.items()}

    def jacobian(self, cells: Mapping[str, Array]) -> dict[str, Array]:
        """Derivatives of all labels: `cells` as for `slopes`.

        Returns
        -------
        dict of str to ndarray, shape (runs or 1, labels of a sample, samples or 1, c)
        """
        output = self._program.nodes[self._program.output]
        start = np.eye(output.size).reshape(1, output.size, *output.shape, 1)
        return self._columns(start, cells, BATCH)

    def _columns(self, start: Array, cells: Mapping[str, Array], batch: str) -> dict[str, Array]:
        """A backward pass: (runs, combinations, samples or 1, c) for each weight.

        Samples are summed unless `batch` is their letter.
        """
        nodes, ring = self._program.nodes, self._arithmetic
        adjoints: dict[int, Array] = {}
        out: dict[str, Array] = {}

        def collect(name: str, found: Array) -> None:
            out[name] = out[name] + found if name in out else found

        # The first of these nodes is the output, if it depends on the weights.
        adjoints[self._program.output] = start
        for number, node, varied in self._plan.backwards:
            if number not in adjoints:
                continue
            adjoint = adjoints.pop(number)
            if node.op == "block":
                collect(node.name, _taken(adjoint, cells[node.name], batch))
            for position, k in varied:
                matrix = nodes[k]
                if node.op != "contract":
                    part = input_adjoint(
                        self._program, ring, self._values, number, position, adjoint
                    )
                elif matrix.op != "block":
                    part = self._through(node, position, adjoint, BATCH)
                elif matrix.size <= _WHOLE[batch] * cells[matrix.name].shape[1]:
                    part = self._through(node, position, adjoint, batch)
                else:
                    product = _Product(*self._factors(node, position, adjoint))
                    at = np.unravel_index(cells[matrix.name], matrix.shape)
                    result = _RUN + _OUT + batch + _ENTRY
                    collect(matrix.name, product.entries(at, result, ring))
                    continue
                adjoints[k] = adjoints[k] + part if k in adjoints else part
        return out

    def _factors(
        self, node: Node, position: int, adjoint: Array
    ) -> tuple[str, tuple[tuple[str, Array], ...]]:
        """The letters of a factor; the adjoint and the other factors with theirs."""
        own, product, others = _letters(node, position)
        return own, ((product, adjoint), *((group, self._values[k]) for group, k in others))

    def _through(self, node: Node, position: int, adjoint: Array, batch: str) -> Array:
        """An adjoint times the other factors of a contraction; samples are summed or kept."""
        if node.letters == "ij,j->i":  # the most frequent, without the work of the general sum
            value = self._values[node.inputs[1 - position]]
            if position == 1 and value.shape[-1] == 1:
                return np.asarray(matmul(value.swapaxes(1, 2)[:, None, :, :, 0], adjoint))
            if position == 0 and batch == _SUMMED and adjoint.shape[-1] == value.shape[-1]:
                return np.asarray(matmul(adjoint, value.swapaxes(1, 2)[:, None])[..., None])
        own, factors = self._factors(node, position, adjoint)
        known, result = "".join(group for group, _ in factors), ""
        parts = list(factors)
        sizes = self._program.nodes[node.inputs[position]].shape
        for letter, size in zip(own, sizes, strict=True):
            if letter in result:  # the diagonal is taken: zero elsewhere
                other = next(c for c in string.ascii_letters if c not in known + own + result)
                parts.append((letter + other, np.eye(size)))
                letter = other
            elif letter not in known:  # it is summed: the same derivative for each entry
                parts.append((letter, np.ones(size)))
            result += letter
        return _einsum(parts, _RUN + _OUT + result + batch, self._arithmetic)


@lru_cache(maxsize=4096)
def _letters(node: Node, position: int) -> tuple[str, str, list[tuple[str, int]]]:
    """Of a contraction: letters of one factor, of the adjoint, and of the other factors' values."""
    groups, _, result = node.letters.partition("->")
    split = groups.split(",")
    others = [
        (_RUN + split[k] + BATCH, number) for k, number in enumerate(node.inputs) if k != position
    ]
    return split[position], _RUN + _OUT + result + BATCH, others
