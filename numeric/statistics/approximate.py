"""Approximate matches: the share of instances whose loss gets below a bound.

The loss of an instance is the mean squared error of its labels.  An instance *reaches* ε if some
learnable weights, inside the constraints if there are any, give a loss below ε: if it has an exact
match, or if a search (`numeric.programs.least_loss`) ended at such weights.  A search
that did not find such weights proves nothing: the instance is *open*, counted as not reaching in
the lower end of the interval and as reaching in the upper one, which is therefore near 1 if many
are open.  The ends are those of Clopper and Pearson; the share is given as a lower bound if some
are open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from algebra.words import plural
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval, share_text


@dataclass(frozen=True)
class ApproximateShare:
    """The share of instances that reach a loss.

    Attributes
    ----------
    epsilon : float
    trials : int
    exact : int
        Instances with an exact match.
    found : int
        Number of others for which the search reached the loss.
    unsearched : int
        Number of others that were not searched for lack of time: open too.
    confidence : float
    certified : bool
        Whether a verdict settles that every instance has an exact match: the share is then 1.
    """

    epsilon: float
    trials: int
    exact: int
    found: int
    unsearched: int = 0
    confidence: float = 0.95
    certified: bool = False

    @property
    def reached(self) -> int:
        """Number of instances that certainly reach it, up to rounding."""
        return self.exact + self.found

    @property
    def open(self) -> int:
        """Number of undecided instances."""
        return self.trials - self.reached

    @property
    def at_least(self) -> float | None:
        """Share of those that reach it; None without trials."""
        return self.reached / self.trials if self.trials else None

    @property
    def interval(self) -> ConfidenceInterval:
        """Confidence interval of the share; open instances count on both sides."""
        if self.certified:
            return ConfidenceInterval(1.0, 1.0)
        return proportion_interval(
            self.reached, 0, self.open, confidence=self.confidence, method="clopper-pearson"
        )

    def to_dict(self) -> dict[str, Any]:
        """The object ``approximate`` of ``estimate --json``."""
        interval = self.interval
        return {
            "epsilon": self.epsilon, "loss": "mean squared error", "reached": self.reached,
            "exact": self.exact, "found": self.found, "open": self.open,
            "unsearched": self.unsearched, "at_least": self.at_least,
            "low": interval.low, "high": interval.high,
        }  # fmt: skip

    def __str__(self) -> str:
        text = (
            f"loss below {self.epsilon:g}: {'at least ' if self.open else ''}"
            f"{share_text(self.at_least)} {self.interval.text()}; of "
            f"{plural(self.trials, f'{self.trials} trial')} {self.exact} match exactly, "
            f"{self.found} more reach it, {self.open} "
            f"{'is' if self.open == 1 else 'are'} open"
        )
        if self.unsearched:
            text += f" ({self.unsearched} not searched: no time)"
        return text
