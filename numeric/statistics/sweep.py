"""Match probabilities of variants of a problem: one table, one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from algebra.documents import Document, Explanation, Table, step
from algebra.results import Result, done_of
from algebra.words import plural
from numeric.statistics.document import interval_text
from numeric.statistics.estimate import Estimate


@dataclass(frozen=True, repr=False)
class SweepResult(Result):
    """Estimates for several values of one entry of a problem file.

    Attributes
    ----------
    key : str
        The entry.
    values : tuple
        Its values, numbers or words.
    estimates : tuple of Estimate
        One for each value; fewer if the work was interrupted.
    """

    key: str
    values: tuple[Any, ...]
    estimates: tuple[Estimate, ...]

    @property
    def is_partial(self) -> bool:
        """Whether the work was interrupted."""
        whole = len(self.estimates) == len(self.values)
        return not whole or any(own.is_partial for own in self.estimates)

    def columns(self) -> dict[str, Sequence[Any]]:
        """One row for each value."""
        intervals = [own.interval() for own in self.estimates]
        return {
            self.key: list(self.values[: len(self.estimates)]),
            "match_probability": [own.estimate for own in self.estimates],
            "at_least": [own.at_least for own in self.estimates],
            "low": [own.low for own in intervals],
            "high": [own.high for own in intervals],
            **{
                name: [getattr(own, name) for own in self.estimates]
                for name in ("trials", "matched", "unmatched", "undetermined")
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob estimate --sweep``."""
        return {
            "sweep": self.key,
            "values": list(self.values),
            "estimates": [own.to_dict() for own in self.estimates],
        }

    def document(self) -> Document:
        """One line for each value: MP with its interval, and the trials that stayed open."""
        done, wanted = len(self.estimates), len(self.values)
        columns: dict[str, Sequence[Any]] = {
            self.key: [str(value) for value in self.values[:done]],
            "MP": [interval_text(own) for own in self.estimates],
            "trials": [own.trials for own in self.estimates],
            "undetermined": [own.undetermined for own in self.estimates],
        }
        facts = {"sweep": self.key, "values": done_of(done, wanted)}
        if not self.estimates:
            return Document("no value was finished", facts)
        facts["seed"] = self.estimates[0].seed
        title = f"MP for {plural(wanted, f'{wanted} value')} of {self.key}"
        known = [
            f"Each interval covers the MP of its own value with {self.estimates[0].confidence:.0%}."
        ]
        ends = [own.interval() for own in self.estimates]
        if min(own.high for own in ends) < max(own.low for own in ends):
            known.append("Some intervals are disjoint.")
        first = self.estimates[0]
        more = step(
            "estimate", "the problem as it is, in detail", trials=first.requested, seed=first.seed
        )
        why = Explanation(tuple(known), steps=(more,))
        return Document(title, facts, (Table(columns),), why, tone="strong")
