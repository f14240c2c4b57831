"""Written equations: every kind, every form; sign conditions; what is too long."""

import random

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import matchprob as mp
from algebra.families.equations import form_names, written_form
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.recurrent import LinearRNN, SequenceRNN
from algebra.networks.rnn import RNN
from algebra.plugins.normalization.network import NormNet
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation
from algebra.problems.instance_files import GivenNumbers
from algebra.problems.problem import Problem
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import FORMS, TooLong, batch_of
from algebra.systems.written import symbolic_system
from tests.refusals import refuses
from tests.samples import many

KINDS = {
    "linear": (LinearEstimator(q=2, d=2, m=2), ("forward", "backward", "direct")),
    "lrnn": (LinearRNN(n=2, T=3, b=1, d=1, m=2), ("B", "D", "direct")),
    "lrnn-sequence": (SequenceRNN(n=2, T=2, b=1, d=1, m=2), ("B", "D", "direct")),
    "lffn": (LinearFeedForward(q=2, widths=(2, 2), d=1, m=2), ("forward", "backward", "direct")),
    "rnn": (RNN(2, 2, 1, 1, 2, activation="tanh", leak="1/3"), ("sums", "direct")),
    "rnn, z + z²": (
        RNN(2, 2, 1, 1, 2, activation={"polynomial": [0, 1, 1]}, read="all"), ("sums", "direct"),
    ),
    "rnn, linear": (RNN(2, 2, 1, 1, 2, activation="linear"), ("B", "D", "direct")),
    "ffn": (FeedForward(2, (2,), 1, 2, activation="softplus", biases=True), ("sums", "direct")),
    "relu": (ShallowReLU(q=2, n=3, d=1, m=2), ("sums", "direct")),
    "normnet": (NormNet.square(1, 2, 2, 2), ("lemma", "sums", "direct")),
    "normnet, linear": (
        NormNet.square(1, 1, 2, 2, "linear"), ("lemma", "forward", "backward", "direct"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_forms(kind):
    """By name, whatever learns, and a wrong name lists them."""
    network, names = KINDS[kind]
    allocation = Allocation.from_cells(network, [all_cells(network)[0]])
    assert form_names(allocation) == names
    for name in names:
        made = written_form(allocation, name)
        assert made.form == name
        assert len(made.equations) == len(made.labels) > 0
        assert made.to_dict()["equations"][0]["label"] == made.labels[0]
    refuses(f"choose from core, {', '.join(names)}", written_form, allocation, "Z")


def at(point, expressions):
    """Polynomials with whole coefficients at rational numbers."""
    return sympy.lambdify(list(point), list(expressions), modules=[{}])(*point.values())


def numbers(network, rng):
    """Random rational weights and samples, and their names in equations."""
    drawn = {
        name: np.array([[fmpq(rng.randint(-9, 9), 4) for _ in range(s[1])] for _ in range(s[0])])
        for name, s in {**network.shapes, "X": network.input_shape}.items()
    }
    values = {
        f"{name}_{i}_{j}": v
        for name, matrix in drawn.items()
        for (i, j), v in np.ndenumerate(matrix)
    }
    X = drawn.pop("X")
    return drawn, X, values


@pytest.mark.parametrize("kind", ["lrnn", "lrnn-sequence", "lffn", "rnn, z + z²", "relu"])
@settings(max_examples=many(10), deadline=None)
@given(st.integers(0, 10**6))
def test_the_forms_say_what_the_network_computes(kind, seed):
    """At its own auxiliary values every equation is 0, but those of the labels, which are Y."""
    network, names = KINDS[kind]
    rng = random.Random(seed)
    weights, X, values = numbers(network, rng)
    allocation = Allocation.from_cells(network, rng.sample(all_cells(network), 2))
    Y = network.forward(weights, X)
    values |= {f"Y_{i}_{j}": y for (i, j), y in np.ndenumerate(Y)}
    for name in names:
        made = written_form(allocation, name, seed=seed % 7)
        given = network.placed(weights, X)
        own = FORMS[name].program(network).values(network.entries(), given, batch_of(network))
        point = values | {
            f"{prefix}_{i}_{j}": v for prefix, F in own.items() for (i, j), v in np.ndenumerate(F)
        }
        signs = at(point, [e for e, _ in made.conditions])
        left = at(point, made.equations)
        auxiliary = len(made.auxiliary)
        assert all(e == 0 for e in left[:auxiliary])
        assert len(left) == auxiliary + Y.size
        # On another pattern the labels are others.
        if all(bool(e > 0) == above for e, (_, above) in zip(signs, made.conditions, strict=True)):
            assert all(e == 0 for e in left[auxiliary:])


@settings(max_examples=many(30), deadline=None)
@given(st.integers(0, 10**6))
def test_a_pattern_is_one_that_occurs(seed):
    """Of an instance all of whose weights are fixed, the pattern is the network's own."""
    rng = random.Random(seed)
    network = ShallowReLU(q=rng.randint(1, 2), n=2, d=1, m=rng.randint(1, 3))
    weights, X, _ = numbers(network, rng)
    Y = network.forward(weights, X)
    problem = Problem(network, {})
    given = GivenNumbers(problem, weights, X, labels=Y)
    for form in ("sums", "direct"):
        made = written_form(problem.allocation, form, numbers=given)
        hidden = weights["W1"] @ X
        if form == "direct":
            # Numbers need no conditions, and the labels are those that were given.
            assert made.conditions == ()
            assert all(e == 0 for e in made.equations)
        else:
            signs = [above for _, above in made.conditions]
            assert signs == [bool(h > 0) for h in hidden.ravel()]


def test_conditions_are_those_of_the_paper():
    """Eq. 5.1: W2 P W1 x = y with (2P − 1) W1 x of one sign, one unit active, one silent."""
    network = ShallowReLU(q=1, n=2, d=1, m=1)
    made = symbolic_system(Allocation.from_cells(network, [("W1", 0, 0)]), "direct")
    assert [str(e.expand()) for e in made.equations] == ["W1_1_0*W2_0_1*X_0_0 - Y_0_0"]
    assert made.inequalities() == ["W1_0_0*X_0_0 <= 0", "W1_1_0*X_0_0 > 0"]
    assert made.to_dict()["conditions"] == made.inequalities()
    assert "on one activation pattern" in made.title
    assert made.text().splitlines()[-1] == "  where W1_1_0*X_0_0 > 0"


def test_an_inspection_says_what_is_too_long():
    """The report is there, with the sentence; `symbolic_system` refuses."""
    problem = mp.Problem(mp.LinearRNN(n=12, T=12, b=1, d=1, m=1), {"W": [[1] + [0] * 11] * 12})
    found = mp.inspect(problem, form="direct")
    assert found.written is None
    assert "direct form" in found.skipped[-1]
    assert found.forms


def test_what_is_too_long_is_refused_before_it_is_made():
    """The direct form of 12 steps of 12 units has 10^14 terms; the B form can be read."""
    network = LinearRNN(n=12, T=12, b=1, d=1, m=1)
    allocation = Allocation.rows(network, "W", [0])
    with pytest.raises(TooLong, match=r"terms in one equation.*other forms are B, D"):
        symbolic_system(allocation, "direct")
    assert len(symbolic_system(allocation, "B").equations) == 145
    wide = LinearRNN(n=300, T=150, b=1, d=1, m=1)
    refuses("45001 equations", symbolic_system, Allocation.rows(wide, "W", [0]), "B", error=TooLong)
