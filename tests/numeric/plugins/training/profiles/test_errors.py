"""Errors on new samples: against direct solutions, quadrature and sampling."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad

import matchprob as mp
from algebra.problems.laws.distribution import Distribution
from algebra.programs.balls import as_balls
from numeric.plugins.relu.integral import relu_size
from numeric.plugins.training.profiles.errors import (
    NEW,
    how_computed,
    least_error,
    new_errors,
)
from numeric.plugins.training.profiles.families import least_of_relaxation, matches_of_family
from numeric.trials.instances import draw_entries, draw_instance, stream, teacher_of
from tests.matchprob.calls import call
from tests.refusals import refuses
from tests.samples import many

RNN = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=1), {"W": [[1, 0], [0, 0]]})
ROW = mp.Problem(mp.LinearEstimator(q=3, d=1, m=2), {"W": [[1, 0, 1]]})
DEEP = mp.Problem(mp.LinearFeedForward(q=2, widths=(2,), d=1, m=1), {"W1": [[1, 0], [0, 0]]})


def direct_errors(problem, index):
    """Errors of all matches of a trial with one unknown, or with linear equations."""
    instance = draw_instance(problem, 0, index)
    network, r = problem.network, problem.allocation.size
    size = network.input_shape[0]

    def labels(w, X):
        net = network.with_samples(X.shape[1])
        return net.forward(instance.with_weights(np.array(w, float)), X)

    if r == 1:
        # A polynomial of degree at most 2, from three values.
        values = [(labels([w], instance.X) - instance.labels).item() for w in (-1, 0, 1)]
        square, slope = (values[0] + values[2]) / 2 - values[1], (values[2] - values[0]) / 2
        found = np.roots([square, slope, values[1]] if abs(square) > 1e-12 else [slope, values[1]])
        matches = [[w.real] for w in np.atleast_1d(found) if abs(w.imag) < 1e-12]
    else:
        zero = labels(np.zeros(r), instance.X)
        columns = [(labels(e, instance.X) - zero).ravel() for e in np.eye(r)]
        matches = [np.linalg.solve(np.array(columns).T, (instance.labels - zero).ravel())]
    goal = network.with_samples(size).forward(instance.teacher, np.eye(size))
    return [((labels(w, np.eye(size)) - goal) ** 2).sum() / (goal**2).sum() for w in matches]


@pytest.mark.parametrize(
    ("problem", "trials"), [(RNN, many(900)), (ROW, many(600)), (DEEP, many(500))]
)
def test_thresholds_are_those_of_direct_solutions(problem, trials):
    """Of small nets: the least error of a trial is that of its solved equations."""
    found = mp.profile(problem, by="error", bounds=[0.1, 1.0], trials=trials)
    direct = [min(direct_errors(problem, k), default=math.inf) for k in range(trials)]
    thresholds = found.profiles[0].thresholds
    assert [t.index for t in thresholds] == list(range(trials))
    for one, error in zip(thresholds, direct, strict=True):
        if math.isinf(error):
            assert one.low == math.inf
        else:
            assert one.low <= error * (1 + 1e-6) + 1e-12
            assert one.high >= error * (1 - 1e-6) - 1e-12
            assert one.high - one.low <= 1e-5 * (1 + error)
    for point in found.points:
        assert point.matched == sum(error <= point.bound for error in direct)


def test_with_a_basis_among_the_samples_the_error_is_zero():
    """If m = T b a match of a linear network has the teacher's map, so its error is exactly 0."""
    problem = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
    found = mp.profile(problem, by="error", bounds=[0.0], trials=30)
    assert found.points[0].matched == found.profiles[0].at(math.inf).matched > 0
    assert found.points[0].undetermined == 0


