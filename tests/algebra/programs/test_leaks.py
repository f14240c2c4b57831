"""Leaks: read and refused; derivatives; independence of the sums of a unit."""

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.residues import random_residues
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from algebra.problems.files import problem_from_dict
from algebra.programs.leaks import read_leak
from algebra.questions.identify.identification import identify
from algebra.ranks.derivatives import dual_derivative, dual_point
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import columns_at, random_point
from matchprob import RNN, InputError, Problem, draw_instance
from numeric.programs.losses import Loss
from numeric.programs.students import Students
from tests.refusals import refuses
from tests.samples import many

LEAKS = (1, 0.25, [0.5, 1, "1/3"], "learnable")
ACTIVATIONS = ("tanh", "softplus", {"polynomial": [1, 2, 1]}, "linear")


def some_net(rng, **more):
    """A small leaking network."""
    given = {
        "leak": rng.choice(LEAKS), "read": rng.choice(["last", "all"]),
        "activation": rng.choice(ACTIVATIONS), "biases": rng.random() < 0.5,
    }  # fmt: skip
    return RNN(n=3, T=3, b=2, d=2, m=2, **{**given, **more})


@pytest.mark.parametrize("seed", range(many(40)))
def test_columns_are_derivatives(seed):
    """Jacobian columns and readings agree with dual numbers, in primes of both lengths."""
    rng = random.Random(seed)
    net, p = some_net(rng), random_prime(rng, rng.choice((31, 61)))
    point = random_point(net, p, rng.randrange(1 << 32))
    shapes = net.shapes.items()
    cells = [(name, i, j) for name, (r, c) in shapes for i in range(r) for j in range(c)]
    step = random_residues((len(cells), 1), p, rng)
    along = matmul(columns_at(net, point, cells), step, p)[:, 0]
    assert np.array_equal(along, dual_derivative(net, point, cells, step[:, 0]).ravel() % p)
    duals = dual_point(net, point, cells, step[:, 0])
    labels = np.concatenate([v.value for v in net.modular_values("labels", duals)], axis=1)
    assert np.array_equal(labels % p, net.modular_forward(duals).value % p)
    assert [len(v.value) for v in net.modular_values("states", duals)] == [3, 3, 3]


@pytest.mark.parametrize("seed", range(many(20)))
def test_labels_and_jacobian_against_a_loop(seed):
    """Labels agree with a loop over steps in doubles; the engine's Jacobian with differences."""
    rng = random.Random(seed)
    net = some_net(rng, activation="tanh", biases=True)
    learnable = {name: "all" for name in net.shapes if name != "D"}
    instance = draw_instance(Problem(net, learnable), seed, 0)
    w, X = instance.weights, instance.X
    if net.leak == "learnable":
        assert ((w["leak"] > 0) & (w["leak"] < 1)).all()
        rate = w["leak"]
    else:
        rates = [1] if net.leak == 1 else net.leak
        rate = np.array([[float(Fraction(r))] for r in rates])
    h, seen = np.zeros((3, 2)), []
    for t in range(3):
        value = np.tanh(w["W"] @ (h + w["B"] @ X[2 * t : 2 * t + 2]) + w["c"])
        h = (1 - rate) * h + rate * value
        seen.append(w["D"] @ h + w["e"])
    Y = np.concatenate(seen, axis=1) if net.read == "all" else seen[-1]
    assert np.allclose(net.forward(w, X), Y, atol=1e-13)
    at = np.array([w[name][i, j] for name, i, j in instance.allocation.cells])
    steps = np.concatenate([at[None], at + 1e-6 * np.eye(len(at))])
    f, J = Loss(Students.of([instance], len(steps))).jacobian(steps)
    assert np.allclose(f[0], (Y - instance.labels).ravel(), atol=1e-12)
    assert np.allclose((f[1:] - f[0]) / 1e-6, J[0].T, atol=1e-4)


def test_without_a_leak_nothing_changes():
    """α = 1 is the network without a leak: equal, the same file, the same points and verdict."""
    plain = RNN(n=3, T=2, b=1, d=1, m=3, biases=True)
    one = RNN(n=3, T=2, b=1, d=1, m=3, biases=True, leak=[1, "1", 1.0], read="last")
    assert one == plain
    assert one.to_dict() == plain.to_dict()
    assert Problem(one, {"W": "all"}).digest == Problem(plain, {"W": "all"}).digest


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        (0, "must be above 0 and at most 1"),
        (1.5, r"`leak` \(1.5\) must be above 0 and at most 1"),
        ([0.5, 2, 1], r"`leak\[1\]` \(2\) must be above 0"),
        ([0.5, 0.5], "has 2 numbers for 3 units"),
        ("often", 'a number above 0 and at most 1, or "learnable"'),
        (True, "must be a number"),
        (float("nan"), "must be a number"),
    ],
)
def test_refusals(leak, words):
    """Invalid leaks are refused with their place."""
    with pytest.raises(InputError, match=words):
        read_leak(leak, 3)


