"""Limits of large networks by NumPy alone, and those of `estimate --limit`."""

from pathlib import Path

import numpy as np
import pytest

import matchprob as mp
from benchmarks.large_network_limits import CASES
from matchprob.plugins.papers.figures.tables import read_table
from numeric.trials.instances import draw_instances, teacher_of
from tests.algebra.systems.test_growth import large
from tests.samples import many

ROOT = Path(__file__).parents[2]
KEPT = {row["cells"]: row for row in read_table(ROOT / "benchmarks" / "large_network_limits.csv")}
# The cells, and the units by which the script numbers P and Q.
FIVE = {
    "2 loops, T = 2": (((0, 0), (1, 1)), (0, 1), (0, 1)),
    "loop and cell, T = 2": (((0, 0), (1, 2)), (0, 1), (0, 2)),
    "diagonal of 3, T = 3": (((0, 0), (1, 1), (2, 2)), (0, 1, 2), (0, 1, 2)),
    "3 disjoint cells, T = 3": (((0, 1), (2, 3), (4, 5)), (0, 2, 4), (1, 3, 5)),
    "3-cycle, T = 3": (((0, 1), (1, 2), (2, 0)), (0, 1, 2), (0, 1, 2)),
}


def columns(instances, name):
    return np.array([own.weights[name].ravel() for own in instances]).T


def in_order(name, part, trials):
    """The first trials' numbers in the order in which the script asks for normal ones."""
    net, instances = part.network, draw_instances(part, 0, range(trials))
    _, heads, tails = FIVE[name]
    D = columns(instances, "D").reshape(net.T, len(net.heads), trials)
    B = columns(instances, "B").reshape(net.T, len(net.tails), trials)
    G = columns(instances, "G").reshape(net.T - 1, len(net.heads), len(net.tails), trials)
    P, Q = D[:, [net.heads.index(i) for i in heads]], B[:, [net.tails.index(j) for j in tails]]
    # e_j^T W e_i at [i, j].
    between = G[0][[net.heads.index(i) for i in heads]][:, [net.tails.index(j) for j in tails]]
    taught = np.array([teacher_of(own)[1]["H"].ravel() for own in instances]).T
    y = (taught - columns(instances, "H")) / 2**0.5
    if name.startswith("2 loops"):
        return [P[0, 0], Q[0, 0], P[0, 1], Q[0, 1]]
    if name.startswith("loop"):
        return [np.array([P[0, 0], Q[0, 0], P[0, 1], P[1, 1], Q[0, 1], Q[1, 1], *y])]
    if name.startswith("diagonal"):
        return [P[0], Q[0]]
    rows = np.array([P[0], Q[0], P[1], Q[1], P[2], Q[2]])
    if name.startswith("3-cycle"):
        return [rows, np.array([between[a, (a + 1) % 3] for a in range(3)]), y]
    return [rows, y, between.swapaxes(0, 1)]


@pytest.mark.parametrize("name", FIVE)
def test_trials_are_those_of_the_script(name):
    """On the same numbers the equations written by hand have real solutions in the same trials."""
    problem, trials = large(FIVE[name][0], len(FIVE[name][0])), many(40)
    found = mp.estimate(problem, trials, limit=True)
    assert found.undetermined == 0
    given = in_order(name, found.systems[0], trials)
    asked = []

    def normal(*shape):
        asked.append(shape)
        assert given[len(asked) - 1].shape == shape
        return given[len(asked) - 1]

    decided = CASES[name](normal, trials)
    assert decided.tolist() == [bool(count.real) for count in found.counts]
    assert len(asked) == len(given)


@pytest.mark.parametrize("name", CASES)
def test_kept_limits_are_those_of_the_script(name):
    """The kept values are found again with other draws, within 4 standard errors."""
    rng, draws = np.random.default_rng(1), many(1_000)
    found = CASES[name](lambda *shape: rng.standard_normal(shape), draws).mean()
    p = KEPT[name]["mp"]
    assert abs(found - p) <= 4 * (p * (1 - p) / draws) ** 0.5 + KEPT[name]["half_width"]


@pytest.mark.long
@pytest.mark.parametrize("name", FIVE)
def test_limits_are_those_of_the_script(name):
    """The limit of 100,000 draws by NumPy is inside the interval of `estimate --limit`."""
    problem = large(FIVE[name][0], len(FIVE[name][0]))
    found = mp.estimate(problem, 2_000, seed=1, limit=True)
    interval, kept = found.interval(), KEPT[name]
    assert found.undetermined == 0
    assert interval.low - kept["half_width"] <= kept["mp"] <= interval.high + kept["half_width"]


def test_kept_tables_have_these_limits():
    """The limits in the tables of the page, by `reproduce`, are within the intervals."""
    names = {"3 disjoint cells": "3 disjoint cells, T = 3", "3-cycle": "3-cycle, T = 3"}
    rows = read_table(ROOT / "docs" / "figures" / "large-networks-curves.csv")
    limits = {row["curve"]: row for row in rows if row["n"] == 0}
    for curve, name in names.items():
        row = limits[curve]
        assert row["trials"] >= 2_000
        assert row["low"] <= KEPT[name]["mp"] <= row["high"]
    halves = {"2 loops": "2 loops, T = 2", "loop, and a cell": "loop and cell, T = 2",
              "diagonal of 3": "diagonal of 3, T = 3"}  # fmt: skip
    for curve, name in halves.items():
        assert limits[curve]["mp"] == 0.5
        assert abs(KEPT[name]["mp"] - 0.5) <= KEPT[name]["half_width"]
