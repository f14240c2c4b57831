"""Verdicts on models: by the arguments, or as those of the feed-forward network that one is.

A feed-forward network with matrices only is decided as the network of its kind
(`algebra.problems.as_layers`); so is one with ReLU that is left undecided by the arguments, which
are about one of its pieces.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.arguments.certify import ON_PIECES, certify_by_arguments
from algebra.arguments.certify import THEOREMS as ARGUED
from algebra.certificates.certificate import Certificate
from algebra.certificates.tools import Effort
from algebra.checker.premises import common
from algebra.checker.verdicts import UNDECIDED
from algebra.families.relu.certify import THEOREMS as WITH_RELU
from algebra.families.relu.certify import certify_relu
from algebra.networks.activation import LINEAR, RELU
from algebra.networks.program import ProgramNetwork
from algebra.networks.rectified import HasRectifiedLayers
from algebra.problems.as_layers import AsLayers
from algebra.problems.features import Feature
from algebra.problems.problem import Problem

THEOREMS = ON_PIECES


def certify_program(problem: Problem, effort: Effort) -> Certificate:
    """Decide an allocation of a model."""
    reduction = of_layers(problem)
    if reduction is None:
        return certify_by_arguments(problem, effort)
    if not is_rectified(reduction.problem):
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


def of_layers(problem: Problem) -> AsLayers | None:
    """The reduction to a network that is decided in place of a model, if there is one."""
    if Feature.ARBITRARY_LABELS in problem.features or not AsLayers.accepts(problem):
        return None
    network = problem.network
    assert isinstance(network, ProgramNetwork)
    assert network.affine_layers is not None
    if network.affine_layers[0] not in (LINEAR, RELU):
        return None
    found = AsLayers(problem)
    covered = common(WITH_RELU if is_rectified(found.problem) else ARGUED)
    return None if found.problem.features - covered else found


def is_rectified(problem: Problem) -> bool:
    """Whether a feed-forward network has ReLU between its layers."""
    network = problem.network
    return isinstance(network, HasRectifiedLayers) and bool(network.rectified_layers)
