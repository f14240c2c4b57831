"""The weights that the nodes of a graph use and their known properties; the result of a reader."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

import numpy as np

from algebra.errors import ErrorsAt, InputError, one_line
from algebra.plugins.models.onnx.values import (
    ExactNumbers,
    Flags,
    Item,
    Merged,
    Moves,
    Tokens,
    over_denominator,
)
from algebra.programs.program import Program, Shape, Value


@dataclass(frozen=True)
class Parameter:
    """A floating-point tensor of a model whose use is not known yet.

    Attributes
    ----------
    name : str
    array : ndarray
    """

    name: str
    array: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Read:
    """The content of a file or a module.

    Attributes
    ----------
    program : Program
        It computes the labels of one sample, in one row.
    values : mapping of str to (ndarray of int, int)
        The weights' values, exactly: integers over a denominator.  A variance v of batch
        normalization is represented by 1/√(v + ε), rounded to binary64.
    buffers : frozenset of str
        Weights that never learn: statistics of batch normalization.
    tokens : mapping of str to int
        Samples that choose rows of a table, as 0 and 1, with the number of rows; `TokenSizes` if
        no sample contains some of these numbers, according to `assumed`.
    roles : mapping of str to str
        The role of each weight: words of "norm", "bias", "matrix".
    trainable : frozenset of str, or None
        Parameters that learn according to the module (they require a gradient); None for a file.
    squares : mapping of str to (ndarray of int, int)
        For buffers that represent 1/√(v + ε): v + ε, exactly.
    assumed : tuple of str
        Assumptions about samples with which a module was read, each a sentence.
    absent : mapping of str to int
        Parameters of a module on which no label depends by gradients, with their sizes.
    stopped : mapping of str to str
        Those of them whose values count, but whose gradients are stopped, with the line of the
        module's code that stops them, if it is known.
    example : mapping of str to ndarray
        The samples with which a module was read, along the first axis; empty if they are not known.
    """

    program: Program
    values: Mapping[str, tuple[np.ndarray, int]]
    buffers: frozenset[str]
    tokens: Mapping[str, int]
    roles: Mapping[str, str]
    trainable: frozenset[str] | None = None
    squares: Mapping[str, tuple[np.ndarray, int]] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    absent: Mapping[str, int] = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)
    example: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __repr__(self) -> str:
        shapes = self.parameters
        numbers = sum(math.prod(shape) for shape in shapes.values())
        parts = [f"{len(shapes)} parameters ({numbers} numbers)"]
        if self.trainable is not None:
            parts.append(f"{len(self.trainable)} require a gradient")
        inputs = [
            f"{one_line(name)} "
            + ("×".join(map(str, shape if name not in self.tokens else shape[:-1])) or "1")
            + (f" tokens of {self.tokens[name]}" if name in self.tokens else "")
            for name, shape in self.program.samples.items()
        ]
        parts += [
            f"inputs {', '.join(inputs[:4])}" + (", …" if len(inputs) > 4 else ""),
            f"{self.program.nodes[self.program.output].size} labels",
            *self.assumed,
        ]
        return f"Read({'; '.join(parts)})"

    @property
    def parameters(self) -> dict[str, Shape]:
        """Shapes of the weights that may learn."""
        return {n: s for n, s in self.program.weights.items() if n not in self.buffers}


@dataclass(eq=False)
class Weights:
    """Properties of weights and of integer inputs, collected while nodes are read.

    Attributes
    ----------
    moves : Moves
        Creates the values of the program.
    values, buffers, roles, squares
        As in `Read`.
    token_sizes : dict of str to int
        Numbers of rows of the tables from which integer inputs choose.
    constants : dict of str to ndarray
        Constants that have become parameters, by the names made for them.
    padding : set of str
        Rows of padding, which never learn.
    """

    moves: Moves
    values: ExactNumbers = field(default_factory=ExactNumbers)
    buffers: set[str] = field(default_factory=set)
    token_sizes: dict[str, int] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    squares: dict[str, tuple[np.ndarray, int]] = field(default_factory=dict)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    padding: set[str] = field(default_factory=set)

    def weight(self, parameter: Parameter, role: str, epsilon: float | None = None) -> Item:
        """The weight of a parameter.

        With ε the parameter is a statistic of batch normalization: a mean (ε = 0), or a variance v,
        represented by 1/√(v + ε).
        """
        array = parameter.array
        if array is not self.constants.get(parameter.name, array):
            raise InputError(f"the name `{one_line(parameter.name)}` is that of a constant")
        if epsilon is not None:
            if parameter.name in self.values and parameter.name not in self.buffers:
                raise InputError(f"`{one_line(parameter.name)}` is a statistic and a weight")
            if epsilon:
                table, below = over_denominator(array, f"`{one_line(parameter.name)}`")
                small = Fraction(epsilon)
                sums = table.astype(object) * small.denominator + small.numerator * below
                self.squares[parameter.name] = sums, below * small.denominator
                shifted = array.astype(np.float64) + epsilon
                if not (shifted > 0).all():
                    raise InputError(f"`{one_line(parameter.name)}` is a variance below 0")
                array = 1 / np.sqrt(shifted)
            self.buffers.add(parameter.name)
        if parameter.name not in self.values:
            self.values.add(parameter.name, array)
            self.roles[parameter.name] = role
        return Item(self.moves.build.weight(parameter.name, array.shape))

    def without_row(self, parameter: Parameter, row: int) -> Item:
        """A table one row of which never learns: that of padding, a buffer with its number."""
        name, array = parameter.name, parameter.array
        table = self.weight(Parameter(name, np.delete(array, row, 0)), "")
        fixed = self.weight(Parameter(f"{name}[{row}]", array[row : row + 1]), "")
        self.buffers.add(f"{name}[{row}]")
        self.padding.add(f"{name}[{row}]")
        places = np.arange(array.size).reshape(array.shape)
        order = np.insert(np.arange(len(array) - 1), row, len(array) - 1)
        return Item(self.moves.build.index(places[order], table.value, fixed.value))

    def unnamed(self, array: np.ndarray) -> Parameter:
        """A constant of the graph as a parameter, with a name of its own."""
        name = next(n for k in count() if (n := f"constant {k}") not in self.values)
        self.constants[name] = array
        return Parameter(name, array)

    def rows(self, tokens: Tokens, table: Item) -> Item:
        """Rows of a table: the product with a one-hot matrix."""
        build, (size, *rest) = self.moves.build, table.shape
        if tokens.hot is not None:
            if tokens.hot.shape[-1] > size:
                raise InputError(f"it takes rows 0 … {tokens.hot.shape[-1] - 1} of {size}")
        elif self.token_sizes.setdefault(tokens.name, size) != size:
            raise InputError(f"`{one_line(tokens.name)}` chooses rows of tables of different sizes")
        rows = self._chosen(tokens, size)
        flat = build.reshaped(table.value, (size, math.prod(rest)))
        made = build.contract("sv,vd->sd", rows, flat)
        shaped = build.reshaped(made, (*tokens.shape, *rest))
        return Item(shaped, tokens.batch)

    def _chosen(self, tokens: Tokens, size: int) -> Value:
        """One row for each entry: 1 at its number."""
        build = self.moves.build
        if tokens.hot is None:
            block = build.sample(tokens.name, (*tokens.block, size))
            places = build.places(block).reshape(-1, size)[tokens.where.ravel()]
            return build.index(places, block)
        own = build.places(tokens.hot).reshape(-1, tokens.hot.shape[-1])
        none = np.full((len(own), size - own.shape[1]), -1)
        places = np.concatenate([own, none], axis=1)[tokens.where.ravel()]
        return build.index(places, tokens.hot)

    def flags(self, tokens: Tokens) -> Flags:
        """The entries of a Boolean input: it chooses one of two rows."""
        if self.token_sizes.setdefault(tokens.name, 2) != 2:
            raise InputError(f"`{one_line(tokens.name)}` chooses rows and is a Boolean input")
        build, rows = self.moves.build, self._chosen(tokens, 2)
        places = build.places(rows)[:, 1].reshape(tokens.shape)
        return Flags(build.index(places, rows), tokens.batch)

    def read(self, labels: object, what: str, trainable: frozenset[str] | None = None) -> Read:
        """The program whose labels are a value of the graph, with its weights.

        Parameters
        ----------
        labels : object
            The object that represents the output.
        what : str
            The output, for messages.
        trainable : frozenset of str, optional

        Raises
        ------
        InputError
            If it is not a value that depends on samples.
        """
        moves = self.moves
        if isinstance(labels, Merged):
            # All entries of a sample are its labels, however they are arranged.
            labels = labels.item
        if isinstance(labels, Tokens):
            raise InputError(
                f"{what} holds whole numbers ({labels.title}), which do not move with any "
                "parameter: name the values before them, or another output, by `output`"
            )
        if not isinstance(labels, Item) or not labels.value.batched:
            raise InputError(f"{what} depends on no sample")
        if labels.batch is None and moves.batch > 1:
            raise InputError(f"{what} has no batch axis")
        with ErrorsAt(what):
            value = moves.plain(labels).value
        if not math.prod(value.shape):
            raise InputError(f"{what} has no entries: its shape is {moves.shape(labels)}")
        row = moves.build.reshaped(value, (math.prod(value.shape),))
        return Read(
            moves.build.program(row), self.values, frozenset(self.buffers), self.token_sizes,
            self.roles, trainable, self.squares,
        )  # fmt: skip
