"""Every trial of small networks, decided as by formulas that use nothing of the program."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matchprob as mp
from numeric.trials.instances import draw_instance
from tests.samples import many

RNN = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
PLAIN, NOISY = mp.Distribution(), mp.Distribution(noise="3/10")


def _two_steps(instance):
    """P and Q with y_k = P x_1k + Q x_2k, and D, B: P = D W² B and Q = D W B."""
    P, Q = np.linalg.solve(instance.X.T, instance.labels[0])
    return P, Q, instance.weights["D"][0], instance.weights["B"][:, 0]


def _diagonal(instance):
    """W = [[a, u], [v, b]]: a line c_0 a + c_1 b = q, c_i = D_i B_i, and a quadratic in a on it."""
    P, Q, D, B = _two_steps(instance)
    (_, u), (v, _) = instance.weights["W"]
    c, e = D * B, D[0] * u * B[1] + D[1] * v * B[0]
    q = Q - e
    first = c[0] + c[0] ** 2 / c[1]
    second = e * (1 - c[0] / c[1]) - 2 * c[0] * q / c[1]
    return second**2 >= 4 * first * (q**2 / c[1] + e * q / c[1] + u * v * (D @ B) - P)


def _off_diagonal(instance):
    """W = [[p, a], [b, r]]: the sum and the product of D_0 B_1 a and D_1 B_0 b."""
    P, Q, D, B = _two_steps(instance)
    (p, _), (_, r) = instance.weights["W"]
    c = D * B
    q = Q - c @ [p, r]
    product = (P - c @ [p**2, r**2] - (p + r) * q) / (D @ B)
    return q**2 >= 4 * D[0] * B[1] * D[1] * B[0] * product


def _powers(instance):
    """One unit: a polynomial in w, of the degree of the number of steps, without constant."""
    x, scale = instance.X[:, 0], (instance.weights["D"] * instance.weights["B"])[0, 0]
    roots = np.roots([*x, -instance.labels[0, 0] / scale])
    return bool((np.abs(roots.imag) < 1e-9 * np.abs(roots)).any())


def _unit(low: float, high: float) -> Callable[[Any], bool]:
    """A unit with as many weights as samples: its values, which the labels give, within bounds."""

    def matches(instance):
        W1, W2 = (instance.weights[name].copy() for name in ("W1", "W2"))
        others = np.concatenate([[0], W2[0, 1:]])[None]
        student = {"W1": W1, "W2": others}
        rest = instance.problem.network.forward(student, instance.X)
        needed = (instance.labels - rest) / W2[0, 0]
        return bool(((needed >= low) & (needed <= high)).all())

    return matches


def _layers(activation, laws=PLAIN):
    return mp.Problem(
        mp.FeedForward(2, (2,), 1, 2, activation=activation), {"W1": [[1, 1], [0, 0]]},
        distribution=laws,
    )  # fmt: skip


def _one(T, laws=PLAIN):
    return mp.Problem(mp.LinearRNN(n=1, T=T, b=1, d=1, m=1), {"W": [[1]]}, distribution=laws)


CASES = {
    "diagonal": (mp.Problem(RNN, {"W": [[1, 0], [0, 1]]}), _diagonal),
    "diagonal, noise": (
        mp.Problem(RNN, {"W": [[1, 0], [0, 1]]}, distribution=NOISY), _diagonal,
    ),
    "off-diagonal": (mp.Problem(RNN, {"W": [[0, 1], [1, 0]]}), _off_diagonal),
    "off-diagonal, noise": (
        mp.Problem(RNN, {"W": [[0, 1], [1, 0]]}, distribution=NOISY), _off_diagonal,
    ),
    "two powers": (_one(2), _powers),
    "four powers": (_one(4), _powers),
    "six powers, noise": (_one(6, NOISY), _powers),
    "square": (_layers({"polynomial": [0, 0, 1]}), _unit(0, np.inf)),
    "tanh": (_layers("tanh"), _unit(-1, 1)),
    "tanh, noise": (_layers("tanh", NOISY), _unit(-1, 1)),
    "sigmoid": (_layers("sigmoid"), _unit(0, 1)),
    "softplus": (_layers("softplus"), _unit(0, np.inf)),
    "erf": (_layers("erf"), _unit(-1, 1)),
    "ReLU": (mp.Problem(mp.ShallowReLU(2, 2, 1, 2), {"W1": [[1, 1], [0, 0]]}), _unit(0, np.inf)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_trial_is_decided_as_by_a_closed_form(name):
    """Matched where the formula has a real solution, unmatched elsewhere, none undetermined."""
    problem, matches = CASES[name]
    found = mp.estimate(problem, trials=many(80), seed=3, certify=False)
    outcomes = {True: "matched", False: "unmatched"}
    expected = [matches(draw_instance(problem, 3, count.index)) for count in found.counts]
    assert [count.outcome for count in found.counts] == [outcomes[bool(e)] for e in expected]
    assert len(set(expected)) == 2


def test_the_match_probability_is_that_of_many_draws():
    """tanh, two weights: 10^5 draws of the condition, and trials of the engine, agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2, 2, 100_000))
    W1, V1 = rng.normal(size=(2, 2, 2, 100_000)) / np.sqrt(2)
    W2, V2 = rng.normal(size=(2, 2, 100_000)) / np.sqrt(2)
    labels = np.einsum("it,ist->st", V2, np.tanh(np.einsum("ijt,jst->ist", V1, X)))
    other = W2[1] * np.tanh(np.einsum("jt,jst->st", W1[1], X))
    exact = float((np.abs(labels - other) < np.abs(W2[0])).all(axis=0).mean())
    found = mp.estimate(_layers("tanh"), trials=many(400), confidence=0.999)
    assert found.undetermined == 0
    assert found.interval().low < exact < found.interval().high
