"""Exported graphs of torch modules as data, for machines without torch.

`python -m tests.algebra.plugins.models.aten.recorded` exports the modules of `tests.torch_modules`,
and some of transformers and PEFT where these are installed, and writes `tests/data/aten.npz`: of
each the graph (operators, schemas, arguments, shapes), its tensors, what torch computes of
constants, the inputs, torch's labels, and the rank of torch's Jacobian.  `recorded` gives such a
graph to the reader in place of torch.export's.
"""

from __future__ import annotations

import json
import operator
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from algebra.plugins.models.aten.reader import _GraphReader

DATA = Path(__file__).parents[4] / "data" / "aten.npz"
# A key of each object that is no number, text, list or None.
NODE, WORD = "node", "word"


class Tensor:
    """What the reader asks of a tensor of the graph (its shape), or of the module (its array)."""

    def __init__(self, array=None, shape=(), strides=(), dtype="", learns=False):
        self._array, self.requires_grad = array, learns
        self.shape, self._strides = tuple(array.shape if array is not None else shape), strides
        self.dtype = Word(dtype)
        self.ndim = len(self.shape)

    def stride(self):
        """The strides."""
        return self._strides

    def numel(self):
        """The number of entries."""
        return self._array.size

    def detach(self):
        """Itself."""
        return self

    cpu = detach

    def numpy(self):
        """The array."""
        return self._array


class Word(str):
    """A type of torch, by its name."""

    @property
    def is_floating_point(self):
        """Whether it is one of real numbers."""
        return "float" in self


class Node:
    """A node of a graph."""

    def __init__(self, record, results):
        self.name, self.op, self.meta = record["name"], record["op"], {}
        self.users: list[Node] = []
        self.all_input_nodes: list[Node] = []
        self.args: tuple[Any, ...] = ()
        self.kwargs: dict[str, Any] = {}
        target = record.get("target")
        self.target = Target(target, results) if target is not None else None


class Target:
    """An operator, with its schema; called, it returns what torch returned."""

    def __init__(self, record, results):
        self.__name__, self.namespace, self._results = record["title"], record["space"], results
        if record["schema"] is not None:
            name, arguments = record["schema"]
            own = [
                SimpleNamespace(
                    name=argument["name"], default_value=argument.get("default"),
                    has_default_value=lambda given=argument: "default" in given,
                )
                for argument in arguments
            ]  # fmt: skip
            self._schema = SimpleNamespace(name=name, arguments=own)

    def __call__(self, *args, **kwargs):
        return self._results.pop(0)


def _mapped(value, change):
    if isinstance(value, tuple | list):
        return type(value)(_mapped(each, change) for each in value)
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    return change(value)


class _Torch:
    """What the reader uses of torch."""

    Tensor = Tensor
    float32, float64, int32, int64 = map(Word, ("float32", "float64", "int32", "int64"))
    fx = SimpleNamespace(Node=Node, node=SimpleNamespace(map_aggregate=_mapped))

    class no_grad:
        """A context."""

        __enter__ = __exit__ = lambda *_: None

    @staticmethod
    def from_numpy(array):
        """A tensor."""
        return Tensor(array)


class _Module:
    def __init__(self, parameters, buffers):
        self._held, self._stored = parameters, buffers

    def named_parameters(self, remove_duplicate=True):
        """Pairs of names and tensors."""
        seen: set[int] = set()
        for name, tensor in self._held:
            if not remove_duplicate or id(tensor) not in seen:
                yield name, tensor
            seen.add(id(tensor))

    def named_buffers(self, remove_duplicate=True):
        """Pairs of names and tensors."""
        return iter(self._stored)

    def parameters(self):
        """The tensors, each once."""
        return [tensor for _, tensor in self.named_parameters()]


class _Arrays:
    """The arrays of one module."""

    def __init__(self, held, name):
        self._held, self._name = held, name

    def __call__(self, key):
        return self._held[f"{self._name}/{key}"]


