"""Graphs that torch has exported, as data: labels and ranks are torch's, without torch."""

import math

import numpy as np
import pytest

import matchprob as mp
from algebra.programs.generic import Model
from tests.algebra.plugins.models.aten.recorded import names, recorded
from tests.doubles import jacobian, labels, weights_of

# Parameters up to which derivatives are compared.
MOST = 1000


def in_rows(read, given, axis):
    """The inputs as samples of the program, with the batch axis last."""
    out = {}
    for name, array in given.items():
        rows = np.eye(read.tokens[name])[array] if name in read.tokens else array
        out[name] = np.moveaxis(rows, axis, -1)
    return {name: out[name] for name in read.program.samples}


@pytest.mark.parametrize("name", names())
def test_labels_and_ranks_are_torchs(name):
    """Labels of the inputs at the module's weights, and the rank of the Jacobian by all."""
    read, given, expected, facts = recorded(name)
    samples = in_rows(read, given, facts["axis"])
    count = next(iter(samples.values())).shape[-1]
    ours = labels(read.program, weights_of(read), samples)
    assert np.allclose(ours.T, expected.reshape(count, -1), rtol=1e-12, atol=1e-12)
    assert set(read.parameters) <= {own for own, _ in facts["parameters"]}
    if sum(map(math.prod, read.parameters.values())) > MOST:
        return
    every = {name: np.ones(shape, bool) for name, shape in read.parameters.items()}
    values = np.linalg.svd(jacobian(read.program, weights_of(read), samples, every))[1]
    assert (values > 1e-10 * values[0]).sum() == facts["rank"]
    functions = Model(read.program).functions
    if "choose" in functions and not read.tokens:
        samples = {n: np.moveaxis(a, facts["axis"], 0) for n, a in given.items()}
        here = mp.capacity(read, "all", m=count, data=samples).subsets[0].at_weights
        assert here.rank == facts["rank"] or (not here.exact and here.rank > facts["rank"])
    if functions & {"choose", "erf"} or read.tokens:
        return
    # Of a smooth module the weights, which are random, are as good as all others.
    [found] = mp.capacity(read, "all", m=count).subsets
    assert found.rank == facts["rank"]
