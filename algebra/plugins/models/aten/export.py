"""The graph of a PyTorch module in evaluation mode, exported by `torch.export`.

It is exported for a number of samples that occurs as a size in no graph
(`algebra.plugins.models.onnx.values.BATCH`): torch computes only shapes, so no memory is needed for
it.  Caches of keys and values are switched off meanwhile, and outputs that are no tensors are left
out.
"""

from __future__ import annotations

import inspect
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.installing import missing
from algebra.plugins.models.aten.constants import known_constants
from algebra.plugins.models.onnx.values import BATCH

# Not decomposed: the decomposition compares values, takes logarithms, merges axes, or writes into
# memory that has no values.
_WHOLE = (
    "_prelu_kernel.default", "bilinear.default", "celu.default", "elu.default",
    "embedding_bag.default", "embedding_bag.padding_idx", "hardsigmoid.default",
    "hardswish.default", "instance_norm.default", "isfinite.default", "linear.default",
    "log_sigmoid.default", "logaddexp.default", "logsumexp.default", "mish.default",
    "nan_to_num.default", "one_hot.default", "pad.default", "scaled_dot_product_attention.default",
    "silu.default", "softplus.default",
)  # fmt: skip


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
        raise InputError(missing("`example_inputs` needs the package", "torch")) from None
    if not hasattr(getattr(torch, "export", None), "default_decompositions"):
        raise InputError(f"torch {torch.__version__} is too old: 2.6 and newer are known")
    return torch


