"""Sentences that the verdicts of several families share.

The sentence of an argument stands beside it (`algebra.arguments`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from algebra.problems.premises import Feature

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate

NEAR = "MP > 0: near a teacher that is itself a student, matches exist."

NEAR_LABELS = "MP > 0: the labels of the students, for given fixed weights, contain an open set."

OPEN_VALUE = "the value of MP: no formula is known, so it has to be estimated"

# Of networks whose units may be inactive.
SILENT = "MP > 0: with positive probability all units of teacher and student are silent."

OPEN_PATTERNS = (
    "whether every instance has a match: which units are active differs between samples, and "
    "neither counts of weights and equations nor a search decided it for all instances"
)


def reaches(found: Certificate) -> str:
    """That the ranks are equal, in words."""
    return (
        f"Not minimal: the {found.learnable} learnable weights reach all {found.equations} "
        f"independent equations (rank {found.rank})."
    )


def near(found: Certificate) -> str:
    """Why MP > 0 if the ranks are equal."""
    return NEAR_LABELS if Feature.ARBITRARY_LABELS in found.problem.features else NEAR


def too_few(found: Certificate) -> str:
    """Why MP < 1 if a match often needs more than the learnable weights reach."""
    return (
        f"MP < 1: the learnable weights change the outputs in at most {found.rank} independent "
        f"directions, and with positive probability a match needs {found.equations}."
    )
