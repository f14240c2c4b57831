"""Elements that can be recorded: their names, and the numbers that belong to each."""

import numpy as np

import matchprob as mp
from algebra.plugins.circuits.elements import available_kinds, elements_of
from matchprob import RNN, LinearEstimator, LinearFeedForward, LinearRNN, SequenceRNN


def names(network, *what):
    return [element.name for element in elements_of(network, what)[0]]


def test_names():
    """Of every kind, in the order of the numbers."""
    net = LinearRNN(n=2, T=2, b=1, d=2, m=2)
    assert names(net, "outputs") == ["output 0", "output 1"]
    assert names(net, "entries") == ["entry 0,0", "entry 0,1", "entry 1,0", "entry 1,1"]
    assert names(net, "times", "samples") == ["step 0", "step 1", "sample 0", "sample 1"]
    assert names(net, "units") == ["unit 0", "unit 1"]
    layers = LinearFeedForward(q=1, widths=(2, 1), d=1, m=1)
    assert names(layers, "units") == ["layer 1 unit 0", "layer 1 unit 1", "layer 2 unit 0"]
    steps = names(SequenceRNN(n=2, T=2, b=1, d=1, m=1), "entries")
    assert steps == ["entry 0,0 step 0", "entry 0,0 step 1"]


def test_owners():
    """Each number belongs to one element of each kind; a unit has all its steps and samples."""
    net = RNN(n=3, T=4, b=1, d=2, m=5, activation="tanh")
    elements, owners = elements_of(net, ["units", "times", "samples"])
    (_, units), (_, times), (_, samples) = owners
    assert len(units) == len(times) == 4
    for state in units:
        assert np.array_equal(state, np.repeat([[0], [1], [2]], 5, axis=1))
    for step, block in enumerate(times):
        assert (block == 3 + step).all()
        assert elements[3 + step].step == step
    assert np.array_equal(samples[0], np.tile(np.arange(7, 12), (2, 1)))


def test_kinds():
    """Steps only in networks with steps, units only in networks with hidden units."""
    assert available_kinds(LinearEstimator(q=2, d=1, m=1)) == ("outputs", "entries", "samples")
    layers = LinearFeedForward(q=1, widths=(2,), d=1, m=1)
    assert available_kinds(layers) == ("outputs", "entries", "samples", "units")
    assert "times" in available_kinds(LinearRNN(n=2, T=2, b=1, d=2, m=2))


def test_relays_are_not_counted():
    """Units that only pass on an input are no candidates, unless they are recorded anyway."""
    exists = {"W": np.ones((5, 5), int), "c": np.ones((5, 1), int)}
    for mask in exists.values():
        mask[3:] = 0
    net = mp.RNN(n=5, T=3, b=2, d=1, m=3, activation="tanh", biases=True)
    problem = mp.Problem(net, {"W": exists["W"]}, exists, names={"neurons": list("abcde")})
    found = mp.record(problem, "units")
    assert "of 3 at cost" in found.document().title
    assert set(found.to_dict()["recorded"]) <= {"unit 0", "unit 1", "unit 2"}
    assert mp.verify(found.proof_file()).outcome == "holds"
    assert "of 4 at cost" in mp.record(problem, "units", must=["unit 3"]).document().title
    own = mp.record(problem, "units", forbidden=["unit 0"])
    assert "of 2 at cost" in own.document().title


def test_a_relay_that_shows_a_leak_is_a_candidate():
    """With leaks that are weights and φ(0) ≠ 0 its state is φ(0) times a function of the leak."""
    mask = {"W": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]}
    for activation, names in (("sigmoid", ("unit 1",)), ("tanh", ())):
        net = RNN(n=3, T=2, b=1, d=1, m=2, activation=activation, leak="learnable")
        found = mp.record(mp.Problem(net, {"leak": [[0], [1], [0]]}, mask), "units")
        assert found.rank.rank == len(names)
        assert found.names == names
