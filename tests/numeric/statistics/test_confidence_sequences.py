"""The confidence sequence: exact probabilities that any interval misses, and simulation."""

from functools import cache
from math import log, pi, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

from numeric.statistics.confidence_sequences import RunningInterval, confidence_sequence
from numeric.statistics.intervals import ConfidenceInterval, proportion_interval
from tests.refusals import refuses
from tests.samples import many


def probability_of_ever_missing(interval, p, trials):
    """The exact probability that an interval after one of the first `trials` trials misses p."""
    alive = np.array([1.0])
    for n in range(1, trials + 1):
        step = np.zeros(n + 1)
        step[:-1] += alive * (1 - p)
        step[1:] += alive * p
        alive = np.array([w if p in interval(k, n - k) else 0.0 for k, w in enumerate(step)])
    return 1 - alive.sum()


@pytest.mark.parametrize("p", [0.05, pytest.param(0.5, marks=pytest.mark.long), 0.743])
def test_the_sequence_misses_with_at_most_the_stated_probability(p):
    """The chance that any of the first 120 intervals misses is at most 10 %, computed exactly.

    The same for Clopper-Pearson intervals is above 10 %: the test can distinguish them.
    """
    missing = probability_of_ever_missing(
        lambda k, m: confidence_sequence(k, m, confidence=0.9), p, 120
    )
    assert 0.001 < missing <= 0.1
    naive = probability_of_ever_missing(
        lambda k, m: proportion_interval(k, m, confidence=0.9), p, 120
    )
    assert naive > 0.15


@pytest.mark.parametrize("hidden", [True, False])
def test_stopping_at_a_width_with_undetermined_trials(hidden):
    """Stopped when short enough, with 3 % of one outcome hidden, the interval covers."""
    p, confidence, runs = 0.7, 0.8, 250
    sequence = cache(confidence_sequence)
    rng = np.random.default_rng(7)
    covered = stopped = 0
    for _ in range(runs):
        outcome = rng.random(1000) < p
        lost = (outcome == hidden) & (rng.random(1000) < 0.03)
        matched = np.cumsum(outcome & ~lost)
        unmatched = np.cumsum(~outcome & ~lost)
        undetermined = np.cumsum(lost)
        for n in range(24, 1000, 25):
            counts = int(matched[n]), int(unmatched[n]), int(undetermined[n])
            interval = sequence(*counts, confidence=confidence)
            if interval.half_width < 0.07:
                stopped += 1
                break
        covered += p in interval
    assert stopped == runs
    assert covered / runs >= confidence


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([0.5, 0.95, 0.999]))
@settings(max_examples=many(80), deadline=None)
def test_ends_solve_the_martingale_equation(k, m, confidence):
    """At each end inside (0, 1), the averaged likelihood ratio, integrated, is 1 / α."""
    assume(k + m > 0)
    interval = confidence_sequence(k, m, confidence=confidence)
    assert 0 <= interval.low <= k / (k + m) <= interval.high <= 1

    def log_ratio(p):
        # log of the integral of (x/p)^k ((1-x)/(1-p))^m over Jeffreys' law, x = sin²(s).
        def integrand(s):
            x = np.sin(s) ** 2
            top = (k * np.log(x / best) if k else 0) + (
                m * np.log((1 - x) / (1 - best)) if m else 0
            )
            return np.exp(top) * 2 / pi

        best = k / (k + m)
        peak = float(np.arcsin(sqrt(best)))
        value = quad(integrand, 0, pi / 2, points=[peak], limit=400)[0]
        scale = (k * log(best / p) if k else 0) + (m * log((1 - best) / (1 - p)) if m else 0)
        return log(value) + scale

    for end in (interval.low, interval.high):
        if 0 < end < 1:
            assert log_ratio(end) == pytest.approx(-log(1 - confidence), abs=1e-5)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 40))
@settings(max_examples=many(80), deadline=None)
def test_undetermined_trials_contain_every_completion(k, m, u):
    """The interval is the hull of those of all ways to settle the undetermined trials."""
    found = confidence_sequence(k, m, u)
    settled = [confidence_sequence(k + i, m + u - i) for i in range(u + 1)]
    assert found.low == min(s.low for s in settled)
    assert found.high == max(s.high for s in settled)


@pytest.mark.parametrize("p", [0.01, 0.5, 0.743])
@pytest.mark.parametrize("n", [10**4, 10**6, 10**8])
def test_width_scales_as_stated(n, p):
    """For large n the half-width has its asymptotic form, a slow factor above fixed n."""
    k = round(n * p)
    half = confidence_sequence(k, n - k).half_width
    stated = sqrt(p * (1 - p) * (2 * log(20) + log(pi * n / 2)) / n)
    assert half == pytest.approx(stated, rel=0.02)
    fixed = proportion_interval(k, n - k).half_width
    assert 1.9 < half / fixed < 2.7


def test_extreme_counts():
    """No outcomes give [0, 1], all matched the closed form; huge counts are computed."""
    assert confidence_sequence(0, 0) == ConfidenceInterval(0.0, 1.0)
    assert confidence_sequence(0, 0, 9) == ConfidenceInterval(0.0, 1.0)
    every, none = confidence_sequence(40, 0), confidence_sequence(0, 40)
    assert (every.high, none.low) == (1.0, 0.0)
    assert none.high == pytest.approx(1 - every.low)
    # With all of n matched the equation is E[x^n] = p^n / α.
    moment = beta(0.5, 0.5).moment(40)
    assert every.low == pytest.approx((moment * 0.05) ** (1 / 40), rel=1e-9)
    rare = confidence_sequence(1, 10**12)
    assert 0 < rare.low < 1e-12 < rare.high < 1e-10


def test_running_interval_is_the_intersection():
    """Each update intersects; a disjoint new interval leaves the nearest point of the old one."""
    running = RunningInterval(0.95)
    assert running.interval == ConfidenceInterval(0.0, 1.0)
    moments = [(8, 2, 0), (70, 28, 2), (72, 28, 0), (140, 58, 2)]
    seen = []
    for counts in moments:
        seen.append(confidence_sequence(*counts))
        found = running.update(*counts)
        assert found.low == max(s.low for s in seen)
        assert found.high == min(s.high for s in seen)
    assert repr(running) == f"RunningInterval({found}, 200 trials, confidence=0.95)"
    for counts, end in (((150, 1000), found.low), ((5000, 1000), found.low)):
        assert running.update(*counts) == ConfidenceInterval(end, end)
    rising = RunningInterval()
    top = rising.update(50, 50).high
    assert rising.update(5000, 50) == ConfidenceInterval(top, top)


def test_running_interval_refuses_smaller_counts():
    """Counts below those before are refused with both values, and the interval is kept."""
    running = RunningInterval()
    before = running.update(10, 5, 2)
    refuses(r"`matched` \(9\) must not be less than before \(10\)", running.update, 9, 6, 2)
    refuses(r"undetermined` \(16\)", running.update, 11, 5, 0)
    assert running.interval == before
    assert running.update(12, 5, 0) == confidence_sequence(12, 5).__class__(
        max(before.low, confidence_sequence(12, 5).low),
        min(before.high, confidence_sequence(12, 5).high),
    )


def test_bad_input_is_quoted():
    """A bad count or confidence is named with its value."""
    refuses(r"`unmatched` \(-1\)", confidence_sequence, 1, -1)
    refuses(r"`confidence` \(1.5\)", confidence_sequence, 1, 1, confidence=1.5)
    refuses(r"`confidence` \(0\)", RunningInterval, 0)
