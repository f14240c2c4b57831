"""Laws of every network: all kinds, activations and options, as programs, with updates.

What a kind computes is compared with its definition in the tests of the kind.
"""

import itertools
import random
from dataclasses import replace

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.linalg.modular import matmul
from algebra.linalg.primes import random_prime
from algebra.linalg.residues import random_residues
from algebra.networks.base import LABELS, STATES, TRACES
from algebra.programs.balls import as_balls, ball_product
from algebra.ranks.derivatives import dual_point
from algebra.ranks.generic_rank import generic_rank, rank_at
from algebra.ranks.jacobian import all_cells, columns_at, jacobian, random_point
from algebra.ranks.minors import ball_columns
from algebra.ranks.parametrized import Parametrized
from matchprob import Problem
from tests.algebra.networks.conformance import (
    KIND,
    UPDATES,
    drawn_network,
    drawn_point,
    is_polynomial,
    labels,
    mapped,
)
from tests.old_kinds import as_program
from tests.samples import P, many

SEEDS = st.integers(0, 10**6)


def doubles(point):
    """A point in doubles."""
    return mapped(lambda a: a.astype(float), point)


@given(SEEDS)
@settings(max_examples=many(320))
def test_one_map_in_all_rings(seed):
    """Doubles, exact fractions, residues, balls: the program's values, and the kind's own map."""
    rng = random.Random(seed)
    net = drawn_network(rng, KIND, UPDATES)
    point = drawn_point(net, rng)
    Y = net.forward(*doubles(point))
    assert Y.shape == (net.d, net.columns)
    np.testing.assert_allclose(Y, labels(net, doubles(point)), rtol=1e-9, atol=1e-12)
    with ctx.workprec(256):
        balls = net.forward(*mapped(as_balls, mapped(as_rationals, point)), ball_product)
    np.testing.assert_allclose(Y, np.vectorize(float)(balls), rtol=1e-9, atol=1e-12)
    assert all(ball.rad() < 1e-9 for ball in balls.flat)
    if is_polynomial(net):
        exact = net.forward(*mapped(as_rationals, point))
        assert all(type(y) is fmpq for y in exact.ravel())
        np.testing.assert_array_equal(exact, labels(net, mapped(as_rationals, point)))
        assert all(ball.overlaps(arb(y)) for ball, y in zip(balls.flat, exact.flat, strict=True))


def as_rationals(array):
    """Fractions as FLINT's rationals."""
    return np.frompyfunc(lambda v: fmpq(v.numerator, v.denominator), 1, 1)(array)


@given(SEEDS)
@settings(max_examples=many(320))
def test_columns_are_differences(seed):
    """Derivatives in doubles and in balls against central differences of the map, all weights."""
    rng = random.Random(seed)
    net = drawn_network(rng, KIND, UPDATES)
    point, cells, step = drawn_point(net, rng), all_cells(net), 1e-5
    weights, X = doubles(point)
    J = net.jacobian(weights, X, cells)
    balls = ball_columns(net, *mapped(as_rationals, point), 0, cells)
    np.testing.assert_allclose(J, np.vectorize(float, otypes=[float])(balls), rtol=1e-9, atol=1e-9)
    for (name, i, j), column in zip(cells, J.T, strict=True):
        up, down = ({**weights, name: weights[name].copy()} for _ in range(2))
        up[name][i, j] += step
        down[name][i, j] -= step
        change = (labels(net, (up, X)) - labels(net, (down, X))).ravel() / (2 * step)
        np.testing.assert_allclose(column, change, rtol=1e-5, atol=1e-7 * (1 + abs(J).max()))


def readings_of(net):
    """What can be read of a network, with its readings."""
    return [(what, found) for what in (LABELS, TRACES, STATES) if (found := net.readings(what))]


