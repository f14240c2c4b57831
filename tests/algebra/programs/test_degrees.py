"""Degrees of programs: bounds compared with expanded polynomials, degrees with differences."""

import random

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.plugins.models.onnx import read_onnx
from algebra.programs.degrees import degree_in, entry_bound
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from tests.algebra.programs.programs import random_program
from tests.onnx_models import save
from tests.samples import many


class Symbols:
    """SymPy expressions, batch axis last."""

    def constant(self, table, denominator):
        made = [sympy.Rational(int(v), denominator) for v in table.ravel().tolist()]
        return np.array(made, dtype=object).reshape(*table.shape, 1)

    def add(self, node, *terms):
        return sum(terms[1:], terms[0])

    def multiply(self, node, a, b):
        return a * b

    def scale(self, node, a, factor):
        return a * sympy.Rational(factor.numerator, factor.denominator)

    def contract(self, node, letters, *factors):
        return np.asarray(np.einsum(letters, *(f[..., 0] for f in factors)), object)[..., None]

    def index(self, node, where, *parts):
        return np.concatenate([*(p.reshape(-1, 1) for p in parts), [[sympy.Integer(0)]]])[where]

    def power(self, node, a, exponent):
        return a**exponent

    def invert(self, node, a):
        return 1 / a


def symbols(program):
    """A block of symbols for each block of a program."""
    return {
        block.name: np.array(
            [sympy.Symbol(f"{block.name}{k}") for k in range(int(np.prod(block.shape, dtype=int)))],
            dtype=object,
        ).reshape(*block.shape, 1)
        for block in program.blocks
    }


@pytest.mark.parametrize("seed", range(many(40)))
def test_bounds_hold_for_jacobians_written_out(seed):
    """No entry of a random program's Jacobian has a numerator of larger degree or coefficients."""
    program = random_program(seed, 4, functions=False)
    blocks = symbols(program)
    labels = evaluate(program, Symbols(), blocks)[program.output]
    weights = [v for name in program.weights for v in blocks[name].ravel()]
    variables = [v for array in blocks.values() for v in array.ravel()]
    found = entry_bound(program, 1)
    rng = random.Random(seed)
    for label in rng.sample(list(labels.ravel()), min(3, labels.size)):
        for weight in rng.sample(weights, min(3, len(weights))):
            slope = sympy.together(sympy.diff(label, weight))
            numerator = sympy.Poly(sympy.cancel(slope).as_numer_denom()[0], *variables)
            assert numerator.is_zero or numerator.total_degree() <= found.degree
    assert found.meetings == 0


def test_a_chain_of_residuals_does_not_double_its_denominators():
    """x + f(x) repeated, with a quotient in f: the degree increases by equal amounts."""
    degrees = []
    for depth in (2, 4, 8):
        build = Builder()
        x = build.sample("X", (3,))
        one = build.constant([1, 1, 1])
        for k in range(depth):
            mixed = build.contract("ij,j->i", build.weight(f"W{k}", (3, 3)), x)
            below = build.add(build.multiply(mixed, mixed), one)
            x = build.add(x, build.multiply(mixed, build.invert(below)))
        degrees.append(entry_bound(build.program(x), 2).degree)
    # Inverses of cubes of sums: a factor per layer, as for any nested quotient, and no more.
    assert degrees[0] < degrees[1] < degrees[2]
    assert degrees[2].bit_length() <= 2 * degrees[1].bit_length()


def test_bits_of_a_product_of_sums():
    """By one weight (Σ u x)(Σ v x), of three terms each, has coefficients of sum 3, not 100."""
    build = Builder()
    x = build.sample("X", (3,))
    a = build.contract("i,i->", build.weight("u", (3,)), x)
    b = build.contract("i,i->", build.weight("v", (3,)), x)
    found = entry_bound(build.program(build.multiply(a, b)), 1)
    assert found.degree == 3
    assert 2 <= found.bits <= 6


@pytest.mark.parametrize("function", ["exp", "tanh", "sigmoid", "softplus", "erf"])
def test_arguments_of_functions_may_meet(function):
    """With more samples more pairs of arguments may be equal by chance."""
    build = Builder()
    a = build.contract("ij,j->i", build.weight("U", (3, 2)), build.sample("X", (2,)))
    program = build.program(build.apply(function, a))
    few, many_samples = entry_bound(program, 2), entry_bound(program, 20)
    assert few.degree == many_samples.degree >= 1
    assert 50 * few.meetings < many_samples.meetings < 200 * few.meetings


@settings(max_examples=many(30), deadline=None)
@given(st.integers(0, 10**6))
def test_affine_programs_have_no_second_differences(seed):
    """Degree at most 1 in some weights: f(w + 2v) − 2 f(w + v) + f(w) = 0, and not in others."""
    program = random_program(seed, 6, functions=False)
    rng = random.Random(seed)
    name = rng.choice(list(program.weights))
    degree = degree_in(program, [name])

    def drawn(shape):
        values = [sympy.Integer(rng.randint(-99, 99)) for _ in range(int(np.prod(shape)))]
        return np.array(values, dtype=object).reshape(*shape, 1)

    blocks = {block.name: drawn(block.shape) for block in program.blocks}
    step = drawn(program.weights[name])
    values = [
        evaluate(program, Symbols(), {**blocks, name: blocks[name] + k * step})[program.output]
        for k in range(3)
    ]
    if degree <= 1:
        assert not (values[2] - 2 * values[1] + values[0]).any()
    if degree == 0:
        assert not (values[1] - values[0]).any()


def test_the_read_out_of_a_model_is_affine(tmp_path):
    """The last layer alone is a polynomial; with the layer before it there is none."""
    program = read_onnx(save("mlp_tanh", tmp_path)).program
    assert degree_in(program, ["l3.weight", "l3.bias"]) == 1
    assert degree_in(program, ["l3.weight", "l2.bias"]) == float("inf")
