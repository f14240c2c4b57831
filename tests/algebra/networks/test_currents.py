"""Recurrent networks whose states are currents: published equations, ranks, refusals."""

import itertools
import random

import numpy as np
import pytest
import sympy

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.networks.rnn import RNN
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from algebra.problems.files import problem_from_dict
from algebra.problems.problem import Problem
from algebra.questions.identify.identification import identify
from algebra.ranks.generic_rank import generic_rank
from algebra.ranks.jacobian import all_cells
from numeric.trials.instances import draw_instance
from tests.algebra.programs.test_leaks import are_independent
from tests.refusals import refuses
from tests.samples import many

FUNCTIONS = {
    "tanh": np.tanh,
    "softplus": lambda a: np.log1p(np.exp(a)),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
}
SIZES = {"n": 5, "T": 4, "b": 2, "d": 3, "m": 3}


def simulated(net: RNN, w: dict[str, np.ndarray], X: np.ndarray, kind=float) -> np.ndarray:
    """The published equations, written for one neuron and sample after the other."""
    φ = FUNCTIONS[net.activation.name]
    n, labels = net.n, np.zeros((net.T, net.d, net.m), kind)
    for s in range(net.m):
        h = [kind(w["h0"][i, 0]) if "h0" in w else 0.0 for i in range(n)]
        c = [kind(w["c"][i, 0]) if "c" in w else 0.0 for i in range(n)]
        g = [kind(w["g"][i, 0]) if "g" in w else 1.0 for i in range(n)]
        if "leak" in w:
            α = [kind(v) for v in w["leak"][:, 0]]
        else:
            α = [1.0 if net.leak == 1 else float(net.leak[i % len(net.leak)]) for i in range(n)]
        r = [φ(h[i] + c[i]) for i in range(n)]
        for t in range(net.T):
            x = X[t * net.b : (t + 1) * net.b, s]
            new = []
            for i in range(n):
                current = sum(w["W"][i, j] * g[j] * r[j] for j in range(n))
                current += sum(w["B"][i, k] * x[k] for k in range(net.b))
                new.append(h[i] + α[i] * (-h[i] + current))
            h = new
            r = [φ(h[i] + c[i]) for i in range(n)]
            for k in range(net.d):
                read = [w["D"][k, i] * (g[i] if net.gain == "rates" else 1) for i in range(n)]
                labels[t, k, s] = sum(read[i] * r[i] for i in range(n))
                if "e" in w:
                    labels[t, k, s] += w["e"][k, 0]
    if net.read == "last":
        return labels[-1]
    return np.concatenate(list(labels), axis=1)


OPTIONS = list(
    itertools.product(
        FUNCTIONS,
        (1, "1/5", ["1/2", "1/3", 1, "1/5", "1/7"], "learnable"),
        ("zero", "learnable"),
        ("none", "presynaptic", "rates"),
        (False, True),
        ("last", "all"),
    )
)


@pytest.mark.parametrize("activation", FUNCTIONS)
def test_values_are_those_of_the_published_equations(activation):
    """All combinations of options agree with a direct simulation to 1e-12."""
    rng = np.random.default_rng(1)
    for φ, leak, initial, gain, biases, read in OPTIONS:
        if φ != activation:
            continue
        net = RNN(
            **SIZES, activation=φ, leak=leak, initial=initial, gain=gain, biases=biases,
            read=read, state="currents",
        )  # fmt: skip
        w = {name: rng.normal(size=shape) for name, shape in net.shapes.items()}
        if "leak" in w:
            w["leak"] = rng.uniform(0.1, 0.9, w["leak"].shape)
        X = rng.normal(size=net.input_shape)
        labels = net.forward(w, X)
        assert np.abs(np.array(labels, float) - simulated(net, w, X)).max() < 1e-12


def test_masks_and_signs_enter_as_published():
    """Instances keep the masks, and the signs of presynaptic cells, of the problem."""
    net = RNN(
        n=6, T=3, b=1, d=1, m=2, activation="softplus", leak="1/5", biases=True,
        state="currents", initial="learnable", gain="presynaptic",
    )  # fmt: skip
    signs, mask = np.array([1, 1, 1, -1, -1, 1]), np.random.default_rng(0).integers(0, 2, (6, 6))
    problem = problem_from_dict(
        {
            "network": net.to_dict(),
            "learnable": {"g": "all", "c": "all", "h0": "all"},
            "support": {"W": mask.tolist()},
            "distribution": {"signs": {"neurons": signs.tolist()}},
        }
    )
    instance = draw_instance(problem, 0, 0)
    W = instance.weights["W"]
    assert (np.sign(W) == mask * signs).all()
    expected = simulated(net, instance.weights, instance.X)
    assert np.abs(net.forward(instance.weights, instance.X) - expected).max() < 1e-12


def test_parameters_of_types_move_together():
    """Gains, biases, initial currents and leaks have one parameter for each type."""
    net = RNN(
        n=4, T=3, b=1, d=1, m=2, leak="learnable", biases=True,
        state="currents", initial="learnable", gain="rates",
    )  # fmt: skip
    problem = problem_from_dict(
        {
            "network": net.to_dict(),
            "learnable": dict.fromkeys(["g", "c", "h0", "leak"], "all") | {"W": {"gain": "cells"}},
            "types": {"neurons": ["E", "E", "I", "E"]},
        }
    )
    kinds = {name.partition("[")[0] for name in problem.learning.names}
    assert kinds == {"g_W", "t_c", "t_h0", "t_g", "t_leak"}
    pairs = [name for name in problem.learning.names if name.startswith("g_W")]
    assert pairs == ["g_W[E→E]", "g_W[I→E]", "g_W[E→I]", "g_W[I→I]"]


