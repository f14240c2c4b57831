"""The format of problem files as a JSON Schema: tables, keys and their meanings.

Kinds, sizes, laws, caps and rules are taken from the classes that check them, so that an editor
(which reads ``docs/problem.schema.json``) and the parser (`algebra.problems.files`, whose messages
use the meanings) know the same keys.  Only the parser checks shapes, structural zeros and relations
between sizes.

``python -m algebra.problems.schema`` prints it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from dataclasses import MISSING, Field, fields
from typing import Any

from algebra.networks.activation import ANALYTIC, LINEAR
from algebra.networks.base import KINDS, Network
from algebra.networks.rnn import READ
from algebra.problems.constraints import SIGN_WORDS, Constraints
from algebra.problems.edges import ALL_TYPES, CHEMICAL, ELECTRICAL, UNKNOWN
from algebra.problems.laws.distribution import LAWS, Distribution
from algebra.problems.laws.values import JITTER, RELATIVE
from algebra.problems.problem import ALL
from algebra.problems.random_cells import RandomCells
from algebra.problems.tables import FORMATS, NAME_FORMATS
from algebra.problems.updates import GROUPS, Gain, LowRank, Tied
from algebra.programs.leaks import LEARNABLE

TABLES = {
    "network": "the kind of network and its sizes",
    "learnable": "which weights may learn: an entry for each matrix that does",
    "support": "structural zeros: the weights that exist, for each sparse matrix",
    "distribution": "how weights, teacher and inputs are drawn",
    "constraints": "conditions on a match: bounds and signs of the learnable weights",
    "values": "measured weights, which are not drawn: an entry for each matrix that has some",
    "types": "cell types: parameters of one type, or of one pair of types, change together",
    "names": "names of units: neurons (or layer1, layer2, …), inputs, outputs",
}
MEANINGS = {
    "n": "hidden units",
    "T": "time steps",
    "b": "inputs a time step",
    "q": "inputs",
    "d": "outputs",
    "m": "samples",
    "widths": "widths of the hidden layers; of a normalization net all of its target's layers",
    "hidden": "hidden widths of the frozen network, one for each layer of the target",
    "activation": "the activation of hidden units",
    "leak": "α of h = (1 − α) h + α φ(…): a number, one for each unit, or learnable",
    "read": "which outputs are labels: those of the last step, or of all",
    "biases": "whether units have biases; they learn where [learnable] names them",
    "budget": "learnable cells",
    "rows": "only the first rows are used",
    "columns": "only the first columns are used",
    "max_per_row": "most cells in a row",
    "max_per_column": "most cells in a column",
    "lora": "the matrix learns by a change of this rank, W + U Vᵀ",
    "gain": "each row (or column, or group of cells) learns a factor",
    "groups": "rows (columns, cells) of equal numbers share a factor; 0 has none",
    "tied": "cells with equal numbers move together; 0 is fixed",
    "weights": "law of the student's weights",
    "inputs": "law of the samples",
    "teacher": "law of the teacher's weights",
    "signs": "signs that weights are drawn with, by neuron or by weight: 1, -1, 0 (free)",
    "jitter": "standard deviation of a draw from the measured weights, absolute or relative",
    "max_abs": "every learnable weight within ± this bound",
    "max_change": "every learnable weight within ± this bound of its value before learning",
    "sign": "keep (that of the value before learning), + or -",
}
_ENDINGS = "|".join(suffix.removeprefix(".") for suffix in FORMATS)
_FILE = {
    "type": "string",
    "pattern": rf"\.({_ENDINGS})$",
    "description": "a file beside this one",
}
# Keys beside `edges`: see `algebra.problems.tables.read_edges`.
EDGE_KEYS: dict[str, dict[str, Any]] = {
    "type": {
        "type": "string",
        "description": f"the type of synapse that counts: {CHEMICAL}, {ELECTRICAL}, {ALL_TYPES}, "
        "or a word of the file's column `type`",
    },
    "unknown": {
        "enum": list(UNKNOWN),
        "description": "treatment of edges with units that have no name here",
    },
    "rows": {"enum": ["pre", "post"], "description": "of a matrix: what its rows are"},
}


_OF_PROGRAMS: dict[str, dict[str, Any]] = {
    "file": {"type": "string", "pattern": r"\.onnx$"},
    "weights": {"enum": ["generic", "file"]},
    "output": {"type": "string"},
    "size": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
    "constants": {"type": "array", "items": {"type": "string"}},
    "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "model": {"type": "string", "contentEncoding": "base64"},
}
_FRACTION = {"type": "string", "pattern": r"^[0-9]+/[0-9]+$|^[0-9]*\.?[0-9]+(e-?[0-9]+)?$"}
_ACTIVATION: dict[str, Any] = {
    "anyOf": [
        {"enum": [*ANALYTIC, LINEAR]},
        {
            "type": "object",
            "required": ["polynomial"],
            "additionalProperties": False,
            "properties": {
                "polynomial": {
                    "description": "coefficients c0, c1, …: numbers, or fractions as text",
                    "type": "array",
                    "items": {"type": ["number", "string"]},
                    "minItems": 2,
                }
            },
        },
    ]
}


def nearest(key: str, known: Collection[str]) -> str:
    """A hint with the most similar known key; "" if none is similar.

    Examples
    --------
    >>> nearest("learnabel", TABLES)
    ' (did you mean `learnable`?)'
    """
    found = difflib.get_close_matches(str(key), known, 1, 0.7)
    return f" (did you mean `{found[0]}`?)" if found else ""


def problem_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of problem files."""
    matrices = {"type": "object", "minProperties": 0}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "matchprob problem file",
        "type": "object",
        "required": ["network"],
        "additionalProperties": False,
        "properties": {
            "network": {
                "description": TABLES["network"],
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"enum": list(KINDS)}},
                "oneOf": [_network(cls) for cls in KINDS.values()],
            },
            "learnable": {
                "description": TABLES["learnable"],
                **matrices,
                "additionalProperties": {"anyOf": [*_masks(), _random(), *_updates()]},
            },
            "support": {
                "description": TABLES["support"],
                **matrices,
                "additionalProperties": {"anyOf": _masks()},
            },
            "distribution": _distribution(),
            "constraints": _constraints(),
            "values": _values(),
            "types": {
                "description": TABLES["types"],
                "type": "object",
                "properties": {
                    "together": {
                        "type": "boolean",
                        "description": "false: types only serve the signs of [constraints]",
                    }
                },
                "patternProperties": {
                    "^(neurons|layer[0-9]+|inputs|outputs)$": {
                        "anyOf": [
                            {"type": "array", "items": {"type": "string", "minLength": 1}},
                            {
                                "type": "string",
                                "pattern": r"\.(csv|txt)$",
                                "description": "a file beside this one: a type, or a unit's name "
                                "and its type, a line",
                            },
                        ]
                    }
                },
                "additionalProperties": False,
            },
            "names": {
                "description": TABLES["names"],
                "type": "object",
                "propertyNames": {"pattern": "^(neurons|layer[0-9]+|inputs|outputs)$"},
                "additionalProperties": {
                    "anyOf": [
                        {
                            "type": "array",
                            "items": {"type": "string", "minLength": 1},
                            "uniqueItems": True,
                        },
                        {
                            "type": "string",
                            "pattern": rf"\.({'|'.join(s[1:] for s in NAME_FORMATS)})$",
                            "description": "a file beside this one: one name a line, or edges",
                        },
                    ]
                },
            },
        },
    }


