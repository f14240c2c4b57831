"""Intervals, compared with SciPy, exact enumeration, simulation and numerical optimization."""

import math
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, binomtest, multinomial, norm

from numeric.statistics.intervals import (
    ConfidenceInterval,
    band_at,
    band_half_width,
    paired_interval,
    paired_table,
    proportion_interval,
)
from tests.refusals import refuses
from tests.samples import many

counts = st.integers(0, 300)
methods = pytest.mark.parametrize(
    ("method", "scipy_name"), [("clopper-pearson", "exact"), ("wilson", "wilson")]
)


@methods
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_limits_agree_with_scipy(method, scipy_name, confidence):
    """Without undetermined trials the limits are those of scipy's binomtest."""
    for n in (1, 2, 7, 40, 1000):
        for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            found = proportion_interval(k, n - k, confidence=confidence, method=method)
            expected = binomtest(k, n).proportion_ci(confidence, scipy_name)
            assert found.low == pytest.approx(expected.low, abs=1e-10)
            assert found.high == pytest.approx(expected.high, abs=1e-10)


def test_clopper_pearson_is_the_binomial_tail():
    """At each limit the tail of the binomial law is half of the remaining probability."""
    interval = proportion_interval(743, 257)
    assert binom.sf(742, 1000, interval.low) == pytest.approx(0.025, rel=1e-9)
    assert binom.cdf(743, 1000, interval.high) == pytest.approx(0.025, rel=1e-9)


def test_closed_forms_at_the_ends():
    """All or none matched: one end is exact, the other is (0.025)^(1/n)."""
    for n in (1, 10, 4000):
        none, every = proportion_interval(0, n), proportion_interval(n, 0)
        assert (none.low, every.high) == (0.0, 1.0)
        assert every.low == pytest.approx(0.025 ** (1 / n), rel=1e-12)
        assert none.high == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-9)


@pytest.mark.parametrize("method", ["clopper-pearson", "wilson"])
def test_nothing_known(method):
    """No trials, or only undetermined ones, exclude nothing."""
    assert proportion_interval(0, 0, method=method) == ConfidenceInterval(0.0, 1.0)
    assert proportion_interval(0, 0, 50, method=method) == ConfidenceInterval(0.0, 1.0)


@methods
@given(counts, counts, st.integers(0, 50))
@settings(max_examples=many(80), deadline=None)
def test_undetermined_trials_contain_every_completion(method, scipy_name, k, m, u):
    """The interval is the hull of the intervals of all ways to settle undetermined trials."""
    assume(k + m + u > 0)
    found = proportion_interval(k, m, u, method=method)
    settled = [proportion_interval(k + i, m + u - i, method=method) for i in range(u + 1)]
    assert found.low == pytest.approx(min(s.low for s in settled), abs=1e-14)
    assert found.high == pytest.approx(max(s.high for s in settled), abs=1e-14)
    assert binomtest(k, k + m + u).proportion_ci(0.95, scipy_name).low == pytest.approx(
        found.low, abs=1e-10
    )


@given(counts, counts, st.integers(0, 50), st.sampled_from(["clopper-pearson", "wilson"]))
@settings(max_examples=many(100), deadline=None)
def test_order_properties(k, m, u, method):
    """Ends are ordered and in [0, 1], contain the share, increase with k; confidence widens."""
    assume(k + m > 0)
    found = proportion_interval(k, m, u, method=method)
    assert 0 <= found.low <= k / (k + m + u) <= (k + u) / (k + m + u) <= found.high <= 1
    more = proportion_interval(k + 1, m, u, method=method)
    assert more.low >= found.low
    settled = proportion_interval(k, m + u, method=method)
    assert settled.high <= found.high
    assert settled.low == found.low
    wider = proportion_interval(k, m, u, confidence=0.99, method=method)
    assert wider.low <= found.low <= found.high <= wider.high
    mirrored = proportion_interval(m, k, u, method=method)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-12)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.743, 0.999])
def test_exact_coverage(p):
    """Summed over all outcomes, Clopper-Pearson covers with at least its confidence."""
    n = 60
    law = binom.pmf(range(n + 1), n, p)
    inside = [p in proportion_interval(k, n - k, confidence=0.9) for k in range(n + 1)]
    assert law @ inside >= 0.9


