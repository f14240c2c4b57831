"""Kendall's τ and ordered pairs, against SciPy and simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, kendalltau

from numeric.plugins.papers.principles.correlation import (
    ordered_pairs,
    rank_correlation,
    replicates,
    tau_b,
)
from tests.samples import LONG

SMALL = st.integers(0, 4)


@given(st.lists(st.tuples(SMALL, SMALL, st.integers(0, 3)), min_size=2, max_size=9))
def test_tau_of_copies_is_that_of_scipy(points):
    """Weights are copies of points: τ_b equals SciPy's on the repeated points."""
    x, y, w = (np.array(v) for v in zip(*points, strict=True))
    if w.sum() < 2:
        return
    expected = kendalltau(np.repeat(x, w), np.repeat(y, w)).statistic
    assert tau_b(x, y, w) == pytest.approx(expected, nan_ok=True)


def test_numbers_longer_than_doubles_are_compared_exactly():
    """Two counts of patterns that differ in the last of 60 digits have an order."""
    outcomes = [[False] * 8 + [True] * k for k in (1, 2, 3)]
    outcomes = [o + [False] * (11 - len(o)) for o in outcomes]
    found = rank_correlation("patterns", [10**60, 10**60 + 1, 10**60 + 2], replicates(outcomes))
    assert found.value == 1


def test_constant_numbers_and_unknown_ones_have_no_tau():
    """A predictor that is the same for all, or known of one class only, says nothing."""
    outcomes = [[True, False], [True, True], [False, False]]
    drawn = replicates(outcomes)
    assert rank_correlation("rows", [2, 2, 2], drawn).value is None
    assert rank_correlation("N", [2, None, None], drawn).value is None
    assert rank_correlation("N", [2, None, 4], drawn).classes == 2
    assert rank_correlation("N", [], replicates([])).value is None


def test_interval_covers_tau_of_many_trials():
    """The interval from 100 trials contains τ of the true probabilities in most of the runs."""
    p = np.linspace(0.2, 0.9, 8)
    x = [1, 1, 2, 1, 2, 3, 2, 3]
    truth = kendalltau(x, p).statistic
    rng = np.random.default_rng(1)
    covered = 0
    runs = 20 if LONG else 8
    for k in range(runs):
        outcomes = [(rng.random(100) < q).tolist() for q in p]
        found = rank_correlation("rows", x, replicates(outcomes, k))
        assert found.low <= found.value <= found.high
        covered += found.low <= truth <= found.high
    assert covered >= 0.85 * runs


def test_ordered_pairs_by_the_exact_test_with_holms_correction():
    """p-values are those of the binomial test of discordant trials, corrected in their order."""
    rng = np.random.default_rng(3)
    outcomes = [(rng.random(60) < q).tolist() for q in (0.2, 0.5, 0.9, 0.9)]
    raw = {}
    for a in range(4):
        for b in range(a + 1, 4):
            wins = sum(x and not y for x, y in zip(outcomes[a], outcomes[b], strict=True))
            losses = sum(y and not x for x, y in zip(outcomes[a], outcomes[b], strict=True))
            raw[a, b] = binomtest(wins, wins + losses).pvalue
    order = sorted(raw, key=raw.get)
    adjusted, top = {}, 0.0
    for k, pair in enumerate(order):
        top = max(top, min(1.0, (6 - k) * raw[pair]))
        adjusted[pair] = top
    found = {tuple(sorted((p.better, p.worse))): p for p in ordered_pairs(outcomes)}
    assert set(found) == {pair for pair, p in adjusted.items() if p <= 0.05}
    for pair, one in found.items():
        assert one.p_value == pytest.approx(adjusted[pair])
        assert one.better > one.worse
        assert one.low <= one.difference <= one.high


def test_equal_classes_are_rarely_ordered():
    """Of 100 families of six classes with one probability at most a few have an ordered pair."""
    rng = np.random.default_rng(5)
    wrong = sum(bool(ordered_pairs((rng.random((6, 80)) < 0.7).tolist())) for _ in range(100))
    assert wrong <= 9


def test_undetermined_trials_count_against_every_claim():
    """A difference that undetermined trials could undo is not claimed, whichever they are."""
    assert ordered_pairs([[True] * 12, [False] * 12])
    assert not ordered_pairs([[True] * 12 + [None] * 12, [False] * 12 + [True] * 12])
    assert not ordered_pairs([[True] * 12, [None] * 12])
