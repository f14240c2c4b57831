"""Successive halving: the better allocation wins, and claims are correct."""

import numpy as np

from matchprob import Estimate, InstanceCount, LinearRNN, Problem
from numeric.studies.racing import _advantage, successive_halving
from tests.refusals import refuses
from tests.samples import LONG, NET

# B.1.1: a maximal row, the off-diagonal (about 0.85), the diagonal (about 0.7).
ROW, OFF, DIAGONAL = (
    Problem(NET, {"W": mask}) for mask in ([[1, 1], [0, 0]], [[0, 1], [1, 0]], [[1, 0], [0, 1]])
)


def test_the_best_wins_and_the_rest_is_beaten():
    """A maximal allocation wins against two intermediate ones, which match less often."""
    race = successive_halving([DIAGONAL, ROW, OFF], first=64, most=1024)
    assert race.winner == 1
    assert race.is_settled
    assert race.entrants[1].interval.high == 1.0
    assert race.ranking()[0] == 1
    assert all(race.entrants[k].advantage.low > 0.5 for k in (0, 2))
    assert race.trials == sum(e.estimate.trials for e in race.entrants)


def test_equal_allocations_are_not_distinguished():
    """An allocation against itself: no claim, and all trials are used."""
    race = successive_halving([OFF, OFF], first=16, most=64)
    assert not race.is_settled
    assert [e.estimate.trials for e in race.entrants] == [64, 64]
    assert "0 of 1 other allocation" in str(race)


def test_halving_spends_on_the_better_half():
    """After the first round at most half continue, at least two."""
    race = successive_halving([OFF, DIAGONAL, OFF, DIAGONAL], first=16, most=32)
    assert sorted(e.rounds for e in race.entrants)[:2] == [1, 1]
    assert {e.estimate.trials for e in race.entrants} <= {16, 32}


def counts(outcomes):
    made = {
        "m": {"real": 1, "complex": 1, "status": "complete"},
        "u": {"real": 0, "complex": 2, "status": "complete"},
        "?": {"real": 0, "complex": None, "status": "undetermined"},
    }
    return tuple(InstanceCount(index=k, **made[c]) for k, c in enumerate(outcomes))


def estimate(outcomes):
    return Estimate(OFF, "homotopy", 0, counts(outcomes), len(outcomes))


def test_undetermined_trials_weaken_the_comparison():
    """A pair that is not decided never helps either side."""
    sure = _advantage(estimate("m" * 40), estimate("u" * 40), 0.95)
    assert sure.low > 0.5
    open_pairs = _advantage(estimate("m" * 40 + "?" * 60), estimate("u" * 40 + "m" * 60), 0.95)
    assert open_pairs.low < sure.low
    assert open_pairs.low < 0.5 < open_pairs.high


def test_the_advantage_holds_at_every_moment():
    """In few of many races of equal allocations the first is ever called better, at any look."""
    rng = np.random.default_rng(0)
    wrong = 0
    races = 200 if LONG else 60
    for _ in range(races):
        flips = rng.random(256) < 0.5
        for n in (16, 32, 64, 128, 256):
            one = estimate("".join("m" if f else "u" for f in flips[:n]))
            two = estimate("".join("u" if f else "m" for f in flips[:n]))
            if _advantage(one, two, 0.95).low > 0.5:
                wrong += 1
                break
    assert wrong <= races / 20


def test_bad_arguments():
    """No allocations, several networks, or a bad confidence are refused."""
    other = Problem(LinearRNN(n=2, T=2, b=1, d=1, m=1), {"W": [[1, 0], [0, 0]]})
    refuses("is empty", successive_halving, [])
    refuses("different networks", successive_halving, [ROW, other])
    refuses("between 0 and 1", successive_halving, [ROW], confidence=1.0)
