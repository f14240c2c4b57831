"""Models as feed-forward networks: the same labels, cells and trials; other problems are left."""

import random

import numpy as np
import pytest

import matchprob as mp
from algebra.certificates.trial_costs import expectation
from algebra.plugins.models.network import ProgramNetwork
from algebra.plugins.models.onnx import Read
from algebra.problems.as_layers import AsLayers
from algebra.problems.problem import Problem
from tests.algebra.networks.test_layered import layered
from tests.doubles import labels
from tests.onnx_models import save
from tests.refusals import refuses
from tests.samples import many


def model(rng, m=3, function=None):
    """A model of random layers, and its program."""
    program, _ = layered(rng, function)
    return ProgramNetwork.of(Read(program, {}, frozenset(), {}, {}), m, "model")


def question(rng, network, **more):
    """Random cells learn, and some weights do not exist."""

    drawn = np.random.default_rng(rng.randrange(1 << 32))
    support = {name: drawn.random(shape) < 0.9 for name, shape in network.shapes.items()}
    learnable = {name: own & (drawn.random(own.shape) < 0.4) for name, own in support.items()}
    return Problem(network, learnable, support, **more)


@pytest.mark.parametrize("seed", range(many(60)))
def test_labels_and_cells_are_the_models(seed):
    """Reduced weights have the model's labels; solutions of the cells are those of the model's."""
    rng = random.Random(f"as layers/{seed}")
    network = model(rng)
    before = question(rng, network)
    reduction = AsLayers(before)
    own, drawn = reduction.problem, np.random.default_rng(seed)
    X = drawn.standard_normal(network.input_shape)

    def labels_of(weights):
        shapes = network.read.parameters
        tables = {name: table.reshape(shapes[name]) for name, table in weights.items()}
        return labels(network.program(), tables, {"x": X})

    weights = {
        name: drawn.standard_normal(shape) * before.support.get(name, 1)
        for name, shape in network.shapes.items()
    }
    matrices = dict(reduction.weights(weights, 1.0))
    assert np.allclose(own.network.forward(matrices, X), labels_of(weights), rtol=1e-9)
    assert own.allocation.size == before.allocation.size
    values = drawn.standard_normal(own.allocation.size)
    for (name, i, j), value in zip(own.allocation.cells, values, strict=True):
        matrices[name] = np.array(matrices[name])
        matrices[name][i, j] = value
    back = reduction.restore(before.allocation, weights, tuple(values))
    for (name, i, j), value in zip(before.allocation.cells, back, strict=True):
        weights[name][i, j] = value
    assert np.allclose(own.network.forward(matrices, X), labels_of(weights), rtol=1e-9)
    # What does not exist in one does not exist in the other.
    for name, shape in own.network.shapes.items():
        mask = np.asarray(own.support.get(name, np.ones(shape)))
        assert (matrices[name] == 0)[mask == 0].all()
        assert name in reduction.names.values() or not mask.any()


def test_what_is_not_carried_over_is_left():
    """Updates, bounds, a kind of its own; signs and measured values are refused for all models."""
    network = model(random.Random("left"), function="tanh")
    name, (rows, columns) = next(iter(network.shapes.items()))
    cells = {name: np.ones((rows, columns), int)}
    assert AsLayers.accepts(Problem(network, cells))
    for problem in (
        Problem(network, {name: {"gain": "rows"}}),
        Problem(network, cells, constraints=mp.Constraints(max_abs=1)),
        Problem(mp.LinearRNN(n=1, T=1, b=1, d=1, m=1), {"W": [[1]]}),
    ):
        assert not AsLayers.accepts(problem)


def test_verbs_of_trials_take_such_a_model():
    """`estimate`, `count` and `compare` have the results of the kind; others say what they take."""
    rng = random.Random("trials")
    network = model(rng, function="tanh")
    last = list(network.shapes)[-1]
    problem = Problem(network, {last: np.ones(network.shapes[last], int)})
    own = AsLayers(problem).problem
    found, kind = (mp.estimate(p, trials=6) for p in (problem, own))
    assert found.to_dict() == kind.to_dict()
    assert [i.real for i in mp.count(problem, 2).instances] == [
        i.real for i in mp.count(own, 2).instances
    ]
    with pytest.raises(mp.InputError, match="instances of a program network"):
        mp.estimate(Problem(network, {last: {"gain": "rows"}}), trials=2)


def test_a_recurrent_model_has_no_instances(tmp_path):
    """Its inputs and biases are no matrices of kind `rnn`; the refusal says which models are."""
    network = ProgramNetwork(str(save("rnn", tmp_path)), 2)
    problem = Problem(network, {"r": "all"})
    assert not AsLayers.accepts(problem)
    assert expectation(problem) == ""
    words = "instances of a program network .*; of models only feed-forward ones"
    for verb in (mp.estimate, mp.count):
        refuses(words, verb, problem)
