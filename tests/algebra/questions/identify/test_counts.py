"""Expected and ambient dimension: scales and degrees that are found from the program."""

import pytest

from algebra.plugins.models.dimension import dimension_of
from algebra.plugins.models.verify_dimension import DIMENSION
from algebra.programs.degrees import term_degrees
from matchprob import RNN, FeedForward, LinearRNN

SQUARE, MIXED, CUBIC = ([0, 0, 1], [0, 1, 1], [0, 1, 0, 1])


def recurrent(T, terms, **more):
    """A recurrent network with two units, two inputs a step and a polynomial."""
    return RNN(n=2, T=T, b=2, d=1, m=1, activation={"polynomial": terms}, **more)


def test_a_recurrent_network_of_squares():
    """10 weights less two scales are attained; terms of degrees 2 to 4 lie in 70 dimensions."""
    found = dimension_of(recurrent(2, SQUARE))
    assert (found.dimension, found.expected, found.defect, found.ambient) == (8, 8, 0, 70)
    assert DIMENSION.verify(found.proof_file()).holds


def test_diagonal_changes_of_basis_are_scales():
    """A linear recurrent network of two units: 8 weights, two scales, two further relations."""
    found = dimension_of(LinearRNN(n=2, T=10, b=1, d=1, m=1))
    assert (found.dimension, found.expected, found.defect, found.ambient) == (4, 6, 2, 10)
    assert DIMENSION.verify(found.proof_file()).holds


@pytest.mark.parametrize(
    ("network", "degrees"),
    [
        (recurrent(1, SQUARE), (2, 2)),
        (recurrent(3, SQUARE), (2, 8)),
        (recurrent(2, MIXED), (1, 4)),
        (recurrent(2, CUBIC), (1, 9)),
        (recurrent(1, SQUARE, biases=True), (0, 2)),
        (recurrent(1, SQUARE, leak=0.5), (2, 2)),
        (FeedForward(q=3, widths=(2, 2), d=1, m=1, activation={"polynomial": SQUARE}), (4, 4)),
        (FeedForward(q=3, widths=(2,), d=1, m=1, activation="linear", biases=True), (0, 1)),
    ],
)
def test_degrees_of_terms(network, degrees):
    """The least and the greatest degree in the samples; the counts of each are verified."""
    program = network.program()
    exponents = [k for k, c in enumerate(network.activation.coefficients) if c]
    assert term_degrees(program, program.samples, exponents) == degrees
    found = dimension_of(network)
    checks = DIMENSION.verify(found.proof_file()).checks
    assert {check.place: check.status for check in checks}["ambient"] == "probable"


@pytest.mark.parametrize(
    ("key", "value"), [("expected", 9), ("expected", 7), ("ambient", 35), ("ambient", None)]
)
def test_forged_counts_fail(key, value):
    """Scales that are not subtracted, one too many, and a space that does not hold the maps."""
    proof = dimension_of(recurrent(2, SQUARE)).proof_file()
    found = DIMENSION.verify({**proof, key: value})
    assert not found.holds
    assert found.checks[-1].place == key
