r"""The operands of graph operators: constants, and values of a program with their batch axis.

**One sample at a time.**  A program computes one sample; a graph computes a batch.  A value of the
graph whose shape has a batch axis is represented by the value of one sample, with the position of
that axis.  A reshape may merge the axis with others, (N, S, D) to (N·S, D): in the value of one
sample it then has the size S.  In other words: a shape of the graph is the shape of one sample,
times the size N at the batch axis, along which the entries of a sample are contiguous.  Every
operator determines the batch axis of its result, and refuses to combine entries of two samples.

N is a prime that occurs as a size in no graph, so that N is visible in computed shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from algebra.errors import InputError, one_line
from algebra.linalg.residues import times
from algebra.programs.program import Builder, Shape, Value

# The size of a batch axis without a given number.
BATCH = 1_000_003
# Axes of a value: contractions have a letter for each.
MOST_AXES = 16
# In a sum, these constants and smaller ones mean "leave out" (masks of attention).
MASKED = -10_000
# Sums of these numbers and of any others are these numbers, in floating point: they are −∞.
_LEAST = -(10**30)


@dataclass(frozen=True, eq=False)
class Item:
    """A value of a program, with the position of the graph value's batch axis.

    Attributes
    ----------
    value : Value
        The value of one sample.
    batch : int or None
        The axis.
    absent : ndarray of bool, or None
        Entries that are −∞, of the shape of one sample: those that a mask removes from a softmax.
    kept : Value or None
        Entries that are −∞ in some samples: 0 there and 1 elsewhere.
    """

    value: Value
    batch: int | None = None
    absent: np.ndarray | None = None
    kept: Value | None = None

    @property
    def shape(self) -> Shape:
        """The shape of one sample."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes, for one sample and for the batch."""
        return len(self.value.shape)


@dataclass(frozen=True, eq=False)
class Flags(Item):
    """A value whose entries are 0 and 1: a Boolean tensor of the graph."""


@dataclass(frozen=True, eq=False)
class Signs(Flags):
    """A comparison: 1 where a difference is positive, or, turned, where it is not.

    Attributes
    ----------
    difference : Value or None
    turned : bool
    """

    difference: Value | None = None
    turned: bool = False


@dataclass(frozen=True, eq=False)
class SampleConstants:
    """Constants with an axis of the samples, the same for all of them.

    Attributes
    ----------
    array : ndarray
        Those of one sample, with the axis.
    batch : int
        The axis.
    """

    array: np.ndarray
    batch: int

    def first(self, count: int) -> np.ndarray:
        """The constants of as many samples."""
        return np.concatenate([self.array] * count, axis=self.batch)


@dataclass(frozen=True, eq=False)
class Merged:
    """A value in which the axis of the samples is merged with axes before it.

    The entries of a sample are not contiguous along the merged axis, so only some operators apply:
    attention with positions first makes such rows for one product with a weight.

    Attributes
    ----------
    item : Item
        The value with separate axes.
    count : int
        How many are one.
    """

    item: Item
    count: int


@dataclass(frozen=True, eq=False)
class Tokens:
    """Integers that choose rows of a table: an input (tokens), or places of largest entries.

    Attributes
    ----------
    name : str
    where : ndarray of int
        Of the shape of one sample, with the batch axis: the numbers of the entries of the input.
    block : tuple of int
        Shape of the input, without the batch axis.
    batch : int or None
        The axis of the samples.
    hot : Value or None
        One row for each entry, with 1 at its number, if the program computes it.
    """

    name: str
    where: np.ndarray
    block: Shape
    batch: int | None = 0
    hot: Value | None = None

    @classmethod
    def computed(cls, hot: Value, batch: int | None) -> Tokens:
        """Numbers by their rows."""
        shape = hot.shape[:-1]
        where = np.arange(math.prod(shape)).reshape(shape)
        return cls("places of the largest entries", where, shape, batch, hot)

    @classmethod
    def of(cls, name: str, block: Sequence[int], batch: int | None = 0) -> Tokens:
        """An input as it is given."""
        own = list(block)
        if batch is not None:
            own.insert(batch, 1)
        return cls(name, np.arange(math.prod(block)).reshape(own), tuple(block), batch)

    @property
    def shape(self) -> Shape:
        """The shape of one sample, with the batch axis."""
        return self.where.shape

    @property
    def title(self) -> str:
        """What they are, in messages."""
        if self.hot is not None:
            return self.name
        return f"the input `{one_line(self.name)}` of whole numbers"


