"""Profiles: thresholds of trials compared with estimates under constraints; shares; crossings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.networks.ffn import FeedForward
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.constraints import Constraints
from algebra.problems.problem import Problem
from algebra.problems.random_cells import RandomCells
from matchprob.api.estimate import estimate
from matchprob.plugins.training.profile import profile
from numeric.plugins.training.profiles.measures import MEASURES
from numeric.plugins.training.profiles.profile import Profile, ProfileResult, check_bounds
from numeric.plugins.training.profiles.thresholds import (
    Threshold,
    Thresholds,
    is_listed,
    merged_thresholds,
    with_bound,
)
from numeric.trials.counts import COMPLETE, UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import DIAGONAL, LONG, NET, ROW, many

OVER = Problem(NET, {"W": [[1, 1], [1, 0]]})
SQUARE = Problem(
    FeedForward(1, (1,), 1, 1, activation={"polynomial": [0, 1, "1/2"]}), {"W1": [[1]]}
)
RELU = Problem(ShallowReLU(q=3, n=4, d=2, m=3), {"W1": [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0] * 3]})
WORDS = {True: "matched", False: "unmatched", None: "undetermined"}
OPEN = InstanceCount(0, None, None, UNDETERMINED)


@pytest.mark.parametrize("by", ["size", "change"])
@pytest.mark.parametrize(
    "problem",
    [
        DIAGONAL,
        ROW,
        Problem(NET, {"W": RandomCells(budget=2, rows=2)}),
        Problem(NET, {"W": [[0, 1], [1, 0]]}, constraints=Constraints(sign="keep", max_abs=4.0)),
        RELU,
        SQUARE,
    ],
    ids=["two roots", "one root", "drawn", "constrained", "relu", "square"],
)
def test_a_profile_at_a_bound_is_the_estimate_with_it(problem, by, tmp_path):
    """Trial by trial, at round bounds and at the steps of the profile.

    The two profiles use the same stored trials; the estimates count again.
    """
    trials, store = many(64, 16), tmp_path / "s.sqlite"
    steps = profile(problem, by=by, trials=trials, store=store).profiles[0].steps
    assert len(steps) >= 4
    bounds = (0.0, 1.0, steps[0], steps[len(steps) // 2], steps[-1])
    bounds = bounds if LONG else bounds[2:4]
    found = profile(problem, by=by, bounds=bounds, trials=trials, store=store).profiles[0]
    for bound in bounds:
        records = estimate(with_bound(problem, MEASURES[by], bound), trials).counts
        assert [WORDS[o] for o in found.outcomes(bound)] == [c.outcome for c in records]
    free = estimate(problem, trials)
    assert found.at(math.inf).matched == free.matched
    assert found.at(math.inf).unmatched == free.unmatched


def test_costs_are_those_of_the_solutions():
    """Each threshold encloses the least cost over the count's solutions, with a small width."""
    trials = 40
    counts = estimate(DIAGONAL, trials, complete=True).counts
    # The error on new samples has tests of its own.
    for by in MEASURES.keys() - {"error"}:
        of = Thresholds(DIAGONAL, 0, MEASURES[by]).of
        for count in counts:
            threshold, instance = of(count), draw_instance(DIAGONAL, 0, count.index)
            if not count.real:
                assert threshold.low == threshold.high == math.inf
                continue
            costs = []
            for w in np.array(count.solutions):
                moved = w - instance.before
                if by == "condition":
                    # Labels are quadratic in the weights: these differences are exact.
                    h = 1e-2 * np.abs(w).max()
                    step = h * np.eye(2)
                    ends = [
                        [
                            NET.forward(instance.with_weights(w + sign * e), instance.X).ravel()
                            for e in step
                        ]
                        for sign in (1, -1)
                    ]
                    J = (np.array(ends[0]) - np.array(ends[1])).T / (2 * h)
                    least = np.linalg.svd(J, compute_uv=False)[-1]
                    costs.append(np.linalg.norm(instance.labels) / np.linalg.norm(w) / least)
                else:
                    own = {
                        "size": np.abs(w).max(),
                        "change": np.abs(moved).max(),
                        "norm": np.linalg.norm(moved),
                    }
                    costs.append(own[by])
            slack = 1e-6 if by == "condition" else 1e-12
            assert threshold.low * (1 - slack) <= min(costs) <= threshold.high * (1 + slack)
            width = 0.02 if by == "condition" else 1e-9
            assert threshold.high - threshold.low <= width * threshold.high


