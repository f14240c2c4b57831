"""Paths finished in high precision end where the ordinary tracker's do."""

from __future__ import annotations

import numpy as np
import pytest
from flint import ctx

from numeric.chains.table import chain_table
from numeric.tracking.precise import finish_chain_path
from numeric.tracking.tracker import DONE, TrackerSettings, track
from tests.numeric.chains.cases import chains

CHAINS = chains()


def middle(chain, t):
    """A line of parameters, and the root at t on the way from its start."""
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
def test_the_rest_of_an_ordinary_path(chain):
    """From t = 0.7 on it reaches the endpoint of the whole path."""
    first, second, start, found = middle(chain, 0.7)
    zero = np.zeros(1, np.int64)
    whole = track(chain, first[None], second[None], zero, zero, start[None])
    assert whole.status[0] == DONE
    before = ctx.prec
    end = finish_chain_path(chain, first, second, 0.7, found.roots[0], found.lifts[0])
    assert ctx.prec == before
    assert end is not None
    assert np.allclose(end, whole.roots[0], rtol=1e-8, atol=1e-8)


def test_states_are_those_of_the_weights():
    """The lifted tracker returns a lifted point: S_k = M_k S_{k-1}."""
    chain = CHAINS[0]
    first, second, _, found = middle(chain, 0.5)
    s_at = chain_table(chain).s_at
    assert len(found.lifts[0]) == s_at[-1] - s_at[1]
    condensed = track(
        chain, first[None], second[None], np.zeros(1, int), np.zeros(1, int), found.roots
    )
    assert condensed.lifts.shape == (1, 0)


def test_a_point_off_the_path_is_refused():
    """From weights that do not solve the equations no path is followed."""
    chain = CHAINS[0]
    first, second, _, found = middle(chain, 0.5)
    bad = found.roots[0] * 1e6
    assert finish_chain_path(chain, first, second, 0.5, bad, found.lifts[0] * 1e-6) is None
