"""Signs of weights: which are accepted, their meaning, which are refused."""

import numpy as np
import pytest

from algebra.problems.laws.distribution import Distribution
from matchprob import FeedForward, InputError, LinearEstimator, LinearRNN, NormNet, Problem

NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)
EYE = [[1, 0], [0, 1]]


def test_signs_of_units_are_those_of_what_they_send():
    """Columns of every matrix that the units send through; a sign matrix overrides them."""
    law = Distribution(signs=[1, -1]).on(NET)
    assert law.signs == {"W": ((1, -1), (1, -1)), "D": ((1, -1),)}
    law = Distribution(signs={"inputs": ["-"], "neurons": [1, 0], "D": [[0, 1]]}).on(NET)
    assert law.signs == {"W": ((1, 0), (1, 0)), "B": ((-1,), (-1,)), "D": ((0, 1),)}
    deep = FeedForward(2, (2, 1), 1, 2, activation="tanh")
    assert Distribution(signs={"layer1": [1, -1]}).on(deep).signs == {"W2": ((1, -1),)}


def test_signs_survive_a_file():
    """A problem with signs is unchanged by TOML and by plain data."""
    from algebra.problems.files import problem_from_dict

    problem = Problem(NET, {"W": EYE}, distribution=Distribution(signs=[1, -1]))
    assert problem_from_dict(problem.to_dict()) == problem
    assert problem.digest != Problem(NET, {"W": EYE}).digest
    free = Problem(NET, {"W": EYE}, distribution=Distribution(signs=[0, 0]))
    assert free == Problem(NET, {"W": EYE})
    assert "distribution" not in free.to_dict()


def test_orientation():
    """±|w| if there is a sign; a weight of 0, or of the other sign, violates it."""
    law = Distribution(signs={"W": [[1, -1], [0, 1]]}).on(NET)
    drawn = {"W": np.array([[-2.0, 3.0], [-4.0, 5.0]]), "B": np.array([[-1.0], [1.0]])}
    turned = law.oriented(drawn)
    assert turned["W"].tolist() == [[2, -3], [-4, 5]]
    assert turned["B"] is drawn["B"]
    assert list(law.against(drawn, {})) == [("W", 0, 0), ("W", 0, 1)]
    assert list(law.against(drawn, {}, [("W", 0, 0)])) == [("W", 0, 1)]
    assert not list(law.against(turned, {}))
    turned["W"][0, 0] = 0
    assert list(law.against(turned, {})) == [("W", 0, 0)]
    assert not list(law.against(turned, {"W": np.array([[0, 1], [1, 1]])}))


@pytest.mark.parametrize(
    ("signs", "text"),
    [
        ([1], "distribution.signs.neurons` has 1 signs for 2 units"),
        ([1, 2], "`distribution.signs.neurons[1]` is 2: a sign is 1, -1 or 0"),
        ({"W": [[1, -1]]}, "it must be 2×2"),
        ({"W": [[1, -1], [True, 0]]}, "[1][0]` is True"),
        ({"V": [1]}, "`distribution.signs.V`: a linear RNN network has neurons, inputs, W"),
        ("+", "must be a list of signs"),
        ({"W": [[1, "x"], [0, 0]]}, "is 'x': a sign is"),
    ],
)
def test_wrong_signs(signs, text):
    """Refused with the key, the entry and the required form."""
    with pytest.raises(InputError) as refused:
        Problem(NET, {"W": EYE}, distribution=Distribution(signs=signs))
    assert text in str(refused.value).replace("D, W, B", "W, B, D")


def test_networks_without_signs():
    """Kinds that are reduced to another one, or have another teacher."""
    linear = FeedForward(2, (2,), 1, 2, activation="linear")
    norm = NormNet.square(2, 1, 3, 2, "relu")
    for network, name in ((linear, "W1"), (norm, "W1")):
        rows, columns = network.shapes[name]
        signs = {name: np.ones((rows, columns), int)}
        with pytest.raises(InputError, match="not implemented for"):
            Problem(network, {}, distribution=Distribution(signs=signs))
    estimator = LinearEstimator(q=2, d=1, m=1)
    law = Distribution(signs={"W": [[1, 1]]})
    assert Problem(estimator, {"W": [[1, 0]]}, distribution=law).distribution.signs


def test_signs_by_columns_of_a_large_matrix_are_one_row():
    """The row is held once, written once and read again; a smaller matrix is written by rows."""
    from algebra.networks.rnn import RNN

    big = RNN(n=4200, T=1, b=1, d=1, m=1)
    line = [1, -1] * 2100
    found = Distribution(signs=line).on(big)
    assert found.masks["W"].strides[0] == 0
    assert found.masks["W"].shape == (4200, 4200)
    plain = found.to_dict()["signs"]
    assert plain == {"W": line, "D": [line]}
    again = Distribution(signs=plain).on(big)
    assert again == found
    with pytest.raises(InputError, match="has 2 signs for 4200 columns"):
        Distribution(signs={"W": [1, -1]}).on(big)
