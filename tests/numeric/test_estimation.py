"""Estimates: every trial counted once, intervals that hold the undetermined on both sides."""

import pytest

from algebra.errors import InputError
from algebra.networks import LinearRNN
from algebra.problem import Problem
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.estimation import Estimate, estimate_with

PROBLEM = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})


class Scripted:
    """An engine that answers by the trial's number."""

    name = "scripted"

    def __init__(self, stop_at=None):
        self.stop_at = stop_at

    def count_many(self, instances):
        return [self.count(instance) for instance in instances]

    def count(self, instance):
        k = instance.index
        if k == self.stop_at:
            raise KeyboardInterrupt
        if k % 5 == 4:
            return InstanceCount(k, None, None, UNDETERMINED)
        return InstanceCount(k, 2 if k % 5 < 3 else 0, 2, COMPLETE)


def test_tally_and_interval():
    """60 matched, 20 unmatched, 20 undetermined: both ends carry the undetermined."""
    found = estimate_with(PROBLEM, Scripted(), 100, 7)
    assert (found.matched, found.unmatched, found.undetermined) == (60, 20, 20)
    assert found.estimate == 0.75
    assert found.interval().low < 0.6 < 0.8 < found.interval().high
    assert found.interval("wilson").low > found.interval().low
    assert found.histogram == {0: 20, 2: 60}


def test_one_certain_solution_is_a_match():
    """An incomplete count with a certain real solution still matches."""
    assert InstanceCount(0, 1, 3, UNDETERMINED).outcome == "matched"
    assert InstanceCount(0, 0, 3, UNDETERMINED).outcome == "undetermined"


def test_interrupt_keeps_what_is_done():
    """Ctrl-C in the second chunk leaves an estimate of the first eight trials."""
    found = estimate_with(PROBLEM, Scripted(stop_at=12), 100)
    assert (found.trials, found.requested) == (8, 100)


def test_json_keys():
    """The keys that other programs rely on are there."""
    data = estimate_with(PROBLEM, Scripted(), 10).to_dict()
    assert {
        "trials", "matched", "unmatched", "undetermined", "estimate", "low", "high",
        "confidence", "engine", "seed",
    } <= set(data)  # fmt: skip


def test_nothing_decided():
    """Only undetermined trials: no estimate, the interval says nothing."""
    counts = (InstanceCount(0, None, None, UNDETERMINED),)
    found = Estimate(PROBLEM, "x", 0, counts, 1)
    assert found.estimate is None
    assert (found.interval().low, found.interval().high) == (0.0, 1.0)
    assert "undecided" in str(found)


@pytest.mark.parametrize(("trials", "confidence"), [(0, 0.95), (True, 0.95), (5, 1.0), (5, 0)])
def test_bad_arguments(trials, confidence):
    """Impossible numbers are refused by name."""
    with pytest.raises(InputError, match=r"`(trials|confidence)`"):
        estimate_with(PROBLEM, Scripted(), trials, confidence=confidence)