def _network(cls: type[Network]) -> dict[str, Any]:
    own: tuple[Field[Any], ...] = fields(cls)  # type: ignore[arg-type]
    meanings = {**MEANINGS, **cls.meanings}
    return {
        "title": cls.title,
        "additionalProperties": False,
        "required": ["kind", *(f.name for f in own if f.default is MISSING)],
        "properties": {
            "kind": {"const": cls.kind},
            **{f.name: {**_size(f), "description": meanings[f.name]} for f in own},
        },
    }


def _size(field: Field[Any]) -> dict[str, Any]:
    if field.name == "biases":
        return {"type": "boolean"}
    if field.name in _OF_PROGRAMS:
        return _OF_PROGRAMS[field.name]
    if field.name == "read":
        return {"enum": list(READ)}
    if field.name == "leak":
        rate = {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, _FRACTION]}
        return {"anyOf": [rate, {"type": "array", "items": rate}, {"const": LEARNABLE}, _FILE]}
    if field.name == "activation":
        return _ACTIVATION if field.default in ANALYTIC else {"enum": ["relu", LINEAR]}
    whole = {"type": "integer", "minimum": 1}
    lists = field.name in ("widths", "hidden")
    return {"type": "array", "items": whole} if lists else whole


def _masks() -> list[dict[str, Any]]:
    row = {"type": "array", "items": {"enum": [0, 1]}, "minItems": 1}
    return [
        {"type": "array", "items": row, "minItems": 1, "description": "rows of 0 and 1"},
        {"const": ALL, "description": "every weight of the matrix"},
        *_files(),
    ]


