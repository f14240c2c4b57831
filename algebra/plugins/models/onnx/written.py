"""Programs as text: the form in which a certificate holds a program without a file.

A JSON object: the nodes in their order, each with the attributes of its operation
(`algebra.programs.program`), the number of the output, the statistics that never learn and the
inputs that choose rows of a table.  It is read by building the program again, so shapes are checked
as for any program.  Values of weights are stored, as whole numbers over a denominator, if those
that do not learn keep them; then also v + ε of the statistics that represent 1/√(v + ε).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line
from algebra.linalg.numbers import exact_number
from algebra.plugins.models.onnx.bounds import MODEL_LIMITS
from algebra.plugins.models.onnx.weights import Read
from algebra.programs.program import Builder, Node, Program, Value
from algebra.programs.tokens import TokenSizes, token_numbers

FORMAT = "matchprob-program"
VERSION = 1
# Entries of all values together; exponents.
MOST_ENTRIES = 1 << 25
MOST_EXPONENT = 1_000
_START = b'{"format": "matchprob-program"'


def is_written(content: bytes) -> bool:
    """Whether a file holds a program of this form."""
    return content.startswith(_START)


def write_program(read: Read, with_values: bool = False) -> bytes:
    """The text of a program, and the values of its weights if they are asked for."""
    program, lost = read.program, getattr(read.tokens, "excluded", {})
    excluded = {
        name: sorted(set(range(read.tokens[name])) & numbers)
        for name, numbers in lost.items()
        if name in read.tokens
    }
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "nodes": [_written(node) for node in program.nodes],
            "output": program.output,
            "buffers": sorted(read.buffers),
            "tokens": dict(read.tokens),
            **({"excluded": excluded} if excluded else {}),
            **(_values(read) if with_values else {}),
        }
    ).encode()


def _values(read: Read) -> dict[str, Any]:
    names = read.program.weights
    return {
        key: {n: [table.ravel().tolist(), below] for n in names if n in held
              for table, below in (held[n],)}
        for key, held in (("values", read.values), ("squares", read.squares))
    }  # fmt: skip


def _written(node: Node) -> dict[str, Any]:
    attributes: dict[str, Any] = {"op": node.op}
    if node.inputs:
        attributes["inputs"] = list(node.inputs)
    if node.op == "block":
        attributes |= {"name": node.name, "shape": list(node.shape), "sample": node.batched}
    elif node.op == "apply":
        attributes["name"] = node.name
    if node.letters:
        attributes["letters"] = node.letters
    if node.number is not None:
        attributes["number"] = str(node.number)
    for key, table in (("where", node.where), ("table", node.table)):
        if table is not None:
            attributes |= {key: table.ravel().tolist(), "shape": list(node.shape)}
    return attributes


def read_program(content: bytes) -> Read:
    """The program of a text.

    Raises
    ------
    InputError
        If it is not a program.
    """
    try:
        data = json.loads(content)
        if data["version"] != VERSION:
            raise InputError(f"a program of version {one_line(data['version'])}; {VERSION} is read")
        if len(data["nodes"]) > MODEL_LIMITS.nodes:
            raise InputError(
                f"a program of {len(data['nodes'])} nodes; up to {MODEL_LIMITS.nodes} are read"
            )
        build, made = Builder(MOST_ENTRIES), list[Value]()
        for node in data["nodes"]:
            made.append(_built(build, node, [made[_whole(k, len(made))] for k in
                                             node.get("inputs", ())]))  # fmt: skip
        output = made[_whole(data["output"], len(made))]
        if not output.batched:
            raise InputError("the output depends on no sample")
        tokens: Mapping[str, int] = {
            str(name): _whole(size, 1 << 31) for name, size in data["tokens"].items()
        }
        lost = {
            str(name): frozenset(_whole(number, 1 << 31) for number in numbers)
            for name, numbers in data.get("excluded", {}).items()
        }
        program = build.program(output)
        for name, shape in program.samples.items():
            if name in tokens and shape[-1:] != (tokens[name],):
                raise InputError(
                    f"the rows of `{one_line(name)}` have not the length of its tokens"
                )
        if lost:
            tokens = TokenSizes(tokens, lost)
        if not all(token_numbers(tokens, name) for name in tokens if name in program.samples):
            raise InputError("no number of an input is left that its samples may contain")
        values, squares = (_numbers(program, data, key) for key in ("values", "squares"))
        buffers = frozenset(map(str, data["buffers"]))
        if (values and values.keys() != program.weights.keys()) or not squares.keys() <= buffers:
            raise InputError("values are not those of all weights, or squares of none")
        return Read(program, values, buffers, tokens, {}, squares=squares)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"this is no program: {one_line(error)}") from None


def _numbers(program: Program, data: Any, key: str) -> dict[str, tuple[np.ndarray, int]]:
    """Values of weights; as many as these have entries."""
    found = {}
    for name, (entries, below) in data.get(key, {}).items():
        shape = program.weights[name]
        if len(entries) != math.prod(shape) or type(below) is not int or below < 1:
            raise ValueError(f"`{key}` of {one_line(name)} are not one for each entry")
        found[name] = _array({"table": entries, "shape": list(shape)}, "table"), below
    return found


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value < most:
        raise ValueError(f"{one_line(value)} is no number below {most}")
    return value


def _array(node: dict[str, Any], key: str) -> np.ndarray:
    entries = node[key]
    if any(type(v) is not int for v in entries):
        raise ValueError(f"`{key}` holds whole numbers")
    small = all(abs(v) < 1 << 62 for v in entries)
    shape = [_whole(n, 1 << 31) for n in node["shape"]]
    return np.array(entries, dtype=np.int64 if small else object).reshape(shape)


def _built(build: Builder, node: dict[str, Any], inputs: list[Value]) -> Value:
    number = exact_number(str(node["number"])) if "number" in node else Fraction(0)
    match node["op"]:
        case "block":
            make = build.sample if node["sample"] is True else build.weight
            return make(str(node["name"]), [_whole(n, 1 << 31) for n in node["shape"]])
        case "constant":
            return build.constant(_array(node, "table"), int(number))
        case "add":
            return build.add(*inputs)
        case "multiply":
            return build.multiply(*inputs)
        case "scale":
            return build.scale(inputs[0], number)
        case "contract":
            return build.contract(str(node["letters"]), *inputs)
        case "index":
            return build.index(_array(node, "where"), *inputs)
        case "power":
            return build.power(inputs[0], _whole(int(number), MOST_EXPONENT))
        case "invert":
            return build.invert(inputs[0])
        case "root":
            return build.root(inputs[0])
        case "apply":
            return build.apply(str(node["name"]), inputs[0])
        case "choose":
            return build.choose(inputs[0], inputs[1], inputs[2])
    raise ValueError(f"there is no operation {one_line(node['op'])}")
