"""A program from a PyTorch module: `torch.export` exports it, and its nodes are read in order.

The graph is that of the core ATen operators [1]_; some operators beyond the core are not
decomposed, if their decomposition compares values (softplus, attention) or merges axes (linear).

Parameters are *weights*, by their names in ``module.named_parameters()``; a parameter that is used
at several places is one weight.  Statistics of batch normalization are weights that never learn;
other buffers, and values computed from them and from sizes alone, are constants, which torch itself
computes.

Inputs of whole numbers choose rows of tables.  Those that never do (masks of attention), and those
named so, are constants: their values in the example.  A comparison of the others with a number (of
padding) is decided: no sample contains that number.

References
----------
.. [1] https://docs.pytorch.org/docs/stable/torch.compiler_ir.html
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line
from algebra.plugins.models.aten.call import FEW, MOST_CONSTANTS, AtenCall, Operand, Repeated
from algebra.plugins.models.aten.export import (
    exported_graph,
    gradients,
    need_torch,
    returning,
    tensors_by_name,
)
from algebra.plugins.models.aten.operators import ATEN
from algebra.plugins.models.onnx.values import BATCH, Item, Moves, Tokens
from algebra.plugins.models.onnx.weights import Parameter, Read, Weights
from algebra.programs.program import Builder
from algebra.programs.tokens import TokenSizes, token_numbers
from algebra.time_limits import check_time


def read_torch(
    module: Any,
    example_inputs: Any,
    *,
    axis: int | None = 0,
    output: int | str = 0,
    fixed: Sequence[str] = (),
) -> Read:
    """Read a PyTorch module, in evaluation mode.

    Parameters
    ----------
    module : torch.nn.Module
    example_inputs : tensor, sequence or mapping
        Arguments of its `forward`: one tensor, arguments in their order, or arguments by name.
        The graph depends on shapes and types only, and not on the number of samples.  Where labels
        depend on activation patterns that of these samples comes first.
    axis : int or None, optional
        The axis of the samples in every input: 1 for a recurrent layer without `batch_first`.  None
        if the example is one sample without such an axis.
    output : int or str, optional
        The index of the output that gives the labels, among those that are tensors; or the name of
        a part of the module, as in `module.get_submodule`, whose value gives them: hidden states.
    fixed : sequence of str, optional
        Inputs, by their names in `forward`, that are constants: the same for all samples.

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
        if parameter.dtype.is_complex:
            raise InputError(
                f"`module`: `{one_line(name)}` holds complex numbers, which are not read: keep "
                "real and imaginary parts as two parameters"
            )
        if parameter.dtype not in (torch.float32, torch.float64):
            raise InputError(
                f"`module`: `{one_line(name)}` holds {parameter.dtype} numbers, rounded to few "
                "digits: module.float()"
            )
    if isinstance(output, str):
        with returning(module, output):
            return read_torch(module, example_inputs, axis=axis, fixed=fixed)
    exported, whole = exported_graph(torch, module, example_inputs, axis)
    given = tensors_by_name(torch, module, example_inputs)
    unknown = [name for name in fixed if name not in given]
    if unknown:
        raise InputError(
            f"`fixed` names `{one_line(unknown[0])}`, but the inputs are {', '.join(given)}"
        )
    made = _GraphReader(
        torch, module, exported, axis, given, frozenset(fixed), gradients(whole, output)
    )
    found = made.run(output)
    return replace(found, assumed=(*_in_evaluation(module), *found.assumed))


def _in_evaluation(module: Any) -> list[str]:
    """What is different in training mode, if the module is in it."""
    kinds = {type(part).__name__ for part in module.modules() if part.training}
    found = []
    if any(kind.startswith("BatchNorm") for kind in kinds):
        found.append(
            "the module is read in evaluation mode; in training its batch norms subtract the mean "
            "of the batch, so that a shift before one of them has no effect"
        )
    if any("Dropout" in kind for kind in kinds):
        found.append("the module is read in evaluation mode, where dropout is off")
    return found


# Random in training only.
_EVALUATED = (
    "native_dropout", "rrelu_with_noise_functional", "scaled_dot_product_attention",
)  # fmt: skip
# Operators after which whole numbers are the same ones.
_REARRANGED = (
    "_to_copy", "alias", "clone", "expand", "permute", "select", "slice", "squeeze", "unsqueeze",
    "view",
)  # fmt: skip


