"""Whether matches are the teacher's function: against the errors of solved trials."""

import numpy as np
import pytest

import matchprob as mp
from algebra.problems.laws.distribution import Distribution
from algebra.ranks.generalization import matches_generalize, on_a_basis, some_match_differs


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


@pytest.mark.parametrize("problem", [rnn(1, ONE), rnn(2, EYE)])
def test_the_shares_of_an_estimate(problem):
    """`estimate` says the trials in which some and in which every match is the function."""
    found = mp.estimate(problem, trials=20)
    data = found.to_dict()["teachers_function"]
    for one in (data["some"], data["every"]):
        assert one["matched"] == (found.matched if matches_generalize(problem) else 0)
        assert one["matched"] + one["unmatched"] + one["undetermined"] == 20
        assert one["undetermined"] <= found.undetermined
        assert 0 <= one["low"] <= one["high"] <= 1


def roots_of(problem, index):
    """Students W, B of n = T = 1 … with the labels of an instance: by the roots of one polynomial.

    Labels are c Σ_t w^(T - t) x_t with c = D B: two samples leave one equation in w.
    """
    one = mp.draw_instance(problem, 0, index)
    X, Y = one.X, one.labels[0]
    return np.roots(Y[1] * X[:, 0] - Y[0] * X[:, 1]), one


@pytest.mark.parametrize("T", [3, 4, 5])
def test_some_and_every_differ(T):
    """Against the real roots of the polynomial that eliminates B: the teacher's root and others."""
    net = mp.LinearRNN(n=1, T=T, b=1, d=1, m=2)
    problem = mp.Problem(net, {"W": [[1]], "B": [[1]]})
    assert matches_generalize(problem) is None
    assert not some_match_differs(problem)
    found = mp.estimate(problem, trials=20, complete=True)
    expected = {"some": 0, "every": 0}
    for count in found.counts:
        w, one = roots_of(problem, count.index)
        real = w[abs(w.imag) < 1e-9].real
        assert count.real == len(real)
        is_teacher = np.isclose(real, one.teacher["W"][0, 0])
        expected["some"] += bool(is_teacher.any())
        expected["every"] += bool(is_teacher.all())
    shares = found.teachers_function()
    assert {name: share["matched"] for name, share in shares.items()} == expected
    assert not any(share["undetermined"] for share in shares.values())
    assert expected["some"] == 20
    # Of an even number of real roots one is the teacher's: with T = 3 or 5 there is another.
    assert (expected["every"] > 0) == (T == 4)


def test_families_of_matches():
    """More weights than labels: some match is the function, and never every one, by ranks."""
    problem = rnn(1, ALL)
    assert some_match_differs(problem)
    assert on_a_basis(problem).network.m == 2
    shares = mp.estimate(problem, trials=20).teachers_function()
    assert (shares["some"]["matched"], shares["every"]["unmatched"]) == (20, 20)


def test_constraints_on_the_function():
    """The teacher's function may need weights outside their bounds where another match does not."""
    net = mp.LinearRNN(n=1, T=3, b=1, d=1, m=2)
    problem = mp.Problem(
        net, {"W": [[1]], "B": [[1]]}, constraints=mp.Constraints(max_abs={"B": 1.0})
    )
    found = mp.estimate(problem, trials=40)
    some = every = 0
    for count in found.counts:
        w, one = roots_of(problem, count.index)
        c = one.labels[0, 0] / np.array([one.X[:, 0] @ v ** np.arange(3, 0, -1) for v in w])
        inside = abs(c / one.weights["D"][0, 0]) <= 1
        assert (count.outcome == "matched") == bool(inside.any())
        teacher = np.isclose(w, one.teacher["W"][0, 0])
        some += bool((inside & teacher).any())
        every += bool(inside.any() and (teacher | ~inside).all())
    shares = found.teachers_function()
    assert shares["some"]["matched"] == some
    assert 0 < every < some < found.matched
    low = shares["every"]["matched"]
    assert low <= every <= low + shares["every"]["undetermined"]


def test_an_interrupt_ends_the_count():
    """After an interrupted estimate no trial is counted again with more samples."""

    def stop(count):
        if count.index == 4:
            raise KeyboardInterrupt

    problem = rnn(1, ALL)
    assert mp.estimate(problem, 8).functions
    found = mp.estimate(problem, 8, advance=stop)
    assert 0 < found.trials < 8
    assert found.functions == ()
    undetermined = found.teachers_function()["some"]["undetermined"]
    assert undetermined == found.trials - found.unmatched
