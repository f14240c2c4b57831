"""Opening an ONNX file: its size, version and inputs; unreadable files are refused here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import ErrorsAt, InputError, Unfinished, one_line, shown
from algebra.files.opening import FILE_LIMITS, read_bytes
from algebra.installing import missing
from algebra.memory_limits import AboveLimit, check_memory, memory_limit, taken_memory
from algebra.plugins.models.onnx.batches import SAMPLES, Input, Sizes
from algebra.plugins.models.onnx.bounds import check_expansion, most_entries

# Memory of reading a model, in halves of its length: the text, the message, arrays (measured); and
# of what is done with its weights then.
READING = 9
_LATER = 12
# A file of which reading takes a smaller part of the limit is read, so that its shapes are known.
_SMALL = 16


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
        raise InputError(missing("an ONNX file needs the package", "onnx", "onnx")) from None
    return onnx


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph that can be read.

    Attributes
    ----------
    graph : onnx.GraphProto
    opset : int
        Version of the standard operators.
    inputs : tuple of Input
    most : int
        How many entries the values of its program may have.
    """

    graph: Any
    opset: int
    inputs: tuple[Input, ...]
    most: int


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """The one place that refuses a model when code of the package onnx, or NumPy, fails on it.

    Raises
    ------
    InputError
        In place of any other exception; limits of time and memory pass.
    """
    try:
        yield
    except (InputError, Unfinished):
        raise
    except MemoryError:
        raise InputError(f"{path}: it is too large for the memory of this machine") from None
    except Exception as error:
        reason = one_line(error) or type(error).__name__
        raise InputError(
            f"{path}: cannot be read as an ONNX model; is it whole and valid? ({reason})"
        ) from None


def open_model(path: Path, sizes: Sizes, data: bytes | None = None) -> Opened:
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
    with reading(path):
        return _checked(onnx.load_model_from_string(content), path, sizes)


def read_model(path: Path) -> bytes:
    """The content of a model's file.

    Raises
    ------
    InputError
        If it is missing, too long, or no regular file.
    Unfinished
        If reading it takes more memory than the limit leaves.
    """
    try:
        if path.is_file():
            _check_size(path.stat().st_size, f"{path}: reading it")
        return read_bytes(path, FILE_LIMITS.model, is_named_inside=True)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: {one_line(reason or 'cannot be read')}") from None


def _check_size(size: int, what: str) -> None:
    """Refuse a file that is too large for the memory limit."""
    needed = READING * size // 2
    if needed < memory_limit() // _SMALL:
        return
    before = taken_memory()
    try:
        check_memory(needed, what)
    except AboveLimit as refused:
        raise AboveLimit(refused.text, before + needed + _LATER * size // 2) from None


def _checked(model: Any, path: Path, sizes: Sizes) -> Opened:
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
    with ErrorsAt(path):
        check_expansion(model)
    most = most_entries(model)
    if model.functions:
        from onnx.inliner import inline_local_functions

        model = inline_local_functions(model)
    given = {tensor.name for tensor in model.graph.initializer}
    _check_sizes(sizes, model, path)
    inputs: list[Input] = []
    for value in model.graph.input:
        if value.name not in given:
            inputs.append(_input(value, path, sizes))
    if not inputs:
        raise InputError(f"{path}: the graph has no inputs, so there are no samples")
    return Opened(model.graph, opset, tuple(inputs), most)


def _input(value: Any, path: Path, sizes: Sizes) -> Input:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        raise InputError(f"{path}: the input `{one_line(value.name)}` is no tensor of known shape")
    found: list[int | str] = []
    for k, dim in enumerate(value.type.tensor_type.shape.dim):
        place = f"{value.name}.{k}"
        named = sizes.get(place, sizes.get(dim.dim_param) if dim.dim_param else None)
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value > 0:
            found.append(dim.dim_value)
        elif isinstance(named, int):
            found.append(named)
        else:
            # The first axes of all inputs that have no name are that of the samples.
            found.append(dim.dim_param or (place if k else ""))
    return Input(value.name, tuple(found), value.type.tensor_type.elem_type)


def _check_sizes(sizes: Sizes, model: Any, path: Path) -> None:
    numbers, places = {SAMPLES}, set()
    inputs = {value.name for value in model.graph.input}
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        numbers |= {dim.dim_param for dim in dims if dim.dim_param}
        numbers |= {f"{value.name}.{k}" for k, dim in enumerate(dims) if not dim.dim_value}
        whole = Input(value.name, (), value.type.tensor_type.elem_type).is_whole
        numbers |= {value.name} if whole or not dims else set()
        places |= {f"{value.name}.{k}" for k in range(len(dims))}
    for name, size in sizes.items():
        known = numbers | places if size == SAMPLES else numbers
        if name not in known:
            has = ", ".join(sorted(known - {SAMPLES})) or "none"
            raise InputError(
                f"{path}: `sizes` names {shown(name)}; the file's sizes by name: {has}"
            )
        least = 0 if name in inputs else 1
        if size != SAMPLES and (type(size) is not int or size < least):
            raise InputError(
                f"{path}: `sizes.{one_line(name)}` ({shown(size)}) must be a whole number, or "
                f'"{SAMPLES}" for the axis of the samples'
            )
        if name == SAMPLES and size != 1 and name not in _all_names(model):
            raise InputError(
                f"{path}: `sizes.{SAMPLES}` ({shown(size)}) must be 1: the file labels one sample"
            )


def _all_names(model: Any) -> set[str]:
    return {d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim}


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
        if (folder / name).is_file():
            size = int(length) if length else (folder / name).stat().st_size
            check_memory(3 * size, f"reading {shown(name)}")
        return read_bytes(
            folder / name, FILE_LIMITS.model, is_named_inside=True, start=int(start or 0),
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
