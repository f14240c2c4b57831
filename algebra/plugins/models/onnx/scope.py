"""The node of a graph that is being read, and what the reader knows of operators.

An operator is *declared* (`Operator`): with the inputs and attributes that it reads, by their names
in the standard.  A node with another one is refused by that name, before anything is computed.  A
declared attribute or input that was given and that the operator did not look at, on its way through
this node, is refused as well, unless it is declared to be idle: nothing that is given is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line
from algebra.plugins.models.onnx.values import Item, Merged, Moves, SampleConstants, Tokens
from algebra.plugins.models.onnx.weights import Parameter, Weights

_RECURRENT = ("RNN", "GRU", "LSTM")
# The object that a name of the graph represents.
Known = np.ndarray | Item | Tokens | Merged | SampleConstants


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
    names : sequence of str, optional
        Names of the inputs.
    """

    def __init__(
        self, moves: Moves, op: str, opset: int, inputs: list[Known | Parameter | None],
        attributes: Mapping[str, Any], weights: Weights, outputs: int,
        names: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(moves.build, moves.batch, moves.assumed)
        self.op, self.opset, self.inputs = op, opset, inputs
        self.attributes, self.weight, self.tokens = attributes, weights.weight, weights.rows
        self.unnamed = weights.unnamed
        self.outputs, self.names = outputs, names
        self.seen: set[int | str] = set()
        self.declared: Operator | None = None

    def given(self, k: int) -> Known | Parameter | None:
        """Input k as it is known; None if it is omitted."""
        self.seen.add(k)
        return self.inputs[k] if k < len(self.inputs) else None

    def has(self, k: int) -> bool:
        """Whether input k is given."""
        return self.given(k) is not None

    def is_constant(self, k: int) -> bool:
        """Whether input k does not depend on samples or weights."""
        return isinstance(self.given(k), np.ndarray)

    def item(self, k: int) -> Item:
        """Input k as a value of the program; a parameter becomes a weight."""
        found = self.given(k)
        if isinstance(found, Parameter):
            return self.weight(found, self._role(k, found.array))
        if isinstance(found, np.ndarray):
            name = f" (`{one_line(self.names[k])}`)" if k < len(self.names) else ""
            return self.constant(found, f"input {k}{name}")
        if isinstance(found, SampleConstants):
            return replace(self.constant(found.array), batch=found.batch)
        if found is None:
            raise InputError(f"its input {k} is missing")
        if isinstance(found, Merged):
            raise InputError(
                "the axis of the samples was made one with axes before it: put it first"
            )
        if isinstance(found, Tokens):
            raise InputError(
                f"it computes with {found.title}, which may only choose rows of a table (Gather)"
            )
        return found

    def _role(self, k: int, array: np.ndarray) -> str:
        """The role of a parameter at input k: "norm", "bias", "matrix" or ""."""
        line = max(array.shape, default=1) == array.size
        if self.op.endswith("Normalization"):
            return "norm bias" if k == 2 else "norm"
        if (self.op in ("Conv", "ConvTranspose", "Gemm") and k == 2) or (
            self.op in _RECURRENT and k == 3
        ):
            return "bias"
        if line and self.op in ("Add", "Sub", "Sum"):
            return "bias"
        if line and self.op == "Mul":
            return "norm"
        # A weight that is moved before it is used: its shape determines its role.
        moved = self.op in ("Transpose", "Unsqueeze", "Reshape", "Concat", "Slice", "Split")
        if moved and array.ndim == 1:
            return "bias"
        products = ("MatMul", "Gemm", "Conv", "ConvTranspose", *_RECURRENT)
        return "matrix" if (moved or self.op in products) and array.ndim > 1 else ""

    def items(self) -> list[Item]:
        """All inputs."""
        return [self.item(k) for k in range(len(self.inputs)) if self.has(k)]

    def array(self, k: int, what: str) -> np.ndarray:
        """Input k as constants of the file."""
        found = self.given(k)
        if isinstance(found, Parameter):
            return found.array
        if isinstance(found, np.ndarray):
            return found
        if found is None:
            raise InputError(f"{what} (input {k}) is missing")
        raise InputError(f"{what} (input {k}) depends on samples or weights")

    def constants(self, k: int, what: str) -> tuple[np.ndarray, int | None]:
        """Input k as constants of one sample, and their axis of the samples."""
        found = self.given(k)
        if isinstance(found, SampleConstants):
            return found.array, found.batch
        return self.array(k, what), None

    def whole(self, k: int, what: str) -> list[int]:
        """Input k as integers."""
        return [int(v) for v in self.array(k, what).ravel()]

    def option(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        self.seen.add(name)
        if self.declared is not None and name not in self.declared.names:
            raise AssertionError(f"{self.op} reads the attribute {name} without declaring it")
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def listed(self, k: int, name: str, what: str) -> list[int] | None:
        """Integers: an attribute before some operator set, input k from then on; or None."""
        found = self.option(name)
        if found is not None:
            return [int(v) for v in found]
        return self.whole(k, what) if self.has(k) else None

    def axes(self, k: int, ndim: int, name: str = "axes") -> list[int] | None:
        """Axes from 0, as `listed`; None if not given."""
        found = self.listed(k, name, name)
        if found is not None and not all(-ndim <= v < ndim for v in found):
            raise InputError(f"its axes {found} are not those of {ndim} axes")
        return None if found is None else [v % ndim for v in found]


@dataclass(frozen=True)
class Operator:
    """An operator that is read; calling it reads a node.

    Attributes
    ----------
    read : callable
        From the node to its value, or a tuple of values.
    inputs : str
        The names of the inputs that it reads, in their order; the last one with a star may be
        repeated.
    attributes : str
        The names of the attributes that it reads.
    idle : str
        Those of both that never change the values that are read (the seed of a dropout).
    """

    read: Callable[[Call], Any]
    inputs: str = "X"
    attributes: str = ""
    idle: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The attributes that are accepted."""
        return frozenset(self.attributes.split())

    def takes(self, k: int) -> bool:
        """Whether it reads input k."""
        return self.inputs.endswith("*") or k < len(self.inputs.split())

    def __call__(self, call: Call) -> Any:
        """Read a node.

        Raises
        ------
        InputError
            If it has an attribute or an input that is not read; the message names it.
        """
        names, idle = self.inputs.split(), set(self.idle.split())
        for name in call.attributes:
            if name not in self.names | idle:
                known = ", ".join(sorted(self.names)) or "none"
                raise InputError(f"its attribute `{one_line(name)}` is not read; read are {known}")
        for k, value in enumerate(call.inputs):
            if value is not None and not self.takes(k):
                name = _input_name(call.op, k)
                raise InputError(f"its input {k}{name} is not read; read are {', '.join(names)}")
        call.declared = self
        found = self.read(call)
        for name in call.attributes:
            if name not in call.seen | idle:
                raise InputError(f"its attribute `{name}` is not read beside its others")
        for k, value in enumerate(call.inputs):
            if (
                value is not None
                and k not in call.seen
                and names[min(k, len(names) - 1)] not in idle
            ):
                raise InputError(f"its input {k} ({names[k]}) is not read beside its others")
        return found


def _input_name(op: str, k: int) -> str:
    """The name of an input in the newest standard, in brackets, if it is known."""
    try:
        from onnx import defs

        return f" ({defs.get_schema(op).inputs[k].name})"
    except (ImportError, IndexError, RuntimeError):
        return ""
