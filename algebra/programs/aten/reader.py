"""A program from a PyTorch module: `torch.export` exports it, and its nodes are read in order.

The graph is that of the core ATen operators [1]_; some operators beyond the core are not
decomposed, if their decomposition compares values (softplus, attention) or merges axes (linear).

Parameters are *weights*, by their names in ``module.named_parameters()``; a parameter that is used
at several places is one weight.  Statistics of batch normalization are weights that never learn;
other buffers, and values computed from them and from sizes alone, are constants, which torch itself
computes.

The graph is exported for a number of samples that occurs as a size in no graph
(`algebra.programs.onnx.values.BATCH`): torch computes only shapes, so no memory is needed for it.

References
----------
.. [1] https://docs.pytorch.org/docs/stable/torch.compiler_ir.html
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line
from algebra.programs.aten.call import MOST_CONSTANTS, AtenCall, Operand, filled
from algebra.programs.aten.operators import ATEN
from algebra.programs.onnx.values import BATCH, Item, Moves, Tokens
from algebra.programs.onnx.weights import Parameter, Read, Weights
from algebra.programs.program import Builder
from algebra.time_limits import check_time

# Not decomposed: the decomposition compares values, takes logarithms, or merges axes.
_WHOLE = (
    "_prelu_kernel.default", "bilinear.default", "celu.default", "elu.default",
    "hardsigmoid.default", "hardswish.default", "instance_norm.default", "linear.default",
    "log_sigmoid.default", "mish.default", "scaled_dot_product_attention.default", "silu.default",
    "softplus.default",
)  # fmt: skip
_CONSTANT = {"full": None, "zeros": 0, "ones": 1, "empty": 0}


def need_torch() -> Any:
    """The package torch.

    Raises
    ------
    InputError
        If it is not installed, or too old.
    """
    try:
        import torch
    except ImportError:
        raise InputError("`example_inputs` needs the package torch: pip install torch") from None
    if not hasattr(getattr(torch, "export", None), "default_decompositions"):
        raise InputError(f"torch {torch.__version__} is too old: 2.6 and newer are known")
    return torch


def read_torch(module: Any, example_inputs: Any, *, axis: int = 0, output: int = 0) -> Read:
    """Read a PyTorch module, in evaluation mode.

    Parameters
    ----------
    module : torch.nn.Module
    example_inputs : tensor, sequence or mapping
        Arguments of its `forward`: one tensor, arguments in their order, or arguments by name.
        Only shapes and types of tensors are used, and not the number of samples.
    axis : int, optional
        The axis of the samples in every input: 1 for a recurrent layer without `batch_first`.
    output : int, optional
        The index of the output that gives the labels.

    Returns
    -------
    Read

    Raises
    ------
    InputError
        If the module cannot be read; the message has one line.
    """
    torch = need_torch()
    if not isinstance(module, torch.nn.Module):
        raise InputError(f"`module` ({one_line(type(module).__name__)}) must be a torch module")
    for name, parameter in module.named_parameters():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise InputError(
                f"`module`: `{one_line(name)}` holds {parameter.dtype} numbers, rounded to few "
                "digits: module.float()"
            )
    args, kwargs = _many_samples(torch, example_inputs, axis)
    exported = _exported(torch, module, args, kwargs)
    return _GraphReader(torch, module, exported, axis).run(output)


def _many_samples(torch: Any, inputs: Any, axis: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with their first sample repeated `BATCH` times, without allocating memory."""

    def repeated(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if not -value.ndim <= axis < value.ndim or not value.shape[axis]:
            raise InputError(
                f"`example_inputs` holds a tensor of the shape {tuple(value.shape)}, which has no "
                f"sample along axis {axis}: every input has the axis of the samples (`axis`)"
            )
        shape = list(value.shape)
        shape[axis] = BATCH
        return value.detach().narrow(axis, 0, 1).expand(shape)

    given = torch.utils._pytree.tree_map(repeated, inputs)
    if isinstance(given, Mapping):
        return (), dict(given)
    return (tuple(given) if isinstance(given, list | tuple) else (given,)), {}


def _exported(torch: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    table = torch.export.default_decompositions()
    for name in _WHOLE:
        packet, _, overload = name.partition(".")
        table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
    try:
        with _evaluating(torch, module), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = torch.export.export(module, args, kwargs, strict=False)
            return found.run_decompositions(table)
    except Exception as error:
        # A module's own forward, or its tracing, may raise any exception.
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(
            f"`module` ({one_line(type(module).__name__)}): torch.export cannot follow its "
            f"forward with these `example_inputs`: {one_line(lines[0])}"
        ) from None


@contextmanager
def _evaluating(torch: Any, module: Any) -> Iterator[None]:
    """The module in evaluation mode, without the fused layers that have no decomposition."""
    modes = [(part, part.training) for part in module.modules()]
    fused = torch.backends.mha.get_fastpath_enabled()
    module.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
        for part, mode in modes:
            part.training = mode


@dataclass(eq=False)
class _GraphReader:
    torch: Any
    module: Any
    exported: Any
    axis: int
    known: dict[str, Operand | tuple[Any, ...] | None] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)

    def run(self, output: int) -> Read:
        self.moves = Moves(Builder(), BATCH)
        self.weights = Weights(self.moves)
        graph, signature = self.exported.graph, self.exported.graph_signature
        self._inputs(graph, signature)
        for node in graph.nodes:
            check_time()
            if node.op == "call_function":
                self.known[node.name] = self._node(node)
            elif node.op not in ("placeholder", "output"):
                raise InputError(f"`module`: the graph has a node of the sort {node.op}")
        [ended] = [node for node in graph.nodes if node.op == "output"]
        labels = [
            value
            for spec, value in zip(signature.output_specs, ended.args[0], strict=True)
            if spec.kind.name == "USER_OUTPUT"
        ]
        if not 0 <= output < len(labels):
            raise InputError(f"`output` ({output}): the module has {len(labels)} outputs")
        learns = frozenset(self.names[id(p)] for p in self.module.parameters() if p.requires_grad)
        name = getattr(labels[output], "name", "")
        return self.weights.read(self.known.get(name), f"`module`: output {output}", learns)

    def _inputs(self, graph: Any, signature: Any) -> None:
        module = self.module
        self.names: dict[int, str] = {}
        for name, parameter in module.named_parameters():
            self.names.setdefault(id(parameter), name)
        held = dict(module.named_parameters(remove_duplicate=False))
        stored = dict(module.named_buffers(remove_duplicate=False))
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        for spec, node in zip(signature.input_specs, placeholders, strict=True):
            match spec.kind.name:
                case "PARAMETER":
                    tensor = held[spec.target]
                    name = self.names[id(tensor)]
                    self.known[node.name] = Parameter(name, self._array(tensor, spec.target))
                case "BUFFER":
                    tensor = stored[spec.target]
                    self.buffers[node.name] = spec.target
                    self.known[node.name] = self._array(tensor, spec.target)
                case "CONSTANT_TENSOR":
                    tensor = self.exported.constants[spec.target]
                    self.known[node.name] = self._array(tensor, spec.target)
                case "USER_INPUT":
                    self.known[node.name] = self._input(node, held)
                case kind:
                    raise InputError(
                        f"`module`: its graph takes a {kind.lower()}, which is not read"
                    )

    def _array(self, tensor: Any, name: str) -> np.ndarray:
        try:
            found: np.ndarray = tensor.detach().cpu().numpy()
        except TypeError:
            raise InputError(
                f"`module`: `{one_line(name)}` holds {tensor.dtype} numbers: module.float()"
            ) from None
        return found

    def _input(self, node: Any, held: Mapping[str, Any]) -> Item | Tokens | None:
        value = node.meta.get("val")
        if not isinstance(value, self.torch.Tensor):
            return None
        name = node.name if node.name not in held else f"{node.name} (input)"
        axis = self.axis % value.ndim
        own = tuple(size for k, size in enumerate(value.shape) if k != axis)
        if value.dtype in (self.torch.float32, self.torch.float64):
            block = self.moves.build.sample(name, own)
            made = self.moves.build.reshaped(block, (*own[:axis], 1, *own[axis:]))
            return Item(made, axis)
        if value.dtype in (self.torch.int64, self.torch.int32) and axis == 0:
            return Tokens(name, (1, *own), own)
        raise InputError(
            f"`example_inputs`: `{one_line(name)}` holds {value.dtype} numbers: float32, float64 "
            "and, with samples along axis 0, whole numbers that choose rows of a table are read"
        )

    # -- nodes -----------------------------------------------------------------------------

    def _node(self, node: Any) -> Any:
        try:
            return self._value(node)
        except InputError as error:
            stack = list((node.meta.get("nn_module_stack") or {}).values())
            inside = f" in `{one_line(stack[-1][0])}`" if stack and stack[-1][0] else ""
            raise InputError(
                f"`module`: node `{node.name}` ({_title(node)}){inside}: {error}"
            ) from None

    def _value(self, node: Any) -> Any:
        if node.target is operator.getitem:
            values, at = node.args
            found = self.known[values.name]
            assert isinstance(found, tuple)
            return found[at]
        schema = getattr(node.target, "_schema", None)
        inputs = node.all_input_nodes
        if schema is None or getattr(node.target, "namespace", "") != "aten":
            raise InputError(_unknown(_title(node)))
        if all(isinstance(self.known[value.name], np.ndarray) for value in inputs):
            return self._computed(node)
        name = schema.name.partition("::")[2]
        if name == "_assert_tensor_metadata":
            return None
        entry = ATEN.get(name)
        if entry is None:
            raise InputError(_unknown(name))
        arguments, buffers = {}, {}
        for k, argument in enumerate(schema.arguments):
            value = node.args[k] if k < len(node.args) else node.kwargs.get(argument.name)
            if k >= len(node.args) and argument.name not in node.kwargs:
                value = argument.default_value if argument.has_default_value() else None
            buffers[argument.name] = self.buffers.get(getattr(value, "name", ""), "")
            arguments[argument.name] = self._argument(value)
        call = AtenCall(
            self.moves, arguments, self.weights, {k: v for k, v in buffers.items() if v}
        )
        try:
            return entry(call)
        except InputError:
            raise
        except (ValueError, IndexError, TypeError, KeyError, AssertionError) as error:
            raise InputError(f"cannot be read ({one_line(error)})") from None

    def _argument(self, value: Any) -> Any:
        if isinstance(value, self.torch.fx.Node):
            return self.known[value.name]
        if isinstance(value, list | tuple):
            return [self._argument(each) for each in value]
        return value

    def _computed(self, node: Any) -> Any:
        """Constants computed from constants, by torch; those of the batch's size by repetition."""
        torch = self.torch
        made = node.meta.get("val")
        shapes = [tuple(v.shape) for v in _flat(made) if isinstance(v, torch.Tensor)]
        name = node.target._schema.name.partition("::")[2]
        if any(size and size % BATCH == 0 for shape in shapes for size in shape):
            if name in _CONSTANT:
                value = node.args[1] if _CONSTANT[name] is None else _CONSTANT[name]
                return filled(self.moves, np.array(value, np.float64), shapes[0])
            if name == "expand":
                return filled(self.moves, self._argument(node.args[0]), shapes[0])
            raise InputError("it makes an axis of the size of the batch")
        if any(np.prod(shape, dtype=np.float64) > MOST_CONSTANTS for shape in shapes):
            raise InputError("it makes a constant that is too large")

        def tensor(value: Any) -> Any:
            found = self.known[value.name]
            return torch.from_numpy(np.array(found))

        args = torch.fx.node.map_arg(node.args, tensor)
        kwargs = torch.fx.node.map_arg(node.kwargs, tensor)
        with torch.no_grad():
            found = node.target(*args, **{**kwargs, **_on_cpu(kwargs)})
        if isinstance(found, torch.Tensor):
            return self._array(found, node.name)
        if isinstance(found, list | tuple):
            return tuple(self._array(part, node.name) for part in found)
        return None


def _on_cpu(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {"device": "cpu"} if "device" in kwargs else {}


def _flat(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _title(node: Any) -> str:
    return one_line(str(getattr(node.target, "__name__", node.target)))


def _unknown(name: str) -> str:
    return f"the operator {one_line(name)} is not known; known are {', '.join(sorted(ATEN))}"
