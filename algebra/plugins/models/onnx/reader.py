"""A program from an ONNX file: its nodes are read in order.

Floating-point tensors of the file that operators use as factors or summands are *weights*, by their
names; statistics of batch normalization are weights that never learn.  Values computed from
constants of the file alone (shapes, masks, 1/√d) are computed by ONNX's own reference
implementation, in the file's types, and the results are taken exactly.
"""

from __future__ import annotations

import fnmatch
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import ErrorsAt, InputError, Unfinished, one_line
from algebra.memory_limits import AboveLimit, taken_memory
from algebra.plugins.models.onnx.batches import BOOLEAN, Batch, Input, Sizes, batch_of
from algebra.plugins.models.onnx.bounds import MODEL_LIMITS, check_constant, memory_of_graph
from algebra.plugins.models.onnx.elementwise import ELEMENTWISE
from algebra.plugins.models.onnx.layers import LAYERS
from algebra.plugins.models.onnx.model import (
    Opened,
    attributes,
    need_onnx,
    open_model,
    reading,
    tensor_array,
)
from algebra.plugins.models.onnx.neighbourhoods import NEIGHBOURHOODS
from algebra.plugins.models.onnx.notes import TensorNote, of_computed, tensor_notes
from algebra.plugins.models.onnx.orders import ORDERS
from algebra.plugins.models.onnx.places import PLACES
from algebra.plugins.models.onnx.preparations import DOMAIN, PREPARATIONS
from algebra.plugins.models.onnx.recurrent import RECURRENT
from algebra.plugins.models.onnx.resampling import RESAMPLING
from algebra.plugins.models.onnx.scope import Call, Known, Operator
from algebra.plugins.models.onnx.shapes import MOVED, SHAPES
from algebra.plugins.models.onnx.values import BATCH, MASKED, Item, Moves, SampleConstants, Tokens
from algebra.plugins.models.onnx.weights import Parameter, Read, Weights
from algebra.programs.program import Builder
from algebra.time_limits import check_time

OPERATORS: dict[str, Operator] = {
    **ELEMENTWISE, **LAYERS, **NEIGHBOURHOODS, **ORDERS, **PLACES, **RECURRENT,
    **RESAMPLING, **SHAPES,
}  # fmt: skip
# Their values depend on the operator set in a way that the reference ignores, or on the batch.
_NEVER_COMPUTED = ("BatchNormalization", "ConstantOfShape", "Dropout", "LogSoftmax", "Softmax")
# Operators whose values are random: no constants of a file.
_RANDOM = (
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
)  # fmt: skip
# Operators on constants with an axis of the samples that return its size, or nothing new.
_OF_SHAPES = ("Identity", "Shape", "Size")
STANDARD = ("", "ai.onnx")
_BINARY32 = 1
_BINARY64 = 11
_TYPES = {
    8: "text for",
    10: "float16",
    14: "complex",
    15: "complex",
    16: "bfloat16",
    **dict.fromkeys((17, 18, 19, 20, 24), "float8"),
    23: "float4",
}


def read_onnx(
    path: str | Path,
    *,
    sizes: Sizes | None = None,
    constants: Sequence[str] = (),
    output: str = "",
    data: bytes | None = None,
) -> Read:
    """Read an ONNX file.

    Parameters
    ----------
    path : str or Path
    sizes : mapping of str to int or str, optional
        Values of the sizes of inputs for which the file gives only a name (``"seq"``), or not even
        that (``"x.2"``: axis 2 of the input x); and values of inputs that are one number, or of
        whole numbers that are all the same (``{"attention_mask": 1}``).
        ``{"x.1": "samples"}`` says that axis 1 of the input x is that of the samples, ``{"samples":
        1}`` that the file labels one sample (`algebra.plugins.models.onnx.batches`).
    constants : sequence of str, optional
        Names, or patterns of names, of tensors that are constants instead of weights.
    output : str, optional
        The output that gives the labels, or another value of the graph, such as hidden states; the
        first output by default.
    data : bytes, optional
        The file's content, if it is in memory; the path is then only a name, and tensors in other
        files are refused.

    Returns
    -------
    Read

    Raises
    ------
    InputError
        If the file cannot be read; the message has one line.
    """
    path, sizes = Path(path), dict(sizes or {})
    opened = open_model(path, sizes, data)
    sampled = [g for g in opened.inputs if g.sizes or type(sizes.get(g.name)) is not int]
    batch = batch_of(path, sampled, sizes)

    def run(batch: Batch) -> Read:
        before = taken_memory()
        try:
            with reading(path):
                return _Reader(opened, path, constants, sizes, batch, data is None).run(output)
        except AboveLimit as refused:
            more = memory_of_graph(opened.graph, opened.opset, opened.inputs, batch)
            raise AboveLimit(refused.text, max(refused.enough, before + more)) from None

    try:
        return run(batch)
    except InputError as error:
        # With a fixed number of samples the first axis may as well be one of a single sample's.
        said = "samples" in (*sizes, *sizes.values())
        if said or batch.count in (1, BATCH) or not _is_read(run):
            raise
        if all(len(given.sizes) == 1 for given in sampled):
            return run(Batch(1, {}))
        raise InputError(
            f"{error}; as the graph of one sample it can be read: `sizes` samples=1 says so"
        ) from None


