"""Programs in arithmetics whose values are NumPy arrays.

The last axis of a value is the batch, of size 1 if the value does not depend on the sample; NumPy's
broadcasting aligns the two.  An arithmetic defines the sums and products of the entries of its ring
(`ArrayArithmetic.times`, `matmul`, …); the operations of a program are defined here in terms of
these, and its Jacobian in `algebra.programs.jacobian`.

residues  `algebra.programs.residues.ModularArithmetic`
entries   `EntryArithmetic`: entries that know their own ring (doubles, rationals, balls,
          polynomials, SymPy expressions)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Number
from operator import matmul, truediv
from typing import Any, Protocol

import numpy as np
from flint import fmpq

from algebra.linalg.contractions import contraction
from algebra.linalg.sparse import SparseMatrix
from algebra.linalg.sparse_blocks import SparseBlock, sparse_contraction
from algebra.programs.patches import Patched, Patches
from algebra.programs.program import Node, Program
from algebra.time_limits import check_time

# The letter of the batch axis in contractions.
BATCH = "@"
Array = np.ndarray
# From a node and the values whose sign chooses: the mask of positive entries.
Signs = Callable[[Node, Array], Array]


class Function(Protocol):
    """A function of one variable with its derivative, in the arithmetic of the entries."""

    def values(self, a: Any) -> Any:
        """Values of an array."""

    def slopes(self, a: Any, z: Any) -> Any:
        """Derivatives at `a`, where the values are `z`."""


class ArrayArithmetic(ABC):
    """The operations of a program on arrays of entries of a ring.

    Attributes
    ----------
    signs : callable
        The activation pattern.
    """

    signs: Signs
    # Whether the patches of convolutions are formed in parts, where they are multiplied: then such
    # a value is a `Patched`, of which other operations know nothing.
    forms_patches = False
    # Whether `signs` needs no values.
    knows_signs = False

    # -- the ring ----------------------------------------------------------------------------

    @abstractmethod
    def constant(self, table: Array, denominator: int) -> Array:
        """Rational numbers: integers over one denominator, with a batch axis of size 1."""

    @abstractmethod
    def times(self, a: Array, b: Array) -> Array:
        """The entrywise product."""

    @abstractmethod
    def matmul(self, a: Array, b: Array) -> Array:
        """The product of matrices, or of two stacks of them."""

    @abstractmethod
    def added(self, a: Array, axes: tuple[int, ...]) -> Array:
        """The sum along axes."""

    @abstractmethod
    def reciprocals(self, node: Node, a: Array) -> Array:
        """Entrywise 1/x."""

    def reduced(self, a: Array) -> Array:
        """The canonical form of a sum of two values."""
        return a

    # -- the operations ----------------------------------------------------------------------

    def add(self, node: Node, *terms: Array) -> Array:
        total = terms[0]
        for term in terms[1:]:
            total = self.reduced(total + term)
        return total

    def multiply(self, node: Node, a: Array, b: Array) -> Array:
        return self.times(a, b)

    def scale(self, node: Node, a: Array, factor: Fraction) -> Array:
        if factor == -1:
            return self.reduced(-a)
        if not factor:
            return np.broadcast_to(self.constant(np.zeros(1, np.int64), 1)[0], a.shape)
        number = np.array(factor.numerator, dtype=object).reshape((1,) * (a.ndim - 1))
        return self.times(a, self.constant(number, factor.denominator))

    def contract(self, node: Node, letters: str, *factors: Array) -> Array:
        groups, _, result = letters.partition("->")
        return self.sum_of_products(list(zip(groups.split(","), factors, strict=True)), result)

    def sum_of_products(self, factors: list[tuple[str, Array]], result: str) -> Array:
        """The Einstein sum of values with given letters, batch axis last."""
        patched = [k for k, (_, value) in enumerate(factors) if isinstance(value, Patched)]
        if patched:
            return self._over_positions(factors, patched[0], result, self.sum_of_products)
        some = any(value.shape[-1] > 1 for _, value in factors)
        found = self._contracted(factors, result + BATCH * some)
        return found if some else found[..., None]

    def over_samples(self, factors: list[tuple[str, Array]], result: str) -> Array:
        """The Einstein sum over the samples, too; some factor has the whole batch."""
        patched = [k for k, (_, value) in enumerate(factors) if isinstance(value, Patched)]
        if patched:
            return self._over_positions(factors, patched[0], result, self.over_samples)
        return self._contracted(factors, result)[..., None]

    def _contracted(self, factors: list[tuple[str, Array]], result: str) -> Array:
        """The Einstein sum of values; the axis of a whole batch has the letter `BATCH`."""
        named = [group + BATCH if value.shape[-1] > 1 else group for group, value in factors]
        values = [value if value.shape[-1] > 1 else value[..., 0] for _, value in factors]
        return contraction(f"{','.join(named)}->{result}", values, self)

    def _over_positions(
        self,
        factors: list[tuple[str, Any]],
        which: int,
        result: str,
        product: Callable[[list[tuple[str, Any]], str], Array],
    ) -> Array:
        """An Einstein sum with patches as one factor, block by block of their positions."""
        letter, patched = factors[which][0][-1], factors[which][1]
        out, place = None, result.find(letter)
        for part in patched.places.blocks(patched.images.shape[-1]):
            check_time()
            own = [
                (group, value.block(part) if value is patched else cut(group, value, letter, part))
                for group, value in factors
            ]
            found = product(own, result)
            if place < 0:
                out = found if out is None else self.reduced(out + found)
                continue
            if out is None:
                shape = list(found.shape)
                shape[place] = patched.places.shape[-1]
                out = np.empty(shape, found.dtype)
            out[(slice(None),) * place + (part,)] = found
        assert out is not None
        return out

    def index(self, node: Node, where: Array, *parts: Array) -> Array:
        batch = max(part.shape[-1] for part in parts)
        if node.is_reshape:
            return parts[0].reshape(-1, batch)[: where.size].reshape(*node.shape, batch)
        if node.strides is not None:
            from algebra.programs.strides import strided

            return strided(parts[0].reshape(-1, batch), node.strides, node.shape)
        if len(parts) == 1 and 0 in where.strides and parts[0].size:
            # Repeated along some axes.
            few = where[tuple(slice(None if step else 1) for step in where.strides)]
            return np.broadcast_to(self.index(node, few.copy(), *parts), (*where.shape, batch))
        if len(parts) == 1 and where.size and where.min() >= 0:
            return parts[0].reshape(-1, batch).take(where, axis=0)
        flat = [
            np.broadcast_to(part, (*part.shape[:-1], batch)).reshape(-1, batch) for part in parts
        ]
        zero = np.broadcast_to(self.constant(np.zeros(1, np.int64), 1), (1, batch))
        return np.concatenate([*flat, zero]).take(where, axis=0)

    def patches(self, places: Patches, a: Array) -> Patched:
        """Patches of a convolution, which `sum_of_products` forms in parts."""
        images = a.reshape(places.channels, places.inner, -1)
        return Patched(places, images, self.constant(np.zeros(1, np.int64), 1)[0])

    def power(self, node: Node, a: Array, exponent: int) -> Array:
        result, base = a**0, a
        while exponent:
            if exponent & 1:
                result = self.times(result, base)
            exponent >>= 1
            if exponent:
                base = self.times(base, base)
        return result

    def invert(self, node: Node, a: Array) -> Array:
        return self.reciprocals(node, a)

    @abstractmethod
    def root(self, node: Node, a: Array) -> Array:
        """Entrywise square root."""

    @abstractmethod
    def apply(self, node: Node, name: str, a: Array) -> Array:
        """The function of this name, entrywise."""

    def choose(self, node: Node, sign: Array, positive: Array, other: Array) -> Array:
        mask = self.signs(node, sign)
        if not any(other.strides) and other.dtype != object and not other.flat[0]:
            # ReLU: twice as fast as a choice.
            return np.asarray(positive * mask)
        return np.where(mask, positive, other)

    def kept(self, a: Array, where: Array) -> Array:
        """The entries at the places of a mask, 0 elsewhere."""
        return np.where(where, a, 0)

    def slopes(self, node: Node, a: Array, z: Array) -> Array:
        """The derivative of power, invert, root or apply at the input `a` with the value `z`."""
        if node.op == "apply":
            return self.slopes_of_function(node, a, z)
        if node.op == "invert":
            return self.reduced(-self.times(z, z))
        if node.op == "root":
            return self.scale(node, self.reciprocals(node, z), Fraction(1, 2))
        assert node.number is not None
        exponent = int(node.number)
        if not exponent:
            return a * 0
        return self.scale(node, self.power(node, a, exponent - 1), Fraction(exponent))

    @abstractmethod
    def slopes_of_function(self, node: Node, a: Array, z: Array) -> Array:
        """The derivative of apply."""


def cut(group: str, value: Any, letter: str, part: slice) -> Array:
    """A factor at some places of the axis with a letter, if it has that axis."""
    if isinstance(value, Patched):
        value = value.whole()
    return value[(slice(None),) * group.index(letter) + (part,)] if letter in group else value


class EntryArithmetic(ArrayArithmetic):
    """Entries that know their own ring, in arrays of objects or of floating-point numbers.

    Parameters
    ----------
    function : callable, optional
        Maps the node of an apply to its function.
    product : callable, optional
        Product of two matrices; `operator.matmul` by default.
    number : callable, optional
        Maps numerator and denominator to an entry: by default a rational `fmpq`, which python-flint
        mixes with balls; `operator.truediv` if entries are doubles.
    signs : callable, optional
        The activation pattern; by default the signs of the entries, 0 not being positive.
    """

    def __init__(
        self,
        function: Callable[[Node], Function] | None = None,
        product: Callable[[Any, Any], Any] = matmul,
        number: Callable[[int, int], Any] = fmpq,
        signs: Signs = lambda node, a: a > 0,
    ) -> None:
        self._function, self._product, self._number, self.signs = function, product, number, signs

    def sum_of_products(self, factors: list[tuple[str, Any]], result: str) -> Array:
        """Also with one sparse matrix among two factors."""
        if not any(isinstance(value, SparseBlock) for _, value in factors):
            return super().sum_of_products(factors, result)
        return np.asarray(sparse_contraction(factors, result, SparseMatrix.times))

    def constant(self, table: Array, denominator: int) -> Array:
        # The last entry determines the type of an empty table.
        flat = [self._number(int(entry), denominator) for entry in (*table.ravel(), 0)]
        if isinstance(flat[-1], Number):
            return np.array(flat)[:-1].reshape(*table.shape, 1)
        # Entry by entry: polynomials over GF(p) are sequences, too.
        found = np.empty(table.size, object)
        found[:] = flat[:-1]
        return found.reshape(*table.shape, 1)

    def scale(self, node: Node, a: Array, factor: Fraction) -> Array:
        whole = a * factor.numerator
        return whole if factor.denominator == 1 else whole / factor.denominator

    def kept(self, a: Array, where: Array) -> Array:
        # A zero of the ring, not the integer, of which a quotient would be a double.
        return np.where(where, a, a * 0 if a.dtype == object else 0)

    def times(self, a: Array, b: Array) -> Array:
        return np.asarray(a * b)

    def matmul(self, a: Array, b: Array) -> Array:
        if a.ndim == 2 or self._product is matmul:
            return np.asarray(self._product(a, b))
        stack = a.shape[:-2]
        parts = zip(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:]), strict=True)
        found = np.array([self._product(x, y) for x, y in parts])
        return found.reshape(*stack, a.shape[-2], b.shape[-1])

    def added(self, a: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(a.sum(axis=axes))

    def reciprocals(self, node: Node, a: Array) -> Array:
        return 1 / a

    def root(self, node: Node, a: Array) -> Array:
        return np.asarray(np.frompyfunc(lambda x: x.sqrt(), 1, 1)(a))

    def apply(self, node: Node, name: str, a: Array) -> Array:
        assert self._function is not None
        return np.asarray(self._function(node).values(a))

    def slopes_of_function(self, node: Node, a: Array, z: Array) -> Array:
        assert self._function is not None
        return np.asarray(self._function(node).slopes(a, z))


def number_in(array: Array) -> Callable[[int, int], Any]:
    """The map from numerator and denominator to the ring of an array's entries."""
    if not array.size or isinstance(array.flat[0], (int, np.integer)):
        return fmpq
    if array.dtype.kind in "fc":
        return truediv
    one = array.flat[0] * 0 + 1
    return lambda above, below: one * above if below == 1 else one * above / below


def placed(
    program: Program, weights: Mapping[str, Array], samples: Mapping[str, Array]
) -> dict[str, Array]:
    """The blocks of the program as values: a batch axis is added to weights; samples have it.

    A weight may be a `SparseMatrix`.
    """
    held = {name: _block(weights[name]) for name in program.weights}
    return held | {name: np.asarray(samples[name]) for name in program.samples}


def _block(weight: Any) -> Any:
    if isinstance(weight, SparseMatrix):
        return SparseBlock(weight)
    return np.asarray(weight)[..., None]
