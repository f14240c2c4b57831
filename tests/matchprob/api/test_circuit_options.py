"""Every activation with every state and option: the questions about circuits answer or refuse."""

import random
from contextlib import suppress
from itertools import product

import pytest

from algebra.errors import InputError, Unfinished
from algebra.networks.activation import FUNCTIONS
from matchprob import RNN, Problem, certify, identify, record, verify
from tests.samples import many

ACTIVATIONS = (*sorted(FUNCTIONS), "relu", "linear", {"polynomial": [0, 1, 1]})
OPTIONS = (
    {}, {"biases": True}, {"leak": "1/3"}, {"leak": "learnable"}, {"leak": ["1/2", 1]},
    {"read": "all"}, {"biases": True, "leak": "1/4", "read": "all"},
)  # fmt: skip
CURRENTS = (
    {"initial": "learnable"}, {"gain": "presynaptic"}, {"gain": "rates"},
    {"initial": "learnable", "gain": "rates", "leak": "1/3", "biases": True},
)  # fmt: skip


def networks(activation):
    """Recurrent networks of an activation, with all states and many options."""
    for state, options in product(("rates", "currents"), (*OPTIONS, *CURRENTS)):
        if state == "rates" and options in CURRENTS:
            continue
        yield {"activation": activation, "state": state, **options}


def problems(activation):
    """Problems of these networks: inputs, recurrent weights or everything learns."""
    for options in networks(activation):
        net = RNN(n=2, T=2, b=1, d=1, m=2, **options)
        for learns in ({"B": "all"}, {"W": "all"}, dict.fromkeys(net.shapes, "all")):
            yield Problem(net, learns)


QUESTIONS = (
    lambda problem: certify(problem, search=0, timeout=20),
    lambda problem: identify(problem, timeout=20),
    lambda problem: identify(problem, target="units", noise=0.1, timeout=20),
    lambda problem: record(problem, "units", seconds=0),
    lambda problem: record(problem, target="samples=new", noise=0.1, seconds=0),
)  # fmt: skip


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_each_question_is_answered(activation):
    """A result, or a refusal that is meant: never another error."""
    every = list(problems(activation))
    for problem in random.Random(str(activation)).sample(every, many(len(every))):
        for question in QUESTIONS:
            with suppress(InputError, Unfinished):
                assert str(question(problem))


def test_erf_of_an_initial_current():
    """φ(0) of the constant initial current is exact: the certificate with balls holds."""
    net = RNN(n=2, T=2, b=1, d=1, m=2, activation="erf", state="currents")
    problem = Problem(net, {"B": "all"})
    assert identify(problem).fibre.dimension == 0
    found = certify(problem)
    assert verify(found).verdict == found.verdict