def _is_read(run: Callable[[Batch], Read]) -> bool:
    """Whether a graph can be read as that of one sample."""
    try:
        run(Batch(1, {}))
    except InputError:
        return False
    return True


@dataclass(eq=False)
class _Reader:
    opened: Opened
    path: Path
    constants: Sequence[str]
    sizes: Sizes
    batch: Batch
    has_folder: bool = True
    build: Builder = field(default_factory=Builder)
    known: dict[str, Known | Parameter] = field(default_factory=dict)
    uncomputed: dict[str, str] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)

    def run(self, output: str) -> Read:
        graph = self.opened.graph
        self.build = Builder(self.opened.most)
        self.moves = Moves(self.build, self.batch.count)
        self.weights = Weights(self.moves)
        for given in self.opened.inputs:
            if given.name in self.sizes and (given.is_whole or not given.sizes):
                self.known[given.name] = self._one_number(given)
            else:
                with ErrorsAt(f"{self.path}: the input `{one_line(given.name)}`"):
                    self.known[given.name] = self._input(given)
        self._tensors(graph)
        names = [value.name for value in graph.output]
        self._nodes(graph.node, _needed(graph.node, output or names[0]))
        if output and not any(output in node.output for node in graph.node) | (output in names):
            raise InputError(
                f"{self.path}: there is no output `{one_line(output)}`, nor another value of a "
                f"node; it has {', '.join(names)}"
            )
        name = output or names[0]
        if name in self.uncomputed:
            raise InputError(
                f"{self.path}: the output `{one_line(name)}` is {self.uncomputed[name]}"
            )
        if name not in self.known:
            raise InputError(f"{self.path}: no node makes the output `{one_line(name)}`")
        found = self.weights.read(self.known[name], f"{self.path}: the output `{one_line(name)}`")
        self.assumed += self._stored_once(found)
        return replace(found, assumed=(*self.assumed, *self.moves.assumed))

    def _stored_once(self, found: Read) -> Iterator[str]:
        """What is said of vectors of one number that several nodes use, such as norms of ones."""
        uses, same = Counter[str](), dict[str, str]()
        for node in self.opened.graph.node:
            names = {same.get(name, name) for name in node.input}
            if node.op_type == "Identity" and names:
                same |= dict.fromkeys(node.output, names.pop())
            else:
                uses.update(names)
        for name, shape in found.parameters.items():
            if uses[name] < 2 or len(shape) != 1 or shape[0] < 2:
                continue
            table, _ = found.values[name]
            if (table == table[0]).all():
                yield (
                    f"`{one_line(name)}` is one parameter of {uses[name]} nodes (some exporters "
                    "store equal norms and biases of an untrained network once)"
                )

    def _one_number(self, given: Input) -> np.ndarray:
        """An input that is the same number everywhere, and for all samples."""
        value, place = int(self.sizes[given.name]), self.batch.axes.get(given.name)
        if given.sizes:
            name = one_line(given.name)
            self.assumed.append(f"all numbers of `{name}` are {value}, for all samples")
        # One sample's: along the axis of the samples it is the same.
        shape = [1 if k == place else int(n) for k, n in enumerate(given.sizes)]
        if math.prod(shape) > MODEL_LIMITS.constant:
            raise InputError(
                f"{self.path}: `{one_line(given.name)}` is a constant that is too large"
            )
        return np.full(shape, value, np.bool_ if given.type == BOOLEAN else np.int64)

    def _input(self, given: Input) -> Item | Tokens:
        place = self.batch.axes.get(given.name)
        own = tuple(n for k, n in enumerate(given.sizes) if isinstance(n, int) and k != place)
        if place is None and own[:1] == (1,):
            own = own[1:]
        if given.is_whole:
            # Without an axis of the samples the sizes are those of the file.
            shown = (
                own if place is not None else tuple(n for n in given.sizes if isinstance(n, int))
            )
            tokens = Tokens.of(given.name, shown, place)
            return self.weights.flags(tokens) if given.type == BOOLEAN else tokens
        if given.type not in (_BINARY32, _BINARY64):
            what = _TYPES.get(given.type, f"type {given.type}")
            raise InputError(
                f"it holds {what} numbers; float32 and float64 are read, Booleans, and whole "
                "numbers that choose rows of a table"
            )
        block = self.build.sample(given.name, own)
        if place is None:
            return Item(self.build.reshaped(block, given.sizes))  # type: ignore[arg-type]
        shape = (*own[:place], 1, *own[place:])
        return Item(self.build.reshaped(block, shape), place)

    def _tensors(self, graph: Any) -> None:
        notes, taken = tensor_notes(graph), {tensor.name for tensor in graph.initializer}
        computed: list[str] = []
        for tensor in graph.initializer:
            name = tensor.name
            if tensor.data_type in _TYPES:
                raise InputError(
                    f"{self.path}: `{one_line(name)}` holds {_TYPES[tensor.data_type]} numbers, "
                    "rounded to few digits: export the model in float32"
                )
            array = self._array(tensor, name)
            note = notes.get(name, TensorNote())
            own = note.weight if note.weight not in taken else ""
            taken.add(own)
            usable = not note.is_fixed and self._usable(name, array)
            usable = usable and (not own or self._usable(own, array))
            self.known[name] = Parameter(own or name, array) if usable else array
            if usable and note.sources and not own and array.size > 1:
                computed.append(name)
        if computed:
            self.assumed.append(of_computed(computed))
        for tensor in graph.sparse_initializer:
            raise InputError(f"{self.path}: `{one_line(tensor.values.name)}` is a sparse tensor")

    def _array(self, tensor: Any, name: str) -> np.ndarray:
        try:
            return tensor_array(tensor, self.path.parent if self.has_folder else None)
        except InputError as error:
            raise InputError(f"{self.path}: the tensor `{one_line(name)}` {error}") from None

    def _usable(self, name: str, array: np.ndarray) -> bool:
        """Whether a tensor can be a weight."""
        fixed = any(fnmatch.fnmatchcase(name, pattern) for pattern in self.constants)
        real = array.dtype in (np.float32, np.float64) and array.ndim > 0 and array.size > 0
        if fixed or not real or not np.isfinite(array).all():
            return False
        # Numbers that stand for −∞ beside zeros are a mask.
        least = array <= MASKED
        return not (least.any() and (least | (array == 0)).all())

    # -- nodes -----------------------------------------------------------------------------

    def _nodes(self, nodes: Any, needed: Set[int] | None = None) -> None:
        """Read nodes; of those that the output does not need some may not be known."""
        for number, node in enumerate(nodes):
            check_time()
            where = f"{self.path}: node {number} `{one_line(node.name)}` ({node.op_type})"
            try:
                found = self._node(node)
            except InputError as error:
                if needed is not None and number not in needed:
                    text = f"a result of {one_line(node.op_type)}, which is not read: {error}"
                    self.uncomputed.update(dict.fromkeys(node.output, text))
                    continue
                if str(error).startswith(str(self.path)):
                    raise
                raise InputError(f"{where}: {error}") from None
            except (MemoryError, Unfinished):
                raise
            except Exception as error:
                # A node with other inputs or attributes than its operator has.
                text = one_line(error) or type(error).__name__
                raise InputError(f"{where}: cannot be read; is the model valid? ({text})") from None
            self.known.update(
                {name: value for name, value in zip(node.output, found, strict=False) if name}
            )
            for k, name in enumerate(node.output[len(found) :], len(found)):
                self.uncomputed[name] = f"result {k} of {node.op_type}, which is not read"

    def _node(self, node: Any) -> Sequence[Any]:
        inputs: list[Known | Parameter | None] = []
        for name in node.input:
            if name and name not in self.known:
                what = self.uncomputed.get(name, "not there")
                raise InputError(f"its input `{one_line(name)}` is {what}")
            inputs.append(self.known[name] if name else None)
        standard = node.domain in STANDARD
        if node.op_type in _RANDOM and standard:
            raise InputError(f"the values of {node.op_type} are random")
        if node.op_type == "If" and standard:
            return self._branch(node, inputs)
        present = [value for value in inputs if value is not None]
        plain = all(isinstance(value, np.ndarray) for value in present)
        if standard and plain and node.op_type not in _NEVER_COMPUTED:
            return self._computed(node, list(present))
        constant = all(isinstance(value, np.ndarray | SampleConstants) for value in present)
        if standard and constant and node.op_type not in (*_NEVER_COMPUTED, *_OF_SHAPES):
            found = self._of_samples(node, present)
            if found is not None:
                return found
        known = OPERATORS if standard else PREPARATIONS if node.domain == DOMAIN else {}
        operator = known.get(node.op_type)
        if operator is None:
            name = node.op_type if standard else f"{node.domain}.{node.op_type}"
            raise InputError(_unknown(name, standard))
        if inputs and isinstance(inputs[0], Tokens) and node.op_type in MOVED:
            return moved_tokens(
                self.moves, node.op_type, self.opened.opset, inputs, attributes(node),
                len(node.output),
            )  # fmt: skip
        call = Call(
            self.moves, node.op_type, self.opened.opset, inputs, attributes(node),
            self.weights, len(node.output), node.input,
        )  # fmt: skip
        found = operator(call)
        return found if isinstance(found, tuple) else (found,)

    def _computed(self, node: Any, inputs: list[Any]) -> Sequence[np.ndarray]:
        """Constants computed from constants of the file."""
        if node.op_type == "Constant":
            [(name, value)] = attributes(node).items()
            if name == "value":
                array = self._array(value, node.output[0])
                # Some exporters write weights as nodes instead of tensors.
                bare = not len(self.opened.graph.initializer)
                if (
                    bare
                    and node.output[0] not in self.known
                    and self._usable(node.output[0], array)
                ):
                    return [Parameter(node.output[0], array)]  # type: ignore[list-item]
                return [array]
            if name in ("value_float", "value_floats"):
                return [np.array(value, np.float32)]
            if name in ("value_int", "value_ints"):
                return [np.array(value, np.int64)]
        largest = 0
        if node.op_type in ("Expand", "Tile", "Range"):
            largest = max((abs(int(v)) for array in inputs[1:] for v in array.ravel()), default=0)
        if largest > MODEL_LIMITS.constant:
            raise InputError("it makes a constant that is too large")
        if largest >= self.moves.batch > 1:
            if node.op_type != "Expand":
                raise InputError(
                    "it makes an axis of the size of the batch, as masks of transformers do: "
                    "export with `dynamo=True` or without an attention mask, or read the module "
                    "itself by `from_torch`"
                )
            shape = [int(v) for v in inputs[1]]
            return [self.moves.repeated(inputs[0], shape)]  # type: ignore[list-item]
        return self._by_reference(node, inputs)

    def _of_samples(self, node: Any, inputs: list[Any]) -> Sequence[SampleConstants] | None:
        """Constants with an axis of the samples, computed for some samples; None if not known how.

        The axis is that along which the results for two and three samples differ in size.
        """
        batch, found = self.moves.batch, list[list[np.ndarray]]()
        for count in (2, 3):
            own = [v.first(count) if isinstance(v, SampleConstants) else v for v in inputs]
            if node.op_type in ("Expand", "Reshape", "Tile"):
                own[1:] = [np.where(v % batch == 0, v // batch * count, v) for v in own[1:]]
            try:
                found.append(list(self._by_reference(node, own)))
            except InputError:
                return None
        out = []
        for two, three in zip(*found, strict=True):
            axes = [
                k for k, (a, b) in enumerate(zip(two.shape, three.shape, strict=True)) if a != b
            ]
            if len(axes) != 1:
                return None
            parts = [*np.split(two, 2, axes[0]), *np.split(three, 3, axes[0])]
            first, has_nan = parts[0], parts[0].dtype.kind == "f"
            if not all(np.array_equal(first, part, equal_nan=has_nan) for part in parts):
                return None
            out.append(SampleConstants(first, axes[0]))
        return out

    def _by_reference(self, node: Any, inputs: list[Any]) -> Sequence[np.ndarray]:
        """The values of a node of constants, by ONNX's reference implementation."""
        onnx = need_onnx()
        from onnx.reference import ReferenceEvaluator

        check_constant(node.op_type, inputs, attributes(node))
        opset = onnx.helper.make_opsetid("", self.opened.opset)
        given = dict(zip([name for name in node.input if name], inputs, strict=True))
        graph = onnx.helper.make_graph(
            [node], "one",
            [onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
             for name, value in given.items()],
            [onnx.ValueInfoProto(name=name) for name in node.output if name],
        )  # fmt: skip
        model = onnx.helper.make_model(graph, opset_imports=[opset])
        try:
            # Infinities and no-numbers are constants as others.
            with np.errstate(all="ignore"):
                found = ReferenceEvaluator(model).run(None, given)
        except Exception as error:
            raise InputError(f"its constant cannot be computed ({one_line(error)})") from None
        values = iter(found)
        return [np.asarray(next(values)) if name else np.zeros(0) for name in node.output]

    def _branch(self, node: Any, inputs: list[Any]) -> Sequence[Any]:
        if not isinstance(inputs[0], np.ndarray):
            raise InputError("its condition depends on samples or weights")
        options = attributes(node)
        chosen = options["then_branch" if bool(inputs[0].item()) else "else_branch"]
        self._tensors(chosen)
        self._nodes(chosen.node)
        return [self.known[value.name] for value in chosen.output]


def _needed(nodes: Any, output: str) -> set[int]:
    """The numbers of the nodes from which a value is computed."""
    wanted, found = {output}, set[int]()
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if wanted.isdisjoint(node.output):
            continue
        if any(attribute.HasField("g") for attribute in node.attribute):
            # A branch uses values by their names.
            return found | set(range(number + 1))
        found.add(number)
        wanted.update(node.input)
    return found


def _unknown(name: str, standard: bool) -> str:
    """What is said of an operator that is not known."""
    if name.startswith("ai.onnx.ml.Tree"):
        return (
            f"the operator {name} is a tree, whose labels are constant almost everywhere: they do "
            "not move with its parameters, so there are no ranks"
        )
    if standard and name in ("Loop", "Scan"):
        return (
            f"the operator {name} repeats a graph, which is not written out: export the model with "
            "a fixed number of steps, or with a recurrent layer (LSTM, GRU, RNN)"
        )
    near = get_close_matches(name, OPERATORS, 3) if standard else []
    like = f"; similar ones that are: {', '.join(near)}" if near else ""
    return f"the operator {one_line(name)} is not known{like} ({len(OPERATORS)} are known)"


def moved_tokens(
    moves: Moves,
    op: str,
    opset: int,
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    outputs: int = 1,
) -> list[Tokens]:
    """Whole numbers moved by an operator: it is applied to their places."""
    tokens, *others = inputs
    build = Builder()
    block = build.sample("places", tokens.shape)
    own = Moves(build, moves.batch, moves.assumed)
    call = Call(own, op, opset, [Item(block, tokens.batch), *others], options, Weights(own),
                outputs)  # fmt: skip
    found = OPERATORS[op](call)
    made = []
    for item in found if isinstance(found, tuple) else (found,):
        where, nodes = build.places(item.value), build.program(item.value).nodes
        number = item.value.number
        while nodes[number].op == "index" and len(nodes[number].inputs) == 1:
            places = nodes[number].where
            if places is None or (places < 0).any():
                raise InputError("it puts other numbers beside whole numbers of an input")
            where, [number] = places.ravel()[where], nodes[number].inputs
        if number != block.number:
            raise InputError("it puts other numbers beside whole numbers of an input")
        made.append(replace(tokens, where=tokens.where.ravel()[where], batch=item.batch))
    return made
