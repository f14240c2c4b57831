"""The JSON Schema of proof files, made from the declarations by which `verify` reads them.

``python -m matchprob.api.proofs.schema`` prints it; it is the file ``docs/proof.schema.json``.  The
schema knows forms, not shapes and relations: what it accepts may be refused, but nothing that it
refuses is read.
"""

from __future__ import annotations

import json
from typing import Any

from algebra.arguments.formal_ranks import FormalEvidence
from algebra.arguments.order import NAMES, argument
from algebra.checker.maker import KEY, Maker
from algebra.checker.problem_tables import ProblemTable
from algebra.checker.rank_claims import EvidenceOnRanks
from algebra.checker.vanishing import VanishingEvidence
from algebra.plugins.normalization.verify import NormalizationEvidence
from algebra.plugins.relu.verify import ReluEvidence
from algebra.schemas import schema_of, table_schema
from matchprob.api.proofs.formats import FORMATS, format_of

# The evidence of all networks whose verdicts depend on ranks is one table.
_ON_RANKS = (EvidenceOnRanks, FormalEvidence)
_OTHERS = (VanishingEvidence, NormalizationEvidence, ReluEvidence)
# Keys of evidence that are proof files themselves.
_INSIDE = {
    "part": "certificate",
    "lowered": "certificate",
    "no_match": "decision",
}
_FILES = {key: format_of(name).form for name, (key, _) in FORMATS.items()}


def proof_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of proof files."""
    tables = {name: table_schema(file) for name, file in _FILES.items()}
    for table in tables.values():
        table["properties"][KEY] = table_schema(Maker)
        if "problem" in table["properties"]:
            table["properties"]["problem"] = {"$ref": "#/$defs/problem"}
    tables["certificate"]["properties"]["evidence"] = {"$ref": "#/$defs/evidence"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "matchprob proof file",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in tables],
        "$defs": {**tables, "problem": table_schema(ProblemTable), "evidence": _evidence()},
    }


def _evidence() -> dict[str, Any]:
    """The evidence of certificates."""
    on_ranks: dict[str, Any] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    for name in NAMES:
        own = argument(name)
        on_ranks["properties"][own.key] = schema_of(own.form, missing=True)
    for family in _ON_RANKS:
        on_ranks["properties"] |= table_schema(family)["properties"]
    tables = [on_ranks, *map(table_schema, _OTHERS)]
    for table in tables:
        for key in table["properties"].keys() & _INSIDE:
            table["properties"][key] = {"$ref": f"#/$defs/{_INSIDE[key]}"}
    return {"anyOf": tables}


def schema_text() -> str:
    """The text of ``docs/proof.schema.json``."""
    return json.dumps(proof_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
