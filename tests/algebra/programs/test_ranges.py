"""Ranges of values for all real weights: they hold at random points."""

import numpy as np
import pytest

from algebra.plugins.models.onnx import read_onnx
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from algebra.programs.ranges import ANY, is_analytic, ranges
from tests.algebra.programs.programs import random_program
from tests.doubles import Doubles
from tests.onnx_models import save
from tests.samples import many


def claims(program):
    """The range of every value."""
    return ranges(program, range(len(program.nodes)))


def hold(program, seed):
    """Whether doubles at a random point refute no claim; and the number of claims."""
    rng = np.random.default_rng(seed)
    blocks = {}
    for block in program.blocks:
        shape = (*block.shape, 3 if block.role == "sample" else 1)
        blocks[block.name] = rng.standard_normal(shape)
    with np.errstate(all="ignore"):
        values = evaluate(program, Doubles(), blocks, range(len(program.nodes)))
    found = claims(program)
    for k, own in found.items():
        known = values[k][np.isfinite(values[k])]
        error = 1e-9 * np.max(np.abs(known), initial=1)
        assert not own.positive or (known >= 0).all()
        assert own.low is None or (known >= float(own.low) - error).all()
        assert own.high is None or (known <= float(own.high) + error).all()
    return sum(own != ANY for own in found.values())


@pytest.mark.parametrize("seed", range(many(60)))
def test_claims_about_random_programs(seed):
    """The claims for sums, products, quotients, powers and entries hold."""
    assert hold(random_program(seed, 12, functions=False), seed) >= 1


def test_expanded_polynomials_are_bounded_on_a_side():
    """z + z² ≥ −6, 3 − 2z⁴ + z is bounded above, odd degrees and sums of two values are not."""
    build = Builder()
    z, w = build.sample("X", (2,)), build.weight("w", (2,))
    three = build.constant(np.full(2, 3))
    cases = {
        (True, False): build.add(z, build.multiply(z, z)),
        (False, True): build.add(three, build.scale(build.power(z, 4), -2), z),
        (False, False): build.add(z, build.power(z, 3)),
    }
    two = build.add(w, build.power(z, 2))
    program = build.program(build.add(*cases.values(), two))
    known = ranges(program, range(len(program.nodes)))
    for (low, high), value in [*cases.items(), ((False, False), two)]:
        found = known[value.number]
        assert (found.low is not None, found.high is not None) == (low, high)
    for seed in range(5):
        assert hold(program, seed)


@pytest.mark.parametrize("name", ["transformer", "causal", "conv1d", "mlp_relu", "lstm"])
def test_claims_about_models(name, tmp_path):
    """Mean squares and sums of exponentials are among them."""
    assert hold(read_onnx(save(name, tmp_path)).program, 1) >= 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [("transformer", True), ("mlp_tanh", True), ("mlp_relu", False), ("conv1d", False)],
)
def test_which_models_are_analytic(name, expected, tmp_path):
    """Norms with ε and softmax are; signs are not."""
    assert is_analytic(read_onnx(save(name, tmp_path)).program) == expected


def test_a_logarithm_needs_positive_quotients():
    """softplus(1/x) may differ on the two sides of 0; tanh(1/x) is one function."""
    for function, expected in (("softplus", False), ("tanh", True)):
        build = Builder()
        x = build.contract("i,i->", build.weight("w", (2,)), build.sample("X", (2,)))
        program = build.program(build.apply(function, build.invert(x)))
        assert is_analytic(program) == expected