def recorded(name, held=None):
    """The program of a recorded module, its inputs, labels and facts.

    Returns
    -------
    tuple of (Read, dict of str to ndarray, ndarray, dict)
    """
    held = np.load(DATA) if held is None else held
    arrays = _Arrays(held, name)
    record = json.loads(bytes(arrays("graph")))
    tensors = [
        Tensor(arrays(f"tensor {k}"), dtype=own["dtype"], learns=own["learns"])
        for k, own in enumerate(record["tensors"])
    ]
    module = _Module(*([(n, tensors[k]) for n, k in record[key]] for key in
                       ("parameters", "buffers")))  # fmt: skip
    nodes: dict[str, Node] = {}

    def argument(value):
        if isinstance(value, list):
            return [argument(each) for each in value]
        if isinstance(value, dict):
            return nodes[value[NODE]] if NODE in value else Word(value[WORD])
        return value

    for own in record["nodes"]:
        results = [
            [Tensor(arrays(f"result {k}")) for k in call] for call in own.get("results", ())
        ]  # fmt: skip
        node = nodes[own["name"]] = Node(own, results)
        node.args = tuple(argument(value) for value in own["args"])
        node.kwargs = {key: argument(value) for key, value in own["kwargs"].items()}
        node.all_input_nodes = [nodes[k] for k in own["inputs"]]
        for other in node.all_input_nodes:
            other.users.append(node)
        made = [Tensor(**shape) if shape else None for shape in own["shapes"]]
        node.meta["val"] = made[0] if own["single"] and made else tuple(made)
        if own["title"] == "getitem":
            node.target = operator.getitem
    specs = [
        [SimpleNamespace(kind=SimpleNamespace(name=kind), target=own) for kind, own in record[key]]
        for key in ("input_specs", "output_specs")
    ]
    exported = SimpleNamespace(
        graph=SimpleNamespace(nodes=list(nodes.values())),
        graph_signature=SimpleNamespace(input_specs=specs[0], output_specs=specs[1]),
        constants={n: tensors[k] for n, k in record["constants"]},
    )
    given = {n: arrays(f"given {n}") for n in record["given"]}
    reader = _GraphReader(_Torch, module, exported, record["axis"], given, frozenset())
    return reader.run(0), given, arrays("labels"), record


def names():
    """The recorded modules."""
    return sorted({key.partition("/")[0] for key in np.load(DATA).files})


# -- where torch is installed --------------------------------------------------------------------


class _Recording(_GraphReader):
    """A reader that keeps what torch computes of constants."""

    def _by_torch(self, node, count):
        found = super()._by_torch(node, count)
        self.__dict__.setdefault("kept", {}).setdefault(node.name, []).append(found)
        return found


def _plain(value):
    """An argument as JSON."""
    if hasattr(value, "all_input_nodes"):
        return {NODE: value.name}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, int | float | str) else {WORD: str(value)}


def _shape(tensor):
    if not hasattr(tensor, "dtype"):
        return None
    return {"shape": list(tensor.shape), "strides": list(tensor.stride()),
            "dtype": str(tensor.dtype).removeprefix("torch.")}  # fmt: skip


def _target(node):
    schema = getattr(node.target, "_schema", None)
    arguments = schema and [
        {"name": a.name} | ({"default": _plain(a.default_value)} if a.has_default_value() else {})
        for a in schema.arguments
    ]
    return {"title": str(getattr(node.target, "__name__", node.target)),
            "space": getattr(node.target, "namespace", ""),
            "schema": schema and [schema.name, arguments]}  # fmt: skip


def singular_values(torch, labels, learns):
    """Those of torch's Jacobian of labels by parameters."""
    rows = []
    for label in labels.flatten():
        slopes = torch.autograd.grad(label, learns, retain_graph=True, allow_unused=True)
        rows.append(np.concatenate([
            np.zeros(p.numel()) if g is None else g.numpy().ravel()
            for g, p in zip(slopes, learns, strict=True)
        ]))  # fmt: skip
    return np.linalg.svd(np.array(rows), compute_uv=False)


