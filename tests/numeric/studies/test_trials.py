"""Trials: the same record for every chunk, order and history."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchprob import InstanceCount, LinearRNN, Problem, RandomCells
from numeric.studies.trials import (
    TrialSeries,
    TrialSettings,
    close_kept_counters,
    compute_described,
    compute_trials,
    contradict,
    kept_counter,
    record_of,
    says_more,
)
from numeric.trials.counts import Reason
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=1, d=1, m=2)
FIXED = Problem(NET, {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]})
RANDOM = Problem(NET, {"W": RandomCells(budget=2)})


def records(work, indices):
    return [record_of(c) for c in compute_trials(work, list(indices))]


@pytest.mark.parametrize("problem", [FIXED, RANDOM], ids=["fixed", "random"])
def test_a_record_does_not_depend_on_its_chunk(problem):
    """One by one, backwards, or all at once: the same records."""
    work = TrialSeries.of(problem, 3)
    whole = records(work, range(12))
    assert [r for k in range(12) for r in records(work, [k])] == whole
    close_kept_counters()
    assert records(work, range(11, -1, -1)) == whole[::-1]
    close_kept_counters()
    assert len({r[1:] for r in whole}) > 1


def test_another_process_computes_the_same_from_the_description():
    """From the description the records are those of the object; it is read once."""
    work = TrialSeries.of(FIXED, 3)
    expected = records(work, range(6))
    close_kept_counters()
    data = work.to_dict()
    first = [record_of(c) for c in compute_described(data, work.key, [0, 1, 2])]
    data.clear()
    assert first + [record_of(c) for c in compute_described(data, work.key, [3, 4, 5])] == expected
    close_kept_counters()


def test_this_process_uses_the_object(monkeypatch):
    """No problem is read again where the trials are computed."""
    monkeypatch.setattr("numeric.studies.trials.problem_from_dict", None)
    work = TrialSeries.of(FIXED, 3)
    assert kept_counter(work) is kept_counter(work)
    assert kept_counter(work).problem is work.problem
    assert len(records(work, range(3))) == 3
    close_kept_counters()


def test_work_survives_plain_data():
    """Trials keep their key as plain data; any change of them changes the key."""
    work = TrialSeries.of(RANDOM, 5, "exact", timeout=7.0)
    assert TrialSeries.from_dict(work.to_dict()) == work
    assert TrialSeries.from_dict(work.to_dict()).key == work.key
    others = [
        TrialSeries.of(FIXED, 5, "exact", timeout=7.0),
        TrialSeries.of(RANDOM, 6, "exact", timeout=7.0),
        TrialSeries.of(RANDOM, 5, "homotopy", timeout=7.0),
        TrialSeries.of(RANDOM, 5, "exact", timeout=8.0),
        TrialSeries.of(RANDOM, 5, "exact", timeout=7.0, complete=True),
    ]
    assert len({work.key, *(w.key for w in others)}) == 6


def test_other_versions_are_refused():
    """A series of trials of another version of the records is not computed."""
    data = {**TrialSeries.of(FIXED).to_dict(), "records": 0}
    refuses("version 0", TrialSeries.from_dict, data)


def test_settings_are_checked():
    """A time limit that is not positive is refused by name."""
    refuses(r"`timeout` \(0\)", TrialSettings, "exact", timeout=0)


counts = st.builds(
    lambda real, rest, whole: InstanceCount(
        0, real, None if real is None else real + rest, "complete" if whole else "undetermined"
    ),
    st.none() | st.integers(0, 4),
    st.integers(0, 2).map(lambda k: 2 * k),
    st.booleans(),
).filter(lambda c: c.status == "undetermined" or c.real is not None)


@given(counts, counts)
def test_of_two_counts_at_most_one_says_more(one, other):
    """One of two counts says more at most, and contradiction does not depend on their order."""
    assert contradict(one, other) == contradict(other, one)
    assert not (says_more(one, other) and says_more(other, one))
    assert not contradict(one, one)


def test_what_contradicts():
    """Complete counts must agree; a lower bound must not exceed a complete count."""
    whole, none = InstanceCount(0, 2, 4, "complete"), InstanceCount(0, 0, 4, "complete")
    least = InstanceCount(0, 1, None, "undetermined", "at least one")
    lost = InstanceCount(0, None, None, "undetermined", "phcpy: it died", reason=Reason.LOST)
    assert contradict(whole, none)
    assert contradict(none, least)
    assert not contradict(whole, least)
    assert not contradict(whole, lost)
    assert says_more(whole, least)
    assert says_more(least, lost)
    assert not contradict(least, replace(least, note="other words", real=2))
