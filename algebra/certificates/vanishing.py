"""Problems whose labels are all 0 by structural zeros; `algebra.checker.vanishing` checks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from algebra.certificates.certificate import Certificate
from algebra.checker.premises import LABELS_VANISH
from algebra.checker.verdicts import MAXIMAL
from algebra.networks.base import Network
from algebra.problems.problem import Problem


def vanishing_certificate(problem: Problem, seed: int) -> Certificate:
    """The certificate of a problem whose labels are all 0."""
    return Certificate(
        problem=problem,
        verdict=MAXIMAL,
        rule="structural zeros make every label 0: every student matches",
        equations=0,
        rank=0,
        prime=0,
        error_bound=Fraction(0),
        evidence={"labels_vanish": True},
        seed=seed,
        theorem=LABELS_VANISH,
        why="MP = 1. No path leads from an input to an output: every label is 0, and each student "
        "matches.",
    )


def labels_vanish(network: Network, support: Mapping[str, np.ndarray]) -> bool:
    """Whether structural zeros make every label 0, for all weights and samples."""
    exists = {name: np.asarray(mask) != 0 for name, mask in support.items()}
    if all(mask.all() for mask in exists.values()):
        return False
    # Loaded here: few problems have structural zeros.
    from algebra.programs.presence import presence

    program = network.program()
    exists = {name: mask.reshape(program.weights[name]) for name, mask in exists.items()}
    found = presence(program, exists, {}, network.vanishes_at_zero)
    return not found[program.output].there.any()
