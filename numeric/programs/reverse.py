r"""Programs in doubles for many runs at once, with derivatives by their learnable weights.

A value is an array (runs, *shape, samples); an axis of runs or of samples has size 1 where the
value does not depend on it.  Reverse mode: the *adjoint* of a value, (runs, k, *shape, samples), is
the derivative by its entries of k combinations of the labels; no operation mixes two samples.

Of a matrix that occurs in a product with other values (``W x``) the two factors are kept, the
adjoint of the product and x, and only the derivatives by learnable entries are computed from them
(`algebra.programs.jacobian` does the same for one point in any ring).
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
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Node, Program
from algebra.programs.programmed import Programmed

# Letters of the axes of runs, of combinations of the labels, and of learnable entries.
_RUN, _OUT, _ENTRY = "$", "&", "#"
# The letter of an axis of size 1 in place of the samples.
_SUMMED = "!"
# Entries of a matrix for each learnable one up to which derivatives by all are computed at once.
_WHOLE = 8


class RunArithmetic(EntryArithmetic):
    """Arrays of doubles with an axis of runs in front: see the module."""

    def __init__(self, network: Programmed) -> None:
        super().__init__(network.function, matmul, truediv)

    def constant(self, table: Array, denominator: int) -> Array:
        return super().constant(table, denominator)[None]

    def root(self, node: Node, a: Array) -> Array:
        return np.asarray(np.sqrt(a))

    def index(self, node: Node, where: Array, *parts: Array) -> Array:
        runs, batch = (max(part.shape[axis] for part in parts) for axis in (0, -1))
        flat = [
            np.broadcast_to(part, (runs, *part.shape[1:-1], batch)).reshape(runs, -1, batch)
            for part in parts
        ]
        if where.size and where.min() < 0:
            flat.append(np.zeros((runs, 1, batch)))
        return (flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1))[:, where]

    def sum_of_products(self, factors: list[tuple[str, Array]], result: str) -> Array:
        """The Einstein sum of values; axes of runs and of samples are the first and the last."""
        if [group for group, _ in factors] == ["ij", "j"] and result == "i":
            (_, matrix), (_, vector) = factors
            if matrix.shape[-1] == 1:
                return np.asarray(matmul(matrix[..., 0], vector))
        return _einsum([(_RUN + group + BATCH, value) for group, value in factors],
                       _RUN + result + BATCH, self)  # fmt: skip


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
        runs = np.arange(len(at[0]))[:, None]
        factors = []
        for group, value in self.factors:
            fixed = [k for k, letter in enumerate(group) if letter in place]
            free = [k for k, letter in enumerate(group) if letter not in place]
            if fixed:
                moved = value.transpose(free[0], *fixed, *free[1:])
                first = runs if len(value) > 1 else np.zeros_like(runs)
                value = moved[(first, *(place[group[k]] for k in fixed))]
                group = _RUN + _ENTRY + "".join(group[k] for k in free[1:])
            factors.append((group, value))
        # An entry off the diagonal has no effect where the diagonal is taken.
        on = [place[c] == axis for c, axis in zip(self.letters, at, strict=True)]
        factors.append((_RUN + _ENTRY, np.all(on, axis=0) * 1.0))
        return _einsum(factors, result, ring)


def _taken(adjoint: Array, cells: Array, batch: str) -> Array:
    """Entries (runs, c) of a matrix from its adjoint: (runs, combinations, samples or 1, c)."""
    runs, many, samples = adjoint.shape[0], adjoint.shape[1], adjoint.shape[-1]
    flat = adjoint.reshape(runs, many, -1, samples)
    if batch == _SUMMED and samples > 1:
        flat = flat.sum(axis=-1, keepdims=True)
    if (cells == cells[0]).all():
        found = flat[:, :, cells[0]]
    else:
        found = np.take_along_axis(flat, cells[:, None, :, None], axis=2)
    return found.swapaxes(2, 3)


@lru_cache(maxsize=256)
def _differentiated(program: Program, names: frozenset[str]) -> tuple[set[int], set[int]]:
    """The nodes on which the labels depend, and those of them with derivatives by some weights."""
    needed = program.needed([program.output])
    moving: set[int] = set()
    for number in sorted(needed):
        node = program.nodes[number]
        if node.name in names if node.op == "block" else moving.intersection(_varied(node)):
            moving.add(number)
    return needed, moving


def _varied(node: Node) -> tuple[int, ...]:
    """The inputs by which the derivative of a node is not 0 everywhere."""
    if node.op == "choose":
        return node.inputs[1:]
    return () if node.op == "scale" and node.number == 0 else node.inputs


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
        self._arithmetic = RunArithmetic(network)
        self._program = program = network.program()
        needed, self._moving = _differentiated(program, frozenset(names))
        self._values = evaluate(program, self._arithmetic, blocks, needed)
        self.labels = self._values[program.output]

    def slopes(self, combination: Array, cells: Mapping[str, Array]) -> dict[str, Array]:
        """Derivatives of one combination of the labels.

        Parameters
        ----------
        combination : ndarray, shape (runs, *shape, samples)
            Coefficients.
        cells : mapping of str to ndarray of int, shape (runs, c)
            For each weight the numbers, row by row, of the entries by which to differentiate.

        Returns
        -------
        dict of str to ndarray, shape (runs, c)
        """
        found = self._columns(combination[:, None], cells, _SUMMED)
        return {name: columns[:, 0, 0] for name, columns in found.items()}

    def jacobian(self, cells: Mapping[str, Array]) -> dict[str, Array]:
        """Derivatives of all labels: `cells` as for `slopes`.

        Returns
        -------
        dict of str to ndarray, shape (runs, labels of a sample, samples or 1, c)
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

        if self._program.output in self._moving:
            adjoints[self._program.output] = start
        for number in sorted(self._moving, reverse=True):
            if number not in adjoints:
                continue
            node, adjoint = nodes[number], adjoints.pop(number)
            if node.op == "block":
                collect(node.name, _taken(adjoint, cells[node.name], batch))
            for position, k in enumerate(node.inputs):
                if k not in self._moving or (node.op == "choose" and position == 0):
                    continue
                matrix = nodes[k]
                if node.op != "contract":
                    part = self._pulled(number, position, adjoint)
                elif matrix.op != "block":
                    part = self._through(node, position, adjoint, BATCH)
                elif matrix.size <= _WHOLE * cells[matrix.name].shape[1]:
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
        groups, _, result = node.letters.partition("->")
        split = groups.split(",")
        others = [
            (_RUN + split[k] + BATCH, self._values[number])
            for k, number in enumerate(node.inputs)
            if k != position
        ]
        return split[position], ((_RUN + _OUT + result + BATCH, adjoint), *others)

    def _pulled(self, number: int, position: int, adjoint: Array) -> Array:
        """The contribution of a node's adjoint to that of its input at a position."""
        node = self._program.nodes[number]
        inputs = [self._values[k] for k in node.inputs]
        match node.op:
            case "add":
                return adjoint
            case "multiply":
                return np.asarray(adjoint * inputs[1 - position][:, None])
            case "scale":
                assert node.number is not None
                return self._arithmetic.scale(node, adjoint, node.number)
            case "index":
                return self._gathered(node, position, adjoint)
            case "choose":
                positive = self._arithmetic.signs(node, inputs[0])[:, None]
                return np.asarray(adjoint * (positive if position == 1 else ~positive))
            case "power" | "invert" | "root" | "apply":
                slopes = self._arithmetic.slopes(node, inputs[0], self._values[number])
                return np.asarray(adjoint * slopes[:, None])
        raise AssertionError(f"no derivative of {node.op!r}")

    def _through(self, node: Node, position: int, adjoint: Array, batch: str) -> Array:
        """An adjoint times the other factors of a contraction; samples are summed or kept."""
        own, factors = self._factors(node, position, adjoint)
        if node.letters == "ij,j->i":  # the most frequent, without the work of the general sum
            value = factors[1][1]
            if position == 1 and value.shape[-1] == 1:
                return np.asarray(matmul(value.swapaxes(1, 2)[:, None, :, :, 0], adjoint))
            if position == 0 and batch == _SUMMED and adjoint.shape[-1] == value.shape[-1]:
                return np.asarray(matmul(adjoint, value.swapaxes(1, 2)[:, None])[..., None])
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

    def _gathered(self, node: Node, position: int, adjoint: Array) -> Array:
        """The adjoint of a part whose entries were moved, perhaps to several places."""
        assert node.where is not None
        nodes = self._program.nodes
        part = nodes[node.inputs[position]]
        where = node.where.ravel() - sum(nodes[k].size for k in node.inputs[:position])
        places = np.flatnonzero((where >= 0) & (where < part.size))
        runs, many, batch = adjoint.shape[0], adjoint.shape[1], adjoint.shape[-1]
        flat = adjoint.reshape(runs, many, -1, batch)
        out = np.zeros((runs, many, part.size, batch))
        if len(np.unique(where[places])) == len(places):
            out[:, :, where[places]] = flat[:, :, places]
        else:
            for place, entry in zip(where[places].tolist(), places.tolist(), strict=True):
                out[:, :, place] += flat[:, :, entry]
        return out.reshape(runs, many, *part.shape, batch)
