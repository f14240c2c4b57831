"""Audits and atlases as Python functions."""

import pytest

import matchprob as mp
from algebra.networks.large import LimitNetwork
from tests.refusals import refuses

NET = mp.LinearRNN(n=3, T=2, b=2, d=2, m=2)


def test_count_is_distributed_over_matrices():
    """The numbers checked add up to `count`; of a small matrix every allocation is checked."""
    found = mp.audit(NET, count=60)
    assert sum(a.checked for a in found) == 60
    assert {a.matrix: a.checked for a in found} == {"D": 15, "W": 30, "B": 15}
    everything = mp.audit(NET, count=10_000)
    assert {a.matrix: a.checked for a in everything} == {"D": 15, "W": 126, "B": 15}
    data = found.to_dict()
    assert (data["checked"], data["seed"]) == (60, 0)
    assert data["agree"] + data["silent"] <= sum(t.checked for a in found for t in a.theorems)


@pytest.mark.parametrize("count", [0, -1, 2.5, True])
def test_audit_refuses_impossible_counts(count):
    """`count` must be a positive integer."""
    refuses("`count`", mp.audit, NET, count=count)


def test_audit_refuses_unknown_matrices_and_large_budgets():
    """The message names the unknown matrix, or says that no matrix has `budget` weights."""
    refuses("no matrix `V`", mp.audit, NET, matrices=["V"], count=5)
    refuses("has 30 weights", mp.audit, NET, budget=30)


def test_atlas_takes_networks_and_problems():
    """A network and a problem without allocation have the same atlas; a support has fewer cells."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    found = mp.atlas(net, 2)
    assert found.totals == mp.atlas(mp.Problem(net, {}), 2).totals
    assert sum(e.orbit for e in found.entries) == 6
    sparse = mp.Problem(net, {}, support={"W": [[1, 1], [0, 1]]})
    assert sum(e.orbit for e in mp.atlas(sparse, 2).entries) == 3
    transposed = mp.atlas(net, 2, transposition=True)
    assert transposed.orbits < found.orbits
    assert transposed.totals == found.totals


def test_an_atlas_with_probabilities(tmp_path):
    """Certified entries have no trials; the others those of `estimate`; the largest MP is first."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    problem = mp.Problem(net, {}, distribution=mp.Distribution(weights="uniform"))
    store = tmp_path / "atlas.json"
    found = mp.atlas(problem, 2, trials=40, seed=3, store=store)
    assert [entry.outcomes is None for entry in found.entries] == [True, True, False, False]
    for entry in found.entries[2:]:
        masks = {"W": [[0, 0], [0, 0]]}
        for name, i, j in entry.cells:
            masks[name][i][j] = 1
        alone = mp.estimate(
            mp.Problem(net, masks, distribution=problem.distribution), 40, seed=3, certify=False
        )
        assert entry.outcomes == (alone.matched, alone.unmatched, alone.undetermined)
        assert found.interval(entry) == alone.interval()
    values = found.columns()["match_probability"]
    assert values[:2] == [1.0, 1.0]
    assert values == sorted(values, reverse=True)
    assert "MP" in str(found)
    assert mp.atlas(problem, 2, trials=40, seed=3, store=store).to_dict() == found.to_dict()
    refuses("another atlas", mp.atlas, problem, 2, trials=41, seed=3, store=store)
    assert next(e["interval"] for e in found.to_dict()["entries"]) == [1.0, 1.0]


def test_an_atlas_of_the_limit(tmp_path):
    """Of two cells, T = 2, all digraphs tend to 1 but two loops, and a loop and a disjoint cell."""
    net, store = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), tmp_path / "atlas.json"
    found = mp.atlas(net, 2, limit=True, trials=150, store=store)
    assert found.orbits == 9
    assert sum(entry.orbit for entry in found.entries) == 4 * 30
    below = {entry.cells: found.interval(entry) for entry in found.entries[7:]}
    assert below.keys() == {(("W", 0, 0), ("W", 1, 1)), (("W", 0, 0), ("W", 1, 2))}
    assert all(0.3 < own.low < 0.5 < own.high < 0.7 for own in below.values())
    assert {entry.verdict for entry in found.entries[:7]} == {"maximal"}
    assert found.to_dict()["limit"] is True
    assert "n → ∞" in str(found)
    refuses("another atlas", mp.atlas, mp.LinearRNN(n=4, T=2, b=1, d=1, m=2), 2, store=store)
    limit = LimitNetwork(cells=[[0, 1], [2, 3]], T=2, b=1, d=1, m=2)
    again = mp.atlas(mp.Problem(limit, {"W": "all"}), limit=True, trials=150)
    assert again.entries == found.entries


def test_an_atlas_of_the_limit_needs_its_premises():
    """Other kinds, other laws and millions of digraphs are refused."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    refuses("at most 4 cells", mp.atlas, net, 5, limit=True)
    refuses("kind lrnn", mp.atlas, mp.LinearEstimator(q=2, d=1, m=2), 1, limit=True)
    other = mp.Problem(net, {}, distribution=mp.Distribution(weights="uniform"))
    refuses("another law", mp.atlas, other, 2, limit=True)


def test_trials_of_an_atlas_need_equal_weights():
    """Measured weights differ by place, and an atlas counts allocations as one by symmetry."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    measured = mp.Problem(net, {}, values={"B": [[1], [2]], "jitter": "1/10"})
    refuses("remove \\[values\\]", mp.atlas, measured, 2, trials=5)
    refuses("`confidence` goes with `trials`", mp.atlas, net, 2, confidence=0.9)
    refuses("`confidence`", mp.atlas, net, 2, trials=5, confidence=2.0)