def _rank(torch, net, inputs):
    """The rank of torch's Jacobian by all parameters, in doubles."""
    torch.backends.mha.set_fastpath_enabled(False)
    learns = list(net.requires_grad_().parameters())
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    found = net(*args, **kwargs)
    values = singular_values(torch, found if isinstance(found, torch.Tensor) else found[0], learns)
    return int((values > 1e-10 * values[0]).sum()), found


def record(name, net, inputs, axis):
    """The arrays of one module."""
    import torch

    from algebra.plugins.models.aten.export import exported_graph, tensors_by_name

    net = net.eval()
    exported, _ = exported_graph(torch, net, inputs, axis)
    given = tensors_by_name(torch, net, inputs)
    reader = _Recording(torch, net, exported, axis, given, frozenset())
    reader.run(0)
    out, tensors, places = {}, [], {}

    def kept(tensor):
        if id(tensor) not in places:
            places[id(tensor)] = len(tensors)
            out[f"{name}/tensor {len(tensors)}"] = tensor.detach().numpy()
            tensors.append({"dtype": str(tensor.dtype).removeprefix("torch."),
                            "learns": tensor.requires_grad})  # fmt: skip
        return places[id(tensor)]

    nodes, count = [], 0
    for node in exported.graph.nodes:
        made = node.meta.get("val")
        parts = list(made) if isinstance(made, list | tuple) else [made] * (made is not None)
        own = {"name": node.name, "op": node.op, "title": "", "args": _plain(node.args),
               "kwargs": {k: _plain(v) for k, v in node.kwargs.items()},
               "inputs": [k.name for k in node.all_input_nodes],
               "shapes": [_shape(part) for part in parts],
               "single": not isinstance(made, list | tuple)}  # fmt: skip
        if node.op == "call_function":
            own["target"] = _target(node)
            own["title"] = own["target"]["title"]
        for found in getattr(reader, "kept", {}).get(node.name, ()):
            own.setdefault("results", []).append(list(range(count, count + len(found))))
            for array in found:
                out[f"{name}/result {count}"], count = array, count + 1
        nodes.append(own)
    signature = exported.graph_signature
    facts = {
        "nodes": nodes, "tensors": tensors, "axis": axis, "given": list(given),
        "parameters": [(n, kept(p)) for n, p in net.named_parameters(remove_duplicate=False)],
        "buffers": [(n, kept(b)) for n, b in net.named_buffers(remove_duplicate=False)],
        "constants": [(n, kept(c)) for n, c in exported.constants.items()
                      if isinstance(c, torch.Tensor)],
        "input_specs": [(s.kind.name, s.target) for s in signature.input_specs],
        "output_specs": [(s.kind.name, s.target) for s in signature.output_specs],
        "torch": torch.__version__,
    }  # fmt: skip
    facts["rank"], found = _rank(torch, net, inputs)
    labels = found if isinstance(found, torch.Tensor) else found[0]
    out[f"{name}/labels"] = labels.detach().numpy()
    out |= {f"{name}/given {key}": array for key, array in given.items()}
    out[f"{name}/graph"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    return out


def main():
    """Record all modules; what cannot be recorded here is kept."""
    from tests.torch_modules import MODULES

    warnings.simplefilter("ignore")
    arrays = dict(np.load(DATA))
    for name, make in MODULES.items():
        arrays |= record(name, *make())
    try:
        from tests.algebra.plugins.models.aten.test_transformers import SMALL, made
    except BaseException as error:
        # Of pytest, if a package is not installed.
        print(f"without transformers: {error}", file=sys.stderr)
        SMALL, made = {}, None
    for name in SMALL:
        if name[:2] not in ("Ll", "T5"):
            arrays |= record(name, *(made(name)[0].double(), made(name)[1], 0))
    np.savez_compressed(DATA, **arrays)
    print(f"{len(arrays)} arrays, {DATA.stat().st_size} bytes")


if __name__ == "__main__":
    main()