@given(SEEDS)
@settings(max_examples=many(320))
def test_backward_is_forward(seed):
    """Of every reading, modulo p and with formal values: columns by reverse mode times a direction
    are the tangents of dual numbers; those of some units are rows of those of all."""
    rng = random.Random(seed)
    net, p = drawn_network(rng), random_prime(rng)
    point, cells = random_point(net, p, seed), all_cells(net)
    step = random_residues((len(cells),), p, rng)
    duals = dual_point(net, point, cells, step)
    for what, readings in readings_of(net):
        values = net.modular_values(what, duals)
        factors = net.modular_readings(what, point, None)
        known = [k for k, cell in enumerate(cells) if cell[0] in factors]
        J = jacobian(factors, [cells[k] for k in known], p)
        moved = matmul(J, step[known, None], p)[:, 0]
        wide = [np.broadcast_to(v.tangent, (*v.value.shape[:-1], net.m)) for v in values]
        assert np.array_equal(moved, np.concatenate([t.reshape(-1) for t in wide]) % p), what
        if [reading.size for reading in readings] != [len(value.value) for value in values]:
            assert what == LABELS
            continue
        units = [np.array([k % reading.size]) for k, reading in enumerate(readings)]
        some = net.modular_readings(what, point, None, units)
        starts = np.cumsum([0, *(reading.size for reading in readings)])
        rows = [start + unit[0] for start, unit in zip(starts, units, strict=False)]
        own = J.reshape(-1, net.m, len(known))[rows].reshape(-1, len(known))
        assert np.array_equal(own, jacobian(some, [cells[k] for k in known], p))
    moved = matmul(columns_at(net, point, cells), step[:, None], p)[:, 0]
    assert np.array_equal(moved, net.modular_forward(duals).tangent.ravel() % p)
    known = dict(readings_of(net))
    if TRACES in known:
        assert known[LABELS] == known[TRACES][-len(known[LABELS]) :]


@given(SEEDS)
@settings(max_examples=many(320))
def test_ranks_are_those_of_the_program(seed):
    """Of all and of random cells; no rank is above the bound by counting of any of them."""
    rng = random.Random(seed)
    net = drawn_network(rng, KIND)
    program, cells = as_program(Problem(net, {})).network, all_cells(net)
    for some in (cells, rng.sample(cells, rng.randint(1, len(cells)))):
        # The bound itself is not used: a rank is compared with it.
        found = rank_at(net, random_point(net, P, seed), some, sorted(net.shapes), len(cells))
        assert found == generic_rank(net, some).rank == generic_rank(program, some).rank
        assert found <= min(len(some), net.label_dimension_bound, program.label_dimension_bound)


@given(SEEDS)
@settings(max_examples=many(320))
def test_degrees_and_sizes_are_bounds(seed):
    """Polynomial labels and derivatives are no larger than their bounds where all numbers are 0 or
    ±1, and on a line through 0 they are polynomials of at most their degree."""
    rng = random.Random(seed)
    net = drawn_network(rng)
    if not is_polynomial(net):
        return
    cells, signs = all_cells(net), mapped(as_rationals, mapped(np.sign, drawn_point(net, rng)))
    at, (degree, bits) = random_point(net, P, seed), net.label_bound
    own = net.entry_bound
    assert all(abs(y) <= 1 << bits for y in net.forward(*signs).ravel())
    assert all(abs(y) <= 1 << own.bits for y in net.jacobian(*signs, cells).ravel())
    if isinstance(net, Parametrized):
        # There points have updated matrices, and parameters that are drawn with them.
        return
    line = [
        replace(at, weights={name: w * t % P for name, w in at.weights.items()}, X=at.X * t % P)
        for t in range(max(degree, own.degree) + 2)
    ]
    still = np.zeros(len(cells), np.int64)
    values = [net.modular_forward(dual_point(net, point, cells, still)).value for point in line]
    assert not differences(values[: degree + 2]).any()
    columns = [columns_at(net, point, cells) for point in line[: own.degree + 2]]
    assert not differences(columns).any()


def differences(values):
    """The last difference modulo p of values at 0, 1, 2, …: 0 for a degree below their number."""
    while len(values) > 1:
        values = [(b - a) % P for a, b in itertools.pairwise(values)]
    return values[0]
