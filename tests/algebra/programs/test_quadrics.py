"""Programs in quadrics as arrays against python-flint's polynomials, entry by entry."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.polynomials.quadratic import DegreeAboveTwo, QuadraticArray
from algebra.polynomials.rings import PrimeField
from algebra.programs.arrays import EntryArithmetic
from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from algebra.programs.residues import QuadraticArithmetic
from tests.samples import many

P, UNKNOWNS = 1073741827, 4
FIELD = PrimeField(P)
RING = FIELD.context([f"x{k}" for k in range(UNKNOWNS)])


def drawn(shape, rng):
    """Constants and unknowns as both kinds of array."""
    values = np.array([rng.randrange(P) for _ in range(int(np.prod(shape)))]).reshape(shape)
    unknown = np.array([rng.randint(-1, UNKNOWNS - 1) for _ in range(values.size)]).reshape(shape)
    plain = np.empty(shape, object)
    for at in np.ndindex(shape):
        k = unknown[at]
        plain[at] = RING.constant(int(values[at])) if k < 0 else RING.gens()[k]
    return QuadraticArray.of(values, P, UNKNOWNS, unknown), plain


class _Polynomials(EntryArithmetic):
    """Polynomials of python-flint, which do not divide by numbers."""

    def __init__(self):
        super().__init__(number=lambda a, b: FIELD.constant(Fraction(a, b)))

    def scale(self, node, a, factor):
        return a * int(FIELD.constant(factor))


def random_program(rng):
    """Moves, sums, scales and at most one product of what is unknown."""
    build = Builder()
    a, b = build.weight("A", (2, 3)), build.sample("X", (3,))
    c = build.constant(np.array([[1, -2, 3], [0, 5, 7]]), 2)
    a = build.add(a, build.scale(a, Fraction(-1, 3)), c)
    match rng.randrange(4):
        case 0:
            value = build.contract("ij,j->i", a, b)
        case 1:
            value = build.multiply(a, build.repeated(b, (2, 3)))
        case 2:
            value = build.contract("ij,j->j", a, b)
        case _:
            value = build.power(build.index([[0, -1, 2], [1, 1, -1]], b), 2)
    return build.program(build.subtract(build.scale(value, -1), build.scale(value, 4)))


@settings(max_examples=many(40), deadline=None)
@given(st.integers(0, 10**6))
def test_against_polynomials(seed):
    """The same polynomials, entry by entry."""
    rng = random.Random(seed)
    program = random_program(rng)
    made = {"A": drawn((2, 3, 1), rng), "X": drawn((3, 2), rng)}
    found = evaluate(
        program, QuadraticArithmetic(P, UNKNOWNS), {name: both[0] for name, both in made.items()}
    )[program.output]
    plain = {name: both[1] for name, both in made.items()}
    expected = evaluate(program, _Polynomials(), plain)[program.output]
    assert found.shape == expected.shape
    assert found.entries.polynomials(RING) == [RING.constant(0) + e for e in expected.ravel()]


def test_what_is_no_quadric_is_refused():
    """Functions, quotients, roots and signs, and products of degree three."""
    build = Builder()
    x = build.sample("X", (1,))
    unknown = QuadraticArray.of(np.zeros((1, 1), np.int64), P, 1, np.zeros((1, 1), np.int64))
    for value in (
        build.apply("tanh", x), build.invert(x), build.root(x), build.rectified(x),
        build.power(x, 3),
    ):  # fmt: skip
        program = build.program(value)
        with pytest.raises(DegreeAboveTwo):
            evaluate(program, QuadraticArithmetic(P, 1), {"X": unknown})