def constant_of(build: Builder, value: Value) -> tuple[np.ndarray, int] | None:
    """The numerators of a value of constants, perhaps moved, over one denominator; or None."""
    node = build.nodes[value.number]
    if node.op == "constant":
        assert node.table is not None
        return node.table, int(node.number or 1)
    if node.op != "index" or node.where is None:
        return None
    parts = [constant_of(build, Value(k, build.nodes[k].shape, False)) for k in node.inputs]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({below for _, below in known}) > 1:
        return None
    # The number −1 stands for 0.
    flat = np.concatenate([*(np.ravel(table) for table, _ in known), [0]])
    return flat[node.where], known[0][1]


def check_numbers(array: np.ndarray, what: str) -> None:
    """Refuse entries that are no real numbers.

    Raises
    ------
    InputError
    """
    if array.dtype.kind in "biu":
        return
    if array.dtype.kind != "f":
        raise InputError(f"{what} holds entries of type {array.dtype}, which are no real numbers")
    if not np.isfinite(array).all():
        first = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
        place = f" (the first at {first})" if first else ""
        raise InputError(f"{what} holds entries that are infinite or no numbers{place}")


# Largest arrays whose exact numbers are kept for the next time.
_KEPT = 1 << 20
# Entries handled at a time, so that intermediate arrays stay in the processor's cache.
_BLOCK = 1 << 15


