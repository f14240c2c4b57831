"""Exponentials beyond the range of doubles: softmax and logarithms of sums as with small ones."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from algebra.programs.program import Builder
from numeric.programs.patterns import pattern_at
from tests.doubles import jacobian, labels

SIZES = [1.0, 300.0, 1e4, 1e20]


def quotients(build, a):
    """A softmax over the second axis, as readers write it."""
    powers = build.apply("exp", a)
    share = build.invert(build.contract("ij->i", powers))
    return build.contract("ij,i->ij", powers, share)


def program_of(then, shape=(3, 4)):
    """A function of an input and nothing else."""
    build = Builder()
    return build.program(then(build, build.sample("x", shape)))


@pytest.mark.parametrize("size", SIZES)
def test_softmax_and_its_logarithm(size):
    """Those of SciPy, for samples some of whose exponentials are no doubles."""
    x = size * np.random.default_rng(0).standard_normal((3, 4, 5))
    x[0, :, 0] = size
    found = labels(program_of(quotients), {}, {"x": x})
    assert np.allclose(found, softmax(x, axis=1), rtol=1e-12, atol=0)

    def logarithm(build, a):
        return build.apply("log", build.contract("ij->i", build.apply("exp", a)))

    found = labels(program_of(logarithm), {}, {"x": x})
    assert np.allclose(found, logsumexp(x, axis=1), rtol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_attention(size):
    """Masked quotients times other values; sums of exponentials of two inputs."""
    x = size * np.random.default_rng(1).standard_normal((3, 4, 5))
    v = np.random.default_rng(2).standard_normal((4, 2, 5))
    gone = np.array([[1, 1, 1, 1], [1, 0, 0, 1], [0, 1, 1, 1]])

    def attention(build, a):
        powers = build.apply("exp", a)
        powers = build.index(np.where(gone, build.places(powers), -1), powers)
        share = build.invert(build.add(build.contract("ij->i", powers),
                                       build.constant(np.zeros(3, int))))  # fmt: skip
        return build.contract("ij,i,jk->ik", powers, share, build.sample("v", (4, 2)))

    found = labels(program_of(attention), {}, {"x": x, "v": v})
    share = softmax(np.where(gone[:, :, None], x, -np.inf), axis=1)
    assert np.allclose(found, np.einsum("ijs,jks->iks", share, v), rtol=1e-12, atol=1e-300)


def test_derivatives_by_complex_steps():
    """A weight that is added to all arguments has no effect; one that is added to one has."""
    build = Builder()
    a = build.add(build.sample("x", (1, 3)), build.weight("b", (1, 3)))
    program = build.program(quotients(build, a))
    x, b = np.array([[[1e3], [1e3 + 1], [-1e5]]]), np.zeros((1, 3))
    J = jacobian(program, {"b": b}, {"x": x}, {"b": np.ones((1, 3), bool)})
    share = softmax(x[0, :, 0])
    assert np.allclose(J, np.diag(share) - np.outer(share, share), rtol=1e-9, atol=1e-300)


def test_patterns_after_large_arguments():
    """A unit after a softmax of large arguments has the sign of the real value."""

    def unit(build, a):
        total = build.contract("ij,jk->ik", quotients(build, a), build.sample("v", (4, 2)))
        return build.rectified(total)

    x = 1e6 * np.random.default_rng(3).standard_normal((3, 4, 5))
    v = np.random.default_rng(4).standard_normal((4, 2, 5))
    [found] = pattern_at(program_of(unit), {}, {"x": x, "v": v}).values()
    assert (found == (np.einsum("ijs,jks->iks", softmax(x, axis=1), v) > 0)).all()