def many_samples(
    torch: Any, inputs: Any, axis: int | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with their first sample repeated `BATCH` times, without allocating memory.

    Without an axis of the samples they are as they are.
    """
    if axis is None:
        return as_arguments(inputs)

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

    args, kwargs = as_arguments(inputs)
    return torch.utils._pytree.tree_map(repeated, (args, kwargs))


def as_arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in their order and by name."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, list | tuple) else (inputs,)), {}


def tensors_by_name(torch: Any, module: Any, inputs: Any) -> dict[str, np.ndarray]:
    """The tensors among arguments, as arrays, by the names of the parameters of `forward`.

    Those of ``*inputs`` are ``inputs_0``, …, as in an exported graph.
    """
    args, kwargs = as_arguments(inputs)
    found = dict[str, Any]()
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except TypeError:
        found |= kwargs
    else:
        for name, value in bound.arguments.items():
            match bound.signature.parameters[name].kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    found |= {f"{name}_{k}": each for k, each in enumerate(value)}
                case inspect.Parameter.VAR_KEYWORD:
                    found |= value
                case _:
                    found[name] = value
    return {
        name: value.detach().cpu().numpy()
        for name, value in found.items()
        if isinstance(value, torch.Tensor) and value.dtype != torch.bfloat16
    }


def exported_graph(torch: Any, module: Any, inputs: Any, axis: int | None) -> tuple[Any, Any]:
    """The graph of core operators, and that before their decomposition."""
    args, kwargs = many_samples(torch, inputs, axis)
    table = torch.export.default_decompositions()
    for name in _WHOLE:
        packet, _, overload = name.partition(".")
        table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
    try:
        with _evaluating(torch, module), _quiet(), _uncached(module):
            with torch.enable_grad(), known_constants(torch, module):
                found = torch.export.export(module, args, kwargs, strict=False)
            return found.run_decompositions(table), found
    except Exception as error:
        # A module's own forward, or its tracing, may raise any exception.
        raise InputError(
            f"`module` ({one_line(type(module).__name__)}): "
            + _why_not(torch, module, inputs, axis, error)
        ) from None


@contextmanager
def returning(module: Any, part: str) -> Iterator[None]:
    """A context in which a module returns what one of its parts does, the last time it is called.

    Raises
    ------
    InputError
        If it has no such part.
    """
    parts = dict(module.named_modules())
    if not part or part not in parts:
        own = [name for name, _ in module.named_children()]
        raise InputError(
            f"`output` ({shown(part)}): the module has no part of this name; parts are "
            f"{', '.join(own) or 'none'}, and theirs, such as {own[0] if own else 'layer'}.0"
        )
    made: list[Any] = []
    hook = parts[part].register_forward_hook(lambda _, given, value: made.append(value))
    forward = module.forward

    @wraps(forward)
    def hidden(*args: Any, **kwargs: Any) -> Any:
        made.clear()
        forward(*args, **kwargs)
        if not made:
            raise InputError(f"`output` ({shown(part)}): the forward does not call this part")
        return made[-1]

    module.forward = hidden
    try:
        yield
    finally:
        hook.remove()
        del module.forward


def _why_not(torch: Any, module: Any, inputs: Any, axis: int | None, error: Exception) -> str:
    """Why a forward cannot be followed: also without the repeated samples, or only with them."""
    args, kwargs = as_arguments(inputs)
    cannot = "torch.export cannot follow its forward with these `example_inputs`: "
    try:
        with _evaluating(torch, module), _quiet():
            module(*args, **kwargs)
    except Exception as own:
        # The message then has the sizes of the example.
        return cannot + _first_line(own)
    text = _first_line(error)
    if axis is None or str(BATCH) not in text:
        return cannot + text
    return (
        f"its forward takes these `example_inputs`, but not with another number of samples along "
        f"axis {axis} ({text.replace(str(BATCH), 'N')}): if they are one sample without an axis of "
        "samples, add one (`x[None]`), or say axis=None"
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return one_line(lines[0])


@contextmanager
def _quiet() -> Iterator[None]:
    """A context without warnings, and in which torch alone records the trace.

    pytest shows all that is recorded beside a failure: hundreds of lines.
    """
    trace = logging.getLogger("torch.__trace")
    others = [one for one in trace.handlers if not type(one).__module__.startswith("torch")]
    for one in others:
        trace.removeHandler(one)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one in others:
            trace.addHandler(one)


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


@contextmanager
def _uncached(module: Any) -> Iterator[None]:
    """The module without caches of keys and values, and with tensors as its only outputs.

    Mixtures of experts gather the experts of each token, instead of sorting tokens by experts.
    """
    configs = {id(c): c for part in module.modules() if (c := getattr(part, "config", None))}
    before = [
        (config, name, getattr(config, name))
        for config in configs.values()
        for name in _SETTINGS
        if getattr(config, name, None) is not None
    ]
    hook = module.register_forward_hook(lambda _, __, found: tuple(_tensors(found)))
    for config, name, _ in before:
        setattr(config, name, _SETTINGS[name])
    try:
        yield
    finally:
        hook.remove()
        for config, name, value in before:
            setattr(config, name, value)


# Settings of configurations of transformers while a forward is followed.
_SETTINGS = {"use_cache": False, "_experts_implementation": "batched_mm"}


def _tensors(found: Any) -> Iterator[Any]:
    """The tensors among outputs, in their order; other objects are left out."""
    if hasattr(found, "detach"):
        yield found
    elif isinstance(found, Mapping):
        yield from (tensor for value in found.values() for tensor in _tensors(value))
    elif isinstance(found, list | tuple):
        yield from (tensor for value in found for tensor in _tensors(value))


def gradients(exported: Any, output: int) -> tuple[set[str], dict[str, str]]:
    """The parameters that reach an output by gradients, and those that do behind a stop.

    A stop is a `detach`, or what is computed under `torch.no_grad`; of each parameter the line of
    the last one before the labels is returned, "" if it is not known.

    Parameters
    ----------
    exported : ExportedProgram
        Before its decomposition, which removes stops.
    output : int
        The number of the output.
    """
    graph, signature = exported.graph, exported.graph_signature
    [ended] = [node for node in graph.nodes if node.op == "output"]
    chosen = [
        value
        for spec, value in zip(signature.output_specs, ended.args[0], strict=True)
        if spec.kind.name == "USER_OUTPUT"
    ][output : output + 1]
    free, stopped = {id(node) for node in chosen}, dict[int, str]()
    reached, behind = set[str](), dict[str, str]()
    for node in reversed(list(graph.nodes)):
        is_free, line = id(node) in free, stopped.get(id(node))
        target = signature.inputs_to_parameters.get(node.name)
        if target is not None and is_free:
            reached.add(target)
        if target is not None and line is not None:
            behind[target] = line
        title = getattr(node.target, "__name__", "")
        stops = title.startswith("detach") or (
            title == "wrap_with_set_grad_enabled" and not node.args[0]
        )
        if stops and is_free and line is None:
            line = _line_of(node)
        for before in node.all_input_nodes:
            if is_free and not stops:
                free.add(id(before))
            if line is not None:
                stopped.setdefault(id(before), line)
    return reached, behind


def _line_of(node: Any) -> str:
    """The line of a module's code that made a node, or what it returns; "" if it is not known."""
    for one in (node, *node.users):
        frames = re.findall(r'File "(.+?)", line (\d+), in', one.meta.get("stack_trace") or "")
        own = [frame for frame in frames if "/torch/" not in frame[0].replace("\\", "/")]
        if own:
            return f"{own[-1][0]}, line {own[-1][1]}"
    return ""
