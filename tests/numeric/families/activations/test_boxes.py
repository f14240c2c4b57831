"""Branch and bound over all real weights, compared with closed forms and other searches."""

import numpy as np
import pytest
from scipy import optimize, special

import matchprob as mp
from numeric.families.activations.boxes import BoxSearch, is_decidable
from numeric.trials.instances import draw_instance
from tests.samples import many

_INVERSES = {
    "tanh": (-1, 1, np.arctanh),
    "sigmoid": (0, 1, special.logit),
    "erf": (-1, 1, special.erfinv),
    "softplus": (0, np.inf, lambda z: np.log(np.expm1(z))),
}
RECURRENT = mp.Problem(
    mp.RNN(n=3, T=3, b=1, d=1, m=2, activation="tanh"), {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 0]]}
)


@pytest.mark.parametrize("name", sorted(_INVERSES))
@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.long), 3])
def test_one_unit_has_a_closed_form(name, count):
    """A unit with as many weights as samples: its values are given by the labels, so its match is
    unique, and exists where these are within the bounds of φ."""
    mask = [[1] * count + [0] * (3 - count), [0] * 3, [0] * 3]
    problem = mp.Problem(mp.FeedForward(3, (3,), 1, count, activation=name), {"W1": mask})
    low, high, inverse = _INVERSES[name]
    seen = set()
    for index in range(many(32, 8 if name == "sigmoid" else 4)):
        instance = draw_instance(problem, 1, index)
        assert is_decidable(instance)
        search = BoxSearch(instance)
        search.run()
        W1, W2 = (instance.weights[n].copy() for n in ("W1", "W2"))
        z = problem.network.forward({"W1": W1, "W2": W2 * [[0, 1, 1]]}, instance.X)
        needed = ((instance.labels - z) / W2[0, 0]).ravel()
        exists = bool(((needed > low) & (needed < high)).all())
        assert search.is_over
        assert len(search.solutions) == exists
        seen.add(exists)
        if exists:
            fixed = W1[0] * [0 if own else 1 for own in mask[0]]
            a = inverse(needed) - fixed @ instance.X
            exact = np.linalg.solve(instance.X[:count].T, a)
            assert search.solutions[0].middle == pytest.approx(exact, rel=1e-6)
    assert seen == {True, False}


def test_searches_find_no_other_solutions():
    """Every solution of fsolve is one of those that branch and bound counts, two weights of a
    recurrent net with several matches."""
    counts = set()
    for index in range(many(16, 4)):
        instance = draw_instance(RECURRENT, 5, index)
        search = BoxSearch(instance)
        search.run()
        if not search.is_over:
            continue
        counts.add(len(search.solutions))
        rng = np.random.default_rng(index)

        def error(w, instance=instance):
            student = instance.with_weights(w)
            return (RECURRENT.network.forward(student, instance.X) - instance.labels).ravel()

        for start in rng.normal(0, 3, (25, 2)):
            end, _, status, _ = optimize.fsolve(error, start, full_output=True)
            if status == 1 and np.abs(error(end)).max() < 1e-12:
                known = [np.allclose(end, s.middle, 1e-5, 1e-6) for s in search.solutions]
                assert any(known)
    assert max(counts) >= 2


def test_the_limit_of_boxes_ends_a_search_without_an_answer():
    """A few boxes decide nothing; the search goes on where it ended, with the same result."""
    whole, parts = (BoxSearch(draw_instance(RECURRENT, 5, 0)) for _ in range(2))
    whole.run()
    parts.run(1)
    assert not parts.is_over
    while not parts.is_over:
        parts.run(parts.boxes + 200)
    assert [s.middle.tolist() for s in parts.solutions] == [
        s.middle.tolist() for s in whole.solutions
    ]


def test_more_weights_or_other_functions_are_not_divided():
    """Five weights, or a polynomial activation, are left to other methods."""
    net = mp.FeedForward(5, (2,), 1, 5, activation="tanh")
    assert not is_decidable(draw_instance(mp.Problem(net, {"W1": [[1] * 5, [0] * 5]}), 0, 0))
    net = mp.FeedForward(2, (2,), 1, 2, activation={"polynomial": [0, 1, 1]})
    assert not is_decidable(draw_instance(mp.Problem(net, {"W1": [[1, 1], [0, 0]]}), 0, 0))
