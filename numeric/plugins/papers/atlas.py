"""Atlases with probabilities: the match probability of every allocation of a small network.

A maximal or minimal allocation has MP 1 or 0, without a trial.  The others have an interval from
trials on common random instances, trial i of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from algebra.checker.verdicts import MAXIMAL, MINIMAL
from algebra.documents import Document, Table
from algebra.plugins.papers.atlas import Atlas, AtlasEntry
from algebra.plugins.papers.document import atlas_document
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval

_CERTAIN = {MAXIMAL: 1.0, MINIMAL: 0.0}


@dataclass(frozen=True, repr=False)
class EstimatedAtlas(Atlas):
    """An atlas whose entries have trials, those with the largest MP first.

    Attributes
    ----------
    trials : int
        Trials of an allocation that no verdict settles.
    confidence : float
        Level of each interval.
    """

    trials: int = 0
    confidence: float = 0.95

    drawn_words = "MP, ×masks alike"

    @classmethod
    def of(cls, found: Atlas, trials: int, confidence: float) -> EstimatedAtlas:
        """An atlas whose open entries were tried, in the order of MP."""
        made = cls(**vars(found), trials=trials, confidence=confidence)
        return replace(made, entries=tuple(sorted(made.entries, key=made._place)))

    def _place(self, entry: AtlasEntry) -> tuple[float, float, Any]:
        interval = self.interval(entry)
        return -self.at_least(entry), -interval.high, entry.cells

    def at_least(self, entry: AtlasEntry) -> float:
        """The matched share of all trials, with undetermined ones as unmatched; MP if certified."""
        if entry.outcomes is None:
            return _CERTAIN.get(entry.verdict, 0.0)
        return entry.outcomes[0] / max(1, sum(entry.outcomes))

    def value(self, entry: AtlasEntry) -> float | None:
        """MP or its estimate; None if trials stayed undetermined, which may be of one kind."""
        is_open = entry.outcomes is not None and entry.outcomes[2] > 0
        return None if is_open else self.at_least(entry)

    def interval(self, entry: AtlasEntry) -> ConfidenceInterval:
        """Of an entry's MP: one point if it is certified."""
        if entry.outcomes is not None:
            return proportion_interval(*entry.outcomes, confidence=self.confidence)
        value = _CERTAIN.get(entry.verdict)
        return ConfidenceInterval(0.0, 1.0) if value is None else ConfidenceInterval(value, value)

    def text(self, entry: AtlasEntry) -> str:
        """The match probability in words, two digits."""
        if entry.outcomes is None:
            return str(int(self.at_least(entry)))
        words = "" if self.value(entry) is not None else "≥ "
        return f"{words}{self.at_least(entry):.2f}"

    def drawn(self) -> list[tuple[AtlasEntry, str]]:
        return [(entry, f"{self.text(entry)} ×{entry.orbit}") for entry in self.entries]

    def _probabilities(self) -> dict[str, Sequence[Any]]:
        intervals = [self.interval(entry) for entry in self.entries]
        return {
            "match_probability": [self.value(entry) for entry in self.entries],
            "at_least": [self.at_least(entry) for entry in self.entries],
            "low": [own.low for own in intervals],
            "high": [own.high for own in intervals],
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each orbit."""
        return {**super().columns(), **{k: list(v) for k, v in self._probabilities().items()}}

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob atlas --trials``."""
        found = super().to_dict()
        entries = []
        for entry, *row in zip(self.entries, *self._probabilities().values(), strict=True):
            value, least, low, high = row
            own = {"match_probability": value, "at_least": least, "interval": [low, high]}
            entries.append({**entry.to_dict(), **own})
        return {**found, "trials": self.trials, "confidence": self.confidence, "entries": entries}

    def document(self) -> Document:
        """The atlas with a column for MP, and one for its interval."""
        plain = atlas_document(self)
        (table,) = (part for part in plain.parts if isinstance(part, Table))
        columns = {name: list(values) for name, values in table.columns.items()}
        # The rules are in the CSV file; a terminal has no place for them.
        del columns["rule"]
        columns["MP"] = [self.text(entry) for entry in self.entries]
        columns[f"{self.confidence:.0%} interval"] = [
            "certified" if entry.outcomes is None else str(self.interval(entry))
            for entry in self.entries
        ]
        facts = {**plain.facts, "trials": self.trials}
        known = (
            *plain.why.known,
            f"MP is 1 or 0 where a verdict says so. The others had {self.trials} trials each, on "
            "the same random instances; undetermined ones count on both sides of an interval.",
        )
        return replace(
            plain,
            facts=facts,
            parts=(replace(table, columns=columns),),
            why=replace(plain.why, known=known),
        )
