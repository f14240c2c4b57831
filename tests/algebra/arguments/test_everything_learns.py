"""Every weight learns: the teacher itself is a student, for every kind of network."""

import numpy as np
import pytest

import matchprob as mp
from tests.plain_data import changed, data_of

NETS = (
    mp.RNN(n=2, T=2, b=1, d=1, m=3, activation="erf"),
    mp.FeedForward(q=2, widths=[2], d=2, m=2, activation={"polynomial": [0, 1, 1]}),
    mp.LinearRNN(n=2, T=3, b=1, d=1, m=1),
)


@pytest.mark.parametrize("net", NETS, ids=str)
def test_all_weights_learn(net):
    """Maximal and proved, also where ranks are only upper bounds; one fixed weight is found."""
    support = {name: np.ones(shape, int) for name, shape in net.shapes.items()}
    name = next(reversed(net.shapes))
    support[name][0, 0] = 0
    problem = mp.Problem(net, {name: mask.copy() for name, mask in support.items()}, support)
    data = data_of(problem)
    assert data["verdict"] == "maximal"
    assert data["evidence"]["everything_learns"] is True
    found = mp.verify(data)
    assert found.holds
    assert {c.place: c.status for c in found.checks}["verdict"] == "proved"
    fixed = changed(data, ("problem", "learnable", name), np.zeros_like(support[name]).tolist())
    fixed["learnable"] = problem.allocation.size - int(support[name].sum())
    assert not mp.verify(fixed).holds


def test_another_teacher_is_no_student():
    """The theorem does not cover labels of another network: it is not searched there."""
    net = mp.LinearRNN(n=2, T=3, b=1, d=1, m=1)
    learns = {"W": "all", "B": "all", "D": "all"}
    other = mp.Problem(net, learns, distribution=mp.Distribution(labels="normal"))
    assert "everything_learns" not in data_of(other)["evidence"]
