"""Programs on arrays of entries: every ring compared with the others, and with SymPy."""

from operator import truediv

import numpy as np
import pytest
import sympy
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.jacobian import program_jacobian
from algebra.programs.program import Builder
from tests.algebra.programs.programs import LONG_PRIME, all_cells, point, random_program


def small_blocks(program, seed, samples=2):
    """Residues 0 to 4, which are numbers in every ring."""
    arithmetic, blocks = point(program, LONG_PRIME, seed, samples)
    return arithmetic, {name: value % 5 for name, value in blocks.items()}


def entries(blocks, entry):
    """The same numbers in another ring."""
    return {name: np.frompyfunc(lambda v: entry(int(v)), 1, 1)(v) for name, v in blocks.items()}


def found_in(program, arithmetic, blocks):
    """Labels and their Jacobian."""
    value = evaluate(program, arithmetic, blocks)[program.output]
    batch = max(v.shape[-1] for v in blocks.values())
    value = np.broadcast_to(value, (*value.shape[:-1], batch)).ravel()
    return value, program_jacobian(program, arithmetic, blocks, all_cells(program))


def rationals(array):
    """Entries that may be Python's integers."""
    return np.frompyfunc(fmpq, 1, 1)(array)


@given(st.integers(0, 10**6))
def test_residues_are_those_of_rationals(seed):
    """Values and derivatives of a random program over Q, reduced modulo p."""
    program = random_program(seed, 5, functions=False)
    arithmetic, blocks = small_blocks(program, seed)
    p = LONG_PRIME
    exact = found_in(program, EntryArithmetic(), entries(blocks, fmpq))
    for q, residues in zip(exact, found_in(program, arithmetic, blocks), strict=True):
        reduced = [int(v.p) * pow(int(v.q), -1, p) % p for v in rationals(q).ravel()]
        assert reduced == residues.ravel().tolist()


@given(st.integers(0, 10**6))
def test_balls_and_doubles_are_near_rationals(seed):
    """Balls contain the values and derivatives over Q; doubles agree up to rounding."""
    program = random_program(seed, 5, functions=False)
    _, blocks = small_blocks(program, seed)
    before, ctx.prec = ctx.prec, 120
    try:
        exact = found_in(program, EntryArithmetic(), entries(blocks, fmpq))
        balls = found_in(program, EntryArithmetic(), entries(blocks, arb))
        doubles = {name: value.astype(float) for name, value in blocks.items()}
        floats = found_in(program, EntryArithmetic(number=truediv), doubles)
        for q, ball, number in zip(exact, balls, floats, strict=True):
            pairs = zip(rationals(q).ravel(), ball.ravel(), strict=True)
            assert all((arb(b) - a).contains(0) for a, b in pairs)
            assert number.dtype == float
            wanted = np.array([float(v.p) / float(v.q) for v in rationals(q).ravel()])
            np.testing.assert_allclose(number.ravel(), wanted, rtol=1e-6, atol=1e-6)
    finally:
        ctx.prec = before


@pytest.mark.parametrize("seed", range(12))
def test_derivatives_are_those_of_sympy(seed):
    """Labels as expressions in the weights, differentiated by SymPy, at a rational point."""
    program = random_program(seed, 4, functions=False)
    _, blocks = small_blocks(program, seed, 1)
    cells, samples = all_cells(program), set(program.samples)
    symbols = {cell: sympy.Symbol("_".join(map(str, cell))) for cell in cells}
    held = entries(blocks, sympy.Integer)
    for (name, *place), symbol in symbols.items():
        assert name not in samples
        held[name][(*place, 0)] = symbol
    labels, _ = found_in(program, EntryArithmetic(number=sympy.Rational), held)
    numbers = {symbol: int(blocks[name][(*place, 0)]) for (name, *place), symbol in symbols.items()}
    exact, J = found_in(program, EntryArithmetic(), entries(blocks, fmpq))
    for row, (label, value) in enumerate(zip(labels, rationals(exact), strict=True)):
        label = sympy.sympify(label)
        assert label.subs(numbers) == sympy.Rational(int(value.p), int(value.q))
        for column, symbol in enumerate(symbols.values()):
            slope = fmpq(J[row, column])
            wanted = sympy.Rational(int(slope.p), int(slope.q))
            assert label.diff(symbol).subs(numbers) == wanted


def test_products_of_stacks_by_another_product():
    """A product of two matrices replaces contractions that need many products."""
    build = Builder()
    V, x = build.weight("V", (2, 3)), build.sample("X", (2, 3, 2))
    program = build.program(build.contract("si,sij->sj", V, x))
    seen = []

    def product(a, b):
        seen.append(a.shape)
        return a @ b

    blocks = {"V": np.arange(6).reshape(2, 3, 1), "X": np.arange(24).reshape(2, 3, 2, 2)}
    found = evaluate(program, EntryArithmetic(product=product), blocks)[program.output]
    assert np.array_equal(found, np.einsum("si,sijm->sjm", blocks["V"][..., 0], blocks["X"]))
    assert all(len(shape) == 2 for shape in seen)
    assert len(seen) == 2
