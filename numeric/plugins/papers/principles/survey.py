"""Classes of allocations with their match probability, and how well principles predict it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from algebra.documents import Document
from algebra.networks.base import Network
from algebra.plugins.papers.theorems.principles import PRINCIPLES, principles_about
from algebra.problems.allocation import Allocation
from algebra.results import Result, named
from numeric.plugins.papers.principles.correlation import (
    OrderedPair,
    RankCorrelation,
    ordered_pairs,
    rank_correlation,
    replicates,
)
from numeric.statistics.estimate import Estimate


@dataclass(frozen=True)
class AllocationClass:
    """A class of allocations between minimal and maximal, up to symmetry.

    Attributes
    ----------
    allocation : Allocation
        One of them.
    verdict : str
        "intermediate", or "undecided" if MP = 1 is not excluded.
    numbers : mapping of str to int or None
        What is known exactly of it (`algebra.plugins.papers.structure`), with N and N modulo 4.
    estimate : Estimate
        Of its match probability.
    """

    allocation: Allocation
    verdict: str
    numbers: Mapping[str, int | None]
    estimate: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        interval = self.estimate.interval()
        return {
            "cells": [list(cell) for cell in self.allocation.cells],
            "verdict": self.verdict,
            **self.numbers,
            **named(self.estimate, "trials", "matched", "unmatched", "undetermined"),
            "low": interval.low,
            "estimate": self.estimate.estimate,
            "high": interval.high,
        }


@dataclass(frozen=True)
class Contradiction:
    """A pair of classes that a principle orders wrongly.

    Attributes
    ----------
    principle : str
    pair : OrderedPair
    numbers : (int, int)
        Those that the principle compares, of the better and of the worse.
    """

    principle: str
    pair: OrderedPair
    numbers: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"principle": self.principle, **self.pair.to_dict(), "numbers": list(self.numbers)}


@dataclass(frozen=True, repr=False)
class PrincipleSurvey(Result):
    """Principles compared with the match probabilities of the classes of a network.

    Attributes
    ----------
    network : Network
    matrices : tuple of str
    budget : int
    classes : tuple of AllocationClass
        Those between minimal and maximal whose trials are finished.
    minimal, maximal : int
        Numbers of classes that are certified to be so, about which no principle is needed.
    requested : int
        Number of all classes; more than these if the work was interrupted.
    trials : int
    confidence : float
    seed : int
    """

    network: Network
    matrices: tuple[str, ...]
    budget: int
    classes: tuple[AllocationClass, ...]
    minimal: int
    maximal: int
    requested: int
    trials: int
    confidence: float
    seed: int

    @property
    def is_partial(self) -> bool:
        """Whether some classes are missing."""
        return self.checked < self.requested

    @property
    def checked(self) -> int:
        """Number of classes that are certified minimal or maximal, or measured."""
        return len(self.classes) + self.minimal + self.maximal

    @property
    def outcomes(self) -> list[list[bool | None]]:
        """For each class the outcomes of the common trials."""
        return [[count.matches for count in c.estimate.counts] for c in self.classes]

    @property
    def predictors(self) -> tuple[str, ...]:
        """The names of the numbers, those of the principles first."""
        known = {name: None for c in self.classes for name, v in c.numbers.items() if v is not None}
        principles = [p.name for p in principles_about(self.network) if p.name in known]
        return (*principles, *(name for name in known if name not in principles))

    @cached_property
    def tau(self) -> tuple[RankCorrelation, ...]:
        """Kendall's τ of each number with the match probability."""
        principles = {p.name for p in principles_about(self.network)}
        drawn = replicates(self.outcomes, self.seed)
        return tuple(
            rank_correlation(
                name, self.values_of(name), drawn, is_principle=name in principles,
                confidence=self.confidence,
            )
            for name in self.predictors
        )  # fmt: skip

    def values_of(self, name: str) -> Sequence[int | None]:
        """One number of each class."""
        return [c.numbers.get(name) for c in self.classes]

    @cached_property
    def ordered(self) -> tuple[OrderedPair, ...]:
        """All pairs of which one class is shown to match more often."""
        return ordered_pairs(self.outcomes, confidence=self.confidence)

    @property
    def pairs(self) -> int:
        """Number of pairs of classes, all of them tested."""
        return len(self.classes) * (len(self.classes) - 1) // 2

    def agreeing(self, principle: str) -> int:
        """Number of the ordered pairs that a principle orders rightly."""
        return sum(self._order(principle, pair) > 0 for pair in self.ordered)

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """The ordered pairs that a principle orders wrongly, principle by principle."""
        found = []
        for principle in principles_about(self.network):
            for pair in self.ordered:
                if self._order(principle.name, pair) < 0:
                    better, worse = (
                        int(self.classes[k].numbers[principle.name] or 0)
                        for k in (pair.better, pair.worse)
                    )
                    found.append(Contradiction(principle.name, pair, (better, worse)))
        return tuple(found)

    def _order(self, principle: str, pair: OrderedPair) -> int:
        better, worse = (self.classes[k].numbers for k in (pair.better, pair.worse))
        return PRINCIPLES[principle].order(better, worse)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each class."""
        rows = [c.to_dict() for c in self.classes]
        names = ("verdict", *self.predictors, "low", "estimate", "high")
        return {
            "allocation": [str(c.allocation) for c in self.classes],
            **{name: [row.get(name) for row in rows] for name in names},
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob audit --principles``."""
        return {
            **named(self, "network", "matrices", "budget", "trials"),
            **named(self, "classes", "minimal", "maximal", "requested"),
            **named(self, "tau", "pairs"),
            "ordered_pairs": len(self.ordered),
            **named(self, "contradictions", "confidence", "seed"),
        }

    def document(self) -> Document:
        """The classes, τ of each principle, and the pairs that contradict it."""
        from numeric.plugins.papers.principles.document import survey_document

        return survey_document(self)
