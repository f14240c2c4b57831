"""Premises of theorems: the features that problems may have, and allow-lists of them.

Which features a problem has: `algebra.problems.features`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Feature(StrEnum):
    """A feature of a problem; the value is its name in the documentation and in messages."""

    BOUNDED = "bounded laws"
    DISCRETE = "discrete laws"
    SCALES = "scales of matrices"
    SIGNS = "signs of weights"
    ARBITRARY_LABELS = "arbitrary labels"
    NOISE = "noise of labels"
    GIVEN_INPUTS = "given inputs"
    GIVEN_LABELS = "given labels"
    OTHER_TEACHER = "a teacher of another network"
    NOT_CONTAINED = "a teacher's network that does not contain the student's"
    TEACHER_ON_PIECES = "a teacher with labels on pieces"
    ZEROS = "structural zeros"
    MEASURED = "measured weights"
    EXACT = "fixed weights that are exact numbers"
    BOUNDED_MEASURED = "measured weights with bounded laws"
    BOUNDED_NONLINEAR = "activations with bounded laws"
    BOUNDS = "bounds on the weights of a match"
    MATCH_SIGNS = "signs of the weights of a match"
    RANDOM_CELLS = "random cells"
    LOW_RANKS = "low ranks"
    GAINS = "gains"
    TIES = "ties"
    POLYNOMIAL = "polynomial activations"
    ANALYTIC = "analytic activations"
    PIECES = "labels on pieces"
    DENSE_TARGET = "a dense target as the teacher"
    OWN_WEIGHTS = "fixed weights of a model"
    RESTING_TEACHER = "a teacher whose matrix that learns is 0"
    RESTING_RESTRICTED = "such a teacher with another law or structural zeros"


Features = frozenset[Feature]
# Labels that are not those of a teacher of the same network.
OTHER_LABELS: Features = frozenset((Feature.ARBITRARY_LABELS, Feature.NOISE, Feature.OTHER_TEACHER))
GIVEN_DATA: Features = frozenset((Feature.GIVEN_INPUTS, Feature.GIVEN_LABELS))
UNTAUGHT: Features = OTHER_LABELS | {Feature.GIVEN_LABELS}
# The sentence of a proof that covers a feature.
Covers = Mapping[Feature, str]


@dataclass(frozen=True)
class Premises:
    """A statement, and the features of problems for which it is proved: an allow-list.

    Attributes
    ----------
    name : str
        Of the theorem, the short cut or the question.
    claim : str
        What follows: a verdict, or a few words.
    covers : mapping of Feature to str
        The sentence of the proof that covers a feature.
    """

    name: str
    claim: str
    covers: Covers

    def missing(self, features: Features) -> tuple[Feature, ...]:
        """The features of a problem that the proof does not cover.

        Examples
        --------
        >>> found = Premises("a theorem", "maximal", {Feature.ZEROS: "only weights that exist"})
        >>> found.missing(frozenset({Feature.ZEROS, Feature.ARBITRARY_LABELS}))
        (<Feature.ARBITRARY_LABELS: 'arbitrary labels'>,)
        """
        return tuple(sorted(features - self.covers.keys()))

    def applies(self, features: Features) -> bool:
        """Whether the proof covers all features of a problem."""
        return not self.missing(features)
