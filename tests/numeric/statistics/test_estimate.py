"""Estimates: every trial counted once, intervals that include undetermined trials both ways."""

from dataclasses import replace

import pytest

from matchprob import Comparison, InstanceCount, Problem, RandomCells
from numeric.statistics.document import interval_text
from numeric.statistics.estimate import Estimate
from numeric.statistics.intervals import ConfidenceInterval
from numeric.trials.counts import COMPLETE, UNDETERMINED, Reason
from tests.samples import DIAGONAL


def made_estimate(trials, seed=0):
    """An estimate: of each five trials three are matched, one is not, one is undetermined."""
    counts = [
        InstanceCount(k, None, None, UNDETERMINED)
        if k % 5 == 4
        else InstanceCount(k, 2 if k % 5 < 3 else 0, 2, COMPLETE)
        for k in range(trials)
    ]
    return Estimate(DIAGONAL, "made", seed, tuple(counts), trials)


def test_tally_and_interval():
    """60 matched, 20 unmatched, 20 undetermined: both ends include the undetermined."""
    found = made_estimate(100, 7)
    assert (found.matched, found.unmatched, found.undetermined) == (60, 20, 20)
    assert found.estimate == 0.75
    assert found.interval().low < 0.6 < 0.8 < found.interval().high
    assert found.interval("wilson").low > found.interval().low
    assert found.histogram == {0: 20, 2: 60}


def test_one_certified_solution_is_a_match():
    """An incomplete count with a certified real solution matches; without one it is open."""
    assert InstanceCount(0, 1, 3, UNDETERMINED).outcome == "matched"
    assert InstanceCount(0, 0, 3, UNDETERMINED).outcome == "undetermined"


def test_json_keys_of_an_estimate():
    """The JSON object has the documented keys."""
    data = made_estimate(10).to_dict()
    assert {
        "trials", "matched", "unmatched", "undetermined", "estimate", "low", "high",
        "confidence", "engine", "seed",
    } <= set(data)  # fmt: skip


def test_only_undetermined_trials():
    """With undetermined trials only there is no estimate, and the interval is [0, 1]."""
    counts = (InstanceCount(0, None, None, UNDETERMINED),)
    found = Estimate(DIAGONAL, "x", 0, counts, 1)
    assert found.estimate is None
    assert (found.interval().low, found.interval().high) == (0.0, 1.0)
    assert "undecided" in str(found)


def test_running_interval_replaces_the_others():
    """If the outcomes determined the number of trials the confidence sequence is given."""
    found = replace(made_estimate(50), running=ConfidenceInterval(0.1, 0.9))
    assert found.interval() == ConfidenceInterval(0.1, 0.9)
    assert found.to_dict()["interval"] == "confidence sequence"


def test_frame_notebook_and_plot_of_an_estimate():
    """The data frame has a row for each trial; the notebook and the plot show the estimate."""
    import matchprob  # noqa: F401 (pictures are drawn by it)

    found = made_estimate(10)
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["outcome"].value_counts().to_dict() == {
        "matched": 6, "unmatched": 2, "undetermined": 2,
    }  # fmt: skip
    assert "0.7500" in found._repr_html_()
    assert "0.7500" in found.plot().get_title()


def settled(real, trials=50):
    """An estimate of trials that a verdict settles."""
    reason = Reason.SETTLED_MAXIMAL if real else Reason.SETTLED_MINIMAL
    note = "certified maximal: N = 1" if real else "no solution, with probability 1 (minimal)"
    counts = tuple(
        InstanceCount(k, real, None, COMPLETE if not real else UNDETERMINED, note, reason=reason)
        for k in range(trials)
    )
    return Estimate(DIAGONAL, "homotopy", 0, counts, trials)


@pytest.mark.parametrize("real", [0, 1])
def test_an_estimate_settled_by_a_verdict(real):
    """A certified value is both ends of its interval, in the object, in JSON and in text."""
    found = settled(real)
    assert found.certified == found.estimate == real
    assert found.interval() == ConfidenceInterval(real, real)
    data = found.to_dict()
    assert (data["low"], data["high"], data["certified"]) == (real, real, True)
    assert data["wilson"] == {"low": real, "high": real}
    assert str(found).startswith(f"MP = {real}, certified")
    assert "[" not in interval_text(found)
    # The interval of a sample of this size is given on request.
    assert found.interval("clopper-pearson").half_width > 0.01


def test_drawn_allocations_are_not_settled_by_a_verdict():
    """If the allocation is drawn for each trial, certified trials are a sample."""
    both = settled(1).counts + settled(0).counts
    cells = Problem(DIAGONAL.network, {"W": RandomCells(budget=2, rows=2)})
    for counts in (both, settled(1).counts):
        found = replace(settled(1), problem=cells, counts=counts)
        assert found.certified is None
        assert found.interval().half_width > 0.01
    assert replace(settled(1), counts=both).certified is None


@pytest.mark.parametrize("engine", ["homotopy", "fsolve", "a user's engine"])
def test_matches_beside_undecided_trials_give_a_lower_bound(engine):
    """Matches that a search found give no share if trials are undecided, for every engine."""
    one = InstanceCount(0, 1, None, UNDETERMINED, "one is certified")
    open_ = InstanceCount(3, None, None, UNDETERMINED, "a path failed")
    counts = (one, replace(one, index=1), replace(one, index=2), open_)
    found = Estimate(DIAGONAL, engine, 0, counts, 4)
    assert found.is_lower_bound
    assert found.estimate is None
    assert found.at_least == 0.75
    assert found.value_text == "at least 0.7500"
    data = found.to_dict()
    assert (data["estimate"], data["at_least"], data["high"]) == (None, 0.75, 1.0)
    assert Comparison(found, settled(1, 4)).difference is None
    # Complete counts of both outcomes and one undecided: the share of the decided is an estimate.
    done = [InstanceCount(k, real, 2, COMPLETE) for k, real in enumerate((2, 2, 0))]
    found = Estimate(DIAGONAL, engine, 0, (*done, open_), 4)
    assert not found.is_lower_bound
    assert found.estimate == pytest.approx(2 / 3)


def test_comparison_with_a_certified_value():
    """The interval of the difference is the other's, shifted; exact if both are certified."""
    found = Estimate(DIAGONAL, "homotopy", 0,
                     tuple(InstanceCount(k, 2 * (k % 4 > 0), 2, COMPLETE) for k in range(50)),
                     50)  # fmt: skip
    compared = Comparison(settled(1), found)
    assert compared.difference == 1 - found.estimate
    assert compared.interval() == ConfidenceInterval(
        1 - found.interval().high, 1 - found.interval().low
    )
    both = Comparison(settled(1), settled(0))
    assert both.interval() == ConfidenceInterval(1, 1)
    assert "certified" in both.summary
    assert "there is none" in Comparison(settled(1), settled(1)).summary
