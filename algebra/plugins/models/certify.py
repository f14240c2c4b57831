"""Verdicts on models: by the arguments, or as those of the feed-forward network that one is.

A feed-forward network with matrices only is decided as the network of its kind
(`algebra.problems.as_layers`); so is one with ReLU that is left undecided by the arguments, which
are about one of its pieces.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.arguments.certify import ON_PIECES, certify_by_arguments
from algebra.certificates.certificate import Certificate
from algebra.certificates.tools import Effort
from algebra.checker.verdicts import UNDECIDED
from algebra.networks.activation import RELU
from algebra.plugins.relu.certify import certify_relu
from algebra.problems.as_layers import AsLayers, decided_as_layers
from algebra.problems.problem import Problem

THEOREMS = ON_PIECES


def certify_program(problem: Problem, effort: Effort) -> Certificate:
    """Decide an allocation of a model."""
    reduction = decided_as_layers(problem)
    if reduction is None:
        return certify_by_arguments(problem, effort)
    if reduction.function != RELU:
        return _as_layers(reduction, certify_by_arguments(reduction.problem, effort))
    found = certify_by_arguments(problem, effort)
    if found.verdict == UNDECIDED:
        other = certify_relu(reduction.problem, effort)
        if other.verdict != UNDECIDED:
            return _as_layers(reduction, other)
    return found


def _as_layers(reduction: AsLayers, found: Certificate) -> Certificate:
    """A certificate of the layers as one of the model."""
    words = ", ".join(f"{new} = {old}" for old, new in reduction.names.items())
    kind = reduction.problem.network.kind
    notes = (*found.notes, f"decided as a network of kind {kind}: {words}")
    return replace(found, problem=reduction.original, notes=notes)