@dataclass(eq=False)
class _GraphReader:
    torch: Any
    module: Any
    exported: Any
    axis: int | None
    given: Mapping[str, np.ndarray]
    fixed: frozenset[str]
    # Parameters that reach the labels by gradients, and behind a stop.
    reached: tuple[set[str], dict[str, str]] = field(default_factory=lambda: (set(), {}))
    assumed: list[str] = field(default_factory=list)
    excluded: dict[str, frozenset[int]] = field(default_factory=dict)
    known: dict[str, Operand | Repeated | tuple[Any, ...] | None] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)

    def run(self, output: int) -> Read:
        self.moves = Moves(Builder(), 1 if self.axis is None else BATCH)
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
        found = self.weights.read(self.known.get(name), f"`module`: output {output}", learns)
        stopped = {
            name: line
            for name, line in self._stopped(learns).items()
            if name in found.program.weights
        }
        own = self.module.named_parameters()
        absent = {
            name: p.numel() for name, p in own
            if name not in found.program.weights or name in stopped
        }  # fmt: skip
        padding = {name: math.prod(s) for name, s in found.program.weights.items()
                   if name in self.weights.padding}  # fmt: skip
        samples = found.program.samples
        example = {n: self._by_samples(self.given[n]) for n in samples if n in self.given}
        return replace(
            found,
            assumed=tuple(dict.fromkeys([*self.assumed, *self.moves.assumed])),
            buffers=found.buffers | stopped.keys(),
            absent=absent | padding,
            # The row of padding of a table that is frozen does not learn in any case.
            trainable=learns | {name for name in padding if name.rpartition("[")[0] in learns},
            stopped=stopped | dict.fromkeys(padding, ""),
            example=example if len(example) == len(samples) else {},
            tokens=self._tokens(found.tokens),
        )

    def _by_samples(self, array: np.ndarray) -> np.ndarray:
        """An input of the example with the samples along the first axis."""
        return array[None] if self.axis is None else np.moveaxis(array, self.axis, 0)

    def _stopped(self, learns: frozenset[str]) -> dict[str, str]:
        """The parameters whose gradients are stopped everywhere, with the line that does it.

        Raises
        ------
        InputError
            If one that learns enters the labels behind a stop, and in another way, too.
        """
        if not self.reached[1]:
            return {}
        held = dict(self.module.named_parameters(remove_duplicate=False))
        free, stopped = (
            {self.names[id(held[target])]: line for target, line in own.items() if target in held}
            for own in (dict.fromkeys(self.reached[0], ""), self.reached[1])
        )
        both = sorted(free.keys() & stopped.keys() & learns)
        if both:
            where = stopped[both[0]] and f" ({one_line(stopped[both[0]])})"
            raise InputError(
                f"`module`: `{one_line(both[0])}` enters the labels behind a `detach` (or "
                f"`no_grad`){where}, and outside of it, too: its gradient is no derivative of the "
                "labels, as in straight-through estimators and DoRA"
            )
        return {name: line for name, line in stopped.items() if name not in free}

    def _tokens(self, sizes: Mapping[str, int]) -> Mapping[str, int]:
        """The lengths of one-hot rows, with the numbers that no sample contains."""
        if not self.excluded:
            return sizes
        tokens = TokenSizes(sizes, self.excluded)
        for name in sizes:
            if not token_numbers(tokens, name):
                raise InputError(
                    f"`module`: it takes every number of `{one_line(name)}` for padding"
                )
        return tokens

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
                case "TOKEN":
                    # The order of side effects, such as checks of results.
                    self.known[node.name] = None
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

    def _input(
        self, node: Any, held: Mapping[str, Any]
    ) -> Item | Tokens | Repeated | np.ndarray | None:
        value = node.meta.get("val")
        if not isinstance(value, self.torch.Tensor):
            return None
        whole = not value.dtype.is_floating_point
        if node.name in self.fixed or (whole and node.name in self.given and not _chooses(node)):
            return self._constant_input(node.name)
        name = node.name if node.name not in held else f"{node.name} (input)"
        axis = None if self.axis is None else self.axis % value.ndim
        own = tuple(size for k, size in enumerate(value.shape) if k != axis)
        if value.dtype in (self.torch.float32, self.torch.float64):
            block = self.moves.build.sample(name, own)
            if axis is None:
                return Item(block)
            made = self.moves.build.reshaped(block, (*own[:axis], 1, *own[axis:]))
            return Item(made, axis)
        if value.dtype in (self.torch.int64, self.torch.int32) and not axis:
            return Tokens.of(name, own, axis)
        raise InputError(
            f"`example_inputs`: `{one_line(name)}` holds {value.dtype} numbers: float32, float64 "
            "and, with samples along axis 0, whole numbers that choose rows of a table are read"
        )

    def _constant_input(self, name: str) -> Repeated | np.ndarray:
        value = self._by_samples(self.given[name])
        if not all(np.array_equal(sample, value[0]) for sample in value):
            raise InputError(
                f"`example_inputs`: `{one_line(name)}` is a constant, because it chooses no rows "
                "of a table or is `fixed`, but its samples differ"
            )
        self.assumed.append(f"`{one_line(name)}` is the same for all samples, as in the example")
        if self.axis is None:
            return value[0]
        three = np.repeat(np.moveaxis(value[:1], 0, self.axis), FEW, self.axis)
        return Repeated(three, self.axis % three.ndim)

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
        if _title(node) == "with_effects":
            return (None, None)
        schema = getattr(node.target, "_schema", None)
        inputs = node.all_input_nodes
        if schema is None or getattr(node.target, "namespace", "") != "aten":
            raise InputError(_unknown(_title(node)))
        name = schema.name.partition("::")[2]
        if name not in _EVALUATED and any(map(_is_of_random, getattr(node.target, "tags", ()))):
            raise InputError("its values are random")
        if all(isinstance(self.known[value.name], np.ndarray | Repeated) for value in inputs):
            return self._computed(node)
        if name == "_assert_tensor_metadata":
            return None
        if name in ("eq", "ne") and isinstance(node.args[1], int):
            tokens = self.known[node.args[0].name]
            if isinstance(tokens, Tokens) and tokens.hot is None:
                text = f"no sample of `{one_line(tokens.name)}` contains {node.args[1]} (padding)"
                self.assumed.append(text)
                known = self.excluded.get(tokens.name, frozenset())
                self.excluded[tokens.name] = known | {node.args[1]}
                return Repeated(np.full((FEW, *tokens.shape[1:]), name == "ne"), 0)
        entry = ATEN.get(name)
        if entry is None:
            raise InputError(_unknown(name))
        arguments, buffers = dict[str, Any](), dict[str, str]()
        for k, argument in enumerate(schema.arguments):
            value = node.args[k] if k < len(node.args) else node.kwargs.get(argument.name)
            if k >= len(node.args) and argument.name not in node.kwargs:
                value = argument.default_value if argument.has_default_value() else None
            buffers[argument.name] = self.buffers.get(getattr(value, "name", ""), "")
            ends = argument.name == "offsets"
            arguments[argument.name] = self.known[value.name] if ends else self._argument(value)
        if name == "embedding" and arguments["padding_idx"] >= 0 and len(node.args[0].users) > 1:
            # The row learns by the other uses of the table.
            arguments["padding_idx"] = -1
            row = f"the row of padding of `{one_line(node.args[0].name)}` learns like the others"
            self.assumed.append(f"{row}, as the table is used elsewhere, too")
        if name == "as_strided":
            arguments["self_strides"] = list(node.args[0].meta["val"].stride())
        call = AtenCall(
            self.moves, arguments, self.weights, {k: v for k, v in buffers.items() if v},
            {user.args[1] for user in node.users if user.target is operator.getitem},
        )  # fmt: skip
        try:
            found = entry(call)
        except InputError:
            raise
        except (ValueError, IndexError, TypeError, KeyError, AssertionError) as error:
            raise InputError(f"cannot be read ({one_line(error)})") from None
        if any(isinstance(self.known[value.name], Repeated) for value in inputs):
            return self._with_samples(found, node.meta.get("val"))
        return found

    def _with_samples(self, found: Any, made: Any) -> Any:
        """Values with the axis of the samples that the graph gives them."""
        if isinstance(found, tuple):
            return tuple(map(self._with_samples, found, made))
        if not isinstance(found, Item) or found.batch is not None:
            return found
        axes = [k for k in _batch_axes(made.shape) if found.shape[k] * BATCH == made.shape[k]]
        return replace(found, batch=axes[0]) if axes else found

    def _argument(self, value: Any) -> Any:
        if isinstance(value, self.torch.fx.Node):
            known = self.known[value.name]
            if not isinstance(known, Repeated) or known.counts_samples:
                return known
            one = known.one()
            real = one.dtype.kind == "f"
            return replace(self.moves.constant(one), batch=known.axis) if real else one
        if isinstance(value, list | tuple):
            return [self._argument(each) for each in value]
        return value

    def _computed(self, node: Any) -> Any:
        """Constants computed from constants, by torch.

        Those with an axis of the samples are computed for three samples, and for two: the first two
        must be the same, so that no constant depends on the number of the samples.
        """
        torch = self.torch
        made = node.meta.get("val")
        parts = [part for part in _flat(made) if isinstance(part, torch.Tensor)]
        # A size that depends on values is none of the samples.
        entries = [
            math.prod(s // BATCH or s for s in part.shape if isinstance(s, int)) for part in parts
        ]
        if max(entries, default=0) > MOST_CONSTANTS:
            raise InputError("it makes a constant that is too large")
        given = [self.known[value.name] for value in node.all_input_nodes]
        batched = any(isinstance(value, Repeated) for value in given)
        if not batched and not any(_batch_axes(part.shape) for part in parts):
            found = self._by_torch(node, FEW)
        else:
            found, fewer = self._by_torch(node, FEW), self._by_torch(node, FEW - 1)
            found = [
                self._repeated(part, less, tensor.shape)
                for part, less, tensor in zip(found, fewer, parts, strict=True)
            ]
        return found[0] if isinstance(made, torch.Tensor) else tuple(found) or None

    def _by_torch(self, node: Any, count: int) -> list[Any]:
        """The values of a node for some number of samples."""
        torch = self.torch

        def value(given: Any) -> Any:
            if isinstance(given, torch.fx.Node):
                known = self.known[given.name]
                known = known.first(count) if isinstance(known, Repeated) else np.array(known)
                return torch.from_numpy(np.ascontiguousarray(known).reshape(known.shape))
            if isinstance(given, int) and not isinstance(given, bool) and given % BATCH == 0:
                return given // BATCH * count
            return given

        args, kwargs = (
            torch.fx.node.map_aggregate(given, value) for given in (node.args, node.kwargs)
        )
        with torch.no_grad():
            found = node.target(*args, **{**kwargs, **_on_cpu(kwargs)})
        made = [
            self._array(part, node.name) for part in _flat(found) if isinstance(part, torch.Tensor)
        ]
        # Memory without values: all of it is written before it is read.
        return list(map(np.zeros_like, made)) if _title(node).startswith("empty") else made

    def _repeated(self, array: np.ndarray, fewer: np.ndarray, shape: Sequence[int]) -> Any:
        axes = _batch_axes(shape)
        if len(axes) > 1:
            raise InputError("it makes two axes of the size of the batch")
        found = Repeated(array, axes[0]) if axes else array
        first = found.first(FEW - 1) if isinstance(found, Repeated) else array
        if not np.array_equal(first, fewer, equal_nan=array.dtype.kind == "f"):
            raise InputError("its constants depend on the number of samples")
        return found


def _chooses(node: Any) -> bool:
    """Whether a value of whole numbers, perhaps rearranged, chooses rows of a table."""
    for user in node.users:
        name = getattr(getattr(user.target, "_schema", None), "name", "").partition("::")[2]
        if name in ("embedding", "embedding_bag") and node in user.args[1:2]:
            return True
        if name in ("index", "index_select") and node not in user.args[:1]:
            return True
        if name in _REARRANGED and _chooses(user):
            return True
    return False


def _batch_axes(shape: Sequence[int]) -> list[int]:
    sizes = [size if isinstance(size, int) else 0 for size in shape]
    return [k for k, size in enumerate(sizes) if size and size % BATCH == 0]


def _on_cpu(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {"device": "cpu"} if "device" in kwargs else {}


def _flat(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _is_of_random(tag: Any) -> bool:
    return str(tag).endswith("nondeterministic_seeded")


def _title(node: Any) -> str:
    return one_line(str(getattr(node.target, "__name__", node.target)))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name.partition(".")[0], ATEN, 3)
    like = f"; similar ones that are: {', '.join(near)}" if near else ""
    return f"the operator {one_line(name)} is not known{like} ({len(ATEN)} are known)"