class ExactNumbers(Mapping[str, tuple[np.ndarray, int]]):
    """Arrays as integers over a denominator, converted when they are asked for.

    Generic weights, which most questions are about, need no values; exact ones take up to twenty
    times the memory of a file.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._exact: dict[str, tuple[np.ndarray, int]] = {}

    def add(self, name: str, array: np.ndarray) -> None:
        """Enter an array of real numbers."""
        check_numbers(array, f"`{one_line(name)}`")
        self._arrays[name] = array

    def __getitem__(self, name: str) -> tuple[np.ndarray, int]:
        if name in self._exact:
            return self._exact[name]
        array = self._arrays[name]
        found = over_denominator(array, f"`{one_line(name)}`")
        if array.size <= _KEPT:
            self._exact[name] = found
        return found

    def residues(self, name: str, p: int) -> np.ndarray:
        """The numbers modulo an odd prime: m 2^e, without integers over one denominator."""
        array = self._arrays[name]
        out, flat = np.empty(array.size, np.int64), array.reshape(-1)
        for start in range(0, flat.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            if array.dtype.kind in "biu":
                out[part] = flat[part].astype(np.int64) % p
                continue
            mantissas, exponents = np.frexp(flat[part].astype(np.float64))
            least = int(exponents.min())
            powers = [pow(2, k - 53, p) for k in range(least, int(exponents.max()) + 1)]
            numbers = np.ldexp(mantissas, 53).astype(np.int64) % p
            out[part] = times(numbers, np.array(powers, np.int64)[exponents - least], p)
        return out.reshape(array.shape)

    def only(self, names: Iterable[str], others: Mapping[str, np.ndarray] = {}) -> ExactNumbers:
        """Some of the arrays, perhaps with others in their places."""
        out = ExactNumbers()
        out._arrays = {name: others.get(name, self._arrays[name]) for name in names}
        return out

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def over_denominator(array: np.ndarray, what: str) -> tuple[np.ndarray, int]:
    """Integers and their common denominator, exactly.

    Raises
    ------
    InputError
        If an entry is not a number.
    """
    check_numbers(array, what)
    if array.dtype.kind in "biu":
        return array.astype(np.int64), 1
    if array.dtype.itemsize <= 4 and array.size:
        found = _of_single(array)
        if found is not None:
            return found
    mantissas, exponents = np.frexp(array.astype(np.longdouble))
    exponents = np.where(array == 0, 0, exponents)
    # Doubles have 53 bits; those at the end that are 0 go to the exponent.
    numbers = np.ldexp(mantissas, 53).astype(np.int64)
    bits = np.where(numbers == 0, 0, np.frexp(numbers & -numbers)[1] - 1).astype(np.int64)
    numbers, exponents = numbers >> bits, np.where(array == 0, 0, exponents - 53 + bits)
    lowest = min(int(exponents.min(initial=0)), 0)
    places = exponents - lowest
    if np.all(places + np.frexp(np.abs(numbers))[1] <= 61):
        # The least exponent belongs to an odd number, so nothing is common.
        return numbers << places, 1 << -lowest
    whole, shifts = numbers.ravel().tolist(), exponents.ravel().tolist()
    least = min(shifts, default=0)
    table = np.empty(len(whole), dtype=object)
    table[:] = [v << (s - least) for v, s in zip(whole, shifts, strict=True)]
    if least >= 0:
        table *= 1 << least
        return _narrow(table.reshape(array.shape)), 1
    common = math.gcd(1 << -least, *table.tolist())
    return _narrow((table // common).reshape(array.shape)), (1 << -least) // common


def _of_single(array: np.ndarray) -> tuple[np.ndarray, int] | None:
    """`over_denominator` of numbers of 24 bits whose sizes differ by less than 2^37, quickly."""
    flat = array.astype(np.float32, copy=False).reshape(-1)
    blocks = [slice(start, start + _BLOCK) for start in range(0, flat.size, _BLOCK)]
    largest, least = 0.0, np.inf
    for part in blocks:
        sizes = np.abs(flat[part])
        largest = max(largest, float(sizes.max()))
        sizes[sizes == 0] = np.inf
        least = min(least, float(sizes.min()))
    if not largest:
        return np.zeros(array.shape, np.int64), 1
    below = max(24 - int(np.frexp(least)[1]), 0)
    if below + int(np.frexp(largest)[1]) > 61:
        return None
    numbers, common = np.empty(flat.size, np.int64), 0
    for part in blocks:
        numbers[part] = np.ldexp(flat[part].astype(np.float64), below)
        common |= int(np.bitwise_or.reduce(numbers[part]))
    spare = min(below, (common & -common).bit_length() - 1)
    if spare:
        numbers >>= spare
    return numbers.reshape(array.shape), 1 << (below - spare)


def _narrow(table: np.ndarray) -> np.ndarray:
    """As 64-bit integers, if possible."""
    if all(abs(v) < 1 << 62 for v in table.ravel().tolist()):
        return table.astype(np.int64)
    return table


def fraction(number: float | int) -> Fraction:
    """The number exactly."""
    return Fraction(number)


class Moves:
    """Operations on values of graphs; `build` holds the program.

    Parameters
    ----------
    build : Builder
    batch : int
        The size of the batch axis: `BATCH`, or a number that the graph gives it.
    assumed : list of str, optional
        Assumptions, which are added.
    """

    def __init__(self, build: Builder, batch: int, assumed: list[str] | None = None) -> None:
        self.build = build
        self.batch = batch
        self.assumed = [] if assumed is None else assumed

    def shape(self, item: Item | Merged) -> Shape:
        """The shape in the graph."""
        if isinstance(item, Merged):
            apart = self.shape(item.item)
            return (math.prod(apart[: item.count]), *apart[item.count :])
        return tuple(
            size * (self.batch if axis == item.batch else 1) for axis, size in enumerate(item.shape)
        )

    def shape_of(self, tokens: Tokens) -> Shape:
        """The shape in the graph of integers."""
        return tuple(
            size * (self.batch if axis == tokens.batch else 1)
            for axis, size in enumerate(tokens.shape)
        )

    def constant(self, array: np.ndarray, what: str = "a constant") -> Item:
        """Constants of the graph; −∞ and the numbers that mean it are absent."""
        absent = None
        if array.dtype.kind == "f" and array.size:
            absent = array <= MASKED
            if (absent & (array > _LEAST)).any():
                text = f"numbers of {MASKED} and less in a mask are −∞ (e^{MASKED} is 0)"
                self.assume(text)
            array = np.where(absent, 0, array).astype(array.dtype)
        table, denominator = over_denominator(array, what)
        made = self.build.constant(table, denominator)
        return Item(made, None, absent if absent is not None and absent.any() else None)

    def assume(self, text: str) -> None:
        """An assumption about samples or weights, said once."""
        self.assumed += [text] if text not in self.assumed else []

    def is_root(self, item: Item) -> bool:
        """Whether entries are square roots, perhaps moved."""
        node = self.build.nodes[item.value.number]
        while node.op == "index" and len(node.inputs) == 1:
            node = self.build.nodes[node.inputs[0]]
        return node.op == "root"

    def move(self, item: Item, places: np.ndarray, batch: int | None) -> Item:
        """Entries in another arrangement, −1 for 0."""
        self.build.room(places.size)
        if places.ndim > MOST_AXES:
            raise InputError(f"a value of {places.ndim} axes; up to {MOST_AXES} are read")
        absent = None
        if item.absent is not None:
            absent = np.append(item.absent.ravel(), False)[places]
        made = self.build.index(places, item.value)
        if isinstance(item, Signs) and item.difference is not None and (places >= 0).all():
            moved = self.build.index(places, item.difference)
            return replace(item, value=made, batch=batch, difference=moved)
        if isinstance(item, Flags):
            return Flags(made, batch)
        kept = None
        if item.kept is not None:
            one = self.build.constant(np.ones(1, np.int64))
            outside = np.where(places < 0, math.prod(item.shape), places)
            kept = self.build.index(outside, item.kept, one)
        return Item(made, batch, absent, kept)

    def places(self, item: Item) -> np.ndarray:
        """The numbers of the entries, to be rearranged."""
        return self.build.places(item.value)

    def plain(self, item: Item) -> Item:
        """A value without entries −∞; refused if it has some."""
        if item.absent is not None or item.kept is not None:
            raise InputError(
                f"entries that are −∞ (or {MASKED} and less) stand where no softmax takes them out"
            )
        return item

    def repeated(self, array: np.ndarray, shape: Sequence[int]) -> SampleConstants:
        """Constants repeated to a shape of the graph with an axis of the samples."""
        wanted = [1] * (array.ndim - len(shape)) + list(shape)
        batch = next(k for k, size in enumerate(wanted) if size and size % self.batch == 0)
        wanted[batch] //= self.batch
        try:
            full = np.broadcast_shapes(array.shape, tuple(wanted))
        except ValueError:
            raise InputError(f"the shape {array.shape} cannot become {tuple(shape)}") from None
        self.build.room(math.prod(full))
        return SampleConstants(np.broadcast_to(array, full), batch)

    def elementwise(self, item: Item, apply: Callable[[Value], Value]) -> Item:
        """A function of each entry."""
        return Item(apply(self.plain(item).value), item.batch)

    def broadcast(self, *items: Item) -> list[Item]:
        """The values repeated to one shape, by the rules of NumPy."""
        ndim = max(item.ndim for item in items)
        lifted = [self.lifted(item, ndim) for item in items]
        axes = {item.batch for item in lifted if item.batch is not None}
        if len(axes) > 1:
            raise InputError("it combines samples of a batch with each other")
        batch = axes.pop() if axes else None
        if batch is not None:
            lifted = [self.per_sample(item, batch) for item in lifted]
        try:
            shape = np.broadcast_shapes(*(item.shape for item in lifted))
        except ValueError:
            shapes = " and ".join(str(self.shape(item)) for item in items)
            raise InputError(f"the shapes {shapes} do not fit") from None
        self.build.room(math.prod(shape))
        if batch is not None and any(
            item.batch == batch and item.shape[batch] != shape[batch] for item in lifted
        ):
            raise InputError("it combines samples of a batch with each other")
        return [
            item
            if item.shape == shape and item.batch == batch
            else self.move(item, np.broadcast_to(self.places(item), shape), batch)
            for item in lifted
        ]

    def per_sample(self, item: Item, axis: int) -> Item:
        """A value that meets an axis of the samples with this one of its own.

        Files for a fixed number of samples have constants for each of them.
        """
        size = item.shape[axis]
        if item.batch is not None or size == 1:
            return item
        known = constant_of(self.build, item.value)
        if known is not None and self.batch > 1 and size and size % self.batch == 0:
            parts = np.split(known[0], self.batch, axis)
            if all(np.array_equal(part, parts[0]) for part in parts):
                own = np.split(self.places(item), self.batch, axis)[0]
                return self.move(item, own, axis)
        said = f"it combines a batch axis with an axis of fixed size {size}"
        if self.batch > 1 and size == self.batch:
            said += ": export with an example of one sample, or with a batch axis of any size"
        raise InputError(said)

    def lifted(self, item: Item, ndim: int) -> Item:
        """The value with axes of size 1 added before its own."""
        more = ndim - item.ndim
        if not more:
            return item
        batch = None if item.batch is None else item.batch + more
        return self.move(item, self.places(item).reshape((1,) * more + item.shape), batch)

    def reshaped(self, item: Item, shape: Sequence[int]) -> Item:
        """Another shape of the graph; one size may be −1."""
        old, wanted = self.shape(item), list(shape)
        if -1 in wanted:
            rest = math.prod(size for size in wanted if size != -1)
            wanted[wanted.index(-1)] = math.prod(old) // rest if rest else 0
        if math.prod(wanted) != math.prod(old):
            raise InputError(f"the shape {old} cannot become {tuple(shape)}")
        if item.batch is None:
            return self.move(item, self.places(item).reshape(wanted), None)
        before = math.prod(item.shape[: item.batch])
        for axis, size in enumerate(wanted):
            if math.prod(wanted[:axis]) == before and size % self.batch == 0:
                own = [*wanted[:axis], size // self.batch, *wanted[axis + 1 :]]
                return self.move(item, self.places(item).reshape(own), axis)
        raise InputError(f"the shape {old} becomes {tuple(wanted)}, which splits the batch axis")

    def merged(self, item: Item | Merged, shape: Sequence[int]) -> Item | Merged:
        """Another shape, in which the axis of the samples may be one with all axes before it."""
        if isinstance(item, Merged):
            return self.reshaped(item.item, shape)
        if not item.batch or not shape:
            return self.reshaped(item, shape)
        old, wanted = self.shape(item), list(shape)
        if wanted.count(-1) == 1 and 0 not in wanted:
            wanted[wanted.index(-1)] = math.prod(old) // -math.prod(wanted)
        lead = math.prod(old[: item.batch])
        first, rest = divmod(wanted[0], lead) if lead > 1 else (0, 0)
        if not first or rest or first % self.batch:
            return self.reshaped(item, shape)
        apart = [*old[: item.batch], first, *wanted[1:]]
        return Merged(self.reshaped(item, apart), item.batch + 1)

    def transposed(self, item: Item, axes: Sequence[int]) -> Item:
        """The axes in another order."""
        batch = None if item.batch is None else list(axes).index(item.batch)
        return self.move(item, self.places(item).transpose(axes), batch)

    def expanded(self, item: Item, shape: Sequence[int]) -> Item:
        """Repeated to a shape of the graph; the value may lack its batch axis."""
        ndim = max(item.ndim, len(shape))
        wanted = [1] * (ndim - len(shape)) + list(shape)
        lifted = self.lifted(item, ndim)
        batch = lifted.batch
        if batch is None and self.batch > 1:
            batch = next((k for k, size in enumerate(wanted) if size % self.batch == 0), None)
        own = [
            size // self.batch if k == batch and size % self.batch == 0 else size
            for k, size in enumerate(wanted)
        ]
        if (
            batch is not None
            and lifted.batch is None
            and lifted.shape[batch] not in (1, own[batch])
        ):
            raise InputError(f"the shape {self.shape(item)} cannot become {tuple(shape)}")
        try:
            full = np.broadcast_shapes(lifted.shape, tuple(own))
            places = np.broadcast_to(self.places(lifted), full)
        except ValueError:
            message = f"the shape {self.shape(item)} cannot become {tuple(shape)}"
            raise InputError(message) from None
        self.build.room(math.prod(full))
        return self.move(lifted, places, batch)

    def without_axes(self, item: Item, axes: Sequence[int]) -> Item:
        """Remove axes of size 1; the batch axis is kept."""
        kept = [k for k in range(item.ndim) if k not in axes]
        if item.batch in axes and self.batch > 1:
            raise InputError("it takes the batch axis away")
        batch = kept.index(item.batch) if item.batch in kept else None
        return self.move(item, self.places(item).reshape([item.shape[k] for k in kept]), batch)

    def axis(self, item: Item, axis: int) -> int:
        """The index of an axis from 0."""
        if not -item.ndim <= axis < max(item.ndim, 1):
            raise InputError(f"it has no axis {axis}: its shape is {self.shape(item)}")
        return axis % max(item.ndim, 1)

    def along(self, item: Item, axis: int, what: str) -> int:
        """The index of an axis from 0; the batch axis is refused."""
        axis = self.axis(item, axis)
        if axis == item.batch:
            raise InputError(f"it {what} the batch axis, so that a label depends on other samples")
        return axis

    def summed(self, item: Item, axes: Sequence[int], keep: bool) -> Item:
        """Sums along axes."""
        axes = sorted({self.along(item, axis, "adds along") for axis in axes})
        if not axes:
            return item
        letters = letters_of(item.ndim)
        kept = "".join(c for k, c in enumerate(letters) if k not in axes)
        total = self.build.contract(f"{letters}->{kept}", self.plain(item).value)
        left = [k for k in range(item.ndim) if k not in axes]
        batch = left.index(item.batch) if item.batch in left else None
        found = Item(total, batch)
        if not keep:
            return found
        shape = [1 if k in axes else size for k, size in enumerate(item.shape)]
        return self.move(found, self.places(found).reshape(shape), item.batch)

    def mean(self, item: Item, axes: Sequence[int], keep: bool) -> Item:
        """Means along axes."""
        total = self.summed(item, axes, keep)
        count = math.prod(item.shape[axis] for axis in {self.axis(item, axis) for axis in axes})
        return Item(self.build.scale(total.value, Fraction(1, count)), total.batch)

    def largest(self, parts: Sequence[Item]) -> Item:
        """The entrywise maximum of values of one shape, by pairwise comparisons."""
        left = [self.plain(part) for part in parts]
        while len(left) > 1:
            paired = [self._larger(a, b) for a, b in zip(left[::2], left[1::2], strict=False)]
            left = paired + ([left[-1]] if len(left) % 2 else [])
        return left[0]

    def largest_at(self, item: Item, places: np.ndarray, batch: int | None) -> Item:
        """Maxima of entries, over the first axis of their places.

        By halves, each half one value, so that a program has few nodes for many entries.  Entries
        that are −∞ are left out: another one is compared in their place.

        Parameters
        ----------
        item : Item
        places : ndarray of int
            An axis to compare along, then those of the result.
        batch : int or None
            The axis of the samples in the result.
        """
        inner = None if batch is None else batch + 1
        nothing = None
        if item.absent is not None and item.kept is None:
            gone = item.absent.ravel()[places]
            first = np.take_along_axis(places, np.argmin(gone, 0)[None], 0)
            places, nothing = np.where(gone, first, places), gone.all(0)
            item = replace(item, absent=None)
        item, left = self.plain(item), list[Item]()
        while len(places) > 1:
            if len(places) % 2:
                left.append(self.move(item, places[-1], batch))
            ends = 0, len(places) // 2, len(places) // 2 * 2
            a, b = (self.move(item, places[i:j], inner) for i, j in pairwise(ends))
            item = self._larger(a, b)
            places = self.places(item)
        found = self.largest([self.move(item, places[0], batch), *left])
        return found if nothing is None or not nothing.any() else replace(found, absent=nothing)

    def _larger(self, a: Item, b: Item) -> Item:
        return Item(
            self.build.choose(self.build.subtract(a.value, b.value), a.value, b.value), a.batch
        )

    def product(self, a: Item, b: Item) -> Item:
        """The entrywise product, broadcast."""
        left, right = self.broadcast(self.plain(a), self.plain(b))
        return Item(self.build.multiply(left.value, right.value), left.batch)

    def total(self, *items: Item) -> Item:
        """The sum, broadcast; entries that are absent in one term are absent in it."""
        parts = self.broadcast(*items)
        absent = None
        for part in parts:
            if part.absent is not None:
                absent = part.absent if absent is None else absent | part.absent
        kept = self.both(*(part.kept for part in parts))
        return Item(self.build.add(*(part.value for part in parts)), parts[0].batch, absent, kept)

    def both(self, *kept: Value | None) -> Value | None:
        """The entries that several masks keep."""
        given = [value for value in kept if value is not None]
        found = given[0] if given else None
        for value in given[1:]:
            assert found is not None
            found = self.build.multiply(found, value)
        return found

    def chosen(self, mark: Flags, a: Item, b: Item) -> Item:
        """The entries of a where a mask is 1, and of b where it is 0: m a + (1 − m) b.

        An entry that is −∞ where it is chosen is absent in these samples.  By a comparison the
        entries are taken, not multiplied: where they are not chosen they may be no numbers.
        """
        masked = any(item.absent is not None or item.kept is not None for item in (a, b))
        if isinstance(mark, Signs) and mark.difference is not None and not masked:
            first, second = (b, a) if mark.turned else (a, b)
            own = Item(mark.difference, mark.batch)
            sign, first, second = self.broadcast(own, first, second)
            found = self.build.choose(sign.value, first.value, second.value)
            return Item(found, sign.batch)
        mark, a, b = self.broadcast(mark, a, b)  # type: ignore[assignment]
        build, other = self.build, self.opposite(mark)
        parts, kept = [], []
        for m, item in ((mark.value, a), (other.value, b)):
            parts.append(build.multiply(m, item.value))
            if item.absent is not None or item.kept is not None:
                there = item.kept
                if item.absent is not None:
                    there = self.both(there, build.constant((~item.absent).astype(np.int64)))
                assert there is not None
                kept.append(build.multiply(m, there))
            else:
                kept.append(m)
        return Item(build.add(*parts), mark.batch, None, build.add(*kept) if masked else None)

    def opposite(self, mark: Item) -> Flags:
        """1 where a mask is 0."""
        if isinstance(mark, Signs):
            found = self.opposite(Flags(mark.value, mark.batch))
            return replace(mark, value=found.value, turned=not mark.turned)
        ones = self.build.constant(np.ones(mark.shape, np.int64))
        return Flags(self.build.subtract(ones, mark.value), mark.batch)

    def scaled(self, item: Item, factor: Fraction) -> Item:
        """Times a rational number."""
        return Item(self.build.scale(self.plain(item).value, factor), item.batch)


def letters_of(count: int, start: int = 0) -> str:
    """As many letters as a contraction has axes."""
    return "".join(chr(ord("a") + k) for k in range(start, start + count))
