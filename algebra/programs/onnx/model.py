"""Opening an ONNX file: its size, version and inputs; unreadable files are refused here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.files.opening import read_bytes

# Larger files exceed the memory of one machine.
LARGEST_FILE = 1 << 30
MOST_NODES = 50_000
# The name of the axis of the samples if the file has none.
BATCH_NAME = "batch"
INSTALL = "pip install 'matchprob[onnx]'"


def need_onnx() -> Any:
    """The package onnx.

    Raises
    ------
    InputError
        If it is not installed; the message names the command that installs it.
    """
    try:
        import onnx
    except ImportError:
        raise InputError(f"an ONNX file needs the package onnx: {INSTALL}") from None
    return onnx


@dataclass(frozen=True)
class Input:
    """An input of a graph.

    Attributes
    ----------
    name : str
    sizes : tuple of int or str
        A number, or the name of a size without one.
    type : int
        The number of its element type.
    """

    name: str
    sizes: tuple[int | str, ...]
    type: int


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph that can be read.

    Attributes
    ----------
    graph : onnx.GraphProto
    opset : int
        Version of the standard operators.
    inputs : tuple of Input
    """

    graph: Any
    opset: int
    inputs: tuple[Input, ...]


def open_model(path: Path, sizes: Mapping[str, int], data: bytes | None = None) -> Opened:
    """Open a file.

    Parameters
    ----------
    path : Path
    sizes : mapping of str to int
        Values of the sizes for which the file gives only a name.
    data : bytes, optional
        The file's content, if it is in memory; the path is then only a name.

    Raises
    ------
    InputError
        If the file cannot be read; the message names it and the reason.
    """
    onnx = need_onnx()
    content = read_model(path) if data is None else data
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:
        # The decoder raises its own exception for damaged data, others for missing parts.
        reason = one_line(error) or type(error).__name__
        raise InputError(
            f"{path}: cannot be read as an ONNX model; is it whole? ({reason})"
        ) from None
    return _checked(model, path, sizes)


def read_model(path: Path) -> bytes:
    """The content of a model's file.

    Raises
    ------
    InputError
        If it is missing, too long, or no regular file.
    """
    try:
        return read_bytes(path, LARGEST_FILE, is_named_inside=True)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: {one_line(reason or 'cannot be read')}") from None


def _checked(model: Any, path: Path, sizes: Mapping[str, int]) -> Opened:
    onnx = need_onnx()
    newest = onnx.defs.onnx_opset_version()
    versions = {entry.domain: entry.version for entry in model.opset_import}
    opset = versions.get("", versions.get("ai.onnx", 0))
    if not opset or not model.graph.output:
        raise InputError(f"{path}: it holds no graph of ONNX operators; is it an ONNX model?")
    if opset > newest:
        raise InputError(
            f"{path}: operator set {opset}, and the installed onnx {onnx.__version__} knows up to "
            f"{newest}: install a newer onnx, or export with opset_version={newest}"
        )
    if len(model.graph.node) > MOST_NODES:
        raise InputError(
            f"{path}: {len(model.graph.node)} nodes; graphs of up to {MOST_NODES} are read"
        )
    if model.functions:
        from onnx.inliner import inline_local_functions

        model = inline_local_functions(model)
    given = {tensor.name for tensor in model.graph.initializer}
    _check_sizes(sizes, model, path)
    inputs: list[Input] = []
    for value in model.graph.input:
        if value.name not in given:
            # The axis of the samples is the first axis of the first input.
            start = inputs[0].sizes[0] if inputs and inputs[0].sizes else ""
            inputs.append(_input(value, path, sizes, start if isinstance(start, str) else ""))
    if not inputs:
        raise InputError(f"{path}: the graph has no inputs, so there are no samples")
    return Opened(model.graph, opset, tuple(inputs))


def _named(name: str, axis: int, size: str, sizes: Mapping[str, int]) -> int | None:
    """The number given for an axis: by its name, or by the input and the index of the axis."""
    return sizes.get(f"{name}.{axis}", sizes.get(size) if size else None)


def _input(value: Any, path: Path, sizes: Mapping[str, int], first: str) -> Input:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        raise InputError(f"{path}: the input `{one_line(value.name)}` is no tensor of known shape")
    found: list[int | str] = []
    for k, dim in enumerate(value.type.tensor_type.shape.dim):
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value > 0:
            found.append(dim.dim_value)
        elif (named := _named(value.name, k, dim.dim_param, sizes)) is not None:
            found.append(named)
        elif k == 0:
            first = dim.dim_param or BATCH_NAME
            found.append(first)
        elif dim.dim_param == first and first:
            found.append(first)
        else:
            name = one_line(dim.dim_param or f"{value.name}.{k}")
            raise InputError(
                f"{path}: axis {k} of the input `{one_line(value.name)}` has no size: give "
                f"`sizes` one, such as {name}=8, or export with fixed sizes; only "
                "the axis of the samples, the first of the first input, may be without"
            )
    return Input(value.name, tuple(found), value.type.tensor_type.elem_type)


def _check_sizes(sizes: Mapping[str, int], model: Any, path: Path) -> None:
    known = set()
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        known |= {dim.dim_param for dim in dims if dim.dim_param}
        known |= {f"{value.name}.{k}" for k, dim in enumerate(dims) if not dim.dim_value}
        known |= set() if dims else {value.name}
    for name, size in sizes.items():
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise InputError(
                f"{path}: `sizes` names {shown(name)}; the file's sizes by name: {has}"
            )
        if type(size) is not int or size < 1:
            raise InputError(
                f"{path}: `sizes.{one_line(name)}` ({shown(size)}) must be a whole number"
            )


def tensor_array(tensor: Any, folder: Path | None) -> np.ndarray:
    """The numbers of a tensor.

    Parameters
    ----------
    tensor : onnx.TensorProto
    folder : Path or None
        The folder of the model, in which a tensor may name a file; None: there is none.

    Raises
    ------
    InputError
    """
    onnx = need_onnx()
    shape = tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise InputError(f"its shape is {shown(shape)}")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        if folder is None:
            raise InputError("stands in another file: export the model as one file")
        kept, tensor = tensor, onnx.TensorProto(name=tensor.name, data_type=tensor.data_type)
        tensor.dims.extend(shape)
        tensor.raw_data = _external(kept, folder)
    try:
        return np.asarray(onnx.numpy_helper.to_array(tensor))
    except Exception as error:
        raise InputError(f"cannot be read ({one_line(error)})") from None


def _external(tensor: Any, folder: Path) -> bytes:
    """The bytes of a tensor that stands in a file beside the model."""
    given = {entry.key: entry.value for entry in tensor.external_data}
    name, start, length = (given.get(key, "") for key in ("location", "offset", "length"))
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(f"stands in {shown(name)}, which is no file in the folder of the model")
    if not all((text.isascii() and text.isdigit()) or not text for text in (start, length)):
        raise InputError(f"begins at {shown(start)} of its file, and has {shown(length)} bytes")
    try:
        return read_bytes(
            folder / name, LARGEST_FILE, is_named_inside=True, start=int(start or 0),
            length=int(length) if length else None,
        )  # fmt: skip
    except InputError as error:
        raise InputError(f"stands in {shown(name)}: {error}") from None
    except (OSError, ValueError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"stands in {shown(name)}: {one_line(reason)}") from None


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node as Python values."""
    onnx = need_onnx()
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
