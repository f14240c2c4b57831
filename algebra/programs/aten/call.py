"""The node of an exported graph that is being read: its arguments by their names.

An operator of PyTorch is computed by the table of ONNX's operators (`algebra.programs.onnx`):
`AtenCall.run` applies one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.programs.onnx.reader import OPERATORS
from algebra.programs.onnx.scope import Call, Known
from algebra.programs.onnx.values import Item, Moves, Tokens
from algebra.programs.onnx.weights import Parameter, Weights

# The operator set whose rules the entries use.
_OPSET = 23


@dataclass(frozen=True)
class Merged:
    """A value whose first axes, that of the samples not the first of them, are one axis.

    The entries of a sample are no neighbours along it, so only what leaves it alone is known of it.

    Attributes
    ----------
    item : Item
        With its axes apart.
    count : int
        How many are one.
    """

    item: Item
    count: int


Operand = Known | Parameter | Merged


class AtenCall:
    """One node: its arguments, and what makes values of the program.

    Parameters
    ----------
    moves : Moves
    arguments : mapping of str to object
        By the names of the operator's schema, those left out by their defaults; tensors as what
        stands for them.
    weights : Weights
    buffers : mapping of str to str
        For arguments that are buffers of the module: their names.
    """

    def __init__(
        self, moves: Moves, arguments: Mapping[str, Any], weights: Weights,
        buffers: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.moves, self.arguments, self.weights = moves, arguments, weights
        self.buffers = buffers

    def has(self, name: str) -> bool:
        """Whether an argument is there and is not None."""
        return self.arguments.get(name) is not None

    def option(self, name: str, default: Any = None) -> Any:
        """An argument that is no tensor."""
        value = self.arguments.get(name)
        return default if value is None else value

    def number(self, name: str, default: float) -> float:
        """A number, which a tensor of constants may say."""
        value = self.option(name, default)
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"`{name}` depends on samples or weights")
        return value

    def __getitem__(self, name: str) -> Operand | None:
        """A tensor, or a number as one; None where it is left out."""
        return self.operand(self.arguments.get(name), name)

    def operand(self, value: Any, name: str) -> Operand | None:
        """What stands for a tensor; a number becomes one."""
        if value is None or isinstance(value, np.ndarray | Item | Tokens | Parameter | Merged):
            return value
        if isinstance(value, int | float):
            return np.array(value)
        raise InputError(f"`{name}` ({shown(value)}) is no tensor")

    def tensors(self, name: str) -> list[Operand]:
        """A list of tensors."""
        found = [self.operand(value, name) for value in self.option(name, ())]
        return [value for value in found if value is not None]

    def run(self, op: str, *inputs: Operand | None, outputs: int = 1, **attributes: Any) -> Any:
        """The value, or values, of an operator of ONNX."""
        return OPERATORS[op](self._call(op, list(inputs), attributes, outputs))

    def item(self, value: Operand | None, op: str = "Identity") -> Item:
        """A value of the program; a parameter becomes a weight of an operator of ONNX."""
        return self._call(op, [value], {}, 1).item(0)

    def _call(
        self, op: str, inputs: list[Operand | None], attributes: Mapping[str, Any], outputs: int
    ) -> Call:
        given: list[Known | Parameter | None] = []
        for value in inputs:
            if isinstance(value, Merged):
                raise InputError(
                    "the axis of the samples was made one with axes before it: put it first"
                )
            given.append(value)
        return Call(self.moves, op, _OPSET, given, attributes, self.weights, outputs)

    def shape(self, value: Operand | None) -> tuple[int, ...]:
        """The shape in the graph."""
        if isinstance(value, Parameter):
            return value.array.shape
        if isinstance(value, np.ndarray):
            return value.shape
        if isinstance(value, Tokens):
            return self.moves.shape_of(value)
        if isinstance(value, Merged):
            shape = self.moves.shape(value.item)
            return (math.prod(shape[: value.count]), *shape[value.count :])
        return self.moves.shape(self.item(value))

    def axes(self, name: str = "dim", of: str = "self") -> list[int]:
        """Axes counted from 0; all of them where none are said."""
        ndim = len(self.shape(self[of]))
        given = self.arguments.get(name)
        if given is None or given == []:
            return list(range(ndim))
        listed = [given] if isinstance(given, int) else given
        return [int(axis) % max(ndim, 1) for axis in listed]

    def filled(self, value: float, shape: Sequence[int]) -> np.ndarray | Item:
        """One number everywhere, over the batch axis too."""
        return filled(self.moves, np.array(value), shape)

    def statistic(self, name: str) -> Operand | None:
        """A tensor that batch normalization takes as a statistic: a buffer by its name."""
        value = self[name]
        if isinstance(value, np.ndarray) and name in self.buffers:
            return Parameter(self.buffers[name], value)
        return value


def filled(moves: Moves, array: np.ndarray, shape: Sequence[int]) -> np.ndarray | Item:
    """Constants repeated to a shape of the graph."""
    if any(size and size % moves.batch == 0 for size in shape):
        return moves.expanded(moves.constant(array), shape)
    if math.prod(shape) > MOST_CONSTANTS:
        raise InputError(f"it makes a constant of the shape {tuple(shape)}, which is too large")
    return np.broadcast_to(array, tuple(shape)).copy()


# Entries of a constant beyond this are not made.
MOST_CONSTANTS = 1 << 26
AtenOperator = Callable[[AtenCall], Any]


def whole(*values: int) -> np.ndarray:
    """Whole numbers as ONNX's operators take them."""
    return np.array(values, np.int64)
