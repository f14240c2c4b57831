"""Results of verification."""

import json

import pytest

from algebra.certificates.checks import (
    FAILED,
    PROBABLE,
    PROVED,
    UNCHECKED,
    UNFINISHED,
    Check,
    CheckFailed,
    Checklist,
    Verification,
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
    assert Verification("maximal", GOOD).holds
    assert not Verification("maximal", (*GOOD, Check("rank", FAILED, "5, not 4"))).holds
    open_ = Verification("maximal", (*GOOD, Check("N", UNFINISHED, "not counted again")))
    assert not open_.holds
    assert open_.is_unfinished
    assert str(open_).startswith("maximal: not finished: nothing is known")
    assert not Verification("maximal", (*open_.checks, Check("rank", FAILED, "5"))).is_unfinished


def test_data_and_text_name_every_place():
    """Plain data survives JSON, and the text has one line a check."""
    found = Verification("maximal", GOOD)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["holds"] is True
    assert [c["place"] for c in data["checks"]] == [c.place for c in GOOD]
    lines = str(found).splitlines()
    assert lines[0] == "maximal: holds"
    assert lines[1].split() == ["status", "place", "what"]
    assert len(lines) == 2 + len(GOOD)
    assert "probable" in lines[3]
    assert "does not hold" in str(Verification("minimal", (Check("rank", FAILED, "no"),)))


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
