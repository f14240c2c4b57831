"""The arithmetics of tapes against each other: lanes, discs, balls and exact rationals."""

from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from numeric.equations.arrays import residuals, run_arrays
from numeric.equations.balls import ONE, BallTape
from numeric.equations.chain import make_chain
from numeric.equations.discs import Discs, run_discs
from numeric.equations.inputs import inputs_form
from numeric.equations.lanes.inputs import make_inputs
from numeric.equations.lanes.linalg import LANES, workspace
from numeric.equations.lanes.tape import ADD, CLEAR, COPY, DOTS, Tape, run_tape
from numeric.equations.program_system import make_program_system
from numeric.tracking.steps import make_work
from tests.numeric.equations.cases import chains
from tests.numeric.equations.test_inputs import CASES
from tests.numeric.equations.test_program_system import NETWORKS, allocation_of

SLOTS, ORDER = 12, 6
slot = st.integers(0, 4)
# Results stay in the second half, so that no instruction reads what it writes.
target = st.integers(6, 9)
instruction = st.one_of(
    st.tuples(st.just("clear"), target, st.integers(1, 3)),
    st.tuples(st.just("set_one"), target),
    st.tuples(st.just("copy"), target, slot, st.integers(1, 2)),
    st.tuples(st.just("add"), target, slot, st.integers(1, 2), st.sampled_from([1, -1])),
    st.tuples(
        st.just("dots"), target, st.just(1), st.integers(0, 1), st.integers(0, 2),
        st.integers(0, 1), st.integers(0, 1), st.integers(0, 2), st.integers(1, 2),
        st.integers(1, 3), st.integers(0, 1),
    ),
    st.tuples(st.just("copy"), slot, target, st.integers(1, 1)),
)  # fmt: skip


def exactly(rows, values):
    """The tape over the Gaussian rationals, pairs of fractions."""
    x = [(Fraction(z.real), Fraction(z.imag)) for z in values]
    for op, c, c_step, a, a_stride, b, b_step, b_stride, count, dots, a_step in rows:
        if op == DOTS:
            for k in range(dots):
                re, im = x[c + k * c_step]
                for q in range(count):
                    (p, r), (s, u) = (
                        x[a + k * a_step + q * a_stride],
                        x[b + k * b_step + q * b_stride],
                    )
                    re, im = re + p * s - r * u, im + p * u + r * s
                x[c + k * c_step] = re, im
            continue
        for k in range(count):
            (p, r), (s, u) = x[c + k], x[a + k]
            x[c + k] = {
                CLEAR: (Fraction(0), Fraction(0)), COPY: (s, u), ADD: (p + b * s, r + b * u),
            }.get(op, (Fraction(1), Fraction(0)))  # fmt: skip
    return x


def as_ball(value):
    re, im = (arb(fmpq(part.numerator, part.denominator)) for part in value)
    return acb(re, im)


@settings(max_examples=60, deadline=None)
@given(st.lists(instruction, min_size=1, max_size=12), st.integers(0, 1000))
def test_random_tapes(instructions, seed):
    """Exact values lie in the discs and in the balls; those of the lanes are near."""
    tape = Tape()
    for name, *numbers in instructions:
        getattr(tape, name)(*numbers)
    table = tape.table()
    rng = np.random.default_rng(seed)
    mid = rng.standard_normal(SLOTS) + 1j * rng.standard_normal(SLOTS)
    wanted = exactly(table[0].tolist(), mid)
    size = max(float(abs(p) + abs(r)) for p, r in wanted) + 1

    ws = workspace(SLOTS)
    ws[:, 0], ws[:, 1] = mid.real[:, None], mid.imag[:, None]
    work = make_work(1, 1)
    run_tape(ws, table, 0, np.zeros(LANES), work.pivots, work.pattern, 0, None)
    found = ws[:, 0] + 1j * ws[:, 1]
    near = np.array([complex(p, r) for p, r in wanted])
    assert np.abs(found - near[:, None]).max() <= 1e-12 * size**2

    arrays = mid[:, None].copy()
    run_arrays(arrays, table[0])
    assert np.abs(arrays[:, 0] - near).max() <= 1e-12 * size**2

    discs = Discs(mid.copy(), np.full(SLOTS, 1e-9))
    assert run_discs(discs, table[0])
    with ctx.workprec(80):
        balls = [acb(z.real, z.imag) for z in mid]
        BallTape(table[0]).run(balls)
        points = [acb(z.real, z.imag) for z in mid]
        BallTape(table[0]).run(points, points=True)
    with ctx.workprec(400):
        for k, value in enumerate(wanted):
            exact = as_ball(value)
            assert balls[k].overlaps(exact)
            assert abs(points[k] - exact) < arb(2) ** -60 * arb(size) ** 2
            centre = acb(discs.mid[k].real, discs.mid[k].imag)
            assert abs(exact - centre) <= arb(float(discs.rad[k]))


