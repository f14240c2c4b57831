"""Whether matches are the teacher's function: against the errors of solved trials."""

import numpy as np
import pytest

import matchprob as mp
from algebra.problems.laws.distribution import Distribution
from algebra.ranks.generalization import matches_generalize


def rnn(m, mask, **more):
    return mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=m), {"W": mask}, **more)


ALL, ONE, EYE = np.ones((2, 2), int), [[1, 0], [0, 0]], [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("problem", "known"),
    [
        (rnn(1, ONE), False),
        (rnn(2, EYE), True),
        (rnn(3, ALL), True),
        # One sample, but enough weights for all functions: some matches are, others are not.
        (rnn(1, ALL), None),
        (mp.Problem(mp.LinearEstimator(q=3, d=1, m=2), {"W": [[1, 0, 1]]}), False),
        (
            mp.Problem(
                mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh"), {"W2": [[1, 1]]}
            ),
            False,
        ),
        (mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W2": [[1, 1]]}), None),
        (rnn(2, EYE, distribution=Distribution(labels="normal")), None),
        (rnn(2, EYE, distribution=Distribution(weights="rademacher")), None),
    ],
)
def test_known_cases(problem, known):
    """True with a basis among the samples, False if more samples are out of reach, else None."""
    assert matches_generalize(problem) is known


@pytest.mark.parametrize("problem", [rnn(1, ONE), rnn(2, EYE)])
def test_errors_agree(problem):
    """The errors of matches are all 0 if they are the teacher's function, and none is 0 if not."""
    found = mp.profile(problem, by="error", bounds=[1.0], trials=40).profiles[0].thresholds
    errors = [t for t in found if np.isfinite(t.high)]
    assert errors
    for one in errors:
        assert one.high == 0 if matches_generalize(problem) else one.low > 0


@pytest.mark.parametrize("problem", [rnn(1, ONE), rnn(2, EYE), rnn(1, ALL)])
def test_the_shares_of_an_estimate(problem):
    """`estimate` says the trials in which some and in which every match is the function."""
    found = mp.estimate(problem, trials=20)
    data = found.to_dict()["teachers_function"]
    known = matches_generalize(problem)
    for one in (data["some"], data["every"]):
        assert one["matched"] == (found.matched if known else 0)
        assert one["matched"] + one["unmatched"] + one["undetermined"] == 20
        open_ = found.matched + found.undetermined
        assert one["undetermined"] == (open_ if known is None else 0)
        assert 0 <= one["low"] <= one["high"] <= 1
