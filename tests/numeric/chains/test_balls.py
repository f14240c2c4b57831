"""Chains in ball arithmetic against plain numpy and against themselves at other points."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, ctx

from numeric.chains.arrays import residuals
from numeric.chains.balls import BallSystem
from tests.numeric.chains.cases import chains

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
    residual = doubles(system.residual(balls(w)).entries())
    assert np.allclose(residual, doubles(F.entries()))


@pytest.mark.parametrize("chain", CHAINS[::3], ids=lambda c: str(c.allocation))
def test_lifted_newton_converges(chain):
    """From wrong weights and wrong states lifted steps reach the root quadratically."""
    rng = np.random.default_rng(1)
    parameters, root = chain.random(rng)
    system = BallSystem(chain, balls(parameters))
    w = balls(root + 1e-3 * rng.standard_normal(len(root)))
    S = system.states(balls(root + 1e-3 * rng.standard_normal(len(root))))
    sizes = []
    for _ in range(6):
        F, J = system.evaluate(w, S)
        change = [-z for z in J.mid().solve(F.mid()).mid().entries()]
        S = [x.mid() for x in system.step(w, change, S)]
        w = [(x + dx).mid() for x, dx in zip(w, change, strict=True)]
        sizes.append(max(float(abs(z).mid()) for z in change))
    assert sizes[-1] < 1e-25
    assert np.allclose(doubles(w), root, atol=1e-8)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_taylor_polynomial_follows_the_root(chain):
    """A small step by the polynomial leaves a residual of the truncated order."""
    rng = np.random.default_rng(2)
    first, root = chain.random(rng)
    second, _ = chain.random(rng)
    slope = second - first
    slope[chain.cells[:, 4]] = 0
    system = BallSystem(chain, balls(first))
    w = balls(root)
    weights, states = system.taylor(w, system.states(w), balls(slope), 12)
    # The step is measured by the series itself.
    size = max(float(abs(z).mid()) for z in weights[12]) ** (1 / 12)
    for factor in (0.05, 0.025):
        h = factor / max(size, 1e-3)
        there = BallSystem(
            chain, [a + acb(h) * b for a, b in zip(balls(first), balls(slope), strict=True)]
        )
        point = [
            sum((c[v] * acb(h) ** j for j, c in enumerate(weights)), acb(0))
            for v in range(chain.unknowns)
        ]
        residual = np.abs(doubles(there.residual(point).entries())).max()
        assert residual < 1e-11
        S = there.states(point)
        for k, state in enumerate(S):
            total = sum((c[k] * acb(h) ** j for j, c in enumerate(states)), 0 * state)
            assert np.abs(doubles((total - state).entries())).max() < 1e-9
