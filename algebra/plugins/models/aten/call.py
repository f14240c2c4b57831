"""The node of an exported graph that is being read, with its arguments by name.

An operator of PyTorch is computed by operators of ONNX (`algebra.plugins.models.onnx`);
`AtenCall.run` applies one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.plugins.models.onnx.reader import OPERATORS, moved_tokens
from algebra.plugins.models.onnx.scope import Call, Known
from algebra.plugins.models.onnx.shapes import MOVED
from algebra.plugins.models.onnx.values import Item, Merged, Moves, Tokens
from algebra.plugins.models.onnx.weights import Parameter, Weights

# The ONNX operator set that the entries of the table use.
_OPSET = 23


@dataclass(frozen=True, eq=False)
class Repeated:
    """Constants with an axis of the samples, for the first `FEW` samples.

    Attributes
    ----------
    array : ndarray
    axis : int
        Along which the entries of a sample stand together.
    """

    array: np.ndarray
    axis: int

    def first(self, count: int) -> np.ndarray:
        """The constants of as many samples."""
        each = self.array.shape[self.axis] // FEW
        return np.take(self.array, range(count * each), self.axis)

    @property
    def counts_samples(self) -> bool:
        """Whether it holds the number of each sample."""
        shape = [FEW if k == self.axis else 1 for k in range(self.array.ndim)]
        return np.array_equal(self.array, np.arange(FEW).reshape(shape))

    def one(self) -> np.ndarray:
        """The constants of a sample, if they are the same for all."""
        found = self.first(1)
        for k, part in enumerate(np.split(self.array, FEW, self.axis)):
            if not np.array_equal(part, found, equal_nan=part.dtype.kind == "f"):
                raise InputError(f"a constant of sample {k} differs from that of sample 0")
        return found


# Samples for which constants with an axis of the samples are computed.
FEW = 3
Operand = Known | Parameter


class AtenCall:
    """One node: its arguments, and the methods that add values to the program.

    Parameters
    ----------
    moves : Moves
    arguments : mapping of str to object
        By the names of the operator's schema, with defaults for omitted ones; a tensor is given by
        the object that represents it.
    weights : Weights
    buffers : mapping of str to str
        The names of arguments that are buffers of the module.
    wanted : set of int, optional
        The numbers of its results that others use; all by default.
    """

    def __init__(
        self, moves: Moves, arguments: Mapping[str, Any], weights: Weights,
        buffers: Mapping[str, str], wanted: Set[int] | None = None,
    ) -> None:  # fmt: skip
        self.moves, self.arguments, self.weights = moves, arguments, weights
        self.buffers, self.wanted = buffers, wanted

    def wants(self, k: int) -> bool:
        """Whether result k is used."""
        return self.wanted is None or k in self.wanted

    def has(self, name: str) -> bool:
        """Whether an argument is given and not None."""
        return self.arguments.get(name) is not None

    def option(self, name: str, default: Any = None) -> Any:
        """An argument that is not a tensor."""
        value = self.arguments.get(name)
        return default if value is None else value

    def number(self, name: str, default: float) -> float:
        """A number; it may be given as a tensor of constants."""
        value = self.option(name, default)
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"`{name}` depends on samples or weights")
        return value

    def __getitem__(self, name: str) -> Operand | None:
        """A tensor; a number is converted to one; None if it is omitted."""
        return self.operand(self.arguments.get(name), name)

    def operand(self, value: Any, name: str) -> Operand | None:
        """The object that represents a tensor; a number is converted."""
        if value is None or isinstance(value, np.ndarray | Item | Tokens | Parameter | Merged):
            return value
        if isinstance(value, int | float):
            return np.array(value)
        if isinstance(value, Repeated):
            raise InputError(f"`{name}` is the number of a sample")
        raise InputError(f"`{name}` ({shown(value)}) is no tensor")

    def tensors(self, name: str) -> list[Operand]:
        """A list of tensors."""
        found = [self.operand(value, name) for value in self.option(name, ())]
        return [value for value in found if value is not None]

    def run(self, op: str, *inputs: Operand | None, outputs: int = 1, **attributes: Any) -> Any:
        """The value, or values, of an operator of ONNX."""
        if isinstance(inputs[0], Tokens) and op in MOVED:
            moved = moved_tokens(self.moves, op, _OPSET, inputs, attributes, outputs)
            return tuple(moved) if outputs > 1 else moved[0]
        return OPERATORS[op](self._call(op, list(inputs), attributes, outputs))

    def item(self, value: Operand | None, op: str = "Identity") -> Item:
        """A value of the program; a parameter becomes a weight of the given ONNX operator."""
        return self._call(op, [value], {}, 1).item(0)

    def _call(
        self, op: str, inputs: list[Operand | None], attributes: Mapping[str, Any], outputs: int
    ) -> Call:
        return Call(self.moves, op, _OPSET, inputs, attributes, self.weights, outputs)

    def shape(self, value: Operand | None) -> tuple[int, ...]:
        """The shape in the graph."""
        if isinstance(value, Parameter):
            return value.array.shape
        if isinstance(value, np.ndarray):
            return value.shape
        if isinstance(value, Tokens):
            return self.moves.shape_of(value)
        return self.moves.shape(value if isinstance(value, Merged) else self.item(value))

    def axes(self, name: str = "dim", of: str = "self") -> list[int]:
        """Axes counted from 0; all of them if none are given."""
        ndim = len(self.shape(self[of]))
        given = self.arguments.get(name)
        if given is None or given == []:
            return list(range(ndim))
        listed = [given] if isinstance(given, int) else given
        return [int(axis) % max(ndim, 1) for axis in listed]

    def filled(self, value: float, shape: Sequence[int]) -> np.ndarray | Item:
        """A constant tensor filled with one number, over the batch axis too."""
        return filled(self.moves, np.array(value), shape)

    def statistic(self, name: str) -> Operand | None:
        """A tensor that batch normalization uses as a statistic: a buffer, with its name."""
        value = self[name]
        if isinstance(value, np.ndarray) and name in self.buffers:
            return Parameter(self.buffers[name], value)
        return value


def filled(moves: Moves, array: np.ndarray, shape: Sequence[int]) -> np.ndarray | Item:
    """Constants repeated to a shape of the graph."""
    if moves.batch > 1 and any(size and size % moves.batch == 0 for size in shape):
        return moves.expanded(moves.constant(array), shape)
    if math.prod(shape) > MOST_CONSTANTS:
        raise InputError(f"it makes a constant of the shape {tuple(shape)}, which is too large")
    return np.broadcast_to(array, tuple(shape)).copy()


# Largest number of entries of a constant.
MOST_CONSTANTS = 1 << 26
AtenOperator = Callable[[AtenCall], Any]


def int64_array(*values: int) -> np.ndarray:
    """Integers as the operators of ONNX take them."""
    return np.array(values, np.int64)
