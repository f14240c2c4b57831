"""Programs in balls: values and derivatives enclose those of doubles; unknown signs."""

import random

import numpy as np
import pytest
from flint import arb

from algebra.plugins.models.onnx import read_onnx
from algebra.programs.arrays import placed
from algebra.programs.balls import BallArithmetic, SignUnknown, as_balls
from algebra.programs.evaluate import evaluate
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Builder
from tests.algebra.programs.programs import random_program
from tests.doubles import Doubles, jacobian
from tests.onnx_models import save


def drawn(program, m, seed, tokens=None):
    """Doubles on a grid of sixteenths for all blocks: weights, samples."""
    rng = np.random.default_rng(seed)

    def block(shape):
        return rng.integers(-31, 32, shape) / 16

    weights = {n: block(s) for n, s in program.weights.items()}
    samples = {n: block((*s, m)) for n, s in program.samples.items()}
    for name, size in (tokens or {}).items():
        shape = (*program.samples[name][:-1], m)
        samples[name] = np.moveaxis(np.eye(size)[rng.integers(0, size, shape)], -1, -2)
    return weights, samples


def in_balls(program, weights, samples):
    """The blocks of a program as balls."""
    parts = ({n: as_balls(v) for n, v in part.items()} for part in (weights, samples))
    return placed(program, *parts)


def middles(balls):
    return np.vectorize(lambda v: float(arb(v).mid()), otypes=[float])(balls)


@pytest.mark.parametrize("seed", range(12))
def test_values_and_columns_of_random_programs(seed):
    """For all operations: values of doubles, and derivatives by differences."""
    program = random_program(seed, 6, functions=False)
    weights, samples = drawn(program, 3, seed)
    blocks = in_balls(program, weights, samples)
    found = evaluate(program, BallArithmetic(program), blocks)[program.output]
    plain = {n: w[..., None] for n, w in weights.items()} | samples
    exact = evaluate(program, Doubles(), plain)[program.output]
    assert np.allclose(middles(found), exact)
    rng = random.Random(seed)
    name = rng.choice(list(weights))
    place = tuple(rng.randrange(k) for k in weights[name].shape)
    step = {n: w.astype(complex) for n, w in plain.items()}
    step[name] = step[name].copy()
    step[name][(*place, 0)] += 1e-150j
    moved = evaluate(program, Doubles(), step)[program.output].imag / 1e-150
    moved = np.broadcast_to(moved, (*moved.shape[:-1], 3)).ravel()
    column = program_jacobian(program, BallArithmetic(program), blocks, [(name, *place)])
    assert np.allclose(middles(column)[:, 0], moved, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["mlp_gelu", "mlp_softplus", "mlp_relu", "causal", "gru"])
def test_columns_of_models_are_those_of_doubles(name, tmp_path):
    """With roots, exponentials, erf and signs: some columns of each model."""
    read = read_onnx(save(name, tmp_path))
    weights, samples = drawn(read.program, 2, 1)
    blocks = in_balls(read.program, weights, samples)
    rng, shapes = random.Random(name), read.parameters
    masks, cells = {}, []
    for parameter in rng.sample(list(shapes), 3):
        cells.append((parameter, *(rng.randrange(k) for k in shapes[parameter])))
        masks[parameter] = np.zeros(shapes[parameter], bool)
        masks[parameter][cells[-1][1:]] = True
    expected = jacobian(read.program, weights, samples, masks)
    found = program_jacobian(read.program, BallArithmetic(read.program), blocks, cells)
    assert np.allclose(middles(found), expected, rtol=1e-8, atol=1e-10)


def test_a_sign_at_zero_is_not_guessed():
    """A ball around 0 has no sign; 0 itself is not positive."""
    build = Builder()
    x = build.weight("x", (1,))
    program = build.program(build.choose(x, x, build.scale(x, 0)))
    around, zero = ({"x": np.array([[v]], object)} for v in (arb(0, 1e-9), arb(0)))
    with pytest.raises(SignUnknown, match="sign"):
        evaluate(program, BallArithmetic(program), around)
    assert evaluate(program, BallArithmetic(program), zero)[program.output][0, 0] == 0


def test_what_does_not_exist_has_no_bounds():
    """1/0 and the root of a negative number prove nothing."""
    build = Builder()
    x = build.weight("x", (1,))
    for value, made in ((0, build.invert(x)), (-1, build.root(x))):
        program = build.program(made)
        found = evaluate(program, BallArithmetic(program), {"x": as_balls(np.array([[value]]))})
        assert not found[program.output][0, 0].is_finite()
