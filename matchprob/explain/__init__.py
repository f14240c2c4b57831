"""Explanations of results: what is known and why, what is open, what to try next.

certificate     The verdicts of certify
construction    Normalization layers tuned to a target: construct
costs           What matches cost, and which are found: profile, train
decision        One ReLU instance: decide
design          A chosen allocation: design; its repair and its losses: repair, robust
identification  Which weights the data determine: identify
proofs          A proof that was checked: verify
capacity        How many samples parameters can fit, the dimension of functions: capacity, dimension
recording       What has to be recorded: record
structure       The equations and their core: inspect
surveys         Many allocations at once: audit, atlas
updates         Verdicts and determined weights where matrices learn by updates
trials          Random instances: count, estimate, compare
"""

from __future__ import annotations

import importlib
import shlex

from algebra.results import Explanation, Result

# The function that explains each kind of result, loaded when first used.
EXPLAINERS = {
    "Atlas": "surveys.explain_atlas",
    "Audit": "surveys.explain_audit",
    "AuditResult": "surveys.explain_audit",
    "Certificate": "certificate.explain_certificate",
    "Capacity": "capacity.explain_capacity",
    "Comparison": "trials.explain_comparison",
    "Construction": "construction.explain_construction",
    "CountResult": "trials.explain_counts",
    "DepthConstruction": "construction.explain_depth",
    "DesignResult": "design.explain_design",
    "Dimension": "capacity.explain_dimension",
    "Estimate": "trials.explain_estimate",
    "Identification": "identification.explain_identification",
    "Inspection": "structure.explain_structure",
    "ProfileResult": "costs.explain_profile",
    "Recording": "recording.explain_recording",
    "ReluDecision": "decision.explain_decision",
    "RepairResult": "design.explain_repair",
    "Robustness": "design.explain_losses",
    "TrainResult": "costs.explain_training",
    "Verification": "proofs.explain_verification",
}


def explain(found: Result, file: str = "P.toml") -> Explanation:
    """The explanation of a result; empty if its verb has no verdict.

    Parameters
    ----------
    found : Result
    file : str, optional
        Name of the problem's file in commands.
    """
    place = EXPLAINERS.get(type(found).__name__)
    if place is None:
        return Explanation()
    module, function = place.split(".")
    explainer = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    why: Explanation = explainer(found, shlex.quote(file))
    names = getattr(getattr(found, "problem", None), "names", None)
    return why.mapped(names.annotate) if names else why
