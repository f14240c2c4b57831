"""Programs as sums of products: values, derivatives and series against other arithmetics."""

import random

import numpy as np
import pytest
from flint import acb, arb, ctx, fmpq

from algebra.ranks.generic_rank import allocation_rank
from algebra.ranks.jacobian import all_cells
from matchprob import RNN, Allocation, FeedForward, LinearRNN, ShallowReLU
from numeric.equations.arrays import run_arrays
from numeric.equations.balls import BallTape
from numeric.equations.chain import Chain, make_chain
from numeric.equations.lanes.linalg import LANES, workspace
from numeric.equations.lanes.tape import run_tape
from numeric.equations.program_system import make_program_system, make_system
from numeric.tracking.steps import make_work
from tests.numeric.equations.cases import chains
from tests.refusals import refuses

ORDER = 5
SQUARE, CUBIC = {"polynomial": [0, 0, 1]}, {"polynomial": ["1/2", -1, 0, "1/3"]}
NETWORKS = [
    FeedForward(3, (2,), 2, 2, activation=SQUARE),
    FeedForward(2, (3, 2), 1, 4, activation=CUBIC, biases=True),
    FeedForward(2, (2,), 2, 1, activation={"polynomial": [1, 1, 1]}, biases=True),
    RNN(3, 3, 1, 1, 3, activation=SQUARE),
    RNN(2, 2, 2, 2, 2, activation=CUBIC, biases=True),
    RNN(2, 2, 1, 1, 3, activation=SQUARE, leak="1/3"),
    RNN(2, 2, 1, 1, 3, activation={"polynomial": [0, 1, 1]}, leak="learnable"),
    RNN(2, 2, 1, 2, 1, activation=SQUARE, biases=True, read="all"),
]


def allocation_of(network, seed=0):
    """A random square allocation of full rank."""
    rng, cells = random.Random(seed), all_cells(network)
    count = network.d * network.columns
    while True:
        found = Allocation.from_cells(network, sorted(rng.sample(cells, count)))
        if allocation_rank(found).rank == count:
            return found


@pytest.fixture(params=NETWORKS, ids=str)
def system(request):
    return make_program_system(allocation_of(request.param))


def test_values_and_jacobian_over_the_rationals(system):
    """In balls of 300 bits they are those of the network's program over Q."""
    network, rng, r = system.network, np.random.default_rng(0), system.unknowns

    def rationals(*shape):
        found = np.empty(shape, object)
        for index in np.ndindex(*shape):
            found[index] = fmpq(int(rng.integers(-9, 10)), 7)
        return found

    weights = {name: rationals(*shape) for name, shape in network.shapes.items()}
    X, Y = rationals(*network.input_shape), rationals(*system.label_shape)
    labels = network.forward(weights, X)
    slopes = network.jacobian(weights, X, system.allocation.cells)
    tapes = system.equations_as_tapes(False)
    with ctx.workprec(300):
        vector = system.raw(weights, X, Y, keep_cells=True)
        x = [acb(arb(v)) for v in vector] + [acb(0)] * (tapes.slots - system.size)
        BallTape(tapes.values).run(x)
        BallTape(tapes.derivatives).run(x)
        f, J = (x[at : at + count] for at, count in ((tapes.f, r), (tapes.jacobian, r * r)))
        for ball, value in zip(f, (Y - labels).ravel(), strict=True):
            assert ball.contains(acb(arb(value)))
            assert ball.rad() < arb(2) ** -200
        for ball, value in zip(J, slopes.ravel(), strict=True):
            assert ball.contains(acb(arb(value)))
            assert ball.rad() < arb(2) ** -200


def test_a_turned_instance_has_the_same_roots(system):
    """The turned parameter vector is another one, and the root solves its equations."""
    rng = np.random.default_rng(0)
    parameters, root = system.random(rng)
    other = system.turned(parameters, rng)
    size = system.term_sizes(parameters, root)
    assert (np.abs(system.residuals(other, root[None])[0][0]) < 1e-13 * (1 + size)).all()
    assert np.abs(other - parameters).max() > 0.1


def coefficients(o, first, second, start):
    """Taylor coefficients of the coordinates at the beginning of a line."""
    ws, work = workspace(o.slots), make_work(o.unknowns, 1)
    for at, values in ((o.base, first), (o.slope, second - first), (o.x, start)):
        ws[at : at + len(values), 0] = values.real[:, None]
        ws[at : at + len(values), 1] = values.imag[:, None]
    tapes = [(o.point, 0), (o.series, 1), *((o.orders, j) for j in range(2, o.order + 1))]
    for table, order in tapes:
        run_tape(ws, table, order, np.zeros(LANES), work.pivots, work.pattern, o.scratch, o.low)
    found = ws[o.x : o.x + (o.order + 1) * o.size, :, 0]
    return (found[:, 0] + 1j * found[:, 1]).reshape(o.order + 1, o.size)


