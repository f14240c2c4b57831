"""Results of a check."""

import pytest

from algebra.checker.checks import (
    FAILED,
    PROBABLE,
    PROVED,
    UNCHECKED,
    UNFINISHED,
    Check,
    Checked,
    CheckFailed,
    Checklist,
    weakest,
)

GOOD = (
    Check("equations", PROVED, "generic rank 4"),
    Check("evidence.root_count", PROBABLE, "N = 3 again"),
    Check("verdict", UNCHECKED, "undecided"),
)


def test_it_holds_unless_something_failed():
    """Proved and probable statements hold; one failed check refutes the file, and an unfinished one
    leaves it undecided.
    """
    assert Checked("maximal", GOOD).holds
    assert not Checked("maximal", (*GOOD, Check("rank", FAILED, "5, not 4"))).holds
    open_ = Checked("maximal", (*GOOD, Check("N", UNFINISHED, "not counted again")))
    assert not open_.holds
    assert open_.is_unfinished
    assert open_.outcome == "not finished: nothing is known"
    assert not Checked("maximal", (*open_.checks, Check("rank", FAILED, "5"))).is_unfinished


def test_a_failure_knows_its_place():
    """The exception carries text and place."""
    with pytest.raises(CheckFailed, match="rank 3, not 4") as met:
        raise CheckFailed("evidence.allocation_rank", "rank 3, not 4")
    assert met.value.place == "evidence.allocation_rank"


def test_the_weakest_statement_counts():
    """Proved and probable give probable; unfinished is weaker than both, failed the weakest."""
    assert weakest(PROVED) == PROVED
    assert weakest(PROVED, PROBABLE, PROVED) == PROBABLE
    assert weakest(UNFINISHED, PROBABLE) == UNFINISHED
    assert weakest(FAILED, UNFINISHED) == FAILED


def test_a_bug_in_a_checker_is_no_refusal():
    """Only `CheckFailed` is a statement about the file."""
    checklist = Checklist()

    def fails():
        checklist.say("a", PROVED, "first")
        raise CheckFailed("b", "second")

    result = checklist.run("maximal", fails)
    assert [(c.place, c.status) for c in result.checks] == [("a", PROVED), ("b", FAILED)]
    with pytest.raises(KeyError):
        Checklist().run("maximal", lambda: {}["bug"])
