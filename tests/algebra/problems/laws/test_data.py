"""Samples and labels that are given: what is read and refused; no theorem covers them."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from algebra.checker.premises import common
from algebra.families.theorems import theorems
from algebra.networks.recurrent import SequenceRNN
from algebra.problems.files import problem_from_dict
from algebra.problems.laws.data import as_data
from algebra.problems.laws.distribution import Distribution
from algebra.problems.premises import Feature
from matchprob import (
    FeedForward,
    LinearEstimator,
    Problem,
    certify,
    count,
    draw_instance,
    estimate,
    identify,
    profile,
)
from numeric.trials.instances import given_labels
from tests.refusals import refuses

NET = FeedForward(q=2, widths=(2,), d=1, m=3, activation="tanh")
ROWS = [[1, "1/2"], ["-0.3", 2], [0.75, -1]]


def _problem(network=NET, learnable=None, **laws):
    return Problem(
        network, learnable or {"W1": [[1, 1], [1, 0]]}, distribution=Distribution(**laws)
    )


def test_numbers_are_exact_and_come_back():
    """Decimals, fractions and doubles, as written; a problem's own table gives the same problem."""
    data = as_data(ROWS, "inputs")
    assert data[1] == (Fraction(-3, 10), Fraction(2))
    assert as_data([[str(x) for x in row] for row in data], "inputs") == data
    assert as_data(np.array([[1.0, 0.1]]), "inputs") == ((Fraction(1), Fraction(1, 10)),)
    problem = _problem(inputs=ROWS, labels=[[1], [2], [3]])
    again = problem_from_dict(problem.to_dict())
    assert again == problem
    assert hash(again.distribution) == hash(problem.distribution)


@pytest.mark.parametrize(
    ("laws", "words"),
    [
        ({"inputs": [[1, 2], [3]]}, r"inputs\[1\]` has 1 numbers"),
        ({"inputs": [[1, 2], [3, "x"]]}, r"inputs\[1\]\[1\]`.*'x' is no number"),
        ({"inputs": [[1, 2], [3, float("nan")]]}, r"inputs\[1\]\[1\]`"),
        ({"inputs": []}, "rows of numbers"),
        ({"inputs": [1, 2, 3]}, "rows of numbers"),
        ({"inputs": 3}, "rows of numbers"),
        ({"inputs": [[1, 2], [3, 4]]}, "needs 3 rows"),
        ({"labels": [[1, 2], [3, 4], [5, 6]]}, "of 1 numbers"),
        ({"labels": [[1], [2], [3]], "teacher": "uniform"}, "no teacher"),
        ({"labels": [[1], [2], [3]], "noise": 1}, "given labels are exact"),
        ({"inputs": "gaussian"}, "must be one of"),
    ],
)
def test_wrong_data_are_refused(laws, words):
    """In one line, with the row and the column."""
    refuses(words, _problem, **laws)


def test_every_trial_has_the_data():
    """Samples and labels are those given, in every trial; only weights are drawn."""
    problem = _problem(inputs=ROWS, labels=[["0.1"], [2], [3]])
    first, second = (draw_instance(problem, 0, index) for index in (0, 1))
    for instance in (first, second):
        assert instance.X.tolist() == [[1.0, -0.3, 0.75], [0.5, 2.0, -1.0]]
        assert instance.labels.tolist() == [[0.1, 2.0, 3.0]]
        assert instance.known_teacher is None
        assert instance.drawn_labels[0, 0] == fmpq(1, 10)
    assert (first.weights["W2"] != second.weights["W2"]).any()
    # With inputs alone a teacher labels them, and the other streams are those without them.
    taught, drawn = draw_instance(_problem(inputs=ROWS), 0, 0), draw_instance(_problem(), 0, 0)
    assert (taught.weights["W1"] == drawn.weights["W1"]).all()
    assert np.allclose(taught.labels, NET.forward(drawn.teacher, taught.X))


def test_labels_of_all_steps():
    """A row has the outputs of a sample, step after step."""
    net = SequenceRNN(n=2, T=2, b=1, d=2, m=3)
    rows = [[f"{s}{t}{o}" for t in (1, 2) for o in (1, 2)] for s in (1, 2, 3)]
    problem = _problem(net, {"W": [[1, 0], [0, 1]]}, labels=rows)
    found = given_labels(problem)
    assert found.tolist() == [
        [111, 211, 311, 121, 221, 321],
        [112, 212, 312, 122, 222, 322],
    ]


def test_no_theorem_covers_given_data():
    """Nothing that is proved for generic samples or labels is claimed; verdicts are refused."""
    own = {Feature.GIVEN_INPUTS, Feature.GIVEN_LABELS}
    assert not any(own & theorem.covers.keys() for theorem in theorems())
    assert not own & common(theorems())
    for laws in ({"inputs": ROWS}, {"labels": [[1], [2], [3]]}):
        refuses("given", certify, _problem(**laws))
        refuses("given|labels", identify, _problem(**laws))
        refuses("given", profile, _problem(**laws), by="error", trials=2)
    # A generic allocation with an odd number of solutions settles no trial.
    net = LinearEstimator(q=2, d=1, m=2)
    full = Problem(net, {"W": [[1, 1]]})
    assert certify(full).verdict == "maximal"
    same = [[1, 2], [1, 2]]
    given_twice = Problem(
        net, {"W": [[1, 1]]}, distribution=Distribution(inputs=same, labels=[[1], [2]])
    )
    # The same sample with two labels: no trial can match.
    assert estimate(given_twice, trials=5).matched == 0


def test_counts_agree_with_solving_by_hand():
    """Linear in what learns: the count is that of a linear system of the given numbers."""
    net = LinearEstimator(q=2, d=1, m=2)
    regular = Distribution(inputs=[[1, 2], [3, 4]], labels=[["1/3"], [5]])
    found = count(Problem(net, {"W": [[1, 1]]}, distribution=regular), instances=2)
    assert [own.real for own in found] == [1, 1]
    want = np.linalg.solve([[1, 2], [3, 4]], [1 / 3, 5])
    assert np.allclose(found.instances[0].solutions[0], want)


def test_relu_trials_are_decided_on_data():
    """Each trial has a witness or a refutation with the given samples and labels."""
    net = FeedForward(q=2, widths=(3,), d=1, m=3, activation="relu")
    laws = Distribution(inputs=ROWS, labels=[["0.1"], ["-0.2"], ["0.3"]])
    problem = Problem(net, {"W1": [[1, 1], [1, 0], [0, 0]]}, distribution=laws)
    found = estimate(problem, trials=20)
    assert found.undetermined == 0
    assert 0 < found.matched < 20
