"""The results of a check: one for each statement of a proof file.

The status of a check is *proved*, *probable* (with its error bound, if there is one), *unchecked*
(text and other fields on which nothing depends), *unfinished* (the statement could not be decided,
with the reason) or *failed* (with the place in the certificate).  A proof holds if no check failed
and none is unfinished: no statement is accepted without a check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from algebra.errors import Unfinished
from algebra.time_limits import OutOfTime

PROVED, PROBABLE, FAILED = "proved", "probable", "failed"
UNCHECKED = "unchecked"
# The statement could not be computed again, so neither it nor the proof is decided.
UNFINISHED = "unfinished"

# Receives place, status and text of each check.
Say = Callable[[str, str, str], None]

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


@dataclass(frozen=True)
class Checked:
    """All checks of a proof file.

    Attributes
    ----------
    verdict : str
        The verdict that was checked.
    checks : tuple of Check
    """

    verdict: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing failed and nothing is unfinished."""
        return all(check.status not in (FAILED, UNFINISHED) for check in self.checks)

    @property
    def is_unfinished(self) -> bool:
        """Whether something could not be checked and nothing failed: the proof is undecided."""
        statuses = {check.status for check in self.checks}
        return UNFINISHED in statuses and FAILED not in statuses

    @property
    def outcome(self) -> str:
        """In words: whether it holds, or is undecided."""
        if self.is_unfinished:
            return "not finished: nothing is known"
        return "holds" if self.holds else "does not hold"


@dataclass(frozen=True)
class CheckEffort:
    """What a check of a certificate may use.

    Attributes
    ----------
    seed : int
        New points, primes and instances follow from it.
    seconds : float
        Of the whole check; it ends no proof that holds, only one that is not finished.
    root_counter : callable or None
        Counts solutions if msolve is missing or does not finish.
    """

    seed: int = 0
    seconds: float = 120
    root_counter: Callable[..., Any] | None = None

    @property
    def basis(self) -> float:
        """Seconds for one Gröbner basis: half, finite even without a limit."""
        return min(self.seconds / 2, 1_000_000)


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

    def run(self, verdict: str, check: Callable[[], None]) -> Checked:
        """Run checks until one fails or a limit is reached; other errors are bugs, and raised."""
        try:
            check()
        except CheckFailed as failure:
            self.say(failure.place, FAILED, str(failure))
        except (OutOfTime, Unfinished) as limit:
            self.say("limits", UNFINISHED, str(limit))
        return Checked(verdict, tuple(self.checks))


def nested(found: Checked, say: Say, place: str) -> str:
    """Say the checks of another certificate under its place.

    Returns
    -------
    str
        The status of its verdict.

    Raises
    ------
    CheckFailed
        If one of them failed.
    """
    status = UNFINISHED
    for check in found.checks:
        at = f"{place}.{check.place}" if place else check.place
        if check.status == FAILED:
            raise CheckFailed(at, check.text)
        if check.status != UNCHECKED:
            say(at, check.status, check.text)
        if check.place == "verdict":
            status = check.status
    return status


def unfinished(verdict: str, text: str) -> Checked:
    """A check that ended at a limit: the proof is undecided."""
    return Checked(verdict, (Check("limits", UNFINISHED, text),))