def test_files_of_leaks(tmp_path):
    """One number per row, or an array; the row of a wrong one is named."""
    sizes = {"kind": "rnn", "n": 3, "T": 2, "b": 1, "d": 1, "m": 1}
    (tmp_path / "leaks.csv").write_text("0.1\n1\n1/3\n", encoding="utf-8")
    np.save(tmp_path / "leaks.npy", np.array([0.1, 1.0, 0.5]))
    found = problem_from_dict({"network": {**sizes, "leak": "leaks.csv"}}, tmp_path).network
    assert found.leak == (Fraction(1, 10), Fraction(1), Fraction(1, 3))
    found = problem_from_dict({"network": {**sizes, "leak": "leaks.npy"}}, tmp_path).network
    assert found.leak == (Fraction(1, 10), Fraction(1), Fraction(1, 2))
    (tmp_path / "leaks.csv").write_text("0.1\n1\n-3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"leaks.csv, row 2: `leak` \('-3'\) must be above 0"):
        problem_from_dict({"network": {**sizes, "leak": "leaks.csv"}}, tmp_path)


def are_independent(sums):
    """Whether the expressions that are not 0, of each of these sets, are independent over Q."""
    for found in sums:
        rows = [a.as_coefficients_dict() for a in found if a != 0]
        places = sorted({m for row in rows for m in row}, key=str)
        table = sympy.Matrix([[row.get(m, 0) for m in places] for row in rows])
        if rows and table.rank() < len(rows):
            return False
    return True


def independent_by_sympy(net, support):
    """The same, expanded: values are symbols, equal for equal sums."""
    n, φ = net.n, {}
    W = [[sympy.Symbol(f"W{i}_{j}") * int(support["W"][i][j]) for j in range(n)] for i in range(n)]
    B = [sympy.Symbol(f"B{i}") * int(support["B"][i][0]) for i in range(n)]
    c = [sympy.Symbol(f"c{i}") * int(net.biases and support["c"][i][0]) for i in range(n)]
    rates = [sympy.Rational(r.numerator, r.denominator) for r in net.leak] * n
    h, sums = [sympy.Integer(0)] * n, [set() for _ in range(n)]
    for t in range(net.T):
        x = sympy.Symbol(f"x{t}")
        a = [sympy.expand(sum(W[i][j] * (h[j] + B[j] * x) for j in range(n)) + c[i])
             for i in range(n)]  # fmt: skip
        new = []
        for i in range(n):
            zero = a[i] == 0 and net.activation.vanishes_at_zero
            z = 0 if zero else φ.setdefault((i, a[i]), sympy.Symbol(f"z{len(φ)}"))
            new.append((1 - rates[i]) * h[i] + rates[i] * z)
            sums[i].add(a[i])
        h = [sympy.expand(v) for v in new]
    return are_independent(sums)


@pytest.mark.parametrize("seed", range(many(30)))
def test_sums_against_sympy(seed):
    """Sums are independent over Q if and only if the expanded sums are."""
    rng = random.Random(seed)
    n, T = 3, 4
    net = RNN(
        n=n, T=T, b=1, d=1, m=1, activation=rng.choice(["tanh", "sigmoid"]),
        biases=rng.random() < 0.7, leak=rng.choice(["1/2", ["1/2", "1/3", 1]]),
    )  # fmt: skip
    few = rng.choice([0.2, 0.5])
    support = {
        name: np.array([[int(rng.random() < few) for _ in range(c)] for _ in range(r)])
        for name, (r, c) in net.shapes.items()
    }
    assert net.ranks_are_exact(support) == independent_by_sympy(net, support)


def test_dependent_sums_are_no_proof():
    """A unit whose input is a unit with only a bias: formal ranks are upper bounds there."""
    net = RNN(n=2, T=4, b=1, d=1, m=1, biases=True, leak=0.5, read="all")
    support = {"W": [[0, 0], [1, 0]], "B": [[0], [0]]}
    assert not net.ranks_are_exact({k: np.array(v) for k, v in support.items()})
    assert RNN(n=2, T=4, b=1, d=1, m=1, biases=True, leak="learnable").ranks_are_exact({})
    problem = Problem(net, {"W": [[0, 0], [1, 0]]}, support)
    found = certify(problem)
    assert found.verdict == "undecided" or "regular_minor" in found.evidence
    assert verify(found.to_dict()).holds


@pytest.mark.parametrize("seed", range(many(12)))
def test_verdicts_and_recordings_are_verified(seed):
    """Certificates and recordings of leaking networks verify from their files."""
    rng = random.Random(f"verdicts/{seed}")
    net = some_net(rng, activation=rng.choice(["tanh", "softplus"]), biases=True)
    learnable = {
        name: [[rng.randint(0, 1) for _ in range(c)] for _ in range(r)]
        for name, (r, c) in net.shapes.items()
        if name in ("c", "leak", "e")
    }
    learnable["W"] = {"gain": "rows"} if rng.random() < 0.5 else "all"
    problem = Problem(net, learnable)
    found = certify(problem)
    assert verify(found.to_dict()).holds
    assert found.equations == network_rank(net).rank
    assert identify(problem).fibre.rank.rank == found.rank
    assert RECORDING.verify(record(problem, "units").proof_file()).holds


def test_leaks_of_types():
    """Time constants by type are those of each neuron; types without members are refused."""
    sizes = {"kind": "rnn", "n": 3, "T": 2, "b": 1, "d": 1, "m": 1}
    types = {"neurons": ["E", "I", "E"]}

    def read(leak, types=types):
        return problem_from_dict({"network": {**sizes, "leak": leak}, "types": types}).network.leak

    assert read({"E": "1/10", "I": 0.5}) == (Fraction(1, 10), Fraction(1, 2), Fraction(1, 10))
    refuses("network.leak.P: no neuron is of this type; E, I", read, {"E": 1, "I": 1, "P": 1})
    refuses("network.leak has no number for the type 'I'", read, {"E": 0.5})
    refuses("network.leak.I: `leak` .* must be above 0", read, {"E": 0.5, "I": 2})
    refuses(r"name those of neurons in \[types\]", read, {"E": 0.5}, {})