def _files() -> list[dict[str, Any]]:
    return [
        _FILE,
        {
            "type": "object",
            "required": ["edges"],
            "additionalProperties": False,
            "properties": {"edges": _FILE, **EDGE_KEYS},
            "description": "what counts of an edge list, a graph or a matrix of synapse counts",
        },
    ]


def _random() -> dict[str, Any]:
    whole = {"type": "integer", "minimum": 0}
    inner = {
        "type": "object",
        "required": ["budget"],
        "additionalProperties": False,
        "properties": {
            f.name: {**whole, "description": MEANINGS[f.name]} for f in fields(RandomCells)
        },
    }
    return {
        "type": "object",
        "required": ["random"],
        "additionalProperties": False,
        "properties": {"random": inner},
        "description": "an allocation drawn for each trial",
    }


def _updates() -> list[dict[str, Any]]:
    row = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
    rows = {"type": "array", "items": row, "minItems": 1}
    values: dict[str, dict[str, Any]] = {
        LowRank.keyword: {"type": "integer", "minimum": 1},
        Gain.keyword: {"enum": ["rows", "columns", "cells"]},
        Tied.keyword: {"anyOf": [rows, _FILE]},
    }
    more = {Gain.keyword: {GROUPS: {"anyOf": [row, rows, _FILE]}}}
    return [
        {
            "type": "object",
            "required": [key],
            "additionalProperties": False,
            "properties": {
                name: {**form, "description": MEANINGS[name]}
                for name, form in {key: value, **more.get(key, {})}.items()
            },
        }
        for key, value in values.items()
    ]


def _table(name: str, cls: type, value: dict[str, Any]) -> dict[str, Any]:
    keys = {f.name: {**value, "description": MEANINGS[f.name]} for f in fields(cls)}
    return {
        "description": TABLES[name],
        "type": "object",
        "additionalProperties": False,
        "properties": keys,
    }


def _distribution() -> dict[str, Any]:
    table = _table("distribution", Distribution, {"enum": list(LAWS)})
    sign = {"enum": [1, -1, 0, "+", "-"]}
    line = {"type": "array", "items": sign, "description": "a sign for each unit"}
    rows = {"type": "array", "items": {"type": "array", "items": sign}}
    by_key = {"type": "object", "additionalProperties": {"anyOf": [line, rows, *_files()]}}
    entry = table["properties"]["signs"]
    del entry["enum"]
    entry["anyOf"] = [line, _FILE, by_key]
    return table


def _values() -> dict[str, Any]:
    number: dict[str, Any] = {"type": ["number", "string"]}
    rows = {"type": "array", "items": {"type": "array", "items": number}}
    share = {
        "type": "object",
        "required": [RELATIVE],
        "additionalProperties": False,
        "properties": {RELATIVE: number},
    }
    return {
        "description": TABLES["values"],
        "type": "object",
        "properties": {
            JITTER: {"description": MEANINGS[JITTER], "anyOf": [number, share]},
        },
        "additionalProperties": {"anyOf": [rows, *_files()]},
    }


def _constraints() -> dict[str, Any]:
    table = _table("constraints", Constraints, {})
    number = {"type": "number", "minimum": 0}
    for key, entry in table["properties"].items():
        single: list[dict[str, Any]]
        if key == "sign":
            single = [{"enum": list(SIGN_WORDS)}]
            items: dict[str, Any] = {"enum": [-1, 0, 1]}
        else:
            single, items = [number, {"const": "inf"}], number
        rows = {"type": "array", "items": {"type": "array", "items": items}}
        named = [*single, rows, *(_files() if key == "sign" else [_FILE])]
        forms = [*single, rows, _FILE]
        entry["anyOf"] = [*forms, {"type": "object", "additionalProperties": {"anyOf": named}}]
    return table


def schema_text() -> str:
    """The text of ``docs/problem.schema.json``."""
    return json.dumps(problem_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
