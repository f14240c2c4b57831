"""The formats of proof files, by the value of their key `format`; loaded when a file has it."""

from __future__ import annotations

from algebra.checker.formats import ProofFormat
from algebra.declarations import loaded

# The module of each format, and its name there; the keys of the schema's definitions.
FORMATS = {
    "matchprob-certificate": ("certificate", "algebra.families.verify:CERTIFICATE"),
    "matchprob relu decision": ("decision", "algebra.plugins.relu.decision:DECISION"),
    "matchprob activation decision": (
        "boxed_decision",
        "algebra.families.activations.decision:BOXED_DECISION",
    ),
    "matchprob-design": ("design", "algebra.questions.design.verify:DESIGN"),
    "matchprob-recording": ("recording", "algebra.plugins.circuits.verify:RECORDING"),
    "matchprob-dimension": ("dimension", "algebra.plugins.models.verify_dimension:DIMENSION"),
}


def format_of(name: object) -> ProofFormat:
    """A format by its name; that of certificates, which refuses it, for an unknown one."""
    known = isinstance(name, str) and name in FORMATS
    _, place = FORMATS[name if known else "matchprob-certificate"]  # type: ignore[index]
    found: ProofFormat = loaded(place)
    return found
