"""Root counts in files: the fields of a count fit together, and altered ones do not."""

from dataclasses import replace

import pytest

from algebra.checker.checks import PROBABLE, PROVED, CheckFailed
from algebra.checker.root_evidence import RootEvidence
from algebra.declarations import DEGREE, LINEAR, TRACE
from algebra.systems.root_count import generic_root_count
from tests.samples import DIAGONAL, ROW

PLACE = "evidence.root_count"
COUNTED = RootEvidence(6, DEGREE, "B", (2, 3), (2147483629, 2147483587), 0)
TRACED = RootEvidence(6, TRACE, "B", (), (), 0, {"points": 3})


def test_counts_of_allocations_pass():
    """Of a linear system, and of one with two solutions, modulo primes."""
    one = RootEvidence.of(generic_root_count(ROW.allocation))
    two = RootEvidence.of(generic_root_count(DIAGONAL.allocation))
    assert (one.value, one.rule, two.value, two.rule) == (1, LINEAR, 2, DEGREE)
    for evidence in (one, two, COUNTED, TRACED):
        evidence.check(PLACE, {})
        assert RootEvidence.from_dict(evidence.to_dict(), PLACE, {}) == evidence


@pytest.mark.parametrize(
    ("evidence", "place"),
    [
        (replace(COUNTED, blocks=(2, 2)), "blocks"),
        (replace(COUNTED, primes=(2147483629, 2147483630)), "primes[1]"),
        (replace(COUNTED, primes=(7,)), "primes[0]"),
        (replace(COUNTED, rule=LINEAR, blocks=()), "value"),
        (replace(TRACED, trace=None), "trace"),
        (replace(TRACED, blocks=(6,)), "blocks"),
        (replace(TRACED, primes=(2147483629,)), "primes[0]"),
    ],
)
def test_fields_that_do_not_fit_are_refused(evidence, place):
    """The message gives the place."""
    with pytest.raises(CheckFailed) as failure:
        evidence.check(PLACE, {})
    assert failure.value.place == f"{PLACE}.{place}"


def test_numerical_counts_are_said_to_be_so():
    """A verdict that rests on a trace test never reads like a proof."""
    assert COUNTED.given(PROVED) == ""
    assert "numerical" not in COUNTED.given(PROBABLE)
    assert "numerical, not a proof" in TRACED.given(PROBABLE)
    assert COUNTED.source.endswith("2147483629, 2147483587")