def test_thresholds_of_incomplete_counts_are_open():
    """If solutions may be missing the lower end is 0; if none is known the upper is infinite."""
    of = Thresholds(DIAGONAL, 0, MEASURES["size"]).of
    whole = next(c for c in estimate(DIAGONAL, 10, complete=True).counts if c.real == 2)
    sure = of(whole)
    part = of(replace(whole, status=UNDETERMINED))
    assert (part.low, part.high) == (0.0, sure.high)
    lost = of(replace(whole, solutions=whole.solutions[:1]))
    assert lost.low == 0.0
    assert lost.high >= sure.high
    nothing = of(replace(OPEN, index=whole.index))
    assert (nothing.low, nothing.high) == (0.0, math.inf)
    assert nothing.outcome(1e300) is None
    settled = of(InstanceCount(0, 1, None, UNDETERMINED, reason=Reason.SETTLED_MAXIMAL))
    assert (settled.low, settled.high) == (0.0, math.inf)


def test_thresholds_of_relu_nets():
    """The thresholds of a ReLU net are the least sizes of its solutions, up to rounding."""
    trials = 40 if LONG else 16
    found = profile(RELU, trials=trials).profiles[0]
    counts = estimate(RELU, trials, complete=True).counts
    finite = 0
    for threshold, count in zip(found.thresholds, counts, strict=True):
        if count.status == COMPLETE and count.real:
            size = min(max(map(abs, s)) for s in count.solutions)
            assert threshold.low <= size <= threshold.high <= size * (1 + 1e-14)
            finite += 1
        elif count.status == COMPLETE:
            assert threshold.high == math.inf == threshold.low
    assert finite > (3 if LONG else 1)


def test_profiles_of_more_weights_than_equations():
    """A family of matches cannot be listed: each bound is a separate estimate."""
    assert not is_listed(OVER)
    assert is_listed(ROW)
    rules = Constraints(max_abs={"W": 2.0})
    problem = replace(OVER, constraints=rules)
    assert with_bound(problem, MEASURES["size"], 5.0).constraints == Constraints(max_abs={"W": 2.0})
    assert with_bound(problem, MEASURES["change"], 5.0).constraints.max_change == 5.0
    trials = 15 if LONG else 6
    found = profile(OVER, bounds=[8, 1], trials=trials).profiles[0]
    assert found.bounds == (1.0, 8.0)
    for bound in found.bounds:
        records = estimate(with_bound(OVER, MEASURES["size"], bound), trials).counts
        assert [WORDS[o] for o in found.outcomes(bound)] == [c.outcome for c in records]
    refuses("only size and change", profile, OVER, by="norm", trials=3)


def test_outcomes_under_several_bounds_are_merged():
    """A trial matches from one bound on and not up to another; the reverse is an error."""

    def count(outcome):
        real = {"matched": 1, "unmatched": 0, "undetermined": None}[outcome]
        return InstanceCount(0, real, None, COMPLETE if real is not None else UNDETERMINED)

    no, maybe, yes = map(count, ("unmatched", "undetermined", "matched"))
    [one] = merged_thresholds((1.0, 2.0, 3.0, 4.0), [[no], [maybe], [yes], [yes]])
    assert [one.outcome(b) for b in (0.5, 1.0, 2.0, 3.0, 9.0)] == [False, False, None, True, True]
    [none] = merged_thresholds((1.0, 2.0), [[no], [no]])
    assert [none.outcome(b) for b in (2.0, 2.1)] == [False, None]
    minimal = replace(no, reason=Reason.SETTLED_MINIMAL)
    assert merged_thresholds((1.0,), [[minimal]])[0].low == math.inf
    with pytest.raises(ArithmeticError, match="unmatched under 2, but the least cost"):
        merged_thresholds((1.0, 2.0), [[yes], [no]])


