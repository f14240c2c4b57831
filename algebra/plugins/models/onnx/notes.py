"""What an exporter says of the tensors of a file, in their metadata.

The present exporter of torch writes whether a tensor is a parameter or a buffer of the module, and
the names of the values from which it has computed one: of a transposed weight the weight's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from algebra.errors import one_line
from algebra.words import some

_KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
_FIXED = ("BUFFER", "CONSTANT_TENSOR")
_COMPUTED = "pkg.onnxscript.optimizer.folded_from"
# The names of constants that the exporter makes.
_MADE = re.compile(r"val_\d+")
# Longest list of names that is looked at, and tensors that are named.
_LONGEST = 10_000
_NAMED = 3


@dataclass(frozen=True)
class TensorNote:
    """What is said of a tensor.

    Attributes
    ----------
    is_fixed : bool
        Whether it is a buffer or a constant of the module.
    sources : tuple of str
        The values from which it was computed, without constants that the exporter has made.
    """

    is_fixed: bool = False
    sources: tuple[str, ...] = ()

    @property
    def weight(self) -> str:
        """The name in the module of the only weight that it holds, in another order; or ""."""
        return self.sources[0] if len(self.sources) == 1 and "." in self.sources[0] else ""


def tensor_notes(graph: Any) -> dict[str, TensorNote]:
    """What is said of the tensors of a graph, by their names; statistics are no constants.

    Parameters
    ----------
    graph : onnx.GraphProto
    """
    statistics = {
        name
        for node in graph.node
        if node.op_type == "BatchNormalization"
        for name in node.input[3:5]
    }
    found = {}
    for value in graph.value_info:
        said = {entry.key: entry.value[:_LONGEST] for entry in value.metadata_props}
        fixed = said.get(_KIND) in _FIXED and value.name not in statistics
        listed = re.findall(r"'([^']*)'", said.get(_COMPUTED, ""))
        sources = tuple(name for name in listed if not _MADE.fullmatch(name))
        if fixed or listed:
            found[value.name] = TensorNote(fixed or not sources, sources)
    return found


def of_computed(names: Sequence[str]) -> str:
    """What is said of tensors that an exporter has computed and that learn."""
    listed = some([f"`{one_line(name)}`" for name in names], _NAMED)
    return (
        f"tables that the exporter computed learn as weights do ({listed}); `constants` names "
        "those that do not"
    )
