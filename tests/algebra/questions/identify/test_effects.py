"""Parameters without effect on labels: their columns are 0, and kernels are theirs."""

import random

import numpy as np
import pytest

from algebra.networks.rnn import RNN
from algebra.plugins.circuits import blocks
from algebra.plugins.circuits.question import recording_question
from algebra.problems.problem import Problem
from algebra.questions.identify.effects import have_effect
from algebra.ranks.jacobian import columns_at, random_point
from algebra.ranks.parametrized import by_parameters
from matchprob import identify
from tests.samples import many


def sparse_circuit(seed):
    """A random circuit in which some units have no input, and some are not read."""
    rng = random.Random(f"effects/{seed}")
    n, more = rng.randint(3, 7), {}
    if rng.random() < 0.5:
        more = {
            "state": "currents", "initial": rng.choice(["zero", "learnable"]),
            "gain": rng.choice(["none", "presynaptic", "rates"]),
        }  # fmt: skip
    net = RNN(
        n=n, T=rng.randint(1, 4), b=1, d=1, m=rng.randint(3, 5), biases=rng.random() < 0.5,
        activation=rng.choice(["tanh", "sigmoid"]), leak=rng.choice([1, "1/3", "learnable"]),
        read=rng.choice(["last", "all"]), **more,
    )  # fmt: skip
    support = {
        name: [[int(rng.random() < share) for _ in range(net.shapes[name][1])] for _ in range(rows)]
        for name, share in (("W", 0.25), ("B", 0.4), ("D", 0.3))
        for rows in net.shapes[name][:1]
    }
    learnable = {name: "all" for name in net.shapes if name != "W" and rng.random() < 0.6}
    number = [[rng.randint(1, 3) * e for e in row] for row in support["W"]]
    learnable["W"] = rng.choice(
        ["all", {"gain": "rows"}, {"gain": "columns"}, {"gain": "cells", "groups": number}]
        if np.any(number)
        else ["all"]
    )
    return Problem(net, learnable, support)


@pytest.mark.parametrize("seed", range(many(60)))
def test_columns_without_effect_are_zero(seed):
    """The weights whose columns are not 0 modulo a prime are those that may have an effect."""
    problem = sparse_circuit(seed)
    moved = by_parameters(problem)
    network, cells = moved.network, moved.allocation.cells
    point = random_point(network, 2147483629, seed, moved.support)
    J = columns_at(network, point, cells)
    effective = have_effect(network, cells, moved.support)
    if np.all(problem.support["D"]):
        assert effective.all()
    else:
        assert np.array_equal(effective, J.any(axis=0))
    if seed < 20:
        everything = identify(problem, seed=seed).fibre
        assert everything.rank.rank <= effective.sum()


def test_unread_units_prove_the_kernel():
    """Parameters of units that no path joins to a label are free, each by itself, proved."""
    net = RNN(n=4, T=3, b=1, d=1, m=9, biases=True)
    W = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    problem = Problem(net, {"W": {"gain": "rows"}, "c": "all"}, {"W": W, "D": [[1, 0, 0, 0]]})
    found = identify(problem, target="units")
    assert (found.fibre.rank.rank, found.fibre.error) == (4, 0)
    assert ("c", 2, 0) in found.fibre.free
    assert (("c", 3, 0),) in found.fibre.groups
    assert [state.free for state in found.target] == [0, 0, 2, 4]
    assert found.to_dict()["target_free"] == 4


@pytest.mark.parametrize("seed", range(many(40)))
def test_paths_reach_what_derivatives_show(seed):
    """For every step and unit the weights of the paths are those of derivatives modulo a prime."""
    question = recording_question(sparse_circuit(seed), "units")
    by_paths, at_point = (
        [np.unpackbits(bits, axis=1) for bits in sets]
        for sets in (
            blocks._sets_by_paths(question),
            blocks._sets_at(question, question.point(2147483629, seed)),
        )
    )
    size = question.allocation.size
    assert len(by_paths) == len(at_point)
    for known, found in zip(by_paths, at_point, strict=True):
        assert np.array_equal(known[:, :size], found[:, :size])
        assert not known[:, size:].any()
