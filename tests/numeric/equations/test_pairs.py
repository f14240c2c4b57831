"""Pairs of doubles: the bounds of the lemma hold, and discs enclose exact values."""

from fractions import Fraction

import numpy as np
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from numeric.equations.lanes.tape import Tape
from numeric.equations.pairs import (
    IM,
    IM_LOW,
    PAIR_UNIT,
    RADIUS,
    RE,
    RE_LOW,
    SIZE,
    add_pairs,
    enclose_in_pairs,
    make_pair_discs,
    multiply_pairs,
    run_pair_discs,
)
from numeric.kernels import call, njit
from tests.samples import many

UNIT = Fraction(1, 2**106)
# Far from underflow and overflow.
HIGHS = st.floats(1e-40, 1e40).flatmap(lambda x: st.sampled_from([x, -x]))


@njit(nogil=True)
def _both(xh, xl, yh, yl):
    return add_pairs(xh, xl, yh, yl), multiply_pairs(xh, xl, yh, yl)


@st.composite
def pairs(draw, near=None):
    """A pair; with `near` its high part often almost cancels another number."""
    high = draw(HIGHS)
    if near is not None and draw(st.booleans()):
        high = -near * (1 + draw(st.integers(-4, 4)) * 2.0**-52)
    low = high * 2.0**-53 * draw(st.floats(-1, 1))
    total = high + low
    return total, low - (total - high)


@st.composite
def two_pairs(draw):
    x = draw(pairs())
    return x, draw(pairs(near=x[0]))


def exact(pair):
    return Fraction(pair[0]) + Fraction(pair[1])


@given(two_pairs())
def test_the_bounds_of_the_lemma_hold(both):
    """Sums have errors of at most 3 u² / (1 - 4 u), products of at most 5 u²; both are pairs."""
    x, y = both
    total, product = call(_both, *x, *y)
    u = Fraction(1, 2**53)
    wanted = exact(x) + exact(y)
    assert abs(exact(total) - wanted) <= 3 * UNIT / (1 - 4 * u) * abs(wanted)
    wanted = exact(x) * exact(y)
    assert abs(exact(product) - wanted) <= 5 * UNIT * abs(wanted)
    for high, low in (total, product):
        assert high + low == high


class Rational(tuple):
    """A complex number with rational parts."""

    def __new__(cls, re, im):
        return super().__new__(cls, (Fraction(re), Fraction(im)))

    def __add__(self, other):
        return Rational(self[0] + other[0], self[1] + other[1])

    def __mul__(self, other):
        (a, b), (c, d) = self, other
        return Rational(a * c - b * d, a * d + b * c)


def random_system(rng):
    """Random discs of radius 0, a tape of random sums of products, and its exact values."""
    inputs, x, tape = 8, make_pair_discs(12), Tape()
    high = rng.standard_normal((inputs, 2)) * 2.0 ** rng.integers(-8, 8, (inputs, 1))
    if rng.integers(2):
        high[:, 1] = 0.0
    low = high * 2.0**-53 * rng.uniform(-1, 1, high.shape)
    x[:inputs, [RE, IM]], x[:inputs, [RE_LOW, IM_LOW]] = high, low
    x[:inputs, SIZE] = np.hypot(*high.T) * (1 + 1e-15)
    values = [
        Rational(Fraction(a) + Fraction(b), Fraction(c) + Fraction(d))
        for (a, c), (b, d) in zip(high, low, strict=True)
    ]
    values += [Rational(0, 0)] * 4
    for to in range(inputs, 12):
        count = int(rng.integers(1, 4))
        a, b = rng.integers(0, to - count + 1, 2).tolist()
        tape.dots(to, 0, a, 1, b, 0, 1, count, 1)
        for q in range(count):
            values[to] += values[a + q] * values[b + q]
        if rng.integers(2):
            tape.subtract(to, int(a))
            values[to] += values[a] * Rational(-1, 0)
    return x, tape.table()[0], values


def misses(unit, systems):
    """How many values of random systems are outside their discs."""
    rng, outside = np.random.default_rng(0), 0
    for _ in range(systems):
        x, table, values = random_system(rng)
        assert call(run_pair_discs, x, table, unit)
        for row, (re, im) in zip(x, values, strict=True):
            off = [
                re - Fraction(row[RE]) - Fraction(row[RE_LOW]),
                im - Fraction(row[IM]) - Fraction(row[IM_LOW]),
            ]
            outside += off[0] ** 2 + off[1] ** 2 > Fraction(row[RADIUS]) ** 2
            assert Fraction(row[SIZE]) ** 2 >= Fraction(row[RE]) ** 2 + Fraction(row[IM]) ** 2
    return outside


def test_random_rational_systems_are_enclosed_and_a_wrong_bound_is_caught():
    """Every exact value lies in its disc; with a bound ten times too small some do not."""
    assert misses(PAIR_UNIT, many(1200)) == 0
    assert misses(PAIR_UNIT / 10, many(1200)) > 0


def test_members_of_discs_are_enclosed():
    """Values at members of input discs lie in the discs of the results."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        x, table, _ = random_system(rng)
        x[:8, RADIUS] = 10.0 ** -rng.uniform(10, 40, 8)
        turn = np.exp(2j * np.pi * rng.uniform(size=8))
        ctx.prec = 400
        v = [
            acb(r[RE], r[IM]) + acb(r[RE_LOW], r[IM_LOW])
            + acb(t.real, t.imag) * (r[RADIUS] * (1 - 1e-9))
            for r, t in zip(x[:8], turn, strict=True)
        ] + [acb(0)] * 4  # fmt: skip
        for _, c, _, a, a_stride, b, _, b_stride, count, _, _ in table.tolist():
            if b < 0:
                v[c] -= v[a]
            else:
                v[c] += sum(
                    (v[a + q * a_stride] * v[b + q * b_stride] for q in range(count)), acb(0)
                )
        assert call(run_pair_discs, x, table, PAIR_UNIT)
        for row, value in zip(x, v, strict=True):
            off = value - acb(row[RE], row[IM]) - acb(row[RE_LOW], row[IM_LOW])
            assert abs(off) <= arb(row[RADIUS])
    ctx.prec = 53


def test_an_instruction_without_an_enclosure_is_refused():
    """A tape with a factorization, which has no enclosure, is refused."""
    tape = Tape()
    tape.factor(0, 1)
    assert not call(run_pair_discs, make_pair_discs(2), tape.table()[0], PAIR_UNIT)


def test_balls_are_enclosed():
    """Midpoints have about 32 digits; the disc contains the ball."""
    ctx.prec = 200
    third = acb(arb(1) / 3, arb(-2) / 7)
    for z in (third, third + acb(arb(0, 1e-20), 0), acb(0)):
        [row] = enclose_in_pairs([z])
        middle = acb(row[RE], row[IM]) + acb(row[RE_LOW], row[IM_LOW])
        # Bounds have about nine digits.
        assert abs(z - middle).abs_upper() <= arb(row[RADIUS]) * (1 + 1e-7)
        assert abs(z).abs_upper() <= arb(row[SIZE]) * (1 + 1e-7)
        assert row[RADIUS] <= 1e-32 + 1.1 * float(abs(z - z.mid()).abs_upper())
    ctx.prec = 53
