"""Tracked endpoints: residuals, reverse paths, other settings and other batches."""

import numpy as np
import pytest

from algebra.problems.allocation import Allocation
from numeric.equations.chain import make_chain
from numeric.tracking.tracker import DONE, STUCK, TrackerSettings, track
from tests.numeric.equations.cases import chains, residual_at
from tests.samples import NET

CHAINS = chains()


def ends(chain, lines, settings=None):
    """Track one path on each of several random lines."""
    first, start = chain.random(np.random.default_rng(1))
    second = np.array([chain.random(np.random.default_rng(100 + k))[0] for k in range(lines)])
    zero = np.zeros(lines, np.int64)
    starts = np.repeat(start[None], lines, axis=0)
    tracked = track(chain, first[None], second, zero, np.arange(lines), starts, settings)
    return first, second, start, tracked


@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_endpoints_are_roots(chain, lifted):
    """Every path that is done ends in a root of the target equations."""
    _, second, _, tracked = ends(chain, 20, TrackerSettings(lifted=lifted))
    assert (tracked.status == DONE).mean() >= 0.9
    for k in np.flatnonzero(tracked.status == DONE):
        size = 1 + np.abs(tracked.roots[k]).max() ** chain.network.m
        assert np.abs(residual_at(chain, second[k], tracked.roots[k])).max() < 1e-6 * size


@pytest.mark.parametrize("chain", CHAINS[::3], ids=lambda c: str(c.allocation))
def test_the_reverse_path_ends_at_the_start(chain):
    """A path tracked forwards and backwards ends at its start."""
    first, second, start, there = ends(chain, 20)
    good = np.flatnonzero(there.status == DONE)
    zero = np.zeros(len(good), np.int64)
    back = track(chain, second, first[None], good, zero, there.roots[good])
    assert (back.status == DONE).all()
    assert np.allclose(back.roots, start[None], atol=1e-6)


def test_condensed_and_lifted_paths_agree():
    """Both ways to solve the Newton system follow the same path."""
    chain = CHAINS[9]
    _, _, _, condensed = ends(chain, 32)
    _, _, _, lifted = ends(chain, 32, TrackerSettings(lifted=True))
    both = (condensed.status == DONE) & (lifted.status == DONE)
    assert both.sum() >= 28
    assert np.allclose(condensed.roots[both], lifted.roots[both], rtol=1e-6, atol=1e-6)


def test_paths_of_a_single_root_are_all_done():
    """With one row of weights N = 1: every path is done and ends in the only root."""
    chain = make_chain(Allocation.from_cells(NET, [("W", 0, 0), ("W", 0, 1)]))
    _, _second, _, tracked = ends(chain, 30)
    assert (tracked.status == DONE).all()
    *_, other = ends(chain, 30, TrackerSettings(order=6, tolerance=1e-6, lifted=True))
    assert np.allclose(tracked.roots, other.roots, rtol=1e-6)


def test_a_path_into_a_double_root_is_stuck_not_done():
    """If real roots meet on a line of real parameters the path ends in STUCK or SLOW."""
    chain = make_chain(Allocation.from_cells(NET, [("W", 0, 0), ("W", 1, 1)]))
    rng = np.random.default_rng(0)
    statuses = []
    for _ in range(40):
        weights = {name: rng.standard_normal(s) for name, s in NET.shapes.items()}
        X = rng.standard_normal((2, 2))
        first = chain.pack(weights, X, NET.forward(weights, X))
        start = np.array([[weights["W"][0, 0], weights["W"][1, 1]]])
        second = chain.pack(weights, X, rng.standard_normal((1, 2)) * 3)
        zero = np.zeros(1, np.int64)
        tracked = track(chain, first[None], second[None], zero, zero, start)
        statuses.append(tracked.status[0])
        if tracked.status[0] == DONE:
            assert np.abs(residual_at(chain, second, tracked.roots[0])).max() < 1e-6
    assert any(s >= STUCK for s in statuses)
    assert any(s == DONE for s in statuses)


def test_tracking_no_paths():
    """An empty batch gives empty results."""
    chain = CHAINS[0]
    first, _ = chain.random(np.random.default_rng(0))
    none = np.zeros(0, np.int64)
    tracked = track(chain, first[None], first[None], none, none, np.zeros((0, 2)))
    assert tracked.roots.shape == (0, 2)


def test_batching_changes_nothing():
    """Paths alone, in reverse order or all together have bitwise equal endpoints."""
    chain = CHAINS[9]
    first, second, start, together = ends(chain, 40)
    zero = np.zeros(1, np.int64)
    for k in (0, 7, 39):
        alone = track(chain, first[None], second[k][None], zero, zero, start[None])
        assert np.array_equal(alone.roots[0], together.roots[k], equal_nan=True)
        assert alone.steps[0] == together.steps[k]
    order = np.arange(40)[::-1].copy()
    backwards = track(
        chain, first[None], second, np.zeros(40, np.int64), order, np.repeat(start[None], 40, 0)
    )
    assert np.array_equal(backwards.roots, together.roots[::-1], equal_nan=True)
