"""Tapes against plain numpy, and against solutions on a small circle."""

import numpy as np
import pytest

from numeric.chains.arrays import labels, residuals
from numeric.chains.lanes.condensed import ChainWriter, jacobian_sizes, make_condensed
from numeric.chains.lanes.lifted import make_lifted, positions
from numeric.chains.lanes.linalg import LANES, workspace
from numeric.chains.lanes.tape import Layout, Tape, run_tape, runs
from numeric.chains.table import chain_table
from numeric.tracking.steps import make_work
from tests.numeric.chains.cases import chains

CHAINS = chains()
ORDER = 5


def write(ws, at, values, lane):
    ws[at : at + len(values), 0, lane] = values.real
    ws[at : at + len(values), 1, lane] = values.imag


def read(ws, at, count, lane=0):
    return ws[at : at + count, 0, lane] + 1j * ws[at : at + count, 1, lane]


def play(ws, table, o=None, order=0):
    """Run a tape at t = 0."""
    work = make_work(o.unknowns if o else 1, 1)
    scratch, low = (o.scratch, o.low) if o else (0, 0)
    run_tape(ws, table, order, np.zeros(LANES), work.pivots, work.pattern, scratch, low)


def newton(chain, parameters, w):
    """Newton's method in plain numpy from a good guess."""
    for _ in range(8):
        values, slopes = residuals(chain, parameters, w[None])
        w = w - np.linalg.solve(slopes[0], values[0])
    return w


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_values_and_jacobian(chain):
    """Minus the residual, and the condensed Jacobian, of a tape that has no other parts."""
    t = chain_table(chain)
    take, tape = Layout(), Tape()
    p, s, z = take.take(t.size), take.take(t.states), take.take(t.z_size)
    given, target = take.take(t.labels * t.samples), take.take(t.unknowns)
    arrays = [take.take(count) for count in jacobian_sizes(t)]
    matrix = take.take(t.unknowns**2)
    ws = workspace(take.slots)
    lines = []
    for lane in range(LANES):
        first, root = chain.random(np.random.default_rng(lane))
        first[chain.y_at] += 1
        full = first.copy()
        full[chain.cells[:, 4]] = root
        write(ws, p, full, lane)
        lines.append((first, root))
    for each in {False, bool(chain.read_all and chain.samples == chain.steps * chain.columns)}:
        writer = ChainWriter(t, p, given, each=each)
        writer.states(tape, s)
        writer.read_out(tape, s, z)
        writer.residual(tape, z, target)
        writer.jacobian(tape, s, z, *arrays, matrix)
        play(ws, tape.table())
        for lane in (0, 5):
            value, slopes = residuals(chain, lines[lane][0], lines[lane][1][None])
            assert np.allclose(-read(ws, target, t.unknowns, lane), value[0])
            found = read(ws, matrix, t.unknowns**2, lane).reshape(t.unknowns, -1)
            assert np.allclose(found, slopes[0])
            assert np.allclose(found, labels(chain, lines[lane][0], lines[lane][1][None])[1][0])


@pytest.mark.parametrize("make", [make_condensed, make_lifted])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor(chain, make):
    """The Taylor polynomial of the weights agrees with Newton's solution to the next order."""
    o = make(chain, ORDER)
    ws = workspace(o.slots)
    lines = []
    for lane in range(LANES):
        first, root = chain.random(np.random.default_rng(lane))
        second, _ = chain.random(np.random.default_rng(1000 + lane))
        slope = second - first
        slope[chain.cells[:, 4]] = 0
        for at, value in ((o.base, first), (o.slope, second - first), (o.x, root)):
            write(ws, at, value, lane)
        lines.append((first, slope))
    r, work = chain.unknowns, make_work(o.unknowns, 1)
    ws[o.scale : o.scale + o.size] = 1

    def step(table, order=0):
        run_tape(ws, table, order, np.zeros(LANES), work.pivots, work.pattern, o.scratch, o.low)

    step(o.load)
    if o.load.shape[1]:
        ws[o.x : o.x + o.size] = ws[o.new : o.new + o.size]
    step(o.point)
    step(o.series, 1)
    for order in range(2, ORDER + 1):
        step(o.orders, order)
    first, slope = lines[2]
    w = np.array([read(ws, o.x + j * o.size, r, 2) for j in range(ORDER + 1)])
    errors = []
    for h in (2e-3, 1e-3):
        guess = (w * h ** np.arange(ORDER + 1)[:, None]).sum(axis=0)
        errors.append(np.abs(newton(chain, first + h * slope, guess) - guess).max())
    scale = np.abs(w[0]).max()
    # Halving the step divides the error by 2^(ORDER + 1) = 64, down to rounding.
    assert errors[1] <= errors[0] / 30 or errors[1] < 1e-12 * scale


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_lifted_system_has_as_many_rows_as_columns(chain):
    """Unknowns and equations of the lifted system each fill the places 0 … size - 1."""
    column, row, cell, label = positions(chain)
    size = int((column >= 0).sum()) + chain.unknowns
    assert sorted([*column[column >= 0], *cell]) == list(range(size))
    assert sorted([*row[row >= 0], *label]) == list(range(size))


def test_runs_have_constant_steps():
    """Every value occurs once, in maximal runs of constant step."""
    values, more = [0, 2, 4, 5, 9], [1, 2, 3, 3, 7]
    found = runs(values, more)
    assert found == [(0, 3, 2, 1), (3, 2, 4, 4)]
    assert runs([], []) == []


def test_adjacent_slots_are_copied_together():
    """Pairs that advance by one become one instruction; others stay apart."""
    tape = Tape()
    tape.each(tape.copy, [(0, 5), (1, 6), (2, 8), (4, 9)])
    assert [(row[1], row[3], row[8]) for row in tape.rows] == [(0, 5, 2), (2, 8, 1), (4, 9, 1)]


def test_an_order_that_is_not_affine_is_refused():
    """Slots must advance by the same amount from order to order."""
    with pytest.raises(AssertionError):
        Tape.affine(lambda tape, order: tape.clear(order**2, 1))
