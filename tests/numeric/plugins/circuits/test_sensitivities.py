"""Derivatives in doubles at a circuit's own parameters, compared with complex steps and draws."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.plugins.circuits.question import recording_question
from algebra.problems.files import problem_from_dict
from algebra.problems.laws.distribution import Distribution
from algebra.problems.laws.values import Values
from algebra.problems.problem import Problem
from algebra.programs.jacobian import Sweep, program_jacobian
from numeric.plugins.circuits.noise import noisy_recording
from numeric.plugins.circuits.sensitivities import sensitivity
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import many

W = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 1]])
TYPES = [[0, 1, 2, 0], [2, 0, 1, 1], [0, 3, 0, 3], [1, 2, 0, 3]]


def network(**options):
    """A recurrent network of four units."""
    sizes = {"n": 4, "T": 3, "b": 2, "d": 2, "m": 3}
    return RNN(**sizes, **{"activation": "tanh", "biases": True, **options})


def forward(net, w, X, leak=None):
    """States of a recurrent network as its documentation defines them, in any ring."""
    h, out = np.zeros((net.n, X.shape[1])), []
    functions = {"tanh": np.tanh, "softplus": lambda a: np.log(1 + np.exp(a))}
    alpha = w["leak"] if leak is None else leak
    for t in range(net.T):
        x = w["B"] @ X[t * net.b : (t + 1) * net.b]
        h = (1 - alpha) * h + alpha * functions[net.activation.name](w["W"] @ (h + x) + w["c"])
        out.append(h)
    return np.stack(out)


MOVES = {
    "rows": lambda w, k: (np.arange(4) == k)[:, None] * w,
    "columns": lambda w, k: (np.arange(4) == k)[None] * w,
    "tied": lambda w, k: (np.array(TYPES) == k + 1).astype(float),
}


@pytest.mark.parametrize("how", ["rows", "columns", "tied", "cells"])
@pytest.mark.parametrize("options", [{"leak": "1/3"}, {"activation": "softplus"}], ids=str)
def test_derivatives_equal_complex_steps(how, options):
    """By gains, tied weights, single weights and biases, they equal complex steps."""
    net, leak = network(**options), float(Fraction(options.get("leak", 1)))
    learns = {"cells": W, "tied": {"tied": TYPES}}.get(how, {"gain": how})
    problem = Problem(net, {"W": learns, "B": [[1, 0]] * 4, "c": [[1], [0], [1], [1]]}, {"W": W})
    question = recording_question(problem, "units", target="units")
    found = sensitivity(question)
    instance = draw_instance(Problem(net, {}, {"W": W}), 0, 0)
    directions = []
    for name, i, j in question.allocation.cells:
        if name in instance.weights:
            step = np.zeros(instance.weights[name].shape)
            step[i, j] = 1
            directions.append((name, step))
        else:
            directions.append(("W", MOVES[how](instance.weights["W"], i)))
    for k, (name, step) in enumerate(directions):
        moved = {key: w.astype(complex) for key, w in instance.weights.items()}
        moved[name] = moved[name] + 1e-30j * step
        direct = forward(net, moved, instance.X, leak).imag.ravel() / 1e-30
        assert np.allclose(found.rows[:, k], direct, rtol=1e-12, atol=1e-14)


def test_learnable_leaks_have_derivatives_and_the_deviation_of_their_law():
    """Derivatives by leaks equal complex steps; a logistic of a normal number has their law."""
    net = network(leak="learnable")
    problem = Problem(net, {"leak": [[1], [1], [0], [1]], "c": [[1], [0], [0], [0]]}, {"W": W})
    found = sensitivity(recording_question(problem, "units", target="units"))
    instance = draw_instance(Problem(net, {}, {"W": W}), 0, 0)
    cells = [("c", 0, 0), ("leak", 0, 0), ("leak", 1, 0), ("leak", 3, 0)]
    cells = [cell for cell in problem.allocation.cells if cell in cells]
    for k, (name, i, j) in enumerate(cells):
        moved = {key: w.astype(complex) for key, w in instance.weights.items()}
        moved[name][i, j] += 1e-30j
        direct = forward(net, moved, instance.X).imag.ravel() / 1e-30
        assert np.allclose(found.rows[:, k], direct, rtol=1e-12, atol=1e-14)
        drawn = [draw_instance(problem, s, 0).weights[name][i, j] for s in range(400)]
        assert np.isclose(found.prior[k], np.std(drawn), rtol=0.15)


@pytest.mark.parametrize("seed", range(many(24)))
def test_signs_and_measured_weights_beside_types(seed):
    """Ranks of types with cells of both signs, and derivatives, are those in the orthant."""
    rng = np.random.default_rng(seed)
    more = {"state": "currents", "gain": "presynaptic"} if seed % 3 == 0 else {}
    net, kinds = network(**more), [str(k) for k in rng.choice(list("EI"), 4)]
    measured = [[float(v) if v else "nan" for v in row] for row in (W * [2, -1, 1, -3]).tolist()]
    scaled = {"gain": "cells"} if seed % 2 else "all"
    data = {
        "network": net.to_dict(), "support": {"W": W.tolist()}, "types": {"neurons": kinds},
        "learnable": {"W": scaled, "c": "all", **({"g": "all"} if more else {})},
        "distribution": {"signs": {"neurons": [1, -1, 1, -1]}},
        "values": {"W": measured, "jitter": "1/10"},
    }  # fmt: skip
    problem = problem_from_dict(data)
    question = recording_question(problem, "units", target="outputs")
    found = sensitivity(question, seed)
    own = draw_instance(Problem(net, {}, problem.support, problem.distribution,
                                values=problem.values), seed, 0)  # fmt: skip
    assert (own.weights["W"] * [1, -1, 1, -1] >= 0).all()
    pairs = sorted({(kinds[i], kinds[j]) for i, j in np.argwhere(W).tolist()})
    moved = [("W", np.array([[(a, b) == pair for b in kinds] for a in kinds]) * W
              * (own.weights["W"] if seed % 2 else 1)) for pair in pairs]  # fmt: skip
    for name in ["c", "g"] if more else ["c"]:
        moved += [(name, (np.array(kinds) == kind)[:, None]) for kind in sorted(set(kinds))]
    J = []
    for name, step in moved:
        w = {key: value.astype(complex) for key, value in own.weights.items()}
        w[name] = w[name] + 1e-30j * step
        J.append(rates(net, w, own.X).imag.ravel() / 1e-30)
    assert np.allclose(sorted(map(tuple, found.rows.T)), sorted(map(tuple, J)), atol=1e-12)
    values = np.linalg.svd(np.array(J), compute_uv=False)
    assert question.rank.rank == int((values > 1e-10 * values[0]).sum())
    draws = [draw_instance(own.problem, s, 0).weights["W"] for s in range(100)]
    tied = [k for k, cell in enumerate(question.allocation.cells) if cell[0] == "t_W"]
    spread = np.std(draws, axis=0)[W > 0]
    assert np.allclose(found.prior[tied], np.sqrt(np.mean(spread**2)), rtol=0.2)


def test_singular_values_of_tied_parameters_are_enclosed():
    """The weights that a tie moves are counted by whole numbers, which balls accept."""
    problem = Problem(network(), {"c": {"tied": [[1], [1], [2], [0]]}}, {"W": W})
    found = noisy_recording(problem, "units", 0.1, None, target="units")
    assert len(found.singular_values) == 2
    assert found.singular_value_error < 1e-10


def test_currents_at_rest_and_large_derivatives():
    """φ(0) of initial currents is enclosed; stiff directions hide no other; overflow is refused."""
    currents = network(state="currents", gain="presynaptic", biases=False)
    problem = Problem(currents, {"g": "all"}, {"W": W})
    found = noisy_recording(problem, "units", 0.1, None, target="outputs")
    assert found.singular_value_error < 1e-10
    net = RNN(n=4, T=3, b=2, d=2, m=3, activation={"polynomial": [1, 0, "1/2", 1]})
    problem = Problem(net, {"W": W, "B": {"gain": "columns"}}, {"W": W})
    found = noisy_recording(problem, "units", 1e-6, None, target="outputs", must=["unit 0"])
    chosen = [k for k, e in enumerate(found.question.elements) if e in set(found.recorded)]
    covariance = found.sensitivity.covariance(chosen, 1e-6)
    rows = found.sensitivity.rows[np.isin(found.sensitivity.owner, chosen)]
    rows = rows * found.sensitivity.prior / 1e-6
    assert np.linalg.norm(rows, 2) > 1e8
    # The directions that are recorded are known up to the noise.
    assert np.linalg.norm(rows @ covariance @ rows.T, 2) <= 1 + 1e-3
    large = Problem(replace(net, T=9), {"W": W}, {"W": W},
                    distribution=Distribution(scale={"W": 100}))  # fmt: skip
    refuses("too large for doubles", noisy_recording, large, "units", 0.1, None, target="outputs")


def rates(net, w, X):
    """Rates of all steps, with currents or without."""
    if not net.has_currents:
        return forward(net, w, X, 1)
    h, out = np.zeros((net.n, X.shape[1])), []
    for t in range(net.T):
        h = w["W"] @ (w["g"] * np.tanh(h + w["c"])) + w["B"] @ X[t * net.b : (t + 1) * net.b]
        out.append(np.tanh(h + w["c"]))
    return np.stack(out)


@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_deviations_before_the_recording_are_those_of_draws(law):
    """Signs, factors of scale and jitter of measured weights: as 400 draws vary."""
    laws = Distribution(weights=law, scale={"W": 2, "c": "1/2"}, signs={"W": [[1, 0, -1, 1]] * 4})
    problem = Problem(
        network(), {"W": W, "c": [[1], [1], [0], [0]]}, {"W": W}, distribution=laws,
        values=Values({("W", 0, 1): Fraction(3)}, jitter=Fraction(1, 10), relative=True),
    )  # fmt: skip
    found = sensitivity(recording_question(problem, "units", target="outputs"))
    draws = [draw_instance(problem, s, 0).weights for s in range(400)]
    for k, (name, i, j) in enumerate(problem.allocation.cells):
        assert np.isclose(found.prior[k], np.std([w[name][i, j] for w in draws]), rtol=0.15)


def test_a_new_sample_leaves_those_that_are_recorded():
    """With the target of a new sample the recorded numbers are those of other targets."""
    problem = Problem(network(), {"W": W}, {"W": W})
    options = {"must": ["unit 0", "unit 1"], "forbidden": ["unit 2", "unit 3"]}
    new = noisy_recording(problem, "units", 0.1, None, target="samples=new", **options)
    old = noisy_recording(problem, "units", 0.1, None, target="outputs", **options)
    assert np.allclose(new.singular_values, old.singular_values)


def test_layers_of_a_feedforward_network():
    """Derivatives of each layer's units by all weights equal complex steps."""
    net = FeedForward(q=2, widths=(3, 2), d=1, m=3, activation="tanh", biases=True)
    learns = {name: np.ones(net.shapes[name], int) for name in ("W1", "W2", "c1", "c2")}
    problem = Problem(net, learns)
    found = sensitivity(recording_question(problem, "units", target="outputs"))
    instance = draw_instance(Problem(net, {}), 0, 0)
    for k, (name, i, j) in enumerate(problem.allocation.cells):
        w = {key: a.astype(complex) for key, a in instance.weights.items()}
        w[name][i, j] += 1e-30j
        one = np.tanh(w["W1"] @ instance.X + w["c1"])
        two = np.tanh(w["W2"] @ one + w["c2"])
        y = w["W3"] @ two + w["e"]
        rows = np.concatenate([one.ravel(), two.ravel()]).imag / 1e-30
        assert np.allclose(found.rows[:, k], rows, rtol=1e-12, atol=1e-14)
        assert np.allclose(found.target[:, k], y.ravel().imag / 1e-30, rtol=1e-12, atol=1e-14)


