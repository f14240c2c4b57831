"""Two allocations compared on common random instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algebra.documents import Document
from algebra.errors import InputError
from algebra.problems.problem import Problem
from algebra.results import Result
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import ConfidenceInterval, paired_interval, paired_table


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Two estimates from the same instances.

    Pairing removes what the instances have in common: the interval of the difference is
    narrower than two separate intervals suggest.

    Attributes
    ----------
    first, second : Estimate
    """

    first: Estimate
    second: Estimate

    def __post_init__(self) -> None:
        if self.first.seed != self.second.seed:
            raise InputError(
                f"`first` has seed {self.first.seed}, `second` {self.second.seed}: no common "
                "instances"
            )

    @property
    def trials(self) -> int:
        """Number of common instances."""
        return min(self.first.trials, self.second.trials)

    @property
    def table(self) -> np.ndarray:
        """Counts of pairs: rows and columns matched, unmatched, undetermined."""
        n = self.trials
        return paired_table(*([c.matches for c in e.counts[:n]] for e in (self.first, self.second)))

    @property
    def difference(self) -> float | None:
        """Matched share of the first minus that of the second, over pairs decided in both.

        None if either estimate is None: then a share is only a lower bound, and the
        difference of two such bounds bounds nothing.
        """
        if self.first.estimate is None or self.second.estimate is None:
            return None
        if self.first.certified is not None or self.second.certified is not None:
            return self.first.estimate - self.second.estimate
        table = self.table[:2, :2]
        total = int(table.sum())
        return float(table[0, 1] - table[1, 0]) / total if total else None

    def interval(self) -> ConfidenceInterval:
        """Confidence interval of the difference.

        Tango's score interval; if one of the two is certified, the other's interval is shifted.
        """
        if self.first.certified is not None or self.second.certified is not None:
            a, b = self.first.interval(), self.second.interval()
            return ConfidenceInterval(a.low - b.high, a.high - b.low)
        return paired_interval(self.table, confidence=self.first.confidence)

    @property
    def summary(self) -> str:
        """The result in one line."""
        interval = self.interval()
        value = "undecided" if self.difference is None else f"{self.difference:+.4f}"
        verdict = "no difference is shown"
        if interval.low > 0:
            verdict = "the first matches more often"
        elif interval.high < 0:
            verdict = "the second matches more often"
        elif self.first.certified is not None and self.second.certified is not None:
            verdict = "there is none"
        if self.first.certified is not None and self.second.certified is not None:
            return f"difference {value}, certified: {verdict}"
        return (
            f"difference {value}, {self.first.confidence:.0%} interval "
            f"[{interval.low:+.4f}, {interval.high:+.4f}]: {verdict}"
        )

    @property
    def problem(self) -> Problem:
        """The first problem; both have one network."""
        return self.first.problem

    @property
    def trouble(self) -> str:
        """What ended one of the two, if it was not an interrupt."""
        return self.first.trouble or self.second.trouble

    @property
    def is_partial(self) -> bool:
        """Whether one of the two ended before all requested trials."""
        return self.first.is_partial or self.second.is_partial

    def columns(self) -> dict[str, list[Any]]:
        """One row for each common trial."""
        pairs = list(zip(self.first.counts, self.second.counts, strict=False))
        return {
            "index": [a.index for a, _ in pairs],
            "first": [a.outcome for a, _ in pairs],
            "second": [b.outcome for _, b in pairs],
            "first_real": [a.real for a, _ in pairs],
            "second_real": [b.real for _, b in pairs],
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob compare``."""
        interval = self.interval()
        return {
            "trials": self.trials,
            "difference": self.difference,
            "low": interval.low,
            "high": interval.high,
            "confidence": self.first.confidence,
            "table": self.table.tolist(),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "seed": self.first.seed,
        }

    def document(self) -> Document:
        """The difference, its interval, and both match probabilities."""
        from numeric.statistics.document import comparison_document

        return comparison_document(self)
