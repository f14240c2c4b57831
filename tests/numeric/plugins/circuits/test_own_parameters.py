"""ReLU: ranks at the circuit's own parameters and its own activation pattern."""

import random

import numpy as np
import pytest
from flint import fmpq

from algebra.errors import InputError, Unfinished
from algebra.linalg.sparse import SparseMatrix
from algebra.memory_limits import AboveLimit, limited_memory
from algebra.networks import masks
from algebra.networks.rnn import RNN
from algebra.ranks.parametrized import by_parameters
from matchprob import Distribution, Problem, certify, count, identify, record
from numeric.plugins.circuits.own_parameters import at_own_parameters
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import LONG, many


def states(net, w, X, gains=None):
    """Rates of all steps, in the arithmetic of the weights; signs are those of real parts."""
    below = float(net.activation.below)

    def φ(a):
        return np.where(a.real > 0, a, below * a)

    W = w["W"] if gains is None else gains[:, None] * w["W"]
    c = w["c"] if "c" in w else 0 * W[:, :1]
    if "leak" in w:
        α = w["leak"]
    else:
        given = [1] if net.leak == 1 else net.leak
        α = np.array([float(v) for v in given] * (net.n // len(given)))[:, None]
    h = np.zeros((net.n, X.shape[1])) + (w["h0"] if "h0" in w else 0 * W[:, :1])
    found = []
    for t in range(net.T):
        x = w["B"] @ X[t * net.b : (t + 1) * net.b]
        if net.state == "currents":
            sent = w.get("g", 1) * φ(h + c)
            h = (1 - α) * h + α * (W @ sent + x)
            found.append((w["g"] if net.gain == "rates" else 1) * φ(h + c))
        else:
            h = (1 - α) * h + α * φ(W @ (h + x) + c)
            found.append(h)
    return found


def labels(net, w, X, gains=None):
    """The labels, one number after the other."""
    found = states(net, w, X, gains)
    read = found if net.read == "all" else found[-1:]
    e = w.get("e", 0)
    return np.concatenate([(w["D"] @ r + e).ravel() for r in read])


def circuit(seed):
    """A random circuit with ReLU or leaky units, sparse, with gains, biases or synapses."""
    rng = random.Random(seed)
    currents = rng.random() < 0.5
    n = rng.randint(3, 6)
    more = (
        {
            "state": "currents",
            "initial": rng.choice(["zero", "learnable"]),
            "gain": rng.choice(["none", "presynaptic", "rates"]),
        }
        if currents
        else {}
    )
    net = RNN(
        n=n, T=rng.randint(2, 4), b=rng.randint(1, 2), d=rng.randint(1, 3), m=rng.randint(1, 4),
        activation=rng.choice(["relu", {"leaky": "1/10"}]), biases=rng.random() < 0.8,
        leak=rng.choice([1, "1/5", "learnable"]), read=rng.choice(["last", "all"]), **more,
    )  # fmt: skip
    mask = [[int(rng.random() < 0.7) for _ in range(n)] for _ in range(n)]
    options = [name for name in ("g", "c", "h0", "leak") if name in net.shapes]
    learnable = {name: "all" for name in options if rng.random() < 0.7}
    learns = rng.choice(["gains", "cells", "fixed"])
    if learns == "gains" or not (learnable or learns == "cells"):
        learnable["W"] = {"gain": "rows"}
    elif learns == "cells":
        learnable["W"] = "all"
    return Problem(net, learnable, {"W": mask})


def derivatives(problem, seed, of):
    """The Jacobian by complex steps, in doubles at instance 0."""
    net = problem.network
    own = draw_instance(Problem(net, {}, problem.support), seed, 0)
    columns = []
    for name, i, j in by_parameters(problem).allocation.cells:
        w = {key: value.astype(complex) for key, value in own.weights.items()}
        gains = np.ones(net.n, complex)
        if name == "g_W":
            gains[i] += 1e-30j
        else:
            w[name][i, j] += 1e-30j
        columns.append(of(net, w, own.X, gains).imag / 1e-30)
    return np.array(columns).T


def rank_of(J):
    """The number of singular values above 1e-10 of the largest; these are no border cases."""
    values = np.linalg.svd(J, compute_uv=False)
    if not values.size or values[0] == 0:
        return 0
    assert not ((values > 1e-13 * values[0]) & (values < 1e-10 * values[0])).any()
    return int((values > 1e-10 * values[0]).sum())


@pytest.mark.parametrize("seed", range(100 if LONG else 10))
def test_ranks_against_complex_steps(seed):
    """Ranks of labels, and of all states, are those of the Jacobian in doubles there."""
    problem = circuit(seed)
    found = identify(problem, seed=seed)
    assert found.fibre.rank.rank == rank_of(derivatives(problem, seed, labels))
    assert "at these parameters" in str(found.document())
    data = found.to_dict()
    assert data["at"].endswith("to first order") == (data["kernel_dimension"] > 0)
    assert (data["fibre_dimension"] is None) == (data["kernel_dimension"] > 0)
    everything = record(problem, "units", seed=seed, seconds=2)
    J = derivatives(problem, seed, lambda *a: np.concatenate([r.ravel() for r in states(*a)]))
    assert everything.rank.rank == rank_of(J)
    lines = str(everything.document()).splitlines()
    # Weights that move no state on the pattern are the others' only exception.
    effective = everything.question.effective
    assert not J[:, ~effective].any()
    is_exact = everything.rank.rank == effective.sum()
    about = "at these parameters" if is_exact else "to first order at these parameters"
    assert all(line.strip().lower().startswith(about) for line in lines)


@pytest.mark.parametrize("seed", range(many(20)))
def test_noise_is_predicted_on_the_activation_pattern(seed):
    """Derivatives and singular values are those by complex steps; deviations those of theory."""
    problem = circuit(seed)
    found = record(problem, "units", target="units", noise=0.1, seed=seed, seconds=2)
    J = derivatives(problem, seed, lambda *a: np.concatenate([r.ravel() for r in states(*a)]))
    rows = found.sensitivity.rows
    assert np.allclose(sorted(map(tuple, rows.T)), sorted(map(tuple, J.T)), atol=1e-12)
    kept = np.isin(found.sensitivity.owner, [e.unit for e in found.recorded])
    values = np.linalg.svd(rows[kept], compute_uv=False)
    assert np.allclose(found.singular_values, values, atol=found.singular_value_error + 1e-12)
    S = np.diag(found.sensitivity.prior)
    A = rows[kept] @ S / 0.1
    C = S @ np.linalg.inv(np.eye(len(S)) + A.T @ A) @ S
    assert np.isclose(found.total, np.sqrt(np.trace(rows @ C @ rows.T) / len(rows)))
    assert "on their activation pattern" in str(found.document())


@pytest.mark.parametrize("seed", range(many(20)))
def test_new_inputs_have_their_own_pattern(seed):
    """Labels for drawn new inputs are free in as many directions as complex steps say."""
    problem = circuit(seed)
    net = problem.network
    X = draw_instance(Problem(net, {}, problem.support), seed, 0).X
    found = identify(problem, target="samples=new", seed=seed)
    own = at_own_parameters(problem, seed, "samples=new").network.own_point
    assert own.X.shape == (len(X), 2 * net.m)
    assert (own.X[:, : net.m].astype(float) == X).all()
    new = own.X[:, net.m :].astype(float)

    def at_new(net, w, X, gains):
        return labels(net, w, new, gains)

    J, more = (derivatives(problem, seed, of) for of in (labels, at_new))
    own_rank = rank_of(J)
    assert found.to_dict()["target_free"] == rank_of(np.concatenate([J, more])) - own_rank
    output = np.arange(len(more)) // net.m % net.d
    for k, state in enumerate(found.target):
        assert state.free == rank_of(np.concatenate([J, more[output == k]])) - own_rank
    assert " and these new inputs: target: " in str(found.document())


def test_noise_with_relu_agrees_with_simulated_fits():
    """200 fits within the pattern of a small circuit have the predicted error, within 15 %."""
    net = RNN(n=3, T=3, b=1, d=1, m=8, activation="relu", biases=True)
    problem = Problem(net, {"c": "all"})
    found = record(problem, ["units"], target="units", noise=1e-3, must=["unit 0"], seed=2)
    own = at_own_parameters(problem, 2).network.own_point
    w = {name: table.astype(float) for name, table in own.weights.items()}
    X = own.X.astype(float)
    unit = [e.unit for e in found.recorded]
    rng, errors = np.random.default_rng(0), []

    def flat(c, which):
        return np.array(states(net, {**w, "c": c}, X))[:, which].ravel()

    def step(f, c):
        at = np.eye(3)[:, :, None] * 1e-6
        return np.array([(f(c + d) - f(c - d)) / 2e-6 for d in at]).T

    prior = found.sensitivity.prior
    for _ in range(200):
        # The prior of the theory is wide; the fit starts nearby so that the pattern is kept.
        seen = flat(w["c"], unit) + 1e-3 * rng.standard_normal(flat(w["c"], unit).shape)
        start = w["c"][:, 0] + prior * rng.standard_normal(3)
        c = w["c"]
        for _ in range(3):
            J = step(lambda v: flat(v, unit), c) / 1e-3
            r = np.concatenate([(seen - flat(c, unit)) / 1e-3, (start - c[:, 0]) / prior])
            A = np.vstack([J, np.diag(1 / prior)])
            c = c + np.linalg.lstsq(A, r, rcond=None)[0][:, None]
        errors.append(flat(c, range(3)) - flat(w["c"], range(3)))
    assert found.rank.rank == 3
    assert np.isclose(np.sqrt(np.mean(np.square(errors))), found.total, rtol=0.15)


def test_a_kernel_is_no_dimension_of_matches():
    """Where the rank is larger nearby the family of matches is smaller than the kernel."""
    net = RNN(n=2, T=1, b=1, d=1, m=2, activation={"leaky": "1/10"}, biases=True)
    ones = [[1, 1], [1, 1]]
    problem = Problem(
        net, {"D": "all", "c": "all"}, values={"D": [[0, 0]], "W": ones, "c": [[1], [1]]}
    )
    found = identify(problem)
    assert found.to_dict()["fibre_dimension"] is None
    assert found.fibre.dimension == 3
    assert str(found.document()).startswith("to first order at these parameters: ")


def test_the_pattern_is_that_of_the_activity():
    """Signs of pre-activations agree with those of the simulated circuit."""
    net = RNN(n=5, T=4, b=1, d=1, m=3, activation="relu", biases=True, leak="1/3")
    problem = at_own_parameters(Problem(net, {"c": "all"}), 4)
    own = draw_instance(Problem(net, {}), 4, 0)
    w, h = own.weights, np.zeros((5, 3))
    for t, signs in enumerate(problem.network.own_point.signs):
        a = w["W"] @ (h + w["B"] @ own.X[t : t + 1]) + w["c"]
        assert ((a > 0) == signs).all()
        h = 2 * h / 3 + np.maximum(a, 0) / 3


def test_measured_parameters_are_exact():
    """Measured weights are the parameters; a unit that they silence cannot be determined."""
    net = RNN(n=2, T=2, b=1, d=2, m=2, activation="relu", biases=True, read="all")
    values = {"W": [["1/3", -1], [2, "1/7"]], "c": [[-100], [100]]}
    problem = Problem(net, {"c": "all"}, values=values)
    weights = at_own_parameters(problem, 0).network.own_point.weights
    assert weights["W"][0, 0] == fmpq(1, 3)
    found = identify(problem)
    assert found.fibre.determined == (("c", 1, 0),)
    assert found.fibre.free == (("c", 0, 0),)


def test_a_kink_matters_where_the_sum_moves():
    """A sum that is 0 by chance is refused; one without weights, or behind silent units, is not."""
    net = RNN(n=3, T=1, b=1, d=1, m=1, activation="relu")
    given = {"B": [[1], [1], [0]], "D": [[1, 1, 1]]}
    chance = {"W": [[1, -1, 0], [1, 1, 0], [0, 0, 1]], **given}
    refuses("unit 0 is exactly at its kink", identify, Problem(net, {"W": "all"}, values=chance))
    weights = [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    support = {"W": weights, "B": [[1], [1], [0]]}
    found = identify(Problem(net, {"D": "all"}, support, values={"W": weights, **given}))
    assert {("D", 0, 0), ("D", 0, 2)} <= set(found.fibre.free)


def test_refusals():
    """Missing parameters, a unit at its kink, other verbs: one line each."""
    net = RNN(n=2, T=2, b=1, d=1, m=1, activation="relu", biases=True)
    some = Problem(net, {"c": "all"}, values={"W": [["1/3", None], [2, 1]]})
    refuses(r"values.W\[0\]\[1\] is missing: .*own parameters", identify, some)
    refuses(r"values.W\[0\]\[1\] is missing", record, some, "units")
    kink = Problem(net, {"c": "all"}, {"B": [[0], [0]]}, values={"c": [[0], [1]]})
    refuses("is exactly at its kink", identify, kink)
    plain = Problem(net, {"c": "all"})
    for verb in (certify, count):
        refuses("ranks depend on which units are active", verb, plain)
    refuses("`activation.leaky`", RNN, n=2, T=2, b=1, d=1, m=1, activation={"leaky": 2})
    with pytest.raises(InputError, match="low-rank"):
        identify(Problem(net, {"W": {"lora": 1}}))


def test_a_circuit_too_large_for_exact_activity_is_refused_before_the_work():
    """The message has the number of entries, which are rationals, and the memory they take."""
    net = RNN(n=300, T=2, b=1, d=1, m=1, activation="relu")
    problem = Problem(net, {"D": "all"})
    with limited_memory(5_000_000):
        refuses(
            "90600 of them, is a rational.* takes about 13",
            at_own_parameters,
            problem,
            0,
            error=AboveLimit,
        )


@pytest.mark.parametrize("seed", range(many(6)))
def test_large_circuits_have_the_same_parameters_and_pattern(seed, monkeypatch):
    """With a sparse mask: weights of instance 0, signs by balls, ranks and recordings are equal."""
    rng = np.random.default_rng(seed)
    n, law = 10, ["normal", "uniform", "rademacher"][seed % 3]
    W = (rng.random((n, n)) < 0.2).astype(int)
    W[:, 3] = 0
    net = RNN(
        n=n, T=3, b=2, d=2, m=3, activation="relu", leak="1/3", biases=seed % 2 == 1,
        state="currents" if seed % 4 < 2 else "rates",
    )  # fmt: skip
    rows = [["1/3" if there else None for there in row] for row in W.tolist()]
    measured = {"W": rows} if seed == 4 else {}
    signs = [k % 3 - 1 for k in range(n)] if seed in (0, 3) else None
    found = []
    for large in (masks.LARGE, 0):
        monkeypatch.setattr(masks, "LARGE", large)
        problem = Problem(
            net, {"W": SparseMatrix.of(W)}, {"W": SparseMatrix.of(W)},
            Distribution(weights=law, signs=signs), values=measured,
        )  # fmt: skip
        own = at_own_parameters(problem, seed).network.own_point
        best = record(problem, "units", target="units", seed=seed)
        dense = np.array(own.weights["W"], dtype=object) + fmpq(0)
        found.append((dense, own.X, own.signs, own.bits, best.rank.rank, best.recorded))
    assert isinstance(own.weights["W"], SparseMatrix)
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)
    refuses("proof file", best.proof_file, error=Unfinished)


def test_weights_of_silent_units_bound_the_rank():
    """Most weights without an effect are known from the pattern, and the rank is proved by them."""
    known = idle = proved = 0
    for seed in range(many(80)):
        problem = circuit(f"silent/{seed}")
        if problem.network.activation.below:
            continue
        question = record(problem, "units", seed=seed, seconds=1).question
        J = derivatives(problem, seed, lambda *a: np.concatenate([r.ravel() for r in states(*a)]))
        known += int((~question.effective).sum())
        idle += int((~J.any(axis=0)).sum())
        proved += question.rank.rank < question.allocation.size and not question.rank.error
    assert known >= 0.8 * idle > 0
    assert proved > 0


def test_a_kink_of_a_large_circuit(monkeypatch):
    """Unit 1 is at its kink if it has a synapse, and is 0 whatever changes if it has none."""
    monkeypatch.setattr(masks, "LARGE", 0)
    net = RNN(n=2, T=2, b=1, d=1, m=1, activation="relu")
    for there in (1, 0):
        W = SparseMatrix.of(np.array([[1, 0], [there, 0]]))
        values = SparseMatrix(
            W.rows, W.columns, np.array([fmpq(1), fmpq(0)])[: len(W.rows)], (2, 2)
        )
        one = np.array([[fmpq(1)], [fmpq(1)]])
        given = {"W": values, "B": one, "D": one.T}
        if there:
            refuses("unit 1 is exactly at its kink", net.at_parameters, given, one, {"W": W})
        else:
            assert not net.at_parameters(given, one, {"W": W}).own_point.signs[0][1]