@pytest.mark.parametrize("chain", chains()[::2], ids=lambda c: str(c.allocation))
def test_equations_over_the_rationals(chain):
    """Values and Jacobian in balls of 300 bits are those over Q, by products of matrices."""
    rng = np.random.default_rng(0)
    p, w = (rng.integers(-9, 10, size).tolist() for size in (chain.size, chain.unknowns))
    values, slopes = residuals(
        chain, np.array([fmpq(v, 7) for v in p]), np.array([[fmpq(v, 5) for v in w]])
    )
    tapes = chain.equations_as_tapes(lifted=False)
    with ctx.workprec(300):
        x = [acb(arb(fmpq(v, 7))) for v in p] + [acb(0)] * (tapes.slots - chain.size)
        for at, v in zip(tapes.places.tolist(), w, strict=True):
            x[at] = acb(arb(fmpq(v, 5)))
        BallTape(tapes.values).run(x)
        BallTape(tapes.derivatives).run(x)
        r = chain.unknowns
        for ball, value in zip(x[tapes.f : tapes.f + r], values[0], strict=True):
            assert (-ball).contains(acb(arb(value)))
        entries = x[tapes.jacobian : tapes.jacobian + r * r]
        for ball, value in zip(entries, slopes[0].ravel(), strict=True):
            assert ball.contains(acb(arb(value)))


def forms():
    """Systems with parameters of two instances and a start point."""
    rng = np.random.default_rng(0)

    def gaussian(*shape):
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

    for chain in chains()[::3]:
        first, root = chain.random(rng)
        second, _ = chain.random(rng)
        yield "weights", chain.lane_system(ORDER, lifted=False), first, second, root
        yield "lifted", chain.lane_system(ORDER, lifted=True), first, second, root
        V, Q0, Q1 = gaussian(len(root)), gaussian(len(root) + 1, 2), gaussian(len(root) + 1, 2)
        Q0[0, 0] -= np.append(1, root) @ Q0[:, 0]
        sections = (chain.curve_parameters(first, V, Q) for Q in (Q0, Q1))
        yield "curve", chain.curve_system(ORDER), *sections, np.append(root, 0)
    for network in NETWORKS[::3]:
        system = make_program_system(allocation_of(network))
        (first, root), (second, _) = system.random(rng), system.random(rng)
        yield "program", system.lane_system(ORDER, lifted=False), first, second, root
    for case in CASES[:2]:
        chain = make_chain(case)
        form = inputs_form(chain)
        (first, root), (second, _) = chain.random(rng), chain.random(rng)
        a, b = form.reduce(first), form.reduce(second)
        x = form.unknowns_of(a, root[None])[0]
        yield "inputs", make_inputs(form, ORDER), a.vector, b.vector, x


@pytest.mark.parametrize("form", list(forms()), ids=lambda form: form[0])
def test_series_and_newton_steps(form):
    """Taylor coefficients and a Newton step of each form: lanes against balls."""
    _, o, first, second, start = form
    size = o.size
    ws, work = workspace(o.slots), make_work(o.unknowns, 1)
    for at, values in ((o.base, first), (o.slope, second - first), (o.x, start)):
        ws[at : at + len(values), 0] = values.real[:, None]
        ws[at : at + len(values), 1] = values.imag[:, None]
    ws[o.scale : o.scale + size, 0] = 1.0
    balls = [acb(re[0], im[0]) for re, im in ws.tolist()]
    balls[o.scale : o.scale + size] = [ONE] * size
    solvers: dict = {}
    place = np.full(LANES, 0.125)

    def both(table, t, order=0):
        run_tape(ws, table, order, t, work.pivots, work.pattern, o.scratch, o.low)
        with ctx.workprec(200):
            tape = BallTape(table[0] + order * table[1])
            tape.run(balls, t=arb(float(t[0])), solvers=solvers, points=True)

    def compare(at, count):
        exact = [complex(float(z.real.mid()), float(z.imag.mid())) for z in balls[at : at + count]]
        found = ws[at : at + count, 0] + 1j * ws[at : at + count, 1]
        assert np.allclose(
            found, np.array(exact)[:, None], rtol=1e-6, atol=1e-8 * np.abs(exact).max()
        )

    both(o.load, 0 * place)
    if o.load.shape[1]:
        ws[o.x : o.x + size] = ws[o.new : o.new + size]
        balls[o.x : o.x + size] = balls[o.new : o.new + size]
    both(o.point, 0 * place)
    both(o.series, 0 * place, 1)
    for order in range(2, ORDER + 1):
        both(o.orders, 0 * place, order)
    compare(o.x, (ORDER + 1) * size)
    ws[o.new : o.new + size] = ws[o.x : o.x + size]
    balls[o.new : o.new + size] = balls[o.x : o.x + size]
    for table in (o.newton, o.again):
        both(table, place)
        compare(o.step, size)
        compare(o.new, size)