@pytest.mark.parametrize("method", ["clopper-pearson", "wilson"])
@pytest.mark.parametrize("hidden", [True, False])
def test_coverage_with_undetermined_trials(method, hidden):
    """With 15 % of one outcome hidden the interval still covers; dropping them does not."""
    p, n, runs = 0.743, 400, 1500
    rng = np.random.default_rng(2024)
    matches = rng.binomial(n, p, runs)
    kind = matches if hidden else n - matches
    undetermined = rng.binomial(kind, 0.15)
    covered = dropped = 0
    for k, u in zip(matches, undetermined, strict=True):
        shown = (k - u, n - k) if hidden else (k, n - k - u)
        covered += p in proportion_interval(*shown, u, method=method)
        dropped += p in proportion_interval(*shown, method=method)
    assert covered / runs >= 0.95
    assert dropped / runs < 0.9


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((-1, 2), r"`matched` \(-1\)"),
        ((1, 2.5), r"`unmatched` \(2.5\)"),
        ((1, 2, "3"), r"`undetermined` \('3'\)"),
    ],
)
def test_bad_counts_are_quoted(arguments, complaint):
    """A bad count is named with its value."""
    refuses(complaint, proportion_interval, *arguments)


def test_bad_options_are_quoted():
    """A bad confidence or method is named with its value."""
    for confidence in (0, 1, 95, float("nan"), "high"):
        refuses("`confidence`", proportion_interval, 1, 2, confidence=confidence)
    refuses(r"`method` \('wald'\)", proportion_interval, 1, 2, method="wald")


def test_an_interval_prints_and_contains():
    """It prints three decimals, contains its ends, and `half_width` is half of its length."""
    interval = ConfidenceInterval(0.7291, 0.7569)
    assert str(interval) == "[0.729, 0.757]"
    assert repr(interval) == "ConfidenceInterval(low=0.7291, high=0.7569)"
    assert interval.half_width == pytest.approx(0.0139)
    assert 0.7291 in interval
    assert 0.757 not in interval
    assert proportion_interval(np.int64(3), np.uint8(4)) == proportion_interval(3, 4)


# -- paired comparison -----------------------------------------------------------------


def statistic_by_optimization(delta, b, c, n):
    """Tango's statistic with its nuisance parameter found by numerical maximization."""

    def likelihood(q):
        cells = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
        return -sum(k * log(max(v, 1e-300)) for k, v in cells if k)

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = minimize_scalar(
        likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    return (b - c - n * delta) / (n * (2 * q + delta * (1 - delta))) ** 0.5


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40), st.sampled_from([0.8, 0.95]))
@settings(max_examples=many(60), deadline=None)
def test_paired_limits_solve_the_score_equation(b, c, rest, confidence):
    """At each limit inside (-1, 1) the statistic, computed independently, is z."""
    n = b + c + rest
    assume(n > 0)
    interval = paired_interval([[rest, b], [c, 0]], confidence=confidence)
    z = norm.isf((1 - confidence) / 2)
    assert interval.low <= (b - c) / n <= interval.high
    if interval.low > -1:
        assert statistic_by_optimization(interval.low, b, c, n) == pytest.approx(z, rel=1e-4)
    if interval.high < 1:
        assert statistic_by_optimization(interval.high, b, c, n) == pytest.approx(-z, rel=1e-4)


def test_paired_closed_forms():
    """Without discordant trials the limits are ± z² / (n + z²); without any, ±1."""
    z = norm.isf(0.025)
    interval = paired_interval([[30, 0], [0, 70]])
    assert interval.high == pytest.approx(z**2 / (100 + z**2), rel=1e-10)
    assert interval.low == pytest.approx(-interval.high, rel=1e-10)
    assert paired_interval([[0, 0], [0, 0]]) == ConfidenceInterval(-1.0, 1.0)
    assert paired_interval([[0, 9], [0, 0]]).high == 1.0


def test_paired_example_of_the_literature():
    """The airway example of Fagerland, Lydersen and Laake (1, 1, 7, 12): (-0.517, -0.026)."""
    interval = paired_interval([[1, 1], [7, 12]])
    assert (round(interval.low, 3), round(interval.high, 3)) == (-0.517, -0.026)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_paired_limits_are_monotone(confidence):
    """For every table up to n = 14, more b never lowers and more c never raises a limit."""
    for n in range(1, 15):
        low = {
            (b, c): paired_interval([[n - b - c, b], [c, 0]], confidence=confidence).low
            for b in range(n + 1)
            for c in range(n + 1 - b)
        }
        for (b, c), value in low.items():
            assert low.get((b + 1, c), 1) >= value - 1e-9
            assert low.get((b, c + 1), -1) <= value + 1e-9


