"""Random small networks of all kinds, activations and options, with updates, and their points."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from algebra.networks.base import Network
from algebra.ranks.parametrized import Parametrized, by_parameters
from matchprob import (
    RNN,
    FeedForward,
    LinearEstimator,
    LinearFeedForward,
    LinearRNN,
    Problem,
    SequenceRNN,
)
from tests.algebra.ranks.test_parametrized import grouped
from tests.algebra.ranks.test_updates import random_problem
from tests.old_kinds import as_program

Point = tuple[dict[str, np.ndarray], np.ndarray]
POLYNOMIALS = ({"polynomial": [0, 0, 1]}, {"polynomial": ["1/2", 1, 0, 1]}, "linear")
FORMS = KIND, UPDATES, PROGRAM = "kind", "updates", "program"
ACTIVATIONS = ("tanh", "sigmoid", "softplus", "erf", *POLYNOMIALS)


def drawn_network(rng: random.Random, *forms: str) -> Network:
    """A network with sizes 1 to 3, in one of some forms: as a kind, as a program, with updates."""
    net, form = _of_kind(rng), rng.choice(forms or FORMS)
    if form == UPDATES:
        return by_parameters(grouped(rng, random_problem(rng, net))).network
    return as_program(Problem(net, {})).network if form == PROGRAM else net


def _of_kind(rng: random.Random) -> Network:
    one, two, three, four, five = (rng.randint(1, 3) for _ in range(5))
    widths = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))
    activation, biases = rng.choice(ACTIVATIONS), rng.random() < 0.5
    match rng.randrange(6):
        case 0:
            return LinearEstimator(q=one, d=two, m=three)
        case 1:
            return LinearFeedForward(q=one, widths=widths, d=two, m=three)
        case 2:
            return rng.choice((LinearRNN, SequenceRNN))(one, two, three, four, five)
        case 3:
            return FeedForward(one, widths, two, three, activation=activation, biases=biases)
        case 4:
            leak = rng.choice((1, "1/3", "learnable"))
            read = rng.choice(("last", "all"))
            return RNN(
                one, two, three, four, five, activation=activation, biases=biases, leak=leak,
                read=read,
            )  # fmt: skip
    return RNN(
        one, two, three, four, five, activation=activation, biases=biases, state="currents",
        leak=rng.choice((1, "1/3", "learnable")), read=rng.choice(("last", "all")),
        initial=rng.choice(("zero", "learnable")),
        gain=rng.choice(("none", "presynaptic", "rates")),
    )  # fmt: skip


def is_polynomial(network: Network) -> bool:
    """Whether the labels are polynomials in weights and samples."""
    functions = {node.name for node in network.program().nodes if node.op == "apply"}
    return not functions & {"tanh", "sigmoid", "softplus", "erf"}


def drawn_point(network: Network, rng: random.Random) -> Point:
    """Weights and samples that are multiples of 1/8 between −1 and 1."""

    def drawn(shape: tuple[int, ...]) -> np.ndarray:
        made = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            made[place] = Fraction(rng.randint(-8, 8), 8)
        return made

    weights = {name: drawn(shape) for name, shape in network.shapes.items()}
    return weights, drawn(network.input_shape)


def mapped(function: Callable[[Any], Any], point: Point) -> Point:
    """A point with each matrix mapped."""
    return {name: function(w) for name, w in point[0].items()}, function(point[1])


def labels(network: Network, point: Point, *product: Any) -> np.ndarray:
    """The labels by the program; with updates those of the network of the updated matrices."""
    if isinstance(network, Parametrized):
        return network.base.forward(network.after(point[0]), point[1], *product)
    return Network.forward(network, *point, *product)
