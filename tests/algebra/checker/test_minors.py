"""Regular minors in certificates: which ones are refused."""

from dataclasses import replace

import pytest

from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.checker.minors import MinorInFile, check_minor
from algebra.checker.records import read_form
from algebra.families.certify import certify
from matchprob import RNN, Problem

NET = RNN(n=3, T=2, b=1, d=1, m=2, activation="erf", biases=True)
PROBLEM = Problem(NET, {"W": [[1, 1, 0], [1, 0, 0], [0, 0, 0]]})


@pytest.fixture(scope="module")
def found():
    """A certificate that holds a minor, as plain data."""
    return certify(PROBLEM).to_dict()


def checked(data):
    """Reads and checks the minor of a certificate."""
    claim = Claim.from_dict(data, "certificate")
    minor = read_form(MinorInFile, claim.evidence["regular_minor"], "evidence", {"moved": PROBLEM})
    check_minor(minor, NET, claim, PROBLEM.allocation.cells, {})
    return claim, minor


def test_a_minor_that_is_regular_passes(found):
    """It has as many rows as there are equations, and learnable columns."""
    claim, minor = checked(found)
    assert len(minor.rows) == claim.equations == 2
    assert set(minor.columns) <= set(PROBLEM.allocation.cells)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": [0, 0]}, "must be different labels from 0 to 1"),
        ({"rows": [0, 2]}, "must be different labels from 0 to 1"),
        ({"rows": [0]}, "1 different weights"),
        ({"columns": [["W", 0, 0], ["W", 0, 0]]}, "names a weight twice"),
        ({"columns": [["W", 0, 0], ["W", 0, 2]]}, "does not learn"),
        ({"columns": [["W", 0, 0], ["W", 9, 9]]}, "weights that exist"),
        ({"rows": [0], "columns": [["W", 0, 0]]}, "has 1 rows, not 2"),
    ],
)
def test_others_are_refused(found, change, words):
    """Each is refused with its place."""
    minor = {**found["evidence"]["regular_minor"], **change}
    with pytest.raises(CheckFailed, match=words):
        checked({**found, "evidence": {**found["evidence"], "regular_minor": minor}})


def test_a_singular_minor_is_not_shown_regular(found):
    """A network in which these weights have no effect."""
    claim, minor = checked(found)
    silent = {"D": [[0, 0, 0]]}
    with pytest.raises(CheckFailed, match="its balls contain 0"):
        check_minor(replace(minor), NET, claim, PROBLEM.allocation.cells, silent)
