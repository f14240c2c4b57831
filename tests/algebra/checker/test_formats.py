"""Formats of proof files: versions, seeds, limits, refusals."""

import pytest

from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.formats import ProofFormat
from algebra.checker.records import Record
from algebra.time_limits import check_time
from tests.refusals import refuses

DATA = {"format": "a format", "version": 2, "claim": "seven"}


def made(check):
    """A format with a check."""
    return ProofFormat("a format", (1, 2), "a file", Record, check, lambda data: data["claim"])


def test_a_check_gets_seed_seconds_and_counter():
    """The seed follows from the content and a given one; the rest is handed over."""
    seen = []

    def check(data, checklist, effort):
        seen.append(effort)
        checklist.say("claim", PROVED, data["claim"])

    found = made(check).verify(DATA, seed=3, timeout=9, fallback=len)
    assert (found.verdict, found.holds, found.checks[0].text) == ("seven", True, "seven")
    made(check).verify({**DATA, "claim": "eight"}, seed=3)
    made(check).verify(DATA, seed=4)
    assert len({effort.seed for effort in seen}) == 3
    assert (seen[0].seconds, seen[0].basis, seen[0].root_counter) == (9, 4.5, len)


def test_what_fails_has_its_place():
    """A refusal is a failed check, after those that were shown."""

    def check(data, checklist, effort):
        checklist.say("one", PROVED, "")
        raise CheckFailed("two", "is false")

    found = made(check).verify(DATA)
    assert [(c.place, c.status) for c in found.checks] == [("one", "proved"), ("two", "failed")]
    assert not found.holds


def test_a_late_check_is_unfinished():
    """The limit of time leaves the file undecided, with what was shown."""

    def check(data, checklist, effort):
        checklist.say("one", PROVED, "")
        while True:
            check_time()

    found = made(check).verify(DATA, timeout=0.01)
    assert [c.status for c in found.checks] == ["proved", "unfinished"]
    assert found.is_unfinished


@pytest.mark.parametrize("change", [{"version": 3}, {"version": True}, {"format": "another"}])
def test_other_files_are_refused(change):
    """Another format or version is bad input, which names what is read."""
    refuses("", made(None).verify, {**DATA, **change})
