"""Programs in machine numbers."""

import numpy as np

from algebra.programs.program import Builder
from tests.doubles import jacobian, labels


def test_labels_and_derivatives_of_a_layer():
    """tanh(W x) and its derivatives by hand, sample by sample."""
    build = Builder()
    W, x = build.weight("W", (2, 3)), build.sample("X", (3,))
    program = build.program(build.apply("tanh", build.contract("ij,j->i", W, x)))
    rng = np.random.default_rng(0)
    w, X = rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    assert np.allclose(labels(program, {"W": w}, {"X": X}), np.tanh(w @ X))
    mask = np.array([[1, 0, 0], [0, 0, 1]], bool)
    J = jacobian(program, {"W": w}, {"X": X}, {"W": mask}).reshape(2, 4, 2)
    slope = 1 - np.tanh(w @ X) ** 2
    assert np.allclose(J[0, :, 0], slope[0] * X[0])
    assert np.allclose(J[1, :, 1], slope[1] * X[2])
    assert not J[0, :, 1].any()
    assert not J[1, :, 0].any()