def completions(table):
    """All complete 2×2 tables that a 3×3 table with undetermined outcomes may stand for."""
    fixed = np.array(table)[:2, :2]
    sets = {
        (0, 2): [(0, 0), (0, 1)],
        (1, 2): [(1, 0), (1, 1)],
        (2, 0): [(0, 0), (1, 0)],
        (2, 1): [(0, 1), (1, 1)],
        (2, 2): [(0, 0), (0, 1), (1, 0), (1, 1)],
    }
    options = [cells for key, cells in sets.items() for _ in range(table[key[0]][key[1]])]
    for choice in product(*options):
        complete = fixed.copy()
        for cell in choice:
            complete[cell] += 1
        yield complete


@given(st.lists(st.integers(0, 6), min_size=4, max_size=4), st.data())
@settings(max_examples=many(40), deadline=None)
def test_paired_undetermined_contain_every_completion(known, data):
    """The interval is the hull of the intervals of all completed tables."""
    unknown = data.draw(st.lists(st.integers(0, 1), min_size=5, max_size=5))
    a, b, c, d = known
    table = [[a, b, unknown[0]], [c, d, unknown[1]], [unknown[2], unknown[3], unknown[4]]]
    found = paired_interval(table)
    settled = [paired_interval(t) for t in completions(table)]
    assert found.low == pytest.approx(min(s.low for s in settled), abs=1e-9)
    assert found.high == pytest.approx(max(s.high for s in settled), abs=1e-9)


def test_paired_coverage_by_enumeration():
    """Over all tables of 25 trials, coverage is near 95 % for every true value."""
    n = 25
    inside, coverages = {}, []
    tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    for b, c in tables:
        inside[b, c] = paired_interval([[n - b - c, b], [c, 0]])
    assert len(tables) == comb(n + 2, 2)
    for p, q in product((0.05, 0.15, 0.3, 0.45), repeat=2):
        law = multinomial(n, [p, q, 1 - p - q])
        weights = law.pmf([(b, c, n - b - c) for b, c in tables])
        coverages.append(sum(w for w, t in zip(weights, tables, strict=True) if p - q in inside[t]))
    assert min(coverages) > 0.93
    assert 0.945 < np.mean(coverages) < 0.97


def test_paired_is_shorter_than_two_separate_intervals():
    """If outcomes on common instances mostly agree, the paired interval is far shorter."""
    paired = paired_interval([[600, 40], [20, 340]])
    first, second = proportion_interval(640, 360), proportion_interval(620, 380)
    assert paired.half_width < 0.4 * (first.half_width + second.half_width)


def test_paired_tables_of_outcomes():
    """Outcomes are counted in pairs; unequal lengths, texts and bad tables are refused."""
    first = [True, True, False, None, None, np.True_]
    second = [True, False, None, None, False, np.False_]
    assert paired_table(first, second).tolist() == [[1, 2, 0], [0, 0, 1], [0, 1, 1]]
    refuses("1 outcomes and `second` 2", paired_table, [True], [True, False])
    refuses("outcome 'yes'", paired_table, ["yes"], [True])
    refuses(r"shape \(2, 3\)", paired_interval, [[1, 2, 3], [1, 2, 3]])
    refuses(r"`table\[1\]\[0\]` \(-3\)", paired_interval, [[1, 2], [-3, 4]])


def test_half_width_of_the_band():
    """For the half-width ε, 2 exp(-2 n ε²) is one minus the confidence (Massart)."""
    for n, level in ((10, 0.5), (1000, 0.95), (77, 0.999)):
        width = band_half_width(n, level)
        assert math.isclose(2 * math.exp(-2 * n * width**2), 1 - level)
    assert band_half_width(1, 0.999) == 1
    assert band_half_width(0) == 1


def test_the_whole_function_is_covered():
    """For a law with jumps and an atom at infinity the band covers at the stated level."""
    rng = np.random.default_rng(7)
    n, level, missed, rounds = 60, 0.8, 0, 1500
    width = band_half_width(n, level)
    # τ = 1 … 6 with probability 0.15 each, otherwise infinite.
    true = 0.15 * np.arange(1, 7)
    for _ in range(rounds):
        drawn = rng.integers(1, 21, n)
        shares = np.array([(drawn <= 3 * k).mean() for k in range(1, 7)])
        missed += np.abs(shares - true).max() > width
    # Five standard errors of a share of 0.2 above it.
    assert missed / rounds <= 0.2 + 5 * math.sqrt(0.16 / rounds)


def test_open_trials_move_only_one_end():
    """Undetermined trials count below as unmatched, above as matched."""
    closed, open_ = band_at(30, 70), band_at(30, 60, 10)
    assert open_.low == closed.low
    assert math.isclose(open_.high - closed.high, 0.1)
    assert band_at(0, 0).low == 0


@pytest.mark.parametrize("level", [0, 1, -1, "a"])
def test_levels_are_checked(level):
    """A confidence lies between 0 and 1."""
    refuses("confidence", band_half_width, 10, level)