def test_the_integral_is_that_of_quadrature():
    """E|V relu(U x)|² of small ReLU layers, by adaptive quadrature in two dimensions."""
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((4, 2)), rng.standard_normal((2, 4))
    # Equal and opposite units: angles 0 and π.
    U[2], U[3] = U[0], -U[1]

    def density(x, y):
        value = V @ np.maximum(U @ np.array([x, y]), 0)
        return float(value @ value) * math.exp(-(x * x + y * y) / 2) / (2 * math.pi)

    expected = dblquad(density, -8, 8, -8, 8, epsabs=1e-5)[0]
    assert float(relu_size(as_balls(U), as_balls(V)).mid()) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    "network",
    [
        mp.LinearRNN(n=2, T=3, b=2, d=2, m=1),
        mp.FeedForward(q=2, widths=(2,), d=2, m=2, activation="linear", biases=True),
        mp.ShallowReLU(q=2, n=3, d=2, m=2),
    ],
    ids=["lrnn", "ffn with biases", "relu"],
)
@pytest.mark.parametrize("inputs", ["normal", "uniform"])
def test_closed_forms_are_those_of_many_samples(network, inputs):
    """The relative error of any student is the mean over 200,000 new samples."""
    first = next(iter(network.shapes))
    mask = np.zeros(network.shapes[first], int)
    mask[0, 0] = 1
    problem = mp.Problem(network, {first: mask}, distribution=Distribution(inputs=inputs))
    instance = draw_instance(problem, 0, 1)
    low, high = new_errors(instance, np.array([[0.7]]), np.zeros((1, 1)))
    rng = np.random.default_rng(1)
    X = draw_entries(rng, inputs, (network.input_shape[0], 200_000))
    new = network.with_samples(X.shape[1])
    goal = new.forward(instance.teacher, X)
    found = new.forward(instance.with_weights([0.7]), X)
    sampled = ((found - goal) ** 2).sum() / (goal**2).sum()
    closed = network.is_affine or inputs == "normal"
    assert high[0] - low[0] < 1e-12 * high[0]
    assert high[0] == pytest.approx(sampled, rel=0.02 if closed else 0.4)
    assert (f"{NEW} new samples" in how_computed(problem)) == (not closed)


def test_other_networks_have_a_stated_sample():
    """With tanh the error is the mean over the trial's own stream of new samples."""
    network = mp.FeedForward(q=2, widths=(2,), d=1, m=2, activation="tanh")
    problem = mp.Problem(network, {"W2": [[1, 1]]})
    instance = draw_instance(problem, 5, 2)
    low, high = new_errors(instance, np.array([[0.3, -2.0]]), np.zeros((1, 2)))
    X = draw_entries(stream(5, 2, "new samples"), "normal", (2, NEW))
    new = network.with_samples(NEW)
    goal = new.forward(instance.teacher, X)
    error = ((new.forward(instance.with_weights([0.3, -2.0]), X) - goal) ** 2).sum()
    assert low[0] <= error / (goal**2).sum() * (1 + 1e-12)
    assert high[0] >= error / (goal**2).sum() * (1 - 1e-12)


def test_a_box_is_enclosed():
    """The bounds hold for all weights of a box, by trying its corners and its inside."""
    instance = draw_instance(RNN, 0, 0)
    low, high = new_errors(instance, np.array([[0.5]]), np.array([[0.25]]))
    for w in np.linspace(0.25, 0.75, 41):
        at, _ = new_errors(instance, np.array([[w]]), np.zeros((1, 1)))
        assert low[0] <= at[0] <= high[0]


def test_arbitrary_labels_have_no_error_on_new_samples():
    """Without a teacher there is no function to compare with; one that cannot be run is refused."""
    problem = mp.Problem(RNN.network, RNN.learnable, distribution=Distribution(labels="normal"))
    refuses(r"`by` \('error'\): the labels are not", mp.profile, problem, by="error")
    net = mp.NormNet.square(2, 1, 3, 2, "relu")
    other = mp.Problem(net, {"g1": [[1], [0], [1]]})
    student = mp.Problem(mp.LinearEstimator(q=2, d=2, m=2), {"W": "all"}, teacher=other)
    refuses(r"`by` \('error'\): the error with a teacher of", mp.profile, student, by="error")


def without_learning(network):
    """A problem for the table [teacher]: only its network matters."""
    name, shape = next(iter(network.shapes.items()))
    return mp.Problem(network, {name: np.zeros(shape, int)})


