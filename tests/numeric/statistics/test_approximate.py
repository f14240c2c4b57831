"""Shares of approximate matches: undecided instances count on both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.statistics.approximate import ApproximateShare
from numeric.statistics.intervals import proportion_interval


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_interval_includes_undecided_instances(exact, found, left):
    """The lower end counts undecided instances as not reached, the upper one as reached."""
    trials = exact + found + left
    if not trials:
        return
    share = ApproximateShare(1e-3, trials, exact, found)
    low = proportion_interval(exact + found, left, confidence=0.95).low
    assert share.interval.low == pytest.approx(low)
    # All but those reached are undecided, so no upper end below 1 is known.
    assert share.interval.high == 1.0
    assert share.open == left
    assert ("at least" in str(share)) == bool(left)


def test_a_certified_share_has_an_interval_of_length_0():
    """If every instance has a match by a verdict, both ends of the interval are 1."""
    share = ApproximateShare(1e-3, 12, 12, 0, certified=True)
    assert (share.interval.low, share.interval.high) == (1.0, 1.0)


def test_json_of_an_approximate_share():
    """The JSON object names the loss, and the instances that were not searched."""
    data = ApproximateShare(0.01, 10, 2, 3, 1).to_dict()
    assert data["loss"] == "mean squared error"
    assert (data["reached"], data["open"], data["unsearched"]) == (5, 5, 1)
    assert data["at_least"] == 0.5
