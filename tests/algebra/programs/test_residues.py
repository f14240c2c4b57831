"""Values over GF(p) are those over Q, modulo p."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from algebra.programs.evaluate import evaluate
from algebra.programs.program import Builder
from algebra.programs.residues import NoResidues
from tests.algebra.programs.programs import LONG_PRIME, SMALL_PRIME, point, random_program
from tests.algebra.programs.test_evaluate import OneSample
from tests.refusals import refuses


def arrays(value):
    """Also for one entry without axes, which NumPy would convert to a number."""
    return np.asarray(value, dtype=object)


class Arrays(OneSample):
    """Rationals in arrays, for all axes."""

    def __getattribute__(self, name):
        method = super().__getattribute__(name)
        return lambda *inputs: arrays(method(*inputs))


@given(st.integers(0, 10**6), st.sampled_from([SMALL_PRIME, LONG_PRIME]))
def test_residues_of_rational_values(seed, p):
    """A random program at a random integer point, one sample: rationals reduced modulo p."""
    program = random_program(seed, 5, functions=False)
    arithmetic, blocks = point(program, p, seed, 1)
    blocks = {name: value % 5 for name, value in blocks.items()}
    found = evaluate(program, arithmetic, blocks)[program.output]
    rationals = {
        name: arrays(np.vectorize(lambda v: Fraction(int(v)), otypes=[object])(value[..., 0]))
        for name, value in blocks.items()
    }
    exact = evaluate(program, Arrays(), rationals)[program.output]
    reduced = [v.numerator * pow(v.denominator, -1, p) % p for v in exact.ravel()]
    assert found.ravel().tolist() == reduced


def test_what_has_no_residue_is_refused():
    """Roots, signs without a pattern, and division by 0 modulo p are refused with a message."""
    build = Builder()
    x = build.sample("X", (1,))
    zero = build.subtract(x, x)
    for value in (build.root(x), build.choose(x, x, zero), build.invert(zero)):
        program = build.program(value)
        arithmetic, blocks = point(program, LONG_PRIME, 1)
        refuses(
            r"root|sign|is 0 at this point", evaluate, program, arithmetic, blocks, error=NoResidues
        )