PAIRS = {
    "lrnn of another size": (RNN.network, mp.LinearRNN(n=4, T=2, b=1, d=1, m=1)),
    "tanh for lrnn": (RNN.network, mp.RNN(n=3, T=2, b=1, d=1, m=1, activation="tanh")),
    "lrnn for tanh": (mp.RNN(n=2, T=2, b=1, d=1, m=1, activation="tanh"), RNN.network),
    "relu of another size": (
        mp.ShallowReLU(q=2, n=2, d=1, m=1),
        mp.ShallowReLU(q=2, n=5, d=1, m=1),
    ),
    "linear for relu": (mp.ShallowReLU(q=2, n=2, d=1, m=1), mp.LinearEstimator(q=2, d=1, m=1)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_teacher_is_another_network(name):
    """The error of a student is that of many samples labelled by the other network."""
    network, other = PAIRS[name]
    first, shape = next(iter(network.shapes.items()))
    mask = np.zeros(shape, int)
    mask[0, 0] = 1
    problem = mp.Problem(network, {first: mask}, teacher=without_learning(other))
    instance = draw_instance(problem, 0, 1)
    # The labels alone identify the teacher's weights.
    own, weights = teacher_of(instance)
    assert np.allclose(own.forward(weights, instance.X), instance.labels)
    low, high = new_errors(instance, np.array([[0.7]]), np.zeros((1, 1)))
    sampled = "new samples" in how_computed(problem)
    if sampled:
        X = draw_entries(stream(0, 1, "new samples"), "normal", (network.input_shape[0], NEW))
    else:
        X = np.random.default_rng(1).standard_normal((network.input_shape[0], 200_000))
    goal = other.with_samples(X.shape[1]).forward(weights, X)
    found = network.with_samples(X.shape[1]).forward(instance.with_weights([0.7]), X)
    expected = ((found - goal) ** 2).sum() / (goal**2).sum()
    assert high[0] - low[0] < 1e-9 * high[0]
    assert high[0] == pytest.approx(expected, rel=1e-9 if sampled else 0.02)


def test_a_basis_determines_the_map_of_an_affine_teacher_only():
    """With T b samples a match is a linear teacher's function of any size, never a tanh one."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    for other, exact in (
        (mp.LinearRNN(n=4, T=2, b=1, d=1, m=2), True),
        (mp.RNN(n=3, T=2, b=1, d=1, m=2, activation="tanh"), False),
    ):
        problem = mp.Problem(net, {"W": [[1, 0], [1, 0]]}, teacher=without_learning(other))
        found = mp.profile(problem, by="error", bounds=[0.0], trials=10)
        assert found.points[0].matched == (found.profiles[0].at(math.inf).matched if exact else 0)
        assert found.profiles[0].at(math.inf).matched > 0


def test_the_command_prints_json(tmp_path, capsys):
    """`profile --by error --json` has the keys of every profile."""
    path = tmp_path / "p.toml"
    path.write_text(RNN.to_toml())
    words = ("--by", "error", "--bounds", "0.1,1", "--trials", "20", "--json")
    assert call("profile", path, *words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["by"] == "error"
    assert [p["bound"] for p in data["points"]] == [0.1, 1.0]
    assert {"matched", "unmatched", "undetermined", "low", "high"} <= set(data["points"][0])


def test_the_least_error_of_a_family_is_that_of_numpy():
    """More weights than equations, labels affine in them: constrained least squares by NumPy."""
    net = mp.LinearRNN(n=3, T=2, b=1, d=2, m=1)
    problem = mp.Problem(net, {"D": [[1, 1, 1], [1, 1, 0]]})
    found = mp.profile(problem, by="error", bounds=[0.1, 1.0], trials=30).profiles[0].thresholds
    X = np.eye(2)
    new = net.with_samples(2)
    for one in found:
        instance = draw_instance(problem, 0, one.index)
        points = [np.zeros(5), *np.eye(5)]
        label, *labels = (net.forward(instance.with_weights(w), instance.X).ravel() for w in points)
        start, *ends = (new.forward(instance.with_weights(w), X).ravel() for w in points)
        F, G = (np.array(v).T - z[:, None] for v, z in ((labels, label), (ends, start)))
        particular = np.linalg.lstsq(F, instance.labels.ravel() - label, rcond=None)[0]
        free = np.linalg.svd(F)[2][2:].T
        goal = new.forward(instance.teacher, X).ravel()
        off = goal - start - G @ particular
        rest = off - G @ free @ np.linalg.lstsq(G @ free, off, rcond=None)[0]
        assert one.high == pytest.approx(rest @ rest / (goal @ goal), rel=1e-6, abs=1e-12)
        assert one.low <= one.high <= one.low * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("T", [2, pytest.param(3, marks=pytest.mark.long)])
def test_the_error_of_another_family_is_bounded_by_that_of_a_match(T):
    """The bound is the least error of matches that reproduce the labels, computed in doubles."""
    network = mp.LinearRNN(n=2, T=T, b=1, d=1, m=1)
    problem = mp.Problem(network, {"W": [[1, 1], [0, 0]]})
    found = mp.profile(problem, by="error", bounds=[1.0], trials=4).profiles[0].thresholds
    assert sum(math.isfinite(one.high) for one in found) >= 2
    for one in found:
        assert one.low == 0
        instance = draw_instance(problem, 0, one.index)
        new = network.with_samples(T)
        goal = new.forward(instance.teacher, np.eye(T))
        errors = [math.inf]
        for w in matches_of_family(instance)[0]:
            student = instance.with_weights(w)
            assert np.allclose(network.forward(student, instance.X), instance.labels)
            off = new.forward(student, np.eye(T)) - goal
            errors.append((off**2).sum() / (goal**2).sum())
        assert one.high == pytest.approx(min(errors), rel=1e-6, abs=1e-12)


def test_a_family_on_a_basis_has_no_error():
    """If the samples are a basis the matches of a family are the teacher's function."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    found = mp.profile(mp.Problem(net, {"W": [[1, 1], [1, 0]]}), by="error", bounds=[0], trials=10)
    assert found.points[0].matched == found.profiles[0].at(math.inf).matched == 10


def test_a_relaxation_is_the_least_error_where_one_whole_row_learns():
    """One row of n = T b weights: the map is affine in the row of F, so NumPy has the optimum."""
    net = mp.LinearRNN(n=4, T=2, b=2, d=2, m=1)
    problem = mp.Problem(net, {"W": [[1] * 4, *[[0] * 4] * 3]})
    for index in range(6):
        instance = draw_instance(problem, 0, index)
        W, B, D = (instance.weights[name] for name in "WBD")
        goal = net.with_samples(4).forward(instance.teacher, np.eye(4)).ravel()

        def mapped(z, W=W, B=B, D=D):
            later = W @ B
            later[0] = z[2:]
            first = W @ later
            first[0] = z[:2]
            return (D @ np.hstack([first, later])).ravel()

        start = mapped(np.zeros(4))
        G = np.array([mapped(unit) for unit in np.eye(4)]).T - start[:, None]
        on_samples = np.kron(np.eye(2), instance.X.T)
        F, y = on_samples @ G, on_samples @ (goal - start)
        free = np.linalg.svd(F)[2][2:].T
        off = goal - start - G @ np.linalg.lstsq(F, y, rcond=None)[0]
        rest = off - G @ free @ np.linalg.lstsq(G @ free, off, rcond=None)[0]
        low = least_of_relaxation(instance)
        assert low == pytest.approx(rest @ rest / (goal @ goal), rel=1e-6)
    # The search finds a match of that error.
    low, high = least_error(draw_instance(problem, 0, 1))
    assert low <= high <= low * (1 + 1e-6)


@pytest.mark.parametrize(
    ("net", "masks"),
    [
        (mp.LinearRNN(n=4, T=1, b=4, d=2, m=1), {"W": [[1, 1, 0, 1], *[[0] * 4] * 3]}),
        (mp.LinearRNN(n=4, T=1, b=4, d=2, m=1), {"W": [[1, 0, 0, 0]] * 4}),
        (
            mp.LinearFeedForward(q=4, widths=(4,), d=4, m=1),
            {"W1": [[1] * 4, *[[0] * 4] * 3], "W2": [*[[0] * 4] * 3, [1, 0, 0, 0]]},
        ),
    ],
)
def test_a_relaxation_bounds_the_error_of_a_known_match(net, masks):
    """A student of the allocation is a match of a teacher that differs on other samples only."""
    problem, rng, seen = mp.Problem(net, masks), np.random.default_rng(0), []
    # Whole numbers, so that the student has the labels without rounding.
    X = np.array([[1.0], [2], [2], [3]])
    hidden = np.array([[2, -1, 0, 0], [0, 1, -1, 0], [1, 1, 0, -1]])
    for index in range(5):
        drawn = draw_instance(problem, 0, index)
        weights = {name: rng.integers(-3, 4, w.shape) + 0.5 for name, w in drawn.weights.items()}
        made = net.with_samples(4).forward(weights, np.eye(4))
        other = made + rng.integers(-3, 4, (net.d, 3)) @ hidden
        last = "D" if "D" in weights else "W2"
        teacher = {name: np.eye(4) for name in weights} | {last: other}
        own = replace(drawn, weights=weights, X=X, teacher=teacher)
        low = least_of_relaxation(own)
        assert 0 <= low <= ((made - other) ** 2).sum() / (other**2).sum() * (1 + 1e-12)
        seen.append(low)
    assert max(seen) > 0.01
