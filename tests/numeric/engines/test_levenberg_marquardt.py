"""Batched residuals, Jacobians and Newton steps, against one at a time and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from algebra.networks.linear import LinearEstimator
from algebra.problems.problem import Problem
from numeric.chains.chain import jacobian, make_chain
from numeric.engines.levenberg_marquardt import batched_jacobian, levenberg_marquardt
from numeric.instances import draw_instance
from tests.numeric.chains.cases import chains


@pytest.mark.parametrize("chain", chains(), ids=lambda c: str(c.allocation))
def test_batched_jacobian(chain):
    """Residuals and Jacobians of a batch are those of its members."""
    rng = np.random.default_rng(0)
    problem = Problem.of(chain.allocation)
    parameters = chain.parameters(draw_instance(problem, 0, 0))
    w = rng.standard_normal((3, chain.unknowns))
    f, J = batched_jacobian(chain, parameters, w)
    for k in range(3):
        assert np.allclose(f[k], chain.residual_at(parameters, w[k]))
        assert np.allclose(J[k], jacobian(chain, parameters, w[k]))


def test_linear_systems_are_solved_from_anywhere():
    """A linear estimator's only solution is found from every start."""
    problem = Problem(LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 0], [0, 1, 1]]})
    chain = make_chain(problem.allocation)
    instance = draw_instance(problem, 0, 0)
    starts = np.random.default_rng(0).standard_normal((10, 4)) * 10
    ends, good = levenberg_marquardt(chain, chain.parameters(instance), starts)
    assert good.all()
    assert np.allclose(ends, ends[0])
    assert instance.residual(instance.with_weights(ends[0])) < 1e-9


def test_converged_points_are_those_of_scipy():
    """Where a run converges, scipy's least squares from its end stays there at cost 0."""
    chain = next(c for c in chains() if c.unknowns >= 3 and c.steps > 0)
    parameters = chain.parameters(draw_instance(Problem.of(chain.allocation), 0, 1))
    starts = np.random.default_rng(1).standard_normal((40, chain.unknowns))
    ends, good = levenberg_marquardt(chain, parameters, starts)
    assert good.any()
    for w in ends[good]:
        found = least_squares(lambda v: chain.residual_at(parameters, v), w, xtol=1e-15)
        assert found.cost < 1e-18
        assert np.abs(found.x - w).max() < 1e-6 * (1 + np.abs(w).max())
