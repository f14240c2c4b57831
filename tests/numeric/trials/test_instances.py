"""Random instances: independent of other choices, with the specified laws."""

import numpy as np
import pytest
from flint import fmpq

from algebra.problems.laws.values import Values
from matchprob import (
    Distribution,
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    Problem,
    RandomCells,
    SequenceRNN,
)
from numeric.trials.instances import (
    draw_instance,
    draw_instances,
    labels_of,
    to_rational,
    with_measured,
)
from tests.refusals import refuses

NET = LinearRNN(n=4, T=2, b=1, d=2, m=2)


def test_trials_depend_on_seed_and_number_only():
    """For other allocations and orders weights, teacher and samples are the same."""
    one, other = (Problem(NET, {"W": mask}) for mask in (np.eye(4), np.ones((4, 4))))
    late = draw_instance(one, 3, 5)
    draw_instance(one, 3, 0)
    for again in (draw_instance(one, 3, 5), draw_instance(other, 3, 5)):
        assert np.array_equal(late.X, again.X)
        for name in NET.shapes:
            assert np.array_equal(late.weights[name], again.weights[name])
            assert np.array_equal(late.teacher[name], again.teacher[name])
    for seed, index in ((3, 6), (4, 5)):
        assert not np.array_equal(late.X, draw_instance(one, seed, index).X)


def test_the_random_stream_is_fixed():
    """The values equal stored ones: the stream must not change between versions."""
    instance = draw_instance(Problem(NET, {}), 0, 0)
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, 2)))
    assert np.array_equal(instance.X, rng.standard_normal((2, 2)))


@pytest.mark.parametrize("law", ["normal", "uniform", "rademacher"])
def test_laws_have_their_mean_and_variance(law):
    """For every law the mean is 0, the variance 1 / columns for weights and 1 for samples."""
    problem = Problem(NET, {}, distribution=Distribution(law, law, law))
    draws = [draw_instance(problem, 1, k) for k in range(400)]
    for name, columns in (("W", 4), ("D", 4), ("B", 1)):
        values = np.concatenate([d.weights[name].ravel() for d in draws])
        assert abs(values.mean()) < 5 * values.std() / np.sqrt(values.size)
        assert abs(values.var() * columns - 1) < 0.12
    samples = np.concatenate([d.X.ravel() for d in draws])
    assert abs(samples.var() - 1) < 0.12
    if law == "rademacher":
        assert set(samples) == {-1.0, 1.0}


def test_supports_and_random_allocations():
    """Structural zeros are 0 in student and teacher; allocations are drawn per trial."""
    mask = np.triu(np.ones((4, 4), int))
    problem = Problem(NET, {"W": RandomCells(budget=4, rows=3)}, {"W": mask})
    draws = [draw_instance(problem, 0, k) for k in range(20)]
    for d in draws:
        assert not d.weights["W"][mask == 0].any()
        assert not d.teacher["W"][mask == 0].any()
        assert all(mask[i, j] for _, i, j in d.allocation.cells)
    assert len({d.allocation for d in draws}) > 5


def test_the_exact_instance_is_that_of_the_doubles():
    """Doubles are rationals: exact labels round to the floating ones."""
    instance = draw_instance(Problem(NET, {"W": np.eye(4)}), 2, 2)
    weights, _, Y = instance.exact
    assert weights["W"][0, 0] == fmpq(*instance.weights["W"][0, 0].as_integer_ratio())
    rounded = np.array([[int(y.p) / int(y.q) for y in row] for row in Y])
    assert np.allclose(rounded, instance.labels, rtol=1e-13)
    assert instance.residual(instance.teacher) == 0
    assert to_rational(np.array([0.5]))[0] == fmpq(1, 2)
    student = instance.with_weights([1.0, 2.0, 3.0, 4.0])
    assert np.diag(student["W"]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("seed", "index"), [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused(seed, index):
    """Negative seeds and trial numbers are refused by name."""
    refuses("must be at least 0", draw_instance, Problem(NET, {}), seed, index)


def test_measured_weights_with_and_without_jitter():
    """Without jitter they are the given numbers; with it scaled draws are added to them."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    ones = {"W": np.ones((2, 2))}
    draws = {"W": np.array([[1.0, -1.0], [2.0, 0.5]])}
    given = {"W": [["1/2", 2], [0, None]]}
    assert with_measured(Values.read(given, net), ones, draws)["W"].tolist() == [[0.5, 2], [0, 1]]
    absolute = with_measured(Values.read({**given, "jitter": 0.5}, net), ones, draws)["W"]
    assert absolute.tolist() == [[1.0, 1.5], [1.0, 1]]
    relative = with_measured(Values.read({**given, "jitter": {"relative": 0.5}}, net), ones, draws)[
        "W"
    ]
    assert relative.tolist() == [[0.75, 1.0], [0, 1]]


def test_signs_change_only_the_sign_of_draws():
    """Each signed weight is ±|z| of the draw without signs; all others are the same bit by bit."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    law = Distribution(signs={"W": [[1, -1], [0, 1]], "B": [[-1], [0]]})
    plain = draw_instance(Problem(net, {"W": [[1, 0], [0, 1]]}), 3, 4)
    signed = draw_instance(Problem(net, {"W": [[1, 0], [0, 1]]}, distribution=law), 3, 4)
    assert np.array_equal(signed.X, plain.X)
    for own, other in ((signed.weights, plain.weights), (signed.teacher, plain.teacher)):
        assert all(np.array_equal(abs(own[name]), abs(other[name])) for name in net.shapes)
        assert np.array_equal(own["D"], other["D"])
        assert own["W"][1, 0] == other["W"][1, 0]
        assert not list(signed.problem.distribution.against(own, {}))


def test_exact_numbers_stay_exact():
    """Over Q a measured weight is the fraction, else the nearest double; a teacher has none."""
    net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    values = {"W": [["1/3", "1/7"], [None, 0]]}
    instance = draw_instance(Problem(net, {"W": [[1, 0], [0, 0]]}, values=values), 0, 0)
    assert instance.before[0] == 1 / 3
    assert instance.exact[0]["W"][0, 1] == fmpq(1, 7)
    assert instance.weights["W"][0, 1] == 1 / 7
    plain = draw_instance(Problem(net, {"W": [[1, 0], [0, 0]]}), 0, 0)
    assert np.array_equal(instance.teacher["W"], plain.teacher["W"])
    assert instance.weights["W"][1, 0] == plain.weights["W"][1, 0]


@pytest.mark.parametrize(
    "problem",
    [
        Problem(NET, {"W": np.eye(4)}),
        Problem(LinearRNN(n=7, T=5, b=2, d=3, m=9), {"W": np.eye(7)}),
        Problem(SequenceRNN(n=3, T=3, b=2, d=2, m=3), {"W": np.eye(3)}),
        Problem(LinearFeedForward(q=3, widths=(4, 2), d=3, m=4), {"W1": np.ones((4, 3))}),
        Problem(LinearEstimator(q=3, d=2, m=4), {"W": np.ones((2, 3))}),
        Problem(NET, {"W": np.eye(4)}, distribution=Distribution(labels="normal")),
        Problem(NET, {"W": np.eye(4)}, teacher=Problem(LinearRNN(n=2, T=2, b=1, d=2, m=2), {})),
    ],
    ids=["recurrent", "wide", "sequence", "layers", "estimator", "labels", "teacher"],
)
def test_labels_of_many_instances_are_those_of_each(problem):
    """Bit for bit."""
    instances = draw_instances(problem, 1, range(5))
    for one, labels in zip(instances, labels_of(instances), strict=True):
        assert np.array_equal(one.labels, labels)
