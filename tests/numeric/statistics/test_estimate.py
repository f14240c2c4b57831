"""Estimates: every trial counted once, intervals that hold the undetermined on both sides."""

from dataclasses import replace

import pytest

from algebra.networks.base import LinearRNN
from algebra.problems.problem import Problem
from numeric.counts import COMPLETE, UNDETERMINED, InstanceCount
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import Interval

PROBLEM = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})


def scripted(trials, seed=0):
    """Of each five trials three are matched, one is not, one is undetermined."""
    counts = [
        InstanceCount(k, None, None, UNDETERMINED)
        if k % 5 == 4
        else InstanceCount(k, 2 if k % 5 < 3 else 0, 2, COMPLETE)
        for k in range(trials)
    ]
    return Estimate(PROBLEM, "scripted", seed, tuple(counts), trials)


def test_tally_and_interval():
    """60 matched, 20 unmatched, 20 undetermined: both ends carry the undetermined."""
    found = scripted(100, 7)
    assert (found.matched, found.unmatched, found.undetermined) == (60, 20, 20)
    assert found.estimate == 0.75
    assert found.interval().low < 0.6 < 0.8 < found.interval().high
    assert found.interval("wilson").low > found.interval().low
    assert found.histogram == {0: 20, 2: 60}


def test_one_certain_solution_is_a_match():
    """An incomplete count with a certain real solution still matches."""
    assert InstanceCount(0, 1, 3, UNDETERMINED).outcome == "matched"
    assert InstanceCount(0, 0, 3, UNDETERMINED).outcome == "undetermined"


def test_json_keys():
    """The keys that other programs rely on are there."""
    data = scripted(10).to_dict()
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


def test_running_interval_replaces_the_others():
    """Where the number of trials followed the outcomes only the confidence sequence holds."""
    found = replace(scripted(50), running=Interval(0.1, 0.9))
    assert found.interval() == Interval(0.1, 0.9)
    assert found.to_dict()["interval"] == "confidence sequence"


def test_other_shapes():
    """A data frame has a row a trial, the notebook and the plot show the estimate."""
    found = scripted(10)
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["outcome"].value_counts().to_dict() == {
        "matched": 6, "unmatched": 2, "undetermined": 2,
    }  # fmt: skip
    assert "0.7500" in found._repr_html_()
    assert "0.7500" in found.plot().get_title()
