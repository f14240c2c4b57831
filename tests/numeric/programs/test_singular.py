"""Singular values at a model's own weights: against complex steps, and in the words of a result."""

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx import read_onnx
from matchprob.plugins.models.pieces import own_piece
from numeric.programs.patterns import doubles
from numeric.programs.singular import extreme_singular_values
from tests.doubles import jacobian
from tests.matchprob.plugins.models.test_frozen import drawn, gated


@pytest.mark.parametrize("name", ["block", "convnet", "perceptron"])
def test_singular_values_equal_those_of_complex_steps(name):
    """Of all parameters, for three samples."""
    read = read_onnx(f"examples/data/{name}.onnx")
    piece, names = own_piece(read), list(read.parameters)
    found = extreme_singular_values(piece.model, names, 3)
    weights = {n: doubles(*read.values[n]).reshape(s) for n, s in read.program.weights.items()}
    samples = piece.model.patterns.samples(3)
    masks = {n: np.ones(read.program.weights[n], bool) for n in names}
    values = np.linalg.svd(jacobian(read.program, weights, samples, masks), compute_uv=False)
    assert found == pytest.approx((values[-1], values[0]), rel=1e-6)


def test_a_weak_direction_is_said():
    """Behind a frozen diag(1, 1, 1e-5) a read-out of three units fits three samples, weakly."""
    weights = {"W": np.diag([1.0, 1.0, 1e-5]), "b": np.zeros(3), "V": drawn(1, 3)}
    found = mp.capacity(gated(weights), "V", data=np.eye(3))
    here = found.subsets[0].at_weights
    assert (here.rank, here.capacity) == (3, 3)
    assert here.largest / here.smallest == pytest.approx(np.tanh(1) / 1e-5, rel=1e-3)
    assert "times weaker than the strongest" in str(found.document().why)
    assert found.to_dict()["subsets"][0]["at_weights"]["smallest"] == here.smallest


def test_directions_by_a_small_number_only():
    """At 1e-15 they are said to be lost; of a Jacobian that is too large nothing is found."""
    weights = {"W": np.diag([1.0, 1.0, 2.0**-50]), "b": np.zeros(3), "V": drawn(1, 3)}
    found = mp.capacity(gated(weights), "V", data=np.eye(3))
    assert "do not count on them" in str(found.document().why)
    read = read_onnx("examples/data/convnet.onnx")
    assert extreme_singular_values(own_piece(read).model, read.parameters, 10**7) is None
