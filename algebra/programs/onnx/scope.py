"""The node of a graph that is being read: its operator's inputs and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from algebra.errors import InputError
from algebra.programs.onnx.values import Item, Moves, Tokens
from algebra.programs.onnx.weights import Parameter, Weights

_RECURRENT = ("RNN", "GRU", "LSTM")
# The object that a name of the graph represents.
Known = np.ndarray | Item | Tokens


class Call(Moves):
    """One node: its operator's inputs and attributes, and methods that add to the program.

    Parameters
    ----------
    moves : Moves
    op : str
    opset : int
    inputs : list
        Values of the node's inputs; None for omitted ones.
    attributes : mapping
    weights : Weights
        Creates weights from parameters, and rows of tables that integer inputs choose.
    outputs : int
        Number of requested values.
    """

    def __init__(
        self, moves: Moves, op: str, opset: int, inputs: list[Known | Parameter | None],
        attributes: Mapping[str, Any], weights: Weights, outputs: int,
    ) -> None:  # fmt: skip
        super().__init__(moves.build, moves.batch)
        self.op, self.opset, self.inputs = op, opset, inputs
        self.attributes, self.weight, self.tokens = attributes, weights.weight, weights.rows
        self.unnamed = weights.unnamed
        self.outputs = outputs

    def has(self, k: int) -> bool:
        """Whether input k is given."""
        return k < len(self.inputs) and self.inputs[k] is not None

    def is_constant(self, k: int) -> bool:
        """Whether input k does not depend on samples or weights."""
        return self.has(k) and isinstance(self.inputs[k], np.ndarray)

    def item(self, k: int) -> Item:
        """Input k as a value of the program; a parameter becomes a weight."""
        found = self.inputs[k] if self.has(k) else None
        if isinstance(found, Parameter):
            return self.weight(found, self._role(k, found.array))
        if isinstance(found, np.ndarray):
            return self.constant(found, f"input {k}")
        if found is None:
            raise InputError(f"its input {k} is missing")
        if isinstance(found, Tokens):
            raise InputError(
                f"it computes with the input `{found.name}` of whole numbers, which may only "
                "choose rows of a table (Gather)"
            )
        return found

    def _role(self, k: int, array: np.ndarray) -> str:
        """The role of a parameter at input k: "norm", "bias", "matrix" or ""."""
        line = max(array.shape, default=1) == array.size
        if self.op.endswith("Normalization"):
            return "norm bias" if k == 2 else "norm"
        if (self.op in ("Conv", "Gemm") and k == 2) or (self.op in _RECURRENT and k == 3):
            return "bias"
        if line and self.op in ("Add", "Sub", "Sum"):
            return "bias"
        if line and self.op == "Mul":
            return "norm"
        # A weight that is moved before it is used: its shape determines its role.
        moved = self.op in ("Transpose", "Unsqueeze", "Reshape", "Concat", "Slice", "Split")
        if moved and array.ndim == 1:
            return "bias"
        products = ("MatMul", "Gemm", "Conv", *_RECURRENT)
        return "matrix" if (moved or self.op in products) and array.ndim > 1 else ""

    def items(self) -> list[Item]:
        """All inputs."""
        return [self.item(k) for k in range(len(self.inputs)) if self.has(k)]

    def array(self, k: int, what: str) -> np.ndarray:
        """Input k as constants of the file."""
        found = self.inputs[k] if self.has(k) else None
        if isinstance(found, Parameter):
            return found.array
        if isinstance(found, np.ndarray):
            return found
        if found is None:
            raise InputError(f"{what} (input {k}) is missing")
        raise InputError(f"{what} (input {k}) depends on samples or weights")

    def whole(self, k: int, what: str) -> list[int]:
        """Input k as integers."""
        return [int(v) for v in self.array(k, what).ravel()]

    def option(self, name: str, default: Any) -> Any:
        """An attribute."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def axes(self, k: int, ndim: int, name: str = "axes") -> list[int] | None:
        """Axes: an attribute before some operator set, input k from then on; None if not given."""
        if name in self.attributes:
            return [int(v) % ndim for v in self.attributes[name]]
        if self.has(k):
            return [v % ndim for v in self.whole(k, name)]
        return None


Operator = Callable[[Call], Any]
