"""The program of a model: an ONNX file, a torch module, what was read, or a problem about one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algebra.errors import ErrorsAt, InputError, one_line, shown

if TYPE_CHECKING:
    from algebra.plugins.models.onnx import Read


def as_read(
    model: Any,
    example_inputs: Any = None,
    sizes: Mapping[str, int | str] | None = None,
    constants: Sequence[str] = (),
    output: str = "",
) -> Read:
    """The program of a model.

    Parameters
    ----------
    model : str, Path, Read, Problem, ProgramNetwork or torch.nn.Module
    example_inputs : optional
        What a module's `forward` takes; see `inputs_of`.
    sizes, constants, output : optional
        As for `capacity`.

    Raises
    ------
    InputError
        Naming what to write instead.
    """
    from algebra.files.opening import check_ending
    from algebra.networks.base import Network
    from algebra.plugins.models.aten import read_torch
    from algebra.plugins.models.onnx import Read, read_onnx
    from algebra.problems.problem import Problem

    if hasattr(model, "named_parameters"):
        if example_inputs is not None:
            return read_module(model, example_inputs, output=output or 0)
        return replace(read_torch(model, inputs_of(model), output=output or 0), example={})
    if example_inputs is not None:
        raise InputError("`example_inputs` are what a torch module takes, and `model` is none")
    if isinstance(model, Read):
        return model
    network = model.network if isinstance(model, Problem) else model
    own = getattr(network, "read", None)
    if isinstance(own, Read):
        return own
    if isinstance(network, Network):
        raise InputError(
            f"`model` ({one_line(network)}): capacity is about the parameters of a model that is a "
            "program: an ONNX file, or a torch module; of this network `certify` says what an "
            "allocation matches, `dimension` what its functions can be"
        )
    if not isinstance(model, str | Path):
        raise InputError(
            f"`model` ({shown(model)}) must be the name of an ONNX file, a torch module, or what "
            "`from_torch` reads"
        )
    if Path(model).suffix == ".toml":
        raise InputError(
            f"{model}: capacity is about the parameters of an ONNX file; for problem "
            "files `certify` says what they match, `dimension` what their networks can be"
        )
    with ErrorsAt(str(model)):
        check_ending(model, "an ONNX model", ".onnx")
    return read_onnx(model, sizes=sizes, constants=constants, output=output)


def read_module(module: Any, example_inputs: Any, **options: Any) -> Read:
    """The program of a torch module; `options` as for `read_torch`.

    Raises
    ------
    InputError
        Also if the example contains numbers that the forward takes for padding.
    """
    from algebra.plugins.models.aten import read_torch

    read = read_torch(module, example_inputs, **options)
    for name, array in read.example.items():
        check_padding(read, name, array, "`example_inputs`")
    return read


def check_padding(read: Read, name: str, array: Any, what: str) -> None:
    """Refuse samples with numbers that a forward takes for padding."""
    from algebra.programs.tokens import TokenSizes

    lost = read.tokens.excluded if isinstance(read.tokens, TokenSizes) else {}
    for number in sorted(lost.get(name, ())):
        if (array == number).any():
            raise InputError(
                f"{what}: {one_line(name)} contains {number}, which the model takes for padding; "
                "a model is read for samples of one length: give samples without padding"
            )


def inputs_of(module: Any) -> Any:
    """Inputs for a module: its own `dummy_inputs` (transformers), or those of a first Linear layer.

    Raises
    ------
    InputError
        If the module does not say what its `forward` takes.
    """
    from algebra.plugins.models.aten.export import need_torch
    from matchprob.plugins.models.layers import leaves

    own = getattr(module, "dummy_inputs", None)
    if isinstance(own, Mapping) and own:
        return dict(own)
    order = [module] if not list(module.children()) else leaves(module)
    parts: Any = order or ()
    first: Any = next((part for part in parts if list(part.parameters(recurse=False))), None)
    if type(first).__name__ == "Linear":
        torch = need_torch()
        return torch.zeros(1, first.in_features, dtype=first.weight.dtype)
    raise InputError(
        f"`model` ({one_line(type(module).__name__)}) does not say what its `forward` takes: "
        "capacity(module, example_inputs=x) with a tensor x, or "
        "capacity(from_torch(module, x))"
    )


def with_labels(read: Read, outputs: str | int, seed: int = 0) -> Read:
    """A model with fewer labels: see `algebra.programs.chosen_labels`.

    Raises
    ------
    InputError
    """
    from algebra.programs.chosen_labels import ChosenLabels

    program, words = ChosenLabels.read(outputs).of(read.program, seed)
    return replace(read, program=program, assumed=(*read.assumed, words))
