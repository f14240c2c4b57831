"""A case collects what is known of an allocation, and concludes."""

import pytest

from algebra.arguments.argument import FoundEvidence
from algebra.arguments.case import Case
from algebra.arguments.certify import generic_ranks
from algebra.arguments.order import Attempt, argument
from algebra.certificates.tools import Effort
from algebra.work import Limits
from matchprob import Problem
from tests.samples import DIAGONAL, NET


@pytest.fixture
def case():
    return Case(
        DIAGONAL, Effort(limits=Limits(80.0)), generic_ranks(DIAGONAL, 0), DIAGONAL.features
    )


def test_searches_are_numbered_and_have_their_share(case):
    """The time for a Gröbner basis is that of the call, divided by the attempt's number."""
    shares = []
    for share in ("root_count", "later"):
        case.begin(Attempt("at_infinity", share), argument("at_infinity"))
        shares.append((case.attempt, case.seconds))
    assert shares == [(0, 40.0), (1, 10.0)]


def test_a_state_is_made_once(case):
    """An argument finds what it kept."""
    first = case.state("parts", list)
    assert case.state("parts", dict) is first


def test_an_argument_concludes(case):
    """Verdict, rule, evidence in its form, sentence and note are those of the argument."""
    own = argument("whole_column")
    found = case.by(own, FoundEvidence("maximal", "a column", 1, note="noted"))
    assert (found.verdict, found.rule, found.notes) == ("maximal", "a column", ("noted",))
    assert found.evidence["whole_column"] == 1
    assert found.why == own.why["maximal"]


def test_undecided_lists_the_attempts(case):
    """By argument; the rule says whether N is known, or not finite."""
    case.tried |= {"root_count": "one", "no_real_root": "two"}
    found = case.undecided()
    assert (found.verdict, found.tried) == ("undecided", ("one", "two"))
    assert "out of reach" in found.rule
    whole = Problem(NET, {"W": [[1, 1], [1, 1]]})
    surplus = Case(whole, Effort(), generic_ranks(whole, 0), True)
    assert surplus.has_surplus
    assert "more weights than equations" in surplus.undecided().rule
