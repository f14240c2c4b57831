"""Chains in ball arithmetic against plain numpy and against themselves at other points."""

import numpy as np
import pytest
from flint import acb, arb, ctx

from numeric.equations.arrays import residuals
from numeric.equations.balls import BallSystem, BallTape
from numeric.equations.lanes.tape import Tape
from numeric.tracking.precise import ORDER, PreciseLine, PreciseSystem
from tests.numeric.equations.cases import chains

CHAINS = chains()


@pytest.fixture(autouse=True)
def precision():
    ctx.prec = 200
    yield
    ctx.prec = 53


def balls(values):
    return [acb(z.real, z.imag) for z in np.asarray(values, complex).tolist()]


def doubles(entries):
    return np.array([complex(float(z.real.mid()), float(z.imag.mid())) for z in entries])


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_residual_and_jacobian(chain):
    """Values and derivatives are those of numpy, to double precision."""
    rng = np.random.default_rng(0)
    parameters, root = chain.random(rng)
    w = root + 0.1 * rng.standard_normal(len(root))
    system = BallSystem(chain, balls(parameters))
    F, J = system.evaluate(balls(w))
    values, slopes = residuals(chain, parameters, w[None])
    assert np.allclose(doubles(F.entries()), values[0])
    assert np.allclose(doubles(J.entries()).reshape(slopes[0].shape), slopes[0])


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_enclosures(chain):
    """Values and derivatives over a polydisc contain those at its points, exactly computed."""
    rng = np.random.default_rng(3)
    parameters, root = chain.random(rng)
    system = BallSystem(chain, balls(parameters))
    radius = arb(2) ** -20
    box = [acb(arb(z.real, radius), arb(z.imag, radius)) for z in root]
    F, J = system.evaluate(box)
    for _ in range(3):
        inside = root + (rng.uniform(-1, 1, len(root)) + 1j * rng.uniform(-1, 1, len(root))) / 2**21
        values, slopes = residuals(chain, np.array(balls(parameters)), np.array([balls(inside)]))
        assert all(ball.contains(z) for ball, z in zip(F.entries(), values[0], strict=True))
        assert all(ball.contains(z) for ball, z in zip(J.entries(), slopes[0].ravel(), strict=True))


def test_every_instruction():
    """Each operation of a tape, against the formula in Python's complex numbers."""
    tape = Tape()
    tape.dots(20, 1, 0, 1, 4, 4, 1, 4, 2)
    tape.dots(22, 1, 1, 1, 4, 4, 1, 4, 2)  # the same right factors: one product of matrices
    tape.line(24, 0, 4, 2)
    tape.subtract(24, 12)
    tape.add(25, 13)
    tape.copy(26, 24, 2)
    tape.scale(26, 14, 2)
    tape.set_one(28)
    tape.clear(29, 1)
    tape.factor(0, 2)
    tape.solve(12, 0, 2)
    tape.solve(14, 0, 2)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(30) + 1j * rng.standard_normal(30)
    for points in (False, True):
        slots = balls(x)
        BallTape(tape.table()[0]).run(slots, t=arb(0.25), points=points)
        y = x.copy()
        for k, left in enumerate((0, 0, 1, 1)):
            right = 4 + 4 * (k % 2)
            y[20 + k] += y[left : left + 4] @ y[right : right + 4]
        y[24:26] = x[0:2] + 0.25 * x[4:6] + [-x[12], x[13]]
        y[26:28] = y[24:26] * x[14:16].real
        y[28:30] = 1, 0
        matrix = x[:4].reshape(2, 2)
        for at in (12, 14):
            y[at : at + 2] = np.linalg.solve(matrix, x[at : at + 2])
        assert np.allclose(doubles(slots), y)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor_polynomial_follows_the_root(chain):
    """A small step by the polynomial leaves a residual of the truncated order."""
    rng = np.random.default_rng(2)
    first, root = chain.random(rng)
    second, _ = chain.random(rng)
    second[chain.cells[:, 4]] = first[chain.cells[:, 4]]
    system = PreciseSystem.of(chain.lane_system(ORDER, lifted=False))
    line = PreciseLine(system, balls(second), balls(first))
    o, r = system.slots, chain.unknowns
    start = balls(np.concatenate([root, np.zeros(o.size - r)]))
    weights = [list(terms[:r]) for terms in line.expand(0.0, start)]
    # The step is measured by the series itself.
    size = max(float(abs(z).mid()) for z in weights[ORDER]) ** (1 / ORDER)
    for factor in (0.2, 0.1):
        h = factor / max(size, 1e-3)
        there = [a + acb(h) * (b - a) for a, b in zip(balls(first), balls(second), strict=True)]
        point = [sum((c[v] * acb(h) ** j for j, c in enumerate(weights)), acb(0)) for v in range(r)]
        gap = doubles(BallSystem(chain, there).evaluate(point)[0].entries())
        assert np.abs(gap).max() < 1e-11
