"""The results of verification: one for each statement of a certificate.

The status of a check is *proved*, *probable* (with its error bound, if there is one), *unchecked*
(text and other fields on which nothing depends), *unfinished* (the statement could not be decided,
with the reason) or *failed* (with the place in the certificate).  A proof holds if no check failed
and none is unfinished: no statement is accepted without a check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from algebra.certificates.verdicts import VERDICTS
from algebra.errors import Unfinished, plural
from algebra.results import Result, attribute_columns, named
from algebra.time_limits import OutOfTime

if TYPE_CHECKING:
    from algebra.documents import Document, Step

PROVED, PROBABLE, FAILED = "proved", "probable", "failed"
UNCHECKED = "unchecked"
# The statement could not be computed again, so neither it nor the proof is decided.
UNFINISHED = "unfinished"

# Receives place, status and text of each check.
Say = Callable[[str, str, str], None]

_TONES = {PROVED: "good", FAILED: "bad"}
_STRENGTH = (PROVED, PROBABLE, UNCHECKED, UNFINISHED, FAILED)


def weakest(*statuses: str) -> str:
    """The status of a statement that depends on statements of these statuses.

    Examples
    --------
    >>> weakest("proved", "unfinished", "probable")
    'unfinished'
    """
    return max(statuses, key=_STRENGTH.index)


@dataclass(frozen=True)
class Check:
    """One statement that was checked.

    Attributes
    ----------
    place : str
        Place of the statement in the certificate.
    status : str
        "proved", "probable", "unchecked", "unfinished" or "failed".
    text : str
    """

    place: str
    status: str
    text: str


@dataclass(frozen=True, repr=False)
class Verification(Result):
    """All checks of a certificate.

    Attributes
    ----------
    verdict : str
        The verdict that was checked.
    checks : tuple of Check
    """

    verdict: str
    checks: tuple[Check, ...]

    def columns(self) -> dict[str, list[Any]]:
        """One row for each check."""
        return attribute_columns(self.checks, "place", "status", "text")

    @property
    def holds(self) -> bool:
        """Whether nothing failed and nothing is unfinished."""
        return all(check.status not in (FAILED, UNFINISHED) for check in self.checks)

    @property
    def is_unfinished(self) -> bool:
        """Whether something could not be checked and nothing failed: the proof is undecided."""
        statuses = {check.status for check in self.checks}
        return UNFINISHED in statuses and FAILED not in statuses

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        checks = [named(check, "place", "status", "text") for check in self.checks]
        return {**named(self, "holds", "verdict"), "checks": checks}

    @property
    def outcome(self) -> str:
        """In words: whether it holds, or is undecided."""
        if self.is_unfinished:
            return "not finished: nothing is known"
        return "holds" if self.holds else "does not hold"

    def document(self) -> Document:
        """Whether it holds, every check with its status, and what follows."""
        # Loaded here: a check in a process of its own says nothing.
        from algebra.documents import Document, Explanation, Table, step

        tally = Counter(check.status for check in self.checks)
        known, open_, decided_by = [], "", ""
        steps: tuple[Step, ...] = ()
        if self.is_unfinished:
            done = len(self.checks) - tally[UNFINISHED]
            known.append(f"{done} check{'s' * (done != 1)} finished, and none of them failed.")
            missing = "; ".join(c.text for c in self.checks if c.status == UNFINISHED)
            open_ = f"whether the file proves {self.verdict!r} (unfinished: {missing})"
            decided_by = "the remaining checks, with more time, or more memory (`--memory`)"
            steps = (step("verify", "more time", timeout=3600),)
        elif not self.holds:
            wrong = [check for check in self.checks if check.status == FAILED]
            known.append(
                f"The file does not prove {self.verdict!r}: "
                + "; ".join(f"{check.place}: {check.text}" for check in wrong[:3])
                + ("; …" if len(wrong) > 3 else ".")
            )
            open_ = (
                f"whether {self.verdict!r} is true nevertheless: a failed proof does not decide it"
            )
            decided_by = "a new proof, made from the problem"
            purpose = "another proof of the same problem"
            steps = (step("certify", purpose, subject="P.toml", out="cert.json"),)
        else:
            # Bounds of designs and recordings are evaluated by code that their searches use too.
            how = ", by other code than the one that found it" if self.verdict in VERDICTS else ""
            if self.verdict == VERDICTS[-1]:
                held = "; ".join(c.text for c in self.checks if c.status in (PROVED, PROBABLE))
                known.append(
                    f"The file claims no verdict. What it states was checked again{how}, and holds"
                    + (f": {held}." if held else ".")
                )
            else:
                known.append(f"All evidence for {self.verdict!r} was checked again{how}.")
            if tally[PROBABLE]:
                number = tally[PROBABLE]
                known.append(
                    plural(number, f"{number} check")
                    + " used new primes and random points, which follow from the file and "
                    "`--seed`; each is wrong with small probability (probable)."
                )
                steps = (step("verify", "a check with other primes and points", seed=2),)
        columns = {name: [getattr(c, name) for c in self.checks] for name in ("status", "place")}
        tones = {"status": [_TONES.get(check.status, "open") for check in self.checks]}
        return Document(
            f"{self.verdict}: {self.outcome}",
            {"verdict": self.verdict, "outcome": self.outcome, **tally},
            (Table({**columns, "what": [check.text for check in self.checks]}, tones=tones),),
            Explanation(tuple(known), open_, decided_by, steps),
            tone="open" if self.is_unfinished else "good" if self.holds else "bad",
        )


class CheckFailed(Exception):
    """A statement that does not hold or cannot be read, with its place in the certificate."""

    def __init__(self, place: str, text: str) -> None:
        super().__init__(text)
        self.place = place


class Checklist:
    """The checks of one certificate in progress."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def say(self, place: str, status: str, text: str) -> None:
        """Record a result for a place."""
        self.checks.append(Check(place, status, text))

    def run(self, verdict: str, check: Callable[[], None]) -> Verification:
        """Run checks until one fails or a limit is reached; other errors are bugs, and raised."""
        try:
            check()
        except CheckFailed as failure:
            self.say(failure.place, FAILED, str(failure))
        except (OutOfTime, Unfinished) as limit:
            self.say("limits", UNFINISHED, str(limit))
        return Verification(verdict, tuple(self.checks))


def unfinished(verdict: str, text: str) -> Verification:
    """A verification that ended at a limit: the proof is undecided."""
    return Verification(verdict, (Check("limits", UNFINISHED, text),))