def independent_by_sympy(net, support):
    """Whether different pre-activations of each unit are independent, values being symbols."""
    n, φ = net.n, {}
    W = [[sympy.Symbol(f"W{i}_{j}") * int(support["W"][i, j]) for j in range(n)] for i in range(n)]
    B = [sympy.Symbol(f"B{i}") * int(support["B"][i, 0]) for i in range(n)]
    c = [sympy.Symbol(f"c{i}") * int(net.biases) for i in range(n)]
    start = net.initial == "learnable"
    rates = [sympy.Rational(r.numerator, r.denominator) for r in net.leak] * n
    h, sums = [sympy.Symbol(f"h{i}") * int(start) for i in range(n)], [set() for _ in range(n)]
    for t in range(net.T + 1):
        z = []
        for i in range(n):
            a = sympy.expand(h[i] + c[i])
            sums[i].add(a)
            silent = a == 0 and net.activation.vanishes_at_zero
            z.append(0 if silent else φ.setdefault((i, a), sympy.Symbol(f"z{len(φ)}")))
        x = sympy.Symbol(f"x{t}")
        current = [sum(W[i][j] * z[j] for j in range(n)) + B[i] * x for i in range(n)]
        h = [sympy.expand((1 - rates[i]) * h[i] + rates[i] * current[i]) for i in range(n)]
    return are_independent(sums)


@pytest.mark.parametrize("seed", range(many(20)))
def test_pre_activations_against_sympy(seed):
    """Pre-activations are independent over Q if and only if the expanded ones are."""
    rng = random.Random(seed)
    net = RNN(
        n=3, T=3, b=1, d=1, m=1, activation=rng.choice(["tanh", "sigmoid"]),
        biases=rng.random() < 0.6, leak=rng.choice(["1/2", ["1/2", "1/3", 1]]), state="currents",
        initial=rng.choice(["zero", "learnable"]),
    )  # fmt: skip
    few = rng.choice([0.2, 0.5])
    support = {
        name: np.array([[int(rng.random() < few) for _ in range(shape[1])] for _ in range(3)])
        for name, shape in net.shapes.items()
        if name in "WB"
    }
    assert net.ranks_are_exact(support) == independent_by_sympy(net, support)


@pytest.mark.parametrize("seed", range(many(20)))
def test_ranks_against_singular_values(seed):
    """Generic ranks of sparse circuits are those of Jacobians by complex steps in doubles."""
    rng = random.Random(f"svd/{seed}")
    net = RNN(
        n=4, T=2, b=1, d=2, m=2, activation=rng.choice(["tanh", "softplus", "sigmoid"]),
        biases=rng.random() < 0.5, leak=rng.choice([1, "1/2", "learnable"]), state="currents",
        initial=rng.choice(["zero", "learnable"]), read=rng.choice(["last", "all"]),
        gain=rng.choice(["none", "presynaptic", "rates"]),
    )  # fmt: skip
    support = {"W": np.array([[int(rng.random() < 0.4) for _ in range(4)] for _ in range(4)])}
    cells = [cell for cell in all_cells(net, support) if rng.random() < 0.6]
    own = np.random.default_rng(seed)
    w = {name: own.normal(size=shape) for name, shape in net.shapes.items()}
    w["W"] = w["W"] * support["W"]
    X = own.normal(size=net.input_shape)
    columns = []
    for name, i, j in cells:
        moved = {key: value.astype(complex) for key, value in w.items()}
        moved[name][i, j] += 1e-30j
        columns.append(simulated(net, moved, X, complex).ravel().imag / 1e-30)
    values = np.linalg.svd(np.array(columns).T, compute_uv=False)
    found = generic_rank(net, cells, support=support).rank
    assert net.ranks_are_exact(support)
    assert found == int((values > 1e-11 * values[0]).sum())


def test_refusals():
    """What is about currents alone, and unknown words, are refused by their key."""
    refuses(
        '`initial` .*is about networks with state = "currents"', RNN, **SIZES, initial="learnable"
    )
    refuses('`gain` .*is about networks with state = "currents"', RNN, **SIZES, gain="presynaptic")
    refuses("`state`", RNN, **SIZES, state="voltages")
    refuses("`gain`", RNN, **SIZES, state="currents", gain="postsynaptic")


@pytest.mark.parametrize("seed", range(many(8)))
def test_verdicts_and_recordings_are_verified(seed):
    """Certificates and recordings of such circuits verify from their files."""
    rng = random.Random(f"verdicts/{seed}")
    net = RNN(
        n=3, T=2, b=1, d=1, m=2, activation=rng.choice(["tanh", "softplus"]), biases=True,
        leak=rng.choice(["1/3", "learnable"]), state="currents", initial="learnable",
        gain=rng.choice(["presynaptic", "rates"]),
    )  # fmt: skip
    problem = Problem(net, {"g": "all", "c": "all", "h0": [[1], [0], [1]]})
    found = certify(problem)
    assert verify(found.to_dict()).holds
    assert identify(problem).fibre.rank.rank == found.rank
    assert RECORDING.verify(record(problem, "units").proof_file()).holds