ENDS = st.one_of(st.floats(0, 10), st.just(math.inf))
INTERVALS = st.lists(st.tuples(ENDS, ENDS).map(sorted), min_size=1, max_size=30)


def _profile(ends, counted=True):
    thresholds = [Threshold(k, low, high, counted) for k, (low, high) in enumerate(ends)]
    return Profile(ROW, "size", "homotopy", 0, tuple(thresholds))


@settings(max_examples=many(150), deadline=None)
@given(INTERVALS, st.lists(st.floats(0, 11), min_size=2, max_size=6).map(sorted))
def test_profiles_are_monotone_counts(ends, bounds):
    """At each bound the tallies are those of the outcomes; a larger bound has more matches."""
    found = _profile(ends)
    last = None
    for bound in bounds:
        point, outcomes = found.at(bound), found.outcomes(bound)
        assert point.matched == outcomes.count(True)
        assert point.unmatched == outcomes.count(False)
        assert point.undetermined == outcomes.count(None)
        assert point.band.low <= point.matched / len(ends) <= point.band.high
        if last is not None:
            assert point.matched >= last.matched
            assert point.unmatched <= last.unmatched
            assert point.interval.low >= last.interval.low
        last = point
    whole = found.at(math.inf)
    assert whole.matched == sum(high < math.inf for _, high in ends)
    assert whole.unmatched == sum(low == math.inf for low, _ in ends)


def test_lower_bounds_are_no_estimates():
    """If undecided trials can only be matched by a search, no share is given."""
    ends = [(0.0, 1.0), (0.0, 2.0), (0.0, math.inf), (math.inf, math.inf)]
    assert _profile(ends, counted=False).at(1.5).estimate is None
    assert _profile(ends[:2], counted=False).at(3.0).estimate == 1
    assert _profile([(1.0, 1.0), (2.0, 3.0), (9.0, 9.0)]).at(2.5).estimate == 0.5


def test_crossings_of_profiles():
    """Two profiles cross if one is certainly higher at small bounds and the other at large."""
    slow = [(0.2 + 0.001 * k,) * 2 for k in range(60)] + [(math.inf, math.inf)] * 40
    fast = [(5.0 + 0.01 * k,) * 2 for k in range(100)]
    found = ProfileResult("size", 0, (_profile(slow), _profile(fast)), 100)
    [crossing] = found.crossings
    assert (crossing.first, crossing.second, crossing.ahead) == (0, 1, 1)
    assert 0.2 < crossing.low < 5.0 < crossing.high
    same = ProfileResult("size", 0, (_profile(slow), _profile(slow)), 100)
    assert same.crossings == []
    assert set(same.signs(0, 1, (0.1, 1.0, 10.0))) == {0}
    assert found.signs(0, 1, (1.0, 10.0)) == [1, -1]


def test_bad_bounds_of_profiles():
    """Negative, NaN or infinite bounds, texts and an empty list are refused."""
    assert check_bounds([3, 1, 1.0]) == (1.0, 3.0)
    for bad in ([-1.0], [math.nan], [math.inf], ["2"], [True], [], "12", [None]):
        refuses("bound", check_bounds, bad)
    with pytest.raises(InputError, match="normalization"):
        is_listed(
            Problem(NormNet(widths=(2, 2), hidden=(3,), m=2, activation="relu"), {"g1": "all"})
        )
