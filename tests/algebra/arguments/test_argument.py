"""What arguments have in common: sentences with their numbers, and what a check is told."""

import pytest

from algebra.arguments.argument import Claimed, counted_note
from algebra.arguments.order import NAMES, ORDER, argument
from algebra.checker.checks import CheckEffort
from algebra.checker.root_evidence import solutions
from algebra.work import SHARES


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_in_the_sentence(name):
    """Where the sentence has places for them; one solution is not called N = 1."""
    own = argument(name)
    for verdict, text in own.why.items():
        one, many = (own.sentence(verdict, 37, n, "") for n in (1, 41))
        assert ("37" in many) == ("{equations}" in text)
        assert ("N = 41" in many) == ("{solutions}" in text) == ("exactly one" in one)


def test_notes_say_what_is_not_bounded():
    """The primes by which a number was counted, each once."""
    note = counted_note("degree 3", (101, 103))
    assert note.startswith("degree 3, counted modulo 101 and 103;")
    assert solutions(1) != solutions(2) == "N = 2 complex solutions"


def test_a_check_has_the_time_of_a_count():
    """The share of `certify`, so that what was counted in time can be counted again."""
    claimed = Claimed("maximal", 3, None, CheckEffort(7, 60.0), print)
    assert (claimed.seed, claimed.seconds) == (7, 60.0 / SHARES.root_count)
    assert min(getattr(SHARES, attempt.share) for attempt in ORDER) == SHARES.root_count
