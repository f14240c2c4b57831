"""Audits and atlases as Python functions."""

import pytest

import matchprob as mp

NET = mp.LinearRNN(n=3, T=2, b=2, d=2, m=2)


def test_a_count_is_shared_out():
    """The sum is what was asked for; small matrices are gone through whole."""
    found = mp.audit(NET, count=60)
    assert sum(a.checked for a in found) == 60
    assert {a.matrix: a.checked for a in found} == {"D": 15, "W": 30, "B": 15}
    everything = mp.audit(NET, count=10_000)
    assert {a.matrix: a.checked for a in everything} == {"D": 15, "W": 126, "B": 15}
    data = found.to_dict()
    assert (data["checked"], data["seed"]) == (60, 0)
    assert data["agree"] + data["silent"] <= sum(t.checked for a in found for t in a.theorems)


@pytest.mark.parametrize("count", [0, -1, 2.5, True])
def test_impossible_counts(count):
    """A count is a positive whole number."""
    with pytest.raises(mp.InputError, match="`count`"):
        mp.audit(NET, count=count)


def test_unknown_matrices():
    """A matrix that is not there is named, with those that are."""
    with pytest.raises(mp.InputError, match="no matrix `V`"):
        mp.audit(NET, matrices=["V"], count=5)
    with pytest.raises(mp.InputError, match="has 30 weights"):
        mp.audit(NET, budget=30)


def test_atlas_takes_networks_and_problems():
    """A network and a problem of it have one atlas; a support takes cells away."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    found = mp.atlas(net, 2)
    assert found.totals == mp.atlas(mp.Problem(net, {}), 2).totals
    assert sum(e.orbit for e in found.entries) == 6
    sparse = mp.Problem(net, {}, support={"W": [[1, 1], [0, 1]]})
    assert sum(e.orbit for e in mp.atlas(sparse, 2).entries) == 3
    turned = mp.atlas(net, 2, transposition=True)
    assert turned.orbits < found.orbits
    assert turned.totals == found.totals