def test_other_matrices_may_replace_those_of_the_instance():
    """With a given W the derivatives by its gains are those at that W."""
    net, given = network(), W * np.linspace(-1, 1, 16).reshape(4, 4)
    problem = Problem(net, {"W": {"gain": "columns"}}, {"W": W})
    found = sensitivity(recording_question(problem, "units", target="units"), 0, {"W": given})
    instance = draw_instance(Problem(net, {}, {"W": W}), 0, 0)
    for k in range(4):
        moved = {key: w.astype(complex) for key, w in instance.weights.items()}
        moved["W"] = given + 1e-30j * MOVES["columns"](given, k)
        direct = forward(net, moved, instance.X, 1).imag.ravel() / 1e-30
        assert np.allclose(found.rows[:, k], direct, rtol=1e-12, atol=1e-14)


def test_rows_of_some_units_are_those_of_all():
    """A backward pass for some entries of a node gives their rows of the Jacobian."""
    net = network()
    instance = draw_instance(Problem(net, {}), 0, 0)
    arithmetic = net.entries(np.matmul, np.true_divide)
    blocks, node = net.placed(instance.weights, instance.X), net.recorded("states")[1][-1]
    cells = [("W", 0, 1), ("c", 2, 0), ("B", 1, 1)]
    whole = program_jacobian(net.program(), arithmetic, blocks, cells, node)
    some = Sweep(net.program(), arithmetic, blocks, {"W", "c", "B"}, node, np.array([1, 3]))
    rows = whole.reshape(4, net.m, 3)[[1, 3]].reshape(-1, 3)
    assert np.allclose(some.jacobian(cells), rows, rtol=1e-14, atol=0)