def test_series_solve_the_equations(system):
    """The residual of a Taylor polynomial of order k decreases like the (k + 1)th power."""
    rng = np.random.default_rng(1)
    (first, root), (second, _) = system.random(rng), system.random(rng)
    series = coefficients(system.lane_system(ORDER, False), first, second, root)
    assert_orders(
        series, lambda h, w: system.residuals(first + h * (second - first), w[None])[0][0]
    )


def test_series_of_the_curve_solve_its_equations(system):
    """The same for the labels minus τ V and a moving section."""
    rng, r = np.random.default_rng(2), system.unknowns
    parameters, root = system.random(rng)
    V, Q, R = _gaussian(rng, r), _gaussian(rng, r + 1, 2), _gaussian(rng, r + 1, 2)
    start = np.append(root, 0)
    Q[0, 0] -= np.append(1, root) @ Q[:, 0]
    first, second = (system.curve_parameters(parameters, V, section) for section in (Q, R))
    series = coefficients(system.curve_system(ORDER), first, second, start)

    def residual(h, z):
        w, tau = z[:r], z[r]
        gap = system.residuals(parameters, w[None])[0][0] - tau * V
        section = Q + h * (R - Q)
        return np.append(gap, np.append(1, w) @ section @ np.array([1, tau]))

    assert_orders(series, residual)


def _gaussian(rng, *shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def assert_orders(series, residual):
    radius = min(np.abs(series[j]).max() ** (-1 / j) for j in range(1, len(series)))
    for order in range(1, len(series)):
        sizes = []
        for h in (0.04 * radius, 0.02 * radius):
            z = sum(series[j] * h**j for j in range(order + 1))
            sizes.append(np.abs(residual(h, z)).max())
        assert np.log2(sizes[0] / sizes[1]) > order + 0.7 or sizes[1] < 1e-14, order


def test_systems_by_network():
    """Linear networks are chains; what is not square or no polynomial is refused."""
    linear = Allocation.from_cells(LinearRNN(n=2, T=2, b=1, d=1, m=2), [("W", 0, 0), ("W", 1, 1)])
    assert isinstance(make_system(linear), Chain)
    assert make_system(linear).size == make_chain(linear).size
    relu = Allocation.from_cells(ShallowReLU(q=2, n=2, d=1, m=1), [("W1", 0, 0)])
    refuses("polynomial activation", make_system, relu)
    tanh = Allocation.from_cells(FeedForward(1, (1,), 1, 1), [("W1", 0, 0)])
    refuses("polynomial activation", make_system, tanh)
    few = Allocation.from_cells(NETWORKS[0], [("W1", 0, 0)])
    refuses("1 learnable weights face 4 labels", make_system, few)
    flat = Allocation.from_cells(
        FeedForward(1, (1,), 2, 1, activation=SQUARE), [("W1", 0, 0), ("W2", 0, 0)]
    )
    assert make_system(flat).unknowns == 2
    minimal = Allocation.from_cells(
        FeedForward(2, (1,), 2, 1, activation=SQUARE), [("W1", 0, 0), ("W1", 0, 1)]
    )
    refuses("rank 1 of 2", make_system, minimal)


@pytest.mark.parametrize("chain", chains(), ids=lambda chain: str(chain.allocation))
def test_tapes_of_chains_and_of_programs(chain):
    """The tapes of a chain, from its states, have the values of those from its program."""
    network = chain.network
    if chain.unknowns != network.d * network.columns:
        refuses("learnable weights face", make_program_system, chain.allocation)
        return
    W, X, w = chain.random_student(network.m, np.random.default_rng(0))
    Y = network.forward(W, X)
    Y = Y + np.arange(Y.size).reshape(Y.shape)
    found = []
    for system in (chain, make_program_system(chain.allocation)):
        tapes, r = system.equations_as_tapes(lifted=False), system.unknowns
        x = np.zeros((tapes.slots, 1), complex)
        x[: system.size, 0] = system.raw(W, X, Y)
        x[tapes.places, 0] = w
        run_arrays(x, tapes.values)
        run_arrays(x, tapes.derivatives)
        found.append((x[tapes.f : tapes.f + r], x[tapes.jacobian : tapes.jacobian + r * r]))
    for own, made in zip(*found, strict=True):
        assert np.allclose(own, made, rtol=1e-10, atol=1e-10)
    assert np.allclose(-found[0][0][:, 0], -np.arange(Y.size))


def test_constants_that_are_rounded_have_radii():
    """1/3 is no double, 1/2 is one."""
    system = make_program_system(allocation_of(NETWORKS[1]))
    radii = dict(zip(system.constants, system.constant_radii[system.constants_at :], strict=False))
    for constant, radius in radii.items():
        nearest = fmpq(*float(constant).as_integer_ratio())
        error = abs(nearest - fmpq(constant.numerator, constant.denominator))
        assert error <= fmpq(*float(radius).as_integer_ratio())
        assert (radius == 0) == (error == 0)
    assert any(radii.values())
