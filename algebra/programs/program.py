r"""A network as a program: a list of operations on blocks, in the order of evaluation.

A program computes the labels of *one* sample.  Its blocks are weights, which are the same for all
samples, and samples.  A value that depends on a sample is *batched*: an arithmetic stores it with a
further axis, the last, of size m.  No operation mixes two samples.  This holds for every network
that labels samples one by one, and it makes Jacobians cheap: a label depends on the weights through
its own sample only.

Operations
----------
=========  =========================================  ============================================
op         value                                      attributes
=========  =========================================  ============================================
block      a weight or a sample                       `name`
constant   rational numbers                           `table` (integers) divided by `number`
add        the sum of one or more values              one shape
multiply   the entrywise product of two values        one shape
scale      a value times a rational number            `number`
contract   an Einstein sum of one or more values      `letters`: ``"ij,j->i"``
index      entries of the values, put together        `where`: places, see below
power      entrywise, exponent 0 or more              `number`
invert     entrywise 1/x
root       entrywise square root
apply      a function of one variable, entrywise      `name`: that of its `Activation`
choose     by the sign of the first value: the        one shape
           second where it is positive, else the
           third
=========  =========================================  ============================================

`index` does all that moves entries without computation (slices, transposes, reshapes, repeats,
concatenation, padding, the patches of a convolution).  The entries of its inputs, one input after
another and each in row-major order, are numbered 0, 1, …; `where`, of the shape of the value, gives
the number of the entry at each place, or −1 for the number 0.

In `contract` a letter that occurs in an input and not in the result is summed; a letter that occurs
twice in one input takes the diagonal.  The batch axis has no letter.

Examples
--------
The shallow network y = V φ(U x):

>>> build = Builder()
>>> U, V = build.weight("U", (3, 2)), build.weight("V", (1, 3))
>>> x = build.sample("X", (2,))
>>> hidden = build.apply("tanh", build.contract("ij,j->i", U, x))
>>> print(build.program(build.contract("ij,j->i", V, hidden)))
0  U       weight                       3×2
1  V       weight                       1×3
2  X       sample                       2 per sample
3  contract ij,j->i (0, 2)              3 per sample
4  apply tanh (3)                       3 per sample
5  contract ij,j->i (1, 4)              1 per sample
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.patches import Patches
from algebra.time_limits import check_time

# Operations of a program from a file.
MOST_OPERATIONS = 200_000
# Entries of values for each entry of the tables of a program from a file.
_VALUES = 64
# Places in a table from which its memory is compared with the limit.
_LARGE_TABLE = 1 << 18
# Entries that are compared at a time.
_BLOCK = 1 << 15
# Entries from which an index looks whether it moves whole axes.
_LARGE_INDEX = 1 << 12
Shape = tuple[int, ...]
Role = Literal["weight", "sample"]

OPERATIONS = (
    "block",
    "constant",
    "add",
    "multiply",
    "scale",
    "contract",
    "index",
    "power",
    "invert",
    "root",
    "apply",
    "choose",
)


@dataclass(frozen=True)
class Block:
    """A named input array of a program.

    Attributes
    ----------
    name : str
    shape : tuple of int
        For a sample: the shape of one sample, without the batch axis.
    role : {"weight", "sample"}
    """

    name: str
    shape: Shape
    role: Role


@dataclass(frozen=True, eq=False)
class Node:
    """One operation of a program; the module describes each.

    Attributes
    ----------
    op : str
        One of `OPERATIONS`.
    inputs : tuple of int
        Numbers of earlier nodes.
    shape : tuple of int
        Shape of the value, without the batch axis.
    batched : bool
        Whether the value depends on the sample.
    name : str
        Name of a block, or of an applied function.
    letters : str
        Letters of a contraction.
    number : Fraction or None
        The factor of `scale`, the exponent of `power`, the denominator of `constant`.
    places : ndarray of int64, Patches or None
        Places of `index`; `where` is all of them as an array.
    table : ndarray of int64 or of Python integers, or None
        Numerators of `constant`.
    label : str
        The name of the value in messages: the node's name in a file, for example.
    """

    op: str
    inputs: tuple[int, ...]
    shape: Shape
    batched: bool
    name: str = ""
    letters: str = ""
    number: Fraction | None = None
    places: np.ndarray | Patches | None = None
    table: np.ndarray | None = None
    label: str = ""

    @property
    def size(self) -> int:
        """Number of entries of the value for one sample."""
        return math.prod(self.shape)

    def used(self, with_signs: bool = True) -> tuple[int, ...]:
        """The inputs that determine the value; those of `choose` if its signs are known."""
        return self.inputs if with_signs or self.op != "choose" else self.inputs[1:]

    @cached_property
    def is_reshape(self) -> bool:
        """Whether an index takes the first entries of one input in their order."""
        places = self.places
        return isinstance(places, np.ndarray) and len(self.inputs) == 1 and _is_range(places)

    @cached_property
    def strides(self) -> tuple[int, tuple[int, ...]] | None:
        """`algebra.programs.strides.strides_of` of an index of one large input."""
        places = self.places
        if not isinstance(places, np.ndarray) or len(self.inputs) > 1 or self.size < _LARGE_INDEX:
            return None
        from algebra.programs.strides import strides_of

        return strides_of(places)

    @property
    def where(self) -> np.ndarray | None:
        """Places of `index`, one for each entry; large for the patches of a convolution."""
        return self.places.dense() if isinstance(self.places, Patches) else self.places

    def __str__(self) -> str:
        if self.op == "block":
            return f"{self.name:<7} {'sample' if self.batched else 'weight'}"
        texts = [self.op, self.name, self.letters]
        if self.number is not None:
            texts.append(str(self.number))
        if self.inputs:
            texts.append(f"({', '.join(map(str, self.inputs))})")
        return " ".join(part for part in texts if part)


def _is_range(places: np.ndarray) -> bool:
    """Whether places are 0, 1, 2, … in row-major order."""
    size = places.size
    if not size or not places.flags.c_contiguous or places.flat[0] or places.flat[-1] != size - 1:
        return False
    flat = places.reshape(-1)
    parts = ((k, min(k + _BLOCK, size)) for k in range(0, size, _BLOCK))
    return all(np.array_equal(flat[k:end], np.arange(k, end)) for k, end in parts)


@dataclass(frozen=True)
class Value:
    """A node of a program under construction: its number, its shape, whether it is batched."""

    number: int
    shape: Shape
    batched: bool


def _restored(nodes: tuple[Node, ...], output: int, named: dict[str, int]) -> Program:
    """A program from another process."""
    return Program(nodes, output, MappingProxyType(named))


@dataclass(frozen=True, eq=False)
class Program:
    """A network as operations on named blocks.

    Attributes
    ----------
    nodes : tuple of Node
        In an order of evaluation.
    output : int
        The node whose value is the labels of one sample.
    named : mapping of str to int
        Other values that can be requested, such as states of hidden units.
    """

    nodes: tuple[Node, ...]
    output: int
    named: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: without what is computed once, which is computed there."""
        return _restored, (self.nodes, self.output, dict(self.named))

    @cached_property
    def moves(self) -> dict[tuple[int, int], Any]:
        """Where entries of inputs are moved to, by the numbers of node and input, once computed."""
        return {}

    @cached_property
    def scale_counts(self) -> dict[frozenset[str], int]:
        """Numbers of scales of some weights (`algebra.programs.scales`), as they are asked for."""
        return {}

    @cached_property
    def sweep_sizes(self) -> dict[frozenset[str], int]:
        """Bytes of a sweep by some weights for one sample, as they are asked for."""
        return {}

    @cached_property
    def sweeps(
        self,
    ) -> dict[tuple[frozenset[int], frozenset[str] | None, frozenset[int], bool], Any]:
        """Orders of evaluation with the nodes that move, by target and weights, once computed."""
        return {}

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, in the order of their creation."""
        return tuple(
            Block(node.name, node.shape, "sample" if node.batched else "weight")
            for node in self.nodes
            if node.op == "block"
        )

    @cached_property
    def weights(self) -> dict[str, Shape]:
        """Shapes of the weights by name."""
        return {block.name: block.shape for block in self.blocks if block.role == "weight"}

    @cached_property
    def samples(self) -> dict[str, Shape]:
        """Shapes of the samples by name, for one sample each."""
        return {block.name: block.shape for block in self.blocks if block.role == "sample"}

    def last_uses(self, among: Collection[int], with_signs: bool = True) -> dict[int, int]:
        """For each input of some nodes the last of them that uses it."""
        return {k: number for number in sorted(among) for k in self.nodes[number].used(with_signs)}

    def needed(self, wanted: Iterable[int], with_signs: bool = True) -> set[int]:
        """The nodes on which the given nodes depend, including themselves.

        Without signs, which are known then: not those on which nothing but signs depends.
        """
        found = set(wanted)
        for number in range(len(self.nodes) - 1, -1, -1):
            if number in found:
                found.update(self.nodes[number].used(with_signs))
        return found

    def __str__(self) -> str:
        rows = []
        for number, node in enumerate(self.nodes):
            shape = "×".join(map(str, node.shape)) or "1"
            texts = f"{number:<2} {node}"
            rows.append(f"{texts:<39} {shape}{' per sample' if node.batched else ''}")
        return "\n".join(rows)


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """A parameter as a matrix: its first axis, and all others."""
    return (shape[0] if shape else 1), math.prod(shape[1:])


class Builder:
    """Builds a program, one value after another; shapes are checked at once.

    Every method returns a `Value`, which the others take.  A wrong shape is an error of the calling
    code, and raises `ValueError`; readers of files check before they build.

    Equal weights, samples, constants and operations are created once: a repeated request returns
    the existing value.

    Parameters
    ----------
    most : int, optional
        For programs from files: how many entries all tables may have together, constants and
        places, which are in memory; values may have `_VALUES` times as many.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most, self._entries, self._values = most, 0, 0
        # Views of this array are places that take no memory.
        self._numbers = np.arange(0, dtype=np.int64)
        self._nodes: list[Node] = []
        self._blocks: dict[str, int] = {}
        self._known: dict[Any, int] = {}
        self._named: dict[str, int] = {}

    def room(self, entries: int, *, is_value: bool = False) -> None:
        """Refuse a table with more entries than there is room for, before it is made; or a value.

        Raises
        ------
        InputError
            If the number of entries, or that of operations, is limited.
        """
        if self._most is None:
            return
        check_time()
        if not is_value and entries > _LARGE_TABLE:
            from algebra.memory_limits import check_memory

            check_memory(2 * 8 * entries, f"a table of {shown(entries)} places of entries")
        most, before = self._most, self._entries
        if is_value:
            most, before = _VALUES * most, self._values
        # While it is made, a table is there twice.
        if before + (1 if is_value else 2) * entries > most:
            what = "values" if is_value else "tables"
            raise InputError(
                f"{shown(entries)} entries, and {before:,} of the {what} before, are more "
                f"than the {most:,} that a file of this length may have"
            )
        if len(self._nodes) >= MOST_OPERATIONS:
            raise InputError(f"it is more than {MOST_OPERATIONS:,} operations")

    @property
    def nodes(self) -> Sequence[Node]:
        """The operations so far."""
        return self._nodes

    # -- blocks and constants --------------------------------------------------------------

    def weight(self, name: str, shape: Sequence[int]) -> Value:
        """A block of weights."""
        return self._block(name, tuple(shape), False)

    def sample(self, name: str, shape: Sequence[int]) -> Value:
        """A block of inputs; `shape` is that of one sample."""
        return self._block(name, tuple(shape), True)

    def constant(self, numerators: Any, denominator: int = 1, label: str = "") -> Value:
        """Rational numbers with one denominator.

        Parameters
        ----------
        numerators : array of integers
            Of any shape; Python integers if 64 bits are not enough.
        denominator : int, optional
            1 or more.
        """
        table = np.asarray(numerators)
        if table.dtype.kind not in "iO" or denominator < 1:
            raise ValueError("a constant is integers over a positive integer")
        table = table.copy()
        table.flags.writeable = False
        return self._add(
            Node(
                "constant", (), table.shape, False, number=Fraction(denominator), table=table,
                label=label,
            ),
            (table.shape, table.ravel().tolist().__repr__()) if table.size <= 64 else None,
        )  # fmt: skip

    # -- operations ------------------------------------------------------------------------

    def add(self, *terms: Value) -> Value:
        """The sum of values of one shape; `repeated` gives them one shape."""
        self._same_shape("add", terms)
        if len(terms) == 1:
            return terms[0]
        return self._operation("add", terms, terms[0].shape)

    def subtract(self, a: Value, b: Value) -> Value:
        """a − b."""
        return self.add(a, self.scale(b, -1))

    def multiply(self, a: Value, b: Value) -> Value:
        """The entrywise product of two values of one shape."""
        self._same_shape("multiply", (a, b))
        return self._operation("multiply", (a, b), a.shape)

    def scale(self, a: Value, factor: int | Fraction) -> Value:
        """A value times a rational number."""
        if factor == 1:
            return a
        return self._operation("scale", (a,), a.shape, number=Fraction(factor))

    def contract(self, letters: str, *factors: Value, label: str = "") -> Value:
        """The Einstein sum of values; see the module.

        Parameters
        ----------
        letters : str
            As for `numpy.einsum`, with ``->`` and without ellipsis.
        *factors : Value
            One for each group of letters.
        """
        groups, _, result = letters.partition("->")
        sizes: dict[str, int] = {}
        inputs = groups.split(",")
        if "->" not in letters or len(inputs) != len(factors):
            raise ValueError(f"contract {letters!r}: {len(factors)} values, {len(inputs)} groups")
        for group, factor in zip(inputs, factors, strict=True):
            if len(group) != len(factor.shape):
                raise ValueError(f"contract {letters!r}: {group!r} for the shape {factor.shape}")
            for letter, size in zip(group, factor.shape, strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise ValueError(
                        f"contract {letters!r}: {letter} is both {sizes[letter]} and {size}"
                    )
        if len(set(result)) < len(result) or not set(result) <= set(sizes):
            raise ValueError(f"contract {letters!r}: its result cannot be made")
        if inputs == [result]:
            return factors[0]
        shape = tuple(sizes[letter] for letter in result)
        return self._operation("contract", factors, shape, letters=letters, label=label)

    def index(self, where: Any, *parts: Value, label: str = "") -> Value:
        """Entries of values, gathered; see the module.

        Parameters
        ----------
        where : array of int
            For each place of the result the number of its entry, or −1 for 0.
        *parts : Value
        """
        if self._held(where):
            self.room(np.size(where))
        places = np.asarray(where, dtype=np.int64)
        total = sum(math.prod(part.shape) for part in parts)
        if places.size and not (places.min() >= -1 and places.max() < total):
            raise ValueError(f"index: places {places.min()} … {places.max()} of {total} entries")
        if len(parts) == 1 and places.shape == parts[0].shape and (not total or _is_range(places)):
            return parts[0]
        places = places.view()
        places.flags.writeable = False
        return self._add(
            Node(
                "index", tuple(part.number for part in parts), places.shape,
                any(part.batched for part in parts), places=places, label=label,
            ),
            None,
        )  # fmt: skip

    def patches(
        self, channels: int, inner: int, windows: Any, shape: Sequence[int], a: Value
    ) -> Value:
        """Patches of a convolution: `index` by the places of `algebra.programs.patches.Patches`."""
        places = Patches(channels, inner, windows, tuple(shape))
        if channels * inner != math.prod(a.shape) or places.windows.size * channels != math.prod(
            places.shape
        ):
            raise ValueError(f"patches of the shape {places.shape} of a value of {a.shape}")
        places.windows.flags.writeable = False
        return self._add(Node("index", (a.number,), places.shape, a.batched, places=places), None)

    def power(self, a: Value, exponent: int) -> Value:
        """Entrywise; x^0 is 1."""
        if exponent < 0:
            raise ValueError(f"power: the exponent {exponent} is negative; use invert")
        if exponent == 1:
            return a
        return self._operation("power", (a,), a.shape, number=Fraction(exponent))

    def invert(self, a: Value, label: str = "") -> Value:
        """Entrywise 1/x."""
        return self._operation("invert", (a,), a.shape, label=label)

    def root(self, a: Value, label: str = "") -> Value:
        """Entrywise square root."""
        return self._operation("root", (a,), a.shape, label=label)

    def apply(self, name: str, a: Value, label: str = "") -> Value:
        """A function of one variable, entrywise, by the name of its activation."""
        return self._operation("apply", (a,), a.shape, name=name, label=label)

    def choose(self, sign: Value, positive: Value, other: Value, label: str = "") -> Value:
        """Entries of `positive` where `sign` is positive, else those of `other`."""
        self._same_shape("choose", (sign, positive, other))
        return self._operation("choose", (sign, positive, other), sign.shape, label=label)

    def rectified(self, a: Value, label: str = "") -> Value:
        """Positive entries, and 0 in place of the others: ReLU."""
        return self.choose(a, a, self.scale(a, 0), label)

    # -- moves -----------------------------------------------------------------------------

    def places(self, a: Value) -> np.ndarray:
        """The numbers of a value's entries, in its shape, for use in `index`; read-only."""
        size = math.prod(a.shape)
        if size > len(self._numbers):
            self.room(size)
            self._numbers = np.arange(max(size, 2 * len(self._numbers)), dtype=np.int64)
            self._numbers.flags.writeable = False
            self._entries += len(self._numbers)
        return self._numbers[:size].reshape(a.shape)

    def reshaped(self, a: Value, shape: Sequence[int]) -> Value:
        """The same entries in row-major order under another shape."""
        return self.index(self.places(a).reshape(shape), a)

    def transposed(self, a: Value, axes: Sequence[int] | None = None) -> Value:
        """The axes in another order; reversed by default."""
        return self.index(self.places(a).transpose(axes), a)

    def repeated(self, a: Value, shape: Sequence[int]) -> Value:
        """The value broadcast to a shape, by NumPy's rules."""
        return self.index(np.broadcast_to(self.places(a), tuple(shape)), a)

    def joined(self, parts: Sequence[Value], axis: int = 0) -> Value:
        """Values one after another along an axis."""
        start, tables = 0, []
        for part in parts:
            tables.append(self.places(part) + start)
            start += math.prod(part.shape)
        return self.index(np.concatenate(tables, axis=axis), *parts)

    # -- the program -------------------------------------------------------------------------

    def copied(self, node: Node, inputs: Sequence[Value]) -> Value:
        """A copy of another program's node, applied to inputs of the same shapes."""
        if node.op == "block":
            return self._block(node.name, node.shape, node.batched)
        numbers = tuple(value.number for value in inputs)
        key = (node.op, numbers, node.name, node.letters, node.number)
        moves = node.op in ("constant", "index")
        return self._add(replace(node, inputs=numbers), None if moves else key)

    def name(self, name: str, value: Value) -> Value:
        """Give a value a name by which it can be requested."""
        if self._named.setdefault(name, value.number) != value.number:
            raise ValueError(f"two values are named {name!r}")
        return value

    def program(self, output: Value) -> Program:
        """The program whose labels are a value; unused blocks are kept."""
        return Program(tuple(self._nodes), output.number, MappingProxyType(dict(self._named)))

    # -- inside ------------------------------------------------------------------------------

    def _block(self, name: str, shape: Shape, batched: bool) -> Value:
        if name in self._blocks:
            node = self._nodes[self._blocks[name]]
            if (node.shape, node.batched) != (shape, batched):
                raise ValueError(f"two blocks are named {name!r}")
            return Value(self._blocks[name], shape, batched)
        value = self._add(Node("block", (), shape, batched, name=name), None)
        self._blocks[name] = value.number
        return value

    def _operation(
        self, op: str, inputs: Sequence[Value], shape: Shape, *, name: str = "",
        letters: str = "", number: Fraction | None = None, label: str = "",
    ) -> Value:  # fmt: skip
        numbers = tuple(value.number for value in inputs)
        batched = any(value.batched for value in inputs)
        node = Node(op, numbers, shape, batched, name, letters, number, label=label)
        return self._add(node, (op, numbers, name, letters, number))

    def _add(self, node: Node, key: Any) -> Value:
        """Add a node, or find the one that was added under the same key."""
        if key is not None:
            key = (node.op, node.number, key)
            if key in self._known:
                return Value(self._known[key], node.shape, node.batched)
        self.room(node.size, is_value=True)
        self._values += node.size
        held = sum(self._held(own) for own in (node.places, node.table) if own is not None)
        self.room(held)
        self._entries += held
        if key is not None:
            self._known[key] = len(self._nodes)
        self._nodes.append(node)
        return Value(len(self._nodes) - 1, node.shape, node.batched)

    def _held(self, table: Any) -> int:
        """Entries that a table takes in memory: none for a view of the numbers of entries."""
        if isinstance(table, Patches):
            return table.held
        owner = table if getattr(table, "base", None) is None else table.base
        return 0 if owner is self._numbers else int(np.size(owner))

    @staticmethod
    def _same_shape(op: str, values: Sequence[Value]) -> None:
        if not values or any(value.shape != values[0].shape for value in values):
            raise ValueError(f"{op}: the shapes {[value.shape for value in values]} differ")
