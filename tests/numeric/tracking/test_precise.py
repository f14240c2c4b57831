"""Paths finished in high precision have the endpoints of the tracker in doubles."""

import math

import numpy as np
import pytest
from flint import acb, ctx

from numeric.tracking.precise import _USED, ORDER, _Fraction, finish_chain_path
from numeric.tracking.tracker import DONE, TrackerSettings, track
from tests.numeric.equations.cases import chains

CHAINS = chains()


def middle(chain, t):
    """A line of parameters, and the path from its start tracked to t."""
    first, start = chain.random(np.random.default_rng(5))
    second, _ = chain.random(np.random.default_rng(6))
    zero = np.zeros(1, np.int64)
    there = (1 - t) * first + t * second
    found = track(
        chain, first[None], there[None], zero, zero, start[None], TrackerSettings(lifted=True)
    )
    assert found.status[0] == DONE
    return first, second, start, found


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_a_path_finished_in_high_precision(chain):
    """From t = 0.7 it reaches the endpoint of the path in doubles; the precision is restored."""
    first, second, start, found = middle(chain, 0.7)
    zero = np.zeros(1, np.int64)
    whole = track(chain, first[None], second[None], zero, zero, start[None])
    assert whole.status[0] == DONE
    before = ctx.prec
    end = finish_chain_path(chain, first, second, 0.7, found.roots[0], found.lifts[0])
    assert ctx.prec == before
    assert end is not None
    assert np.allclose(end, whole.roots[0], rtol=1e-8, atol=1e-8)


def test_the_lifted_tracker_returns_states():
    """A lifted path returns all states S_0, …, S_K; one in the weights returns none."""
    chain = CHAINS[0]
    first, second, _, found = middle(chain, 0.5)
    assert len(found.lifts[0]) == (chain.widths * chain.columns).sum()
    condensed = track(
        chain, first[None], second[None], np.zeros(1, int), np.zeros(1, int), found.roots
    )
    assert condensed.lifts.shape == (1, 0)


def test_a_point_off_the_path_of_weights_is_refused():
    """From weights that do not solve the equations no path is tracked."""
    chain = CHAINS[0]
    first, second, _, found = middle(chain, 0.5)
    bad = found.roots[0] * 1e6
    assert finish_chain_path(chain, first, second, 0.5, bad, found.lifts[0] * 1e-6) is None


def test_fractions_reach_beyond_a_pole():
    """From coefficients of (1 - h/p)⁻¹ … (1 - h/p)⁻⁶ the values behind the pole p follow."""
    saved, p = ctx.prec, 3 + 1j
    try:
        ctx.prec = 256
        series = [
            [acb(math.comb(k + power - 1, k)) / acb(p) ** k for power in range(1, 7)]
            for k in range(ORDER + 1)
        ]
        last = np.array([[complex(z) for z in terms] for terms in series[-_USED:]])
        found = _Fraction.of(series, last, 0.5)
        assert found.reach > 0.5 * 2.2
        for h in (0.5, 2.5, 3.5):
            truth = [1 / (1 - h / p) ** power for power in range(1, 7)]
            assert np.allclose([complex(z) for z in found.at(0.5 * h)], truth, rtol=1e-6)
    finally:
        ctx.prec = saved
