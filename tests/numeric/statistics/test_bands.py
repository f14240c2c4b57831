"""The band of Dvoretzky, Kiefer, Wolfowitz and Massart."""

import math

import numpy as np
import pytest

from numeric.statistics.bands import band_at, band_half_width
from tests.refusals import refuses


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
