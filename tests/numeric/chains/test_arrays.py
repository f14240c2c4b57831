"""Labels and Jacobians of many points, against one point at a time and difference quotients."""

import numpy as np
import pytest

from numeric.chains.arrays import labels, residuals
from tests.numeric.chains.cases import chains, difference_quotients

CHAINS = chains()


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
@pytest.mark.parametrize("kind", [float, complex, np.clongdouble])
def test_many_points_are_each_of_them(chain, kind):
    """Values of a batch are those of its members, in the required precision."""
    rng = np.random.default_rng(0)
    parameters, _ = chain.random(rng)
    parameters = parameters.real if kind is float else parameters
    w = rng.standard_normal((3, chain.unknowns)).astype(kind)
    values, slopes = labels(chain, parameters, w)
    gaps, same = residuals(chain, parameters, w)
    assert values.dtype == slopes.dtype == gaps.dtype == kind
    assert np.array_equal(slopes, same)
    rows, columns = chain.equations.T
    for k in range(3):
        assert np.allclose(values[k], chain.labels_at(parameters, w[k])[rows, columns])
        assert np.allclose(gaps[k], chain.residual_at(parameters, w[k]))


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: str(c.allocation))
def test_jacobian_agrees_with_difference_quotients(chain):
    """The derivative by the product rule is that of the residual."""
    parameters, root = chain.random(np.random.default_rng(5))
    _, (slopes,) = labels(chain, parameters, root[None])
    assert np.allclose(slopes, difference_quotients(chain, parameters, root), atol=1e-7)
